package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

const debugSlot = "debug"

func noExpire(context.Context, session.Cause) error { return nil }

// in returns a spec of a run in a conversation.
func in(conversation string) session.Spec {
	return session.Spec{Ceiling: session.TierExec, ConversationID: conversation, IdleTTL: 24 * time.Hour}
}

func TestOneSlotPerConversation(t *testing.T) {
	h := newHarness(t)
	a, b := h.create(alice, in("c1")), h.create(alice, in("c1"))
	slot, err := a.AcquireSlot(debugSlot, session.DebugTTL, noExpire)
	if err != nil {
		t.Fatal(err)
	}
	since := h.clock().UTC().Format(time.RFC3339)
	if want := h.clock().Add(30 * time.Minute); !slot.Expires().Equal(want) {
		t.Errorf("expires %v, want %v", slot.Expires(), want)
	}
	h.advance(4 * time.Minute)
	for name, r := range map[string]*session.Run{"another run": b, "the same run": a} {
		_, err := r.AcquireSlot(debugSlot, session.DebugTTL, noExpire)
		e := wantReason(t, err, toolerr.ReasonSessionLive)
		if e.Kind != toolerr.FailedPrecondition || e.Fields["run_id"] != a.ID() || e.Fields["since"] != since {
			t.Errorf("%s: kind %v, fields %v", name, e.Kind, e.Fields)
		}
		for _, part := range []string{`"c1"`, a.ID(), since, "4m0s", "terminate it first"} {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%s: message %q lacks %q", name, e.Message, part)
			}
		}
	}
	if n := h.Stats().Slots[debugSlot]; n != 1 {
		t.Errorf("%d slots counted", n)
	}
	for name, r := range map[string]*session.Run{
		"another conversation":               h.create(alice, in("c2")),
		"another principal's of that name":   h.create(bob, in("c1")),
		"another principal's, another's too": h.create(bob, in("c2")),
	} {
		if _, err := r.AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.AcquireSlot("other", session.DebugTTL, noExpire); err != nil {
		t.Errorf("another slot: %v", err)
	}
	slot.Release()
	slot.Release()
	if _, err := b.AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
		t.Errorf("after the release: %v", err)
	}
	slot.Release() // must not give back what b holds now
	_, err = a.AcquireSlot(debugSlot, session.DebugTTL, noExpire)
	wantReason(t, err, toolerr.ReasonSessionLive)
}

func TestSlotNeedsAConversationAndATTL(t *testing.T) {
	h := newHarness(t)
	_, err := h.create(alice, minimal).AcquireSlot(debugSlot, session.DebugTTL, noExpire)
	wantReason(t, err, toolerr.ReasonBadArgument)
	if _, err := h.create(alice, in("c1")).AcquireSlot(debugSlot, 0, noExpire); err == nil {
		t.Error("a slot for ever")
	}
}

func TestSlotTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.create(alice, in("c1"))
		_, call := h.begin(alice, r.ID()) // does not matter for the TTL
		defer call.Done()
		var causes []session.Cause
		release := make(chan struct{})
		_, err := r.AcquireSlot(debugSlot, session.DebugTTL, func(_ context.Context, cause session.Cause) error {
			causes = append(causes, cause)
			<-release
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		h.advance(29*time.Minute + 59*time.Second)
		if n := h.Sweep(); n != 0 {
			t.Fatalf("swept %d at 29:59", n)
		}
		h.advance(time.Second)
		if n := h.Sweep(); n != 1 {
			t.Fatalf("swept %d at 30:00", n)
		}
		synctest.Wait()
		_, err = r.AcquireSlot(debugSlot, session.DebugTTL, noExpire)
		if e := wantReason(t, err, toolerr.ReasonSessionLive); !strings.Contains(e.Message, "ending now") {
			t.Errorf("message %q while the session ends", e.Message)
		}
		close(release)
		synctest.Wait()
		if len(causes) != 1 || causes[0] != session.CauseTTL || !h.alive(alice, r.ID()) {
			t.Errorf("causes %v, run alive %v", causes, h.alive(alice, r.ID()))
		}
		if h.count(session.Event{Type: session.EventSwept, Label: debugSlot}) != 1 {
			t.Errorf("events %v", h.events)
		}
		if _, err = r.AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestReleaseInsideExpire(t *testing.T) {
	h := newHarness(t)
	r := h.create(alice, in("c1"))
	done := make(chan struct{})
	held := make(chan *session.Slot, 1)
	slot, err := r.AcquireSlot(debugSlot, time.Minute, func(context.Context, session.Cause) error {
		defer close(done)
		(<-held).Release()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	held <- slot
	h.advance(time.Minute)
	h.Sweep()
	<-done
	if err := h.Close(t.Context(), alice, r.ID()); err != nil {
		t.Fatal(err)
	}
	if len(h.Stats().Slots) != 0 {
		t.Error("the slot is still held")
	}
}

func TestSlotEndsWithItsRun(t *testing.T) {
	h := newHarness(t, withClose(session.KindEval, func(context.Context) error { return nil }))
	spec := in("c1")
	spec.Resources = map[session.Kind]any{session.KindEval: nil}
	spec.RunID = "abc"
	r := h.create(alice, spec)
	if _, err := r.AcquireSlot(debugSlot, session.DebugTTL, func(_ context.Context, cause session.Cause) error {
		h.logf("expire " + string(cause))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(t.Context(), alice, r.ID()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(h.lines()[1:], ", "); got != "expire closed, close eval local.abc" {
		t.Errorf("log %q: want the slot before the resources", got)
	}
	_, err := r.AcquireSlot(debugSlot, session.DebugTTL, noExpire)
	wantReason(t, err, toolerr.ReasonRunNotFound)
	if _, err := h.create(alice, in("c1")).AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
		t.Errorf("the next run of the conversation: %v", err)
	}
	h.advance(session.DebugTTL - 1)
	if n := h.Sweep(); n != 0 {
		t.Errorf("swept %d slots that are gone", n)
	}
}

// TestFaultyExpire checks that a callback that panics, fails or hangs keeps
// neither the sweeper nor any other slot.
func TestFaultyExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		hang := make(chan struct{})
		ended := map[string]bool{}
		faults := map[string]func(context.Context, session.Cause) error{
			"hang":  func(context.Context, session.Cause) error { <-hang; return nil },
			"panic": func(context.Context, session.Cause) error { panic("boom") },
			"fail":  func(context.Context, session.Cause) error { return errors.New("no") },
			"good":  func(context.Context, session.Cause) error { ended["good"] = true; return nil },
		}
		runs := map[string]*session.Run{}
		for name, expire := range faults {
			runs[name] = h.create(alice, in(name))
			if _, err := runs[name].AcquireSlot(debugSlot, session.DebugTTL, expire); err != nil {
				t.Fatal(err)
			}
		}
		h.advance(session.DebugTTL)
		if n := h.Sweep(); n != len(faults) {
			t.Fatalf("swept %d, want %d", n, len(faults))
		}
		synctest.Wait()
		if !ended["good"] || h.Stats().Slots[debugSlot] != 1 {
			t.Errorf("good ended %v, %d slots left: want only the one that hangs", ended["good"], h.Stats().Slots[debugSlot])
		}
		if _, err := runs["panic"].AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
			t.Errorf("after a panic: %v", err)
		}
		pass(session.DefaultCloseTimeout)
		synctest.Wait()
		if _, err := runs["hang"].AcquireSlot(debugSlot, session.DebugTTL, noExpire); err != nil {
			t.Errorf("after a hang: %v", err)
		}
		if n := h.count(session.Event{Type: session.EventCloseFailed, Label: debugSlot}); n != 3 {
			t.Errorf("%d failures counted, want 3", n)
		}
		h.advance(session.DebugTTL)
		if n := h.Sweep(); n != 2 {
			t.Errorf("the next sweep ended %d, want 2", n)
		}
		close(hang)
	})
}
