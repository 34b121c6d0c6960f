package match

import (
	"errors"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// fuzzFind runs any pattern over any source and checks what must hold of every
// answer.
func fuzzFind(f *testing.F, id string, seeds [][2]string) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s[0], s[1])
	}
	l := language(f, id)
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 500 || len(text) > 5000 {
			return // what is large is slow, and no other kind of input
		}
		p, err := pattern.Compile(t.Context(), l, source)
		if err != nil {
			if _, ok := toolerr.As(err); !ok {
				t.Fatalf("compile %q: %v", source, err)
			}
			return
		}
		tree, err := l.Parse(t.Context(), []byte(text), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		matches, err := Find(t.Context(), p, tree)
		if errors.Is(err, ErrTooComplex) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(matches) > 0 && !p.MayMatch([]byte(text)) {
			t.Fatalf("%q matches %q, but MayMatch says no; words %q", source, text, p.Words())
		}
		for _, m := range matches {
			checkMatch(t, m, text)
		}
	})
}

func checkMatch(t *testing.T, m Match, text string) {
	t.Helper()
	inside := func(s syntax.Span) bool { return 0 <= s.Start && s.Start <= s.End && s.End <= len(text) }
	if !inside(m.Span) {
		t.Fatalf("match %v of %d bytes", m.Span, len(text))
	}
	for _, c := range m.Captures {
		if !inside(c.Span) {
			t.Fatalf("capture %v of %d bytes", c, len(text))
		}
	}
}

func FuzzFindGo(f *testing.F) {
	fuzzFind(f, "go", [][2]string{
		{"errors.New($X)", "package p\nvar e = errors.New(\"a\")\n"},
		{"if err != nil { $$$B; return $X }", "package p\nfunc f() { if err != nil { a(); /* b */ return err } }\n"},
		{"f($$$A, $X, $$$B, $X)", "package p\nvar x = f(1, 2, 1, 2, 3)\n"},
		{"$X == $X", "package p\nvar x = a == a\n"},
		{"func ($R $T) $F($$$A) $$$R2 { $$$ }", "package p\nfunc (a b) c() {}\n"},
	})
}

func FuzzFindPython(f *testing.F) {
	fuzzFind(f, "python", [][2]string{
		{"isinstance($X, $Y)", "isinstance(a, (b,))\n"},
		{"if $X:\n    $$$B\nelse:\n    $$$C", "if a:\n  b\nelse:\n  c # d\n"},
		{"f\"{$X}\"", "f\"{a}\"\n"},
		{"@$D\ndef $F($$$A): $$$B", "@a\ndef b(c): pass\n"},
	})
}

func FuzzFindTypeScript(f *testing.F) {
	fuzzFind(f, "typescript", [][2]string{
		{"($P) => $F($P)", "a((b) => c(b))"},
		{"class $C { $$$M }", "class A { b: string; c() {} }"},
		{"`a ${$X}`", "`a ${b}`"},
		{"{$$$A, $P, $$$B}", "x = {a, b: 1, ...c}"},
	})
}

func FuzzFindDart(f *testing.F) {
	fuzzFind(f, "dart", [][2]string{
		{"if ($X != null) $X.dispose()", "f() { if (a.b != null) a.b.dispose(); }"},
		{"$A + $B", "f() => a + b * c - d;"},
		{"$R $F($$$A) async { $$$B }", "Future<void> f(int? a) async { await g(); }"},
	})
}
