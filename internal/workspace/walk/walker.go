package walk

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// walker lists one scope.
type walker struct {
	ctx     context.Context //nolint:containedctx // of one List call
	root    *os.Root
	options Options
	glob    *glob // that paths must match; nil for none
	globHit bool  // the path of some file matched it
	listing *Listing
}

// start lists a folder, with the ignore files of the folders above it in
// force. Those that ignore one of the folders on the way are not: what is
// below was asked for by name, and they say nothing about its parts.
func (w *walker) start(base string) error {
	rules := &ignores{}
	if exclude := w.head(gitExclude, maxIgnoreFile); exclude != nil {
		rules.exclude = []ruleSet{parseRules("", exclude)}
	}
	at := ""
	for name := range strings.SplitSeq(base, "/") {
		if name == "." {
			break // the root itself
		}
		var err error
		if rules, err = w.pass(at, rules); err != nil {
			return err
		}
		at = path.Join(at, name)
		if rules.ignored(at, name, true) {
			rules = &ignores{}
		}
	}
	f, err := openFolder(w.root, at)
	if err != nil {
		return scopeError(base, err)
	}
	return w.walk(f, rules, 0)
}

// pass adds the ignore files of a folder above the scope.
func (w *walker) pass(name string, above *ignores) (*ignores, error) {
	f, err := openFolder(w.root, name)
	if err != nil {
		return nil, scopeError(name, err)
	}
	defer f.close()
	return w.enter(f, above)
}

// enter adds the ignore files of a folder to those in force.
func (w *walker) enter(f *folder, above *ignores) (*ignores, error) {
	var found [2][]byte
	for i, name := range []string{anyIgnore, gitIgnore} {
		data, err := f.readIgnore(name)
		switch {
		case err == nil:
			found[i] = data
		case isMissing(err) || errors.Is(err, syscall.ELOOP):
		default:
			if err := w.failed(err); err != nil {
				return nil, err
			}
		}
	}
	return above.with(f.path, found[0], found[1]), nil
}

// maxOpen is how many folders above the one being read are kept open. Below
// that depth folders are found from the root again, so that no depth of the
// tree can use up the descriptors.
const maxOpen = 64

// walk lists an open folder and what is below it, and closes it.
func (w *walker) walk(f *folder, above *ignores, depth int) error {
	defer f.close()
	entries, rules, err := w.read(f, above)
	if err != nil {
		return w.failed(err)
	}
	if depth >= maxOpen {
		f.close()
	}
	for i := range entries {
		if err := w.entry(f, &entries[i], rules, depth); err != nil {
			return err
		}
	}
	return nil
}

// below lists the folder under a name in another.
func (w *walker) below(f *folder, name string, rules *ignores, depth int) error {
	var child *folder
	var err error
	if depth < maxOpen {
		child, err = f.open(name)
	} else {
		child, err = openFolder(w.root, f.child(name))
	}
	if err != nil {
		return w.failed(err)
	}
	return w.walk(child, rules, depth+1)
}

// read reads a folder, and its ignore files.
func (w *walker) read(f *folder, above *ignores) ([]entry, *ignores, error) {
	entries, ignoreFiles, err := w.entries(f)
	if err != nil || !ignoreFiles {
		return entries, above, err
	}
	rules, err := w.enter(f, above)
	return entries, rules, err
}

func (w *walker) entry(f *folder, e *entry, rules *ignores, depth int) error {
	path := f.child(e.name())
	if rules.ignored(path, e.name(), e.isDir()) {
		w.listing.skip(Ignored)
		return nil
	}
	switch e.kind {
	case unix.S_IFDIR:
		if w.glob == nil || w.glob.mayHold(path) {
			return w.below(f, e.name(), rules, depth)
		}
	case unix.S_IFREG:
		w.file(path, e)
	case unix.S_IFLNK:
		w.listing.skip(Symlink)
	default:
		w.listing.skip(Special)
	}
	return nil
}

func (w *walker) file(name string, e *entry) {
	if w.glob != nil {
		if !w.glob.match(name) {
			return
		}
		w.globHit = true
	}
	head := func() []byte { return w.head(name, headBytes) }
	if w.options.Select == nil || w.options.Select(name, head) {
		w.add(e.file(name))
	}
}

func (w *walker) add(f File) {
	if w.options.MaxFileBytes > 0 && f.Size > w.options.MaxFileBytes {
		w.listing.skip(TooLarge)
		return
	}
	w.listing.Files = append(w.listing.Files, f)
}

// head reads the beginning of a file; nil when it cannot be read, which whoever
// opens it next finds too.
func (w *walker) head(name string, most int64) []byte {
	file, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	data, err := readRegular(file, most)
	if err != nil {
		return nil
	}
	return data
}
