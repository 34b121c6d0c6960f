package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestNewPoolLocksTheStateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	first, err := NewPool(dir)
	must(t, err)
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := NewPool(dir); err == nil || !strings.Contains(err.Error(), "in use by another toolsd") {
		t.Fatalf("second pool: %v", err)
	}
	must(t, first.Close())
	second, err := NewPool(dir)
	must(t, err)
	must(t, second.Close())
}

func TestNewPoolRefuses(t *testing.T) {
	open := t.TempDir()
	must(t, os.Chmod(open, 0o777))
	if _, err := NewPool(open); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("a folder that all may write: %v", err)
	}
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := NewPool(file); err == nil {
		t.Error("a file was taken for a state folder")
	}
}

func TestOpen(t *testing.T) {
	p, dir := newPool(t), t.TempDir()
	write(t, dir, map[string]string{"file": "", "real/a": "x"})
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	for _, bad := range []string{"", ".", "real", filepath.Join(dir, "file"), filepath.Join(dir, "none"), filepath.Join(dir, "fifo"), dir + "/a\x00b"} {
		if _, err := p.Open(bad); !toolerr.Is(err, toolerr.ReasonBadArgument) {
			t.Errorf("Open(%q): %v", bad, err)
		}
	}
	direct, linked := open(t, p, filepath.Join(dir, "real")), open(t, p, filepath.Join(dir, "link")+"/")
	if direct.Root() != linked.Root() || direct.core != linked.core || direct == linked {
		t.Errorf("roots %q and %q: want two handles of one root", direct.Root(), linked.Root())
	}
	must(t, linked.Close())
	must(t, linked.Close())
	if _, err := direct.ReadFile("a", 10); err != nil {
		t.Errorf("after the other handle was closed: %v", err)
	}
	must(t, direct.Close())
	if len(p.cores) != 0 {
		t.Errorf("%d roots stay open", len(p.cores))
	}
}

func TestRel(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	alias := filepath.Join(dir, "alias")
	must(t, os.Symlink("real", alias))
	w := open(t, newPool(t), alias)
	tests := []struct {
		in, want string
		reason   toolerr.Reason
	}{
		{in: "a/b.go", want: "a/b.go"},
		{in: "./a", want: "a"},
		{in: ".", want: "."},
		{in: "a//b/", want: "a/b"},
		{in: "a/../b", want: "b"},
		{in: "..a", want: "..a"},
		{in: "a b/ü", want: "a b/ü"},
		{in: w.Root(), want: "."},
		{in: w.Root() + "/a/b", want: "a/b"},
		{in: alias, want: "."},
		{in: alias + "/a", want: "a"},
		{in: alias + "/x/../a", want: "a"},
		{in: "", reason: toolerr.ReasonBadArgument},
		{in: "a\x00b", reason: toolerr.ReasonBadArgument},
		{in: "..", reason: toolerr.ReasonOutsideWorkspace},
		{in: "../", reason: toolerr.ReasonOutsideWorkspace},
		{in: "a/../../b", reason: toolerr.ReasonOutsideWorkspace},
		{in: "/etc/passwd", reason: toolerr.ReasonOutsideWorkspace},
		{in: "/", reason: toolerr.ReasonOutsideWorkspace},
		{in: alias + "x/a", reason: toolerr.ReasonOutsideWorkspace},
		{in: alias + "/../other", reason: toolerr.ReasonOutsideWorkspace},
	}
	for _, tt := range tests {
		got, err := w.Rel(tt.in)
		if tt.reason != "" {
			if !toolerr.Is(err, tt.reason) {
				t.Errorf("Rel(%q) = %q, %v; want %s", tt.in, got, err, tt.reason)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("Rel(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestRelInTheFileSystemRoot(t *testing.T) {
	w := open(t, newPool(t), "/")
	if got, err := w.Rel("/etc/passwd"); err != nil || got != "etc/passwd" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := w.Rel("/"); err != nil || got != "." {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzRel(f *testing.F) {
	for _, seed := range []string{"a/b", "./..", "/", "//", "a/../..", "\x00", "...", "/ws/root", "/ws/root/../x", "../root/a", "/ws/alias/a"} {
		f.Add(seed)
	}
	w := &Workspace{core: &core{root: "/ws/root"}, alias: "/ws/alias"}
	f.Fuzz(func(t *testing.T, name string) {
		rel, err := w.Rel(name)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) || filepath.Clean(rel) != rel || strings.ContainsRune(rel, 0) {
			t.Fatalf("Rel(%q) = %q", name, rel)
		}
		if again, err := w.Rel(rel); err != nil || again != rel {
			t.Fatalf("Rel(%q) = %q, and of that %q, %v", name, rel, again, err)
		}
	})
}

func TestReadFile(t *testing.T) {
	w, root := newWorkspace(t, map[string]string{"a": "12345", "dir/b": "b", "empty": ""})
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret": "s"})
	for name, target := range map[string]string{
		"in": "dir/b", "indir": "dir", "out": filepath.Join(outside, "secret"), "outdir": outside, "abs": filepath.Join(root, "a"),
		"up": "../" + filepath.Base(outside) + "/secret", "dangling": "nothing", "loop": "loop",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	tests := []struct {
		path, want string
		max        int64
		reason     toolerr.Reason
	}{
		{path: "a", want: "12345", max: 5},
		{path: "a", max: 4, reason: toolerr.ReasonLimit},
		{path: "empty", max: 0},
		{path: "in", want: "b", max: 9},
		{path: "indir/b", want: "b", max: 9},
		{path: "nothing", max: 9, reason: toolerr.ReasonPathNotFound},
		{path: "a/below", max: 9, reason: toolerr.ReasonPathNotFound},
		{path: "dangling", max: 9, reason: toolerr.ReasonPathNotFound},
		{path: "dir", max: 9, reason: toolerr.ReasonPathUnreadable},
		{path: ".", max: 9, reason: toolerr.ReasonPathUnreadable},
		{path: "fifo", max: 9, reason: toolerr.ReasonPathUnreadable},
		{path: "loop", max: 9, reason: toolerr.ReasonPathUnreadable},
		{path: strings.Repeat("x", 300), max: 9, reason: toolerr.ReasonPathUnreadable},
		// The shapes in which os.Root and its like were broken before.
		{path: "out", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "out/", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "outdir/", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "outdir/secret", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "up", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "abs", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "../", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "../" + filepath.Base(outside) + "/secret", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: "dir/../../x", max: 9, reason: toolerr.ReasonOutsideWorkspace},
		{path: filepath.Join(outside, "secret"), max: 9, reason: toolerr.ReasonOutsideWorkspace},
	}
	for _, tt := range tests {
		got, err := w.ReadFile(tt.path, tt.max)
		if tt.reason != "" {
			if !toolerr.Is(err, tt.reason) {
				t.Errorf("ReadFile(%q, %d) = %q, %v; want %s", tt.path, tt.max, got, err, tt.reason)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("ReadFile(%q, %d) = %q, %v; want %q", tt.path, tt.max, got, err, tt.want)
		}
	}
}

func TestOnChange(t *testing.T) {
	p, root := newPool(t), t.TempDir()
	write(t, root, map[string]string{"a": "1", "b": "1"})
	writer, other, closed := open(t, p, root), open(t, p, root), open(t, p, root)
	var seen [][]string
	cancel := other.OnChange(func(paths []string) { seen = append(seen, paths) })
	closed.OnChange(func([]string) { t.Error("a closed handle was told") })
	must(t, closed.Close())

	apply := func(before, after string) {
		t.Helper()
		_, err := writer.Apply(t.Context(), []Change{
			{Path: "./a", Before: content(before), After: []byte(after)},
			{Path: "b", Before: content("1"), After: []byte("1")},
		})
		must(t, err)
	}
	apply("1", "2")
	apply("2", "2")
	if len(seen) != 1 || !slices.Equal(seen[0], []string{"a"}) {
		t.Errorf("seen %v, want one change of a", seen)
	}
	cancel()
	apply("2", "3")
	if len(seen) != 1 {
		t.Errorf("told after cancel: %v", seen)
	}
}
