package session_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	alice = session.Principal("alice")
	bob   = session.Principal("bob")
)

// harness is a Manager with recording fakes around it: a clock that only the
// test moves, workspaces that need no folder, and an attacher for each kind.
type harness struct {
	*session.Manager
	t *testing.T

	mu     sync.Mutex
	now    time.Time
	events []session.Event
	log    []string // "attach <kind> <run>", "close <kind> <run>", "close workspace <root>", …
}

// newHarness makes a Manager; the changes are applied to its configuration
// last.
func newHarness(t *testing.T, changes ...func(*harness, *session.Config)) *harness {
	t.Helper()
	h := &harness{t: t, now: time.Now()}
	cfg := session.Config{
		Attachers: map[session.Kind]session.Attacher{},
		OpenWorkspace: func(root string) (session.Workspace, error) {
			return &fakeWorkspace{h: h, root: filepath.Clean(root)}, nil
		},
		Now:     h.clock,
		Observe: h.observe,
	}
	for _, kind := range []session.Kind{
		session.KindLSP, session.KindFiles, session.KindAST, session.KindDebug,
		session.KindEval, session.KindAsk, session.KindVibe,
	} {
		cfg.Attachers[kind] = h.attacher(kind, nil)
	}
	for _, change := range changes {
		change(h, &cfg)
	}
	m, err := session.New(cfg)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	h.Manager = m
	// The test's context has ended by then, so there is no grace.
	t.Cleanup(func() { _ = m.Drain(t.Context()) })
	return h
}

// attacher returns one whose resource logs its close and then runs onClose.
func (h *harness) attacher(kind session.Kind, onClose func(context.Context) error) session.Attacher {
	return func(_ context.Context, env session.AttachEnv, _ any) (session.Resource, error) {
		h.logf("attach " + string(kind) + " " + env.RunID)
		return closer(func(ctx context.Context) error {
			h.logf("close " + string(kind) + " " + env.RunID)
			if onClose != nil {
				return onClose(ctx)
			}
			return nil
		}), nil
	}
}

// withAttacher replaces the attacher of a kind.
func withAttacher(kind session.Kind, attacher session.Attacher) func(*harness, *session.Config) {
	return func(_ *harness, cfg *session.Config) { cfg.Attachers[kind] = attacher }
}

// withClose makes the resources of a kind run onClose.
func withClose(kind session.Kind, onClose func(context.Context) error) func(*harness, *session.Config) {
	return func(h *harness, cfg *session.Config) { cfg.Attachers[kind] = h.attacher(kind, onClose) }
}

type closer func(context.Context) error

func (c closer) Close(ctx context.Context) error { return c(ctx) }

type fakeWorkspace struct {
	h    *harness
	root string
}

func (w *fakeWorkspace) Root() string { return w.root }

func (w *fakeWorkspace) Close() error {
	w.h.logf("close workspace " + w.root)
	return nil
}

func (h *harness) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *harness) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (h *harness) observe(e session.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// count returns how often an event was seen.
func (h *harness) count(want session.Event) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, e := range h.events {
		if e == want {
			n++
		}
	}
	return n
}

func (h *harness) logf(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, line)
}

// lines returns the log so far.
func (h *harness) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// create makes a run that must succeed.
func (h *harness) create(principal session.Principal, spec session.Spec) *session.Run {
	h.t.Helper()
	r, err := h.Create(h.t.Context(), principal, spec)
	if err != nil {
		h.t.Fatalf("Create(%+v): %v", spec, err)
	}
	return r
}

// begin starts a call that must succeed.
func (h *harness) begin(principal session.Principal, id string) (context.Context, *session.Call) {
	h.t.Helper()
	ctx, call, err := h.Begin(h.t.Context(), principal, id)
	if err != nil {
		h.t.Fatalf("Begin(%q): %v", id, err)
	}
	return ctx, call
}

func (h *harness) alive(principal session.Principal, id string) bool {
	_, err := h.Get(principal, id)
	return err == nil
}

// awaitGone waits until a run that is ending is gone.
func (h *harness) awaitGone(principal session.Principal, id string) {
	h.t.Helper()
	err := h.Close(h.t.Context(), principal, id)
	if err != nil && !toolerr.Is(err, toolerr.ReasonRunNotFound) {
		h.t.Fatalf("end of %q: %v", id, err)
	}
}

// wantReason fails the test unless err is a toolerr of that reason.
func wantReason(t *testing.T, err error, want toolerr.Reason) *toolerr.Error {
	t.Helper()
	var e *toolerr.Error
	if !errors.As(err, &e) || e.Reason != want {
		t.Fatalf("error %v: want reason %s", err, want)
	}
	return e
}

// minimal is the smallest spec that there is.
var minimal = session.Spec{Ceiling: session.TierRead}

// full is a spec with everything attached.
func full() session.Spec {
	return session.Spec{
		ConversationID: "conversation",
		WorkspaceRoot:  "/ws",
		Ceiling:        session.TierExec,
		Resources: map[session.Kind]any{
			session.KindLSP: nil, session.KindFiles: nil, session.KindAST: nil, session.KindDebug: nil,
			session.KindEval: nil, session.KindAsk: nil, session.KindVibe: nil,
		},
	}
}

// pass lets time go by in a synctest bubble.
func pass(d time.Duration) { <-time.After(d) }
