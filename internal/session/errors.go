package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// The names of this package's limits, in errors and metrics.
const (
	limitRuns             = "max_runs"
	limitRunsPerPrincipal = "max_runs_per_principal"
	limitRunDepth         = "max_run_depth"
)

// drainRetryAfter is when a caller refused by a draining daemon may try again:
// about the time that a restart takes.
const drainRetryAfter = 5 * time.Second

// runNotFound is the answer for a run that never was, that ended, and that is
// another principal's: one text, so that none can be told from the others.
func runNotFound(id string) *toolerr.Error {
	return toolerr.New(toolerr.NotFound, toolerr.ReasonRunNotFound,
		"no run %q: it was never created, has ended, or is not yours; create a run and use its id", id)
}

func wrongReplica(id, owner, self string) *toolerr.Error {
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonWrongReplica,
		"run %q belongs to replica %q and this is %q; send the call there", id, owner, self).
		WithField("owner", owner)
}

func runExists(id string) *toolerr.Error {
	return toolerr.New(toolerr.AlreadyExists, toolerr.ReasonRunExists,
		"run id %q is taken by a different request; repeat that request exactly, or choose another id", id)
}

func draining() *toolerr.Error {
	return toolerr.New(toolerr.Unavailable, toolerr.ReasonDraining,
		"toolsd is shutting down and takes no new runs; try again in %s", drainRetryAfter).
		WithField("retry_after", drainRetryAfter.String())
}

// runEnded is the cause of a cancelled call or creation: its run ended.
func runEnded(id string, cause Cause) *toolerr.Error {
	return toolerr.New(toolerr.Aborted, toolerr.ReasonRunEnded,
		"run %q ended during the call: %s", id, cause.explain()).
		WithField("cause", string(cause))
}

func aboveParent(ceiling, parent Tier) *toolerr.Error {
	return toolerr.BadArgument("max_tier", "%s is above the parent run's ceiling, %s", ceiling, parent)
}

// noAttachers is the answer for kinds that this daemon cannot attach at all.
func noAttachers(missing []Kind, have map[Kind]Attacher) *toolerr.Error {
	usable := "none"
	if len(have) > 0 {
		usable = kindList(sortedKinds(have))
	}
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonResourceUnavailable,
		"this daemon cannot attach %s: not built in, or switched off; it can attach: %s", kindList(missing), usable).
		WithField("resource", kindList(missing))
}

// cannotAttach wraps what an attacher failed with. The kind and violations of
// a toolerr survive, so that a bad argument of a resource stays one.
func cannotAttach(kind Kind, err error) *toolerr.Error {
	e := toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonResourceUnavailable,
		"resource %s cannot be attached: %v", kind, err).
		WithField("resource", string(kind)).
		WithCause(err)
	if inner, ok := toolerr.As(err); ok && inner.Kind != toolerr.Internal {
		e.Kind = inner.Kind
		e.Violations = inner.Violations
	}
	return e
}

// sessionLive is the answer to the second holder of a slot.
func sessionLive(held *Slot, now time.Time) *toolerr.Error {
	since := held.acquired.UTC().Format(time.RFC3339)
	expires := held.expires.UTC().Format(time.RFC3339)
	next := "terminate it first, or wait: it ends by itself at " + expires
	if held.ending {
		next = "it is ending now; try again in a moment"
	}
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonSessionLive,
		"conversation %q already has a %s session: run %q has held it since %s (%s); %s",
		held.key.conversation, held.key.name, held.run.id, since, now.Sub(held.acquired).Round(time.Second), next).
		WithField("run_id", held.run.id).
		WithField("since", since).
		WithField("expires", expires)
}

// guard calls f and turns its panic into an error, because f is foreign code
// and its fault must stay its own. The stack goes to the log only: the error
// may reach a caller. what names f in the log.
func (m *Manager) guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			m.cfg.Logger.Error("callback panicked", "what", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panicked: %v", p)
		}
	}()
	return f()
}

// errAbandoned is a callback that was still running when its time was up.
var errAbandoned = errors.New("still running; left behind")

func sortedKinds[V any](set map[Kind]V) []Kind {
	kinds := make([]Kind, 0, len(set))
	for kind := range set {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

func kindList(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}
