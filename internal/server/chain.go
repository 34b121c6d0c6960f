package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/telemetry"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// A stage is one concern of every call. The unary and the stream interceptor
// are built from the same list of stages, so that neither can miss one.
type stage struct {
	name string
	// around wraps the whole call; nil for none.
	around func(ctx context.Context, c *call, next func(context.Context) error) error
	// admit sees the first request message, before the handler does; nil for
	// none. It may narrow the context; the function it returns, when not nil,
	// runs when the call is over.
	admit func(ctx context.Context, c *call, request proto.Message) (context.Context, func(), error)
}

// stages, from the outside to the inside. The order matters:
//   - report sees the outcome of everything, in the form the caller gets;
//   - a caller is known before anything is looked up for it;
//   - the run is found, and its tool allowed, before a limit is spent;
//   - recovery is innermost, so that a panic is logged and counted as an error,
//     also one of the stages that admit a request.
func (s *Server) stages() []stage {
	return []stage{
		{name: "report", around: s.report},
		{name: "lookup", around: s.lookup},
		{name: "authenticate", around: s.authenticate},
		{name: "run", admit: s.enterRun},
		{name: "tool", admit: s.admitTool},
		{name: "limit", admit: s.limit},
		{name: "deadline", admit: s.deadline},
		{name: "recover", around: s.recover},
	}
}

// maxLoggedID is how many bytes of a run id are logged: no real one is longer,
// and what a caller sends instead may be of any length.
const maxLoggedID = 129

// report maps the error, once, and writes the one log line of the call.
func (s *Server) report(ctx context.Context, c *call, next func(context.Context) error) error {
	start := s.now()
	err := next(ctx)
	took := s.now().Sub(start)
	attrs := []slog.Attr{
		slog.String("call", c.id), slog.String("method", c.method), slog.Duration("took", took),
		slog.String("principal", string(c.principal)),
	}
	if c.runID != "" {
		attrs = append(attrs, slog.String("run", c.runID[:min(len(c.runID), maxLoggedID)]))
	}
	if c.tool != "" {
		attrs = append(attrs, slog.String("tool", c.tool))
	}
	if err == nil {
		s.log.LogAttrs(ctx, slog.LevelInfo, "call", append(attrs, slog.String("reason", telemetry.ReasonOK))...)
		return nil
	}
	e := classify(err, c.id)
	attrs = append(attrs, slog.String("code", kindCodes[e.Kind].String()), slog.String("reason", string(e.Reason)))
	level := slog.LevelInfo
	if e.Kind == toolerr.Internal {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", err.Error()))
	}
	s.log.LogAttrs(ctx, level, "call", attrs...)
	return toStatus(e)
}

// lookup finds the method's rule; a method without one does not exist.
func (s *Server) lookup(ctx context.Context, c *call, next func(context.Context) error) error {
	r, ok := s.rules[c.method]
	if !ok {
		return toolerr.New(toolerr.PermissionDenied, toolerr.ReasonMethodNotAllowed, "method %s is not served", c.method)
	}
	c.rule = r
	return next(ctx)
}

// authenticate names the caller. An unbuilt method says that it is unbuilt
// only to callers that could use it once it is.
func (s *Server) authenticate(ctx context.Context, c *call, next func(context.Context) error) error {
	if c.rule.access == accessOpen {
		return next(ctx)
	}
	principal, err := transport.Principal(ctx)
	if err != nil {
		return err
	}
	c.principal = session.Principal(principal)
	if c.rule.access == accessUnbuilt {
		return toolerr.New(toolerr.Unimplemented, toolerr.ReasonNotBuilt,
			"%s is part of the API and not built into this version; ListTools names the tools that a run has", c.method)
	}
	return next(ctx)
}

// enterRun finds the run that the request names and counts the call in it.
func (s *Server) enterRun(ctx context.Context, c *call, request proto.Message) (context.Context, func(), error) {
	if named, ok := request.(interface{ GetRunId() string }); ok {
		c.runID = named.GetRunId()
	}
	if c.rule.access != accessRun {
		return ctx, nil, nil
	}
	if c.runID == "" {
		return nil, nil, toolerr.BadArgument("run_id", "is required; CreateRun gives it")
	}
	ctx, lease, err := s.runs.Begin(ctx, c.principal, c.runID)
	if err != nil {
		return nil, nil, err
	}
	c.lease = lease
	c.runID = lease.Run().ID()
	return ctx, lease.Done, nil
}

// admitTool refuses a typed RPC whose tool does not exist for the run, and
// counts the call of the tool.
func (s *Server) admitTool(ctx context.Context, c *call, _ proto.Message) (context.Context, func(), error) {
	if c.rule.tool == "" {
		return ctx, nil, nil
	}
	t, err := s.tools.visible(c.lease.Run(), c.rule.tool)
	if err != nil {
		return nil, nil, err
	}
	c.tool = t.name
	return ctx, nil, nil
}

// limit bounds the calls in flight.
func (s *Server) limit(ctx context.Context, c *call, _ proto.Message) (context.Context, func(), error) {
	if c.rule.limiter != limitTool {
		return ctx, nil, nil
	}
	release, err := s.limiter.acquire(c.runID)
	if err != nil {
		if e, ok := toolerr.As(err); ok {
			s.metrics.LimitRejected(e.Fields["limit"])
		}
		return nil, nil, err
	}
	return ctx, release, nil
}

// deadline bounds the call's time; a caller's shorter deadline wins by itself.
func (s *Server) deadline(ctx context.Context, c *call, _ proto.Message) (context.Context, func(), error) {
	if c.rule.deadline == 0 {
		return ctx, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.rule.deadline)
	return ctx, cancel, nil
}

// recover ends a panicking call with INTERNAL and keeps the daemon alive.
func (s *Server) recover(ctx context.Context, c *call, next func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.metrics.Panicked()
			s.log.ErrorContext(ctx, "panic in a handler", "call", c.id, "method", c.method,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in %s: %v", c.method, p)
		}
	}()
	return next(ctx)
}

// run sends a call through the stages to the handler.
func (s *Server) run(ctx context.Context, c *call, handler func(context.Context) error) error {
	next := handler
	for _, st := range slices.Backward(s.chain) {
		around := st.around
		if around == nil {
			continue
		}
		inner := next
		next = func(ctx context.Context) error { return around(ctx, c, inner) }
	}
	return next(withCall(ctx, c))
}

// admit takes the first request message past every stage. The returned
// function ends what the stages began, in reverse order.
func (s *Server) admit(ctx context.Context, c *call, request proto.Message) (context.Context, func(), error) {
	var releases []func()
	release := func() {
		for _, done := range slices.Backward(releases) {
			done()
		}
	}
	for _, st := range s.chain {
		if st.admit == nil {
			continue
		}
		narrowed, done, err := st.admit(ctx, c, request)
		if err != nil {
			release()
			return nil, nil, err
		}
		ctx = narrowed //nolint:fatcontext // as deep as there are stages
		if done != nil {
			releases = append(releases, done)
		}
	}
	return ctx, release, nil
}

func (s *Server) unaryInterceptor(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (response any, err error) {
	c := newCall(info.FullMethod, false)
	err = s.run(ctx, c, func(ctx context.Context) error {
		message, ok := request.(proto.Message)
		if !ok {
			return fmt.Errorf("request of %s is a %T, not a message", c.method, request)
		}
		ctx, release, err := s.admit(ctx, c, message)
		if err != nil {
			return err
		}
		defer release()
		started := s.now()
		// A panic of the handler is caught here already, so that it counts as a
		// call of its tool.
		err = s.recover(ctx, c, func(ctx context.Context) (err error) {
			response, err = handler(ctx, request)
			return err
		})
		err = cutOff(ctx, err)
		s.countTool(c, started, err)
		return err
	})
	return response, err
}

// countTool counts the call of a typed RPC's tool. ToolService.Call counts
// for itself, because there an error of the tool is a result.
func (s *Server) countTool(c *call, started time.Time, err error) {
	if c.rule.tool == "" {
		return
	}
	reason := telemetry.ReasonOK
	if err != nil {
		reason = string(classify(err, c.id).Reason)
	}
	s.metrics.ToolCall(c.tool, reason, s.now().Sub(started))
}

func (s *Server) streamInterceptor(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c := newCall(info.FullMethod, true)
	return s.run(stream.Context(), c, func(ctx context.Context) error {
		wrapped := &admittedStream{ServerStream: stream, server: s, call: c, ctx: ctx}
		defer wrapped.release()
		err := handler(srv, wrapped)
		return cutOff(wrapped.ctx, err)
	})
}

// admittedStream takes the first request message past the stages when the
// handler receives it.
type admittedStream struct {
	grpc.ServerStream
	server   *Server
	call     *call
	ctx      context.Context //nolint:containedctx // a stream carries its context; see grpc.ServerStream
	admitted bool
	done     func()
}

// Context returns the context as the stages left it.
func (a *admittedStream) Context() context.Context { return a.ctx }

// RecvMsg receives a message; the first is admitted before the handler sees it.
func (a *admittedStream) RecvMsg(m any) error {
	if err := a.ServerStream.RecvMsg(m); err != nil || a.admitted {
		return err
	}
	message, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("request of %s is a %T, not a message", a.call.method, m)
	}
	ctx, release, err := a.server.admit(a.ctx, a.call, message)
	if err != nil {
		return err
	}
	a.admitted, a.ctx, a.done = true, ctx, release
	return nil
}

func (a *admittedStream) release() {
	if a.done != nil {
		a.done()
	}
}
