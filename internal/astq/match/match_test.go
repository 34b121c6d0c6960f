package match

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
)

var languages = sync.OnceValues(func() (*syntax.Languages, error) {
	folder := os.Getenv("TOOLSD_TEST_GRAMMARS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".tools", "grammars")
	}
	return syntax.NewLanguages([]string{folder})
})

// language returns a language that tests need; without its grammar they fail.
func language(t testing.TB, id string) *syntax.Language {
	t.Helper()
	ls, err := languages()
	if err != nil {
		t.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	l, ok := ls.ByName(id)
	if !ok {
		t.Fatalf("no language %s", id)
	}
	if err := l.Unusable(); err != nil {
		t.Fatal(err)
	}
	return l
}

// find runs a pattern over a source and renders each match as its text and
// its captures: `f(1) X=1`.
func find(t testing.TB, id, source, text string) ([]string, *pattern.Pattern) {
	t.Helper()
	l := language(t, id)
	p, err := pattern.Compile(t.Context(), l, source)
	if err != nil {
		t.Fatalf("compile %q: %v", source, err)
	}
	tree, err := l.Parse(t.Context(), []byte(text), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	matches, err := Find(t.Context(), p, tree)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range matches {
		var b strings.Builder
		b.WriteString(text[m.Span.Start:m.Span.End])
		for _, c := range m.Captures {
			fmt.Fprintf(&b, " %s=%s", c.Name, text[c.Span.Start:c.Span.End])
		}
		out = append(out, strings.Join(strings.Fields(b.String()), " "))
	}
	if len(out) > 0 && !p.MayMatch([]byte(text)) {
		t.Errorf("%q matches, but MayMatch says no; words %q", source, p.Words())
	}
	return out, p
}
