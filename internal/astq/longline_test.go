package astq_test

import (
	"strings"
	"testing"

	"github.com/toolsd/toolsd/internal/astq"
)

// A minified file is one line. Of it only what is around each match comes
// back, or a thousand matches would be a thousand copies of the file.
func TestLongLine(t *testing.T) {
	r := newRoom(t, map[string]string{"a.js": strings.Repeat("é(1);f(2);", 20_000)})
	res := r.grep(astq.GrepQuery{Pattern: "f($X)", Path: "a.js", MaxResults: new(int32(1000))})
	for i, m := range res.Matches {
		if len(m.LineText) > 520 || !strings.Contains(m.LineText, "f(2)") {
			t.Fatalf("match %d: %d bytes of its line: %.50q", i, len(m.LineText), m.LineText)
		}
	}
	if text := res.Text(); len(text) > 1000*600 {
		t.Errorf("the text has %d bytes", len(text))
	}
	p := r.edit(astq.EditQuery{Pattern: "f($X)", Rewrite: "f($X", Path: "a.js"})
	for _, e := range p.NewErrors {
		if len(e.LineText) > 520 {
			t.Fatalf("%d bytes of the line of a new error", len(e.LineText))
		}
	}
	if text := p.Text(); len(text) > 10_000 {
		t.Errorf("the proposal's text has %d bytes", len(text))
	}
}

// The text shows the match, however far into its line it stands.
func TestLongLineShowsMatch(t *testing.T) {
	r := newRoom(t, map[string]string{"a.js": strings.Repeat("g(é); ", 50) + "f(1); " + strings.Repeat("g(é); ", 50) + "\n"})
	golden(t, "grep_long_line", r.grep(astq.GrepQuery{Pattern: "f($X)", Path: "a.js"}).Text())
}
