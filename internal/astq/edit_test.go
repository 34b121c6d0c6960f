package astq_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestEditText(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		query astq.EditQuery
	}{
		{
			"edit_two_files",
			map[string]string{"a.go": calls(2), "b/c.go": calls(1), "d.go": "package p\n"},
			astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X, nil)", Language: "go"},
		},
		{
			"edit_warnings",
			map[string]string{"a.go": "package p\n\nvar x = f(f(1))\nvar y = f( /* why */ 2)\nvar z = f(3) // kept\n"},
			astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X", Language: "go"},
		},
		{
			"edit_long",
			map[string]string{"a.go": calls(300), "b.go": calls(1)},
			astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X)", Language: "go"},
		},
		{
			"edit_some_unchanged",
			map[string]string{"a.go": "package p\n\nvar x, y = f(1), f(2)\n", "big.go": "package p\n//" + strings.Repeat("x", 1<<20)},
			astq.EditQuery{Pattern: "f($X)", Rewrite: "f(1)", Language: "go"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t, tt.files)
			before := r.snapshot()
			golden(t, tt.name, r.edit(tt.query).Text())
			r.unchanged(before)
		})
	}
}

func TestEditIDs(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(1)})
	for _, want := range []string{"edit_1", "edit_2", "edit_3"} {
		if got := r.edit(astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X)", Path: "a.go"}).ID; got != want {
			t.Errorf("id %q, want %q", got, want)
		}
	}
}

// The diff that a model is shown is what accepting does: a real patch makes
// the same of a copy of the tree.
func TestEditDiffIsWhatAcceptWrites(t *testing.T) {
	files := map[string]string{
		"a.go": calls(30), "b/c.go": "package p\n\nvar x = f(1)", "crlf.go": "package p\r\n\r\nvar x = f(1)\r\nvar y = f(\r\n2)\r\n",
		"d.go": "package p\n\nvar x, y = f(1), f(2)\n\n\n\n\n\n\n\n\nvar z = f(3)\n", "bom.go": "\uFEFFpackage p\n\nvar x = f(1)\n",
		"chain.go": "package p\n\nvar x = f(\n1) + f(\n2) + f(\n3)\nvar y = 0\n",
		"first.go": "package p; var x = f(1)\nvar y int\n",
	}
	for _, rewrite := range []string{"g($X)", "g(\n\t$X,\n)", "1"} {
		accepted := newRoom(t, files)
		p := accepted.edit(astq.EditQuery{Pattern: "f($X)", Rewrite: rewrite, Language: "go"})
		patched := newRoom(t, files)
		var diff strings.Builder
		for _, f := range p.Files {
			diff.WriteString(f.Diff)
		}
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-p1")
		cmd.Dir, cmd.Stdin = patched.root, strings.NewReader(diff.String())
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(patched.root))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("rewrite %q: git apply: %v: %s\n%s", rewrite, err, out, diff.String())
		}
		_, err := accepted.Resolve(t.Context(), p.ID, astq.Accept)
		must(t, err)
		if diff := cmp.Diff(patched.snapshot(), accepted.snapshot()); diff != "" {
			t.Errorf("rewrite %q (-patched +accepted):\n%s", rewrite, diff)
		}
	}
}

func TestEditRefuses(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(2), "b.py": "f(1)\n"})
	before := r.snapshot()
	for _, tt := range []struct {
		name   string
		query  astq.EditQuery
		reason toolerr.Reason
		says   []string
	}{
		{"identity", astq.EditQuery{Pattern: "f($X)", Rewrite: "f($X)", Language: "go"}, toolerr.ReasonNoMatches, []string{"nothing was staged", "2 matches", "already"}},
		{"no match", astq.EditQuery{Pattern: "h($X)", Rewrite: "g($X)", Language: "go"}, toolerr.ReasonNoMatches, []string{"nothing was staged", "No matches in 1 file searched"}},
		{"no file", astq.EditQuery{Pattern: "h($X)", Rewrite: "g($X)", Language: "rust"}, toolerr.ReasonNoMatches, []string{"no file of the language"}},
		{"unbound", astq.EditQuery{Pattern: "f($X)", Rewrite: "f($Y)", Language: "go"}, toolerr.ReasonUnboundMetavariable, []string{"$Y", "$X"}},
		{"wildcard", astq.EditQuery{Pattern: "f($_)", Rewrite: "g($_)", Language: "go"}, toolerr.ReasonUnboundMetavariable, []string{"$_", "binds nothing"}},
		{"unparsable", astq.EditQuery{Pattern: "f($X", Rewrite: "", Language: "go"}, toolerr.ReasonPatternUnparsable, nil},
		{"outside", astq.EditQuery{Pattern: "f($X)", Rewrite: "", Language: "go", Path: ".."}, toolerr.ReasonOutsideWorkspace, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.Edit(t.Context(), tt.query)
			refused(t, err, tt.reason, tt.says...)
			_, err = r.Resolve(t.Context(), "edit_1", astq.Accept)
			refused(t, err, toolerr.ReasonEditNotFound)
		})
	}
	r.unchanged(before)
}

func TestEditLimits(t *testing.T) {
	files := map[string]string{"a.go": calls(20), "b.go": calls(20)}
	query := astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X)", Language: "go"}
	t.Run("one edit", func(t *testing.T) {
		r := openRoom(t, engineWith(t, func(c *astq.Config) { c.MaxStagedBytes = 300 }), t.TempDir())
		r.write(files)
		_, err := r.Edit(t.Context(), query)
		refused(t, err, toolerr.ReasonLimit, "300")
		if e, _ := toolerr.As(err); e.Fields["limit"] != "max_staged_bytes" {
			t.Errorf("fields %v do not name max_staged_bytes", e.Fields)
		}
	})
	t.Run("several edits", func(t *testing.T) {
		r := openRoom(t, engineWith(t, func(c *astq.Config) { c.MaxStagedBytes = 500 }), t.TempDir())
		r.write(files)
		first := r.edit(query)
		_, err := r.Edit(t.Context(), query)
		refused(t, err, toolerr.ReasonLimit, "of 500", "resolve a staged edit")
		_, err = r.Resolve(t.Context(), first.ID, astq.Discard)
		must(t, err)
		r.edit(query)
	})
	t.Run("time", func(t *testing.T) {
		r := openRoom(t, engineWith(t, func(c *astq.Config) { c.SearchTimeout = time.Nanosecond }), t.TempDir())
		r.write(files)
		_, err := r.Edit(t.Context(), query)
		refused(t, err, toolerr.ReasonLimit, "1ns", "nothing was staged")
		_, err = r.Resolve(t.Context(), "edit_1", astq.Accept)
		refused(t, err, toolerr.ReasonEditNotFound)
	})
}

// TestEditRewrites shows what accepting leaves in a file.
func TestEditRewrites(t *testing.T) {
	tests := []struct {
		name, file, source string
		pattern, rewrite   string
		want               string
	}{
		{"nested: the outermost", "a.go", "package p\n\nvar x = f(f(f(1)))\n", "f($X)", "g($X)", "package p\n\nvar x = g(f(f(1)))\n"},
		{"overlapping runs: the first", "a.py", "a()\na()\na()\n", "a()\na()", "b()", "b()\na()\n"},
		{"deletion", "a.py", "a()\nb()\n", "a()", "", "\nb()\n"},
		{"CRLF stays", "a.py", "if a:\r\n    f(1)\r\n", "f($X)", "g(\n    $X,\n)", "if a:\r\n    g(\r\n        1,\r\n    )\r\n"},
		{"no final newline stays so", "a.py", "f(1)", "f($X)", "g($X)", "g(1)"},
		{"byte order mark stays", "a.py", "\uFEFFf(1)\n", "f($X)", "g($X)", "\uFEFFg(1)\n"},
		{"the source's semicolon", "a.dart", "void g() {\n  if (a != null) a.dispose();\n}\n", "if ($X != null) $X.dispose()", "$X?.dispose()", "void g() {\n  a?.dispose();\n}\n"},
		{"the pattern's semicolon", "a.dart", "void g() {\n  if (a != null) a.dispose();\n}\n", "if ($X != null) $X.dispose();", "$X?.dispose();", "void g() {\n  a?.dispose();\n}\n"},
		{
			"depth, blank lines and a Python string", "a.py",
			"if a:\n    if b:\n        x = '''one\n  two\n\n        three'''\n\n        y = 2\nz()\n",
			"if a:\n    $$$B", "$$$B",
			"if b:\n    x = '''one\n  two\n\n        three'''\n\n    y = 2\nz()\n",
		},
		{
			"a Go raw string", "a.go",
			"package p\n\nfunc g() {\n\tif a {\n\t\tx := `one\n\t\ttwo\n\n\t`\n\t\tuse(x)\n\t}\n}\n",
			"if a { $$$B }", "$$$B",
			"package p\n\nfunc g() {\n\tx := `one\n\t\ttwo\n\n\t`\n\tuse(x)\n}\n",
		},
		{
			"a JavaScript template", "a.js",
			"function g() {\n  h(() => {\n    x(`one\n    two ${\n    y}\n    `);\n\n    z();\n  });\n}\n",
			"h(() => $B)", "if (a)\n  h(() => $B)",
			"function g() {\n  if (a)\n    h(() => {\n      x(`one\n    two ${\n    y}\n    `);\n\n      z();\n    });\n}\n",
		},
		{
			"a Dart multi-line string", "a.dart",
			"void g() {\n  h(() {\n    x(\"\"\"one\n    two\n    \"\"\");\n\n    z();\n  });\n}\n",
			"h($B)", "if (a)\n    h($B)",
			"void g() {\n  if (a)\n      h(() {\n        x(\"\"\"one\n    two\n    \"\"\");\n\n        z();\n      });\n}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t, map[string]string{tt.file: tt.source})
			got := r.rewritten(tt.file, astq.EditQuery{Pattern: tt.pattern, Rewrite: tt.rewrite})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("file differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditCounts(t *testing.T) {
	r := newRoom(t, map[string]string{
		"a.go": "package p\n\nvar x = f(f(f(1)))\nvar y, z = f(2), f(g)\n", "b.py": "a()\na()\na()\n",
	})
	for _, tt := range []struct {
		query                           astq.EditQuery
		replacements, nested, unchanged int
	}{
		{astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X)", Path: "a.go"}, 3, 2, 0},
		{astq.EditQuery{Pattern: "f($X)", Rewrite: "f(g)", Path: "a.go"}, 2, 2, 1},
		{astq.EditQuery{Pattern: "a()\na()", Rewrite: "b()", Path: "b.py"}, 1, 1, 0},
	} {
		p := r.edit(tt.query)
		if p.Replacements != tt.replacements || p.Nested != tt.nested || p.Unchanged != tt.unchanged || p.Files[0].Replacements != tt.replacements {
			t.Errorf("%q to %q: %d replacements, %d nested, %d unchanged; want %d, %d, %d", tt.query.Pattern, tt.query.Rewrite,
				p.Replacements, p.Nested, p.Unchanged, tt.replacements, tt.nested, tt.unchanged)
		}
	}
}

func TestEditNewErrors(t *testing.T) {
	const broken = "package p\n\nvar x = f(1)\n\nfunc g() {\n\ta b c\n}\n\nfunc h() {\n\tf(2)\n}\n\nfunc i() {\n\td e f\n}\n"
	tests := []struct {
		name, source     string
		pattern, rewrite string
		want             []astq.Place
	}{
		{"a new one", "package p\n\n\nvar x = f(1)\n", "f($X)", "g(", []astq.Place{{Path: "a.go", Line: 4, LineText: "var x = g("}}},
		{"an old one", broken, "f($X)", "g($X)", nil},
		{"an old one that moved", broken, "f($X)", "g(\n\n$X, 1000000)", nil},
		{"an old one in what is rewritten", "package p\n\nfunc g() {\n\tf(func() { a b c })\n}\n", "f($X)", "g($X)", nil},
		{"an old one goes and a new one comes", "package p\n\nfunc g() {\n\tf(func() { a b c })\n}\n", "f($X)", "h()\n1 +", []astq.Place{{Path: "a.go", Line: 5, LineText: "\t1 +"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t, map[string]string{"a.go": tt.source})
			p := r.edit(astq.EditQuery{Pattern: tt.pattern, Rewrite: tt.rewrite, Path: "a.go"})
			if diff := cmp.Diff(tt.want, p.NewErrors); diff != "" {
				t.Errorf("new errors differ (-want +got):\n%s\n%s", diff, p.Files[0].Diff)
			}
		})
	}
}

func TestEditLostComments(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": "package p\n\n// doc\nvar x = f( /* a */ 1, // b\n\t2 /* c */, 3) // d\n"})
	p := r.edit(astq.EditQuery{Pattern: "f($X, $$$Y)", Rewrite: "g($$$Y)", Path: "a.go"})
	want := []astq.Place{{Path: "a.go", Line: 4, LineText: "var x = f( /* a */ 1, // b"}} // and not b and c, which Y keeps
	if diff := cmp.Diff(want, p.LostComments); diff != "" {
		t.Errorf("lost comments differ (-want +got):\n%s\n%s", diff, p.Files[0].Diff)
	}
}
