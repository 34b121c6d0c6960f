package syntax

import "unsafe"

// Flags of a Node.
const (
	flagNamed = 1 << iota
	flagExtra
	flagError
	flagMissing
)

// Node is a node of a flat tree: 16 bytes, the layout of toolsd_node in
// flatten.h. Nodes stand in pre-order.
type Node struct {
	// Start and End are byte offsets, half-open.
	Start, End uint32
	// Next is the index after the node's last descendant: that of its next
	// sibling, or of the end of its parent. Index+1 is its first child, when
	// that is below Next.
	Next uint32
	// Symbol is the kind, in the grammar's numbers.
	Symbol Symbol
	flags  uint16
}

// Named reports whether the node is named in the grammar, as opposed to a
// token such as "(" that stands there by its text.
func (n *Node) Named() bool { return n.flags&flagNamed != 0 }

// Extra reports whether the node may stand anywhere: a comment, a line
// continuation. The parser calls what it could make no sense of extra as
// well; this does not.
func (n *Node) Extra() bool { return n.flags&(flagExtra|flagError) == flagExtra }

// IsError reports whether the parser could make no sense of the node.
func (n *Node) IsError() bool { return n.flags&flagError != 0 }

// Missing reports whether the parser put the node there itself, to go on.
func (n *Node) Missing() bool { return n.flags&flagMissing != 0 }

// Span is a piece of a source, by byte offsets, half-open.
type Span struct{ Start, End int }

// Tree is a parsed source as a flat array. It is immutable, and safe for
// concurrent use.
type Tree struct {
	language *Language
	source   []byte
	nodes    []Node
}

// Language returns the language whose grammar made the tree.
func (t *Tree) Language() *Language { return t.language }

// Source returns the bytes that were parsed; they must not be changed.
func (t *Tree) Source() []byte { return t.source }

// Nodes returns the nodes in pre-order, the root first; they must not be
// changed.
func (t *Tree) Nodes() []Node { return t.nodes }

// Text returns the source of a node.
func (t *Tree) Text(i int) []byte { return t.source[t.nodes[i].Start:t.nodes[i].End] }

// Errors returns the places of the syntax errors: ERROR nodes, without those
// inside another, and missing tokens.
func (t *Tree) Errors() []Span {
	var out []Span
	for i := 0; i < len(t.nodes); {
		n := &t.nodes[i]
		if n.IsError() || n.Missing() {
			out = append(out, Span{Start: int(n.Start), End: int(n.End)})
			i = int(n.Next)
			continue
		}
		i++
	}
	return out
}

// Comments returns the places of the comments and what else may stand
// anywhere, in source order.
func (t *Tree) Comments() []Span {
	var out []Span
	for i := range t.nodes {
		if n := &t.nodes[i]; n.Extra() {
			out = append(out, Span{Start: int(n.Start), End: int(n.End)})
		}
	}
	return out
}

// LiteralSpans returns the places of string literals, outermost only, in
// source order: text whose line breaks and indentation are part of its value.
func (t *Tree) LiteralSpans() []Span {
	var out []Span
	for i := 0; i < len(t.nodes); {
		n := &t.nodes[i]
		if t.language.grammar.literals[n.Symbol] {
			out = append(out, Span{Start: int(n.Start), End: int(n.End)})
			i = int(n.Next)
			continue
		}
		i++
	}
	return out
}

// Bytes is the memory that the tree and its source take.
func (t *Tree) Bytes() int64 {
	return int64(len(t.source)) + int64(len(t.nodes))*int64(unsafe.Sizeof(Node{}))
}
