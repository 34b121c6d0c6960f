package session

import (
	"context"
	"maps"
	"time"
)

// state is how far a run is in its life. A run goes from attaching to live to
// ending; one that fails skips live, and one that is ended too early goes from
// attaching to doomed.
type state int

const (
	// attaching: reserved in the map, not yet to be seen by anyone.
	attaching state = iota
	// live: calls may begin.
	live
	// doomed: ended while attaching; whoever creates it undoes it.
	doomed
	// ending: no new call; what it owned is being closed.
	ending
)

// attached is a resource with its kind. A slice of a few costs less than a
// map.
type attached struct {
	kind     Kind
	resource Resource
}

// Run is one run: an address for calls, with the resources, tier ceiling and
// lifetime behind it. Its methods are safe for concurrent use, also after the
// run ended.
type Run struct {
	m         *Manager
	id        string
	principal Principal
	spec      Spec // as normalized; its maps are never changed
	parent    *Run // nil for a root run
	depth     int  // number of ancestors
	seq       uint64
	created   time.Time
	ctx       context.Context //nolint:containedctx // the run's own lifetime; calls hang on it
	cancel    context.CancelCauseFunc

	// ready is closed when attaching is over; createErr, abandoned, workspace
	// and resources are written before and never after.
	ready     chan struct{}
	createErr error
	abandoned bool // the creation failed because its own caller went away
	workspace Workspace
	resources []attached

	// done is closed when the run is gone; endErr is written before.
	done   chan struct{}
	endErr error

	// Guarded by m.mu.
	state      state
	cause      Cause
	ceiling    Tier
	inFlight   int           // calls and streams
	quiet      chan struct{} // set at the end when inFlight > 0; closed at 0
	lastActive time.Time
	children   map[*Run]struct{}
	slots      map[*Slot]struct{}
}

// Info describes a run at one moment.
type Info struct {
	ID             string
	Replica        string
	ParentID       string
	ConversationID string
	// WorkspaceRoot is absolute, symlinks resolved; empty without a workspace.
	WorkspaceRoot string
	// Ceiling is the highest tier whose tools exist now, the ancestors'
	// ceilings taken into account.
	Ceiling Tier
	// Kinds are the attached resources, sorted.
	Kinds   []Kind
	Labels  map[string]string
	IdleTTL time.Duration
	Created time.Time
	// InFlight counts calls and streams.
	InFlight int
}

// ID returns the full id, "<replica>.<rest>".
func (r *Run) ID() string { return r.id }

// ConversationID returns the conversation, or "".
func (r *Run) ConversationID() string { return r.spec.ConversationID }

// Workspace returns the working directory, or nil.
func (r *Run) Workspace() Workspace { return r.workspace }

// Resource returns the attached resource of a kind.
func (r *Run) Resource(kind Kind) (Resource, bool) {
	for _, a := range r.resources {
		if a.kind == kind {
			return a.resource, true
		}
	}
	return nil, false
}

// Allows reports whether a tool with this requirement exists for the run now:
// within its ceiling and with all it needs attached.
func (r *Run) Allows(need Requirement) bool {
	if !need.Tier.valid() || need.Tier > r.Ceiling() {
		return false
	}
	if need.Workspace && r.workspace == nil || need.Conversation && r.spec.ConversationID == "" {
		return false
	}
	if need.Kind == "" {
		return true
	}
	_, ok := r.Resource(need.Kind)
	return ok
}

// Ceiling returns the highest tier whose tools exist for the run now: its own
// ceiling, or an ancestor's where that is lower.
func (r *Run) Ceiling() Tier {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.ceilingLocked()
}

func (r *Run) ceilingLocked() Tier {
	ceiling := r.ceiling
	for p := r.parent; p != nil; p = p.parent {
		ceiling = min(ceiling, p.ceiling)
	}
	return ceiling
}

// Info returns a description of the run that shares nothing with it.
func (r *Run) Info() Info {
	info := Info{
		ID:             r.id,
		Replica:        r.m.cfg.Replica,
		ParentID:       r.spec.ParentRunID,
		ConversationID: r.spec.ConversationID,
		Labels:         maps.Clone(r.spec.Labels),
		IdleTTL:        r.spec.IdleTTL,
		Created:        r.created,
	}
	if r.workspace != nil {
		info.WorkspaceRoot = r.workspace.Root()
	}
	for _, a := range r.resources {
		info.Kinds = append(info.Kinds, a.kind)
	}
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	info.Ceiling = r.ceilingLocked()
	info.InFlight = r.inFlight
	return info
}

// lastActiveLocked returns when a call or stream of the run or of a run below
// it was last in flight: now, if one is. A parent is not idle while a child
// works, because ending it would end the child.
func (r *Run) lastActiveLocked(now time.Time) time.Time {
	if r.inFlight > 0 {
		return now
	}
	last := r.lastActive
	for child := range r.children {
		last = later(last, child.lastActiveLocked(now))
	}
	return last
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
