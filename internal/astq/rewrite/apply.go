package rewrite

import (
	"fmt"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

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
