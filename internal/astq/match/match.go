// Package match runs compiled patterns over flat trees: plain Go over arrays,
// with no recursion over the depth of the source (spec.md, "ast_grep"; the
// rules of matching stand in docs/structural-search.md).
//
// It parses nothing and reads no files.
package match

import (
	"context"
	"errors"

	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// ErrTooComplex is a pattern whose runs of siblings can be laid over one node
// in more ways than are tried.
var ErrTooComplex = errors.New("the pattern has too many ways to match one node")

// maxSteps bounds the work on one candidate node.
const maxSteps = 5_000_000

// Capture is what one metavariable stands for.
type Capture struct {
	Name  string
	Multi bool
	// Span is the captured text; an empty run has Start == End, at its place.
	Span syntax.Span
}

// Match is one place where a pattern matches.
type Match struct {
	Span     syntax.Span
	Captures []Capture
}

// Find returns all matches in pre-order, nested ones too: outer before inner.
// It ends soon after ctx, with its error.
func Find(ctx context.Context, p *pattern.Pattern, t *syntax.Tree) ([]Match, error) {
	m := newMatcher(p, t)
	stop := context.AfterFunc(ctx, func() { m.cancelled.Store(true) })
	defer stop()
	if p.Run {
		m.findRuns()
	} else {
		m.findNodes()
	}
	if m.cancelled.Load() {
		return nil, ctx.Err()
	}
	return m.found, m.err
}

// findNodes tries every node of the pattern's kind.
func (m *matcher) findNodes() {
	symbol := m.program[0].Symbol
	for i := range m.nodes {
		if m.nodes[i].Symbol != symbol {
			continue
		}
		if !m.try(uint32(i), m.nodes[i].Next) {
			return
		}
	}
}

// findRuns tries every node as the first of a run of siblings.
func (m *matcher) findRuns() {
	first := m.program[0]
	ends := []uint32{uint32(len(m.nodes))}
	for i := range m.nodes {
		n := &m.nodes[i]
		for uint32(i) >= ends[len(ends)-1] && len(ends) > 1 {
			ends = ends[:len(ends)-1]
		}
		fits := !n.Extra() && (first.Code == pattern.Single || n.Symbol == first.Symbol)
		if fits && !m.try(uint32(i), ends[len(ends)-1]) {
			return
		}
		ends = append(ends, n.Next)
	}
}

// try matches at one node, whose siblings end at end. It returns false when
// the search is over.
func (m *matcher) try(i, end uint32) bool {
	if m.cancelled.Load() || m.err != nil {
		return false
	}
	if m.beginEither(i, end) {
		m.found = append(m.found, m.result(i))
	}
	return m.err == nil
}

func (m *matcher) result(i uint32) Match {
	start, end := m.nodes[i].Start, m.lastEnd
	for end > start && isSpace(m.source[end-1]) {
		end-- // some grammars have the line break behind a list in the list
	}
	out := Match{Span: syntax.Span{Start: int(start), End: int(end)}}
	for slot, name := range m.pattern.Names {
		out.Captures = append(out.Captures, Capture{
			Name: name.Name, Multi: name.Multi,
			Span: syntax.Span{Start: int(m.slots[slot].start), End: int(m.slots[slot].end)},
		})
	}
	return out
}
