package syntax

// The ladders. Each begins with statement, expression, class member and
// declaration, as far as the language has them, and goes on with what real
// fragments need. Scaffolds put a line break before and after a fragment that
// may end in a line comment.

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

func pythonContexts() []Context {
	return []Context{
		// Before all others, because the word is a name too.
		{Name: "case", Before: "match _:\n    ", After: "\n", Indent: "    ", Starts: "case "},
		{Name: "statement", After: "\n"},
		{Name: "expression", Before: "_ = (\n", After: "\n)\n"},
		{Name: "parameter", Before: "def _(", After: "):\n    pass\n"},
		{Name: "argument", Before: "_(", After: ")\n"},
		{Name: "key-value pair", Before: "_ = {", After: "}\n"},
		{Name: "decorator", After: "\ndef _():\n    pass\n"},
		{Name: "type", Before: "_: ", After: "\n"},
		{Name: "branch", Before: "if _:\n    pass\n", After: "\n"},
		{Name: "handler", Before: "try:\n    pass\n", After: "\n"},
		{Name: "import", Before: "from _ import (", After: ")\n"},
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

func dartContexts() []Context {
	const inFunc, endFunc = "f() async {\n", "\n}\n"
	return []Context{
		{Name: "object", Before: "var x = ", After: ";\n", Starts: "{"},
		{Name: "handler", Before: inFunc + "try {}\n", After: endFunc, Starts: "catch"},
		{Name: "handler", Before: inFunc + "try {}\n", After: endFunc, Starts: "finally"},
		{Name: "statement", Before: inFunc, After: endFunc},
		{Name: "expression", Before: "var x = ", After: ";\n"},
		{Name: "class member", Before: "class C {\n", After: "\n}\n"},
		{Name: "declaration", After: "\n"},
		{Name: "type", Before: inFunc, After: " x;" + endFunc},
		{Name: "parameter", Before: "f(", After: ") {}\n"},
		{Name: "case", Before: inFunc + "switch (x) {\n", After: "\n}" + endFunc},
		{Name: "argument", Before: "var x = f(", After: ");\n"},
		{Name: "key-value pair", Before: "var x = {", After: "};\n"},
		{Name: "annotation", After: "\nclass C {}\n"},
		{Name: "enum constant", Before: "enum E {\n", After: "\n}\n"},
	}
}
