package walk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// TestListWhileTreeChanges swaps a folder that is still to be read.
func TestListWhileTreeChanges(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, swap := range map[string]func(dir string) error{
		"gone":                     func(string) error { return nil },
		"a file":                   func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a pipe":                   func(dir string) error { return syscall.Mkfifo(dir, 0o600) },
		"a link":                   func(dir string) error { return os.Symlink(outside, dir) },
		"a link that stays inside": func(dir string) error { return os.Symlink("a", dir) },
	} {
		t.Run(name, func(t *testing.T) {
			root, dir := tree(t, "a/x", "b/y", "c")
			l, err := List(t.Context(), root, "", Options{Select: func(path string, _ func() []byte) bool {
				if path == "a/x" {
					b := filepath.Join(dir, "b")
					if err := errors.Join(os.RemoveAll(b), swap(b)); err != nil {
						t.Error(err)
					}
				}
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a/x", "c"}, paths(l)); diff != "" {
				t.Errorf("files differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int{Vanished: 1}, l.Skipped); diff != "" {
				t.Errorf("skipped differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListCancelledHalfWay(t *testing.T) {
	root, _ := tree(t, "a/x", "b/y", "c/z")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	_, err := List(ctx, root, "", Options{Select: func(string, func() []byte) bool { seen++; cancel(); return true }})
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("after %d files List gave %v, want one file and a cancelled context", seen, err)
	}
}

// TestListUnreadable looks at the tree as an unprivileged user.
func TestListUnreadable(t *testing.T) {
	root, dir := tree(t, "a", "locked/x", "secret/.gitignore=z", "secret/z")
	for name, mode := range map[string]os.FileMode{"locked": 0, "secret/.gitignore": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o700) })
	asNobody(t)
	l, err := List(t.Context(), root, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "secret/z"}, paths(l)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{Unreadable: 2, Hidden: 1}, l.Skipped); diff != "" {
		t.Errorf("skipped differ (-want +got):\n%s", diff)
	}
	if _, err := List(t.Context(), root, "locked", Options{}); !toolerr.Is(err, toolerr.ReasonPathUnreadable) {
		t.Errorf("a scope that cannot be read gave %v", err)
	}
}

// asNobody takes the rights of root over files from the test's thread, until
// the test ends.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	runtime.LockOSThread()
	t.Cleanup(func() {
		_ = unix.Setfsuid(0)
		runtime.UnlockOSThread()
	})
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
}

// TestListWithoutDescriptors: an empty listing would be taken for an empty
// workspace.
func TestListWithoutDescriptors(t *testing.T) {
	root, _ := tree(t, "a/x", "b/y")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	set := func(current uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: current, Max: limit.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer set(limit.Cur)
	l, err := List(t.Context(), root, "", Options{Select: func(string, func() []byte) bool { set(0); return true }})
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("half-way without descriptors List = %v, %v; want EMFILE", l, err)
	}
	l, err = List(t.Context(), root, "", Options{})
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("without descriptors List = %v, %v; want EMFILE", l, err)
	}
}

// TestListDeep has a tree that is deeper than folders are kept open, and longer
// than a path may be.
func TestListDeep(t *testing.T) {
	root, dir := tree(t, "f")
	name := strings.Repeat("d", 40)
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 110 {
		if err := unix.Mkdirat(at, name, 0o755); err != nil {
			t.Fatal(err)
		}
		below, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		file, err := unix.Openat(below, "f", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = unix.Close(file), unix.Close(at)
		at = below
	}
	_ = unix.Close(at)
	l, err := List(t.Context(), root, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	deepest := 0
	for _, f := range l.Files {
		deepest = max(deepest, len(f.Path))
	}
	if len(l.Files) != 100 || deepest > maxPathBytes || l.Skipped[Unreadable] != 1 {
		t.Errorf("%d files, the longest path of %d bytes, skipped %v", len(l.Files), deepest, l.Skipped)
	}
}

func TestListGlobMissed(t *testing.T) {
	root, _ := tree(t, "a.go")
	none := Options{Select: func(string, func() []byte) bool { return false }}
	for scope, want := range map[string]bool{"*.py": true, "*.go": false, ".": false} {
		l, err := List(t.Context(), root, scope, none)
		if err != nil {
			t.Fatal(err)
		}
		if l.GlobMissed != want {
			t.Errorf("List(%q).GlobMissed = %t, want %t", scope, l.GlobMissed, want)
		}
	}
}

// TestListIgnoreLink: as for git, an ignore file that is a link is none.
func TestListIgnoreLink(t *testing.T) {
	root, dir := tree(t, "rules=x\n", "x")
	if err := os.Symlink("rules", filepath.Join(dir, gitIgnore)); err != nil {
		t.Fatal(err)
	}
	l, err := List(t.Context(), root, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rules", "x"}, paths(l)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
}
