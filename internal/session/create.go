package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// MaxDepth is how many ancestors a run may have.
const MaxDepth = 8

// Create makes a run and attaches everything it declares, or nothing.
//
// With an id of the caller's choice it is idempotent: the same request of the
// same principal returns the same run, also when it comes while the first is
// still at work (the attachers run once); a different request is RUN_EXISTS.
// An id is free again when its run is gone; a request for the id of one that
// is still ending waits for that.
//
// A bad spec is BAD_ARGUMENT; a kind that cannot be attached is
// RESOURCE_UNAVAILABLE and named; an unknown parent is RUN_NOT_FOUND; a limit
// is LIMIT_EXCEEDED; a daemon that shuts down answers DRAINING. When ctx ends
// first, what was attached is closed again.
func (m *Manager) Create(ctx context.Context, principal Principal, spec Spec) (*Run, error) {
	spec, err := m.normalize(spec)
	if err != nil {
		return nil, err
	}
	for {
		r, gone, err := m.reserve(ctx, principal, spec)
		if err != nil {
			m.observeLimit(err)
			return nil, err
		}
		wait := r.ready
		if gone {
			wait = r.done
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, fmt.Errorf("create run %q: %w", r.id, context.Cause(ctx))
		}
		switch {
		case gone: // and the id is free
		case r.createErr == nil:
			return r, nil
		case r.abandoned && ctx.Err() == nil: // by another caller; this one goes on
		default:
			return nil, r.createErr
		}
	}
}

func (m *Manager) observeLimit(err error) {
	if e, ok := toolerr.As(err); ok && e.Reason == toolerr.ReasonLimit {
		m.observe(EventLimitRejected, e.Fields["limit"])
	}
}

// reserve finds the run that answers the request, or starts to create it; its
// ready channel tells the outcome. gone says that the run is only in the way:
// the id is free when it is done.
func (m *Manager) reserve(ctx context.Context, principal Principal, spec Spec) (r *Run, gone bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.runs[spec.RunID]; ok {
		over := r.state == doomed || r.state == ending
		switch {
		case r.principal != principal:
			return nil, false, runExists(spec.RunID)
		case over:
			return r, true, nil
		case r.spec.sameRequest(spec):
			return r, false, nil
		default:
			return nil, false, runExists(spec.RunID)
		}
	}
	parent, err := m.admitLocked(principal, spec)
	if err != nil {
		return nil, false, err
	}
	r = m.newRunLocked(principal, spec, parent)
	m.addLocked(r)
	go m.populate(ctx, r)
	return r, false, nil
}

// admitLocked checks a new run against the daemon's state and finds its
// parent.
func (m *Manager) admitLocked(principal Principal, spec Spec) (parent *Run, err error) {
	if m.draining {
		return nil, draining()
	}
	if len(m.runs) >= m.cfg.MaxRuns {
		return nil, toolerr.Limit(limitRuns, int64(m.cfg.MaxRuns),
			"toolsd has %d runs, its limit (%s); close runs that are done, or raise it", len(m.runs), limitRuns)
	}
	if n := len(m.owned[principal]); n >= m.cfg.MaxRunsPerPrincipal {
		return nil, toolerr.Limit(limitRunsPerPrincipal, int64(m.cfg.MaxRunsPerPrincipal),
			"you have %d runs, the limit of one principal (%s); close runs that are done, or raise it", n, limitRunsPerPrincipal)
	}
	if spec.ParentRunID == "" {
		return nil, nil
	}
	parent, err = m.liveLocked(principal, "parent_run_id", spec.ParentRunID)
	if err != nil {
		return nil, err
	}
	if parent.depth+1 > MaxDepth {
		return nil, toolerr.Limit(limitRunDepth, MaxDepth,
			"run %q has %d ancestors, the most a run may have (%s); use one of those as the parent", parent.id, parent.depth, limitRunDepth)
	}
	if err := checkCeilingLocked(spec.Ceiling, parent); err != nil {
		return nil, err
	}
	return parent, checkParentWorkspace(spec, parent)
}

func checkCeilingLocked(ceiling Tier, parent *Run) error {
	if !ceiling.valid() {
		return toolerr.BadArgument("max_tier", "want read, write or exec")
	}
	if parent != nil && ceiling > parent.ceilingLocked() {
		return aboveParent(ceiling, parent.ceilingLocked())
	}
	return nil
}

func checkParentWorkspace(spec Spec, parent *Run) error {
	if parent.workspace != nil {
		return nil
	}
	if spec.WorkspaceRoot != "" {
		return toolerr.BadArgument("workspace_root", "parent run %q has no workspace for it to lie in", parent.id)
	}
	if kinds := needing(spec, Kind.needsWorkspace); len(kinds) > 0 {
		return toolerr.BadArgument("workspace_root", "required by %s, and parent run %q has none", kindList(kinds), parent.id)
	}
	return nil
}

func (m *Manager) newRunLocked(principal Principal, spec Spec, parent *Run) *Run {
	now := m.cfg.Now()
	m.lastSeq++
	r := &Run{
		m:          m,
		id:         spec.RunID,
		principal:  principal,
		spec:       spec,
		parent:     parent,
		seq:        m.lastSeq,
		created:    now,
		ready:      make(chan struct{}),
		done:       make(chan struct{}),
		ceiling:    spec.Ceiling,
		lastActive: now,
	}
	if parent != nil {
		r.depth = parent.depth + 1
	}
	// A run outlives the call that creates it, and ends with its parent by
	// endLocked, which gives each its own cause.
	r.ctx, r.cancel = context.WithCancelCause(context.Background()) //nolint:forbidigo // see above
	for r.id == "" || m.runs[r.id] != nil {
		r.id = makeID(m.cfg.Replica)
	}
	return r
}

var (
	// errCreateOver ends the context of attaching when that is over.
	errCreateOver = errors.New("the creation of the run is over")
	// errNoResource is an attacher that returned neither resource nor error.
	errNoResource = errors.New("its attacher made nothing")
)

// populate attaches what the run declares and makes it live, or undoes it. It
// runs beside the caller, so that a caller whose ctx ends is not held by an
// attacher that is slow to notice.
func (m *Manager) populate(ctx context.Context, r *Run) {
	defer close(r.ready)
	attachCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(errCreateOver)
	defer context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })()

	err := m.attach(attachCtx, r)
	if err = m.publish(attachCtx, r, err); err != nil {
		r.createErr = err
		r.abandoned = ctx.Err() != nil
		r.cancel(runEnded(r.id, r.cause))
		m.finish(r)
		return
	}
	m.observe(EventRunCreated, "")
	m.cfg.Logger.Info("run created", "run", r.id, "parent", r.spec.ParentRunID, "resources", kindList(sortedKinds(r.spec.Resources)))
}

// attach opens the workspace and calls the attachers one after the other, in
// the order of their names.
func (m *Manager) attach(ctx context.Context, r *Run) error {
	if err := m.openWorkspace(r); err != nil {
		return err
	}
	env := AttachEnv{
		RunID:          r.id,
		ConversationID: r.spec.ConversationID,
		Workspace:      r.workspace,
		Env:            r.spec.Env,
		Parent:         r.parent,
	}
	for _, kind := range sortedKinds(r.spec.Resources) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var resource Resource
		err := m.guard(string(kind), func() (err error) {
			resource, err = m.cfg.Attachers[kind](ctx, env, r.spec.Resources[kind])
			return err
		})
		if err == nil && resource == nil {
			err = errNoResource
		}
		if err != nil {
			return cannotAttach(kind, err)
		}
		r.resources = append(r.resources, attached{kind, resource})
	}
	return nil
}

// openWorkspace opens what the spec names, or else the parent's workspace.
func (m *Manager) openWorkspace(r *Run) error {
	root := r.spec.WorkspaceRoot
	if root == "" && r.parent != nil && r.parent.workspace != nil {
		root = r.parent.workspace.Root()
	}
	if root == "" {
		return nil
	}
	err := m.guard("workspace", func() (err error) {
		r.workspace, err = m.cfg.OpenWorkspace(root)
		return err
	})
	if err != nil {
		r.workspace = nil
		return fmt.Errorf("open workspace %q: %w", root, err)
	}
	if r.parent != nil && !within(r.workspace.Root(), r.parent.workspace.Root()) {
		return toolerr.BadArgument("workspace_root", "%q is not inside the parent run's workspace, %q", root, r.parent.workspace.Root())
	}
	return nil
}

// within compares two paths that have no symlinks left.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// publish makes an attached run live. It fails when attaching did, when the
// run was ended meanwhile (with its parent, or the daemon), and when the
// caller went away; the run is then ending.
func (m *Manager) publish(ctx context.Context, r *Run, attachErr error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.state == doomed:
		if r.cause == CauseDrain {
			return draining()
		}
		return runEnded(r.id, r.cause)
	case ctx.Err() != nil:
		r.state, r.cause = ending, CauseFailed
		return fmt.Errorf("create run %q: %w", r.id, context.Cause(ctx))
	case attachErr != nil:
		r.state, r.cause = ending, CauseFailed
		return attachErr
	}
	r.state = live
	r.lastActive = m.cfg.Now()
	return nil
}
