package match_test

import (
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// TestPublicFaults has the faults that users of other structural search tools
// reported, each with what is right. The comment above a row names the report;
// without a project it is ast-grep's.
func TestReportedFaults(t *testing.T) {
	runSearches(t, []search{
		// 646: a call pattern was read as a type conversion.
		{
			language: "go", pattern: "fmt.Println($$$ARGS)", source: "package p\nfunc f() { fmt.Println(a, 1); fmt.Println() }",
			want: []string{"fmt.Println(a, 1) ARGS=a, 1", "fmt.Println() ARGS="},
		},
		// 2863: only one of the operands was bound.
		{language: "java", pattern: "$A + $B", source: "class C { int f() { return x + y; } }", want: []string{"x + y A=x B=y"}},
		// 1523: Dart calls, statements and expressions.
		{
			language: "dart", pattern: "setState($$$A)", source: "class C { void f() { setState(() { x = 1; }); } }",
			want: []string{"setState(() { x = 1; }) A=() { x = 1; }"},
		},
		{language: "dart", pattern: "print($X);", source: "void f() { print(1); }", want: []string{"print(1); X=1"}},
		{language: "dart", pattern: "$X ?? 0", source: "var y = a.b ?? 0;", want: []string{"a.b ?? 0 X=a.b"}},
		// 172, 198: a Dart construct can be several siblings.
		{
			language: "dart", pattern: "void $F($$$P) { $$$B }", source: "void f(int a) { g(); }\nclass C { void m() {} }",
			want: []string{"void f(int a) { g(); } F=f P=int a B=g();", "void m() {} F=m P= B="},
		},
		// 276, 1057: the contents of a string did not count.
		{language: "python", pattern: `f("a")`, source: "f('b')\nf(\"b\")\nf(\"a\")\n", want: []string{`f("a")`}},
		{language: "rust", pattern: `foo("meaning");`, source: `fn f() { foo("service"); foo("meaning"); }`, want: []string{`foo("meaning");`}},
		// 883: an escaped dollar in a raw string is text.
		{language: "python", pattern: `r"\$X"`, source: `a = r"\$X"` + "\n" + `b = r"\y"` + "\n", want: []string{`r"\$X"`}},
		// 374: a trailing comma in the source.
		{
			language: "rust", pattern: "foobar($X, $Y)", source: "fn f() { foobar(a, b,); foobar(a, b) }",
			want: []string{"foobar(a, b,) X=a Y=b", "foobar(a, b) X=a Y=b"},
		},
		// 2122, 2212: comments in front of and between arguments.
		{language: "typescript", pattern: "f(a + b, $X)", source: "f(/* c */ a + b, // d\n 1)", want: []string{"f(/* c */ a + b, // d\n 1) X=1"}},
		// 2216: a comment after the node.
		{
			language: "go", pattern: "if err != nil { return $X }", source: "package p\nfunc f() { if err != nil {\n// why\nreturn err // that\n} }",
			want: []string{"if err != nil {\n// why\nreturn err // that\n} X=err"},
		},
		// 2821: a line continuation is an extra too.
		{language: "python", pattern: "f($X, $Y)", source: "f(1, \\\n  2)\n", want: []string{"f(1, \\\n  2) X=1 Y=2"}},
		{language: "python", pattern: "$X = a + b", source: "z = a \\\n  + b\n", want: []string{"z = a \\\n  + b X=z"}},
		// 575: an invalid pattern found nothing, silently.
		{language: "go", pattern: "if ( {", refused: toolerr.ReasonPatternUnparsable},
		// 1791: half a declaration.
		{language: "cpp", pattern: "struct $A: $B", refused: toolerr.ReasonPatternUnparsable},
		// 1087: one name as a parameter and as an argument.
		{language: "typescript", pattern: "($P) => $F($P)", source: "a = (x) => g(x); b = (x) => g(y)", want: []string{"(x) => g(x) P=x F=g"}},
		{language: "javascript", pattern: "($P) => $F($P)", source: "a = (x) => g(x); b = (x) => g(y)", want: []string{"(x) => g(x) P=x F=g"}},
		// 523: only the first place that fits was tried.
		{language: "javascript", pattern: "[$$$A, $P, $$$B, $P]", source: "[1, 2, 3, 2]; [1, 2, 3, 4]", want: []string{"[1, 2, 3, 2] A=1 P=2 B=3"}},
		{language: "javascript", pattern: "{$$$A, b: $P, $$$B, c: $P}", source: "x = {a: 1, b: 2, d: 3, c: 2}", want: []string{"{a: 1, b: 2, d: 3, c: 2} A=a: 1 P=2 B=d: 3"}},
		// 714: the separator after a run goes with it.
		{language: "c", pattern: "void f() { $$$E; }", source: "void f() { }", want: []string{"void f() { } E="}},
		{language: "c", pattern: "void f() { $$$E; }", source: "void f() { a(); b(); }", want: []string{"void f() { a(); b(); } E=a(); b();"}},
		// 1583, 718: arguments without commas are no Python.
		{language: "python", pattern: "Field($$$PRE title=$T $$$POS)", refused: toolerr.ReasonPatternUnparsable},
		{
			language: "python", pattern: "Field($$$PRE, title=$T, $$$POS)", source: "Field(title=1)\nField(1, title=2, b=3)\n",
			want: []string{"Field(title=1) PRE= T=1 POS=", "Field(1, title=2, b=3) PRE=1 T=2 POS=b=3"},
		},
		{
			language: "python", pattern: "f($$$A, k=True, $$$B)", source: "f(k=True)\nf(1, k=True)\nf(k=True, z=2)\nf(k=False)\n",
			want: []string{"f(k=True) A= B=", "f(1, k=True) A=1 B=", "f(k=True, z=2) A= B=z=2"},
		},
		// 946: a run in a body.
		{
			language: "cpp", pattern: "void Foo($$$ARGS){$$$EXPR}", source: "void Foo(int a, int b) { x(); y(); }\nvoid Foo() {}",
			want: []string{"void Foo(int a, int b) { x(); y(); } ARGS=int a, int b EXPR=x(); y();", "void Foo() {} ARGS= EXPR="},
		},
		// 1056: a return type is part of the shape.
		{language: "rust", pattern: "fn $F($$$A) { $$$ }", source: "fn a(x: u8) { b(); }\nfn c() -> u8 { 1 }", want: []string{"fn a(x: u8) { b(); } F=a A=x: u8"}},
		// 2060: so is an annotation.
		{language: "java", pattern: "void $F() { $$$ }", source: "class C { void a() {} @Test void b() {} }", want: []string{"void a() {} F=a"}},
		// 648: a parameter by itself.
		{language: "rust", pattern: "$P: &mut String", source: "fn f(a: &mut String, b: &str) {}", want: []string{"a: &mut String P=a"}},
		// 792, 1479: a declaration by itself.
		{language: "cpp", pattern: "std::string_view v;", source: "void f() { std::string_view v; }", want: []string{"std::string_view v;"}},
		// 375, 702, 853: the inside of a Rust macro is tokens, not code.
		{language: "rust", pattern: "foo($X)", source: "fn f() { println!(\"{}\", foo(1)); foo(2) }", want: []string{"foo(2) X=2"}},
		// 412: a lone wildcard token.
		{language: "rust", pattern: "match $A { $P => $B }", source: "fn f() { match x { _ => 1 } }", want: []string{"match x { _ => 1 } A=x P=_ B=1"}},
		// 1257: matches inside matches are all listed.
		{language: "javascript", pattern: "f($X)", source: "f(f(f(1)))", want: []string{"f(f(f(1))) X=f(f(1))", "f(f(1)) X=f(1)", "f(1) X=1"}},
		// 1164, 1956, 2670: a failed try leaves no binding behind.
		{language: "javascript", pattern: "f($$$, $X, $$$, $X)", source: "f(1, 2, 3, 2)", want: []string{"f(1, 2, 3, 2) X=2"}},
		// 2697, 275, 1688: lone metavariables and patterns without children.
		{language: "typescript", pattern: "$$$A", refused: toolerr.ReasonPatternTooBroad},
		{language: "typescript", pattern: " $A ", refused: toolerr.ReasonPatternTooBroad},
		{language: "go", pattern: "$A", refused: toolerr.ReasonPatternTooBroad},
		{language: "javascript", pattern: "foo", source: "foo; bar; x.foo", want: []string{"foo"}},
		// 1419: bare tokens are compared by kind.
		{language: "typescript", pattern: "for (const $X of $Y) { $$$ }", source: "for (const a of b) { c() }", want: []string{"for (const a of b) { c() } X=a Y=b"}},
		// 1256: a pattern that the grammar had to mend.
		{language: "javascript", pattern: "f(a", refused: toolerr.ReasonPatternUnparsable},
		// 2086: C and C++ keep their shape with placeholders in.
		{language: "c", pattern: "$X = $Y[$Z]", source: "void f() { a = b[c]; }", want: []string{"a = b[c] X=a Y=b Z=c"}},
		// semgrep 1948, 1721: the ';' belongs to the match only if the pattern has it.
		{language: "javascript", pattern: "return f($X)", source: "function g() { return f(1); }", want: []string{"return f(1) X=1"}},
		{language: "javascript", pattern: "return f($X);", source: "function g() { return f(1); }", want: []string{"return f(1); X=1"}},
		{language: "dart", pattern: "if ($X != null) $X.dispose()", source: "void f() { if (x != null) x.dispose(); }", want: []string{"if (x != null) x.dispose() X=x"}},
		// gogrep 18: runs on both sides of a repeated name.
		{
			language: "go", pattern: "print($$$, $A, $$$, $A)", source: "package p\nfunc f() { print(1, a, 2, b, a); print(1, 2, 3) }",
			want: []string{"print(1, a, 2, b, a) A=a"},
		},
		// opengrep 392: a run beside a metavariable in an object.
		{language: "typescript", pattern: "{ $$$REST, k: $V }", source: "x = { a: 1, b, k: 2 }; y = { k: 3 }", want: []string{"{ a: 1, b, k: 2 } REST=a: 1, b V=2", "{ k: 3 } REST= V=3"}},
	})
}
