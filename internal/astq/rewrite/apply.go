package rewrite

import (
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
// of context. It follows the replacements, and so needs no search for what
// changed.
func Diff(path string, source []byte, replacements []Replacement) (string, error) {
	edits := make([]udiff.Edit, len(replacements))
	for i, r := range replacements {
		edits[i] = udiff.Edit{Start: r.Span.Start, End: r.Span.End, New: string(r.Text)}
	}
	diff, err := udiff.ToUnified("a/"+path, "b/"+path, string(source), edits, contextLines)
	if err != nil {
		return "", fmt.Errorf("diff of %q: %w", path, err)
	}
	return diff, nil
}
