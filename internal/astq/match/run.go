package match

import "github.com/toolsd/toolsd/internal/astq/syntax"

// runOfSiblings is how far a run reaches. Its comments and semicolons belong to
// it, so that a rewrite keeps them; line breaks at its edges do not.
type runOfSiblings struct {
	start, end uint32 // bytes
	begun      bool   // it holds a node or a comment
	some       bool   // it holds a node
	comment    bool   // it ends in a comment
}

// newRun starts an empty run at the cursor.
func newRun(m *matcher) runOfSiblings { return runOfSiblings{start: m.prevEnd, end: m.prevEnd} }

// extend takes one more sibling into the run.
func (r *runOfSiblings) extend(m *matcher) {
	n := &m.nodes[m.cursor]
	m.cursor, m.prevEnd = n.Next, n.End
	ends := !n.Named() && !n.Extra() && m.language.Separator(n.Symbol) == syntax.Terminator
	switch {
	case ends && (!r.begun || n.Start == n.End || isSpace(m.source[n.Start])):
		return
	case !r.begun:
		r.start, r.begun = n.Start, true
	}
	r.end, r.comment = n.End, n.Extra()
	r.some = r.some || !n.Extra() && !ends
}

// bind gives the run to its metavariable.
func (r *runOfSiblings) bind(m *matcher, slot int) bool {
	m.empty = !r.some
	if r.begun {
		m.lastEnd, m.trimmed = r.end, false
	}
	return m.bind(slot, r.start, r.textEnd(m.source))
}

// textEnd is where the captured text ends: without white space, but with the
// line break behind a comment that reaches to it, since what a rewrite puts
// behind the run must not end up in the comment.
func (r *runOfSiblings) textEnd(source []byte) uint32 {
	end := r.end
	for end > r.start && isSpace(source[end-1]) {
		end--
	}
	if !r.comment {
		return end
	}
	for at := end; int(at) < len(source) && isSpace(source[at]); at++ {
		if source[at] == '\n' {
			return at + 1
		}
	}
	return end
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
