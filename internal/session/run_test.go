package session_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestAllows(t *testing.T) {
	lsp := session.Requirement{Tier: session.TierRead, Kind: session.KindLSP, Workspace: true}
	rename := session.Requirement{Tier: session.TierWrite, Kind: session.KindLSP, Workspace: true}
	debug := session.Requirement{Tier: session.TierExec, Kind: session.KindDebug, Workspace: true, Conversation: true}
	eval := session.Requirement{Tier: session.TierExec, Kind: session.KindEval}

	everything := full()
	write := full()
	write.Ceiling = session.TierWrite
	read := full()
	read.Ceiling = session.TierRead
	bare := session.Spec{Ceiling: session.TierExec}
	for _, tc := range []struct {
		name string
		spec session.Spec
		need session.Requirement
		want bool
	}{
		{"read tool under exec", everything, lsp, true},
		{"exec tool under exec", everything, debug, true},
		{"write tool under write", write, rename, true},
		{"exec tool under write", write, eval, false},
		{"read tool under read", read, lsp, true},
		{"write tool under read", read, rename, false},
		{"nothing attached", bare, eval, false},
		{"no kind needed", bare, session.Requirement{Tier: session.TierExec}, true},
		{"no workspace", bare, session.Requirement{Tier: session.TierRead, Workspace: true}, false},
		{"no conversation", bare, session.Requirement{Tier: session.TierRead, Conversation: true}, false},
		{"no tier said", everything, session.Requirement{Kind: session.KindLSP}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := newHarness(t).create(alice, tc.spec).Allows(tc.need); got != tc.want {
				t.Errorf("Allows(%+v) = %v", tc.need, got)
			}
		})
	}
}

func TestUpdateMovesTheCeiling(t *testing.T) {
	h := newHarness(t)
	spec := full()
	spec.RunID = "abc"
	r := h.create(alice, spec)
	edit := session.Requirement{Tier: session.TierWrite, Kind: session.KindAST, Workspace: true}
	for _, step := range []struct {
		ceiling session.Tier
		want    bool
	}{{session.TierRead, false}, {session.TierWrite, true}, {session.TierRead, false}, {session.TierExec, true}} {
		updated, err := h.Update(alice, "abc", step.ceiling)
		if err != nil || updated != r {
			t.Fatalf("Update(%s): %v", step.ceiling, err)
		}
		if r.Info().Ceiling != step.ceiling || r.Allows(edit) != step.want {
			t.Errorf("at %s: ceiling %s, ast_edit %v", step.ceiling, r.Info().Ceiling, r.Allows(edit))
		}
	}
	_, err := h.Update(alice, "abc", 0)
	wantReason(t, err, toolerr.ReasonBadArgument)
}

// TestAnotherPrincipalsRun checks that it cannot be told from one that never
// was, by any method that takes an id.
func TestAnotherPrincipalsRun(t *testing.T) {
	h := newHarness(t)
	secret := minimal
	secret.RunID = "secret"
	h.create(alice, secret)
	ctx := t.Context()
	for name, call := range map[string]func(id string) error{
		"Get":         func(id string) error { _, err := h.Get(bob, id); return err },
		"Update":      func(id string) error { _, err := h.Update(bob, id, session.TierRead); return err },
		"Close":       func(id string) error { return h.Close(ctx, bob, id) },
		"Begin":       func(id string) error { _, _, err := h.Begin(ctx, bob, id); return err },
		"BeginStream": func(id string) error { _, _, err := h.BeginStream(ctx, bob, id); return err },
		"Create child": func(id string) error {
			_, err := h.Create(ctx, bob, session.Spec{Ceiling: session.TierRead, ParentRunID: id})
			return err
		},
	} {
		foreign := wantReason(t, call("secret"), toolerr.ReasonRunNotFound)
		unknown := wantReason(t, call("absent"), toolerr.ReasonRunNotFound)
		if strings.ReplaceAll(foreign.Message, "secret", "absent") != unknown.Message || foreign.Kind != unknown.Kind ||
			len(foreign.Fields) != len(unknown.Fields) {
			t.Errorf("%s: %+v differs from %+v", name, foreign, unknown)
		}
	}
	if runs, _, err := h.List(bob, 0, ""); err != nil || len(runs) != 0 {
		t.Errorf("List = %v, %v", runs, err)
	}
	if !h.alive(alice, "secret") {
		t.Error("the run did not survive")
	}
}

func TestClosedRunIsNotFound(t *testing.T) {
	h := newHarness(t)
	r := h.create(alice, minimal)
	if err := h.Close(t.Context(), alice, r.ID()); err != nil {
		t.Fatal(err)
	}
	_, err := h.Get(alice, r.ID())
	wantReason(t, err, toolerr.ReasonRunNotFound)
	_, _, err = h.Begin(t.Context(), alice, r.ID())
	wantReason(t, err, toolerr.ReasonRunNotFound)
	wantReason(t, h.Close(t.Context(), alice, r.ID()), toolerr.ReasonRunNotFound)
}

func TestListPages(t *testing.T) {
	h := newHarness(t)
	var want []string
	for i := range 250 {
		want = append(want, h.create(alice, minimal).ID())
		if i%3 == 0 {
			h.create(bob, minimal)
		}
	}
	for _, size := range []int{0, 1, 7, 250, session.MaxPageSize} {
		var got []string
		token := ""
		for {
			page, next, err := h.List(alice, size, token)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				got = append(got, r.ID())
			}
			if token = next; next == "" {
				break
			}
			if bound := max(size, 1); size > 0 && len(page) != bound || size == 0 && len(page) != session.DefaultPageSize {
				t.Fatalf("size %d: a page of %d that is not the last", size, len(page))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("size %d: %d runs, want %d in order of creation", size, len(got), len(want))
		}
	}
}

func TestListBetweenChanges(t *testing.T) {
	h := newHarness(t)
	var runs []*session.Run
	for range 6 {
		runs = append(runs, h.create(alice, minimal))
	}
	_, token, err := h.List(alice, 3, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, closed := range []int{0, 2, 4} { // 2 is what the token stands for
		if err := h.Close(t.Context(), alice, runs[closed].ID()); err != nil {
			t.Fatal(err)
		}
	}
	newest := h.create(alice, minimal)
	page, next, err := h.List(alice, 3, token)
	if err != nil || next != "" {
		t.Fatalf("next %q, error %v", next, err)
	}
	if want := []*session.Run{runs[3], runs[5], newest}; !slices.Equal(page, want) {
		t.Errorf("second page %v, want %v", page, want)
	}
}

func TestListHasLiveRunsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := newHarness(t,
			withClose(session.KindEval, func(context.Context) error { <-release; return nil }),
			withAttacher(session.KindVibe, func(context.Context, session.AttachEnv, any) (session.Resource, error) {
				<-release
				return closer(func(context.Context) error { return nil }), nil
			}))
		var group sync.WaitGroup
		ending := h.create(alice, session.Spec{Ceiling: session.TierRead, Resources: map[session.Kind]any{session.KindEval: nil}})
		group.Go(func() { _ = h.Close(t.Context(), alice, ending.ID()) })
		group.Go(func() {
			_, _ = h.Create(t.Context(), alice, session.Spec{Ceiling: session.TierRead, Resources: map[session.Kind]any{session.KindVibe: nil}})
		})
		lives := h.create(alice, minimal)
		synctest.Wait()
		if page, _, err := h.List(alice, 0, ""); err != nil || len(page) != 1 || page[0] != lives || h.Stats().Runs != 3 {
			t.Errorf("List = %v, %v of %d runs: want the live one", page, err, h.Stats().Runs)
		}
		close(release)
		group.Wait()
	})
}

func TestListBadArguments(t *testing.T) {
	h := newHarness(t)
	for _, size := range []int{-1, session.MaxPageSize + 1} {
		_, _, err := h.List(alice, size, "")
		wantReason(t, err, toolerr.ReasonBadArgument)
	}
	for _, token := range []string{"!", "-1", "a b", strings.Repeat("z", 100)} {
		_, _, err := h.List(alice, 1, token)
		wantReason(t, err, toolerr.ReasonBadArgument)
	}
}

func TestTierNames(t *testing.T) {
	for tier, want := range map[session.Tier]string{
		session.TierRead: "read", session.TierWrite: "write", session.TierExec: "exec", 0: "tier(0)",
	} {
		if tier.String() != want {
			t.Errorf("%d is %q, want %q", tier, tier.String(), want)
		}
	}
}
