package syntax

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
//
// typedef const void *(*toolsd_grammar)(void);
// static const void *toolsd_call(void *f) { return ((toolsd_grammar)f)(); }
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// loadGrammar opens a compiled grammar: a shared library with a function
// tree_sitter_<id>. It stays open for the life of the program, because trees
// may point into it. Errors name the file.
func loadGrammar(file, id string) (*grammar, error) {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	// Lazily and locally: what else the library holds (a Node addon's symbols)
	// is never called, and its names do not mix with ours.
	handle := C.dlopen(name, C.RTLD_LAZY|C.RTLD_LOCAL)
	if handle == nil {
		return nil, fmt.Errorf("grammar %s: %w", file, lastError())
	}
	symbol := "tree_sitter_" + strings.ReplaceAll(id, "-", "_")
	csymbol := C.CString(symbol)
	defer C.free(unsafe.Pointer(csymbol))
	f := C.dlsym(handle, csymbol)
	if f == nil {
		C.dlclose(handle)
		return nil, fmt.Errorf("grammar %s: it has no function %s; the file's name must be the language's id", file, symbol)
	}
	g, err := newGrammar(C.toolsd_call(f))
	if err != nil {
		C.dlclose(handle)
		return nil, fmt.Errorf("grammar %s: %w", file, err)
	}
	g.file = file
	return g, nil
}

func lastError() error {
	if text := C.dlerror(); text != nil {
		return errors.New(C.GoString(text))
	}
	return errors.New("it cannot be loaded")
}
