package syntax

// #include "treesitter.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Symbol is a kind of node, in the numbers of one grammar.
type Symbol uint16

// errorSymbol is the kind of ERROR nodes in every grammar.
const errorSymbol Symbol = 0xFFFF

// The grammar ABIs that the linked runtime takes.
const (
	minABI = 13
	maxABI = 15
)

// grammar is a tree-sitter grammar that is ready to parse. It lives as long
// as the program.
type grammar struct {
	language unsafe.Pointer // *TSLanguage
	abi      int
	version  string
	file     string // it was loaded from; empty when it is linked in
	names    []string
	// literals marks the kinds of string literals, by symbol.
	literals map[Symbol]bool
	bySymbol map[string][]Symbol
	// separators are the roles of the tokens, by symbol.
	separators []Separator
	// identifiers marks the kinds of names, by symbol.
	identifiers []bool
}

// newGrammar checks a grammar's ABI and reads its symbols.
func newGrammar(language unsafe.Pointer) (*grammar, error) {
	if language == nil {
		return nil, errors.New("its function returns no grammar; compile it again")
	}
	l := (*C.TSLanguage)(language)
	g := &grammar{language: language, abi: int(C.ts_language_abi_version(l)), literals: map[Symbol]bool{}, bySymbol: map[string][]Symbol{}}
	if g.abi < minABI || g.abi > maxABI {
		return nil, fmt.Errorf("its ABI is %d, and this toolsd takes %d to %d; compile it with a matching tree-sitter", g.abi, minABI, maxABI)
	}
	if m := C.ts_language_metadata(l); m != nil {
		g.version = fmt.Sprintf("%d.%d.%d", m.major, m.minor, m.patch)
	}
	for s := range Symbol(C.ts_language_symbol_count(l)) {
		name := C.GoString(C.ts_language_symbol_name(l, C.TSSymbol(s)))
		g.names = append(g.names, name)
		g.bySymbol[name] = append(g.bySymbol[name], s)
		g.separators = append(g.separators, separatorOf(name))
		g.identifiers = append(g.identifiers, strings.HasSuffix(name, "identifier"))
	}
	return g, nil
}

// name of a symbol, as the grammar's authors call the kind.
func (g *grammar) name(s Symbol) string {
	if int(s) < len(g.names) {
		return g.names[s]
	}
	if s == errorSymbol {
		return "ERROR"
	}
	return fmt.Sprintf("symbol %d", s)
}

// add makes a symbol of our own, for a node that the grammar lacks.
func (g *grammar) add(name string) Symbol {
	s := Symbol(len(g.names))
	g.names = append(g.names, name)
	g.bySymbol[name] = []Symbol{s}
	return s
}
