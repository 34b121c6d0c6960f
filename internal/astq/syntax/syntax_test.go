package syntax

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// grammars is the folder with the compiled Dart grammar.
func grammars(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("TOOLSD_TEST_GRAMMARS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".tools", "grammars")
	}
	if _, err := os.Stat(filepath.Join(folder, "dart.so")); err != nil {
		t.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	return folder
}

func language(t testing.TB, id string) *Language {
	t.Helper()
	ls, err := NewLanguages([]string{grammars(t)})
	if err != nil {
		t.Fatal(err)
	}
	l, ok := ls.ByName(id)
	if !ok {
		t.Fatalf("no language %s", id)
	}
	return l
}

func parse(t testing.TB, id, source string) *Tree {
	t.Helper()
	tree, err := language(t, id).Parse(t.Context(), []byte(source), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// shape renders a tree: named nodes with their named children, and the text
// of named leaves.
func shape(t *Tree) string {
	var b strings.Builder
	var write func(i int)
	write = func(i int) {
		n := &t.nodes[i]
		b.WriteString(t.language.KindName(n.Symbol))
		leaf := true
		for c := uint32(i) + 1; c < n.Next; c = t.nodes[c].Next {
			if t.nodes[c].Named() {
				b.WriteString(map[bool]string{true: "(", false: " "}[leaf])
				leaf = false
				write(int(c))
			}
		}
		if !leaf {
			b.WriteString(")")
		} else {
			fmt.Fprintf(&b, ":%s", t.Text(i))
		}
	}
	write(0)
	return b.String()
}

// TestRuntimeVersion guards treesitter.h, whose declarations are those of one
// version.
func TestRuntimeVersion(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/tree-sitter/go-tree-sitter").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "v0.25.0" {
		t.Errorf("tree-sitter %s is linked; compare treesitter.h with its header, and change this test", got)
	}
}

func TestTreesAreWellFormed(t *testing.T) {
	sources := map[string]string{
		"go": "package p\n\nfunc f(a int) { g(a, 1) // c\n}\n", "python": "def f(a):\n    return a  # c\n",
		"rust": "fn f(a: u8) -> u8 { a }", "javascript": "const f = (a) => a;", "typescript": "let a: string = b as any;",
		"tsx": "const a = <b c={d}>e</b>;", "java": "class C { int f() { return 1; } }", "c": "int main(void) { return 0; }",
		"cpp": "template <class T> T f(T a) { return a; }", "dart": "class C { int f() => a.b(c) + d; }",
	}
	for id, source := range sources {
		t.Run(id, func(t *testing.T) {
			tree := parse(t, id, source)
			if errs := tree.Errors(); len(errs) > 0 {
				t.Errorf("syntax errors at %v in %s", errs, shape(tree))
			}
			checkNesting(t, tree)
		})
	}
}

// checkNesting checks that every node ends within its parent, by index and by
// byte, and that siblings do not overlap.
func checkNesting(t *testing.T, tree *Tree) {
	t.Helper()
	nodes := tree.Nodes()
	if nodes[0].Next != uint32(len(nodes)) {
		t.Fatalf("the root ends at %d of %d", nodes[0].Next, len(nodes))
	}
	for i := range nodes {
		n := &nodes[i]
		at := n.Start
		for c := uint32(i) + 1; c < n.Next; c = nodes[c].Next {
			child := &nodes[c]
			if child.Next > n.Next || child.Next <= c || child.Start < at || child.End > n.End {
				t.Fatalf("node %d %+v does not lie in its parent %d %+v", c, child, i, n)
			}
			at = child.End
		}
	}
}

func TestDeepSources(t *testing.T) {
	for _, depth := range []int{10_000, 100_000} {
		nested := strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth)
		for id, source := range map[string]string{
			"go": "package p\nvar x = " + nested + "\n", "python": "x = " + nested + "\n", "javascript": "x = " + nested + ";",
			"c": "int x = " + nested + ";", "dart": "var x = " + nested + ";",
		} {
			t.Run(fmt.Sprint(id, depth), func(t *testing.T) {
				tree := parse(t, id, source)
				if len(tree.Nodes()) < 2*depth {
					t.Errorf("only %d nodes", len(tree.Nodes()))
				}
				checkNesting(t, tree)
			})
		}
	}
}

func TestBadSources(t *testing.T) {
	for name, source := range map[string]string{
		"empty": "", "NUL bytes": "package p\x00\x00var x = 1", "invalid UTF-8": "package p\nvar x = \"\xff\xfe\"\n", "no code": "\x01\x02\x03(((",
	} {
		t.Run(name, func(t *testing.T) { checkNesting(t, parse(t, "go", source)) })
	}
}

func TestHugeLine(t *testing.T) {
	source := append([]byte("var x = ["), bytes.Repeat([]byte("1,"), 25<<20)...)
	tree, err := language(t, "javascript").Parse(t.Context(), source, 2*time.Second)
	if err == nil {
		checkNesting(t, tree)
	} else if !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	source := append([]byte("var x = ["), bytes.Repeat([]byte("1,"), 25<<20)...)
	l := language(t, "javascript")
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan time.Time, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		cancelled <- time.Now()
		cancel()
	})
	_, err := l.Parse(ctx, source, time.Minute)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	// The promise is 50 ms; the bound leaves room for a machine under load, and
	// is far below the seconds that the whole parse takes.
	if took := time.Since(<-cancelled); took > time.Second {
		t.Errorf("it ended %s after its context", took)
	}
	if _, err := l.Parse(ctx, []byte("1"), time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gave %v", err)
	}
}

func TestParseBudget(t *testing.T) {
	source := append([]byte("var x = ["), bytes.Repeat([]byte("1,"), 5<<20)...)
	if _, err := language(t, "javascript").Parse(t.Context(), source, 10*time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
}

func TestLanguageLookUp(t *testing.T) {
	ls, err := NewLanguages([]string{grammars(t)})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"go": "go", "golang": "go", "Py": "python", "js": "javascript", "c++": "cpp", "nothing": ""} {
		l, ok := ls.ByName(name)
		if ok != (want != "") || ok && l.ID != want {
			t.Errorf("ByName(%q) is not %q", name, want)
		}
	}
	tests := []struct{ path, head, want string }{
		{"a/b.go", "", "go"},
		{"x.PY", "", "python"},
		{"a.d.ts", "", "typescript"},
		{"a.tsx", "", "tsx"},
		{"a.h", "", "c"},
		{"a.hpp", "", "cpp"},
		{"a.txt", "#!/usr/bin/python3\n", ""},
		{"run", "#!/usr/bin/python3\n", "python"},
		{"run", "#!/usr/bin/env node\n", "javascript"},
		{"run", "#!/usr/bin/env -S python3.12 -u\n", "python"},
		{"run", "#! /usr/bin/env X=1 node\n", "javascript"},
		{"run", "no shebang\n", ""},
		{"run", "#!\n", ""},
	}
	for _, tt := range tests {
		l, ok := ls.ByPath(tt.path, func() []byte { return []byte(tt.head) })
		if ok != (tt.want != "") || ok && l.ID != tt.want {
			t.Errorf("ByPath(%q, %q) is not %q", tt.path, tt.head, tt.want)
		}
	}
	if _, ok := ls.ByPath("run", nil); ok {
		t.Error("a file without extension has a language though its head is not known")
	}
}

func TestDartWithoutItsGrammar(t *testing.T) {
	ls, err := NewLanguages(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, ok := ls.ByName("dart")
	if !ok {
		t.Fatal("dart is not known")
	}
	if err := l.Unusable(); err == nil || !strings.Contains(err.Error(), "scripts/setup.sh grammars") {
		t.Errorf("got %v, want an error that says what to do", err)
	}
	if _, err := l.Parse(t.Context(), nil, time.Second); err == nil {
		t.Error("it parses")
	}
}

// library compiles a shared library.
func library(t *testing.T, folder, id, source string) {
	t.Helper()
	c := filepath.Join(t.TempDir(), "g.c")
	if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(folder, id+".so"), c).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
}

func TestGrammarsOfUsers(t *testing.T) {
	copyDart := func(t *testing.T, folder string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(grammars(t), "dart.so"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "dart.so"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, folder, name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, folder string)
		says    string // "" when it is taken
	}{
		{"one that is taken", func(t *testing.T, f string) {
			t.Helper()
			copyDart(t, f)
			write(t, f, "dart.json", `{"file_names": ["Foofile"]}`)
		}, ""},
		{"a file name that is taken twice", func(t *testing.T, f string) {
			t.Helper()
			copyDart(t, f)
			write(t, f, "dart.json", `{"file_names": ["Foofile", "Foofile"]}`)
		}, `both claim files called "Foofile"`},
		{"no library", func(t *testing.T, f string) { t.Helper(); write(t, f, "foo.so", "text") }, "foo.so"},
		{"a library without the function", func(t *testing.T, f string) { t.Helper(); library(t, f, "foo", "int x;") }, "no function tree_sitter_foo"},
		{"a function that returns nothing", func(t *testing.T, f string) {
			t.Helper()
			library(t, f, "foo", "const void *tree_sitter_foo(void) { return 0; }")
		}, "returns no grammar"},
		{"an ABI from the future", func(t *testing.T, f string) {
			t.Helper()
			library(t, f, "foo", "static unsigned abi[64] = {99}; const void *tree_sitter_foo(void) { return abi; }")
		}, "ABI is 99, and this toolsd takes 13 to 15"},
		{"what is said of it is no JSON", func(t *testing.T, f string) { t.Helper(); copyDart(t, f); write(t, f, "dart.json", "{") }, "dart.json"},
		{"an extension that is taken", func(t *testing.T, f string) {
			t.Helper()
			copyDart(t, f)
			write(t, f, "dart.json", `{"extensions": [".go"]}`)
		}, `both claim ".go"`},
		{"a context that is no regular expression", func(t *testing.T, f string) {
			t.Helper()
			copyDart(t, f)
			write(t, f, "dart.json", `{"contexts": [{"Name": "a", "Like": "("}]}`)
		}, `context "a"`},
		{"a name that is taken", func(t *testing.T, f string) {
			t.Helper()
			copyDart(t, f)
			write(t, f, "dart.json", `{"aliases": ["py"]}`)
		}, `both called "py"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			tt.prepare(t, folder)
			ls, err := NewLanguages([]string{folder})
			if tt.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if l, ok := ls.ByPath("a/Foofile", nil); !ok || l.ID != "dart" {
					t.Error("a file name that dart.json gives is not known")
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want an error that says %q", err, tt.says)
			}
		})
	}
	if _, err := NewLanguages([]string{"/nowhere"}); err == nil {
		t.Error("a folder that is not there was taken")
	}
}

func TestDartShapes(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"a chain", "a.b(c)", "selector_chain(selector_chain(identifier:a selector(unconditional_assignable_selector(identifier:b))) selector(argument_part(arguments(argument(identifier:c)))))"},
		{"a mask", "v & f == f", "equality_expression(bitwise_and_expression(identifier:v identifier:f) equality_operator:== identifier:f)"},
		{"to the left", "a - b - c", "additive_expression(additive_expression(identifier:a additive_operator:- identifier:b) additive_operator:- identifier:c)"},
		{"by precedence", "a + b * c", "additive_expression(identifier:a additive_operator:+ multiplicative_expression(identifier:b multiplicative_operator:* identifier:c))"},
		{"a cast binds more than a comparison", "a as B == c", "equality_expression(type_cast_expression(identifier:a type_cast(as_operator:as type_identifier:B)) equality_operator:== identifier:c)"},
		{"chains as operands", "a.b + c.d", "additive_expression(selector_chain(identifier:a selector(unconditional_assignable_selector(identifier:b))) additive_operator:+ selector_chain(identifier:c selector(unconditional_assignable_selector(identifier:d))))"},
		{"brackets stay", "(a + b) * c", "multiplicative_expression(parenthesized_expression(additive_expression(identifier:a additive_operator:+ identifier:b)) multiplicative_operator:* identifier:c)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := parse(t, "dart", "var x = "+tt.source+";")
			checkNesting(t, tree)
			if got := shape(tree); !strings.Contains(got, "identifier:x "+tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	tree := parse(t, "go", "package p\n\n// one\nvar a = `x\n` + \"y\" /* two */\nvar b = (\n")
	text := func(spans []Span) (out []string) {
		for _, s := range spans {
			out = append(out, string(tree.Source()[s.Start:s.End]))
		}
		return out
	}
	if got := fmt.Sprintf("%q", text(tree.LiteralSpans())); got != "[\"`x\\n`\" \"\\\"y\\\"\"]" {
		t.Errorf("literals are %s", got)
	}
	if got := fmt.Sprintf("%q", text(tree.Comments())); got != `["// one" "/* two */"]` {
		t.Errorf("comments are %s", got)
	}
	if len(tree.Errors()) == 0 {
		t.Error("the open bracket is no error")
	}
}

func FuzzParse(f *testing.F) {
	ls, err := NewLanguages([]string{grammars(f)})
	if err != nil {
		f.Fatal(err)
	}
	all := ls.All()
	for i := range all {
		f.Add(uint8(i), []byte("a.b(c) & d == e; f<g>(h)\n"))
		f.Add(uint8(i), []byte("\xff\x00(((\n"))
	}
	f.Fuzz(func(t *testing.T, which uint8, source []byte) {
		l := all[int(which)%len(all)]
		tree, err := l.Parse(t.Context(), source, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		checkNesting(t, tree)
	})
}
