package session

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Bounds of a request, so that 10,000 runs cannot fill the daemon's memory
// with labels.
const (
	// MaxConversationID is the longest conversation id, in bytes.
	MaxConversationID = 256
	// MaxEnvBytes is the size of all names and values of a run's environment.
	MaxEnvBytes = 64 << 10
	// MaxLabelBytes is the size of all names and values of a run's labels.
	MaxLabelBytes = 8 << 10
)

// Spec declares a run. Field names in errors are those of CreateRunRequest.
type Spec struct {
	// RunID is the caller's choice of id, with or without the replica; the
	// daemon makes one when it is empty.
	RunID string
	// ConversationID is the conversation that the run belongs to, if any.
	ConversationID string
	// WorkspaceRoot is the working directory; that of the parent by default.
	WorkspaceRoot string
	// ParentRunID makes the run a child: it ends with its parent, shares what
	// the attachers let it share, and cannot exceed the parent's ceiling.
	ParentRunID string
	// Ceiling is the highest tier whose tools exist for the run. Required.
	Ceiling Tier
	// Resources are the kinds to attach, each with the caller's settings for
	// its attacher: plain data, compared with reflect.DeepEqual when the same
	// id is asked for again.
	Resources map[Kind]any
	// Env is added to the environment of children.
	Env map[string]string
	// Labels are kept for the caller.
	Labels map[string]string
	// IdleTTL is how long the run may go without a call or stream; the
	// daemon's default when 0.
	IdleTTL time.Duration
}

// normalize returns a copy of spec with ids in full form and defaults filled
// in, sharing no map with it. Every bad argument is named at once.
func (m *Manager) normalize(spec Spec) (Spec, error) {
	var err error
	if spec.RunID != "" {
		if spec.RunID, err = m.resolveID("run_id", spec.RunID); err != nil {
			return Spec{}, err
		}
	}
	if spec.ParentRunID != "" {
		if spec.ParentRunID, err = m.resolveID("parent_run_id", spec.ParentRunID); err != nil {
			return Spec{}, err
		}
	}
	if violations := m.violations(spec); len(violations) > 0 {
		return Spec{}, toolerr.BadArguments(violations...)
	}
	if missing := m.unattachable(spec); len(missing) > 0 {
		return Spec{}, noAttachers(missing, m.cfg.Attachers)
	}
	if spec.IdleTTL == 0 {
		spec.IdleTTL = m.cfg.DefaultIdleTTL
	}
	spec.Resources = maps.Clone(spec.Resources)
	spec.Env = maps.Clone(spec.Env)
	spec.Labels = maps.Clone(spec.Labels)
	return spec, nil
}

func (m *Manager) violations(spec Spec) []toolerr.Violation {
	var found []toolerr.Violation
	add := func(field, format string, args ...any) {
		found = append(found, toolerr.Violation{Field: field, Description: fmt.Sprintf(format, args...)})
	}
	if !spec.Ceiling.valid() {
		add("max_tier", "want read, write or exec")
	}
	if len(spec.ConversationID) > MaxConversationID || strings.ContainsFunc(spec.ConversationID, unicode.IsControl) {
		add("conversation_id", "want at most %d bytes without control characters", MaxConversationID)
	}
	if spec.IdleTTL < 0 || spec.IdleTTL > m.cfg.MaxIdleTTL {
		add("idle_ttl", "%s is out of range: want up to %s, or nothing for the default of %s",
			spec.IdleTTL, m.cfg.MaxIdleTTL, m.cfg.DefaultIdleTTL)
	}
	if size := mapBytes(spec.Env); size > MaxEnvBytes {
		add("env", "%d bytes of names and values: want at most %d", size, MaxEnvBytes)
	}
	if names := badEnv(spec.Env); len(names) > 0 {
		add("env", "%d bad, the first is %.80q: want names of letters, digits and '_' that do not start with a digit, and values without NUL",
			len(names), names[0])
	}
	if size := mapBytes(spec.Labels); size > MaxLabelBytes {
		add("labels", "%d bytes of names and values: want at most %d", size, MaxLabelBytes)
	}
	// A child may still get its parent's workspace; that is checked when the
	// parent is known.
	if kinds := needing(spec, Kind.needsWorkspace); spec.WorkspaceRoot == "" && spec.ParentRunID == "" && len(kinds) > 0 {
		add("workspace_root", "required by %s", kindList(kinds))
	}
	if kinds := needing(spec, Kind.needsConversation); spec.ConversationID == "" && len(kinds) > 0 {
		add("conversation_id", "required by %s", kindList(kinds))
	}
	return found
}

func (m *Manager) unattachable(spec Spec) []Kind {
	return needing(spec, func(kind Kind) bool { return m.cfg.Attachers[kind] == nil })
}

// needing returns the declared kinds of which need is true, sorted.
func needing(spec Spec, need func(Kind) bool) []Kind {
	var kinds []Kind
	for _, kind := range sortedKinds(spec.Resources) {
		if need(kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// sameRequest reports whether two normalized specs ask for the same run.
func (spec Spec) sameRequest(other Spec) bool {
	return spec.RunID == other.RunID &&
		spec.ConversationID == other.ConversationID &&
		spec.WorkspaceRoot == other.WorkspaceRoot &&
		spec.ParentRunID == other.ParentRunID &&
		spec.Ceiling == other.Ceiling &&
		spec.IdleTTL == other.IdleTTL &&
		maps.Equal(spec.Env, other.Env) &&
		maps.Equal(spec.Labels, other.Labels) &&
		maps.EqualFunc(spec.Resources, other.Resources, reflect.DeepEqual)
}

func mapBytes(pairs map[string]string) int {
	size := 0
	for name, value := range pairs {
		size += len(name) + len(value)
	}
	return size
}

// badEnv returns the names of the variables that no process could be given,
// sorted.
func badEnv(env map[string]string) []string {
	var names []string
	for name, value := range env {
		if !validEnvName(name) || strings.ContainsRune(value, 0) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func validEnvName(name string) bool {
	for i := range len(name) {
		c := name[i]
		digit := '0' <= c && c <= '9'
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (!digit || i == 0) {
			return false
		}
	}
	return name != ""
}
