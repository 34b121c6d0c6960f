package match

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// matcher lays one program over one tree. Its state is a cursor into the
// siblings of the node entered last; a choice (how long a run is) saves what
// it may have to go back to. Choices recurse, so the depth of the Go stack is
// the number of runs in the pattern, whatever the source looks like.
type matcher struct {
	pattern  *pattern.Pattern
	program  []pattern.Op
	language *syntax.Language
	nodes    []syntax.Node
	source   []byte

	found     []Match
	err       error
	cancelled atomic.Bool

	state
	frames []frame // of the nodes that were entered, the outermost first
	slots  []binding
	steps  int
	// hasOptional says that the program has separators that are optional beside
	// an empty run, and lax that they are so now.
	hasOptional, lax bool
	// failed are the choices that lead nowhere. It is used only when what is
	// bound cannot change that: no name stands twice in the pattern.
	failed map[choice]struct{}
}

// state is the part of a matcher that a choice saves whole.
type state struct {
	cursor  uint32 // next sibling to look at
	prevEnd uint32 // byte where the node before the cursor ended
	lastEnd uint32 // byte where the match ends, as far as it has come
	bound   int    // number of slots that were bound, in order of binding
	empty   bool   // whether the run before the cursor is empty
	trimmed bool   // whether the node before the cursor ends behind the match
}

// frame is a node that was entered.
type frame struct {
	node uint32
	end  uint32 // index after its last child
}

// binding is what a slot keeps.
type binding struct {
	start, end uint32
	order      int // position in the order of binding, from 1; 0 when unbound
}

type choice struct {
	op     int
	cursor uint32
	empty  bool
}

func newMatcher(p *pattern.Pattern, t *syntax.Tree) *matcher {
	return &matcher{
		pattern: p, program: p.Program, language: t.Language(), nodes: t.Nodes(), source: t.Source(),
		slots:       make([]binding, len(p.Names)),
		hasOptional: slices.ContainsFunc(p.Program, func(op pattern.Op) bool { return op.BeforeMulti || op.AfterMulti }),
	}
}

// begin matches the whole program at node i, whose siblings end at end.
func (m *matcher) begin(i, end uint32) bool {
	m.state = state{cursor: i, prevEnd: m.nodes[i].Start}
	m.frames = append(m.frames[:0], frame{node: i, end: end})
	clear(m.slots)
	m.steps = 0
	clear(m.failed)
	return m.run(0)
}

// beginEither matches the program at node i with all its separators, and, when
// that fails, with those optional that stand beside an empty run. In this
// order, for ($$$I; $C; $$$S) gives each part its own.
func (m *matcher) beginEither(i, end uint32) bool {
	m.lax = false
	if m.begin(i, end) {
		return true
	}
	m.lax = m.hasOptional
	return m.lax && m.err == nil && m.begin(i, end)
}

// run matches the program from an operation on.
func (m *matcher) run(at int) bool {
	for ; at < len(m.program); at++ {
		if m.steps++; m.steps > maxSteps {
			m.err = ErrTooComplex
		}
		if m.err != nil || m.steps&1023 == 0 && m.cancelled.Load() {
			return false
		}
		op := &m.program[at]
		if op.Code == pattern.Multi {
			return m.choose(at, op)
		}
		if m.lax && (op.BeforeMulti || op.AfterMulti) {
			return m.separator(at, op)
		}
		if !m.step(op) {
			return false
		}
	}
	return true
}

// step takes one operation that leaves no choice.
func (m *matcher) step(op *pattern.Op) bool {
	switch op.Code {
	case pattern.Leave:
		return m.leave(op)
	case pattern.MultiIn:
		return m.list(op)
	case pattern.Leaf, pattern.Enter, pattern.Single, pattern.Multi:
	}
	i, ok := m.next(op)
	if !ok {
		return false
	}
	switch op.Code {
	case pattern.Enter:
		m.frames = append(m.frames, frame{node: i, end: m.nodes[i].Next})
		m.cursor, m.prevEnd = i+1, m.nodes[i].Start
		return true
	case pattern.Single:
		if !m.bind(op.Slot, m.nodes[i].Start, m.nodes[i].End) {
			return false
		}
	case pattern.Leaf, pattern.Leave, pattern.Multi, pattern.MultiIn:
	}
	m.take(i)
	return true
}

// take moves the cursor past a node.
func (m *matcher) take(i uint32) {
	m.cursor = m.nodes[i].Next
	m.prevEnd, m.lastEnd = m.nodes[i].End, m.nodes[i].End
	m.trimmed = false
}

// next finds the sibling that an operation takes: the next one, past comments
// and past tokens that never matter there.
func (m *matcher) next(op *pattern.Op) (uint32, bool) {
	end := m.top().end
	for i := m.cursor; i < end; i = m.nodes[i].Next {
		n := &m.nodes[i]
		switch {
		case n.Extra():
			if op.AfterRun || !m.gapIs(n.Start, nil) {
				return 0, false // behind a run, a comment belongs to the run
			}
		case m.fits(op, n):
			return i, m.gapIs(n.Start, op.Gap)
		case m.optional(op, i, end):
		default:
			return 0, false
		}
		m.prevEnd = n.End
	}
	return 0, false
}

// fits tells whether a node is what an operation takes.
func (m *matcher) fits(op *pattern.Op, n *syntax.Node) bool {
	switch op.Code {
	case pattern.Leaf:
		if op.Separator && !n.Named() && m.language.Separator(op.Symbol) == syntax.Terminator && m.language.Separator(n.Symbol) == syntax.Terminator {
			return true // a semicolon or a line break: both end a statement
		}
		// A token that the parser made up is not in the source.
		if n.Missing() {
			return false
		}
		if !op.Named {
			return n.Symbol == op.Symbol
		}
		same := n.Symbol == op.Symbol || m.language.IsIdentifier(n.Symbol) && m.language.IsIdentifier(op.Symbol)
		return same && bytes.Equal(m.source[n.Start:n.End], op.Text)
	case pattern.Single:
		// A lone underscore is a token in some grammars; it stands where any
		// pattern could.
		return n.Named() || !op.Named || n.End-n.Start == 1 && m.source[n.Start] == '_'
	case pattern.Enter, pattern.MultiIn:
		return n.Symbol == op.Symbol
	case pattern.Leave, pattern.Multi:
	}
	return false
}

// optional tells whether a source token that an operation does not take may be
// passed over: the end of a statement; a comma that trails before a closing
// bracket; before a token of the pattern, a keyword (async, type) that the
// pattern does not have.
func (m *matcher) optional(op *pattern.Op, i, end uint32) bool {
	n := &m.nodes[i]
	if n.Named() || op.AfterRun {
		return false
	}
	switch m.language.Separator(n.Symbol) {
	case syntax.Terminator:
		return true
	case syntax.Comma:
		return op.Code == pattern.Leaf && !op.Named && m.closes(op, n.Next, end)
	case syntax.NoSeparator:
	}
	return op.Code == pattern.Leaf && !op.Named && isKeyword(m.source[n.Start:n.End])
}

// closes tells whether the sibling after a comma is the last one, and what the
// operation takes.
func (m *matcher) closes(op *pattern.Op, i, end uint32) bool {
	for i < end && m.nodes[i].Extra() {
		i = m.nodes[i].Next
	}
	return i < end && m.nodes[i].Next == end && m.fits(op, &m.nodes[i])
}

func isKeyword(text []byte) bool {
	for _, c := range text {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return len(text) > 0
}

// gapIs tells whether the text between the node before the cursor and an
// offset is what the pattern has there.
func (m *matcher) gapIs(offset uint32, want []byte) bool {
	if offset <= m.prevEnd {
		return len(want) == 0
	}
	return bytes.Equal(syntax.Gap(m.source, m.prevEnd, offset), want)
}

func (m *matcher) top() *frame { return &m.frames[len(m.frames)-1] }

// leave goes out of a node. Named nodes that are left in it are a mismatch (an
// else, a second operand); comments and separators are not. A separator that
// the pattern did not have is no part of the match.
func (m *matcher) leave(op *pattern.Op) bool {
	f := *m.top()
	n := &m.nodes[f.node]
	for i := m.cursor; i < f.end; i = m.nodes[i].Next {
		child := &m.nodes[i]
		if !m.gapIs(child.Start, nil) {
			return false
		}
		if !child.Extra() {
			if child.Named() || m.language.Separator(child.Symbol) == syntax.NoSeparator {
				return false
			}
			m.trimmed = true
		}
		m.prevEnd = child.End
	}
	if !m.gapIs(n.End, op.Gap) {
		return false
	}
	m.frames = m.frames[:len(m.frames)-1]
	m.cursor, m.prevEnd = n.Next, n.End
	if !m.trimmed {
		m.lastEnd = n.End
	}
	return true
}

// list takes a list without brackets, or nothing where there is none, and the
// comments around it.
func (m *matcher) list(op *pattern.Op) bool {
	saved := m.state
	i, found := m.next(op)
	m.state = saved
	run := newRun(m)
	for found && m.cursor <= i {
		run.extend(m)
	}
	for m.cursor < m.top().end && m.nodes[m.cursor].Extra() {
		run.extend(m)
	}
	return run.bind(m, op.Slot)
}

// separator takes a comma or semicolon of the pattern beside a run. It is
// optional when the run is empty.
func (m *matcher) separator(at int, op *pattern.Op) bool {
	saved := m.save()
	if m.step(op) && m.run(at+1) {
		return true
	}
	m.restore(saved)
	if op.AfterMulti && m.empty && m.run(at+1) {
		return true
	}
	m.restore(saved)
	if !op.BeforeMulti {
		return false
	}
	run := &m.program[at+1]
	if !m.bind(run.Slot, m.prevEnd, m.prevEnd) {
		return false
	}
	m.empty = true
	return m.run(at + 2)
}

// choose matches a run of siblings: the shortest that lets the rest match. The
// last step of a run of siblings takes all that is left.
func (m *matcher) choose(at int, op *pattern.Op) bool {
	key := choice{op: at, cursor: m.cursor, empty: m.empty}
	if _, ok := m.failed[key]; ok {
		return false
	}
	saved := m.save()
	last := at+1 == len(m.program) || m.program[at+1].Code == pattern.Leave
	run := newRun(m)
	for {
		more := m.more(at+1 == len(m.program))
		if !last || !more {
			if run.bind(m, op.Slot) && m.run(at+1) {
				return true
			}
			if last || m.err != nil {
				break
			}
			m.restore(saved)
		}
		if !more {
			break
		}
		run.extend(m)
		saved.cursor, saved.prevEnd = m.cursor, m.prevEnd
		if m.steps++; m.steps > maxSteps {
			m.err = ErrTooComplex
			break
		}
	}
	if !m.pattern.Repeats {
		if m.failed == nil {
			m.failed = map[choice]struct{}{}
		}
		m.failed[key] = struct{}{}
	}
	return false
}

// more tells whether a run can go on: the node that was entered last has
// siblings left. A run that ends the pattern among the siblings of its first
// node stops before a bracket that closes them.
func (m *matcher) more(ends bool) bool {
	if m.cursor >= m.top().end {
		return false
	}
	n := &m.nodes[m.cursor]
	return !ends || n.Named() || n.Extra() || m.language.Separator(n.Symbol) != syntax.NoSeparator
}

// bind keeps what a metavariable takes; a name that is bound already must take
// the same text.
func (m *matcher) bind(slot int, start, end uint32) bool {
	if slot == pattern.NoSlot {
		return true
	}
	b := &m.slots[slot]
	if b.order > 0 {
		return bytes.Equal(m.source[b.start:b.end], m.source[start:end])
	}
	m.bound++
	*b = binding{start: start, end: end, order: m.bound}
	return true
}

// saved is what a choice goes back to.
type saved struct {
	state
	frames []frame
}

func (m *matcher) save() saved { return saved{state: m.state, frames: slices.Clone(m.frames)} }

// restore undoes what was matched since save, bindings included.
func (m *matcher) restore(s saved) {
	m.state = s.state
	m.frames = append(m.frames[:0], s.frames...)
	for i := range m.slots {
		if m.slots[i].order > m.bound {
			m.slots[i] = binding{}
		}
	}
}
