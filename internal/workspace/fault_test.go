package workspace

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Whichever step fails, everything is put back, or else everything stands.
func TestApplyFailsWhole(t *testing.T) {
	failures := 0
	for n := 1; ; n++ {
		w := newCrashWorld(t)
		step, failed := 0, ""
		err := w.apply(t, func(name string) error {
			if step++; step == n {
				failed = name
				return syscall.ENOSPC
			}
			return nil
		})
		if failed == "" {
			break
		}
		if err == nil { // it failed in cleaning up
			if !w.settle(t) {
				t.Errorf("step %q: Apply reported success and did not write", failed)
			}
			continue
		}
		failures++
		wantReason(t, err, toolerr.ReasonWriteFailed)
		if !strings.Contains(err.Error(), "no space left on device; nothing was written") {
			t.Errorf("step %q: error %q", failed, err)
		}
		p := w.pool(t, nil)
		if w.isNew(t) {
			t.Errorf("step %q: Apply reported %v and wrote", failed, err)
		}
		wantNoLeftovers(t, p, w.root)
		must(t, p.Close())
	}
	if failures < 25 {
		t.Errorf("only %d steps made Apply fail", failures)
	}
}

// A disk that fails for good keeps a transaction from being undone, too; the
// next start does it.
func TestApplyFailsForGood(t *testing.T) {
	for n := 1; ; n++ {
		w := newCrashWorld(t)
		step := 0
		err := w.apply(t, func(string) error {
			if step++; step >= n {
				return syscall.EIO
			}
			return nil
		})
		if step < n {
			return
		}
		isNew := w.settle(t)
		switch {
		case err == nil && !isNew:
			t.Errorf("step %d: Apply reported success and did not write", n)
		case err != nil && isNew:
			t.Errorf("step %d: Apply reported %v and wrote", n, err)
		case err != nil && !strings.Contains(err.Error(), "the next start of toolsd tries again"):
			t.Errorf("step %d: %v", n, err)
		}
	}
}

// A failure names the file that it was about.
func TestApplyNamesTheFileThatFailed(t *testing.T) {
	for step, file := range map[string]string{"rename dir/b": "dir/b", "remove gone": "gone", "mkdir new/deep": "new/deep", "link dir/c": "dir/c"} {
		w := newCrashWorld(t)
		failed := false
		err := w.apply(t, func(name string) error {
			if name == step && !failed {
				failed = true
				return syscall.EDQUOT
			}
			return nil
		})
		want := "cannot write " + file + ": disk quota exceeded; nothing was written"
		if err == nil || err.Error() != want {
			t.Errorf("step %q: %v; want %s", step, err, want)
		}
	}
}

// What another program does to a file in the middle of a transaction is not
// lost, and the rest is put back.
func TestApplyMeetsAnotherWriter(t *testing.T) {
	tests := []struct {
		name, step string
		do         map[string]string // files that are written
		anew       bool              // by a program that replaces them
		reason     toolerr.Reason
		text       string
		file, want string
	}{
		{
			"changed before its rename", "rename a", // the first of the files: dir/b comes later
			map[string]string{"dir/b": "mine"},
			false,
			toolerr.ReasonContentChanged, "dir/b changed", "dir/b", "mine",
		},
		{
			"replaced before its rename", "rename a",
			map[string]string{"dir/b": "mine"},
			true,
			toolerr.ReasonContentChanged, "dir/b changed", "dir/b", "mine",
		},
		{
			"created before its link", "rename a",
			map[string]string{"dir/c": "mine"},
			false,
			toolerr.ReasonContentChanged, "dir/c appeared", "dir/c", "mine",
		},
		{
			"created in the last instant", "link dir/c",
			map[string]string{"dir/c": "c2"},
			false,
			toolerr.ReasonContentChanged, "dir/c appeared", "dir/c", "c2",
		},
		{
			"changed in the last instant", "rename a",
			map[string]string{"a": "mine"},
			false,
			toolerr.ReasonContentChanged, "a changed", "a", "mine",
		},
		{
			"changed after its rename", "link new/deep/d",
			map[string]string{"a": "mine"},
			false,
			toolerr.ReasonWriteFailed, "put back but what somebody changed meanwhile: a (changed)", "a", "mine",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newCrashWorld(t)
			done := false
			err := w.apply(t, func(name string) error {
				if name == tt.step && !done {
					done = true
					if tt.anew {
						must(t, os.Remove(filepath.Join(w.root, tt.file)))
					}
					write(t, w.root, tt.do)
					if tt.reason == toolerr.ReasonWriteFailed {
						return syscall.EIO
					}
				}
				return nil
			})
			wantReason(t, err, tt.reason)
			if !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %q does not say %q", err, tt.text)
			}
			if got, _ := os.ReadFile(filepath.Join(w.root, tt.file)); string(got) != tt.want {
				t.Errorf("%s is %q, want %q", tt.file, got, tt.want)
			}
			for name, want := range crashFiles {
				if got, _ := os.ReadFile(filepath.Join(w.root, name)); name != tt.file && string(got) != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			p := w.pool(t, nil)
			defer p.Close()
			wantNoLeftovers(t, p, w.root)
		})
	}
}

// A file that was deleted by somebody else is not brought back.
func TestApplyDoesNotResurrect(t *testing.T) {
	w := newCrashWorld(t)
	done := false
	err := w.apply(t, func(name string) error {
		if name == "rename a" && !done {
			done = true
			return os.Remove(filepath.Join(w.root, "gone"))
		}
		return nil
	})
	wantReason(t, err, toolerr.ReasonContentChanged)
	delete(w.before, "gone")
	if got := snapshot(t, w.root); !maps.Equal(got, w.before) {
		t.Errorf("%v, want %v", got, w.before)
	}
}

// A file system without hard links: copies and renames do their work.
func TestApplyWithoutHardLinks(t *testing.T) {
	noLinks := func(name string) error {
		if strings.HasPrefix(name, "link ") {
			return syscall.EPERM
		}
		return nil
	}
	w := newCrashWorld(t)
	must(t, w.apply(t, noLinks))
	if !w.isNew(t) {
		t.Error("nothing was written")
	}
	for n := 1; ; n++ {
		w := newCrashWorld(t)
		killed := kill(n, func(step func(string) error) {
			must(t, w.apply(t, func(name string) error {
				_ = step(name)
				return noLinks(name)
			}))
		})
		if !killed {
			return
		}
		w.settle(t)
	}
}

// A disk that is really full.
func TestApplyOnAFullDisk(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(root, 0)) })
	big := bytes.Repeat([]byte("x"), 100<<10)
	write(t, root, map[string]string{"a": string(big), "b": "1"})
	p := newPool(t)
	w, err := p.Open(root)
	must(t, err)
	defer w.Close()
	before := snapshot(t, root)
	grown := append(bytes.Clone(big), big...)
	_, err = w.Apply(t.Context(), []Change{
		{Path: "b", Before: content("1"), After: []byte("2")},
		{Path: "a", Before: content(string(big)), After: grown},
	})
	wantReason(t, err, toolerr.ReasonWriteFailed)
	if !strings.Contains(err.Error(), "a: no space left on device; nothing was written") {
		t.Errorf("error %q", err)
	}
	if after := snapshot(t, root); !maps.Equal(before, after) {
		t.Error("the files are not what they were")
	}
	wantNoLeftovers(t, p, root)
}
