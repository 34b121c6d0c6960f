package session_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestRunIDs(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, tc := range []struct {
		id     string
		want   string
		reason toolerr.Reason
	}{
		{id: "abc", want: "local.abc"},
		{id: "local.abc", want: "local.abc"},
		{id: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", want: "local.6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{id: "A_1-z", want: "local.A_1-z"},
		{id: long, want: "local." + long},
		{id: long + "x", reason: toolerr.ReasonBadArgument},
		{id: "other.abc", reason: toolerr.ReasonWrongReplica},
		{id: "Local.abc", reason: toolerr.ReasonWrongReplica},
		{id: ".abc", reason: toolerr.ReasonBadArgument},
		{id: "local.", reason: toolerr.ReasonBadArgument},
		{id: "local.a.b", reason: toolerr.ReasonBadArgument},
		{id: "-abc", reason: toolerr.ReasonBadArgument},
		{id: "_abc", reason: toolerr.ReasonBadArgument},
		{id: "a b", reason: toolerr.ReasonBadArgument},
		{id: "a/b", reason: toolerr.ReasonBadArgument},
		{id: "a\n", reason: toolerr.ReasonBadArgument},
		{id: "zażółć", reason: toolerr.ReasonBadArgument},
		{id: "\xff", reason: toolerr.ReasonBadArgument},
	} {
		t.Run(tc.id, func(t *testing.T) {
			h := newHarness(t)
			spec := minimal
			spec.RunID = tc.id
			r, err := h.Create(t.Context(), alice, spec)
			if tc.reason != "" {
				wantReason(t, err, tc.reason)
				_, err = h.Get(alice, tc.id)
				wantReason(t, err, tc.reason)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.ID() != tc.want {
				t.Errorf("id %q, want %q", r.ID(), tc.want)
			}
			for _, address := range []string{tc.id, tc.want} {
				if got, err := h.Get(alice, address); err != nil || got != r {
					t.Errorf("Get(%q) = %v, %v: want the run", address, got, err)
				}
			}
		})
	}
}

func TestMissingRunID(t *testing.T) {
	h := newHarness(t)
	_, err := h.Get(alice, "")
	if e := wantReason(t, err, toolerr.ReasonBadArgument); e.Violations[0].Field != "run_id" {
		t.Errorf("violations %v: want run_id", e.Violations)
	}
}

func TestWrongReplicaNamesTheOwner(t *testing.T) {
	h := newHarness(t, func(_ *harness, cfg *session.Config) { cfg.Replica = "toolsd-1" })
	r := h.create(alice, minimal)
	if !regexp.MustCompile(`^toolsd-1\.[a-z2-7]{13}$`).MatchString(r.ID()) {
		t.Errorf("made id %q", r.ID())
	}
	_, _, err := h.Begin(t.Context(), alice, "toolsd-0.abc")
	if e := wantReason(t, err, toolerr.ReasonWrongReplica); e.Fields["owner"] != "toolsd-0" || e.Kind != toolerr.FailedPrecondition {
		t.Errorf("kind %v, fields %v: want owner toolsd-0", e.Kind, e.Fields)
	}
	child := minimal
	child.ParentRunID = "toolsd-2.abc"
	_, err = h.Create(t.Context(), alice, child)
	if e := wantReason(t, err, toolerr.ReasonWrongReplica); e.Fields["owner"] != "toolsd-2" {
		t.Errorf("fields %v: want owner toolsd-2", e.Fields)
	}
}

func TestMadeIDsDiffer(t *testing.T) {
	h := newHarness(t)
	seen := map[string]bool{}
	for range 1000 {
		seen[h.create(alice, minimal).ID()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d ids for 1000 runs", len(seen))
	}
}

// FuzzRunID checks that an id is refused or has one full form, which is its
// own and has a fixed alphabet.
func FuzzRunID(f *testing.F) {
	for _, seed := range []string{"abc", "local.abc", "other.abc", "a.b.c", "", ".", "-", "\x00", "ą", strings.Repeat("a", 200)} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`\Alocal\.[A-Za-z0-9][A-Za-z0-9_-]{0,63}\z`)
	m, err := session.New(session.Config{
		OpenWorkspace: func(string) (session.Workspace, error) { return nil, nil },
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" {
			return // the daemon makes one
		}
		spec := minimal
		spec.RunID = id
		r, err := m.Create(t.Context(), alice, spec)
		if err != nil {
			if !toolerr.Is(err, toolerr.ReasonBadArgument) && !toolerr.Is(err, toolerr.ReasonWrongReplica) {
				t.Fatalf("Create(%q): %v", id, err)
			}
			return
		}
		if !form.MatchString(r.ID()) {
			t.Fatalf("id %q became %q", id, r.ID())
		}
		if again, err := m.Get(alice, r.ID()); err != nil || again != r {
			t.Fatalf("Get(%q) = %v, %v", r.ID(), again, err)
		}
		if err := m.Close(t.Context(), alice, id); err != nil {
			t.Fatal(err)
		}
	})
}
