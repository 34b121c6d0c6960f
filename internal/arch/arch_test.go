package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the module's folder, seen from this package's.
const root = "../.."

// A pkg is what the rules read of one package; the names are those of `go list`.
type pkg struct {
	ImportPath string
	Doc        string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
}

// loadGraph lists the module's packages and all that they depend on, without
// what only tests import.
func loadGraph(t *testing.T) map[string]pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Doc,GoFiles,CgoFiles,Imports", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	graph := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return graph
		}
		if err != nil {
			t.Fatalf("read what go list printed: %v", err)
		}
		graph[p.ImportPath] = p
	}
}

// longFiles returns the files below dir with more lines than maxLines, tests and
// generated code aside.
func longFiles(dir string) ([]string, error) {
	var long []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || path == filepath.Join(dir, "gen")):
			return filepath.SkipDir
		case entry.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".c", ".h"}, filepath.Ext(path)):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if lines := bytes.Count(content, []byte("\n")); lines > maxLines {
			long = append(long, fmt.Sprintf("%s has %d lines; split it, the cap is %d", path, lines, maxLines))
		}
		return nil
	})
	return long, err
}

func TestArrows(t *testing.T) {
	graph := loadGraph(t)
	if _, ok := graph[module+"/internal/toolerr"]; !ok {
		t.Fatalf("go list gave %d packages, without internal/toolerr: the rules would hold for nothing", len(graph))
	}
	for _, breach := range check(graph) {
		t.Error(breach)
	}
}

// TestFileLengths reads every source file of the module. Since the go command
// notes what a test opens, that also keeps it from answering for TestArrows with
// a result from before a source was changed.
func TestFileLengths(t *testing.T) {
	long, err := longFiles(root)
	if err != nil {
		t.Fatalf("walk the sources: %v", err)
	}
	for _, breach := range long {
		t.Error(breach)
	}
}

func TestLongFileIsFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("\n"), lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("internal/a/full.go", maxLines)
	write("internal/a/long.go", maxLines+1)
	write("internal/a/long.c", maxLines+1)
	write("internal/a/long_test.go", maxLines+1)
	write("internal/a/testdata/long.go", maxLines+1)
	write("gen/a/long.go", maxLines+1)
	write(".tools/long.go", maxLines+1)

	long, err := longFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(long) != 2 || !strings.Contains(long[0], "long.c") || !strings.Contains(long[1], "long.go") {
		t.Errorf("longFiles = %q, want internal/a/long.c and internal/a/long.go", long)
	}
}
