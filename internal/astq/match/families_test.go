package match_test

import "testing"

const scriptSource = `import React from 'react';
import { a, b as c } from "./m";

@dec(1)
class D extends B {
  foo(p) { }
}

class C extends B {
  x = 1;
  foo(p, q) { return p == p; }
}

async function run(e) {
  console.log("console.log(1)", e /* why */);
  console.log();
  if (e) { e.dispose() }
  const v = { a: 1, b, ...rest, f() {} };
  switch (e) { case 1: go(1); break; default: }
  try { await go(a + b * c,) } catch (err) { throw err }
  for (let i = 0; i < 3; i++) go(i);
  return e?.name ?? ` + "`x ${e} y`" + `
}
// console.log(2)
export default run;
`

func scriptSearches() []search {
	return []search{
		{pattern: "console.log($$$A)", want: []string{`console.log("console.log(1)", e /* why */) A="console.log(1)", e /* why */`, "console.log() A="}},
		{pattern: "$X == $X", want: []string{"p == p X=p"}},
		{pattern: "$A + $B", want: []string{"a + b * c A=a B=b * c"}},
		{pattern: "if ($X) { $X.dispose() }", want: []string{"if (e) { e.dispose() } X=e"}},
		{pattern: "{ $$$A, b, $$$B }", want: []string{"{ a: 1, b, ...rest, f() {} } A=a: 1 B=...rest, f() {}"}},
		{pattern: "class $C extends $B { $$$A foo($$$P) { $$$S } }", want: []string{
			"class C extends B {\n  x = 1;\n  foo(p, q) { return p == p; }\n} C=C B=B A=x = 1; P=p, q S=return p == p;",
		}},
		{pattern: "@dec($X)", want: []string{"@dec(1) X=1"}},
		{pattern: "case $X: $$$S", want: []string{"case 1: go(1); break; X=1 S=go(1); break;"}},
		{pattern: "catch ($E) { $$$ }", want: []string{"catch (err) { throw err } E=err"}},
		{pattern: "await $X", want: []string{"await go(a + b * c,) X=go(a + b * c,)"}},
		{pattern: "$X?.name", want: []string{"e?.name X=e"}},
		{pattern: "`x ${$X} y`", want: []string{"`x ${e} y` X=e"}},
		{pattern: "export default $X", want: []string{"export default run X=run"}},
		{pattern: "foo($$$P) { $$$S }", want: []string{"foo(p) { } P=p S=", "foo(p, q) { return p == p; } P=p, q S=return p == p;"}},
	}
}

func TestJavaScript(t *testing.T) {
	runSearches(t, over("javascript", scriptSource, scriptSearches()))
	runSearches(t, over("javascript", `x = <a href={go(1)} id="b">text {y}</a>;`, []search{
		{pattern: "<a $$$P>$$$C</a>", want: []string{`<a href={go(1)} id="b">text {y}</a> P=href={go(1)} id="b" C=text {y}`}},
	}))
}

const typedSource = `interface P<T> { readonly name: string; age?: number; m(): void }
type Id = string | number;
function f<T>(a: string, b?: T[]): Promise<T> { return a as any; }
enum E { A = 1, B }
class K { private x: number = 1; constructor(private y: string) {} }
const g = (x: number) => h(x) satisfies Id;
let s = "a as any"; // a as any
abstract class L { abstract q(): void }
`

func typedSearches() []search {
	return []search{
		{pattern: "$X as any", want: []string{"a as any X=a"}},
		{pattern: "interface $I<$T> { $$$M }", want: []string{"interface P<T> { readonly name: string; age?: number; m(): void } I=P T=T M=readonly name: string; age?: number; m(): void"}},
		{pattern: "type $T = $U", want: []string{"type Id = string | number T=Id U=string | number"}},
		{pattern: "enum E { $$$A, B, $$$C }", want: []string{"enum E { A = 1, B } A=A = 1 C="}},
		{pattern: "function $F<$$$G>($$$P): Promise<$R> { $$$ }", want: []string{"function f<T>(a: string, b?: T[]): Promise<T> { return a as any; } F=f G=T P=a: string, b?: T[] R=T"}},
		{pattern: "($X: number) => $B", want: []string{"(x: number) => h(x) satisfies Id X=x B=h(x) satisfies Id"}},
		{pattern: "$X satisfies $T", want: []string{"h(x) satisfies Id X=h(x) T=Id"}},
		{pattern: "Promise<$T>", want: []string{"Promise<T> T=T"}},
		{pattern: "private $X: number = $V", want: []string{"private x: number = 1 X=x V=1"}},
	}
}

func TestTypeScript(t *testing.T) {
	runSearches(t, over("typescript", scriptSource, scriptSearches()))
	runSearches(t, over("typescript", typedSource, typedSearches()))
}

func TestTSX(t *testing.T) {
	runSearches(t, over("tsx", scriptSource, scriptSearches()))
	runSearches(t, over("tsx", typedSource, typedSearches()))
	runSearches(t, over("tsx", `const x = <B<T> on={(e: E) => f(e)} />;`, []search{}))
}

func TestJava(t *testing.T) {
	const source = `import java.util.List;

@Entity
public class C extends B implements I {
  private int n = 1;
  @Override public String toString() { return "a.equals(b)"; }
  void f(String a, int... rest) throws E {
    if (a != null) { a.close(); }
    if (a.equals(b.c()) && a == a) return;
    List<String> xs = new ArrayList<>(1);
    for (String x : xs) { System.out.println(x /* why */); }
    try (var r = open()) { go(); } catch (IOException e) { throw new RuntimeException(e); }
    switch (n) { case 1 -> go(); default -> {} }
    run(x -> x + 1, y); // a.equals(c)
  }
}
`
	runSearches(t, over("java", source, []search{
		{pattern: "$X.equals($Y)", want: []string{"a.equals(b.c()) X=a Y=b.c()"}},
		{pattern: "if ($X != null) { $X.close(); }", want: []string{"if (a != null) { a.close(); } X=a"}},
		{pattern: "$X == $X", want: []string{"a == a X=a"}},
		{pattern: "new $T<>($$$A)", want: []string{"new ArrayList<>(1) T=ArrayList A=1"}},
		{pattern: "System.out.println($X)", want: []string{"System.out.println(x /* why */) X=x"}},
		{pattern: "for ($T $X : $Y) { $$$ }", want: []string{"for (String x : xs) { System.out.println(x /* why */); } T=String X=x Y=xs"}},
		{pattern: "catch ($T $E) { throw new $N($E); }", want: []string{"catch (IOException e) { throw new RuntimeException(e); } T=IOException E=e N=RuntimeException"}},
		{pattern: "void f($$$P) throws E { $$$A run($$$R); }", want: []string{source[indexOf(source, "void f"):indexOf(source, "\n}\n")] +
			" P=String a, int... rest A=" + source[indexOf(source, "if (a !="):indexOf(source, "\n    run(")] + " R=x -> x + 1, y"}},
		{pattern: "@Override", want: []string{"@Override"}},
		{pattern: "case 1 -> $X", want: []string{"case 1 -> go() X=go()"}},
		{pattern: "private int $N = $V;", want: []string{"private int n = 1; N=n V=1"}},
		{pattern: "List<$T>", want: []string{"List<String> T=String"}},
		{pattern: "$X -> $B", want: []string{"x -> x + 1 X=x B=x + 1"}},
	}))
}

func TestC(t *testing.T) {
	const source = `#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct S { int a; char *b; };
enum E { A, B = 2, };
static int f(struct S *s, int n) {
  memcpy(s->b, "memcpy(x)", n); // memcpy(1)
  if (s != NULL) free(s);
  for (int i = 0; i < n; i++) { n += i; }
  switch (n) { case 1: return 1; default: break; }
  int x = sizeof(struct S), *p = &x;
  struct S t = { .a = 1, .b = 0 };
  do { n--; } while (n == n);
  goto end;
end:
  return n ? x : 0;
}
`
	runSearches(t, over("c", source, []search{
		{pattern: "memcpy($$$A)", want: []string{`memcpy(s->b, "memcpy(x)", n) A=s->b, "memcpy(x)", n`}},
		{pattern: "if ($X != NULL) free($X);", want: []string{"if (s != NULL) free(s); X=s"}},
		{pattern: "if ($X != NULL) free($X)", want: []string{"if (s != NULL) free(s) X=s"}},
		{pattern: "$X == $X", want: []string{"n == n X=n"}},
		{pattern: "for (int $I = 0; $I < $N; $I++) { $$$B }", want: []string{"for (int i = 0; i < n; i++) { n += i; } I=i N=n B=n += i;"}},
		{pattern: "case 1: $$$S", want: []string{"case 1: return 1; S=return 1;"}},
		{pattern: "#include $P", want: []string{"#include <stdio.h> P=<stdio.h>"}},
		{pattern: "struct $S { $$$A char *$B; }", want: []string{"struct S { int a; char *b; } S=S A=int a; B=b"}},
		{pattern: "enum $E { $$$, B = $V, $$$ }", want: []string{"enum E { A, B = 2, } E=E V=2"}},
		{pattern: ".a = $V", want: []string{".a = 1 V=1"}},
		{pattern: "static int $F($$$P) { $$$A do { $$$ } while ($C); $$$B }", want: []string{source[indexOf(source, "static"):len(source)-1] +
			" F=f P=struct S *s, int n A=" + source[indexOf(source, "memcpy(s"):indexOf(source, "\n  do")] + " C=n == n B=" + source[indexOf(source, "goto end"):indexOf(source, "\n}\n")]}},
		{pattern: "$S->b", want: []string{"s->b S=s"}},
		{pattern: "$C ? $A : 0", want: []string{"n ? x : 0 C=n A=x"}},
	}))
}

func TestCPP(t *testing.T) {
	const source = `#include "a.h"
namespace n {
template <typename T> class V : public B<T> {
 public:
  V(int a) : a_(a) {}
  void run(const std::string& s) const { std::move(s); }
 private:
  int a_;
};
}
int main() {
  std::string_view v;
  auto f = [&](auto x) { return x == x; };
  for (const auto& e : xs) { use(e); }
  try { go(); } catch (const E& e) { throw; }
  auto p = std::make_unique<V<int>>(1 /* a */, 2);
  if (p != nullptr) delete p;
  puts("std::move(x)"); // std::move(y)
}
`
	runSearches(t, over("cpp", source, []search{
		{pattern: "std::move($X)", want: []string{"std::move(s) X=s"}},
		{pattern: "std::string_view $V;", want: []string{"std::string_view v; V=v"}},
		{pattern: "$X == $X", want: []string{"x == x X=x"}},
		{pattern: "[&](auto $X) { $$$B }", want: []string{"[&](auto x) { return x == x; } X=x B=return x == x;"}},
		{pattern: "for (const auto& $E : $X) { $$$ }", want: []string{"for (const auto& e : xs) { use(e); } E=e X=xs"}},
		{pattern: "catch (const $T& $E) { $$$ }", want: []string{"catch (const E& e) { throw; } T=E E=e"}},
		{pattern: "std::make_unique<$T>($$$A)", want: []string{"std::make_unique<V<int>>(1 /* a */, 2) T=V<int> A=1 /* a */, 2"}},
		{pattern: "if ($P != nullptr) delete $P;", want: []string{"if (p != nullptr) delete p; P=p"}},
		{pattern: "namespace n { $$$B }", want: []string{source[indexOf(source, "namespace"):indexOf(source, "\nint main")] + " B=" + source[indexOf(source, "template"):indexOf(source, "\n}\nint main")]}},
		{pattern: "void run($$$P) const { $$$B }", want: []string{"void run(const std::string& s) const { std::move(s); } P=const std::string& s B=std::move(s);"}},
		{pattern: "#include $P", want: []string{`#include "a.h" P="a.h"`}},
	}))
}

func TestDart(t *testing.T) {
	const source = `import 'package:a/a.dart';

class W extends StatefulWidget {
  final int n;
  W({this.n = 1});
  @override
  Widget build(BuildContext context) {
    if (ctl != null) ctl.dispose();
    if (a.b != null) other.dispose();
    if ( a.b   !=
        null ) /* why */ a.b
          .dispose( );
    if (s != null) { s.dispose(); }
    var text = 'if (x != null) x.dispose()'; // if (y != null) y.dispose()
    setState(() { n = n + 1; });
    if (value & flag == flag || c == c) go();
    final name = widget.ctl.name ?? 'x';
    list..add(1)..add(2);
    switch (n) { case 1: go(); break; default: }
    var r = switch (n) { 1 => 'a', _ => 'b' };
    try { await load(); } catch (e) { rethrow; }
    for (final x in xs) { print(x); }
    return Column(children: [Text('a', style: s,), if (b) C()], key: key);
  }
}
`
	runSearches(t, over("dart", source, []search{
		{pattern: "if ($X != null) $X.dispose()", want: []string{
			"if (ctl != null) ctl.dispose() X=ctl",
			"if ( a.b   !=\n        null ) /* why */ a.b\n          .dispose( ) X=a.b",
		}},
		{pattern: "if(\n$X /* c */ != null)\n  $X\n.dispose( )", want: []string{
			"if (ctl != null) ctl.dispose() X=ctl",
			"if ( a.b   !=\n        null ) /* why */ a.b\n          .dispose( ) X=a.b",
		}},
		{pattern: "setState($$$A)", want: []string{"setState(() { n = n + 1; }) A=() { n = n + 1; }"}},
		{pattern: "$X == $X", want: []string{"c == c X=c"}},
		{pattern: "$A == $B", want: []string{"value & flag == flag A=value & flag B=flag", "c == c A=c B=c"}},
		{pattern: "$X.dispose()", want: []string{"ctl.dispose() X=ctl", "other.dispose() X=other", "a.b\n          .dispose( ) X=a.b", "s.dispose() X=s"}},
		{pattern: "final $N = $V;", want: []string{"final name = widget.ctl.name ?? 'x'; N=name V=widget.ctl.name ?? 'x'"}},
		{pattern: "$X ?? $Y", want: []string{"widget.ctl.name ?? 'x' X=widget.ctl.name Y='x'"}},
		{pattern: "Text($$$A, style: $S, $$$B)", want: []string{"Text('a', style: s,) A='a' S=s B="}},
		{pattern: "style: $S", want: []string{"style: s S=s"}},
		{pattern: "list..add($X)..add($Y)", want: []string{"list..add(1)..add(2) X=1 Y=2"}},
		{pattern: "case $X: $$$S", want: []string{"case 1: go(); break; X=1 S=go(); break;"}},
		{pattern: "try { $$$A } catch ($E) { $$$B }", want: []string{"try { await load(); } catch (e) { rethrow; } A=await load(); E=e B=rethrow;"}},
		{pattern: "for (final $X in $Y) { $$$B }", want: []string{"for (final x in xs) { print(x); } X=x Y=xs B=print(x);"}},
		{pattern: "await $X", want: []string{"await load() X=load()"}},
		{pattern: "class $C extends StatefulWidget { $$$B }", want: []string{source[indexOf(source, "class W"):len(source)-1] +
			" C=W B=" + source[indexOf(source, "final int n"):indexOf(source, "\n}\n")]}},
		{pattern: "'a'", want: []string{"'a'", "'a'"}},
	}))
}
