package session

import (
	"context"
	"errors"
)

// Drain ends the service of runs. New runs are refused at once (DRAINING);
// calls in flight, and calls that still begin in live runs so that those can
// finish, have until ctx ends; then every run ends, whatever ctx says. It
// returns when no run is left, with what could not be released, and may be
// called again.
func (m *Manager) Drain(ctx context.Context) error {
	select {
	case <-m.startDrain():
	case <-ctx.Done():
	}
	return errors.Join(m.awaitGone(m.endAll())...)
}

// startDrain refuses new runs and returns a channel that is closed when no
// call is in flight.
func (m *Manager) startDrain() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.draining {
		m.draining = true
		m.quiet = make(chan struct{})
	}
	m.signalQuietLocked()
	return m.quiet
}

// signalQuietLocked tells a drain that no call is in flight.
func (m *Manager) signalQuietLocked() {
	if !m.draining || m.calls > 0 {
		return
	}
	select {
	case <-m.quiet: // told before
	default:
		close(m.quiet)
	}
}

func (m *Manager) endAll() []*Run {
	m.mu.Lock()
	defer m.mu.Unlock()
	runs := make([]*Run, 0, len(m.runs))
	for _, r := range m.runs {
		if r.parent == nil { // its children end with it
			m.endLocked(r, CauseDrain)
		}
		runs = append(runs, r)
	}
	return runs
}
