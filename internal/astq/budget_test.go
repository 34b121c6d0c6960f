package astq_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// longSum is Go source that takes long to parse, for its size in MiB.
func longSum(mib int) string { return "f(1" + strings.Repeat("+1", mib<<19) + ")" }

// A file that takes too long to parse is passed over, and both answers say so.
func TestParseTimeout(t *testing.T) {
	r := openRoom(t, engineWith(t, func(c *astq.Config) { c.ParseTimeout, c.MaxFileBytes = 50*time.Millisecond, 16<<20 }), t.TempDir())
	r.write(map[string]string{"a.go": calls(1), "slow.go": "package p\n\nvar x = " + longSum(4) + "\n"})
	res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go"})
	want := astq.Stats{Searched: 1, Candidates: 1, Parsed: 1, Matched: 1, Skipped: map[string]int{"timed_out": 1}}
	if diff := cmp.Diff(want, res.Stats); diff != "" {
		t.Errorf("stats differ (-want +got):\n%s", diff)
	}
	for _, text := range []string{res.Text(), r.edit(renameF("g")).Text()} {
		if !strings.Contains(text, "Not searched: 1 timed out.") {
			t.Errorf("the text does not say that a file timed out:\n%s", text)
		}
	}
}

// A rewritten file that cannot be checked in time is refused by name.
func TestRewrittenParseTimeout(t *testing.T) {
	r := openRoom(t, engineWith(t, func(c *astq.Config) { c.ParseTimeout, c.MaxStagedBytes = 50*time.Millisecond, 64<<20 }), t.TempDir())
	r.write(map[string]string{"a.go": calls(1)})
	_, err := r.Edit(t.Context(), astq.EditQuery{Pattern: "f($X)", Rewrite: longSum(4), Language: "go"})
	refused(t, err, toolerr.ReasonLimit, "a.go", "50ms", "nothing was staged")
}

// A long rewrite of many matches is refused before it is built: whole it
// would be 2 GiB.
func TestLongRewriteOfManyMatches(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(2048)})
	began := time.Now()
	_, err := r.Edit(t.Context(), astq.EditQuery{Pattern: "f($X)", Rewrite: longSum(1), Language: "go"})
	refused(t, err, toolerr.ReasonLimit, "narrow path")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the refusal took %v", took)
	}
}

// A link that is named is searched, but not written through: what would be
// compared at accept is the link.
func TestEditOfALink(t *testing.T) {
	r := newRoom(t, map[string]string{"a/b.go": calls(1)})
	must(t, os.Symlink("a/b.go", r.path("link.go")))
	must(t, os.Symlink("a", r.path("in")))
	if got := len(r.grep(astq.GrepQuery{Pattern: "f($X)", Path: "link.go"}).Matches); got != 1 {
		t.Errorf("%d matches in the link, want 1", got)
	}
	query := renameF("g")
	query.Path = "link.go"
	_, err := r.Edit(t.Context(), query)
	refused(t, err, toolerr.ReasonBadArgument, "path", "link.go", `a/b.go`)
	if got := r.rewritten("in/b.go", renameF("g")); !strings.Contains(got, "g(0)") {
		t.Errorf("through a folder that is a link: %q", got)
	}
}
