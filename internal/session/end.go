package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// endLocked ends a run and all runs below it: from here on they are not
// found, their contexts are cancelled, and what they own is being closed. It
// does nothing to a run whose end has begun.
func (m *Manager) endLocked(r *Run, cause Cause) {
	switch r.state {
	case attaching:
		r.state, r.cause = doomed, cause // its creator undoes it
	case live:
		r.state, r.cause = ending, cause
		if r.inFlight > 0 {
			r.quiet = make(chan struct{})
		}
		go m.finish(r)
	default:
		return
	}
	r.cancel(runEnded(r.id, cause))
	for child := range r.children {
		m.endLocked(child, CauseParent)
	}
}

// finish closes what a run owns and drops the run: first its children, which
// may use what it owns; then its slots; then its resources, beside each
// other; the workspace last, when no call uses it any more. Each step is
// bounded, and none depends on any caller's context.
func (m *Manager) finish(r *Run) {
	m.awaitChildren(r)
	m.endSlots(r)
	errs := m.closeResources(r)
	errs = append(errs, m.awaitCalls(r), m.closeWorkspace(r))
	m.drop(r, errors.Join(errs...))
}

// awaitChildren waits for the children, which endLocked has ended. What they
// could not release is logged as theirs, and is no failure of their parent.
func (m *Manager) awaitChildren(r *Run) {
	m.mu.Lock()
	children := slices.Collect(maps.Keys(r.children))
	m.mu.Unlock()
	m.awaitGone(children)
}

// awaitGone waits until runs whose end has begun are gone, and returns what
// they could not release. The end of a live run is bounded by itself. One that
// was still being created depends on its attachers, and those that ignore
// their context are not waited for longer than a close may take.
func (m *Manager) awaitGone(runs []*Run) []error {
	patience, cancel := m.closeContext()
	defer cancel()
	errs := make([]error, len(runs))
	for i, r := range runs {
		if !m.isDoomed(r) {
			<-r.done
			errs[i] = r.endErr
			continue
		}
		select {
		case <-r.done:
			errs[i] = r.endErr
		case <-patience.Done():
			errs[i] = fmt.Errorf("creation of run %q: %w", r.id, errAbandoned)
			m.logFailure(r, "attach", errs[i])
		}
	}
	return errs
}

func (m *Manager) isDoomed(r *Run) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return r.state == doomed
}

// closeContext bounds one step of an end, which depends on no caller.
func (m *Manager) closeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), m.cfg.CloseTimeout) //nolint:forbidigo // the end of a run has no caller
}

func (m *Manager) endSlots(r *Run) {
	m.mu.Lock()
	slots := make([]*Slot, 0, len(r.slots))
	for s := range r.slots {
		m.expireSlotLocked(s, r.cause)
		slots = append(slots, s)
	}
	m.mu.Unlock()
	for _, s := range slots {
		<-s.freed
	}
}

func (m *Manager) closeResources(r *Run) []error {
	errs := make([]error, len(r.resources))
	var group sync.WaitGroup
	for i, a := range r.resources {
		group.Go(func() {
			errs[i] = m.bounded(string(a.kind), a.resource.Close)
			m.logFailure(r, string(a.kind), errs[i])
		})
	}
	group.Wait()
	return errs
}

// awaitCalls waits for cancelled calls to return, so that none finds its
// workspace closed in the middle of a write.
func (m *Manager) awaitCalls(r *Run) error {
	m.mu.Lock()
	quiet := r.quiet
	m.mu.Unlock()
	if quiet == nil {
		return nil
	}
	select {
	case <-quiet:
		return nil
	case <-time.After(m.cfg.CloseTimeout):
		err := fmt.Errorf("calls of run %q: %w", r.id, errAbandoned)
		m.logFailure(r, "calls", err)
		return err
	}
}

func (m *Manager) closeWorkspace(r *Run) error {
	if r.workspace == nil {
		return nil
	}
	err := m.bounded("workspace", func(context.Context) error { return r.workspace.Close() })
	m.logFailure(r, "workspace", err)
	return err
}

// drop takes the run out of the map and tells who waits for that.
func (m *Manager) drop(r *Run, err error) {
	m.mu.Lock()
	m.removeLocked(r)
	cause := r.cause
	m.mu.Unlock()
	r.endErr = err
	close(r.done)
	m.observe(EventRunEnded, string(cause))
	m.cfg.Logger.Info("run ended", "run", r.id, "cause", string(cause))
}

// bounded calls f with a context of CloseTimeout and leaves it behind when it
// is still running then. A panic in f is an error. what names f in the error.
func (m *Manager) bounded(what string, f func(context.Context) error) error {
	ctx, cancel := m.closeContext()
	defer cancel()
	result := make(chan error, 1)
	go func() {
		result <- m.guard(what, func() error { return f(ctx) })
	}()
	var err error
	select {
	case err = <-result:
	case <-ctx.Done():
		err = errAbandoned
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", what, err)
	}
	return nil
}

// logFailure logs and counts a callback that failed; nil is no failure.
func (m *Manager) logFailure(r *Run, what string, err error) {
	if err == nil {
		return
	}
	m.observe(EventCloseFailed, what)
	m.cfg.Logger.Error("closing failed", "run", r.id, "what", what, "error", err)
}
