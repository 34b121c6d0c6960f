package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// transaction is one set of changes on its way to the disk. It is used by one
// goroutine that holds the root's write lock.
type transaction struct {
	disk    disk
	journal journal
	record  record
	// targets are the changes behind record.Files, in the same order; nil when
	// the transaction was read from the journal.
	targets []target
	// made and reached are how many folders and files, from the first, may
	// have been made and replaced.
	made, reached int
}

// run does everything up to the mark that ends the transaction. After a
// failure it is to be undone.
func (t *transaction) run() error {
	if err := t.journal.open(t.record); err != nil {
		return fmt.Errorf("the journal: %w", reason(err))
	}
	for _, folder := range t.record.Folders {
		switch err := t.disk.mkdir(folder, 0o777); {
		case errors.Is(err, fs.ErrExist):
			return contentChanged([]string{folder + " appeared"})
		case err != nil:
			return &fileError{folder, err}
		}
		t.made++
	}
	for i, e := range t.record.Files {
		if err := t.prepare(e, t.targets[i]); err != nil {
			return &fileError{e.Path, err}
		}
	}
	if err := t.syncFolders(); err != nil {
		return err
	}
	for i, e := range t.record.Files {
		if err := t.replace(e, t.targets[i]); err != nil {
			return err
		}
	}
	if err := t.checkOld(); err != nil {
		return err
	}
	if err := t.syncFolders(); err != nil {
		return err
	}
	if err := t.journal.done(); err != nil {
		return fmt.Errorf("the journal: %w", reason(err))
	}
	return nil
}

// syncFolders makes the names durable that the transaction made and took away.
func (t *transaction) syncFolders() error {
	for _, folder := range t.folders() {
		if err := t.disk.sync(folder); err != nil {
			return &fileError{folder, err}
		}
	}
	return nil
}

// folders are those that the transaction changes, each once.
func (t *transaction) folders() []string {
	var folders []string
	for _, name := range t.record.Folders {
		folders = append(folders, path.Dir(name))
	}
	for _, e := range t.record.Files {
		folders = append(folders, path.Dir(e.Path))
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// prepare makes the siblings of one file.
func (t *transaction) prepare(e entry, target target) error {
	var a attributes
	if target.info != nil {
		a = attributesOf(target.info)
	}
	if e.New != "" {
		if err := t.disk.create(e.New, target.After, a); err != nil {
			return err
		}
	}
	if e.Old == "" {
		return nil
	}
	err := t.disk.link(e.Path, e.Old)
	if !noHardLinks(err) {
		return err
	}
	content, err := t.disk.read(e.Path)
	if err != nil {
		return err
	}
	return t.disk.create(e.Old, content, a)
}

// noHardLinks says that the file system has none, or that the kernel does not
// let us make one of another user's file.
func noHardLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}

// replace puts the new file in the place of the old one, unless that changed
// since it was checked.
func (t *transaction) replace(e entry, target target) error {
	now, err := t.disk.root.Lstat(e.Path)
	switch {
	case target.info == nil && err == nil:
		return contentChanged([]string{e.Path + " appeared"})
	case target.info == nil && isAbsent(err):
	case target.info != nil && isAbsent(err):
		return contentChanged([]string{e.Path + " was deleted"})
	case err != nil:
		return &fileError{e.Path, err}
	case !unchanged(target.info, now):
		return contentChanged([]string{e.Path + " changed"})
	}
	err = t.put(e)
	if e.Old == "" && errors.Is(err, fs.ErrExist) {
		return contentChanged([]string{e.Path + " appeared"})
	}
	t.reached++
	if err != nil {
		return &fileError{e.Path, err}
	}
	return nil
}

// checkOld finds a file that another program wrote into between the last look
// at it and its rename; undoing then brings back what it wrote.
func (t *transaction) checkOld() error {
	var changed []string
	for i, e := range t.record.Files {
		if e.Old == "" {
			continue
		}
		old, err := t.disk.root.Lstat(e.Old)
		if err != nil {
			return &fileError{e.Path, err}
		}
		// A copy, made where there are no hard links, shows nothing.
		if checked := t.targets[i].info; os.SameFile(old, checked) && !unchanged(old, checked) {
			changed = append(changed, e.Path+" changed")
		}
	}
	if len(changed) > 0 {
		return contentChanged(changed)
	}
	return nil
}

// put makes the one change that is seen under a file's name.
func (t *transaction) put(e entry) error {
	switch {
	case e.New == "":
		return t.disk.remove(e.Path)
	case e.Old == "":
		// A link, unlike a rename, does not replace what appeared just now.
		if err := t.disk.link(e.New, e.Path); !noHardLinks(err) {
			return err
		}
	}
	return t.disk.rename(e.New, e.Path)
}
