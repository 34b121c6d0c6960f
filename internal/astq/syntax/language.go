// Package syntax owns the grammars and what one parse gives: a flat array of
// nodes, made by one C call, so that matching is plain Go over memory
// (the figures stand in docs/decisions.md). It knows which files belong to
// which language and in which contexts a fragment of a language may stand.
//
// It reads grammar folders and otherwise no files, and keeps no trees.
package syntax

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Language is a language that patterns and files may be in. It is immutable
// and safe for concurrent use.
type Language struct {
	ID         string
	Aliases    []string
	Extensions []string // with the dot
	FileNames  []string // whole names of files without a telling extension
	Shebangs   []string // names of interpreters
	Contexts   []Context

	grammar *grammar // nil when there is none
	reason  string   // why there is none
	version string
	reshape func(*Tree) []Node
	lists   map[Symbol]bool
	blocks  map[Symbol]bool
	// unlikely are the kinds that a fragment is only when it can be nothing else.
	unlikely map[Symbol]bool
	clauses  map[Symbol]bool
	// comments are the bytes that a comment may begin with.
	comments string
}

// Version returns the grammar's version, or "".
func (l *Language) Version() string { return l.version }

// ABI returns the grammar's tree-sitter ABI, or 0 without a grammar.
func (l *Language) ABI() int {
	if l.grammar == nil {
		return 0
	}
	return l.grammar.abi
}

// File returns the file that the grammar was loaded from, or "".
func (l *Language) File() string {
	if l.grammar == nil {
		return ""
	}
	return l.grammar.file
}

// Unusable returns why the language has no grammar, or nil.
func (l *Language) Unusable() error {
	if l.grammar != nil {
		return nil
	}
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonUnknownLanguage, "language %s cannot be searched: %s", l.ID, l.reason)
}

// KindName returns the name of a kind.
func (l *Language) KindName(s Symbol) string { return l.grammar.name(s) }

// CommentStarts returns the bytes that a comment may begin with; "" when they
// are not known.
func (l *Language) CommentStarts() string { return l.comments }

// IsList reports whether a kind only holds a list, without brackets.
func (l *Language) IsList(s Symbol) bool { return l.lists[s] }

// LineBreaksEnd reports whether a line break ends a statement as a semicolon
// does, without a token of its own, below a node of the kind.
func (l *Language) LineBreaksEnd(parent Symbol) bool {
	return len(l.clauses) > 0 && !l.clauses[parent]
}

// IsIdentifier reports whether a kind is a name: grammars call the same name
// an identifier, a field_identifier or a type_identifier by where it stands.
func (l *Language) IsIdentifier(s Symbol) bool {
	return int(s) < len(l.grammar.identifiers) && l.grammar.identifiers[s]
}

// IsUnlikely reports whether a fragment is of the kind only when it can be
// nothing else.
func (l *Language) IsUnlikely(s Symbol) bool { return l.unlikely[s] }

// IsBlock reports whether a kind is a list of statements.
func (l *Language) IsBlock(s Symbol) bool { return l.blocks[s] }

// metadata is the file <id>.json beside a compiled grammar.
type metadata struct {
	Version    string    `json:"version"`
	Source     string    `json:"source"`
	Aliases    []string  `json:"aliases"`
	Extensions []string  `json:"extensions"`
	FileNames  []string  `json:"file_names"`
	Shebangs   []string  `json:"shebangs"`
	Literals   []string  `json:"literals"`
	Contexts   []Context `json:"contexts"`
}

func newLanguage(r row, file string, folders []string) (*Language, error) {
	meta, err := readMetadata(file)
	if err != nil {
		return nil, err
	}
	l := &Language{
		ID: r.id, Aliases: append(r.aliases, meta.Aliases...), Extensions: append(r.extensions, meta.Extensions...),
		FileNames: append(r.fileNames, meta.FileNames...), Shebangs: append(r.shebangs, meta.Shebangs...), Contexts: r.contexts, version: r.version, comments: r.comments,
	}
	if len(meta.Contexts) > 0 {
		l.Contexts = meta.Contexts
	}
	for _, c := range l.Contexts {
		if _, err := regexp.Compile(c.Like); err != nil {
			return nil, fmt.Errorf("grammar %s: context %q: %w", file, c.Name, err)
		}
	}
	if len(l.Contexts) == 0 {
		l.Contexts = []Context{{Name: "file"}}
	}
	switch {
	case file != "":
		l.grammar, err = loadGrammar(file, r.id)
		l.version = meta.Version
	case r.linked != nil:
		l.grammar, err = newGrammar(r.linked())
	default:
		l.reason = fmt.Sprintf("its grammar %s.so is in no grammar folder (%s); run scripts/setup.sh grammars, or name a folder with --grammar-dir",
			r.id, folderList(folders))
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.complete(r, meta.Literals)
	return l, nil
}

func folderList(folders []string) string {
	if len(folders) == 0 {
		return "none is configured"
	}
	return strings.Join(folders, ", ")
}

// complete looks up the kinds that the row names.
func (l *Language) complete(r row, literals []string) {
	g := l.grammar
	if l.version == "" {
		l.version = g.version
	}
	for _, name := range append(r.literals, literals...) {
		for _, s := range g.bySymbol[name] {
			g.literals[s] = true
		}
	}
	symbols := func(names []string) map[Symbol]bool {
		set := map[Symbol]bool{}
		for _, name := range names {
			for _, s := range g.bySymbol[name] {
				set[s] = true
			}
		}
		return set
	}
	l.clauses = symbols(r.clauses)
	l.lists, l.blocks, l.unlikely = symbols(r.lists), symbols(r.blocks), symbols(r.unlikely)
	if r.reshape != nil {
		l.reshape = r.reshape(g)
	}
}

func readMetadata(library string) (metadata, error) {
	var meta metadata
	if library == "" {
		return meta, nil
	}
	name := strings.TrimSuffix(library, ".so") + ".json"
	data, err := os.ReadFile(name) //nolint:gosec // in a folder that the operator names
	if errors.Is(err, fs.ErrNotExist) {
		return meta, nil
	}
	if err != nil {
		return meta, fmt.Errorf("read what is said of a grammar: %w", err)
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return meta, fmt.Errorf("read what is said of a grammar: %s: %w", name, err)
	}
	return meta, nil
}
