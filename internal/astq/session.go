package astq

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// Session is one run's structural search: its workspace and the edits that it
// has staged. The grammars and their limits are the engine's. Its methods are
// safe for concurrent use.
type Session struct {
	engine *Engine
	ws     *workspace.Workspace

	mu          sync.Mutex
	edits       map[string]*stagedEdit
	lastEdit    int
	stagedBytes int64
	closed      bool
}

// editState is where a staged edit is in its life.
type editState int

const (
	editPending editState = iota
	// editResolving is being written now.
	editResolving
	editAccepted
	editDiscarded
	// editStale was rejected because its files had changed.
	editStale
)

// stagedEdit is a proposal. Once it is resolved only its state is kept, so
// that a second resolve can say what became of it.
type stagedEdit struct {
	state        editState
	files        []stagedFile
	replacements int
	bytes        int64
}

// stagedFile is one file of a proposal.
type stagedFile struct {
	path         string
	before       [sha256.Size]byte
	after        []byte
	replacements int
}

// NewSession returns a session over a workspace, which must outlive it.
func (e *Engine) NewSession(ws *workspace.Workspace) *Session {
	return &Session{engine: e, ws: ws, edits: map[string]*stagedEdit{}}
}

// Close drops every staged edit. The workspace stays open.
func (s *Session) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.edits, s.stagedBytes = true, nil, 0
	return nil
}

// stage keeps a proposal and gives it an id. It fails when the run's staged
// edits would hold too many bytes.
func (s *Session) stage(files []stagedFile, replacements int) (id string, err error) {
	edit := &stagedEdit{files: files, replacements: replacements}
	for _, f := range files {
		edit.bytes += int64(len(f.after))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.engine.config.MaxStagedBytes; s.stagedBytes+edit.bytes > limit {
		return "", toolerr.Limit("max_staged_bytes", limit,
			"this edit would hold %d bytes, and %d of %d are staged already; resolve a staged edit, or narrow path",
			edit.bytes, s.stagedBytes, limit)
	}
	if s.closed {
		return "", toolerr.New(toolerr.Aborted, toolerr.ReasonRunEnded, "the run ended before the edit was staged")
	}
	s.lastEdit++
	id = fmt.Sprintf("edit_%d", s.lastEdit)
	s.edits[id] = edit
	s.stagedBytes += edit.bytes
	return id, nil
}

// take moves a pending edit to another state and returns it.
func (s *Session) take(id string, to editState) (*stagedEdit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit, ok := s.edits[id]
	if !ok {
		return nil, toolerr.New(toolerr.NotFound, toolerr.ReasonEditNotFound,
			"there is no edit %q in this run; %s", id, s.pendingLocked())
	}
	if edit.state != editPending {
		return nil, toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonEditResolved,
			"%s %s; %s", id, edit.state.past(), s.pendingLocked())
	}
	edit.state = to
	return edit, nil
}

// settle ends an edit, or makes it pending again after a write that failed
// and was undone.
func (s *Session) settle(edit *stagedEdit, state editState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit.state = state
	if state == editPending {
		return
	}
	s.stagedBytes -= edit.bytes
	edit.files, edit.bytes = nil, 0
}

// pendingLocked says which edits can be resolved.
func (s *Session) pendingLocked() string {
	var pending []string
	for n := 1; n <= s.lastEdit; n++ {
		id := fmt.Sprintf("edit_%d", n)
		if edit, ok := s.edits[id]; ok && edit.state == editPending {
			pending = append(pending, id)
		}
	}
	if len(pending) == 0 {
		return "no edit is waiting; stage one with ast_edit"
	}
	return "waiting: " + joinCapped(pending, 20)
}

// past says what became of an edit.
func (s editState) past() string {
	switch s {
	case editResolving:
		return "is being accepted by another call right now"
	case editAccepted:
		return "was accepted already"
	case editDiscarded:
		return "was discarded already"
	case editStale:
		return "was rejected because its files had changed, and is gone"
	default:
		return "is waiting"
	}
}
