package syntax

import (
	ts_c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	ts_cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
)

// cRows are C and C++.
func cRows() []row {
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
	}
}

// cContexts are those of C, and of C++ with its classes.
func cContexts(record string) []Context {
	const inFunc, endFunc = "void f(void) {\n", "\n}\n"
	return []Context{
		{Name: "handler", Before: inFunc + "try {}\n", After: endFunc, Starts: "catch"},
		{Name: "statement", Before: inFunc, After: endFunc},
		{Name: "expression", Before: "int x = ", After: ";\n"},
		{Name: "class member", Before: record + " S {\n", After: "\n};\n"},
		{Name: "declaration", After: "\n"},
		{Name: "type", Before: "", After: " x;\n"},
		{Name: "parameter", Before: "void f(", After: ");\n"},
		{Name: "case", Before: inFunc + "switch (x) {\n", After: "\n}" + endFunc},
		{Name: "initializer", Before: "struct S x = {", After: "};\n"},
		{Name: "enumerator", Before: "enum E {", After: "};\n"},
		{Name: "argument", Before: inFunc + "g(", After: ");" + endFunc},
	}
}
