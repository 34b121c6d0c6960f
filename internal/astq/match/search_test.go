package match_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// search is one row of a table: a pattern, a source, and what must be found in
// it.
type search struct {
	language, pattern, source string
	// want has the text of each match in order, followed by its captures:
	// "f(1) X=1". Nil means no match.
	want []string
	// refused, instead of want, is the reason with which the pattern must be
	// refused.
	refused toolerr.Reason
}

// runSearches runs a table, and checks of each row what holds for every
// search: the prefilter lets a source with matches pass.
func runSearches(t *testing.T, table []search) {
	t.Helper()
	for _, row := range table {
		t.Run(row.language+"/"+row.pattern, func(t *testing.T) {
			got, err := searchRow(t, row)
			if row.refused != "" {
				if !toolerr.Is(err, row.refused) {
					t.Fatalf("got %q and error %v, want it refused as %s", got, err, row.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("matches differ (-want +got):\n%s", diff)
			}
		})
	}
}

var allLanguages = sync.OnceValues(func() (*syntax.Languages, error) {
	folder := os.Getenv("TOOLSD_TEST_GRAMMARS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".tools", "grammars")
	}
	return syntax.NewLanguages([]string{folder})
})

func searchRow(t *testing.T, row search) ([]string, error) {
	t.Helper()
	languages, err := allLanguages()
	if err != nil {
		t.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	l, ok := languages.ByName(row.language)
	if !ok {
		t.Fatalf("no language %q", row.language)
	}
	p, err := pattern.Compile(t.Context(), l, row.pattern)
	if err != nil {
		return nil, err
	}
	tree, err := l.Parse(t.Context(), []byte(row.source), time.Minute)
	if err != nil {
		t.Fatalf("parse the source: %v", err)
	}
	matches, err := match.Find(t.Context(), p, tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) > 0 && !p.MayMatch(tree.Source()) {
		t.Errorf("the prefilter refuses a source with matches; words %q", p.Words())
	}
	var got []string
	for _, m := range matches {
		var b strings.Builder
		b.WriteString(row.source[m.Span.Start:m.Span.End])
		for _, c := range m.Captures {
			fmt.Fprintf(&b, " %s=%s", c.Name, row.source[c.Span.Start:c.Span.End])
		}
		got = append(got, b.String())
	}
	return got, nil
}

// over fills in the language and the source that the rows of a table share.
func over(language, source string, table []search) []search {
	for i := range table {
		table[i].language, table[i].source = language, source
	}
	return table
}

// indexOf is the place of part in text, which has it.
func indexOf(text, part string) int {
	i := strings.Index(text, part)
	if i < 0 {
		panic(fmt.Sprintf("no %q in the text", part))
	}
	return i
}
