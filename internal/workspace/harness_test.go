package workspace

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestMain(m *testing.M) {
	if scenario := os.Getenv(crashEnv); scenario != "" {
		crash(scenario)
		return
	}
	goleak.VerifyTestMain(m)
}

// newPool opens a pool over a new state folder, closed with the test.
func newPool(t *testing.T) *Pool {
	t.Helper()
	p, err := NewPool(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// open opens a workspace, closed with the test.
func open(t *testing.T, p *Pool, root string) *Workspace {
	t.Helper()
	w, err := p.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// newWorkspace opens a workspace over a new folder with the given files.
func newWorkspace(t *testing.T, files map[string]string) (w *Workspace, root string) {
	t.Helper()
	root = t.TempDir()
	write(t, root, files)
	return open(t, newPool(t), root), root
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func content(s string) Expected { return Content(sha256.Sum256([]byte(s))) }

// snapshot describes everything below a folder: paths, modes, owners, contents.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		a := attributesOf(info)
		text := fmt.Sprintf("%v %d:%d", a.mode, a.uid, a.gid)
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %q", content)
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " → " + target
		}
		out[rel] = text
		return nil
	}))
	return out
}

func wantReason(t *testing.T, err error, want toolerr.Reason) {
	t.Helper()
	if !toolerr.Is(err, want) {
		t.Fatalf("error %v, want %s", err, want)
	}
}
