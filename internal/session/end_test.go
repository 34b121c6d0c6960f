package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestCloseCancelsCallsInFlight(t *testing.T) {
	h := newHarness(t)
	r := h.create(alice, minimal)
	ctx, call := h.begin(alice, r.ID())
	if call.Run() != r || ctx.Err() != nil {
		t.Fatalf("run %v, ctx %v", call.Run(), ctx.Err())
	}
	go func() {
		<-ctx.Done()
		call.Done()
	}()
	if err := h.Close(t.Context(), alice, r.ID()); err != nil {
		t.Fatal(err)
	}
	e := wantReason(t, context.Cause(ctx), toolerr.ReasonRunEnded)
	if e.Kind != toolerr.Aborted || e.Fields["cause"] != "closed" || !strings.Contains(e.Message, r.ID()) {
		t.Errorf("kind %v, fields %v, message %q", e.Kind, e.Fields, e.Message)
	}
}

func TestCallEndsWithItsCallersContext(t *testing.T) {
	h := newHarness(t)
	r := h.create(alice, minimal)
	parent, cancel := context.WithCancel(t.Context())
	ctx, call, err := h.Begin(parent, alice, r.ID())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ctx.Done()
	call.Done()
	if !errors.Is(context.Cause(ctx), context.Canceled) || !h.alive(alice, r.ID()) {
		t.Errorf("cause %v, run alive %v", context.Cause(ctx), h.alive(alice, r.ID()))
	}
}

func TestWorkspaceOutlivesTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		spec := full()
		spec.RunID = "abc"
		h.create(alice, spec)
		_, call := h.begin(alice, "abc")
		var group sync.WaitGroup
		group.Go(func() { _ = h.Close(t.Context(), alice, "abc") })
		synctest.Wait()
		lines := h.lines()
		if !slices.Contains(lines, "close ast local.abc") || slices.Contains(lines, "close workspace /ws") {
			t.Errorf("log %q: want the resources closed and the workspace open", lines)
		}
		call.Done()
		group.Wait()
		if lines = h.lines(); lines[len(lines)-1] != "close workspace /ws" {
			t.Errorf("log %q: want the workspace closed last", lines)
		}
	})
}

func TestCallThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, full())
		_, call := h.begin(alice, r.ID())
		start := time.Now()
		if err := h.Close(t.Context(), alice, r.ID()); err == nil || !strings.Contains(err.Error(), "calls") {
			t.Errorf("error %v: want the calls named", err)
		}
		if took := time.Since(start); took != session.DefaultCloseTimeout {
			t.Errorf("took %s", took)
		}
		if h.count(session.Event{Type: session.EventCloseFailed, Label: "calls"}) != 1 || h.Stats().Runs != 0 {
			t.Errorf("events %v, %d runs", h.events, h.Stats().Runs)
		}
		call.Done() // late, and harmless
		if h.Stats().Calls != 0 {
			t.Errorf("%d calls in flight", h.Stats().Calls)
		}
	})
}

// TestFaultyClose checks that a resource that panics, fails or hangs keeps no
// other from being closed, and that the run ends in one CloseTimeout.
func TestFaultyClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		h := newHarness(t,
			withClose(session.KindAST, func(context.Context) error { panic("boom") }),
			withClose(session.KindDebug, func(context.Context) error { <-hang; return nil }),
			withClose(session.KindEval, func(ctx context.Context) error {
				<-hang
				return ctx.Err()
			}),
			withClose(session.KindFiles, func(context.Context) error { return errors.New("disk full") }),
		)
		spec := full()
		spec.RunID = "abc"
		h.create(alice, spec)
		start := time.Now()
		err := h.Close(t.Context(), alice, "abc")
		if took := time.Since(start); took != session.DefaultCloseTimeout {
			t.Errorf("took %s, want one CloseTimeout for all", took)
		}
		for _, part := range []string{"close ast: panicked: boom", "close debug: still running", "close eval: still running", "close files: disk full"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("error %v lacks %q", err, part)
			}
		}
		for _, kind := range []string{"ask", "ast", "debug", "eval", "files", "lsp", "vibe"} {
			if n := len(slices.DeleteFunc(h.lines(), func(l string) bool { return l != "close "+kind+" local.abc" })); n != 1 {
				t.Errorf("%s closed %d times", kind, n)
			}
		}
		if h.Stats().Runs != 0 {
			t.Error("the run is still there")
		}
		close(hang)
	})
}

func TestCloseGoesOnWithoutItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var closeErr error
		h := newHarness(t, withClose(session.KindEval, func(ctx context.Context) error {
			<-release
			closeErr = ctx.Err()
			return nil
		}))
		spec := session.Spec{RunID: "abc", Ceiling: session.TierExec, WorkspaceRoot: "/ws", Resources: map[session.Kind]any{session.KindEval: nil}}
		h.create(alice, spec)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Close(ctx, alice, "abc"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		_, err := h.Get(alice, "abc")
		wantReason(t, err, toolerr.ReasonRunNotFound)
		joined := make(chan error, 1)
		go func() { joined <- h.Close(t.Context(), alice, "abc") }()
		synctest.Wait()
		close(release)
		if err := <-joined; err != nil {
			t.Errorf("a second Close: %v: want it to wait for the same end", err)
		}
		if lines := h.lines(); closeErr != nil || lines[len(lines)-1] != "close workspace /ws" {
			t.Errorf("context of the close %v, log %q", closeErr, lines)
		}
	})
}

func TestCloseAtOnceClosesOnce(t *testing.T) {
	h := newHarness(t)
	spec := full()
	spec.RunID = "abc"
	h.create(alice, spec)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			err := h.Close(t.Context(), alice, "abc")
			if err != nil && !toolerr.Is(err, toolerr.ReasonRunNotFound) {
				t.Errorf("Close: %v", err)
			}
		})
	}
	group.Wait()
	if n := len(h.lines()); n != 7+7+1 {
		t.Errorf("%d lines in %q: want 7 attaches, 7 closes, 1 workspace", n, h.lines())
	}
	if n := h.count(session.Event{Type: session.EventRunEnded, Label: "closed"}); n != 1 {
		t.Errorf("%d ends counted", n)
	}
}
