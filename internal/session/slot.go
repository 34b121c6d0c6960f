package session

import (
	"context"
	"fmt"
	"time"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// slotKey is what a slot is unique for. The principal is part of it because a
// conversation id is only a name that callers choose.
type slotKey struct {
	principal    Principal
	conversation string
	name         string
}

// Slot is a conversation's one place for something that lasts between calls,
// such as its debug session. It is held by one run at a time, for at most its
// TTL.
type Slot struct {
	run      *Run
	key      slotKey
	acquired time.Time
	expires  time.Time
	expire   func(context.Context, Cause) error
	freed    chan struct{} // closed when the slot may be taken again

	ending bool // guarded by run.m.mu: given back, or expire is being called
}

// AcquireSlot takes the conversation's slot of that name, across all runs of
// the conversation. While it is held, a second holder gets SESSION_LIVE, which
// says who holds it and since when.
//
// The holder gives it back with Release. After ttl, whether or not calls are
// in flight, or when the run ends, expire is called instead: once, on a
// goroutine of its own, with a context that ends after Config.CloseTimeout.
// It must end whatever the slot stands for; the slot is free when it returns,
// or is left behind.
//
// name labels metrics, so it must come from a closed set. ttl must be
// positive.
func (r *Run) AcquireSlot(name string, ttl time.Duration, expire func(ctx context.Context, cause Cause) error) (*Slot, error) {
	if ttl <= 0 {
		return nil, fmt.Errorf("acquire slot %q of run %q: ttl is %s", name, r.id, ttl)
	}
	if r.spec.ConversationID == "" {
		return nil, toolerr.BadArgument("conversation_id", "run %q has none, and a %s session belongs to a conversation; create a run with one", r.id, name)
	}
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.state != live {
		return nil, runNotFound(r.id)
	}
	key := slotKey{r.principal, r.spec.ConversationID, name}
	now := m.cfg.Now()
	if held, taken := m.slots[key]; taken {
		return nil, sessionLive(held, now)
	}
	s := &Slot{run: r, key: key, acquired: now, expires: now.Add(ttl), expire: expire, freed: make(chan struct{})}
	m.slots[key] = s
	if r.slots == nil {
		r.slots = map[*Slot]struct{}{}
	}
	r.slots[s] = struct{}{}
	return s, nil
}

// Expires returns when the slot's TTL ends.
func (s *Slot) Expires() time.Time { return s.expires }

// Release gives the slot back without a call of expire, and reports whether it
// did: not when the slot was given back before, and not when expire was
// called, which may call Release itself.
func (s *Slot) Release() bool {
	m := s.run.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.ending {
		return false
	}
	s.ending = true
	m.freeSlotLocked(s)
	return true
}

func (m *Manager) freeSlotLocked(s *Slot) {
	delete(m.slots, s.key)
	delete(s.run.slots, s)
	close(s.freed)
}

// expireSlotLocked starts the end of a slot, and reports whether it did: not
// when the end had begun.
func (m *Manager) expireSlotLocked(s *Slot, cause Cause) bool {
	if s.ending {
		return false
	}
	s.ending = true
	go m.expireSlot(s, cause)
	return true
}

func (m *Manager) expireSlot(s *Slot, cause Cause) {
	err := m.bounded(s.key.name, func(ctx context.Context) error { return s.expire(ctx, cause) })
	m.logFailure(s.run, s.key.name, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freeSlotLocked(s)
}
