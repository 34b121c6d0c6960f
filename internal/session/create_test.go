package session_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestCreateAttachesWhatIsDeclared(t *testing.T) {
	var got session.AttachEnv
	var settings any
	h := newHarness(t, withAttacher(session.KindEval, func(_ context.Context, env session.AttachEnv, spec any) (session.Resource, error) {
		got, settings = env, spec
		return closer(func(context.Context) error { return nil }), nil
	}))
	r := h.create(alice, session.Spec{
		RunID:          "abc",
		ConversationID: "c1",
		WorkspaceRoot:  "/ws",
		Ceiling:        session.TierExec,
		Resources:      map[session.Kind]any{session.KindEval: "settings", session.KindAST: nil},
		Env:            map[string]string{"KEY": "value"},
		Labels:         map[string]string{"team": "a"},
		IdleTTL:        time.Minute,
	})
	if settings != "settings" || got.RunID != "local.abc" || got.ConversationID != "c1" ||
		got.Workspace.Root() != "/ws" || got.Env["KEY"] != "value" || got.Parent != nil {
		t.Errorf("attacher got %+v, settings %v", got, settings)
	}
	want := session.Info{
		ID: "local.abc", Replica: "local", ConversationID: "c1", WorkspaceRoot: "/ws",
		Ceiling: session.TierExec, Kinds: []session.Kind{session.KindAST, session.KindEval},
		Labels: map[string]string{"team": "a"}, IdleTTL: time.Minute, Created: h.clock(),
	}
	if info := r.Info(); !reflect.DeepEqual(info, want) {
		t.Errorf("Info = %+v\nwant   %+v", info, want)
	}
	if _, ok := r.Resource(session.KindEval); !ok {
		t.Error("eval is not attached")
	}
	if _, ok := r.Resource(session.KindLSP); ok {
		t.Error("lsp is attached without having been declared")
	}
}

func TestCreateNamesEveryBadArgument(t *testing.T) {
	spec := session.Spec{
		ConversationID: strings.Repeat("c", session.MaxConversationID+1),
		Resources:      map[session.Kind]any{session.KindAST: nil, session.KindLSP: nil},
		Env:            map[string]string{"1A": "", "B=": "", "OK": "\x00"},
		Labels:         map[string]string{"big": strings.Repeat("l", session.MaxLabelBytes)},
		IdleTTL:        -time.Second,
	}
	h := newHarness(t)
	_, err := h.Create(t.Context(), alice, spec)
	e := wantReason(t, err, toolerr.ReasonBadArgument)
	var fields []string
	for _, v := range e.Violations {
		fields = append(fields, v.Field)
	}
	want := []string{"max_tier", "conversation_id", "idle_ttl", "env", "labels", "workspace_root"}
	if !slices.Equal(fields, want) {
		t.Errorf("violations of %v, want %v: %v", fields, want, err)
	}
	if !strings.Contains(err.Error(), "required by ast, lsp") || !strings.Contains(err.Error(), "3 bad") {
		t.Errorf("error %q lacks the kinds or the count", err)
	}
}

func TestCreateBadArguments(t *testing.T) {
	with := func(change func(*session.Spec)) session.Spec {
		spec := minimal
		change(&spec)
		return spec
	}
	for name, tc := range map[string]struct {
		spec  session.Spec
		field string
	}{
		"tier above exec":        {with(func(s *session.Spec) { s.Ceiling = session.TierExec + 1 }), "max_tier"},
		"idle TTL over maximum":  {with(func(s *session.Spec) { s.IdleTTL = session.DefaultMaxIdleTTL + 1 }), "idle_ttl"},
		"control in conv. id":    {with(func(s *session.Spec) { s.ConversationID = "a\nb" }), "conversation_id"},
		"env too large":          {with(func(s *session.Spec) { s.Env = map[string]string{"A": strings.Repeat("x", session.MaxEnvBytes)} }), "env"},
		"empty env name":         {with(func(s *session.Spec) { s.Env = map[string]string{"": "x"} }), "env"},
		"files need a workspace": {with(func(s *session.Spec) { s.Resources = map[session.Kind]any{session.KindFiles: nil} }), "workspace_root"},
		"ask needs conversation": {with(func(s *session.Spec) { s.Resources = map[session.Kind]any{session.KindAsk: nil} }), "conversation_id"},
		"debug needs conversation": {with(func(s *session.Spec) {
			s.WorkspaceRoot = "/ws"
			s.Resources = map[session.Kind]any{session.KindDebug: nil}
		}), "conversation_id"},
		"bad parent id": {with(func(s *session.Spec) { s.ParentRunID = "a b" }), "parent_run_id"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			_, err := h.Create(t.Context(), alice, tc.spec)
			if e := wantReason(t, err, toolerr.ReasonBadArgument); len(e.Violations) != 1 || e.Violations[0].Field != tc.field {
				t.Errorf("violations %v: want one of %s", e.Violations, tc.field)
			}
		})
	}
}

func TestCreateIsIdempotent(t *testing.T) {
	h := newHarness(t)
	spec := full()
	spec.RunID = "abc"
	first := h.create(alice, spec)
	again := spec
	again.RunID = "local.abc"
	again.Labels = map[string]string{} // the same as none
	if second := h.create(alice, again); second != first {
		t.Error("the same request made a second run")
	}
	h.Update(alice, "abc", session.TierRead)
	if third := h.create(alice, spec); third != first {
		t.Error("a changed ceiling changed the request")
	}
	if attached := len(h.lines()); attached != len(spec.Resources) {
		t.Errorf("%d attaches for %d resources", attached, len(spec.Resources))
	}
}

func TestCreateDifferentRequestSameID(t *testing.T) {
	spec := full()
	spec.RunID = "abc"
	changes := map[string]func(*session.Spec){
		"conversation": func(s *session.Spec) { s.ConversationID = "other" },
		"workspace":    func(s *session.Spec) { s.WorkspaceRoot = "/elsewhere" },
		"ceiling":      func(s *session.Spec) { s.Ceiling = session.TierRead },
		"fewer kinds":  func(s *session.Spec) { s.Resources = map[session.Kind]any{session.KindAST: nil} },
		"settings": func(s *session.Spec) {
			s.Resources = maps.Clone(s.Resources)
			s.Resources[session.KindEval] = "other"
		},
		"env":      func(s *session.Spec) { s.Env = map[string]string{"A": "b"} },
		"labels":   func(s *session.Spec) { s.Labels = map[string]string{"a": "b"} },
		"idle TTL": func(s *session.Spec) { s.IdleTTL = time.Minute },
	}
	h := newHarness(t)
	h.create(alice, spec)
	var texts []string
	for name, change := range changes {
		other := spec
		change(&other)
		_, err := h.Create(t.Context(), alice, other)
		if e := wantReason(t, err, toolerr.ReasonRunExists); e.Kind != toolerr.AlreadyExists {
			t.Errorf("%s: kind %v", name, e.Kind)
		}
		texts = append(texts, err.Error())
	}
	_, err := h.Create(t.Context(), bob, spec)
	wantReason(t, err, toolerr.ReasonRunExists)
	texts = append(texts, err.Error())
	if len(slices.Compact(texts)) != 1 {
		t.Errorf("the texts tell whose run it is: %q", texts)
	}
}

func TestCreateSameRequestAtOnce(t *testing.T) {
	h := newHarness(t)
	spec := full()
	spec.RunID = "abc"
	var runs sync.Map
	var group sync.WaitGroup
	start := make(chan struct{})
	for range 50 {
		group.Go(func() {
			<-start
			r, err := h.Create(t.Context(), alice, spec)
			if err != nil {
				t.Errorf("Create: %v", err)
			}
			runs.Store(r, true)
		})
	}
	close(start)
	group.Wait()
	distinct := 0
	runs.Range(func(any, any) bool { distinct++; return true })
	if distinct != 1 || len(h.lines()) != len(spec.Resources) {
		t.Errorf("%d runs and %d attaches; want 1 and %d", distinct, len(h.lines()), len(spec.Resources))
	}
	if n := h.count(session.Event{Type: session.EventRunCreated}); n != 1 {
		t.Errorf("%d runs counted as created", n)
	}
}

func TestCreateAllOrNone(t *testing.T) {
	cause := errors.New("no parser")
	for name, tc := range map[string]struct {
		attacher session.Attacher
		kind     toolerr.Kind
		text     string
	}{
		"error": {
			func(context.Context, session.AttachEnv, any) (session.Resource, error) { return nil, cause },
			toolerr.FailedPrecondition, "no parser",
		},
		"bad setting": {
			func(context.Context, session.AttachEnv, any) (session.Resource, error) {
				return nil, toolerr.BadArgument("resources.lsp.warm_up_languages", "unknown language")
			},
			toolerr.InvalidArgument, "unknown language",
		},
		"panic": {
			func(context.Context, session.AttachEnv, any) (session.Resource, error) { panic("boom") },
			toolerr.FailedPrecondition, "panicked: boom",
		},
		"nothing": {
			func(context.Context, session.AttachEnv, any) (session.Resource, error) { return nil, nil },
			toolerr.FailedPrecondition, "made nothing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, withAttacher(session.KindLSP, tc.attacher))
			spec := full() // ast, ask, debug, eval and files come before lsp, vibe after
			spec.RunID = "abc"
			_, err := h.Create(t.Context(), alice, spec)
			e := wantReason(t, err, toolerr.ReasonResourceUnavailable)
			if e.Kind != tc.kind || e.Fields["resource"] != "lsp" || !strings.Contains(e.Message, tc.text) {
				t.Errorf("kind %v, fields %v, message %q", e.Kind, e.Fields, e.Message)
			}
			if strings.Contains(e.Message, "goroutine") {
				t.Errorf("message shows a stack: %q", e.Message)
			}
			lines := h.lines()
			for _, kind := range []string{"ask", "ast", "debug", "eval", "files"} {
				if !slices.Contains(lines, "close "+kind+" local.abc") {
					t.Errorf("%s was left attached: %q", kind, lines)
				}
			}
			if slices.Contains(lines, "attach vibe local.abc") || lines[len(lines)-1] != "close workspace /ws" {
				t.Errorf("log %q: want no vibe, and the workspace closed last", lines)
			}
			if h.alive(alice, "abc") || h.Stats().Runs != 0 {
				t.Error("a run is left")
			}
			if n := h.count(session.Event{Type: session.EventRunEnded, Label: string(session.CauseFailed)}); n != 1 {
				t.Errorf("%d failed creations counted", n)
			}
		})
	}
}

func TestCreateUnattachableKinds(t *testing.T) {
	h := newHarness(t, func(_ *harness, cfg *session.Config) {
		cfg.Attachers = map[session.Kind]session.Attacher{session.KindAST: cfg.Attachers[session.KindAST]}
	})
	_, err := h.Create(t.Context(), alice, full())
	e := wantReason(t, err, toolerr.ReasonResourceUnavailable)
	if e.Fields["resource"] != "ask, debug, eval, files, lsp, vibe" || !strings.HasSuffix(e.Message, "it can attach: ast") {
		t.Errorf("fields %v, message %q", e.Fields, e.Message)
	}
	if len(h.lines()) != 0 {
		t.Errorf("something was attached: %q", h.lines())
	}
}

func TestCreateWorkspaceFails(t *testing.T) {
	outside := toolerr.BadArgument("workspace_root", "no such folder")
	for name, open := range map[string]func(string) (session.Workspace, error){
		"error": func(string) (session.Workspace, error) { return nil, outside },
		"panic": func(string) (session.Workspace, error) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, func(_ *harness, cfg *session.Config) { cfg.OpenWorkspace = open })
			_, err := h.Create(t.Context(), alice, full())
			if err == nil || name == "error" && !errors.Is(err, outside) {
				t.Errorf("error %v", err)
			}
			if len(h.lines()) != 0 || h.Stats().Runs != 0 {
				t.Errorf("left behind: %q, %d runs", h.lines(), h.Stats().Runs)
			}
		})
	}
}

func TestCreateCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var h *harness
		slow := func(ctx context.Context, env session.AttachEnv, spec any) (session.Resource, error) {
			<-release // does not look at ctx
			return h.attacher(session.KindLSP, nil)(ctx, env, spec)
		}
		h = newHarness(t, withAttacher(session.KindLSP, slow))
		spec := full()
		spec.RunID = "abc"
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() {
			_, err := h.Create(ctx, alice, spec)
			result <- err
		}()
		synctest.Wait()
		if h.alive(alice, "abc") {
			t.Error("a run is visible before all is attached")
		}
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v: want the cancellation, at once", err)
		}
		close(release)
		synctest.Wait()
		if h.Stats().Runs != 0 || !slices.Contains(h.lines(), "close eval local.abc") || slices.Contains(h.lines(), "attach vibe local.abc") {
			t.Errorf("%d runs left, log %q", h.Stats().Runs, h.lines())
		}
	})
}

func TestCreateSecondCallerOutlivesTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		h := newHarness(t, withAttacher(session.KindEval, func(ctx context.Context, _ session.AttachEnv, _ any) (session.Resource, error) {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return closer(func(context.Context) error { return nil }), nil
		}))
		spec := session.Spec{RunID: "abc", Ceiling: session.TierExec, Resources: map[session.Kind]any{session.KindEval: nil}}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := h.Create(ctx, alice, spec); !errors.Is(err, context.Canceled) {
				t.Errorf("first caller: %v", err)
			}
		})
		synctest.Wait()
		group.Go(func() {
			if _, err := h.Create(t.Context(), alice, spec); err != nil {
				t.Errorf("second caller: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		group.Wait()
		if !h.alive(alice, "abc") || calls.Load() != 2 {
			t.Errorf("alive %v after %d attaches", h.alive(alice, "abc"), calls.Load())
		}
	})
}

func TestCreateWhileTheSameIDCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := newHarness(t, withClose(session.KindEval, func(context.Context) error { <-release; return nil }))
		spec := session.Spec{RunID: "abc", Ceiling: session.TierExec, Resources: map[session.Kind]any{session.KindEval: nil}}
		first := h.create(alice, spec)
		var group sync.WaitGroup
		group.Go(func() {
			if err := h.Close(t.Context(), alice, "abc"); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		synctest.Wait()
		_, err := h.Create(t.Context(), bob, spec)
		wantReason(t, err, toolerr.ReasonRunExists)
		group.Go(func() {
			second, err := h.Create(t.Context(), alice, spec)
			if err != nil || second == first {
				t.Errorf("Create = same run %v, error %v: want a new run", second == first, err)
			}
		})
		synctest.Wait()
		if got := h.lines(); len(got) != 2 {
			t.Errorf("log %q: the second run began before the first was gone", got)
		}
		close(release)
		group.Wait()
		other := spec
		other.IdleTTL = time.Minute
		_, err = h.Create(t.Context(), alice, other)
		wantReason(t, err, toolerr.ReasonRunExists)
	})
}

func TestCreateLimits(t *testing.T) {
	h := newHarness(t, func(_ *harness, cfg *session.Config) {
		cfg.MaxRuns, cfg.MaxRunsPerPrincipal = 3, 2
	})
	named := minimal
	named.RunID = "abc"
	h.create(alice, named)
	second := h.create(alice, minimal)
	_, err := h.Create(t.Context(), alice, minimal)
	wantLimit(t, err, "max_runs_per_principal", "2")
	h.create(bob, minimal)
	_, err = h.Create(t.Context(), bob, minimal)
	wantLimit(t, err, "max_runs", "3")
	h.create(alice, named) // no new run, so no limit
	if err := h.Close(t.Context(), alice, second.ID()); err != nil {
		t.Fatal(err)
	}
	h.create(alice, minimal)
	for limit, want := range map[string]int{"max_runs": 1, "max_runs_per_principal": 1} {
		if n := h.count(session.Event{Type: session.EventLimitRejected, Label: limit}); n != want {
			t.Errorf("%s counted %d times, want %d", limit, n, want)
		}
	}
}

func wantLimit(t *testing.T, err error, name, value string) {
	t.Helper()
	if e := wantReason(t, err, toolerr.ReasonLimit); e.Fields["limit"] != name || e.Fields["value"] != value || e.Kind != toolerr.ResourceExhausted {
		t.Errorf("kind %v, fields %v: want limit %s of %s", e.Kind, e.Fields, name, value)
	}
}

func TestConfigIsChecked(t *testing.T) {
	open := func(string) (session.Workspace, error) { return nil, nil }
	for name, cfg := range map[string]session.Config{
		"no workspaces":     {},
		"bad replica":       {OpenWorkspace: open, Replica: "a.b"},
		"negative limit":    {OpenWorkspace: open, MaxRuns: -1},
		"negative TTL":      {OpenWorkspace: open, DefaultIdleTTL: -1},
		"default above max": {OpenWorkspace: open, DefaultIdleTTL: time.Hour, MaxIdleTTL: time.Minute},
	} {
		if _, err := session.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
