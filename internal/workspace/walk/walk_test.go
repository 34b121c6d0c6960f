package walk

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// tree writes files ("path" or "path=content") and returns their root.
func tree(tb testing.TB, files ...string) (*os.Root, string) {
	tb.Helper()
	dir := tb.TempDir()
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { root.Close() })
	return root, dir
}

func paths(l *Listing) []string {
	out := []string{}
	for _, f := range l.Files {
		out = append(out, f.Path)
	}
	return out
}

func TestList(t *testing.T) {
	tests := []struct {
		name    string
		files   []string
		scope   string
		want    []string
		skipped map[string]int
	}{
		{"everything, in byte order of the paths", []string{"b", "a/x", "a-b", "a.c"}, "", []string{"a-b", "a.c", "a/x", "b"}, nil},
		{"a file", []string{"a/x", "b"}, "a/x", []string{"a/x"}, nil},
		{"a folder", []string{"a/x", "a/y/z", "b"}, "a", []string{"a/x", "a/y/z"}, nil},
		{"a folder spelled otherwise", []string{"a/x", "b"}, "./a/", []string{"a/x"}, nil},
		{"a glob", []string{"a/x.go", "a/x.py", "b/c/y.go", "z.go"}, "**/*.go", []string{"a/x.go", "b/c/y.go", "z.go"}, nil},
		{"a glob below a folder", []string{"a/x.go", "a/b/y.go", "c/z.go"}, "a/*.go", []string{"a/x.go"}, nil},
		{"a glob of alternatives", []string{"a.go", "a.py", "a.c"}, "*.{go,c}", []string{"a.c", "a.go"}, nil},
		{"a glob that matches nothing", []string{"a.go"}, "*.py", []string{}, nil},
		{"hidden", []string{".h/x", ".f", "a"}, "", []string{"a"}, map[string]int{Hidden: 2}},
		{"hidden but named", []string{".h/x", ".h/.y"}, ".h", []string{".h/x"}, map[string]int{Hidden: 1}},
		{"a hidden file that is named", []string{".f"}, ".f", []string{".f"}, nil},
		{"ignored", []string{".gitignore=*.log\n/out\n", "a.log", "a", "out/x", "b/out/x"}, "", []string{"a", "b/out/x"}, map[string]int{Hidden: 1, Ignored: 2}},
		{"ignored but named", []string{".gitignore=out\n", "out/x", "out/y"}, "out", []string{"out/x", "out/y"}, nil},
		{"an ignored file that is named", []string{".gitignore=*.log\n", "a.log"}, "a.log", []string{"a.log"}, nil},
		{"below an ignored folder that is named", []string{".gitignore=build/**\n", "build/a/x"}, "build/a", []string{"build/a/x"}, nil},
		{"ignore files above a folder that is named", []string{".gitignore=*.log\n", "a/x", "a/y.log"}, "a", []string{"a/x"}, map[string]int{Ignored: 1}},
		{"nested ignore files", []string{"a/.gitignore=x\n", "a/x", "a/b/x", "x"}, "", []string{"x"}, map[string]int{Hidden: 1, Ignored: 2}},
		{"a nested one takes back", []string{".gitignore=*.log\n", "a/.gitignore=!keep.log\n", "a/keep.log", "keep.log"}, "", []string{"a/keep.log"}, map[string]int{Hidden: 2, Ignored: 1}},
		{"nothing comes back out of an ignored folder", []string{".gitignore=a/\n!a/x\n", "a/x"}, "", []string{}, map[string]int{Hidden: 1, Ignored: 1}},
		{".ignore beats .gitignore", []string{".gitignore=*.log\n", ".ignore=!a.log\n", "a.log", "b.log"}, "", []string{"a.log"}, map[string]int{Hidden: 2, Ignored: 1}},
		{"a glob of a hidden folder", []string{".ci/a.yml", ".ci/.b.yml", ".git/c.yml", "d/.ci/e.yml"}, "**/.ci/*.yml", []string{".ci/a.yml", "d/.ci/e.yml"}, map[string]int{Hidden: 2}},
		{"a glob below a hidden folder", []string{".ci/a.yml", ".ci/x/b.yml"}, ".ci/**/*.yml", []string{".ci/a.yml", ".ci/x/b.yml"}, nil},
		{"a glob below an ignored folder", []string{".gitignore=out\n", "out/a.go", "out/b/out/c.go"}, "out/**/*.go", []string{"out/a.go", "out/b/out/c.go"}, nil},
		{"a name that looks like a glob", []string{"[id]/a", "i/a"}, "[id]/a", []string{"[id]/a"}, nil},
		{"a glob below a name that looks like one", []string{"p/[id]/a.x", "p/i/a.x"}, "p/[id]/*.x", []string{"p/[id]/a.x"}, nil},
		{"an escaped glob", []string{"p/[id]/a", "p/i/a"}, `p/\[id\]/?`, []string{"p/[id]/a"}, nil},
		{"a glob of folders", []string{"a/b/x", "a/c/x", "a/x", "d/b/x"}, "a/*/x", []string{"a/b/x", "a/c/x"}, nil},
		{"a glob with a slash in braces", []string{"a/b/x", "c/x", "d/x"}, "{a/b,c}/x", []string{"a/b/x", "c/x"}, nil},
		{"a glob does not look where nothing can match", []string{"a/x.go", "a/b.go/.h/x.go", "b/.h/x.go"}, "a*/*.go", []string{"a/x.go"}, map[string]int{}},
		{"rules that ignore the scope say nothing of its parts", []string{".gitignore=pkgs/\ndist/\n", "pkgs/p/dist/x", "dist/x"}, "pkgs/p", []string{"pkgs/p/dist/x"}, map[string]int{}},
		{"rules inside an ignored scope still hold", []string{".gitignore=pkgs/\n", "pkgs/.gitignore=tmp\n", "pkgs/p/tmp/x", "pkgs/p/y"}, "pkgs/p", []string{"pkgs/p/y"}, map[string]int{Ignored: 1}},
		{"a name that is not UTF-8", []string{"a\xff", "b"}, "", []string{"b"}, map[string]int{Unreadable: 1}},
		{"an outer .ignore beats an inner .gitignore", []string{".ignore=!x\n", "a/.gitignore=x\n", "a/x"}, "", []string{"a/x"}, nil},
		{"a byte order mark and CRLF", []string{".gitignore=\xef\xbb\xbfx\r\ny\r\n", "x", "y", "z"}, "", []string{"z"}, nil},
		{"an ignore file that is a folder", []string{".gitignore/x", "y"}, "", []string{"y"}, map[string]int{Hidden: 1}},
		{"git's exclude file", []string{".git/info/exclude=x\n", "x", "y"}, "", []string{"y"}, map[string]int{Hidden: 1, Ignored: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, _ := tree(t, tt.files...)
			l, err := List(t.Context(), root, tt.scope, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, paths(l)); diff != "" {
				t.Errorf("files differ (-want +got):\n%s", diff)
			}
			if tt.skipped != nil {
				if diff := cmp.Diff(tt.skipped, l.Skipped); diff != "" {
					t.Errorf("skipped differ (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestListPassesOver(t *testing.T) {
	root, dir := tree(t, "a", "big=0123456789", "d/x", "script=#!/bin/sh\n")
	for link, target := range map[string]string{"loop": ".", "out": "/etc", "file": "a", "dead": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var heads []string
	l, err := List(t.Context(), root, "", Options{MaxFileBytes: 9, Select: func(path string, head func() []byte) bool {
		if path == "script" {
			heads = append(heads, string(head()))
			return false
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "d/x"}, paths(l)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{Symlink: 4, Special: 2, TooLarge: 1}, l.Skipped); diff != "" {
		t.Errorf("skipped differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"#!/bin/sh\n"}, heads); diff != "" {
		t.Errorf("heads differ (-want +got):\n%s", diff)
	}
}

func TestListRefuses(t *testing.T) {
	root, dir := tree(t, "a")
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for scope, reason := range map[string]toolerr.Reason{
		"nowhere":     toolerr.ReasonPathNotFound,
		"nowhere/*.c": toolerr.ReasonPathNotFound,
		"../x":        toolerr.ReasonOutsideWorkspace,
		"/etc":        toolerr.ReasonOutsideWorkspace,
		"out":         toolerr.ReasonOutsideWorkspace,
		"out/":        toolerr.ReasonOutsideWorkspace,
		"pipe":        toolerr.ReasonBadArgument,
		"[a":          toolerr.ReasonBadArgument,
	} {
		if _, err := List(t.Context(), root, scope, Options{}); !toolerr.Is(err, reason) {
			t.Errorf("List(%q) = %v, want %s", scope, err, reason)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ctx, root, "", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled List gave %v", err)
	}
}

func TestIsBinary(t *testing.T) {
	for source, want := range map[string]bool{
		"": false, "text": false, "a\x00b": true,
		strings.Repeat("x", binaryBytes) + "\x00": false,
	} {
		if got := IsBinary([]byte(source)); got != want {
			t.Errorf("IsBinary(%d bytes) = %t, want %t", len(source), got, want)
		}
	}
}

// BenchmarkListGoLibrary lists the sources of Go's standard library.
func BenchmarkListGoLibrary(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for name, o := range map[string]Options{
		"all": {},
		"go":  {Select: func(path string, _ func() []byte) bool { return strings.HasSuffix(path, ".go") }},
	} {
		b.Run(name, func(b *testing.B) {
			files := 0
			for b.Loop() {
				l, err := List(b.Context(), root, "", o)
				if err != nil {
					b.Fatal(err)
				}
				files = len(l.Files)
			}
			b.ReportMetric(float64(files), "files")
		})
	}
}
