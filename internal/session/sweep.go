package session

import (
	"context"
	"time"
)

// RunSweeper ends idle runs and slots whose TTL is over, until ctx ends. One
// goroutine per Manager.
func (m *Manager) RunSweeper(ctx context.Context) {
	ticker := time.NewTicker(m.cfg.SweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.Sweep()
		}
	}
}

// Sweep is one look of the sweeper: it starts the end of every run that has
// been idle for its idle TTL and of every slot held for its TTL, and returns
// how many. It waits for none of them, so that one that hangs holds up no
// other.
//
// It looks at every run, because that takes a millisecond for ten thousand
// and leaves nothing to keep in step with each call.
func (m *Manager) Sweep() int {
	now := m.cfg.Now()
	runs, slots := m.due(now)
	swept := 0
	for _, r := range runs {
		if m.sweepRun(r, now) {
			swept++
			m.observe(EventSwept, sweptRun)
		}
	}
	for _, s := range slots {
		if m.sweepSlot(s) {
			swept++
			m.observe(EventSwept, s.key.name)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastSweep = now
	return swept
}

// due returns what has had its time. Ending it is not done here, so that
// calls do not wait while thousands of runs end.
func (m *Manager) due(now time.Time) (runs []*Run, slots []*Slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.idleLocked(now) {
			runs = append(runs, r)
		}
	}
	for _, s := range m.slots {
		if !s.ending && !s.expires.After(now) {
			slots = append(slots, s)
		}
	}
	return runs, slots
}

// sweepRun ends a run, unless a call came since it was found idle.
func (m *Manager) sweepRun(r *Run, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !r.idleLocked(now) {
		return false
	}
	m.endLocked(r, CauseIdle)
	return true
}

// sweepSlot ends a slot, unless it was given back since it was found due.
func (m *Manager) sweepSlot(s *Slot) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.expireSlotLocked(s, CauseTTL)
}

// idleLocked reports whether a live run has been idle for its idle TTL.
func (r *Run) idleLocked(now time.Time) bool {
	return r.state == live && now.Sub(r.lastActiveLocked(now)) >= r.spec.IdleTTL
}
