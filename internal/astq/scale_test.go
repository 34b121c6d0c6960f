package astq_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/astq"
)

var whole = flag.Bool("whole", false, "compare the whole Go library with Go's parser, not a part of it; takes minutes")

// libraryParts are folders of the Go library with code of many kinds; in the
// test data of types there are syntax errors.
var libraryParts = []string{"fmt", "go", "internal/types", "io", "os", "text", "time"}

// TestGoLibrary compares what is found in the Go standard library with what
// Go's own parser sees in the same files.
func TestGoLibrary(t *testing.T) {
	r := openLibrary(t)
	folders, path := libraryParts, "{"+strings.Join(libraryParts, ",")+"}/**/*.go"
	if *whole {
		folders, path = []string{""}, ""
	}
	truth := goTruth(t, folders)
	for _, tt := range []struct {
		pattern string
		want    int
	}{
		{"errors.New($X)", truth["errors.New"]},
		{"fmt.Errorf($$$A)", truth["fmt.Errorf"]},
		{"$X == $X", truth["same"]},
		{"$A + $B", truth["+"]},
		{"if err != nil { return $X }", truth["if err"]},
	} {
		began := time.Now()
		res := r.grep(astq.GrepQuery{Pattern: tt.pattern, Path: path, Language: "go", MaxResults: new(int32(1))})
		got := len(res.Matches) + res.Omitted
		t.Logf("%-28s %6d, Go's parser %6d, %5d of %d files parsed, %v, peak memory %d MiB", tt.pattern, got, tt.want,
			res.Stats.Parsed, res.Stats.Searched, time.Since(began).Round(time.Millisecond), peakMiB(t))
		if res.Stats.Searched != truth["files"] {
			t.Errorf("%d files were searched, of %d", res.Stats.Searched, truth["files"])
		}
		if got != tt.want {
			t.Errorf("%s: %d matches, want %d", tt.pattern, got, tt.want)
		}
	}
}

// goTruth counts shapes with go/ast in every Go file of some folders that a
// search sees.
func goTruth(t *testing.T, folders []string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	root := library(t)
	for _, folder := range folders {
		must(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasPrefix(d.Name(), ".") && d.IsDir():
				return fs.SkipDir
			case strings.HasPrefix(d.Name(), ".") || filepath.Ext(path) != ".go" || !d.Type().IsRegular():
				return nil
			}
			counts["files"]++
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			// A file with syntax errors is searched as well, and so counted.
			file, _ := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			if file != nil {
				ast.Inspect(file, func(n ast.Node) bool { countShape(counts, source, file, n); return true })
			}
			return nil
		}))
	}
	return counts
}

func countShape(counts map[string]int, source []byte, file *ast.File, n ast.Node) {
	text := func(n ast.Node) string { return string(source[n.Pos()-file.FileStart : n.End()-file.FileStart]) }
	switch n := n.(type) {
	case *ast.CallExpr:
		if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "new" && isAdd(n.Args) {
			counts["+"]-- // the grammar takes a type only, as Go did before 1.26
		}
		name, _ := n.Fun.(*ast.SelectorExpr)
		if name == nil {
			return
		}
		switch of, _ := name.X.(*ast.Ident); {
		case of == nil:
		case of.Name == "errors" && name.Sel.Name == "New" && len(n.Args) == 1:
			counts["errors.New"]++
		case of.Name == "fmt" && name.Sel.Name == "Errorf":
			counts["fmt.Errorf"]++
		}
	case *ast.BinaryExpr:
		switch {
		case n.Op == token.ADD:
			counts["+"]++
		case n.Op == token.EQL && text(n.X) == text(n.Y):
			counts["same"]++
		}
	case *ast.IfStmt:
		if isErrNotNil(n) && n.Init == nil && n.Else == nil && len(n.Body.List) == 1 {
			if ret, ok := n.Body.List[0].(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
				counts["if err"]++
			}
		}
	}
}

func isAdd(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	sum, ok := args[0].(*ast.BinaryExpr)
	return ok && sum.Op == token.ADD
}

func isErrNotNil(n *ast.IfStmt) bool {
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ {
		return false
	}
	x, okX := cond.X.(*ast.Ident)
	y, okY := cond.Y.(*ast.Ident)
	return okX && okY && x.Name == "err" && y.Name == "nil"
}

// peakMiB is the most memory that the process has held.
func peakMiB(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Maxrss >> 10
}
