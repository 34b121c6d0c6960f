package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// ledger counts what was opened and closed; a second close is a fault.
type ledger struct {
	t      *testing.T
	opened atomic.Int64
	closed atomic.Int64
}

func (l *ledger) open() func() {
	l.opened.Add(1)
	var once atomic.Bool
	return func() {
		if once.Swap(true) {
			l.t.Error("closed twice")
		}
		l.closed.Add(1)
	}
}

type ledgerWorkspace struct {
	root  string
	close func()
}

func (w ledgerWorkspace) Root() string { return w.root }
func (w ledgerWorkspace) Close() error { w.close(); return nil }

// TestStress does everything at once, on few ids so that the operations meet,
// and then checks that nothing is left and everything was closed once.
func TestStress(t *testing.T) {
	const workers, steps = 8, 1500
	l := &ledger{t: t}
	h := newHarness(t, func(_ *harness, cfg *session.Config) {
		cfg.OpenWorkspace = func(root string) (session.Workspace, error) {
			return ledgerWorkspace{root, l.open()}, nil
		}
		cfg.Attachers = map[session.Kind]session.Attacher{}
		for _, kind := range []session.Kind{session.KindAST, session.KindEval, session.KindLSP} {
			cfg.Attachers[kind] = func(context.Context, session.AttachEnv, any) (session.Resource, error) {
				if rand.IntN(10) == 0 {
					return nil, errors.New("bad luck")
				}
				closed := l.open()
				return closer(func(context.Context) error { closed(); return nil }), nil
			}
		}
		cfg.MaxRuns, cfg.MaxRunsPerPrincipal = 12, 8
	})
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			s := stressor{h: h, l: l, rand: rand.New(rand.NewPCG(1, uint64(w)))}
			for range steps {
				s.step()
			}
		})
	}
	group.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Drain(ctx); err != nil {
		t.Errorf("Drain: %v", err)
	}
	if stats := h.Stats(); stats.Runs != 0 || stats.Calls != 0 || len(stats.Slots) != 0 {
		t.Errorf("left: %+v", stats)
	}
	h.advance(48 * time.Hour)
	if n := h.Sweep(); n != 0 {
		t.Errorf("the sweeper still knows %d runs and slots", n)
	}
	if opened, closed := l.opened.Load(), l.closed.Load(); opened != closed || opened == 0 {
		t.Errorf("%d opened, %d closed", opened, closed)
	}
}

// stressor is one worker of TestStress.
type stressor struct {
	h    *harness
	l    *ledger
	rand *rand.Rand
}

func (s *stressor) id() string { return fmt.Sprintf("r%d", s.rand.IntN(10)) }

func (s *stressor) principal() session.Principal {
	return []session.Principal{alice, alice, alice, bob}[s.rand.IntN(4)]
}

func (s *stressor) step() {
	ctx := s.l.t.Context()
	if s.rand.IntN(4) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		time.AfterFunc(time.Duration(s.rand.IntN(100))*time.Microsecond, cancel)
	}
	var err error
	switch s.rand.IntN(10) {
	case 0, 1, 2:
		_, err = s.h.Create(ctx, s.principal(), s.spec())
	case 3:
		err = s.h.Close(ctx, s.principal(), s.id())
	case 4:
		_, err = s.h.Update(s.principal(), s.id(), session.Tier(1+s.rand.IntN(3)))
	case 5:
		s.h.advance(time.Duration(s.rand.IntN(20)) * time.Second)
		s.h.Sweep()
	case 6:
		_, _, err = s.h.List(s.principal(), 3, "")
		s.h.Stats()
	default:
		err = s.call(ctx)
	}
	if _, known := toolerr.As(err); err != nil && !known && !errors.Is(err, context.Canceled) {
		s.l.t.Errorf("error without a reason: %v", err)
	}
}

func (s *stressor) spec() session.Spec {
	spec := session.Spec{
		RunID:          s.id(),
		ConversationID: "c",
		Ceiling:        session.TierRead,
		WorkspaceRoot:  "/ws",
		Resources:      map[session.Kind]any{session.KindAST: nil, session.KindEval: nil, session.KindLSP: nil},
		IdleTTL:        time.Minute,
	}
	if s.rand.IntN(3) == 0 {
		spec.ParentRunID = s.id()
	}
	return spec
}

// call begins a call, takes and perhaps keeps the conversation's slot, and
// reads what a tool would.
func (s *stressor) call(ctx context.Context) error {
	_, call, err := s.h.Begin(ctx, s.principal(), s.id())
	if err != nil {
		return err
	}
	defer call.Done()
	r := call.Run()
	r.Info()
	r.Allows(session.Requirement{Tier: session.TierRead, Kind: session.KindAST})
	closed := s.l.open()
	slot, err := r.AcquireSlot(debugSlot, time.Minute, func(context.Context, session.Cause) error { closed(); return nil })
	if err != nil {
		closed()
		return err
	}
	if s.rand.IntN(4) == 0 {
		// The run or its conversation keeps it until something ends it.
		return nil
	}
	// Either the release comes first or the expiry; the ledger would see both.
	if slot.Release() {
		closed()
	}
	return nil
}
