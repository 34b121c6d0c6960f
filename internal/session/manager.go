package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Principal is who a caller is, as authenticated by the server. Runs of
// different principals cannot see each other.
type Principal string

// Manager is the run map. Its methods are safe for concurrent use.
type Manager struct {
	cfg Config

	mu sync.Mutex // guards what follows, and the changing part of runs and slots

	runs map[string]*Run
	// owned has every run of runs under its principal, in order of creation.
	owned     map[Principal][]*Run
	slots     map[slotKey]*Slot
	lastSeq   uint64 // of the newest run
	calls     int    // in flight in all runs, streams left out
	lastSweep time.Time
	draining  bool
	quiet     chan struct{} // set by Drain; closed when calls is 0
}

// New returns an empty Manager. It starts no goroutine; the owner starts
// RunSweeper, and ends with Drain.
func New(cfg Config) (*Manager, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Manager{
		cfg:   cfg,
		runs:  map[string]*Run{},
		owned: map[Principal][]*Run{},
		slots: map[slotKey]*Slot{},
	}, nil
}

// Get returns a live run of the principal. It is RUN_NOT_FOUND for any other
// and WRONG_REPLICA for an id of another replica; so are all methods that
// take an id. Looking at a run does not keep it from being idle.
func (m *Manager) Get(principal Principal, id string) (*Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.liveLocked(principal, "run_id", id)
}

// liveLocked finds a live run; field is where id came from.
func (m *Manager) liveLocked(principal Principal, field, id string) (*Run, error) {
	r, err := m.findLocked(principal, field, id)
	if err == nil && r.state != live {
		return nil, runNotFound(r.id)
	}
	return r, err
}

// findLocked finds a run of the principal in any state.
func (m *Manager) findLocked(principal Principal, field, id string) (*Run, error) {
	id, err := m.resolveID(field, id)
	if err != nil {
		return nil, err
	}
	r, ok := m.runs[id]
	if !ok || r.principal != principal {
		return nil, runNotFound(id)
	}
	return r, nil
}

// Update moves a run's own ceiling: plan mode on (TierRead) and off. A
// ceiling above the parent's is BAD_ARGUMENT. Lowering it lowers what the
// children may do, from their next call on; calls in flight are not cut.
func (m *Manager) Update(principal Principal, id string, ceiling Tier) (*Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.liveLocked(principal, "run_id", id)
	if err != nil {
		return nil, err
	}
	if err := checkCeilingLocked(ceiling, r.parent); err != nil {
		return nil, err
	}
	r.ceiling = ceiling
	r.lastActive = m.cfg.Now()
	return r, nil
}

// Close ends a run and returns when everything it owned is gone, its children
// first. A failure to release something is returned, but the run is gone
// nevertheless. When ctx ends first, Close returns and the run still ends.
// Closing a run that is ending waits for the same end; one that has ended is
// RUN_NOT_FOUND, which a caller that repeats itself may take for success.
func (m *Manager) Close(ctx context.Context, principal Principal, id string) error {
	r, err := m.startClose(principal, id)
	if err != nil {
		return err
	}
	select {
	case <-r.done:
		return r.endErr
	case <-ctx.Done():
		return fmt.Errorf("close run %q: it is still ending: %w", r.id, context.Cause(ctx))
	}
}

// startClose returns a run whose end has begun.
func (m *Manager) startClose(principal Principal, id string) (*Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.findLocked(principal, "run_id", id)
	if err != nil {
		return nil, err
	}
	switch r.state {
	case live:
		r.lastActive = m.cfg.Now()
		m.endLocked(r, CauseClosed)
	case ending:
	case attaching, doomed:
		return nil, runNotFound(r.id)
	}
	return r, nil
}

// Stats is what gauges show.
type Stats struct {
	// Runs counts the runs in the map, those being created and ended included.
	Runs int
	// Calls counts calls in flight, streams left out.
	Calls int
	// Slots counts held slots by name.
	Slots map[string]int
	// LastSweep is when the sweeper last finished; zero before the first time.
	LastSweep time.Time
}

// Stats returns the numbers of now.
func (m *Manager) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	stats := Stats{Runs: len(m.runs), Calls: m.calls, Slots: map[string]int{}, LastSweep: m.lastSweep}
	for key := range m.slots {
		stats.Slots[key.name]++
	}
	return stats
}

// addLocked puts a new run into the map.
func (m *Manager) addLocked(r *Run) {
	m.runs[r.id] = r
	m.owned[r.principal] = append(m.owned[r.principal], r)
	if r.parent != nil {
		if r.parent.children == nil {
			r.parent.children = map[*Run]struct{}{}
		}
		r.parent.children[r] = struct{}{}
	}
}

// removeLocked takes a run out of the map; its id is free again.
func (m *Manager) removeLocked(r *Run) {
	delete(m.runs, r.id)
	owned := m.owned[r.principal]
	i, _ := slices.BinarySearchFunc(owned, r.seq, bySeq)
	if owned = slices.Delete(owned, i, i+1); len(owned) > 0 {
		m.owned[r.principal] = owned
	} else {
		delete(m.owned, r.principal)
	}
	if r.parent != nil {
		delete(r.parent.children, r)
		r.parent.lastActive = later(r.parent.lastActive, r.lastActive)
	}
}

// bySeq orders runs by creation.
func bySeq(r *Run, seq uint64) int {
	switch {
	case r.seq < seq:
		return -1
	case r.seq > seq:
		return 1
	default:
		return 0
	}
}
