package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// faultMethod is a typed RPC that does what a test tells it to, behind the
// same rule as the real ones.
const faultMethod = "/test.Fault/Do"

// withFault replaces ast_grep, for a model's call and as the typed RPC
// faultMethod, by what a test wants to happen in a handler.
func withFault(do func(context.Context) error) setup {
	handler := func(ctx context.Context, _ any) (any, error) {
		return &toolsdv1.AstServiceGrepResponse{Text: "done"}, do(ctx)
	}
	unary := func(_ any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		request := &toolsdv1.AstServiceGrepRequest{}
		if err := dec(request); err != nil {
			return nil, err
		}
		return interceptor(ctx, request, &grpc.UnaryServerInfo{FullMethod: faultMethod}, handler)
	}
	return before(func(s *Server) {
		s.grpc.RegisterService(&grpc.ServiceDesc{
			ServiceName: "test.Fault", HandlerType: (*any)(nil),
			Methods: []grpc.MethodDesc{{MethodName: "Do", Handler: unary}},
		}, struct{}{})
		s.rules[faultMethod] = s.rules[toolsdv1.AstService_Grep_FullMethodName]
		for _, t := range s.tools.tools {
			if t.name == toolAstGrep {
				t.invoke = func(ctx context.Context, _ proto.Message) (response, error) {
					return &toolsdv1.AstServiceGrepResponse{Text: "done"}, do(ctx)
				}
			}
		}
	})
}

// faultTyped calls faultMethod.
func (d *daemon) faultTyped(run string) error {
	request := &toolsdv1.AstServiceGrepRequest{RunId: run}
	return d.conn.Invoke(d.t.Context(), faultMethod, request, &toolsdv1.AstServiceGrepResponse{})
}

// faultCall calls the tool as a model does.
func (d *daemon) faultCall(run string) error {
	_, err := d.call(run, toolAstGrep, `{"pattern": "f()"}`)
	return err
}

// doors are the two ways into a tool.
var doors = []struct {
	name string
	call func(*daemon, string) error
}{{"typed RPC", (*daemon).faultTyped}, {"Call", (*daemon).faultCall}}

func TestPanicEndsOneCall(t *testing.T) {
	for _, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			d := start(t, withFault(func(context.Context) error { panic("planted") }))
			run := d.create("", toolsdv1.Tier_TIER_READ)
			message := wantError(t, door.call(d, run), codes.Internal, reasonInternal)
			if strings.Contains(message, "planted") {
				t.Errorf("the caller learns of our insides: %q", message)
			}
			id := d.callID("panic in a handler")
			if id == "" || !strings.Contains(message, id) {
				t.Errorf("%q does not name call %q, under which the log has the panic", message, id)
			}
			d.wantMetric("toolsd_panics_total", "1")
			d.wantMetric(`toolsd_tool_calls_total{reason="INTERNAL",tool="ast_grep"}`, "1")
			got, err := d.run().GetRun(t.Context(), &toolsdv1.GetRunRequest{RunId: run})
			if err != nil || got.GetRun().GetCallsInFlight() != 0 {
				t.Errorf("after a panic: %v, %v", got, err)
			}
		})
	}
}

// callID finds the call id of the first log line with a message.
func (d *daemon) callID(message string) string {
	for line := range strings.Lines(d.log.String()) {
		var entry struct{ Msg, Call string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			d.t.Errorf("a log line that is no JSON: %v: %s", err, line)
		}
		if entry.Msg == message {
			return entry.Call
		}
	}
	return ""
}

// gate is a handler that tells when calls enter it, and holds them until it
// is opened or their context ends.
type gate struct {
	entered chan struct{}
	open    chan struct{}
}

func newGate() *gate { return &gate{entered: make(chan struct{}, 100), open: make(chan struct{})} }

func (g *gate) pass(ctx context.Context) error {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hold starts n calls and returns when all are in the gate; the outcomes come
// on the channel.
func (g *gate) hold(n int, call func() error) <-chan error {
	outcomes := make(chan error, n)
	for range n {
		go func() { outcomes <- call() }()
		<-g.entered
	}
	return outcomes
}

func TestLimitsOfCallsInFlight(t *testing.T) {
	for _, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			g := newGate()
			d := start(t, withFault(g.pass), with(func(o *Options) { o.MaxCalls, o.MaxCallsPerRun = 3, 2 }))
			a, b := d.create("a", toolsdv1.Tier_TIER_READ), d.create("b", toolsdv1.Tier_TIER_READ)
			heldA := g.hold(2, func() error { return door.call(d, a) })
			d.wantLimit(door.call(d, a), "max_calls_per_run", "2")
			heldB := g.hold(1, func() error { return door.call(d, b) })
			d.wantLimit(door.call(d, b), "max_calls", "3")
			if _, err := d.run().GetRun(t.Context(), &toolsdv1.GetRunRequest{RunId: a}); err != nil {
				t.Errorf("a quick method is refused too: %v", err)
			}
			close(g.open)
			for _, held := range []<-chan error{heldA, heldA, heldB} {
				must(t, <-held)
			}
			must(t, door.call(d, a)) // the places are free again
		})
	}
}

func (d *daemon) wantLimit(err error, limit, value string) {
	d.t.Helper()
	message := wantError(d.t, err, codes.ResourceExhausted, toolerr.ReasonLimit)
	facts := errorInfo(err).GetMetadata()
	if facts["limit"] != limit || facts["value"] != value || !strings.Contains(message, value) {
		d.t.Errorf("%q with %v does not name limit %s of %s", message, facts, limit, value)
	}
	d.wantMetric(`toolsd_limit_rejections_total{limit="`+limit+`"}`, "1")
}

func TestRunClosedDuringACall(t *testing.T) {
	for _, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			g := newGate()
			d := start(t, withFault(g.pass))
			run := d.create("", toolsdv1.Tier_TIER_READ)
			held := g.hold(1, func() error { return door.call(d, run) })
			_, err := d.run().CloseRun(t.Context(), &toolsdv1.CloseRunRequest{RunId: run})
			must(t, err)
			message := wantError(t, <-held, codes.Aborted, toolerr.ReasonRunEnded)
			if strings.Contains(message, "cancel") {
				t.Errorf("%q sounds like the caller's own doing", message)
			}
			d.wantMetric(`toolsd_tool_calls_total{reason="RUN_ENDED",tool="ast_grep"}`, "1")
		})
	}
}

func TestCallersOwnDeadlineAndCancel(t *testing.T) {
	g := newGate()
	d := start(t, withFault(g.pass))
	run := d.create("", toolsdv1.Tier_TIER_READ)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := d.tool().Call(ctx, &toolsdv1.CallRequest{RunId: run, Name: toolAstGrep, ArgumentsJson: `{"pattern": "f()"}`})
	must(t, err)
	<-g.entered
	cancel()
	if _, err := stream.Recv(); err == nil {
		t.Error("a cancelled call has an answer")
	}
	// The close returns when the call has left the run.
	_, err = d.run().CloseRun(t.Context(), &toolsdv1.CloseRunRequest{RunId: run})
	must(t, err)
	d.wantMetric(`toolsd_tool_calls_total{reason="CANCELED",tool="ast_grep"}`, "1")
	if strings.Contains(d.log.String(), `"level":"ERROR"`) {
		t.Errorf("a caller that goes away is logged as our fault:\n%s", d.log)
	}
}

func TestHeartbeatsOfASlowCall(t *testing.T) {
	g := newGate()
	d := start(t, withFault(g.pass), before(func(s *Server) { s.heartbeat = time.Millisecond }))
	run := d.create("", toolsdv1.Tier_TIER_READ)
	stream, err := d.tool().Call(t.Context(), &toolsdv1.CallRequest{RunId: run, Name: toolAstGrep, ArgumentsJson: `{"pattern": "f()"}`})
	must(t, err)
	const beats = 3
	var sequence uint64
	for i := range beats {
		event, err := stream.Recv()
		must(t, err)
		if sequence++; event.GetSequence() != sequence || !event.GetHeartbeat().GetTime().IsValid() {
			t.Fatalf("event %d is %v, want a heartbeat", i, event)
		}
	}
	close(g.open)
	result, err := lastResult(stream)
	must(t, err)
	if result.GetText() != "done" || result.GetIsError() {
		t.Errorf("after the heartbeats comes %v", result)
	}
}
