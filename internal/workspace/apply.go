package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Applied is what a transaction did.
type Applied struct {
	// Paths are the files that were written, created or deleted, relative to
	// the root, in the order of the changes. A change that left its file as it
	// was is not among them.
	Paths []string
}

// Apply makes all changes or none: see the package comment. It waits for
// another transaction on the same root. ctx counts until the first write;
// from there on Apply runs to its end.
//
// The errors, after each of which the files are what they were: BAD_ARGUMENT
// and PATH_OUTSIDE_WORKSPACE for a path, BAD_ARGUMENT for two changes of one
// file, CONTENT_CHANGED for files that are not what was expected, which names
// each and how it differs, and WRITE_FAILED with the file and the cause.
func (w *Workspace) Apply(ctx context.Context, changes []Change) (*Applied, error) {
	if err := w.retain(); err != nil {
		return nil, fmt.Errorf("write to the workspace %q: %w", w.core.root, err)
	}
	defer w.core.release() //nolint:errcheck // closing an open folder has nothing to lose
	paths, err := w.distinct(changes)
	if err != nil {
		return nil, err
	}
	applied, err := w.core.apply(ctx, changes, paths)
	if err != nil {
		return nil, err
	}
	if len(applied.Paths) > 0 {
		w.core.notify(applied.Paths)
	}
	return applied, nil
}

// distinct returns the clean path of each change, and refuses two of one file.
func (w *Workspace) distinct(changes []Change) ([]string, error) {
	paths := make([]string, len(changes))
	seen := map[string]string{}
	for i, change := range changes {
		rel, err := w.Rel(change.Path)
		if err != nil {
			return nil, err
		}
		if rel == "." {
			return nil, toolerr.BadArgument("path", "%q is the workspace itself, not a file", change.Path)
		}
		if change.Delete && change.Before.absent {
			return nil, toolerr.BadArgument("path", "%q cannot be deleted: it is expected not to be there", rel)
		}
		id, err := w.core.identify(rel)
		if err != nil {
			return nil, err
		}
		if other, ok := seen[id]; ok {
			return nil, toolerr.BadArgument("path", "%q and %q are the same file; put its changes into one", other, rel)
		}
		seen[id], paths[i] = rel, rel
	}
	return paths, nil
}

// apply runs one transaction under the root's write lock.
func (c *core) apply(ctx context.Context, changes []Change, paths []string) (*Applied, error) {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	targets, err := c.check(ctx, changes, paths)
	if err != nil {
		return nil, err
	}
	t, err := c.plan(targets)
	if err != nil {
		return nil, err
	}
	if len(t.targets) == 0 {
		return &Applied{}, nil
	}
	if err := t.run(); err != nil {
		return nil, t.abort(err)
	}
	_ = t.finish() // the changes stand; the next start cleans up what is left
	applied := &Applied{}
	for _, target := range t.targets {
		applied.Paths = append(applied.Paths, target.path)
	}
	return applied, nil
}

// plan lays down every name that the transaction will use. Changes that leave
// their file as it is are dropped.
func (c *core) plan(targets []target) (*transaction, error) {
	id := rand.Text()
	t := &transaction{disk: c.disk, journal: c.pool.journalOf(id), record: record{Root: c.root}}
	known := map[string]bool{}
	for _, target := range targets {
		after := target.after()
		if after == target.Before {
			continue
		}
		e := entry{Path: target.path, Before: target.Before, After: after}
		sibling := path.Join(path.Dir(target.path), fmt.Sprintf(".toolsd-%s-%d", id, len(t.targets)))
		if !target.Delete {
			e.New = sibling + ".new"
		}
		if target.info != nil {
			e.Old = sibling + ".old"
		}
		missing, err := c.missingFolders(path.Dir(target.path), known)
		if err != nil {
			return nil, err
		}
		t.record.Folders = append(t.record.Folders, missing...)
		t.record.Files = append(t.record.Files, e)
		t.targets = append(t.targets, target)
	}
	for _, e := range t.record.Files {
		if known[e.Path] {
			return nil, toolerr.BadArgument("path", "%q cannot be a file: another change puts a file below it", e.Path)
		}
	}
	return t, nil
}

// missingFolders returns the folders that are not there, outermost first, and
// remembers them in known.
func (c *core) missingFolders(folder string, known map[string]bool) ([]string, error) {
	if known[folder] {
		return nil, nil
	}
	_, err := c.disk.root.Stat(folder)
	if err == nil {
		return nil, nil
	}
	if !isAbsent(err) || folder == "." {
		return nil, pathError(folder, err)
	}
	above, err := c.missingFolders(path.Dir(folder), known)
	if err != nil {
		return nil, err
	}
	known[folder] = true
	return append(above, folder), nil
}

// fileError is the failure of one step, with the file that it was for.
type fileError struct {
	path string
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("%s: %v", e.path, reason(e.err)) }
func (e *fileError) Unwrap() error { return e.err }

// abort undoes the transaction and says what failed, and what became of it.
func (t *transaction) abort(failure error) error {
	left, undoErr := t.undo()
	fate := "nothing was written"
	switch {
	case undoErr != nil:
		fate = fmt.Sprintf("not everything could be put back (%v); the next start of toolsd tries again", undoErr)
	case len(left) > 0:
		fate = fmt.Sprintf("all was put back but what somebody changed meanwhile: %s", strings.Join(left, ", "))
	}
	if changed, ok := toolerr.As(failure); ok && undoErr == nil {
		return changed
	}
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonWriteFailed,
		"cannot write %v; %s", failure, fate).WithCause(errors.Join(failure, undoErr))
}
