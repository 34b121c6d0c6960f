package match_test

import "testing"

func TestGo(t *testing.T) {
	const source = `package p

import "fmt"

type T struct {
	A int
	B string ` + "`json:\"b\"`" + `
}

func (t *T) Close() error { return errors.New("x") }

func f(a int, rest ...string) error {
	fmt.Println("errors.New(1)") // errors.New(2)
	if a == a {
		return fmt.Errorf("%d %w", a, errors.New("y"))
	}
	for i, v := range rest {
		a = a + i*2
		_ = v
	}
	x := T{A: 1, B: "b"}
	switch a {
	case 1, 2:
		f(1)
	default:
	}
	defer x.Close()
	go func() { f(2, rest...) }()
	if err := x.Close(); err != nil {
		return err
	} else if a > 1 {
		return nil
	}
	return x.
		Close( /* why */ )
}
`
	runSearches(t, over("go", source, []search{
		{pattern: "errors.New($X)", want: []string{`errors.New("x") X="x"`, `errors.New("y") X="y"`}},
		{pattern: "fmt.Errorf($$$A)", want: []string{`fmt.Errorf("%d %w", a, errors.New("y")) A="%d %w", a, errors.New("y")`}},
		{pattern: "$X == $X", want: []string{"a == a X=a"}},
		{pattern: "$A + $B", want: []string{"a + i*2 A=a B=i*2"}},
		{pattern: "$A $$OP $B", want: []string{"a == a A=a OP=== B=a", "a + i*2 A=a OP=+ B=i*2", "i*2 A=i OP=* B=2", "err != nil A=err OP=!= B=nil", "a > 1 A=a OP=> B=1"}},
		{pattern: "$X.Close()", want: []string{"x.Close() X=x", "x.Close() X=x", "x.\n\t\tClose( /* why */ ) X=x"}},
		{pattern: "A: $V", want: []string{"A: 1 V=1"}},
		{pattern: "f($$$A, $R...)", want: []string{"f(2, rest...) A=2 R=rest"}},
		{pattern: "f(2, $$$A)", want: []string{"f(2, rest...) A=rest..."}},
		{pattern: "case 1, $X: $$$B", want: []string{"case 1, 2:\n\t\tf(1) X=2 B=f(1)"}},
		{pattern: "func ($R *T) $M($$$P) error { $$$ }", want: []string{`func (t *T) Close() error { return errors.New("x") } R=t M=Close P=`}},
		{pattern: "$N int", want: []string{"A int N=A"}},
		{pattern: "defer $X", want: []string{"defer x.Close() X=x.Close()"}},
		{pattern: "if $I; $C { $$$ }", want: nil},
		{pattern: "for _, $V := range $X { $$$ }", want: nil},
		{pattern: "for $I, $V := range $X { $$$A; _ = $V }", want: []string{"for i, v := range rest {\n\t\ta = a + i*2\n\t\t_ = v\n\t} I=i V=v X=rest A=a = a + i*2"}},
		{pattern: "type $T struct { $$$; B string `json:\"b\"`; $$$ }", want: []string{"type T struct {\n\tA int\n\tB string `json:\"b\"`\n} T=T"}},
		{pattern: "a = $X; _ = $Y", want: []string{"a = a + i*2\n\t\t_ = v X=a + i*2 Y=v"}},
	}))
}

func TestPython(t *testing.T) {
	const source = `import os

@cache(maxsize=1)
def f(a, b=1, *rest):
    """isinstance(a, b)"""
    if isinstance(a, (int, str)):  # isinstance(x, y)
        return a
    elif a == a:
        pass
    try:
        x = {"k": 1, **rest}
        print("a", f"{isinstance(a, b)}")
    except ValueError as e:
        raise
    return [y for y in rest if y not in a]

class C(Base):
    x: int = 3

match f:
    case [1, *others]:
        print(
            others,  # all of them
        )
`
	runSearches(t, over("python", source, []search{
		{pattern: "isinstance($X, $Y)", want: []string{"isinstance(a, (int, str)) X=a Y=(int, str)", "isinstance(a, b) X=a Y=b"}},
		{pattern: "print($$$A)", want: []string{`print("a", f"{isinstance(a, b)}") A="a", f"{isinstance(a, b)}"`, "print(\n            others,  # all of them\n        ) A=others,  # all of them\n"}},
		{pattern: "def $F($$$A, b=$D, $$$B):\n    $$$BODY\n    return $R", want: []string{source[len("import os\n\n@cache(maxsize=1)\n"):len("import os\n\n@cache(maxsize=1)\n")+indexOf(source, "\n\nclass")-len("import os\n\n@cache(maxsize=1)\n")] +
			" F=f A=a D=1 B=*rest BODY=" + source[indexOf(source, `"""isin`):indexOf(source, "\n    return [y")] + " R=[y for y in rest if y not in a]"}},
		{pattern: "$X == $X", want: []string{"a == a X=a"}},
		{pattern: "elif $X: $$$B", want: []string{"elif a == a:\n        pass X=a == a B=pass"}},
		{pattern: "except $E as $N:\n  raise", want: []string{"except ValueError as e:\n        raise E=ValueError N=e"}},
		{pattern: "@cache($$$A)", want: []string{"@cache(maxsize=1) A=maxsize=1"}},
		{pattern: `"k": $V`, want: []string{`"k": 1 V=1`}},
		{pattern: "class $C($B): $$$X", want: []string{"class C(Base):\n    x: int = 3 C=C B=Base X=x: int = 3"}},
		{pattern: "case [1, *$R]:\n  $$$", want: []string{"case [1, *others]:\n        print(\n            others,  # all of them\n        ) R=others"}},
		{pattern: "$X not in $Y", want: []string{"y not in a X=y Y=a"}},
		{pattern: "[$X for $X in $Y if $C]", want: []string{"[y for y in rest if y not in a] X=y Y=rest C=y not in a"}},
		{pattern: "x: $T = $V", want: []string{"x: int = 3 T=int V=3"}},
		{pattern: "    if isinstance($A, $B):\n        return $A", want: nil},
		{pattern: "import $M", want: []string{"import os M=os"}},
	}))
}

func TestRust(t *testing.T) {
	const source = `use std::fmt;

#[derive(Debug, Clone)]
struct S { a: u8, b: Vec<String> }

impl fmt::Display for S {
    fn fmt(&self, f: &mut Formatter) -> Result { write!(f, "{}", self.a) }
}

fn run(x: Option<u8>, y: &mut String) {
    let v = x.unwrap();
    if let Some(z) = x { y.push(z); }
    match x { Some(n) if n > 1 => go(n), None => {} }
    let s = S { a: 1, b: vec![] };
    let t = (v == v, a.b.c.unwrap());
    let msg = "x.unwrap()"; // x.unwrap()
    for i in 0..10 { go(i,); }
}
`
	runSearches(t, over("rust", source, []search{
		{pattern: "$X.unwrap()", want: []string{"x.unwrap() X=x", "a.b.c.unwrap() X=a.b.c"}},
		{pattern: "Some($X)", want: nil},
		{pattern: "let $X = $Y;", want: []string{"let v = x.unwrap(); X=v Y=x.unwrap()", "let s = S { a: 1, b: vec![] }; X=s Y=S { a: 1, b: vec![] }", "let t = (v == v, a.b.c.unwrap()); X=t Y=(v == v, a.b.c.unwrap())", `let msg = "x.unwrap()"; X=msg Y="x.unwrap()"`}},
		{pattern: "$X == $X", want: []string{"v == v X=v"}},
		{pattern: "match $X { $$$A, None => $Y }", want: []string{"match x { Some(n) if n > 1 => go(n), None => {} } X=x A=Some(n) if n > 1 => go(n), Y={}"}},
		{pattern: "if let Some($X) = $Y { $$$B }", want: []string{"if let Some(z) = x { y.push(z); } X=z Y=x B=y.push(z);"}},
		{pattern: "impl $T for S { $$$ }", want: []string{source[indexOf(source, "impl"):indexOf(source, "\n\nfn run")] + " T=fmt::Display"}},
		{pattern: "#[derive($$$D)]", want: []string{"#[derive(Debug, Clone)] D=Debug, Clone"}},
		{pattern: "$P: &mut $T", want: []string{"f: &mut Formatter P=f T=Formatter", "y: &mut String P=y T=String"}},
		{pattern: "go($X)", want: []string{"go(n) X=n", "go(i,) X=i"}},
		{pattern: "for $I in $R { $$$ }", want: []string{"for i in 0..10 { go(i,); } I=i R=0..10"}},
		{pattern: "None => $X", want: []string{"None => {} X={}"}},
		{pattern: "use $P;", want: []string{"use std::fmt; P=std::fmt"}},
		{pattern: "Vec<$T>", want: []string{"Vec<String> T=String"}},
	}))
}
