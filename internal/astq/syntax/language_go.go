package syntax

import (
	ts_go "github.com/tree-sitter/tree-sitter-go/bindings/go"
)

// goRows are Go.
func goRows() []row {
	return []row{
		{
			id: "go", comments: "/", aliases: []string{"golang"}, extensions: []string{".go"},
			linked: ts_go.Language, version: "0.25.0", contexts: goContexts(),
			literals: []string{"raw_string_literal", "interpreted_string_literal"},
			lists:    []string{"statement_list", "expression_list"}, blocks: []string{"statement_list"},
			unlikely: []string{"labeled_statement"}, clauses: []string{"for_clause"},
		},
	}
}

func goContexts() []Context {
	const inFunc, endFunc = "package p\nfunc _() {\n", "\n}\n"
	return []Context{
		{Name: "statement", Before: inFunc, After: endFunc},
		{Name: "expression", Before: "package p\nvar _ = ", After: "\n"},
		{Name: "declaration", Before: "package p\n", After: "\n"},
		{Name: "file", After: "\n"},
		{Name: "type", Before: "package p\nvar _ ", After: "\n"},
		{Name: "struct field", Before: "package p\ntype _ struct {\n", After: "\n}\n"},
		{Name: "interface element", Before: "package p\ntype _ interface {\n", After: "\n}\n"},
		{Name: "parameter", Before: "package p\nfunc _(", After: ") {}\n"},
		{Name: "case", Before: inFunc + "switch {\n", After: "\n}" + endFunc},
		{Name: "type case", Before: inFunc + "switch x.(type) {\n", After: "\n}" + endFunc},
		{Name: "select case", Before: inFunc + "select {\n", After: "\n}" + endFunc},
		{Name: "key-value pair", Before: "package p\nvar _ = T{", After: "}\n"},
		{Name: "import", Before: "package p\nimport (\n", After: "\n)\n"},
	}
}
