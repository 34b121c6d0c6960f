package syntax

import "slices"

// The Dart grammar gives no node to a call or a member access, only a primary
// and a row of siblings (identifier, selector, selector), and gives binary
// operators no precedence (a + b == c is read as a + (b == c)). Both would make
// matches wrong: $X could not stand for a.b, and $X == $X would match inside
// flags & mask == mask. So a Dart tree is reshaped before anybody sees it:
//
//   - a primary and its selectors become nested nodes of a kind of our own, as
//     other grammars have them: ((a .b) .dispose) (x); likewise a type and its
//     arguments;
//   - rows of binary operators are nested anew by Dart's own precedence, all
//     associating to the left;
//   - the nodes that only wrap a signature, or a signature and its body, are
//     taken out, so that functions have one shape at the top of a file, in a
//     class and in a block.

// Kinds of our own: a primary, or a chain, with a selector; a type's name, or
// such a type, with its arguments or a question mark.
const (
	dartChain = "selector_chain"
	dartType  = "qualified_type"
)

// dartKinds are the symbols that the reshaping looks at.
type dartKinds struct {
	chain      Symbol
	typed      Symbol
	typeNames  map[Symbol]bool
	typeLinks  map[Symbol]bool // what may follow a type's name
	selector   Symbol
	links      map[Symbol]bool // what may follow a primary
	bare       map[Symbol]bool // those of them that stand without a selector node where one is assigned to
	precedence map[Symbol]int  // of the binary expressions
	suffixes   map[Symbol]bool // operators without a right operand
	wrappers   map[Symbol]bool // of functions, by where they stand
}

// dartPrecedence is that of the language specification, lowest first.
var dartPrecedence = [][]string{
	{"if_null_expression"},
	{"logical_or_expression"},
	{"logical_and_expression"},
	{"equality_expression"},
	{"relational_expression", "type_test_expression", "type_cast_expression"},
	{"bitwise_or_expression"},
	{"bitwise_xor_expression"},
	{"bitwise_and_expression"},
	{"shift_expression"},
	{"additive_expression"},
	{"multiplicative_expression"},
}

func reshapeDart(g *grammar) func(*Tree) []Node {
	kinds := &dartKinds{
		chain: g.add(dartChain), typed: g.add(dartType),
		typeNames: map[Symbol]bool{}, typeLinks: map[Symbol]bool{}, links: map[Symbol]bool{}, bare: map[Symbol]bool{},
		precedence: map[Symbol]int{}, suffixes: map[Symbol]bool{}, wrappers: map[Symbol]bool{},
	}
	each := func(name string, f func(Symbol)) {
		for _, s := range g.bySymbol[name] {
			f(s)
		}
	}
	each("selector", func(s Symbol) { kinds.selector, kinds.links[s] = s, true })
	each("type_identifier", func(s Symbol) { kinds.typeNames[s] = true })
	each("type_arguments", func(s Symbol) { kinds.typeLinks[s] = true })
	each("nullable_type", func(s Symbol) { kinds.typeLinks[s] = true })
	each("cascade_section", func(s Symbol) { kinds.links[s] = true })
	for _, name := range []string{"unconditional_assignable_selector", "conditional_assignable_selector"} {
		each(name, func(s Symbol) { kinds.links[s], kinds.bare[s] = true, true })
	}
	for level, names := range dartPrecedence {
		for _, name := range names {
			each(name, func(s Symbol) { kinds.precedence[s] = level + 1 })
		}
	}
	for _, name := range []string{"method_signature", "lambda_expression", "local_function_declaration"} {
		each(name, func(s Symbol) { kinds.wrappers[s] = true })
	}
	for _, name := range []string{"type_test", "type_cast"} {
		each(name, func(s Symbol) { kinds.suffixes[s] = true })
	}
	return func(t *Tree) []Node {
		r := &dartReshape{kinds: kinds, nodes: t.nodes, opens: map[int][]header{}, drop: map[int]bool{}, wrap: map[int]bool{}}
		r.plan()
		return r.build()
	}
}

// header is a node to be put before another: it covers the source nodes up to
// closeAt and ends at byte end.
type header struct {
	symbol  Symbol
	start   uint32
	end     uint32
	closeAt uint32
}

// dartReshape plans the new tree over the old one's indices and then builds it
// in one pass.
type dartReshape struct {
	kinds *dartKinds
	nodes []Node
	opens map[int][]header // by the node they come before, outermost first
	drop  map[int]bool     // binary expressions that are nested anew, and wrappers
	wrap  map[int]bool     // selectors that stand bare
}

// open node of a walk.
type parent struct {
	symbol Symbol
	next   uint32
}

func (r *dartReshape) plan() {
	var parents []parent
	for i := range r.nodes {
		n := &r.nodes[i]
		for len(parents) > 0 && uint32(i) >= parents[len(parents)-1].next {
			parents = parents[:len(parents)-1]
		}
		end := uint32(len(r.nodes))
		var above Symbol
		if len(parents) > 0 {
			above, end = parents[len(parents)-1].symbol, parents[len(parents)-1].next
		}
		if r.kinds.precedence[n.Symbol] > 0 && r.kinds.precedence[above] == 0 {
			r.planBinary(i)
		}
		if !n.Extra() && !r.kinds.links[n.Symbol] {
			r.planChain(i, end)
		}
		if r.kinds.wrappers[n.Symbol] {
			r.drop[i] = true
		}
		parents = append(parents, parent{symbol: n.Symbol, next: n.Next})
	}
}

// planChain nests the selectors that follow node i among its siblings.
func (r *dartReshape) planChain(i int, end uint32) {
	var chain []header
	symbol, links := r.kinds.chain, r.kinds.links
	if r.kinds.typeNames[r.nodes[i].Symbol] {
		symbol, links = r.kinds.typed, r.kinds.typeLinks
	}
	for j := r.nodes[i].Next; j < end; j = r.nodes[j].Next {
		n := &r.nodes[j]
		if n.Extra() {
			continue
		}
		if !links[n.Symbol] {
			break
		}
		r.wrap[int(j)] = r.kinds.bare[n.Symbol]
		chain = append(chain, header{symbol: symbol, start: r.nodes[i].Start, end: n.End, closeAt: n.Next})
	}
	slices.Reverse(chain)
	if len(chain) > 0 {
		r.opens[i] = append(r.opens[i], chain...)
	}
}

// operand of a binary expression, or an expression built from some: a piece
// of the old tree.
type operand struct {
	first   int    // its first node
	closeAt uint32 // index after its last
	end     uint32 // byte
}

// pending is an operator that waits for its right operand.
type pending struct {
	symbol     Symbol // of the expression that it makes
	precedence int
}

// planBinary nests the operators below the binary expression b anew. A row
// that is not operand, operator, operand, … (it holds a syntax error) is left
// as it is.
func (r *dartReshape) planBinary(b int) {
	p := &climber{nodes: r.nodes, wantsOperand: true}
	var dropped []int
	var above []parent
	for i := b; uint32(i) < r.nodes[b].Next; {
		n := &r.nodes[i]
		for len(above) > 0 && uint32(i) >= above[len(above)-1].next {
			above = above[:len(above)-1]
		}
		if r.kinds.precedence[n.Symbol] > 0 {
			dropped = append(dropped, i)
			above = append(above, parent{symbol: n.Symbol, next: n.Next})
			i++
			continue
		}
		kind := above[len(above)-1].symbol
		switch {
		case n.Extra():
		case r.kinds.links[n.Symbol]:
			p.extend(n)
		case r.kinds.suffixes[n.Symbol]:
			p.suffix(pending{kind, r.kinds.precedence[kind]}, n)
		case p.wantsOperand:
			p.operand(i, n)
		default:
			p.operator(pending{kind, r.kinds.precedence[kind]})
		}
		i = int(n.Next)
	}
	built, ok := p.finish()
	if !ok {
		return
	}
	for _, i := range dropped {
		r.drop[i] = true
	}
	slices.Reverse(built) // outer expressions are made after inner ones
	for _, h := range built {
		r.opens[h.first] = append(r.opens[h.first], h.header)
	}
}

// build writes the new tree.
func (r *dartReshape) build() []Node {
	out := make([]Node, 0, len(r.nodes)+len(r.nodes)/4)
	type unclosed struct {
		at      int
		closeAt uint32
	}
	var stack []unclosed
	closeUpTo := func(i int) {
		for len(stack) > 0 && stack[len(stack)-1].closeAt <= uint32(i) {
			out[stack[len(stack)-1].at].Next = uint32(len(out))
			stack = stack[:len(stack)-1]
		}
	}
	emit := func(n Node, closeAt uint32) {
		stack = append(stack, unclosed{at: len(out), closeAt: closeAt})
		out = append(out, n)
	}
	for i := range r.nodes {
		n := r.nodes[i]
		closeUpTo(i)
		for _, h := range r.opens[i] {
			emit(Node{Start: h.start, End: h.end, Symbol: h.symbol, flags: flagNamed}, h.closeAt)
		}
		if r.drop[i] {
			continue
		}
		if r.wrap[i] {
			emit(Node{Start: n.Start, End: n.End, Symbol: r.kinds.selector, flags: flagNamed}, n.Next)
		}
		emit(n, n.Next)
	}
	closeUpTo(len(r.nodes))
	return out
}
