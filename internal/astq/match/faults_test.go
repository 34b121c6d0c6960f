package match

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// TestPublicFaults has a row for each fault of other structural search tools
// that was reported in public and concerns matching, with the right behaviour.
func TestPublicFaults(t *testing.T) {
	const goPackage = "package p\n"
	tests := []struct {
		name     string
		language string
		pattern  string
		source   string
		want     []string
	}{
		{"a Go call is not read as a conversion", "go", "fmt.Println($$$ARGS)", goPackage + "func f() { fmt.Println(a, b); fmt.Println() }", []string{"fmt.Println(a, b) ARGS=a, b", "fmt.Println() ARGS="}},
		{"both operands are bound", "java", "$A + $B", "class C { int f = 1 + 2; }", []string{"1 + 2 A=1 B=2"}},
		{"Dart calls", "dart", "print($X)", "f() { print(1); x.print(2); }", []string{"print(1) X=1"}},
		{"Dart statements", "dart", "return $X;", "f() { return a.b; }", []string{"return a.b; X=a.b"}},
		{"Dart expressions", "dart", "$A ?? $B", "f() => a.b ?? c;", []string{"a.b ?? c A=a.b B=c"}},
		{"a Dart construct of several siblings", "dart", "$X.map($F).toList()", "f() { return xs.map(g).toList(); }", []string{"xs.map(g).toList() X=xs F=g"}},
		{"the text of a Python string counts", "python", `print("hello")`, "print(\"hello\")\nprint(\"world\")\n", []string{`print("hello")`}},
		{"the text of a Rust string counts", "rust", `foo("meaning");`, `fn f() { foo("meaning"); foo("service"); }`, []string{`foo("meaning");`}},
		{"a raw string with an escaped dollar is literal text", "python", `r"\$"`, `x = r"\$"; y = r"\#"`, []string{`r"\$"`}},
		{"a trailing comma in the source is optional", "rust", "foobar($X, $Y)", "fn f() { foobar(a, b,); foobar(c, d); foobar(e); }", []string{"foobar(a, b,) X=a Y=b", "foobar(c, d) X=c Y=d"}},
		{"a comment before an argument", "typescript", "f($A)", "f(/* c */ 1)", []string{"f(/* c */ 1) A=1"}},
		{"a comment before an operand that has parts", "typescript", "f(a + b)", "f(/* c */ a /* d */ + b)", []string{"f(/* c */ a /* d */ + b)"}},
		{"a comment after a node", "javascript", "f($A)", "f(1 /* c */)", []string{"f(1 /* c */) A=1"}},
		{"a comment in the pattern", "go", "f(/* any */ $A)", goPackage + "var x = f(1)", []string{"f(1) A=1"}},
		{"a comment above a return", "go", "if err != nil { return $X }", goPackage + "func f() error { if err != nil {\n// why\nreturn err } }", []string{"if err != nil { // why return err } X=err"}},
		{"a line continuation is no node", "python", "f($A, $B)", "f(1, \\\n  2)\n", []string{"f(1, \\ 2) A=1 B=2"}},
		{"a parameter and an argument of one text", "typescript", "($P) => $F($P)", "a.map((x) => g(x)); a.map((x) => g(y))", []string{"(x) => g(x) P=x F=g"}},
		{"every position of a name between runs", "javascript", "({$$$A, $P: $P, $$$B})", "x = ({a: 1, b: b, c: 2})", []string{"({a: 1, b: b, c: 2}) A=a: 1 P=b B=c: 2"}},
		{"a semicolon goes with an empty run", "javascript", "{ $$$E; return $X; }", "function f() { return 1; }", []string{"{ return 1; } E= X=1"}},
		{"a run before a keyword argument", "python", "f($$$A, k=True, $$$B)", "f(1, k=True)\nf(k=True, l=2)\nf(k=False)\n", []string{"f(1, k=True) A=1 B=", "f(k=True, l=2) A= B=l=2"}},
		{"a run alone in a C++ body is statements", "cpp", "void Foo($$$ARGS){$$$EXPR}", "void Foo(int a, int b) { x(); y(); } void Foo() {}", []string{"void Foo(int a, int b) { x(); y(); } ARGS=int a, int b EXPR=x(); y();", "void Foo() {} ARGS= EXPR="}},
		{"a return type is part of the shape", "rust", "fn $F($$$A) { $$$ }", "fn a() {} fn b() -> u8 { 1 }", []string{"fn a() {} F=a A="}},
		{"an annotation is part of the shape", "java", "void $F() { $$$B }", "class C { @Test void a() { } void b() { } }", []string{"void b() { } F=b B="}},
		{"a Rust parameter", "rust", "$P: &mut String", "fn f(a: &mut String, b: &String) {}", []string{"a: &mut String P=a"}},
		{"a C++ declaration", "cpp", "std::string_view $V;", "void f() { std::string_view v; }", []string{"std::string_view v; V=v"}},
		{"the code in a Rust macro's arguments is no tree", "rust", "foo($X)", "fn f() { foo(1); vec![foo(2)]; }", []string{"foo(1) X=1"}},
		{"a lone underscore is a node for a metavariable", "rust", "Some($X) => $Y", "fn f() { match a { Some(_) => 1, None => 2 } }", []string{"Some(_) => 1 X=_ Y=1"}},
		{"a failed try leaves no binding", "go", "f($X, $Y, $X)", goPackage + "var a = f(f(1, 2, 3), 2, f(1, 2, 3))", []string{"f(f(1, 2, 3), 2, f(1, 2, 3)) X=f(1, 2, 3) Y=2"}},
		{"a failed run leaves no binding", "javascript", "f($$$A, $X, $X)", "f(1, 2, 3, 3)", []string{"f(1, 2, 3, 3) A=1, 2 X=3"}},
		{"a run tries every length", "javascript", "f($$$H, last)", "f(a, last, b, last)", []string{"f(a, last, b, last) H=a, last, b"}},
		{"a run between two names", "javascript", "f($A, $$$M, $Z)", "f(1, 2); f(1, 2, 3, 4)", []string{"f(1, 2) A=1 M= Z=2", "f(1, 2, 3, 4) A=1 M=2, 3 Z=4"}},
		{"a run after a name", "javascript", "f($A, $$$R)", "f(1)", []string{"f(1) A=1 R="}},
		{"two runs lose nothing", "javascript", "f($$$A, $$$B)", "f(1, 2, 3)", []string{"f(1, 2, 3) A=1 B=2, 3"}},
		{"a run beside a name in an object", "javascript", "({ $$$A, key: $V, $$$B })", "x = ({ key: 1, b: 2 })", []string{"({ key: 1, b: 2 }) A= V=1 B=b: 2"}},
		{"runs that bind nothing, on both sides", "go", "print($$$, $A, $$$, $B_)", goPackage + "func f() { print(x, a, y, a_) }", []string{"print(x, a, y, a_) A=a B_=a_"}},
		{"a longer statement than the pattern", "go", "if $C { $$$ }", goPackage + "func f() { if a { b() } else { c() }; if d { } }", []string{"if d { } C=d"}},
		{"a second operand", "javascript", "$A + 1", "a + 1; a + 1 + 2;", []string{"a + 1 A=a", "a + 1 A=a"}},
		{"tokens are compared by kind", "typescript", "$A as const", "let a = [1] as const;", []string{"[1] as const A=[1]"}},
		{"a fragment's own semicolon is no part of the match", "dart", "if ($X != null) $X.dispose()", "f() { if (a != null) a.dispose(); }", []string{"if (a != null) a.dispose() X=a"}},
		{"a semicolon of the pattern is part of the match", "dart", "if ($X != null) $X.dispose();", "f() { if (a != null) a.dispose(); }", []string{"if (a != null) a.dispose(); X=a"}},
		{"C fragments with a null check", "c", "if ($X != NULL) free($X);", "void f() { if (p != NULL) free(p); if (p != NULL) free(q); }", []string{"if (p != NULL) free(p); X=p"}},
		{"the words for placeholders may stand in the code", "c", "mvq($X, mvq0z)", "int a = mvq(1, mvq0z);", []string{"mvq(1, mvq0z) X=1"}},
		{"a word with a dollar in it is ordinary text", "javascript", "use$X", "use$X; useY;", []string{"use$X"}},
		{"lower case behind a dollar is ordinary text", "javascript", "f($x, $Xy)", "f($x, $Xy); f(a, b)", []string{"f($x, $Xy)"}},
		{"a name that binds nothing may differ", "go", "$_ == $_", goPackage + "var a = b == c", []string{"b == c"}},
		{"names that begin with an underscore bind nothing", "go", "$_A == $_A", goPackage + "var a = b == c", []string{"b == c"}},
		{"two dollars take tokens too", "javascript", "a $$OP b", "a + b; a - b; a = b", []string{"a + b OP=+", "a - b OP=-"}},
		{"files with syntax errors are searched", "go", "f($X)", goPackage + "func a() { f(1) }\nfunc ( { }\nfunc b() { f(2) }", []string{"f(1) X=1", "f(2) X=2"}},
		{"nested matches, outer before inner", "go", "f($X)", goPackage + "var a = f(f(1))", []string{"f(f(1)) X=f(1)", "f(1) X=1"}},
		{"a repeated name wants the same text", "javascript", "$X === $X", "({f : 1}) === ({f: 1}); a.b === a.b", []string{"a.b === a.b X=a.b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, p := find(t, tt.language, tt.pattern, tt.source)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("matches of %q as %s differ (-want +got):\n%s", tt.pattern, p.Context, diff)
			}
		})
	}
}

// TestRefusedPatterns are fragments that are no pattern: each says so.
func TestRefusedPatterns(t *testing.T) {
	tests := []struct {
		name, language, pattern string
		reason                  toolerr.Reason
		says                    string
	}{
		{"empty", "go", "  \n", toolerr.ReasonBadArgument, "is empty"},
		{"only a comment", "go", "/* a */", toolerr.ReasonBadArgument, "only comments"},
		{"a metavariable alone", "go", "$A", toolerr.ReasonPatternTooBroad, "matches every node"},
		{"a run alone", "go", "$$$", toolerr.ReasonPatternTooBroad, "matches every node"},
		{"a named run alone", "go", " $$$A ", toolerr.ReasonPatternTooBroad, "matches every node"},
		{"half a declaration", "typescript", "struct $A: $B", toolerr.ReasonPatternUnparsable, "no typescript code"},
		{"no code", "go", "if if if", toolerr.ReasonPatternUnparsable, "Tried, each as is and with a semicolon: statement, expression"},
		{"where it stopped", "python", "f(1) +\n  * 2)", toolerr.ReasonPatternUnparsable, "line 1, column"},
		{"runs without commas", "python", "Field($$$PRE title=$T $$$POS)", toolerr.ReasonPatternUnparsable, "no python code"},
		{"too large", "go", "f(" + strings.Repeat("1, ", 400_000) + "2)", toolerr.ReasonBadArgument, "the most is 65536"},
		{"deep", "go", strings.Repeat("(", 3_000) + "1" + strings.Repeat(")", 3_000) + "+", toolerr.ReasonPatternUnparsable, "no go code"},
		{"NUL bytes", "go", "f(\x00)", toolerr.ReasonPatternUnparsable, "no go code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pattern.Compile(t.Context(), language(t, tt.language), tt.pattern)
			if !toolerr.Is(err, tt.reason) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %s that says %q", err, tt.reason, tt.says)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}
