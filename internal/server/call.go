package server

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"

	"github.com/toolsd/toolsd/internal/session"
)

// call is what the stages of the chain know of one RPC. It is made at the
// outside and filled in on the way to the handler, by one goroutine.
type call struct {
	id        string // for the log and for INTERNAL errors
	method    string // full method name
	rule      rule
	stream    bool
	principal session.Principal
	runID     string
	tool      string
	lease     *session.Call // set while the call counts in its run
}

func newCall(method string, stream bool) *call {
	return &call{id: newCallID(), method: method, stream: stream}
}

// newCallID returns 80 random bits: enough to find one call in a log.
func newCallID() string {
	var b [10]byte
	rand.Read(b[:]) // which never fails; see its documentation
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callFrom returns the call that a handler runs in. Every handler has one:
// the chain puts it there.
func callFrom(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		panic("server: handler outside the interceptor chain")
	}
	return c
}

// runFrom returns the live run that a handler's call counts in.
func runFrom(ctx context.Context) *session.Run { return callFrom(ctx).lease.Run() }
