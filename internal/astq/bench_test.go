package astq_test

import (
	"testing"

	"github.com/toolsd/toolsd/internal/astq"
)

// BenchmarkGrep searches the Go standard library, some 90 MB: for what is in
// no file, so that none is parsed; for what is in few; and for what nearly
// every file must be parsed for.
func BenchmarkGrep(b *testing.B) {
	for _, bb := range []struct{ name, pattern string }{
		{"no match", "nowhereToBeFound($X)"},
		{"rare", "bufio.NewScanner($X)"},
		{"common", "$A + $B"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := openLibrary(b)
			var stats astq.Stats
			matches := 0
			for b.Loop() {
				res := r.grep(astq.GrepQuery{Pattern: bb.pattern, Language: "go"})
				stats, matches = res.Stats, len(res.Matches)+res.Omitted
			}
			b.ReportMetric(float64(matches), "matches")
			b.ReportMetric(float64(stats.Parsed), "parsed")
			b.ReportMetric(float64(stats.Searched), "files")
		})
	}
}
