package pattern

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// language returns a language that tests need; without its grammar they fail.
func language(t testing.TB, id string) *syntax.Language {
	t.Helper()
	folder := os.Getenv("TOOLSD_TEST_GRAMMARS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", ".tools", "grammars")
	}
	ls, err := syntax.NewLanguages([]string{folder})
	if err != nil {
		t.Fatalf("%v; run scripts/setup.sh grammars", err)
	}
	l, ok := ls.ByName(id)
	if !ok {
		t.Fatalf("no language %s", id)
	}
	if err := l.Unusable(); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLadder has fragments with the rung that takes each and what it is there.
func TestLadder(t *testing.T) {
	tests := []struct{ language, fragment, context, kinds string }{
		{"go", "errors.New($X)", "statement", "call_expression"},
		{"go", "fmt.Errorf($$$A)", "statement", "call_expression"},
		{"go", "$A $$OP $B", "statement", "binary_expression"},
		{"go", "$A := $B", "statement", "short_var_declaration"},
		{"go", "$A := f($B)\nuse($A)", "statement", "short_var_declaration expression_statement"},
		{"go", "func $F() { $$$B }", "declaration", "function_declaration"},
		{"go", "package $P", "declaration", "package_clause"},
		{"go", "map[string]$V", "type", "map_type"},
		{"go", "$N string `json:\"x\"`", "struct field", "field_declaration"},
		{"go", "case $X: $$$B", "case", "expression_case"},
		{"go", "case $V := <-$C: $$$B", "select case", "communication_case"},
		{"python", "print($X)", "statement", "call"},
		{"python", "def $F($$$A): $$$B", "statement", "function_definition"},
		{"python", "except $E: $$$B", "handler", "except_clause"},
		{"python", "case $P: $$$B", "case", "case_clause"},
		{"python", "case $P:\n    f()\n    $$$B", "case", "case_clause"},
		{"python", "$A: int = 3", "statement", "assignment"},
		{"rust", "let $X = $Y", "statement", "let_declaration"},
		{"rust", "fn $F(&self) -> $T { $$$ }", "statement", "function_item"},
		{"rust", "$P: &mut String", "parameter", "parameter"},
		{"rust", "Some($X) => $Y", "match arm", "match_arm"},
		{"rust", "#[derive($$$T)]", "statement", "attribute_item"},
		{"javascript", "foo($X)", "statement", "call_expression"},
		{"javascript", "foo($X);", "statement", "expression_statement"},
		{"javascript", "{ a: $X }", "object", "object"},
		{"javascript", "{ foo(); }", "statement", "statement_block"},
		{"javascript", "get $N() { $$$B }", "class member", "method_definition"},
		{"javascript", "case $X: $$$B", "case", "switch_case"},
		{"javascript", "switch ($X) { $$$C }", "statement", "switch_statement"},
		{"typescript", "interface $N { $$$M }", "statement", "interface_declaration"},
		{"typescript", "private $N: $T", "class member", "public_field_definition"},
		{"typescript", "readonly $T[]", "type", "readonly_type"},
		{"tsx", "<$T $$$A />", "statement", "jsx_self_closing_element"},
		{"tsx", "className=\"a\"", "JSX attribute", "jsx_attribute"},
		{"tsx", "x = {$A}", "statement", "assignment_expression"},
		{"java", "System.out.println($X)", "expression", "method_invocation"},
		{"java", "int $X = 5", "statement", "local_variable_declaration"},
		{"java", "public void $F($$$P) { $$$B }", "class member", "method_declaration"},
		{"java", "class $C { $$$B }", "statement", "class_declaration"},
		{"java", "import java.util.$X;", "statement", "import_declaration"},
		{"c", "memcpy($$$A)", "expression", "call_expression"},
		{"c", "$A * $B", "expression", "binary_expression"},
		{"c", "$T *$P;", "statement", "declaration"},
		{"c", "if ($X) return;", "statement", "if_statement"},
		{"c", "void $F($$$A) { $$$B }", "statement", "function_definition"},
		{"cpp", "std::move($X)", "expression", "call_expression"},
		{"cpp", "namespace $N { $$$B }", "statement", "namespace_definition"},
		{"dart", "if ($X != null) $X.dispose()", "statement", "if_statement"},
		{"dart", "dispose($X)", "expression", "selector_chain"},
		{"dart", "setState($$$A)", "expression", "selector_chain"},
		{"dart", "class $C extends $B { $$$M }", "declaration", "class_definition"},
		{"dart", "void $F($$$A) { $$$B }", "statement", "function_signature function_body"},
		{"dart", "import 'dart:io';", "declaration", "import_specification"},
	}
	for _, tt := range tests {
		t.Run(tt.language+" "+tt.fragment, func(t *testing.T) {
			p, err := Compile(t.Context(), language(t, tt.language), tt.fragment)
			if err != nil {
				t.Fatal(err)
			}
			if kinds := strings.Join(p.Kinds, " "); p.Context != tt.context || kinds != tt.kinds {
				t.Errorf("read as %s %q, want %s %q", p.Context, kinds, tt.context, tt.kinds)
			}
		})
	}
}

func TestNames(t *testing.T) {
	p, err := Compile(t.Context(), language(t, "go"), "f($A, $$$B, $_, $_C, $A, $$D)")
	if err != nil {
		t.Fatal(err)
	}
	want := []Name{{Name: "A"}, {Name: "B", Multi: true}, {Name: "D"}}
	if diff := cmp.Diff(want, p.Names); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
	if !p.Repeats {
		t.Error("A stands twice")
	}
}

func TestPieces(t *testing.T) {
	for text, want := range map[string]string{
		"f($A)":        "f(|<A>|)",
		"$A$B":         "<A>|<B>",
		"$$$A, $$B $_": "<A...>|, |<B>| |<_>",
		"$$$":          "<...>",
		"$x $Xy use$X": "$x $Xy use$X",
		"$A1_B":        "<A1_B>",
		"$1 $ $$ $$$$": "$1 $ $$ $$$$",
		"é$A $Aé":      "é$A $Aé",
		"":             "",
	} {
		var parts []string
		for _, p := range Pieces(text) {
			switch {
			case p.Var == nil:
				parts = append(parts, p.Text)
			case p.Var.Multi:
				parts = append(parts, "<"+p.Var.Name+"...>")
			default:
				parts = append(parts, "<"+p.Var.Name+">")
			}
		}
		if got := strings.Join(parts, "|"); got != want {
			t.Errorf("Pieces(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestMayMatch(t *testing.T) {
	tests := []struct {
		language, pattern, source string
		want                      bool
	}{
		{"go", "errors.New($X)", `errors.New("a")`, true},
		{"go", "errors.New($X)", "errors /* c */ .\n New ( a )", true},
		{"go", "errors.New($X)", "errors // c\n.New(a)", true},
		{"go", "errors.New($X)", `"errors"; errors.Is(a, b); x.New(c)`, false},
		{"go", "errors.New($X)", "0errors.New(a)", true},
		{"go", "errors.New($X)", "nothing of it", false},
		{"go", "if err != nil { return $X }", "if err != nil { // c\n return x }", true},
		{"go", "if err != nil { return $X }", "if err != nil { x(); return y }", true}, // a keyword may be passed over
		{"go", "if err != nil { return $X }", "if err == nil { return y }", false},
		{"go", "$A + $B", "a - b", false},
		{"python", "isinstance($X, $Y)", "isinstance  \\\n (a, b)", true},
		{"python", "isinstance($X, $Y)", "isinstance = a", false},
		{"javascript", "async () => $X", "async () => 1", true},
	}
	for _, tt := range tests {
		p, err := Compile(t.Context(), language(t, tt.language), tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayMatch([]byte(tt.source)); got != tt.want {
			t.Errorf("MayMatch of %q over %q is %t; words %q", tt.pattern, tt.source, got, p.Words())
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add("f($A, $$$B) $$C $_ use$X")
	f.Fuzz(func(t *testing.T, text string) {
		var joined strings.Builder
		for _, p := range Pieces(text) {
			joined.WriteString(p.Text)
		}
		if joined.String() != text {
			t.Fatalf("the pieces of %q are those of %q", text, joined.String())
		}
	})
}
