package syntax

import (
	"regexp"
	"strings"
	"unsafe"

	ts_c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	ts_cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	ts_go "github.com/tree-sitter/tree-sitter-go/bindings/go"
	ts_java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	ts_javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	ts_python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ts_rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	ts_typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// row is what this package knows of a language. A new language is one row.
type row struct {
	id         string
	aliases    []string
	extensions []string // with the dot, lower case
	shebangs   []string // names of interpreters
	// linked returns the grammar that is linked in; nil when it comes from the
	// grammar folder, as <id>.so.
	linked func() unsafe.Pointer
	// version of the linked grammar, for those whose ABI carries none.
	version string
	// contexts is the ladder that a pattern climbs, first rung first.
	contexts []Context
	// literals are the kinds of string literals, whose contents a rewrite never
	// re-indents.
	literals []string
	// comments are the bytes that a comment may begin with.
	comments string
	// lists are the kinds that only hold a list, without brackets of their own:
	// a $$$NAME that fills one stands for the list, which may also be absent.
	lists []string
	// blocks are those of the lists that hold statements: a $NAME that fills
	// one stands for one statement in it.
	blocks []string
	// unlikely are the kinds that a fragment is only when it can be nothing else:
	// "a: $X" is a labelled statement, but hardly meant as one.
	unlikely []string
	// clauses, when there are any, are the kinds in which a semicolon counts: in
	// all others a line break does as well, and makes no token.
	clauses []string
	// reshape changes a tree before anybody sees it; nil for none.
	reshape func(*grammar) func(*Tree) []Node
}

// Context is a rung of the ladder: a scaffold in which a fragment may be
// whole, when it is not so on its own (spec.md, "ast_grep").
type Context struct {
	Name          string `json:"name"`
	Before, After string
	// Starts, when not empty, keeps the context for fragments that begin with
	// it.
	Starts string
	// Like, when not empty, is a regular expression that fragments must match.
	Like string
	// NotStarts keeps the context from fragments that begin with one of these.
	NotStarts []string
	// Indent goes before every line of the fragment but its first, where a
	// language takes depth for structure.
	Indent string
}

// Takes tells whether a fragment may be meant for the context.
func (c *Context) Takes(fragment string) bool {
	for _, prefix := range c.NotStarts {
		if strings.HasPrefix(fragment, prefix) {
			return false
		}
	}
	if c.Like != "" && !regexp.MustCompile(c.Like).MatchString(fragment) {
		return false
	}
	return strings.HasPrefix(fragment, c.Starts)
}

// table returns the languages, in the order of their ids.
func table() []row {
	return []row{
		{
			id: "c", comments: "/", aliases: []string{"h"}, extensions: []string{".c", ".h"},
			linked: ts_c.Language, version: "0.24.2", contexts: cContexts("struct"),
			literals: []string{"string_literal", "raw_string_literal"},
		},
		{
			id: "cpp", comments: "/", aliases: []string{"c++", "cxx", "cc"},
			extensions: []string{".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp"},
			linked:     ts_cpp.Language, version: "0.23.4", contexts: cContexts("class"),
			literals: []string{"string_literal", "raw_string_literal"},
		},
		{
			id: "dart", comments: "/", extensions: []string{".dart"}, shebangs: []string{"dart"},
			contexts: dartContexts(), reshape: reshapeDart,
			literals: []string{"string_literal"},
		},
		{
			id: "go", comments: "/", aliases: []string{"golang"}, extensions: []string{".go"},
			linked: ts_go.Language, version: "0.25.0", contexts: goContexts(),
			literals: []string{"raw_string_literal", "interpreted_string_literal"},
			lists:    []string{"statement_list", "expression_list"}, blocks: []string{"statement_list"},
			unlikely: []string{"labeled_statement"}, clauses: []string{"for_clause"},
		},
		{
			id: "java", comments: "/", extensions: []string{".java"}, shebangs: []string{"java"},
			linked: ts_java.Language, version: "0.23.5", contexts: javaContexts(),
			literals: []string{"string_literal"},
		},
		{
			id: "javascript", comments: "/", aliases: []string{"js", "jsx", "mjs", "cjs"},
			extensions: []string{".js", ".mjs", ".cjs", ".jsx"}, shebangs: []string{"node", "nodejs", "deno", "bun"},
			linked: ts_javascript.Language, version: "0.25.0", contexts: ecmaContexts(false, true),
			literals: []string{"string", "template_string"}, unlikely: []string{"labeled_statement", "instantiation_expression"},
		},
		{
			id: "python", comments: "#", aliases: []string{"py", "python3"}, extensions: []string{".py", ".pyi", ".pyw"},
			shebangs: []string{"python", "python3", "python2", "pypy", "pypy3"},
			linked:   ts_python.Language, version: "0.25.0", contexts: pythonContexts(),
			literals: []string{"string"}, lists: []string{"block"}, blocks: []string{"block"},
		},
		{
			id: "rust", comments: "/", aliases: []string{"rs"}, extensions: []string{".rs"}, shebangs: []string{"rust-script", "cargo"},
			linked: ts_rust.Language, version: "0.24.2", contexts: rustContexts(),
			literals: []string{"string_literal", "raw_string_literal"},
		},
		{
			id: "tsx", comments: "/", extensions: []string{".tsx"},
			linked: ts_typescript.LanguageTSX, version: "0.23.2", contexts: ecmaContexts(true, true),
			literals: []string{"string", "template_string"}, unlikely: []string{"labeled_statement", "instantiation_expression"},
		},
		{
			id: "typescript", comments: "/", aliases: []string{"ts"}, extensions: []string{".ts", ".mts", ".cts"}, shebangs: []string{"ts-node", "tsx"},
			linked: ts_typescript.LanguageTypescript, version: "0.23.2", contexts: ecmaContexts(true, false),
			literals: []string{"string", "template_string"}, unlikely: []string{"labeled_statement", "instantiation_expression"},
		},
	}
}
