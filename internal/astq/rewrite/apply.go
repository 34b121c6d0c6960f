package rewrite

import (
	"bytes"
	"fmt"

	"github.com/aymanbagabas/go-udiff"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Replacement is a piece of a source and what is to stand there.
type Replacement struct {
	Span syntax.Span
	Text []byte
}

// Apply replaces pieces of a source, by offsets into it as it was. They must
// be in order and not overlap.
func Apply(source []byte, replacements []Replacement) ([]byte, error) {
	var out []byte
	at := 0
	for _, r := range replacements {
		if r.Span.Start < at || r.Span.End < r.Span.Start || r.Span.End > len(source) {
			return nil, fmt.Errorf("replacement of bytes %d to %d does not follow byte %d of %d", r.Span.Start, r.Span.End, at, len(source))
		}
		out = append(out, source[at:r.Span.Start]...)
		out = append(out, r.Text...)
		at = r.Span.End
	}
	return append(out, source[at:]...), nil
}

// Diff renders replacements as a unified diff of the file, with three lines
// of context. Only the lines that they touch are compared, so its cost follows
// the replacements and not the file.
func Diff(path string, source []byte, replacements []Replacement) (string, error) {
	var edits []udiff.Edit
	for len(replacements) > 0 {
		region, n := wholeLines(source, replacements)
		after, err := Apply(source[:region.End], replacements[:n])
		if err != nil {
			return "", fmt.Errorf("diff of %q: %w", path, err)
		}
		before := string(source[region.Start:region.End])
		for _, e := range udiff.Lines(before, string(after[region.Start:])) {
			edits = append(edits, udiff.Edit{Start: region.Start + e.Start, End: region.Start + e.End, New: e.New})
		}
		replacements = replacements[n:]
	}
	diff, err := udiff.ToUnified("a/"+path, "b/"+path, string(source), edits, contextLines)
	if err != nil {
		return "", fmt.Errorf("diff of %q: %w", path, err)
	}
	return diff, nil
}

// wholeLines returns the lines that the first replacement touches, and those
// of the n-1 after it that touch the same.
func wholeLines(source []byte, replacements []Replacement) (region syntax.Span, n int) {
	first := replacements[0].Span
	region.Start = bytes.LastIndexByte(source[:first.Start], '\n') + 1
	region.End = lineEnd(source, first.End)
	n = 1
	for n < len(replacements) && replacements[n].Span.Start < region.End {
		// Not for each replacement: a minified file has thousands on one line.
		if end := replacements[n].Span.End; end >= region.End {
			region.End = lineEnd(source, end)
		}
		n++
	}
	return region, n
}

// lineEnd returns the offset behind the terminator of an offset's line.
func lineEnd(source []byte, offset int) int {
	if i := bytes.IndexByte(source[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(source)
}
