package workspace

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// wantNoLeftovers checks that the root and the state folder hold nothing of
// a transaction.
func wantNoLeftovers(t *testing.T, p *Pool, root string) {
	t.Helper()
	for name := range snapshot(t, root) {
		if strings.HasPrefix(filepath.Base(name), ".toolsd-") {
			t.Errorf("%s is left in the workspace", name)
		}
	}
	journals, err := p.journals()
	must(t, err)
	if len(journals) > 0 {
		t.Errorf("%d journals are left", len(journals))
	}
}

func TestApply(t *testing.T) {
	w, root := newWorkspace(t, map[string]string{"a": "1", "dir/b": "\ufeff1\r\n", "gone": "x", "same": "s", "script": "#!"})
	must(t, os.Chmod(filepath.Join(root, "script"), 0o755|os.ModeSetgid))
	if os.Geteuid() == 0 {
		must(t, os.Chown(filepath.Join(root, "a"), 1234, 2345))
	}
	must(t, os.Chmod(filepath.Join(root, "a"), 0o640))
	must(t, os.Symlink("dir", filepath.Join(root, "link")))
	want := snapshot(t, root)
	applied, err := w.Apply(t.Context(), []Change{
		{Path: "a", Before: content("1"), After: []byte("2")},
		{Path: filepath.Join(root, "link/b"), Before: content("\ufeff1\r\n"), After: []byte("\ufeff2\r\n")},
		{Path: "gone", Before: content("x"), Delete: true},
		{Path: "same", Before: content("s"), After: []byte("s")},
		{Path: "script", Before: content("#!"), After: nil},
		{Path: "new/deep/c", Before: Absent(), After: []byte("c")},
		{Path: "new/d", Before: Absent(), After: []byte("d")},
	})
	must(t, err)
	if got := []string{"a", "link/b", "gone", "script", "new/deep/c", "new/d"}; !slices.Equal(applied.Paths, got) {
		t.Errorf("applied %q, want %q", applied.Paths, got)
	}
	delete(want, "gone")
	want["a"] = strings.Replace(want["a"], `"1"`, `"2"`, 1)
	want["dir/b"] = strings.Replace(want["dir/b"], "1\\r", "2\\r", 1)
	want["script"] = strings.Replace(want["script"], `"#!"`, `""`, 1)
	got := snapshot(t, root)
	for name, content := range map[string]string{"new/deep/c": `"c"`, "new/d": `"d"`} {
		if !strings.HasSuffix(got[name], content) || !strings.HasPrefix(got[name], "-rw-") {
			t.Errorf("%s is %s", name, got[name])
		}
		delete(got, name)
	}
	delete(got, "new")
	delete(got, "new/deep")
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	wantNoLeftovers(t, w.core.pool, root)
}

func TestApplyNamesEveryFileThatDiffers(t *testing.T) {
	w, root := newWorkspace(t, map[string]string{"fine": "1", "changed": "2", "folder/x": "", "appeared": "", "target": "1"})
	must(t, os.Symlink("target", filepath.Join(root, "symlink")))
	must(t, os.Symlink("loop", filepath.Join(root, "loop")))
	must(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	before := snapshot(t, root)
	var changes []Change
	for _, name := range []string{"fine", "changed", "deleted", "folder", "symlink", "fifo", "loop/x", "fine/below"} {
		changes = append(changes, Change{Path: name, Before: content("1"), After: []byte("new")})
	}
	changes = append(changes, Change{Path: "appeared", Before: Absent(), After: []byte("new")})
	_, err := w.Apply(t.Context(), changes)
	wantReason(t, err, toolerr.ReasonContentChanged)
	want := "changed changed; deleted was deleted; folder is a folder now; symlink became a symlink; " +
		"fifo is no regular file any more; loop/x became unreadable (too many levels of symbolic links); " +
		"fine/below was deleted; appeared appeared"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if after := snapshot(t, root); !maps.Equal(before, after) {
		t.Errorf("something was written: %v", after)
	}
	wantNoLeftovers(t, w.core.pool, root)
}

func TestApplyRefuses(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"a": "1"})
	w, root := newWorkspace(t, map[string]string{"a": "1", "dir/b": "1", "locked": "1"})
	must(t, os.Chmod(filepath.Join(root, "locked"), 0o444))
	must(t, os.Symlink("dir", filepath.Join(root, "link")))
	must(t, os.Symlink(outside, filepath.Join(root, "out")))
	must(t, os.Symlink(filepath.Join(outside, "a"), filepath.Join(root, "outfile")))
	must(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "hard")))
	change := func(path string) Change { return Change{Path: path, Before: content("1"), After: []byte("2")} }
	create := func(path string) Change { return Change{Path: path, Before: Absent(), After: []byte("2")} }
	tests := []struct {
		name    string
		changes []Change
		reason  toolerr.Reason
		text    string
	}{
		{"the same path", []Change{change("a"), change("a")}, toolerr.ReasonBadArgument, "same file"},
		{"another spelling", []Change{change("a"), change("./dir/../a")}, toolerr.ReasonBadArgument, "same file"},
		{"an absolute spelling", []Change{change("a"), change(filepath.Join(root, "a"))}, toolerr.ReasonBadArgument, "same file"},
		{"through a symlink", []Change{change("dir/b"), change("link/b")}, toolerr.ReasonBadArgument, "same file"},
		{"a hard link", []Change{change("a"), change("hard")}, toolerr.ReasonBadArgument, "same file"},
		{"created twice", []Change{create("dir/new/x"), create("link/new/x")}, toolerr.ReasonBadArgument, "same file"},
		{"the root", []Change{change(".")}, toolerr.ReasonBadArgument, "not a file"},
		{"deleting nothing", []Change{{Path: "n", Before: Absent(), Delete: true}}, toolerr.ReasonBadArgument, "expected not to be there"},
		{"nothing expected", []Change{{Path: "a", After: []byte("2")}}, toolerr.ReasonContentChanged, "a changed"},
		{"parent", []Change{change("../x")}, toolerr.ReasonOutsideWorkspace, "../x"},
		{"absolute", []Change{change(filepath.Join(outside, "a"))}, toolerr.ReasonOutsideWorkspace, "outside"},
		{"through a symlink out", []Change{change("out/a")}, toolerr.ReasonOutsideWorkspace, "outside"},
		{"created through a symlink out", []Change{create("out/new")}, toolerr.ReasonOutsideWorkspace, "outside"},
		{"created deep through a symlink out", []Change{create("out/new/x")}, toolerr.ReasonOutsideWorkspace, "outside"},
		{"symlink to a file outside", []Change{change("outfile")}, toolerr.ReasonContentChanged, "symlink"},
		{"trailing slash", []Change{change("out/")}, toolerr.ReasonContentChanged, "symlink"},
		{"nobody may write", []Change{change("a"), change("locked")}, toolerr.ReasonWriteFailed, "locked (mode 0444)"},
		{"nobody may write, and another changed", []Change{change("locked"), create("a")}, toolerr.ReasonContentChanged, "a appeared"},
		{"a file where a folder is made", []Change{create("n"), create("n/x")}, toolerr.ReasonBadArgument, "cannot be a file"},
		{"a file below a file", []Change{create("a/x")}, toolerr.ReasonWriteFailed, "a/x: not a directory; nothing was written"},
	}
	before, beforeOutside := snapshot(t, root), snapshot(t, outside)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.Apply(t.Context(), tt.changes)
			wantReason(t, err, tt.reason)
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %q does not say %q", err, tt.text)
			}
			if after := snapshot(t, root); !maps.Equal(before, after) {
				t.Errorf("something was written: %v", after)
			}
			if after := snapshot(t, outside); !maps.Equal(beforeOutside, after) {
				t.Errorf("something was written outside: %v", after)
			}
			wantNoLeftovers(t, w.core.pool, root)
		})
	}
}

func TestApplyEndsWithItsContext(t *testing.T) {
	w, root := newWorkspace(t, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	change := []Change{{Path: "a", Before: content("1"), After: []byte("2")}}
	w.core.writing <- struct{}{} // another transaction
	if _, err := w.Apply(ctx, change); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
	<-w.core.writing
	if _, err := w.Apply(ctx, change); !errors.Is(err, context.Canceled) {
		t.Errorf("checking: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(root, "a")); string(got) != "1" {
		t.Errorf("a is %q", got)
	}
}

func TestApplyAfterClose(t *testing.T) {
	w, _ := newWorkspace(t, nil)
	must(t, w.Close())
	if _, err := w.Apply(t.Context(), nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// A handle that is closed while its own transaction runs does not pull the
// root away from under it.
func TestCloseDuringApply(t *testing.T) {
	p, root := newPool(t), t.TempDir()
	write(t, root, map[string]string{"a": "1", "b": "1"})
	var w *Workspace
	p.step = func(name string) error {
		if strings.HasPrefix(name, "rename a") {
			return w.Close()
		}
		return nil
	}
	w = open(t, p, root)
	_, err := w.Apply(t.Context(), []Change{
		{Path: "a", Before: content("1"), After: []byte("2")},
		{Path: "b", Before: content("1"), After: []byte("2")},
	})
	must(t, err)
	wantNoLeftovers(t, p, root)
	if len(p.cores) != 0 {
		t.Error("the root stays open")
	}
}

// Of two writers that computed their change from the same content, one wins.
func TestApplyOrdersWriters(t *testing.T) {
	p, root := newPool(t), t.TempDir()
	write(t, root, map[string]string{"a": "0", "b": "0"})
	const writers = 8
	errs := make(chan error, writers)
	for i := range writers {
		w := open(t, p, root)
		text := strings.Repeat("x", i+1)
		go func() {
			_, err := w.Apply(t.Context(), []Change{
				{Path: "a", Before: content("0"), After: []byte(text)},
				{Path: "b", Before: content("0"), After: []byte(text)},
			})
			errs <- err
		}()
	}
	won := 0
	for range writers {
		if err := <-errs; err != nil {
			wantReason(t, err, toolerr.ReasonContentChanged)
			continue
		}
		won++
	}
	a, _ := os.ReadFile(filepath.Join(root, "a"))
	b, _ := os.ReadFile(filepath.Join(root, "b"))
	if won != 1 || string(a) != string(b) || string(a) == "0" {
		t.Errorf("%d writers won; a is %q, b is %q", won, a, b)
	}
	wantNoLeftovers(t, p, root)
}
