package rewrite

import (
	"strings"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// part is template text and the capture behind it; the last has none.
type part struct {
	text string
	span syntax.Span
}

// fill puts the captures of a match into the template. A run that captured
// nothing takes with it what the template has for its sake alone.
func (t *Template) fill(m match.Match) []part {
	var parts []part
	text := ""
	for i := 0; i < len(t.pieces); i++ {
		piece := t.pieces[i]
		if piece.Var == nil {
			text += piece.Text
			continue
		}
		if span := capture(piece.Var.Name, m); span.Start < span.End {
			parts = append(parts, part{text: text, span: span})
			text = ""
			continue
		}
		g := gap{before: text, atStart: len(parts) == 0}
		if i+1 < len(t.pieces) && t.pieces[i+1].Var == nil {
			i++
			g.after = t.pieces[i].Text
		}
		g.atEnd = i+1 == len(t.pieces)
		text = g.close()
	}
	return append(parts, part{text: text})
}

func capture(name string, m match.Match) syntax.Span {
	for _, c := range m.Captures {
		if c.Name == name {
			return c.Span
		}
	}
	return syntax.Span{}
}

// gap is where an empty run stands in a template: the text on either side, up
// to the next capture.
type gap struct {
	before, after  string
	atStart, atEnd bool // no capture is on that side
}

// What neighbour returns where no text decides.
const (
	edge  = 0    // the template ends there
	other = 0xFF // a capture is there
)

const space = " \t\n"

// close joins the two sides. The separator behind the run goes when the run is
// the first of its list or behind another separator, or else the comma before
// it when it is the last; one that separates anything else stays, so that
// "f(key=$$$A, $B)" does not become another call. A semicolon goes at the
// beginning of a block only, because in "for ($$$A; …)" it means something.
func (g gap) close() string {
	before, after := g.before, g.after
	left, right := g.neighbours()
	switch {
	case right == ',' && strings.IndexByte("([{<|,\x00", left) >= 0, right == ';' && strings.IndexByte("{}\x00", left) >= 0:
		after = strings.TrimLeft(after, space)[1:]
		return g.join(before, after, true)
	case left == ',' && isEnd(right):
		before = strings.TrimSuffix(strings.TrimRight(before, space), ",")
	}
	return g.join(before, after, false)
}

// neighbours are the bytes next to the run that are no white space.
func (g gap) neighbours() (left, right byte) {
	left, right = other, other
	if g.atStart {
		left = edge
	}
	if g.atEnd {
		right = edge
	}
	if s := strings.TrimRight(g.before, space); s != "" {
		left = s[len(s)-1]
	}
	if s := strings.TrimLeft(g.after, space); s != "" {
		right = s[0]
	}
	return left, right
}

func isEnd(b byte) bool { return strings.IndexByte(")]}>|\x00", b) >= 0 }

// join joins what is left on either side: without the line that the run had to
// itself, and with the white space of one side only, which is that before it
// when the separator behind it went too (tookBehind).
func (g gap) join(before, after string, tookBehind bool) string {
	start, rest := strings.TrimRight(before, " \t"), strings.TrimLeft(after, " \t")
	lineBegins := strings.HasSuffix(start, "\n") || start == "" && g.atStart
	lineEnds := strings.HasPrefix(rest, "\n") || rest == "" && g.atEnd
	switch {
	case lineBegins && strings.HasPrefix(rest, "\n"):
		return start + rest[1:]
	case lineBegins && lineEnds:
		return strings.TrimSuffix(start, "\n")
	case lineEnds:
		return start + rest
	case tookBehind || lineBegins:
		return before + rest
	case rest != after || rest != "" && (isEnd(rest[0]) || rest[0] == ',' || rest[0] == ';'):
		return start + after
	default:
		return before + after
	}
}
