package syntax

// dartRows are Dart.
func dartRows() []row {
	return []row{
		{
			id: "dart", comments: "/", extensions: []string{".dart"}, shebangs: []string{"dart"},
			contexts: dartContexts(), reshape: reshapeDart,
			literals: []string{"string_literal"},
		},
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
