package astq

import (
	"fmt"
	"strings"
	"testing"
)

func TestProposalTextIsBounded(t *testing.T) {
	diff := func(lines int) string { return strings.Repeat("+x\n", lines) }
	tests := []struct {
		name  string
		files []FileEdit
		lines int
		ends  string
	}{
		{"all fits", []FileEdit{{Diff: diff(maxDiffLines - 1), Replacements: 3}, {Diff: diff(1), Replacements: 1}}, maxDiffLines, "+x\n"},
		{"a file is too long", []FileEdit{{Diff: diff(maxDiffLines + 7), Replacements: 3}}, maxDiffLines, "+x\n… 7 more lines of this file\n"},
		{
			"files are left",
			[]FileEdit{{Diff: diff(maxDiffLines), Replacements: 3}, {Diff: diff(2), Replacements: 1}, {Diff: diff(9), Replacements: 5}},
			maxDiffLines, "+x\n… 2 more lines of this file, and 1 more file with 5 replacements\n",
		},
		{"a long line", []FileEdit{{Diff: "+" + strings.Repeat("y", 1<<20) + "\n", Replacements: 1}}, 0, fmt.Sprintf("y … (%d more bytes)\n", 1<<20+1-maxTextLine)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := (&Proposal{ID: "edit_1", Files: tt.files}).Text()
			if got := strings.Count(text, "+x\n"); got != tt.lines {
				t.Errorf("%d lines of diff are shown, want %d", got, tt.lines)
			}
			if !strings.HasSuffix(text, tt.ends) {
				t.Errorf("the text ends with %q, want %q", text[max(0, len(text)-100):], tt.ends)
			}
		})
	}
}
