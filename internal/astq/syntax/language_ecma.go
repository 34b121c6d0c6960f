package syntax

import (
	ts_javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	ts_typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// ecmaRows are JavaScript and what grew from it.
func ecmaRows() []row {
	return []row{
		{
			id: "javascript", comments: "/", aliases: []string{"js", "jsx", "mjs", "cjs"},
			extensions: []string{".js", ".mjs", ".cjs", ".jsx"}, shebangs: []string{"node", "nodejs", "deno", "bun"},
			linked: ts_javascript.Language, version: "0.25.0", contexts: ecmaContexts(false, true),
			literals: []string{"string", "template_string"}, unlikely: []string{"labeled_statement", "instantiation_expression"},
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

// ecmaContexts are those of JavaScript and of what grew from it.
func ecmaContexts(types, jsx bool) []Context {
	const inFunc, endFunc = "async function* f() {\n", "\n}\n"
	out := []Context{
		{Name: "object", Before: "x = ", After: ";\n", Starts: "{"},
		{Name: "handler", Before: inFunc + "try {}\n", After: endFunc, Starts: "catch"},
		{Name: "handler", Before: inFunc + "try {}\n", After: endFunc, Starts: "finally"},
		{Name: "statement", Before: inFunc, After: endFunc},
		{Name: "expression", Before: "x = ", After: ";\n"},
		{Name: "class member", Before: "class C {\n", After: "\n}\n"},
		{Name: "declaration", After: "\n"},
	}
	if types {
		out = append(out,
			Context{Name: "interface member", Before: "interface I {\n", After: "\n}\n"},
			Context{Name: "type", Before: "type T = ", After: ";\n"},
			Context{Name: "enum member", Before: "enum E {\n", After: "\n}\n"},
			Context{Name: "abstract member", Before: "abstract class C {\n", After: "\n}\n"},
		)
	}
	out = append(out,
		Context{Name: "parameter", Before: "function f(", After: ") {}\n"},
		Context{Name: "case", Before: inFunc + "switch (x) {\n", After: "\n}" + endFunc},
		Context{Name: "key-value pair", Before: "x = {\n", After: "\n};\n"},
		Context{Name: "decorator", After: "\nclass C {}\n"},
		Context{Name: "argument", Before: "f(", After: ");\n"},
		Context{Name: "import specifier", Before: "import {", After: "} from \"m\";\n"},
	)
	if jsx {
		// Before all others: without spaces it is hardly meant as an assignment.
		out = append([]Context{{Name: "JSX attribute", Before: "x = <a ", After: " />;\n", Like: `^[\w-]+=[{"']`}}, out...)
	}
	return out
}
