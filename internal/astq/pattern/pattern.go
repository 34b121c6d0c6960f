// Package pattern compiles a code fragment with metavariables into a program
// that package match runs over flat trees (spec.md, "ast_grep"). The fragment
// is parsed by the grammar of the files, in the first context of the
// language's ladder that takes exactly it.
//
// It finds nothing itself, and reads no files.
package pattern

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// MaxBytes is the size of the largest pattern. A fragment that large is a
// file, and was most likely given by mistake.
const MaxBytes = 64 << 10

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	// Source is the pattern as it was given.
	Source string
	// Language whose grammar parsed it.
	Language *syntax.Language
	// Context is the rung of the ladder that took it.
	Context string
	// Kinds are those of its top nodes, in the grammar's names: more than one
	// when the pattern is a run of siblings.
	Kinds []string
	// Names are the metavariables that it binds, in the order in which they
	// first stand in it.
	Names []Name
	// Program is what match runs.
	Program []Op
	// Run says that the pattern is a run of siblings, and not one node.
	Run bool
	// Repeats says that some name stands in it twice, so that what is bound
	// decides what matches later.
	Repeats bool

	words  [][]byte
	chains []chain
}

// Name is a metavariable that binds.
type Name struct {
	Name  string
	Multi bool // $$$NAME, a run of siblings
}

// OpCode is what an Op demands of the source.
type OpCode int

// The operations. A program goes through a pattern in pre-order.
const (
	// Leaf takes a node of the kind; a named one must have the text as well.
	Leaf OpCode = iota
	// Enter goes into a node of the kind.
	Enter
	// Leave goes out of the node entered last: what is left in it must be
	// comments and separators.
	Leave
	// Single takes one node: a named one, or any for $$NAME.
	Single
	// Multi takes a run of siblings, possibly empty.
	Multi
	// MultiIn takes one node of the kind, a list without brackets, or nothing
	// where the list is empty and so is not there.
	MultiIn
)

// NoSlot is the slot of a metavariable that binds nothing.
const NoSlot = -1

// Op is one step of a program.
type Op struct {
	Code   OpCode
	Symbol syntax.Symbol
	// Text of a named leaf.
	Text []byte
	// Named is whether a leaf is; for Single, whether only named nodes do.
	Named bool
	// Slot is the index in Names, or NoSlot.
	Slot int
	// Gap is text that no node covers and that stands before the step's node:
	// in some grammars, what a string literal holds. Usually empty.
	Gap []byte
	// Separator is a leaf that is a comma or ends a statement.
	Separator bool
	// AfterMulti and BeforeMulti say that such a leaf stands beside a run of
	// siblings, and is optional when that is empty.
	AfterMulti, BeforeMulti bool
	// AfterRun says that a run comes right before: what could be passed over
	// before the step belongs to the run, so that a rewrite keeps it.
	AfterRun bool
}

// MayMatch tells whether a source may hold a match: it has every word of the
// pattern, and the tokens that stand beside each other do so somewhere. One
// for which it is false need not be parsed.
func (p *Pattern) MayMatch(source []byte) bool {
	for _, w := range p.words {
		if !bytes.Contains(source, w) {
			return false
		}
	}
	for _, c := range p.chains {
		if !c.mayStandIn(source, p.Language) {
			return false
		}
	}
	return true
}

// WordBytes returns the texts that every match holds; they must not be changed.
func (p *Pattern) WordBytes() [][]byte { return p.words }

// Words returns the texts that every match holds, the longest first.
func (p *Pattern) Words() []string {
	out := make([]string, len(p.words))
	for i, w := range p.words {
		out[i] = string(w)
	}
	return out
}

// oneByteWords are the tokens of one byte that are rare enough to tell files
// apart; brackets, points, commas and the equals sign are everywhere.
const oneByteWords = "+-*/%&|^<>!?@~"

// setWords collects what every match must hold. An optional separator is not
// in every match. A token counts when its kind is named by its text.
func (p *Pattern) setWords() {
	add := func(w []byte) {
		if (len(w) > 1 || len(w) == 1 && strings.Contains(oneByteWords, string(w))) && !slices.ContainsFunc(p.words, func(have []byte) bool { return bytes.Equal(have, w) }) {
			p.words = append(p.words, w)
		}
	}
	for _, op := range p.Program {
		add(op.Gap)
		switch {
		case op.Code != Leaf || op.Separator:
		case op.Named:
			add(op.Text)
		case string(op.Text) == p.Language.KindName(op.Symbol):
			add(op.Text)
		}
	}
	slices.SortStableFunc(p.words, func(a, b []byte) int { return len(b) - len(a) })
}
