package syntax

import (
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// row is what this package knows of a language. A new language is one row.
type row struct {
	id         string
	aliases    []string
	extensions []string // with the dot, lower case
	fileNames  []string // whole names of files without a telling extension
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

// table returns the languages. A family of languages has a file of its own,
// language_<family>.go, with their ladders. Each ladder begins with statement,
// expression, class member and declaration, as far as the language has them,
// and goes on with what real fragments need. Scaffolds put a line break before
// and after a fragment that may end in a line comment.
func table() []row {
	return slices.Concat(cRows(), dartRows(), ecmaRows(), goRows(), jvmRows(), pythonRows(), rustRows())
}
