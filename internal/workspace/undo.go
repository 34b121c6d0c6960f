package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// finish cleans up behind a transaction that is done.
func (t *transaction) finish() error {
	if err := t.clean(); err != nil {
		return err
	}
	return t.close()
}

// undo puts every file back, removes what the transaction made and closes the
// journal. It may be run again after it was cut off anywhere. left names the
// files that somebody else changed, and how they were found; they stay as they
// are. After an error the journal and the siblings stay.
func (t *transaction) undo() (left []string, err error) {
	var failures []error
	for _, e := range slices.Backward(t.record.Files[:t.reached]) {
		foreign, err := t.restore(e)
		if err != nil {
			failures = append(failures, &fileError{e.Path, err})
		}
		if foreign != "" {
			left = append(left, fmt.Sprintf("%s (%s)", e.Path, foreign))
		}
	}
	slices.Reverse(left)
	if len(failures) > 0 {
		return left, errors.Join(failures...)
	}
	if err := t.clean(); err != nil {
		return left, err
	}
	for _, folder := range slices.Backward(t.record.Folders[:t.made]) {
		if err := t.removeFolder(folder); err != nil {
			return left, &fileError{folder, err}
		}
	}
	return left, t.close()
}

// restore puts one file back. foreign says how the file differs from both
// what it was and what the transaction made of it.
func (t *transaction) restore(e entry) (foreign string, err error) {
	now, found, err := t.look(e.Path)
	switch {
	case err != nil || now == e.Before:
		return "", err
	case now != e.After || !t.wrote(e):
		return found, nil
	case e.Old == "":
		return "", t.disk.remove(e.Path)
	default:
		return "", t.disk.rename(e.Old, e.Path)
	}
}

// wrote says whether a file that is as the transaction makes it was made by
// it. That shows in the siblings: an old file is kept before the change, and
// the rename takes the new one away.
func (t *transaction) wrote(e entry) bool {
	if e.Old == "" {
		return !t.disk.exists(e.New) || t.disk.same(e.New, e.Path)
	}
	return t.disk.exists(e.Old) && (e.New == "" || !t.disk.exists(e.New))
}

// look says what is at a path, for the record and for people. What can be
// neither before nor after a transaction is the zero Expected.
func (t *transaction) look(name string) (now Expected, found string, err error) {
	info, err := t.disk.root.Lstat(name)
	switch {
	case errors.Is(err, errEscapes):
		return Expected{}, "its folder leads out of the workspace", nil
	case isAbsent(err):
		return Absent(), "deleted", nil
	case err != nil:
		return Expected{}, "", err
	case !info.Mode().IsRegular():
		return Expected{}, "no regular file", nil
	}
	hash, _, err := t.disk.hash(name)
	return Content(hash), "changed", err
}

// removeFolder removes a folder that the transaction made, unless it is in use
// by now, or something else stands in its place.
func (t *transaction) removeFolder(name string) error {
	info, err := t.disk.root.Lstat(name)
	if err == nil && info.IsDir() {
		err = t.disk.remove(name)
	}
	if err == nil || isUnreachable(err) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// clean removes the siblings.
func (t *transaction) clean() error {
	for _, name := range t.record.siblings() {
		if err := t.disk.remove(name); err != nil && !isUnreachable(err) {
			return &fileError{name, err}
		}
	}
	return nil
}

// close makes durable what was put back and cleaned, where the folders are
// still there, and then forgets the transaction.
func (t *transaction) close() error {
	for _, folder := range t.folders() {
		if err := t.disk.sync(folder); err != nil && !isUnreachable(err) {
			return &fileError{folder, err}
		}
	}
	if err := t.journal.close(); err != nil {
		return fmt.Errorf("the journal: %w", reason(err))
	}
	return nil
}

// isUnreachable says that the folder of a name is gone, or was replaced by
// something that leads out of the root, so that nothing can be done there.
func isUnreachable(err error) bool { return isAbsent(err) || errors.Is(err, errEscapes) }
