package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// childOf returns a spec like full for a child of parent.
func childOf(parent *session.Run, id string) session.Spec {
	spec := full()
	spec.RunID, spec.ParentRunID, spec.WorkspaceRoot = id, parent.ID(), ""
	return spec
}

func TestChildSeesItsParent(t *testing.T) {
	var envs []session.AttachEnv
	h := newHarness(t, withAttacher(session.KindEval, func(_ context.Context, env session.AttachEnv, _ any) (session.Resource, error) {
		envs = append(envs, env)
		return closer(func(context.Context) error { return nil }), nil
	}))
	parent := h.create(alice, full())
	child := h.create(alice, childOf(parent, "child"))
	if len(envs) != 2 || envs[0].Parent != nil || envs[1].Parent != parent {
		t.Fatalf("attachers saw %+v", envs)
	}
	shared, ok := envs[1].Parent.Resource(session.KindEval)
	if own, _ := child.Resource(session.KindEval); !ok || shared == nil || own == nil {
		t.Error("the parent's resource cannot be reached, or the child has none of its own")
	}
	if info := child.Info(); info.ParentID != parent.ID() || info.WorkspaceRoot != "/ws" {
		t.Errorf("parent %q, workspace %q: want the parent's", info.ParentID, info.WorkspaceRoot)
	}
}

func TestChildWorkspace(t *testing.T) {
	for root, inside := range map[string]bool{
		"":           true,
		"/ws":        true,
		"/ws/sub":    true,
		"/ws/..x":    true,
		"/":          false,
		"/wsx":       false,
		"/other":     false,
		"/ws/../etc": false,
	} {
		t.Run(root, func(t *testing.T) {
			h := newHarness(t)
			spec := childOf(h.create(alice, full()), "child")
			spec.WorkspaceRoot = root
			_, err := h.Create(t.Context(), alice, spec)
			if inside {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := wantReason(t, err, toolerr.ReasonBadArgument); e.Violations[0].Field != "workspace_root" {
				t.Errorf("violations %v", e.Violations)
			}
			if lines := h.lines(); lines[len(lines)-1] != "close workspace "+map[bool]string{true: "/etc", false: root}[root == "/ws/../etc"] {
				t.Errorf("log %q: the refused workspace was left open", lines)
			}
		})
	}
}

func TestChildOfParentWithoutWorkspace(t *testing.T) {
	h := newHarness(t)
	parent := h.create(alice, minimal)
	for name, spec := range map[string]session.Spec{
		"own workspace":   {Ceiling: session.TierRead, ParentRunID: parent.ID(), WorkspaceRoot: "/ws"},
		"kind that needs": {Ceiling: session.TierRead, ParentRunID: parent.ID(), Resources: map[session.Kind]any{session.KindAST: nil}},
	} {
		_, err := h.Create(t.Context(), alice, spec)
		if e := wantReason(t, err, toolerr.ReasonBadArgument); e.Violations[0].Field != "workspace_root" {
			t.Errorf("%s: violations %v", name, e.Violations)
		}
	}
	h.create(alice, session.Spec{Ceiling: session.TierRead, ParentRunID: parent.ID()})
}

func TestChildCeiling(t *testing.T) {
	h := newHarness(t)
	spec := full()
	spec.Ceiling = session.TierWrite
	parent := h.create(alice, spec)
	_, err := h.Create(t.Context(), alice, childOf(parent, "child"))
	e := wantReason(t, err, toolerr.ReasonBadArgument)
	if e.Message != "max_tier: exec is above the parent run's ceiling, write" {
		t.Errorf("message %q", e.Message)
	}
	childSpec := childOf(parent, "child")
	childSpec.Ceiling = session.TierWrite
	child := h.create(alice, childSpec)
	_, err = h.Update(alice, child.ID(), session.TierExec)
	wantReason(t, err, toolerr.ReasonBadArgument)

	grandSpec := childOf(child, "grandchild")
	grandSpec.Ceiling = session.TierWrite
	grandchild := h.create(alice, grandSpec)
	edit := session.Requirement{Tier: session.TierWrite, Kind: session.KindAST}
	for _, ceiling := range []session.Tier{session.TierRead, session.TierExec} {
		if _, err := h.Update(alice, parent.ID(), ceiling); err != nil {
			t.Fatal(err)
		}
		want := min(ceiling, session.TierWrite) // their own ceiling stays
		for _, r := range []*session.Run{child, grandchild} {
			if r.Info().Ceiling != want || r.Allows(edit) != (want == session.TierWrite) {
				t.Errorf("parent at %s: %s at %s", ceiling, r.ID(), r.Info().Ceiling)
			}
		}
	}
	h.Update(alice, parent.ID(), session.TierRead)
	_, err = h.Update(alice, grandchild.ID(), session.TierWrite)
	wantReason(t, err, toolerr.ReasonBadArgument)
}

func TestParentMustLive(t *testing.T) {
	h := newHarness(t)
	parent := h.create(alice, full())
	if err := h.Close(t.Context(), alice, parent.ID()); err != nil {
		t.Fatal(err)
	}
	_, err := h.Create(t.Context(), alice, childOf(parent, "child"))
	wantReason(t, err, toolerr.ReasonRunNotFound)
}

func TestDepthIsBounded(t *testing.T) {
	h := newHarness(t)
	r := h.create(alice, minimal)
	for range session.MaxDepth {
		r = h.create(alice, session.Spec{Ceiling: session.TierRead, ParentRunID: r.ID()})
	}
	_, err := h.Create(t.Context(), alice, session.Spec{Ceiling: session.TierRead, ParentRunID: r.ID()})
	wantLimit(t, err, "max_run_depth", "8")
}

func TestChildrenEndBeforeTheirParent(t *testing.T) {
	h := newHarness(t)
	eval := map[session.Kind]any{session.KindEval: nil}
	parent := h.create(alice, session.Spec{RunID: "p", Ceiling: session.TierExec, Resources: eval})
	child := h.create(alice, session.Spec{RunID: "c", Ceiling: session.TierExec, Resources: eval, ParentRunID: parent.ID()})
	h.create(alice, session.Spec{RunID: "g", Ceiling: session.TierExec, Resources: eval, ParentRunID: child.ID()})
	ctx, call := h.begin(alice, "g")
	go func() {
		<-ctx.Done()
		call.Done()
	}()
	if err := h.Close(t.Context(), alice, "p"); err != nil {
		t.Fatal(err)
	}
	want := []string{"close eval local.g", "close eval local.c", "close eval local.p"}
	if got := h.lines()[3:]; !slices.Equal(got, want) {
		t.Errorf("closed %q, want %q", got, want)
	}
	if e := wantReason(t, context.Cause(ctx), toolerr.ReasonRunEnded); e.Fields["cause"] != string(session.CauseParent) {
		t.Errorf("cause %v", e.Fields)
	}
	if h.Stats().Runs != 0 {
		t.Errorf("%d runs left", h.Stats().Runs)
	}
}

func TestClosingAChildLeavesTheParent(t *testing.T) {
	h := newHarness(t)
	parent := h.create(alice, minimal)
	child := h.create(alice, session.Spec{Ceiling: session.TierRead, ParentRunID: parent.ID()})
	if err := h.Close(t.Context(), alice, child.ID()); err != nil {
		t.Fatal(err)
	}
	if !h.alive(alice, parent.ID()) {
		t.Error("the parent ended with its child")
	}
}

func TestParentEndsWhileAChildIsCreated(t *testing.T) {
	for name, stubborn := range map[string]bool{"attacher that listens": false, "attacher that does not": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				h := newHarness(t, withAttacher(session.KindEval, func(ctx context.Context, _ session.AttachEnv, _ any) (session.Resource, error) {
					if !stubborn {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					<-release
					return closer(func(context.Context) error { return errors.New("late") }), nil
				}))
				h.create(alice, session.Spec{RunID: "p", Ceiling: session.TierExec})
				created := make(chan error, 1)
				go func() {
					_, err := h.Create(t.Context(), alice, session.Spec{
						RunID: "c", Ceiling: session.TierExec, ParentRunID: "p",
						Resources: map[session.Kind]any{session.KindEval: nil},
					})
					created <- err
				}()
				synctest.Wait()
				start := time.Now()
				if err := h.Close(t.Context(), alice, "p"); err != nil {
					t.Errorf("Close: %v", err)
				}
				want := time.Duration(0)
				if stubborn {
					want = session.DefaultCloseTimeout
				}
				if took := time.Since(start); took != want {
					t.Errorf("the parent took %s to end, want %s", took, want)
				}
				close(release)
				if e := wantReason(t, <-created, toolerr.ReasonRunEnded); e.Fields["cause"] != string(session.CauseParent) {
					t.Errorf("fields %v", e.Fields)
				}
				if h.Stats().Runs != 0 {
					t.Errorf("%d runs left", h.Stats().Runs)
				}
			})
		})
	}
}
