package syntax

import (
	ts_java "github.com/tree-sitter/tree-sitter-java/bindings/go"
)

// jvmRows are the languages of the JVM.
func jvmRows() []row {
	return []row{
		{
			id: "java", comments: "/", extensions: []string{".java"}, shebangs: []string{"java"},
			linked: ts_java.Language, version: "0.23.5", contexts: javaContexts(),
			literals: []string{"string_literal"},
		},
	}
}

func javaContexts() []Context {
	const inMethod, endMethod = "class C { void f() {\n", "\n} }\n"
	return []Context{
		// Before all others, because the grammar takes these words for names too.
		{Name: "handler", Before: inMethod + "try {}\n", After: endMethod, Starts: "catch"},
		{Name: "handler", Before: inMethod + "try {}\n", After: endMethod, Starts: "finally"},
		{Name: "statement", Before: inMethod, After: endMethod, NotStarts: []string{"private ", "public ", "protected "}},
		{Name: "expression", Before: "class C { Object f = ", After: "; }\n"},
		{Name: "class member", Before: "class C {\n", After: "\n}\n"},
		{Name: "declaration", After: "\n"},
		{Name: "interface member", Before: "interface I {\n", After: "\n}\n"},
		{Name: "type", Before: "class C { ", After: " f; }\n"},
		{Name: "parameter", Before: "class C { void f(", After: ") {} }\n"},
		{Name: "case", Before: inMethod + "switch (x) {\n", After: "\n}" + endMethod},
		{Name: "annotation", After: "\nclass C {}\n"},
		{Name: "annotation pair", Before: "@A(", After: ")\nclass C {}\n"},
		{Name: "enum constant", Before: "enum E {\n", After: "\n}\n"},
	}
}
