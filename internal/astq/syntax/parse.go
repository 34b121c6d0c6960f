package syntax

// #cgo CFLAGS: -std=c11 -O2 -D_POSIX_C_SOURCE=200809L
// #include <stdlib.h>
// #include "flatten.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	// Links tree-sitter's C runtime, which this package calls itself: through
	// the binding's own nodes a walk costs four times as much.
	_ "github.com/tree-sitter/go-tree-sitter"
)

func init() {
	// The binding sends every allocation of the parser through Go; the C
	// library's own allocator makes parsing 1.4 to 1.6 times as fast.
	C.ts_set_allocator(nil, nil, nil, nil)
}

// ErrTimeout is a parse that used up its time.
var ErrTimeout = errors.New("parsing took too long")

// Parse parses a source, within budget. It ends within milliseconds of ctx,
// with ctx's error. The tree keeps source, which must not be changed.
func (l *Language) Parse(ctx context.Context, source []byte, budget time.Duration) (*Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.grammar == nil {
		return nil, l.Unusable()
	}
	if len(source) > math.MaxUint32/2 {
		return nil, fmt.Errorf("parse %s: %d bytes are too many", l.ID, len(source))
	}
	nodes, err := l.grammar.parse(ctx, source, budget)
	if err != nil {
		return nil, err
	}
	tree := &Tree{language: l, source: source, nodes: nodes}
	if l.reshape != nil {
		tree.nodes = l.reshape(tree)
	}
	return tree, nil
}

func (g *grammar) parse(ctx context.Context, source []byte, budget time.Duration) ([]Node, error) {
	var cancel int32
	stop := context.AfterFunc(ctx, func() { atomic.StoreInt32(&cancel, 1) })
	defer stop()
	var flat C.toolsd_flat
	text := (*C.char)(unsafe.Pointer(unsafe.SliceData(source)))
	stopped := (*C.int32_t)(unsafe.Pointer(&cancel))
	//nolint:gocritic // dupSubExpr sees what cgo makes of this call
	status := C.toolsd_parse((*C.TSLanguage)(g.language), text, C.uint32_t(len(source)), stopped, C.int64_t(budget), &flat)
	runtime.KeepAlive(source)
	switch status {
	case C.TOOLSD_OK:
	case C.TOOLSD_STOPPED:
		return nil, ctx.Err()
	case C.TOOLSD_TIMED_OUT:
		return nil, ErrTimeout
	case C.TOOLSD_NO_MEMORY:
		return nil, errors.New("parse: no memory")
	default:
		return nil, fmt.Errorf("parse: the runtime refused the grammar (ABI %d)", g.abi)
	}
	defer C.free(unsafe.Pointer(flat.nodes))
	nodes := make([]Node, flat.count)
	copy(nodes, unsafe.Slice((*Node)(unsafe.Pointer(flat.nodes)), int(flat.count)))
	return nodes, nil
}

// The layouts must agree, since nodes are copied from C as they are.
var _ = [1]struct{}{}[unsafe.Sizeof(Node{})-unsafe.Sizeof(C.toolsd_node{})]
