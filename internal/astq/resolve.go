package astq

import (
	"context"
	"fmt"

	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// Action is what to do with a staged edit.
type Action int

// The actions.
const (
	// Accept writes it.
	Accept Action = iota + 1
	// Discard drops it.
	Discard
)

// Resolution is the answer of resolve.
type Resolution struct {
	ID           string
	Action       Action
	Files        []FileEdit // written, in path order; empty after a discard
	Replacements int
}

// Resolve accepts or discards a staged edit. On accept every file is compared
// with what it was when the edit was staged; any difference is EDIT_STALE,
// nothing is written and the edit is gone. A write that fails (a full disk, a
// file without write permission) is undone whole, and the edit stays staged.
func (s *Session) Resolve(ctx context.Context, id string, action Action) (*Resolution, error) {
	switch action {
	case Discard:
		return s.discard(id)
	case Accept:
		return s.accept(ctx, id)
	default:
		return nil, toolerr.BadArgument("action", "must be accept or discard")
	}
}

func (s *Session) discard(id string) (*Resolution, error) {
	edit, err := s.take(id, editResolving)
	if err != nil {
		return nil, err
	}
	s.settle(edit, editDiscarded)
	return &Resolution{ID: id, Action: Discard}, nil
}

func (s *Session) accept(ctx context.Context, id string) (*Resolution, error) {
	edit, err := s.take(id, editResolving)
	if err != nil {
		return nil, err
	}
	out := &Resolution{ID: id, Action: Accept, Replacements: edit.replacements}
	changes := make([]workspace.Change, len(edit.files))
	for i, f := range edit.files {
		changes[i] = workspace.Change{Path: f.path, Before: workspace.Content(f.before), After: f.after}
		out.Files = append(out.Files, FileEdit{Path: f.path, Replacements: f.replacements})
	}
	applied, err := s.ws.Apply(ctx, changes)
	if err != nil {
		return nil, s.rejected(id, edit, err)
	}
	s.engine.cache.Forget(s.ws.Root(), applied.Paths)
	s.settle(edit, editAccepted)
	return out, nil
}

// rejected settles an edit that was not written.
func (s *Session) rejected(id string, edit *stagedEdit, err error) error {
	e, ok := toolerr.As(err)
	if !ok || e.Reason != toolerr.ReasonContentChanged {
		s.settle(edit, editPending)
		return fmt.Errorf("accept %s: %w", id, err)
	}
	s.settle(edit, editStale)
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonEditStale,
		"%s is stale and was rejected whole; nothing was written. Since it was staged: %s. Run ast_edit again", id, e.Message).WithCause(err)
}
