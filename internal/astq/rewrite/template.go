// Package rewrite owns what an ast_edit puts in the place of a match: the
// template, the indentation of what moves, the new file, and its diff
// (spec.md, "ast_edit"; the rules stand in docs/structural-search.md).
//
// It is pure: it searches nothing, and reads and writes no files.
package rewrite

import (
	"bytes"
	"sort"
	"strings"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// Template is a parsed rewrite. It is immutable and safe for concurrent use.
type Template struct {
	pieces   []pattern.Piece
	identity bool
}

// ParseTemplate parses the rewrite of a pattern. A metavariable that the
// pattern does not bind is UNBOUND_METAVARIABLE: it would otherwise be lost
// text. $NAME and $$$NAME both stand for what NAME captured. White space around
// the rewrite is no part of it, and its lines count from the depth of its first.
func ParseTemplate(text string, p *pattern.Pattern) (*Template, error) {
	t := &Template{pieces: pattern.Pieces(normalize(text)), identity: strings.TrimSpace(text) == strings.TrimSpace(p.Source)}
	var bound []string
	for _, n := range p.Names {
		bound = append(bound, "$"+n.Name)
	}
	for _, piece := range t.pieces {
		if piece.Var != nil && !isBound(piece.Var, p.Names) {
			return nil, unbound(piece, bound)
		}
	}
	return t, nil
}

// normalize takes off the white space around a text and, from its other lines,
// the indentation of its first. Lines end with a line feed afterwards.
func normalize(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	indent := string(leadingSpace([]byte(lines[0])))
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func isBound(v *pattern.Var, names []pattern.Name) bool {
	for _, n := range names {
		if v.Binds() && n.Name == v.Name {
			return true
		}
	}
	return false
}

func unbound(piece pattern.Piece, bound []string) error {
	can := "the pattern binds no name; give one to what the rewrite is to keep"
	if len(bound) > 0 {
		can = "the pattern binds " + strings.Join(bound, ", ")
	}
	what := "is not in the pattern"
	if !piece.Var.Binds() {
		what = "binds nothing"
	}
	return toolerr.New(toolerr.InvalidArgument, toolerr.ReasonUnboundMetavariable, "rewrite uses %s, which %s; %s", piece.Text, what, can)
}

// Uses tells whether the template puts a capture back.
func (t *Template) Uses(name string) bool {
	for _, piece := range t.pieces {
		if piece.Var != nil && piece.Var.Name == name {
			return true
		}
	}
	return t.identity
}

// Expand returns what stands in the place of a match. Captures are put back as
// they are in the source, except that the lines of one that moves keep their
// depth relative to its first; blank lines and what is inside a string
// (literals, in order and none inside another) are never touched.
func (t *Template) Expand(source []byte, m match.Match, literals []syntax.Span) []byte {
	if t.identity {
		return source[m.Span.Start:m.Span.End]
	}
	e := &expansion{source: source, start: m.Span.Start, literals: literals}
	for _, part := range t.fill(m) {
		if part.text != "" {
			e.text(part.text)
		}
		e.out = append(e.out, e.moved(part.span)...)
	}
	return e.out
}

// expansion builds one replacement.
type expansion struct {
	source   []byte
	start    int           // of the match
	literals []syntax.Span // in order, none inside another

	out []byte
}

// indent is that of the line that the match begins on. It is looked for only
// where lines are made: in a minified file it is far away.
func (e *expansion) indent() []byte { return indentation(e.source, e.start) }

// text adds template text. Its lines are indented like the match's own.
func (e *expansion) text(s string) {
	if bytes.HasSuffix(e.out, []byte("\n")) {
		// A captured run that ended in a comment brought its line break along.
		s = strings.TrimPrefix(s, "\n")
		e.out = append(e.out, e.indent()...)
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			e.out = append(e.out, newlineOf(e.source)...)
			if strings.TrimLeft(line, " \t") != "" || isLastLine(s, i) {
				e.out = append(e.out, e.indent()...)
			}
		}
		e.out = append(e.out, line...)
	}
}

// isLastLine tells whether line i ends a text: a metavariable may follow it,
// so that it is not blank though it looks so.
func isLastLine(s string, i int) bool { return strings.Count(s, "\n") == i }

// moved returns a captured text at its new depth.
func (e *expansion) moved(span syntax.Span) []byte {
	text := e.source[span.Start:span.End]
	if !bytes.ContainsRune(text, '\n') {
		return text
	}
	from := indentation(e.source, span.Start)
	to := e.lastIndent()
	if bytes.Equal(from, to) {
		return text
	}
	var out []byte
	offset := span.Start
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		body := line
		if i > 0 && !isBlankLine(line) && !e.insideLiteral(offset) && bytes.HasPrefix(line, from) {
			out = append(out, to...)
			body = line[len(from):]
		}
		out = append(out, body...)
		offset += len(line)
	}
	return out
}

// insideLiteral tells whether a line that starts at an offset starts inside a
// string.
func (e *expansion) insideLiteral(offset int) bool {
	next := sort.Search(len(e.literals), func(i int) bool { return e.literals[i].End > offset })
	return next < len(e.literals) && e.literals[next].Start < offset
}

func isBlankLine(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// indentation returns the white space that the line of an offset begins with.
func indentation(source []byte, offset int) []byte {
	start := bytes.LastIndexByte(source[:offset], '\n') + 1
	return leadingSpace(source[start:])
}

// lastIndent is that of the last line of what was built so far; the first line
// stands where the match stood.
func (e *expansion) lastIndent() []byte {
	start := bytes.LastIndexByte(e.out, '\n') + 1
	if start == 0 {
		return e.indent()
	}
	return leadingSpace(e.out[start:])
}

func leadingSpace(line []byte) []byte {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return line[:n]
}

// newlineOf returns the line ending that a file uses, by its first.
func newlineOf(source []byte) string {
	if i := bytes.IndexByte(source, '\n'); i > 0 && source[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
