package session

import (
	"context"
	"sync"
)

// Call is a call or stream in flight in a run. While there is one, the run is
// not idle.
type Call struct {
	run    *Run
	stream bool
	done   sync.Once
	stop   func() bool // unhooks the call from the run's lifetime
	cancel context.CancelCauseFunc
}

// Begin starts a call in a live run of the principal. The returned context is
// ctx, cancelled when the run ends; its cause is then RUN_ENDED. The caller
// must end the call with Done. Drain gives calls its grace.
func (m *Manager) Begin(ctx context.Context, principal Principal, id string) (context.Context, *Call, error) {
	return m.begin(ctx, principal, id, false)
}

// BeginStream is Begin for a stream that a client keeps attached (watching
// questions, hosting tools or workers). It keeps the run from being idle as a
// call does, but Drain does not wait for it, because it has no end of its own.
func (m *Manager) BeginStream(ctx context.Context, principal Principal, id string) (context.Context, *Call, error) {
	return m.begin(ctx, principal, id, true)
}

func (m *Manager) begin(ctx context.Context, principal Principal, id string, stream bool) (context.Context, *Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.liveLocked(principal, "run_id", id)
	if err != nil {
		return nil, nil, err
	}
	r.inFlight++
	if !stream {
		m.calls++
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return ctx, &Call{run: r, stream: stream, stop: stop, cancel: cancel}, nil
}

// Run returns the run that the call is in.
func (c *Call) Run() *Run { return c.run }

// Done ends the call and starts the run's idle time anew. Calls after the
// first do nothing.
func (c *Call) Done() {
	c.done.Do(func() {
		c.stop()
		c.cancel(context.Canceled)
		c.run.m.endCall(c)
	})
}

func (m *Manager) endCall(c *Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := c.run
	r.lastActive = m.cfg.Now()
	r.inFlight--
	if r.inFlight == 0 && r.quiet != nil {
		close(r.quiet)
	}
	if c.stream {
		return
	}
	m.calls--
	m.signalQuietLocked()
}
