package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// drain starts a Drain with a grace, and returns where its result will be.
func (h *harness) drain(grace time.Duration) <-chan error {
	result := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(h.t.Context(), grace)
		defer cancel()
		result <- h.Drain(ctx)
	}()
	return result
}

func TestDrainWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		spec := full()
		spec.RunID = "abc"
		h.create(alice, spec)
		ctx, call := h.begin(alice, "abc")
		start := time.Now()
		drained := h.drain(time.Minute)
		synctest.Wait()

		_, err := h.Create(t.Context(), alice, minimal)
		if e := wantReason(t, err, toolerr.ReasonDraining); e.Kind != toolerr.Unavailable || e.Fields["retry_after"] != "5s" {
			t.Errorf("kind %v, fields %v: want a hint when to try again", e.Kind, e.Fields)
		}
		if _, err := h.Create(t.Context(), alice, spec); err != nil {
			t.Errorf("the same request of a live run: %v", err)
		}
		_, answer := h.begin(alice, "abc") // what the first call may wait for
		answer.Done()
		if ctx.Err() != nil {
			t.Error("the call was cut in its grace")
		}
		pass(10 * time.Second)
		call.Done()
		if err := <-drained; err != nil {
			t.Errorf("Drain: %v", err)
		}
		if took := time.Since(start); took != 10*time.Second || h.Stats().Runs != 0 {
			t.Errorf("took %s, %d runs left", took, h.Stats().Runs)
		}
		if n := h.count(session.Event{Type: session.EventRunEnded, Label: string(session.CauseDrain)}); n != 1 {
			t.Errorf("%d runs counted as drained", n)
		}
		_, err = h.Create(t.Context(), alice, spec)
		wantReason(t, err, toolerr.ReasonDraining)
	})
}

func TestDrainCutsCallsAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, minimal)
		child := h.create(alice, session.Spec{Ceiling: session.TierRead, ParentRunID: r.ID()})
		ctx, call := h.begin(alice, child.ID())
		go func() {
			<-ctx.Done()
			call.Done()
		}()
		start := time.Now()
		if err := <-h.drain(time.Minute); err != nil {
			t.Errorf("Drain: %v", err)
		}
		if took := time.Since(start); took != time.Minute || h.Stats().Runs != 0 {
			t.Errorf("took %s, %d runs left", took, h.Stats().Runs)
		}
		wantReason(t, context.Cause(ctx), toolerr.ReasonRunEnded)
	})
}

func TestDrainDoesNotWaitForStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, minimal)
		ctx, stream, err := h.BeginStream(t.Context(), alice, r.ID())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-ctx.Done()
			stream.Done()
		}()
		start := time.Now()
		if err := <-h.drain(time.Minute); err != nil {
			t.Errorf("Drain: %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %s", took)
		}
		if e := wantReason(t, context.Cause(ctx), toolerr.ReasonRunEnded); e.Fields["cause"] != "drain" {
			t.Errorf("fields %v", e.Fields)
		}
	})
}

func TestDrainUndoesRunsBeingCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, withAttacher(session.KindLSP, func(ctx context.Context, _ session.AttachEnv, _ any) (session.Resource, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		created := make(chan error, 1)
		go func() {
			_, err := h.Create(t.Context(), alice, full())
			created <- err
		}()
		synctest.Wait()
		if err := <-h.drain(time.Minute); err != nil {
			t.Errorf("Drain: %v", err)
		}
		wantReason(t, <-created, toolerr.ReasonDraining)
		if h.Stats().Runs != 0 {
			t.Errorf("%d runs left", h.Stats().Runs)
		}
	})
}

func TestDrainTellsWhatWasNotReleased(t *testing.T) {
	stuck := errors.New("stuck")
	h := newHarness(t, withClose(session.KindEval, func(context.Context) error { return stuck }))
	h.create(alice, full())
	h.create(bob, minimal)
	if err := h.Drain(t.Context()); !errors.Is(err, stuck) {
		t.Errorf("Drain: %v", err)
	}
	if err := h.Drain(t.Context()); err != nil {
		t.Errorf("a second Drain: %v", err)
	}
}
