package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
)

func TestIdleTTL(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"default": 0, "own": 90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			r := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: ttl})
			if ttl == 0 {
				ttl = time.Hour
			}
			if r.Info().IdleTTL != ttl {
				t.Errorf("IdleTTL %s, want %s", r.Info().IdleTTL, ttl)
			}
			h.advance(ttl - time.Nanosecond)
			if n := h.Sweep(); n != 0 || !h.alive(alice, r.ID()) {
				t.Fatalf("swept %d a moment too early", n)
			}
			h.advance(time.Nanosecond)
			if n := h.Sweep(); n != 1 || h.alive(alice, r.ID()) {
				t.Fatalf("swept %d at the end of the TTL", n)
			}
			h.awaitGone(alice, r.ID())
			if h.count(session.Event{Type: session.EventSwept, Label: "run"}) != 1 ||
				h.count(session.Event{Type: session.EventRunEnded, Label: string(session.CauseIdle)}) != 1 {
				t.Errorf("events %v", h.events)
			}
			if h.Stats().LastSweep != h.clock() {
				t.Error("the time of the sweep is not told")
			}
		})
	}
}

func TestWhatKeepsARunFromBeingIdle(t *testing.T) {
	const ttl = time.Minute
	type begin = func(context.Context, session.Principal, string) (context.Context, *session.Call, error)
	for name, start := range map[string]func(*harness) begin{
		"call":   func(h *harness) begin { return h.Begin },
		"stream": func(h *harness) begin { return h.BeginStream },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			r := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: ttl})
			_, call, err := start(h)(t.Context(), alice, r.ID())
			if err != nil {
				t.Fatal(err)
			}
			h.advance(10 * ttl)
			if h.Sweep() != 0 || r.Info().InFlight != 1 {
				t.Fatal("swept with a call in flight")
			}
			if n := h.Stats().Calls; n != map[string]int{"call": 1, "stream": 0}[name] {
				t.Errorf("%d calls in flight", n)
			}
			call.Done()
			call.Done() // counts once
			if r.Info().InFlight != 0 || h.Stats().Calls != 0 {
				t.Fatalf("%d in flight in the run, %d in all", r.Info().InFlight, h.Stats().Calls)
			}
			h.advance(ttl - 1)
			if h.Sweep() != 0 {
				t.Fatal("the idle time did not start anew")
			}
			h.advance(1)
			if h.Sweep() != 1 {
				t.Fatal("the run lives on")
			}
		})
	}
	t.Run("update", func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: ttl})
		h.advance(ttl - 1)
		if _, err := h.Update(alice, r.ID(), session.TierExec); err != nil {
			t.Fatal(err)
		}
		h.advance(ttl - 1)
		if h.Sweep() != 0 {
			t.Fatal("swept in spite of the update")
		}
	})
	t.Run("looking does not", func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: ttl})
		h.advance(ttl)
		if _, _, err := h.List(alice, 0, ""); err != nil || !h.alive(alice, r.ID()) {
			t.Fatal("gone before the sweep")
		}
		if h.Sweep() != 1 {
			t.Fatal("looking kept the run alive")
		}
	})
}

func TestAParentIsNotIdleWhileAChildWorks(t *testing.T) {
	const ttl = time.Minute
	h := newHarness(t)
	parent := h.create(alice, session.Spec{RunID: "p", Ceiling: session.TierRead, IdleTTL: ttl})
	child := h.create(alice, session.Spec{RunID: "c", Ceiling: session.TierRead, IdleTTL: ttl, ParentRunID: "p"})
	_, call := h.begin(alice, child.ID())
	h.advance(5 * ttl)
	if h.Sweep() != 0 {
		t.Fatal("swept while the child has a call in flight")
	}
	call.Done()
	h.advance(ttl / 2)
	if err := h.Close(t.Context(), alice, child.ID()); err != nil {
		t.Fatal(err)
	}
	h.advance(ttl - 1)
	if h.Sweep() != 0 || !h.alive(alice, parent.ID()) {
		t.Fatal("the end of the child did not count for the parent")
	}
	h.advance(1)
	if h.Sweep() != 1 {
		t.Fatal("the parent lives on")
	}
}

func TestSweepTakesAFamilyOnce(t *testing.T) {
	h := newHarness(t)
	h.create(alice, session.Spec{RunID: "p", Ceiling: session.TierRead, IdleTTL: time.Minute})
	h.create(alice, session.Spec{RunID: "c", Ceiling: session.TierRead, IdleTTL: time.Hour, ParentRunID: "p"})
	h.advance(time.Minute)
	if n := h.Sweep(); n != 1 {
		t.Errorf("swept %d, want the parent alone", n)
	}
	h.awaitGone(alice, "p")
	if h.Stats().Runs != 0 {
		t.Errorf("%d runs left", h.Stats().Runs)
	}
	h.advance(time.Hour)
	if n := h.Sweep(); n != 0 {
		t.Errorf("swept %d runs that are gone", n)
	}
}

// TestCallComesDuringASweep begins a call in a run that the same sweep has
// found idle.
func TestCallComesDuringASweep(t *testing.T) {
	var h *harness
	var saved *session.Call
	h = newHarness(t, func(_ *harness, cfg *session.Config) {
		cfg.Observe = func(e session.Event) {
			if e.Type != session.EventSwept || saved != nil {
				return
			}
			for _, id := range []string{"a", "b"} {
				if h.alive(alice, id) {
					_, saved = h.begin(alice, id)
				}
			}
		}
	})
	for _, id := range []string{"a", "b"} {
		h.create(alice, session.Spec{RunID: id, Ceiling: session.TierRead, IdleTTL: time.Minute})
	}
	h.advance(time.Minute)
	if n := h.Sweep(); n != 1 || saved == nil || !h.alive(alice, saved.Run().ID()) {
		t.Fatalf("swept %d runs: want the one without a call", n)
	}
	saved.Done()
}

func TestRunSweeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, func(_ *harness, cfg *session.Config) {
			cfg.Now = time.Now
			observe := cfg.Observe
			cfg.Observe = func(e session.Event) {
				observe(e)
				panic("an observer's fault")
			}
		})
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			h.RunSweeper(ctx)
		}()
		r := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: time.Minute})
		s := h.create(alice, session.Spec{Ceiling: session.TierRead, IdleTTL: 2 * time.Minute})
		pass(time.Minute - 1)
		synctest.Wait()
		if !h.alive(alice, r.ID()) {
			t.Fatal("swept too early")
		}
		pass(1)
		synctest.Wait()
		if h.alive(alice, r.ID()) || h.Stats().Runs != 1 {
			t.Fatal("not swept in time")
		}
		pass(time.Minute)
		synctest.Wait()
		if h.alive(alice, s.ID()) {
			t.Fatal("the sweeper ended with the first run")
		}
		stop()
		<-stopped
	})
}
