package rewrite

import (
	"strings"
	"testing"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// marked is a source whose match is marked as «…» and whose captures as
// ‹NAME:…›, so that tests show what is where.
func marked(t *testing.T, text string) ([]byte, match.Match) {
	t.Helper()
	var out strings.Builder
	var m match.Match
	var open []int
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "«"):
			m.Span.Start = out.Len()
			i += len("«")
		case strings.HasPrefix(rest, "»"):
			m.Span.End = out.Len()
			i += len("»")
		case strings.HasPrefix(rest, "‹"):
			name, _, _ := strings.Cut(rest[len("‹"):], ":")
			open = append(open, len(m.Captures))
			m.Captures = append(m.Captures, match.Capture{Name: name, Span: syntax.Span{Start: out.Len()}})
			i += len("‹") + len(name) + 1
		case strings.HasPrefix(rest, "›"):
			m.Captures[open[len(open)-1]].Span.End = out.Len()
			open = open[:len(open)-1]
			i += len("›")
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return []byte(out.String()), m
}

func template(t *testing.T, text string, m match.Match) *Template {
	t.Helper()
	p := &pattern.Pattern{Source: "(not the rewrite)"}
	for _, c := range m.Captures {
		p.Names = append(p.Names, pattern.Name{Name: c.Name})
	}
	tmpl, err := ParseTemplate(text, p)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func TestExpand(t *testing.T) {
	tests := []struct {
		name    string
		source  string
		rewrite string
		literal string // a part of the source that is a string literal
		want    string
	}{
		{"a name", "«dispose(‹X:a.b›)»;", "$X.dispose()", "", "a.b.dispose();"},
		{"a name twice", "«f(‹X:a›)»", "g($X, $X)", "", "g(a, a)"},
		{"a longer name is another", "«f(‹X:a›, ‹X1:b›)»", "f($X1, $X)", "", "f(b, a)"},
		{"lower case behind a dollar is text", "«f(‹X:a›)»", "$x + $Xy + $X", "", "$x + $Xy + a"},
		{"nothing deletes", "a«f(‹X:a›)»b", "", "", "ab"},
		{"a run", "«f(‹A:1, 2›)»", "g($$$A)", "", "g(1, 2)"},
		{"an empty run takes the comma behind it", "«f(‹A:›‹X:1›)»", "g($$$A, $X)", "", "g(1)"},
		{"an empty run takes the comma before it", "«f(‹X:1›‹A:›)»", "g($X, $$$A)", "", "g(1)"},
		{"an empty run between two", "«f(‹X:1›‹A:›, ‹Y:2›)»", "g($X, $$$A, $Y)", "", "g(1, 2)"},
		{"an empty run alone", "«f(‹A:›)»", "g($$$A)", "", "g()"},
		{"an empty run at the end of the rewrite", "«f(‹X:1›‹A:›)»", "$X, $$$A", "", "1"},
		{"a comma of a capture stays", "«f(‹X:1,›‹A:›)»", "g($X $$$A)", "", "g(1,)"},
		{"an empty run takes the comma of its line", "«f(‹X:1›‹A:›)»", "g(\n  $X,\n  $$$A\n)", "", "g(\n  1\n)"},
		{"an empty run takes its line and the comma on it", "«f(‹A:›‹X:1›)»", "g(\n  $$$A,\n  $X\n)", "", "g(\n  1\n)"},
		{"an empty run in front of a line takes the comma", "«f(‹A:›‹X:1›)»", "g($$$A,\n  $X)", "", "g(\n  1)"},
		{"an empty run takes its line", "  «f(‹A:›)»\n", "{\n  $$$A\n  done()\n}", "", "  {\n    done()\n  }\n"},
		{"an empty run takes the last line", "«f(‹A:›)»\n", "done()\n$$$A", "", "done()\n"},
		{"an empty run takes the only line of a block", "«f(‹A:›)»", "{\n  $$$A\n}", "", "{\n}"},
		{"two empty runs", "«f(‹A:›‹B:›)»", "g($$$A, $$$B)", "", "g()"},
		{"two empty runs before a name", "«f(‹A:›‹B:›‹X:1›)»", "g($$$A, $$$B, $X)", "", "g(1)"},
		{"the first of two runs is empty", "«f(‹A:›‹B:1›)»", "g($$$A, $$$B)", "", "g(1)"},
		{"the second of two runs is empty", "«f(‹A:1›‹B:›)»", "g($$$A, $$$B)", "", "g(1)"},
		{"an empty run before a trailing comma", "«f(‹X:1›‹A:›)»", "g($X, $$$A,)", "", "g(1, )"},
		{"an empty run takes the semicolon behind it", "«f(‹A:›‹X:x›)»", "{ $$$A; $X; }", "", "{ x; }"},
		{"a semicolon that ends a statement stays", "«f(‹A:›‹X:x›)»", "return $$$A; $X", "", "return; x"},
		{"a semicolon of a for loop stays", "«f(‹A:›‹X:x›)»", "for ($$$A; $X; )", "", "for (; x; )"},
		{"a comma that separates something else stays", "«f(‹A:›‹X:x›)»", "g(key=$$$A, $X)", "", "g(key=, x)"},
		{"a comma behind an operator stays", "«f(‹A:›‹X:x›)»", "[...$$$A, $X]", "", "[..., x]"},
		{"an empty run in a block", "«f(‹A:›)»", "{ $$$A }", "", "{ }"},
		{"an empty run between words", "«f(‹A:›‹X:x›)»", "a $$$A $X", "", "a x"},
		{"an empty run after a word", "«f(‹A:›)»", "a $$$A", "", "a"},
		{"an empty run and nothing else", "«f(‹A:›)»;", "$$$A", "", ";"},
		{"white space around the rewrite", "  «f(‹X:a›)»;", "\n  g($X)\n", "", "  g(a);"},
		{"a rewrite counts from the depth of its first line", "«f(‹X:a›)»", "\n    if x {\n        $X\n\n    }\n", "", "if x {\n    a\n\n}"},
		{
			"a template of lines stands at the depth of the match",
			"  «f(‹X:a›)»\n", "if (x) {\n  $X;\n}", "", "  if (x) {\n    a;\n  }\n",
		},
		{
			"blank lines of a template stay blank",
			"  «f(‹X:a›)»\n", "a;\n\n$X;", "", "  a;\n\n  a;\n",
		},
		{
			"a capture that goes deeper keeps its shape",
			"\t«‹B:for {\n\t\tx()\n\n\t\ty()\n\t}›»\n", "if a {\n\t$B\n}", "",
			"\tif a {\n\t\tfor {\n\t\t\tx()\n\n\t\t\ty()\n\t\t}\n\t}\n",
		},
		{
			"a blank line of a capture keeps its spaces",
			"«if a {\n    ‹B:for {\n    \n      \n        x()\n    }›\n}»\n", "$B", "", "for {\n    \n      \n    x()\n}\n",
		},
		{
			"a capture that comes up keeps its shape",
			"«if a {\n    ‹B:for {\n        x()\n    }›\n}»\n", "$B", "", "for {\n    x()\n}\n",
		},
		{
			"lines that stand further left than the first stay",
			"    «f(‹X:`a\nb`›)»", "if c {\n    g($X)\n}", "", "    if c {\n        g(`a\nb`)\n    }",
		},
		{
			"the lines of a string stay where they are",
			"  «f(‹X:'''a\n  b\n'''›)»", "if c:\n  g($X)", "'''a\n  b\n'''", "  if c:\n    g('''a\n  b\n''')",
		},
		{
			"a capture that stays on its line is not touched",
			"  «‹A:x› = ‹B:[\n   1,\n      2\n]›»", "$A := $B", "", "  x := [\n   1,\n      2\n]",
		},
		{
			"CRLF in, CRLF out",
			"a\r\n  «f(‹X:b›)»\r\n", "if c {\n  $X\n}", "", "a\r\n  if c {\r\n    b\r\n  }\r\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source, m := marked(t, tt.source)
			var literals []syntax.Span
			if tt.literal != "" {
				at := strings.Index(string(source), tt.literal)
				literals = append(literals, syntax.Span{Start: at, End: at + len(tt.literal)})
			}
			text := template(t, tt.rewrite, m).Expand(source, m, literals)
			got, err := workspace.ApplyEdits(source, []workspace.Edit{{Start: m.Span.Start, End: m.Span.End, New: text}})
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestExpandIdentity(t *testing.T) {
	source := []byte("x  =  [ 1,\n 2 ]")
	p := &pattern.Pattern{Source: "$A = [$$$B] ", Names: []pattern.Name{{Name: "A"}, {Name: "B", Multi: true}}}
	tmpl, err := ParseTemplate(" $A = [$$$B]\n", p)
	if err != nil {
		t.Fatal(err)
	}
	if got := tmpl.Expand(source, match.Match{Span: syntax.Span{End: len(source)}}, nil); string(got) != string(source) {
		t.Errorf("a rewrite that is the pattern changed %q into %q", source, got)
	}
}

func TestParseTemplateRefuses(t *testing.T) {
	p := &pattern.Pattern{Names: []pattern.Name{{Name: "A"}, {Name: "B", Multi: true}}}
	for rewrite, says := range map[string]string{
		"$A + $C":   "$C, which is not in the pattern; the pattern binds $A, $B",
		"$$$C":      "$$$C, which is not in the pattern",
		"$_":        "$_, which binds nothing",
		"$_X":       "$_X, which binds nothing",
		"f($$$)":    "$$$, which binds nothing",
		"$AB($A)":   "$AB",
		"x = $$AAA": "$$AAA",
	} {
		_, err := ParseTemplate(rewrite, p)
		if !toolerr.Is(err, toolerr.ReasonUnboundMetavariable) || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseTemplate(%q) = %v, want an UNBOUND_METAVARIABLE that says %q", rewrite, err, says)
		}
	}
	if _, err := ParseTemplate("$A", &pattern.Pattern{}); err == nil || !strings.Contains(err.Error(), "binds no name") {
		t.Errorf("got %v", err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("  f(a,\n    b)\n", uint(2), uint(12), uint(4), uint(9), "g($A,\n $$$A, $A)")
	f.Add("\r\n\tx", uint(1), uint(3), uint(1), uint(1), "$$$A, y\n\n")
	f.Fuzz(func(t *testing.T, source string, start, end, from, to uint, rewrite string) {
		n := uint(len(source))
		start, end = start%(n+1), end%(n+1)
		from, to = from%(n+1), to%(n+1)
		if start > end || from > to || from < start || to > end {
			return
		}
		m := match.Match{
			Span:     syntax.Span{Start: int(start), End: int(end)},
			Captures: []match.Capture{{Name: "A", Span: syntax.Span{Start: int(from), End: int(to)}}},
		}
		tmpl, err := ParseTemplate(rewrite, &pattern.Pattern{Names: []pattern.Name{{Name: "A"}}})
		if err != nil {
			return
		}
		text := tmpl.Expand([]byte(source), m, nil)
		got, err := workspace.ApplyEdits([]byte(source), []workspace.Edit{{Start: m.Span.Start, End: m.Span.End, New: text}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(got), source[:start]) || !strings.HasSuffix(string(got), source[end:]) {
			t.Fatalf("bytes outside the match changed: %q in %q", got, source)
		}
	})
}
