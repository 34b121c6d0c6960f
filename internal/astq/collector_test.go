package astq

import "testing"

// The last files in path order may be searched first: what they found must
// not be held once earlier files fill the answer.
func TestCollectorHoldsNoMoreThanItReturns(t *testing.T) {
	c := &collector{limit: 3}
	for index := 99; index >= 0; index-- {
		if !c.wanted(index, 2) {
			t.Fatalf("file %d is not wanted, though it comes first", index)
		}
		c.keep(collected{index: index, matches: make([]Found, 2)})
		if len(c.files) > 2 {
			t.Fatalf("%d files are held, where two hold more than 3 matches", len(c.files))
		}
	}
	if c.wanted(50, 2) {
		t.Error("a file is wanted that comes behind enough matches")
	}
	if got := len(c.first()); got != 3 || c.total != 202 {
		t.Errorf("%d of %d matches are returned, want 3 of 202", got, c.total)
	}
}
