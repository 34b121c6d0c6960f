package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Recovered is what became of a transaction that a crash cut off.
type Recovered struct {
	// Root is the workspace; empty when the journal could not be read.
	Root string
	// Paths are the transaction's files, relative to the root.
	Paths []string
	// Finished says that the transaction was done but for cleaning up: every
	// file is new. Otherwise every file is what it was before.
	Finished bool
	// Left are the files that somebody changed after the crash, each with how
	// it was found. They were left alone.
	Left []string
	// Err is why it could not be settled; the next start tries again.
	Err error
}

// String says it in one sentence, for a log.
func (r Recovered) String() string {
	files := fmt.Sprintf("%s in %q", strings.Join(r.Paths, ", "), r.Root)
	switch {
	case r.Err != nil && r.Root == "":
		return fmt.Sprintf("a journal is unusable: %v", r.Err)
	case r.Err != nil:
		return fmt.Sprintf("not settled, the next start tries again: %s: %v", files, r.Err)
	case r.Finished:
		return "finished: " + files
	case len(r.Left) > 0:
		return fmt.Sprintf("undone: %s; left alone, because somebody changed them since: %s", files, strings.Join(r.Left, ", "))
	default:
		return "undone: " + files
	}
}

// Recover settles the transactions that an earlier daemon did not end. It is
// called at start, before a workspace is opened, and may itself be cut off
// anywhere. A transaction that cannot be settled now, because its root is gone
// for instance, is reported and kept; the error is only for a journal that
// cannot be listed, and for ctx.
func (p *Pool) Recover(ctx context.Context) ([]Recovered, error) {
	journals, err := p.journals()
	if err != nil {
		return nil, err
	}
	var all []Recovered
	for _, j := range journals {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if r, ok := p.settle(j); ok {
			all = append(all, r)
		}
	}
	return all, nil
}

// settle ends one transaction. It says no for one that had not begun or was
// ended, of which nobody needs to know.
func (p *Pool) settle(j journal) (r Recovered, ok bool) {
	record, done, err := j.read()
	if errors.Is(err, fs.ErrNotExist) {
		if err := j.close(); err != nil {
			return Recovered{Err: err}, true
		}
		return Recovered{}, false
	}
	if err != nil {
		return Recovered{Err: fmt.Errorf("journal %s: %w", j.id, err)}, true
	}
	r = Recovered{Root: record.Root, Finished: done}
	for _, e := range record.Files {
		r.Paths = append(r.Paths, e.Path)
	}
	w, err := p.Open(record.Root)
	if err != nil {
		r.Err = err
		return r, true
	}
	defer w.Close() //nolint:errcheck // closing an open folder has nothing to lose
	if w.Root() != record.Root {
		r.Err = fmt.Errorf("the root leads to %q now", w.Root())
		return r, true
	}
	w.core.writing <- struct{}{}
	defer func() { <-w.core.writing }()
	t := &transaction{disk: w.core.disk, journal: j, record: record, made: len(record.Folders), reached: len(record.Files)}
	if done {
		r.Err = t.finish()
	} else {
		r.Left, r.Err = t.undo()
	}
	return r, true
}
