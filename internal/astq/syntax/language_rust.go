package syntax

import (
	ts_rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
)

// rustRows are Rust.
func rustRows() []row {
	return []row{
		{
			id: "rust", comments: "/", aliases: []string{"rs"}, extensions: []string{".rs"}, shebangs: []string{"rust-script", "cargo"},
			linked: ts_rust.Language, version: "0.24.2", contexts: rustContexts(),
			literals: []string{"string_literal", "raw_string_literal"},
		},
	}
}

func rustContexts() []Context {
	const inFunc, endFunc = "fn _f() {\n", "\n}\n"
	return []Context{
		{Name: "statement", Before: inFunc, After: endFunc},
		{Name: "expression", Before: inFunc + "let _ = ", After: ";" + endFunc},
		{Name: "impl item", Before: "impl T {\n", After: "\n}\n"},
		{Name: "trait item", Before: "trait T {\n", After: "\n}\n"},
		{Name: "declaration", After: "\n"},
		{Name: "type", Before: "type T = ", After: ";\n"},
		{Name: "parameter", Before: "fn _f(", After: ") {}\n"},
		{Name: "field", Before: "struct S {\n", After: "\n}\n"},
		{Name: "match arm", Before: inFunc + "match x {\n", After: "\n}" + endFunc},
		{Name: "pattern", Before: inFunc + "let ", After: " = x;" + endFunc},
		{Name: "key-value pair", Before: inFunc + "let _ = S {", After: "};" + endFunc},
		{Name: "variant", Before: "enum E {\n", After: "\n}\n"},
		{Name: "attribute", After: "\nfn _f() {}\n"},
	}
}
