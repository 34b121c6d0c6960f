package astq

import (
	"strings"
	"unicode/utf8"

	"github.com/toolsd/toolsd/internal/workspace"
)

const (
	// maxLineText is how many bytes of a line are returned.
	maxLineText = 500
	// lineLead is how many of them may stand before the place that a longer
	// line is shown for.
	lineLead = 80
	// cutMark stands where a line was cut.
	cutMark = "…"
)

// lineAround returns the line of an offset without its terminator, as valid
// UTF-8. Of a line of more than maxLineText bytes, as in a minified file, it
// is the part around the offset, with "…" where it was cut.
func lineAround(source []byte, lines *workspace.Lines, offset int) string {
	line := lines.LineAt(offset)
	start := lines.Offset(workspace.Position{Line: line - 1}, workspace.UTF8)
	end := lines.Offset(workspace.Position{Line: line}, workspace.UTF8)
	if end-start <= maxLineText {
		return lines.Text(line)
	}
	from := max(start, offset-lineLead)
	to := min(end, from+maxLineText)
	for from > start && !utf8.RuneStart(source[from]) {
		from--
	}
	for to < end && !utf8.RuneStart(source[to]) {
		to--
	}
	text := strings.TrimRight(string([]rune(string(source[from:to]))), "\r\n")
	if from > start {
		text = cutMark + text
	}
	if to < end {
		text += cutMark
	}
	return text
}
