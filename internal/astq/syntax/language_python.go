package syntax

import (
	ts_python "github.com/tree-sitter/tree-sitter-python/bindings/go"
)

// pythonRows are Python.
func pythonRows() []row {
	return []row{
		{
			id: "python", comments: "#", aliases: []string{"py", "python3"}, extensions: []string{".py", ".pyi", ".pyw"},
			shebangs: []string{"python", "python3", "python2", "pypy", "pypy3"},
			linked:   ts_python.Language, version: "0.25.0", contexts: pythonContexts(),
			literals: []string{"string"}, lists: []string{"block"}, blocks: []string{"block"},
		},
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
