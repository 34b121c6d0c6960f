package pattern

import (
	"bytes"
	"slices"

	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// emitter turns a parsed attempt into a program.
type emitter struct {
	compiler *compiler
	attempt  attempt
	rendered rendered
	tree     *syntax.Tree

	pattern *Pattern
	slots   map[string]int
	// broken says that what was written for a run did not become a node of its
	// own, but a part of another.
	broken bool
}

// firstError returns the offset of the first syntax error that the attempt
// does not tolerate.
func (e *emitter) firstError() (offset int, bad bool) {
	nodes := e.tree.Nodes()
	for i := range nodes {
		n := &nodes[i]
		if !n.IsError() && !n.Missing() {
			continue
		}
		if e.attempt.lenient && e.tolerated(i) {
			continue
		}
		return int(n.Start), true
	}
	return 0, false
}

// tolerated tells whether an error is only that a run stands where the grammar
// takes no expression: an ERROR that is exactly the run, or a token missing
// right behind it. Behind the run must come a bracket, a separator or nothing:
// otherwise it is the fragment that lacks one.
func (e *emitter) tolerated(i int) bool {
	n := &e.tree.Nodes()[i]
	if n.IsError() {
		text := e.tree.Text(i)
		m := e.meta(string(text))
		return m != nil && m.multi && (bytes.HasSuffix(text, []byte(",")) || !e.beforeNamed(i))
	}
	return e.behindRun(n.Start) && (!n.Named() || e.insideRun(i))
}

// behindRun tells whether an offset comes right behind a run.
func (e *emitter) behindRun(offset uint32) bool {
	before := bytes.TrimRight(e.tree.Source()[:offset], " \t\r\n")
	for text, m := range e.rendered.metas {
		if m.multi && bytes.HasSuffix(before, []byte(text)) {
			return true
		}
	}
	return false
}

// insideRun tells whether a node lies in one that is exactly a run: then what
// it lacks is the run's business.
func (e *emitter) insideRun(i int) bool {
	nodes := e.tree.Nodes()
	for above := i - 1; above >= 0; above-- {
		if int(nodes[above].Next) <= i {
			continue
		}
		if m := e.meta(string(e.tree.Text(above))); m != nil && m.multi {
			return true
		}
	}
	return false
}

// beforeNamed tells whether the next sibling of a node is a named one.
func (e *emitter) beforeNamed(i int) bool {
	nodes := e.tree.Nodes()
	next := int(nodes[i].Next)
	if next >= len(nodes) || !nodes[next].Named() {
		return false
	}
	for parent := i - 1; parent >= 0; parent-- {
		if int(nodes[parent].Next) > i {
			return next < int(nodes[parent].Next)
		}
	}
	return false
}

func (e *emitter) meta(text string) *metavar { return e.rendered.metas[text] }

// roots returns the node, or the run of siblings, that is exactly the
// fragment, without wrappers that have nothing else in them.
func (e *emitter) roots() ([]int, bool) {
	nodes := e.tree.Nodes()
	start, end := uint32(e.rendered.start), uint32(e.rendered.end)
	at := 0
	for {
		inside := e.within(at, start, end)
		if len(inside) != 1 || nodes[inside[0]].Start > start || nodes[inside[0]].End < end {
			break
		}
		at = inside[0]
	}
	roots := []int{at}
	if nodes[at].Start != start || nodes[at].End != end {
		roots = e.within(at, start, end)
		if len(roots) == 0 || nodes[roots[0]].Start != start || nodes[roots[len(roots)-1]].End != end {
			return nil, false
		}
	}
	if e.onOneLine(roots) {
		return nil, false
	}
	if e.attempt.semicolon {
		var ok bool
		if roots, ok = e.dropSemicolon(roots); !ok {
			return nil, false
		}
	}
	return e.unwrap(roots), true
}

// within returns the children of a node that lie in, or reach into, a range.
func (e *emitter) within(parent int, start, end uint32) []int {
	nodes := e.tree.Nodes()
	var out []int
	for i := uint32(parent) + 1; i < nodes[parent].Next; i = nodes[i].Next {
		if nodes[i].Start < end && nodes[i].End > start {
			out = append(out, int(i))
		}
	}
	return out
}

// dropSemicolon takes ours off the end of a run. It fails when ours made a
// statement of its own, which was no part of the fragment.
func (e *emitter) dropSemicolon(roots []int) ([]int, bool) {
	nodes := e.tree.Nodes()
	last := roots[len(roots)-1]
	if int(nodes[last].Start) < e.rendered.semicolon {
		return roots, true
	}
	if nodes[last].Named() || len(roots) == 1 {
		return nil, false
	}
	return roots[:len(roots)-1], true
}

// unwrap goes down from a single root while it holds one named node and
// nothing else.
func (e *emitter) unwrap(roots []int) []int {
	nodes := e.tree.Nodes()
	for len(roots) == 1 {
		children := e.children(roots[0])
		if len(children) != 1 || !nodes[children[0]].Named() || e.hasGap(roots[0]) {
			break
		}
		roots = children
	}
	return roots
}

// children are those of a node that count.
func (e *emitter) children(parent int) []int {
	nodes := e.tree.Nodes()
	var out []int
	for i := uint32(parent) + 1; i < nodes[parent].Next; i = nodes[i].Next {
		if e.counts(int(i)) {
			out = append(out, int(i))
		}
	}
	return out
}

// counts tells whether a node is part of the pattern: not a comment, not a
// semicolon of ours, not a token that the parser made up.
func (e *emitter) counts(i int) bool {
	n := &e.tree.Nodes()[i]
	return !n.Extra() && !n.Missing() && (n.Named() || !slices.Contains(e.rendered.semicolons, int(n.Start)))
}

// endsLine tells whether a token is a semicolon for which a line break would do
// as well, below a parent of a kind.
func (e *emitter) endsLine(parent syntax.Symbol, i int) bool {
	n := &e.tree.Nodes()[i]
	language := e.tree.Language()
	return !n.Named() && language.LineBreaksEnd(parent) && language.Separator(n.Symbol) == syntax.Terminator
}

// onOneLine tells whether two nodes of a run stand beside each other with
// neither a token nor a line break between them, though the language wants
// one: then they are no two statements.
func (e *emitter) onOneLine(roots []int) bool {
	nodes := e.tree.Nodes()
	for i := 1; i < len(roots); i++ {
		before, n := &nodes[roots[i-1]], &nodes[roots[i]]
		between := e.tree.Source()[before.End:n.Start]
		if e.tree.Language().LineBreaksEnd(0) && before.Named() && n.Named() && !bytes.ContainsRune(between, '\n') {
			return true
		}
	}
	return false
}

// hasGap tells whether a node holds text that none of its children covers.
func (e *emitter) hasGap(i int) bool {
	nodes := e.tree.Nodes()
	at := nodes[i].Start
	for child := uint32(i) + 1; child < nodes[i].Next; child = nodes[child].Next {
		if len(syntax.Gap(e.tree.Source(), at, nodes[child].Start)) > 0 {
			return true
		}
		at = nodes[child].End
	}
	return len(syntax.Gap(e.tree.Source(), at, nodes[i].End)) > 0
}

// emit writes the program of the roots.
func (e *emitter) emit(roots []int) (*Pattern, error) {
	nodes := e.tree.Nodes()
	e.pattern = &Pattern{
		Source: e.compiler.source, Language: e.compiler.language, Context: e.attempt.context.Name, Run: len(roots) > 1,
	}
	e.slots = map[string]int{}
	for _, i := range roots {
		if e.counts(i) && (len(roots) == 1 || !e.endsLine(0, i)) {
			e.pattern.Kinds = append(e.pattern.Kinds, e.tree.Language().KindName(nodes[i].Symbol))
			e.node(i, nil)
		}
	}
	if e.broken {
		return nil, nil //nolint:nilnil // the attempt is not taken
	}
	program := e.pattern.Program
	if len(program) == 0 {
		return nil, toolerr.BadArgument("pattern", "holds only comments, which never matter; give code")
	}
	if len(program) == 1 && program[0].Code != Leaf {
		return nil, tooBroad(e.compiler.source)
	}
	if program[0].Code == Multi || program[0].Code == MultiIn {
		return nil, toolerr.New(toolerr.InvalidArgument, toolerr.ReasonPatternTooBroad,
			"pattern %q begins with a run of siblings, so it would match from anywhere; leave the run out", shorten(e.compiler.source))
	}
	markOptional(program)
	return e.pattern, nil
}

// node emits one node of the pattern; gap is the text before it.
func (e *emitter) node(i int, gap []byte) {
	nodes := e.tree.Nodes()
	n := &nodes[i]
	text := string(e.tree.Text(i))
	if m := e.meta(text); m != nil && e.metavar(n, m, gap) {
		return
	}
	if m := e.rendered.operators[int(n.Start)]; m != nil && text == operator {
		e.add(Op{Code: Single, Slot: e.slot(m), Gap: gap})
		return
	}
	if n.Next == uint32(i)+1 {
		e.leaf(n, text, gap)
		return
	}
	e.add(Op{Code: Enter, Symbol: n.Symbol, Gap: gap})
	at := n.Start
	for child := uint32(i) + 1; child < n.Next; child = nodes[child].Next {
		if e.counts(int(child)) && !e.endsLine(n.Symbol, int(child)) {
			e.node(int(child), e.gap(at, nodes[child].Start))
		}
		at = nodes[child].End
	}
	e.add(Op{Code: Leave, Gap: e.gap(at, n.End)})
}

// metavar emits a node that is a metavariable as a whole; false when the
// metavariable stands for what is in the node.
func (e *emitter) metavar(n *syntax.Node, m *metavar, gap []byte) bool {
	language := e.tree.Language()
	switch {
	case m.multi && language.IsList(n.Symbol):
		e.add(Op{Code: MultiIn, Symbol: n.Symbol, Slot: e.slot(m), Gap: gap})
	case m.multi:
		e.add(Op{Code: Multi, Slot: e.slot(m), Gap: gap})
	case language.IsBlock(n.Symbol):
		return false
	default:
		e.add(Op{Code: Single, Named: !m.any, Slot: e.slot(m), Gap: gap})
	}
	return true
}

func (e *emitter) leaf(n *syntax.Node, text string, gap []byte) {
	e.broken = e.broken || e.compiler.isPlaceholder(text)
	language := e.tree.Language()
	op := Op{Code: Leaf, Symbol: n.Symbol, Named: n.Named(), Text: []byte(e.compiler.restore(text)), Gap: gap}
	op.Separator = !n.Named() && language.Separator(n.Symbol) != syntax.NoSeparator
	e.add(op)
}

func (e *emitter) add(op Op) { e.pattern.Program = append(e.pattern.Program, op) }

// gap returns the text between two nodes, as it stood in the pattern.
func (e *emitter) gap(start, end uint32) []byte {
	gap := syntax.Gap(e.tree.Source(), start, end)
	if len(gap) == 0 {
		return nil
	}
	return []byte(e.compiler.restore(string(gap)))
}

// slot finds or makes the place where a metavariable keeps what it takes.
func (e *emitter) slot(m *metavar) int {
	if !m.binds() {
		return NoSlot
	}
	if slot, ok := e.slots[m.name]; ok {
		e.pattern.Repeats = true
		return slot
	}
	slot := len(e.pattern.Names)
	e.slots[m.name] = slot
	e.pattern.Names = append(e.pattern.Names, Name{Name: m.name, Multi: m.multi})
	return slot
}

// markOptional marks the separators beside runs, and what follows a run.
func markOptional(program []Op) {
	for i := range program {
		program[i].AfterRun = i > 0 && program[i-1].Code == Multi
		if !program[i].Separator {
			continue
		}
		program[i].AfterMulti = i > 0 && program[i-1].Code == Multi
		program[i].BeforeMulti = i+1 < len(program) && program[i+1].Code == Multi
	}
}
