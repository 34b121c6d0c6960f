package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLanguages has, for each language, patterns as people write them.
func TestLanguages(t *testing.T) {
	tests := map[string][]struct {
		pattern, source string
		want            []string
	}{
		"go": {
			{"$X.Close()", "package p\nfunc f() { a.b.Close(); Close() }", []string{"a.b.Close() X=a.b"}},
			{"defer $X.Unlock()", "package p\nfunc f() { defer mu.Unlock(); mu.Unlock() }", []string{"defer mu.Unlock() X=mu"}},
			{"$X = append($X, $$$Y)", "package p\nfunc f() { a = append(a, 1, 2); a = append(b, 1) }", []string{"a = append(a, 1, 2) X=a Y=1, 2"}},
			{"func ($R $T) $F($$$A) error { $$$B }", "package p\nfunc (r R) a(x int) error { return nil }\nfunc b() error { return nil }", []string{"func (r R) a(x int) error { return nil } R=r T=R F=a A=x int B=return nil"}},
			{"for $K, $V := range $X { $$$B }", "package p\nfunc f() { for k, v := range m { g() }\nfor i := range m { } }", []string{"for k, v := range m { g() } K=k V=v X=m B=g()"}},
			{"type $T struct { $$$F }", "package p\ntype t struct { a int; b string }\ntype u struct{}", []string{"type t struct { a int; b string } T=t F=a int; b string", "type u struct{} T=u F="}},
			{"interface { $$$M }", "package p\ntype t interface { A(); B() }", []string{"interface { A(); B() } M=A(); B()"}},
			{"switch $X { $$$C }", "package p\nfunc f() { switch a { case 1: b()\ndefault: c() } }", []string{"switch a { case 1: b() default: c() } X=a C=case 1: b() default: c()"}},
			{"$X.($T)", "package p\nvar a = b.(int)", []string{"b.(int) X=b T=int"}},
			{"go func() { $$$B }()", "package p\nfunc f() { go func() { x() }() }", []string{"go func() { x() }() B=x()"}},
			{"[]$T{$$$E}", "package p\nvar x = []int{1, 2}", []string{"[]int{1, 2} T=int E=1, 2"}},
			{"$A[$B:$C]", "package p\nvar x = a[1:2]; var y = a[1]", []string{"a[1:2] A=a B=1 C=2"}},
			{"return $$$R", "package p\nfunc f() { return a, b }\nfunc g() { return }", []string{"return a, b R=a, b", "return R="}},
		},
		"python": {
			{"isinstance($X, $Y)", "isinstance(a, (b, c))\nprint('isinstance(a, b)')\n", []string{"isinstance(a, (b, c)) X=a Y=(b, c)"}},
			{"if $X:\n    $$$B", "if a:\n    x()\n    y()\nif b:\n    z()\nelse:\n    w()\n", []string{"if a: x() y() X=a B=x() y()"}},
			{"def $F($$$A): $$$B", "def f(a, b=1):\n    return a\ndef g() -> int: pass\n", []string{"def f(a, b=1): return a F=f A=a, b=1 B=return a"}},
			{"class $C($B): $$$M", "class A(B):\n    x = 1\n", []string{"class A(B): x = 1 C=A B=B M=x = 1"}},
			{"$X if $C else $Y", "a = b if c else d\n", []string{"b if c else d X=b C=c Y=d"}},
			{"[$E for $V in $I]", "x = [a for a in b]; y = [a for a in b if a]\n", []string{"[a for a in b] E=a V=a I=b"}},
			{"with open($F) as $H: $$$B", "with open('x') as f:\n    f.read()\n", []string{"with open('x') as f: f.read() F='x' H=f B=f.read()"}},
			{"except $E as $N: $$$B", "try:\n    a()\nexcept ValueError as e:\n    b()\n", []string{"except ValueError as e: b() E=ValueError N=e B=b()"}},
			{"@$D\ndef $F($$$A): $$$B", "@x.y\ndef f(a):\n    return a\n", []string{"@x.y def f(a): return a D=x.y F=f A=a B=return a"}},
			{"lambda $X: $Y", "f(lambda a: a + 1)\n", []string{"lambda a: a + 1 X=a Y=a + 1"}},
			{"print(f\"{$X}\")", "print(f\"{a.b}\")\nprint(f\"x{a}\")\n", []string{"print(f\"{a.b}\") X=a.b"}},
			{"$A == None", "a.b == None; a is None\n", []string{"a.b == None A=a.b"}},
			{"{\"k\": $V}", "y = {\"k\": 3}\n", []string{"{\"k\": 3} V=3"}},
		},
		"rust": {
			{"$X.unwrap()", "fn f() { a.b().unwrap(); unwrap() }", []string{"a.b().unwrap() X=a.b()"}},
			{"let $X = $Y", "fn f() { let a = b; let mut c = d; }", []string{"let a = b X=a Y=b"}},
			{"match $X { $$$A }", "fn f() { match a { 1 => 2, _ => 3 } }", []string{"match a { 1 => 2, _ => 3 } X=a A=1 => 2, _ => 3"}},
			{"if let Some($X) = $Y { $$$B }", "fn f() { if let Some(a) = b { c() } }", []string{"if let Some(a) = b { c() } X=a Y=b B=c()"}},
			{"struct $S { $$$F }", "struct A { a: u8, b: u8 }\nstruct B {}", []string{"struct A { a: u8, b: u8 } S=A F=a: u8, b: u8", "struct B {} S=B F="}},
			{"impl $T for $S { $$$M }", "impl A for B { fn f() {} }\nimpl B {}", []string{"impl A for B { fn f() {} } T=A S=B M=fn f() {}"}},
			{"println!($$$A)", "fn f() { println!(\"a {}\", b); }", []string{"println!(\"a {}\", b) A=\"a {}\", b"}},
			{"Vec<$T>", "fn f(a: Vec<u8>) {}", []string{"Vec<u8> T=u8"}},
			{"|$X| $Y", "fn f() { g(|a| a + 1) }", []string{"|a| a + 1 X=a Y=a + 1"}},
			{"$X?", "fn f() { a()?; }", []string{"a()? X=a()"}},
			{"unsafe { $$$B }", "fn f() { unsafe { a(); b() } }", []string{"unsafe { a(); b() } B=a(); b()"}},
			{"for $X in $Y { $$$B }", "fn f() { for a in b { c(); } }", []string{"for a in b { c(); } X=a Y=b B=c();"}},
		},
		"javascript": {
			{"console.log($$$A)", "console.log(1, 2); console.error(3)", []string{"console.log(1, 2) A=1, 2"}},
			{"const { $$$A } = $B", "const { a, b } = c; const d = e", []string{"const { a, b } = c A=a, b B=c"}},
			{"class $C extends $B { $$$M }", "class A extends B { x = 1; f() { } }", []string{"class A extends B { x = 1; f() { } } C=A B=B M=x = 1; f() { }"}},
			{"await $X", "async function f() { await g(); }", []string{"await g() X=g()"}},
			{"$X === $X", "a.b === a.b; a === b", []string{"a.b === a.b X=a.b"}},
			{"function $F($$$A) { $$$B }", "function f(a, b) { return a }", []string{"function f(a, b) { return a } F=f A=a, b B=return a"}},
			{"if ($X) { $X.dispose() }", "if (a.b) { a.b.dispose() }\nif (a) { b.dispose() }", []string{"if (a.b) { a.b.dispose() } X=a.b"}},
			{"($A) => $B", "f((a) => a + 1); g(async (a) => b)", []string{"(a) => a + 1 A=a B=a + 1"}},
			{"`a ${$X}`", "x = `a ${b}`; y = `c ${b}`", []string{"`a ${b}` X=b"}},
			{"switch ($X) { $$$C }", "switch (a) { case 1: b(); default: c() }", []string{"switch (a) { case 1: b(); default: c() } X=a C=case 1: b(); default: c()"}},
			{"import $X from '$Y'", "import a from 'b'", []string{"import a from 'b' X=a Y=b"}},
			{"catch ($E) { $$$B }", "try { a() } catch (e) { b() }", []string{"catch (e) { b() } E=e B=b()"}},
			{"new Promise(($R) => $B)", "x = new Promise((r) => r(1))", []string{"new Promise((r) => r(1)) R=r B=r(1)"}},
		},
		"typescript": {
			{"$X as any", "let a = b.c as any; let d = e as string", []string{"b.c as any X=b.c"}},
			{"interface $N { $$$M }", "interface A { a: string; b(): void }", []string{"interface A { a: string; b(): void } N=A M=a: string; b(): void"}},
			{"enum $E { $$$M }", "enum A { B, C = 1 }", []string{"enum A { B, C = 1 } E=A M=B, C = 1"}},
			{"type $T = { $$$M }", "type A = { b: string }", []string{"type A = { b: string } T=A M=b: string"}},
			{"function $F($$$P): $R { $$$B }", "function f(a: string): void { g(); }", []string{"function f(a: string): void { g(); } F=f P=a: string R=void B=g();"}},
			{"private $N: $T", "class A { private b: string; c: number }", []string{"private b: string N=b T=string"}},
			{"$X!", "let a = b.c!;", []string{"b.c! X=b.c"}},
			{"$F<$T>($$$A)", "f<string>(a); f(a)", []string{"f<string>(a) F=f T=string A=a"}},
			{"const $X: $T = $V", "const a: number = 1", []string{"const a: number = 1 X=a T=number V=1"}},
			{"abstract class $C { $$$M }", "abstract class A { b(): void {} }", []string{"abstract class A { b(): void {} } C=A M=b(): void {}"}},
			{"import type { $$$N } from '$M'", "import type { A, B } from 'c'; import { D } from 'e'", []string{"import type { A, B } from 'c' N=A, B M=c"}},
		},
		"tsx": {
			{"<$T $$$A>$$$C</$T>", "const a = <div id=\"x\"><b>hi</b></div>;", []string{"<div id=\"x\"><b>hi</b></div> T=div A=id=\"x\" C=<b>hi</b>", "<b>hi</b> T=b A= C=hi"}},
			{"<Button onClick={$F} />", "const a = <Button onClick={() => f()} />;", []string{"<Button onClick={() => f()} /> F=() => f()"}},
			{"onClick={$F}", "const a = <div onClick={() => f()} x=\"1\" />; onClick = {f};", []string{"onClick={() => f()} F=() => f()"}},
			{"<img $$$A />", "const a = <img src=\"x\" alt=\"y\" />;", []string{"<img src=\"x\" alt=\"y\" /> A=src=\"x\" alt=\"y\""}},
			{"useState<$T>($X)", "const a = useState<string>('b');", []string{"useState<string>('b') T=string X='b'"}},
			{"{$C && <$T />}", "const a = <p>{b && <C />}</p>;", nil},
			{"useEffect(() => { $$$B }, [$$$D])", "useEffect(() => { a(); }, [b, c]);", []string{"useEffect(() => { a(); }, [b, c]) B=a(); D=b, c"}},
			{"$X as $T", "let a = b as string;", []string{"b as string X=b T=string"}},
			{"<>$$$C</>", "const a = <><b/></>;", []string{"<><b/></> C=<b/>"}},
			{"const $C = ($$$P) => $E", "const A = (p) => <b/>;", []string{"const A = (p) => <b/> C=A P=p E=<b/>"}},
			{"interface $N { $$$M }", "interface P { a: string }", []string{"interface P { a: string } N=P M=a: string"}},
			{"$F($X)", "f(<b/>)", []string{"f(<b/>) F=f X=<b/>"}},
		},
		"java": {
			{"System.out.println($X)", "class A { void f() { System.out.println(\"x\"); } }", []string{"System.out.println(\"x\") X=\"x\""}},
			{"new $T($$$A)", "class A { Object x = new Foo(1, 2); }", []string{"new Foo(1, 2) T=Foo A=1, 2"}},
			{"public void $F($$$P) { $$$B }", "class A { public void f(int a) { g(); } private void h() {} }", []string{"public void f(int a) { g(); } F=f P=int a B=g();"}},
			{"for ($T $V : $C) { $$$B }", "class A { void f() { for (String s : xs) { g(s); } } }", []string{"for (String s : xs) { g(s); } T=String V=s C=xs B=g(s);"}},
			{"class $C { $$$B }", "class A { int x; void f() { } }\nclass D extends E { }", []string{"class A { int x; void f() { } } C=A B=int x; void f() { }"}},
			{"if ($X == null) { $$$B }", "class A { void f() { if (a == null) { g(); } } }", []string{"if (a == null) { g(); } X=a B=g();"}},
			{"$X.equals($Y)", "class A { boolean b = a.c.equals(d); }", []string{"a.c.equals(d) X=a.c Y=d"}},
			{"int $X = $V", "class A { void f() { int a = 1; } int b = 2; }", []string{"int a = 1 X=a V=1"}},
			{"catch ($T $E) { $$$B }", "class A { void f() { try { } catch (Exception e) { g(); } } }", []string{"catch (Exception e) { g(); } T=Exception E=e B=g();"}},
			{"($X) -> $Y", "class A { F f = (a) -> a; }", []string{"(a) -> a X=a Y=a"}},
			{"List<$T>", "class A { List<String> a; }", []string{"List<String> T=String"}},
			{"throw new $E($$$A);", "class A { void f() { throw new X(\"a\"); } }", []string{"throw new X(\"a\"); E=X A=\"a\""}},
		},
		"c": {
			{"memcpy($$$A)", "void f() { memcpy(a, b, 3); x = memcpy(); }", []string{"memcpy(a, b, 3) A=a, b, 3", "memcpy() A="}},
			{"if ($X != NULL) free($X);", "void f() { if (p != NULL) free(p); if (p != NULL) free(q); }", []string{"if (p != NULL) free(p); X=p"}},
			{"$T *$P = malloc($N);", "void f() { char *p = malloc(3); }", []string{"char *p = malloc(3); T=char P=p N=3"}},
			{"struct $S { $$$F };", "struct a { int x; char y; };", []string{"struct a { int x; char y; }; S=a F=int x; char y;"}},
			{"for ($$$I; $C; $$$S) { $$$B }", "void f() { for (i = 0; i < 3; i++) { g(); } for (;x;) {} }", []string{"for (i = 0; i < 3; i++) { g(); } I=i = 0 C=i < 3 S=i++ B=g();", "for (;x;) {} I= C=x S= B="}},
			{"$A->$B", "int x = a->b;", []string{"a->b A=a B=b"}},
			{"sizeof($T)", "int x = sizeof(y);", []string{"sizeof(y) T=y"}},
			{"return $X;", "int f() { return 1; }", []string{"return 1; X=1"}},
			{"$A * $B", "int x = a * b;", []string{"a * b A=a B=b"}},
			{"while ($C) { $$$B }", "void f() { while (a) { b(); } }", []string{"while (a) { b(); } C=a B=b();"}},
			{"#define $N $V", "#define A 1\n", []string{"#define A 1 N=A V=1"}},
			{"switch ($X) { $$$C }", "void f() { switch (a) { case 1: b(); } }", []string{"switch (a) { case 1: b(); } X=a C=case 1: b();"}},
		},
		"cpp": {
			{"std::move($X)", "void f() { auto a = std::move(b); }", []string{"std::move(b) X=b"}},
			{"static_cast<$T>($X)", "int x = static_cast<int>(y);", []string{"static_cast<int>(y) T=int X=y"}},
			{"class $C { $$$B };", "class A { int x; void f() { } };", []string{"class A { int x; void f() { } }; C=A B=int x; void f() { }"}},
			{"std::string_view $V;", "void f() { std::string_view v; }", []string{"std::string_view v; V=v"}},
			{"for (auto& $X : $Y) { $$$B }", "void f() { for (auto& a : b) { c(); } }", []string{"for (auto& a : b) { c(); } X=a Y=b B=c();"}},
			{"delete $X;", "void f() { delete a; delete[] b; }", []string{"delete a; X=a"}},
			{"std::vector<$T> $V;", "std::vector<int> a;", []string{"std::vector<int> a; T=int V=a"}},
			{"catch ($T& $E) { $$$B }", "void f() { try { a(); } catch (x& e) { b(); } }", []string{"catch (x& e) { b(); } T=x E=e B=b();"}},
			{"$X.push_back($Y)", "void f() { a.b.push_back(c); }", []string{"a.b.push_back(c) X=a.b Y=c"}},
			{"namespace $N { $$$B }", "namespace a { int b; }", []string{"namespace a { int b; } N=a B=int b;"}},
			{"throw $X;", "void f() { throw a(); }", []string{"throw a(); X=a()"}},
			{"if ($X == nullptr) { $$$B }", "void f() { if (a == nullptr) { b(); } }", []string{"if (a == nullptr) { b(); } X=a B=b();"}},
		},
		"dart": {
			{"if ($X != null) $X.dispose()", "f() { if (a != null) a.dispose(); if (a != null) b.dispose(); if (w.c /* x */ !=\n null) w.c.dispose(); print('if (a != null) a.dispose()'); // if (a != null) a.dispose()\n }", []string{"if (a != null) a.dispose() X=a", "if (w.c /* x */ != null) w.c.dispose() X=w.c"}},
			{"dispose($X)", "f() { dispose(a); dispose( a.b , ); x.dispose(c); }", []string{"dispose(a) X=a", "dispose( a.b , ) X=a.b"}},
			{"setState($$$A)", "f() { setState(() { x = 1; }); setState(); this.setState(g); }", []string{"setState(() { x = 1; }) A=() { x = 1; }", "setState() A="}},
			{"$X == $X", "f() { return value & flag == flag; } g() => a + b == b; h() => a.b == a.b;", []string{"a.b == a.b X=a.b"}},
			{"$A + $B", "f() => a.b + c.d(e);", []string{"a.b + c.d(e) A=a.b B=c.d(e)"}},
			{"final $N = $V;", "f() { final a = b.c(); }", []string{"final a = b.c(); N=a V=b.c()"}},
			{"final $T $N = $V;", "f() { final List<int>? a = b; }", []string{"final List<int>? a = b; T=List<int>? N=a V=b"}},
			{"void $F($$$A) { $$$B }", "void f(int a) { g(); } class C { void f() { h(); } } k() { void f(x) { l(); } }", []string{"void f(int a) { g(); } F=f A=int a B=g();", "void f() { h(); } F=f A= B=h();", "void f(x) { l(); } F=f A=x B=l();"}},
			{"$R $F($$$A) async { $$$B }", "Future<void> f(int a) async { await g(); }", []string{"Future<void> f(int a) async { await g(); } R=Future<void> F=f A=int a B=await g();"}},
			{"class $C extends State<$W> { $$$M }", "class A extends State<B> { int y; }", []string{"class A extends State<B> { int y; } C=A W=B M=int y;"}},
			{"Text($S, style: $T)", "f() => Text('x', style: y.z);", []string{"Text('x', style: y.z) S='x' T=y.z"}},
			{"$X?.$M($$$A)", "f() { a.b?.c(d); a.c(d); }", []string{"a.b?.c(d) X=a.b M=c A=d"}},
			{"switch ($X) { $$$C }", "f() { switch (a) { case 1: b(); default: c(); } }", []string{"switch (a) { case 1: b(); default: c(); } X=a C=case 1: b(); default: c();"}},
			{"$X..add($Y)", "f() { a.b..add(c)..add(d); }", []string{"a.b..add(c)..add(d) X=a.b..add(c) Y=d", "a.b..add(c) X=a.b Y=c"}},
			{"for (final $X in $Y) { $$$B }", "f() { for (final a in b) { c(); } }", []string{"for (final a in b) { c(); } X=a Y=b B=c();"}},
		},
	}
	for id, rows := range tests {
		if len(rows) < 10 {
			t.Errorf("%s has only %d rows", id, len(rows))
		}
		for _, tt := range rows {
			t.Run(id+" "+tt.pattern, func(t *testing.T) {
				got, p := find(t, id, tt.pattern, tt.source)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("matches as %s %v differ (-want +got):\n%s", p.Context, p.Kinds, diff)
				}
			})
		}
	}
}
