package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// Names inside a transaction's folder of the journal. The folder without
// either record is of a transaction that touched nothing yet, or nothing any
// more.
const (
	draftRecord = "draft.json" // being written
	openRecord  = "open.json"  // to be undone, if nobody is at it
	doneRecord  = "done.json"  // to be cleaned up
)

// record is all that undoing a transaction takes. It holds no content.
type record struct {
	Root string `json:"root"`
	// Folders are those that the transaction makes, outermost first.
	Folders []string `json:"folders,omitempty"`
	Files   []entry  `json:"files"`
}

// entry is one file of a transaction.
type entry struct {
	Path string `json:"path"`
	// New is the sibling with the new content; empty for a deletion.
	New string `json:"new,omitempty"`
	// Old is the sibling that keeps the old file; empty for a creation.
	Old    string   `json:"old,omitempty"`
	Before Expected `json:"before"`
	After  Expected `json:"after"`
}

// siblings are the files beside the ones of the workspace that a transaction
// may have made.
func (r record) siblings() []string {
	var names []string
	for _, e := range r.Files {
		for _, name := range []string{e.New, e.Old} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// journal is one transaction's folder in the state folder.
type journal struct {
	disk disk
	id   string
}

// open makes the record durable. Nothing of the workspace may be touched
// before.
func (j journal) open(r record) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the journal: %w", err)
	}
	if err := j.disk.mkdir(j.id, 0o700); err != nil {
		return err
	}
	draft := path.Join(j.id, draftRecord)
	if err := j.disk.create(draft, content, attributes{keep: true, mode: 0o600, uid: os.Geteuid(), gid: os.Getegid()}); err != nil {
		return err
	}
	if err := j.disk.rename(draft, path.Join(j.id, openRecord)); err != nil {
		return err
	}
	if err := j.disk.sync(j.id); err != nil {
		return err
	}
	return j.disk.sync(".")
}

// done marks the point from which on the transaction is not undone. When it
// fails, the transaction is still to be undone.
func (j journal) done() error {
	from, to := path.Join(j.id, openRecord), path.Join(j.id, doneRecord)
	if err := j.disk.rename(from, to); err != nil {
		return err
	}
	if err := j.disk.sync(j.id); err != nil {
		if j.disk.rename(to, from) == nil {
			return err
		}
		// The mark stands after all, only not durably: a power failure now
		// undoes the transaction whole, which is as good.
	}
	return nil
}

// close removes the record and then the folder; what is left of it after a
// failure has no meaning, and the next start removes it.
func (j journal) close() error {
	for _, name := range []string{draftRecord, openRecord, doneRecord} {
		if err := j.disk.remove(path.Join(j.id, name)); err != nil {
			return err
		}
	}
	return j.disk.remove(j.id)
}

// read returns the record, and whether the transaction was done. It is
// fs.ErrNotExist when there is none.
func (j journal) read() (r record, done bool, err error) {
	content, err := j.disk.root.ReadFile(path.Join(j.id, doneRecord))
	done = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		content, err = j.disk.root.ReadFile(path.Join(j.id, openRecord))
	}
	if err != nil {
		return record{}, false, err
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return record{}, false, fmt.Errorf("decode the journal: %w", err)
	}
	return r, done, nil
}

// journals lists the transactions that the state folder knows of.
func (p *Pool) journals() ([]journal, error) {
	folder, err := p.journal.Open(".")
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	defer folder.Close() //nolint:errcheck // it was only read
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list the journal: %w", err)
	}
	slices.Sort(names)
	out := make([]journal, len(names))
	for i, name := range names {
		out[i] = p.journalOf(name)
	}
	return out, nil
}

func (p *Pool) journalOf(id string) journal {
	return journal{disk: disk{root: p.journal, step: p.step}, id: id}
}
