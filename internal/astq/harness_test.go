package astq_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limits are those of a daemon, except where a test changes them.
func limits() astq.Config {
	folder := os.Getenv("TOOLSD_TEST_GRAMMARS")
	if folder == "" {
		folder = filepath.Join("..", "..", ".tools", "grammars")
	}
	return astq.Config{
		GrammarDirs: []string{folder}, MaxFileBytes: 1 << 20, ParseTimeout: time.Minute,
		SearchTimeout: time.Minute, MaxStagedBytes: 1 << 20,
	}
}

var sharedEngine = sync.OnceValues(func() (*astq.Engine, error) { return astq.NewEngine(limits()) })

// engineWith returns an engine with other limits.
func engineWith(tb testing.TB, change func(*astq.Config)) *astq.Engine {
	tb.Helper()
	config := limits()
	change(&config)
	e, err := astq.NewEngine(config)
	if err != nil {
		tb.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	return e
}

// room is a session over a folder of its own.
type room struct {
	*astq.Session
	t    testing.TB
	root string
	ws   *workspace.Workspace
}

// newRoom opens a session over a new folder with the given files.
func newRoom(tb testing.TB, files map[string]string) *room {
	tb.Helper()
	e, err := sharedEngine()
	if err != nil {
		tb.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	r := openRoom(tb, e, tb.TempDir())
	r.write(files)
	return r
}

// openRoom opens a session over a folder.
func openRoom(tb testing.TB, e *astq.Engine, root string) *room {
	tb.Helper()
	pool, err := workspace.NewPool(filepath.Join(tb.TempDir(), "state"))
	must(tb, err)
	ws, err := pool.Open(root)
	must(tb, err)
	s := e.NewSession(ws)
	tb.Cleanup(func() {
		must(tb, s.Close(tb.Context()))
		must(tb, ws.Close())
		must(tb, pool.Close())
	})
	return &room{Session: s, t: tb, root: root, ws: ws}
}

// library returns the root of the Go standard library's source.
func library(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	must(tb, err)
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}

// openLibrary opens a session over the Go standard library.
func openLibrary(tb testing.TB) *room {
	tb.Helper()
	return openRoom(tb, engineWith(tb, func(c *astq.Config) { c.MaxFileBytes = 16 << 20 }), library(tb))
}

func (r *room) path(name string) string { return filepath.Join(r.root, name) }

func (r *room) write(files map[string]string) {
	r.t.Helper()
	for name, content := range files {
		must(r.t, os.MkdirAll(filepath.Dir(r.path(name)), 0o755))
		must(r.t, os.WriteFile(r.path(name), []byte(content), 0o644))
	}
}

func (r *room) read(name string) string {
	r.t.Helper()
	content, err := os.ReadFile(r.path(name))
	must(r.t, err)
	return string(content)
}

// grep searches, and fails the test when the search fails.
func (r *room) grep(q astq.GrepQuery) *astq.GrepResult {
	r.t.Helper()
	res, err := r.Grep(r.t.Context(), q)
	must(r.t, err)
	return res
}

// edit stages, and fails the test when that fails.
func (r *room) edit(q astq.EditQuery) *astq.Proposal {
	r.t.Helper()
	p, err := r.Edit(r.t.Context(), q)
	must(r.t, err)
	return p
}

// rewritten stages an edit of one file, accepts it and returns the file.
func (r *room) rewritten(name string, q astq.EditQuery) string {
	r.t.Helper()
	q.Path = name
	_, err := r.Resolve(r.t.Context(), r.edit(q).ID, astq.Accept)
	must(r.t, err)
	return r.read(name)
}

// snapshot describes everything below the root: modes, contents, links.
func (r *room) snapshot() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	must(r.t, filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(content)
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + target
		}
		out[strings.TrimPrefix(path, r.root)] = text
		return nil
	}))
	return out
}

// unchanged fails the test when the tree differs from a snapshot.
func (r *room) unchanged(before map[string]string) {
	r.t.Helper()
	if diff := cmp.Diff(before, r.snapshot()); diff != "" {
		r.t.Errorf("the tree changed (-before +after):\n%s", diff)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// refused fails the test unless err has the reason and says all of the texts.
func refused(tb testing.TB, err error, reason toolerr.Reason, says ...string) {
	tb.Helper()
	if !toolerr.Is(err, reason) {
		tb.Fatalf("error %v, want %s", err, reason)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			tb.Errorf("error %q does not say %q", err, s)
		}
	}
}

// golden compares a text with a file in testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("text differs (-want +got):\n%s", diff)
	}
}
