package walk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// TestAgainstGit compares with git itself. "a**/b" is left out: git's manual
// calls such asterisks regular ones, and git itself matches "ab" with it.
func TestAgainstGit(t *testing.T) {
	patterns := []string{
		"a", "/a", "a/", "*.o", "!a.o", "a/b", "/a/b", "a/*", "a/**", "**/b", "a/**/c", "**", "*", "a*", "?", "[ab]", "[!a]", "[^a]*", `\!x`, `\#x`, "#x",
		"a b", `a\ `, "a ", "{a,b}", "a.{o,c}", "**/a/**", "b/../a", "a**", "**a", "/**/b", "/*", "/*/b", "*/b", `\a`, "[a-c]", "[", "a[", "!", "/", "!/", "x/", "**/x/",
		"[[:alpha:]]", "a//b", "./a", `a\`, `*\`, "[]a]", "[a/b]",
	}
	files := []string{
		"a", "b", "x", "c.o", "a.o", "!x", "#x", "ab", "a ", "a b", "{a,b}", "d/a", "d/b", "d/a.o", "d/e/b", "a1/b", "a1/q/c", "q/a/b/c", "x1/x", "e/x/y", "a.{o,c}", `w\`,
	}
	root, dir := tree(t, files...)
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	compare := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, gitIgnore), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "-C", dir, "ls-files", "--others", "--exclude-standard", "-z")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "XDG_CONFIG_HOME="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git ls-files: %v", err)
		}
		want := []string{}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" && !strings.HasPrefix(name, ".") {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		l, err := List(t.Context(), root, "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, paths(l)); diff != "" {
			t.Errorf("with %q files differ (-git +ours):\n%s", lines, diff)
		}
	}
	for i, p := range patterns {
		compare(p)
		compare(patterns[(i+7)%len(patterns)], "!"+p)
		compare("*", "!*/", "!"+p)
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

func FuzzRules(f *testing.F) {
	for _, seed := range []string{"*.o\n!a.o\n", "a/**/b\n", "[a-\n", `\`, "\xef\xbb\xbfa\r\n", "{a,b}", "**/**/**/**"} {
		f.Add(seed, "a/b.o", true)
	}
	f.Fuzz(func(_ *testing.T, rules, name string, isDir bool) {
		set := parseRules("", []byte(rules))
		base := name[strings.LastIndexByte(name, '/')+1:]
		set.decide(name, base, isDir)
	})
}

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
	files := 0
	for b.Loop() {
		l, err := List(b.Context(), root, "", Options{})
		if err != nil {
			b.Fatal(err)
		}
		files = len(l.Files)
	}
	b.ReportMetric(float64(files), "files")
	b.Log(fmt.Sprint(files, " files"))
}
