package workspace

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Edit replaces the bytes [Start, End) of a text by New. An insertion has
// Start == End.
type Edit struct {
	Start, End int
	New        []byte
}

// ApplyEdits returns src with every edit made; all offsets are those of src,
// and the edits may come in any order. Equal replacements are made once, as
// language servers repeat them; insertions at one place are all made, in the
// order given. Neither src nor edits is changed.
//
// Edits that overlap are OVERLAPPING_EDITS, and a range that src does not
// have is BAD_ARGUMENT.
func ApplyEdits(src []byte, edits []Edit) ([]byte, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	sorted = slices.CompactFunc(sorted, sameReplacement)
	size := len(src)
	for i, e := range sorted {
		if e.Start < 0 || e.End < e.Start || e.End > len(src) {
			return nil, toolerr.BadArgument("edits", "bytes %d to %d are no range of a text of %d bytes", e.Start, e.End, len(src))
		}
		if i > 0 && e.Start < sorted[i-1].End {
			return nil, toolerr.New(toolerr.InvalidArgument, toolerr.ReasonOverlappingEdits,
				"the edits of bytes %d to %d and of bytes %d to %d overlap, so neither was made",
				sorted[i-1].Start, sorted[i-1].End, e.Start, e.End)
		}
		size += len(e.New) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, e := range sorted {
		out = append(out, src[done:e.Start]...)
		out = append(out, e.New...)
		done = e.End
	}
	return append(out, src[done:]...), nil
}

// sameReplacement says no for insertions: two equal ones may be meant.
func sameReplacement(a, b Edit) bool {
	return a.Start == b.Start && a.End == b.End && a.Start < a.End && bytes.Equal(a.New, b.New)
}
