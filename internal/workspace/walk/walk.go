// Package walk lists the files of a workspace that are worth searching: what
// the ignore files, hidden names, links and sizes leave over (docs/structural-
// search.md, "Which files"). It reaches everything through an os.Root, so no
// link leads out, and opens no file but ignore files and the first bytes of
// those whose name does not tell their language.
package walk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// Bounds of what is read on the way.
const (
	maxIgnoreFile = 1 << 20
	headBytes     = 256
	// binaryBytes is how far a NUL byte makes a file binary, as for git.
	binaryBytes = 8 << 10
)

// Reasons for which something is passed over, the keys of Listing.Skipped.
const (
	Ignored    = "ignored"
	Hidden     = "hidden"
	TooLarge   = "too_large"
	Unreadable = "unreadable"
	Symlink    = "symlink"
	Special    = "special" // a pipe, socket or device
	Vanished   = "vanished"
)

// Options choose files.
type Options struct {
	// Select tells whether a file is wanted, by its path, and by its first
	// bytes where the path does not tell; all are when it is nil. A file that
	// the scope names is always wanted.
	Select func(path string, head func() []byte) bool
	// MaxFileBytes is the size of the largest file; 0 for no bound.
	MaxFileBytes int64
}

// File is a regular file.
type File struct {
	Path    string // relative to the root, with slashes
	Size    int64
	ModTime time.Time
}

// Listing is what a scope holds.
type Listing struct {
	Files []File // in the byte order of their paths
	// Skipped counts what was passed over, by reason: folders count once.
	Skipped map[string]int
}

// List lists a scope: "" for everything, a file, a folder, or a glob. A scope
// that names something ignored or hidden is searched all the same; below it
// the usual rules hold. A scope that is not there is PATH_NOT_FOUND.
// Directories that are links are not followed.
func List(ctx context.Context, root *os.Root, scope string, o Options) (*Listing, error) {
	w := &walker{ctx: ctx, root: root, options: o, listing: &Listing{Skipped: map[string]int{}}}
	scope = path.Clean(scope)
	info, err := root.Stat(scope)
	switch {
	case err == nil && info.IsDir():
		err = w.start(scope)
	case err == nil && info.Mode().IsRegular():
		w.add(scope, info)
	case err == nil:
		return nil, toolerr.BadArgument("path", "%q is neither a file nor a folder", scope)
	case isGlob(scope):
		err = w.glob(scope)
	default:
		return nil, scopeError(scope, err)
	}
	if err != nil {
		return nil, err
	}
	return w.listing, nil
}

func isGlob(scope string) bool { return strings.ContainsAny(scope, "*?[{") }

func scopeError(scope string, err error) error {
	switch {
	case workspace.Escapes(err):
		return toolerr.New(toolerr.PermissionDenied, toolerr.ReasonOutsideWorkspace,
			"path %q leaves the workspace; give a path inside it", scope).WithCause(err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return toolerr.New(toolerr.NotFound, toolerr.ReasonPathNotFound,
			"path %q is not in the workspace; give a file, a folder or a glob relative to its root", scope).WithCause(err)
	default:
		return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonPathUnreadable, "path %q cannot be read: %v", scope, err).WithCause(err)
	}
}

// walker lists one scope.
type walker struct {
	ctx     context.Context //nolint:containedctx // of one List call
	root    *os.Root
	options Options
	pattern string // glob that paths must match; "" for none
	listing *Listing
}

func (w *walker) skip(reason string) { w.listing.Skipped[reason]++ }

func (w *walker) glob(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return toolerr.BadArgument("path", "%q is no valid glob", pattern)
	}
	w.pattern = pattern
	base, _ := doublestar.SplitPattern(pattern)
	info, err := w.root.Stat(base)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return scopeError(pattern, err)
	}
	return w.start(base)
}

// start lists a folder, with the ignore files of the folders above it in
// force, unless they ignore the folder itself: then it was asked for by name.
func (w *walker) start(folder string) error {
	rules := &ignores{exclude: w.read("", gitExclude)}
	if folder == "." {
		return w.folder("", rules)
	}
	at := ""
	byName := false
	for name := range strings.SplitSeq(folder, "/") {
		rules = w.enter(at, rules)
		at = path.Join(at, name)
		byName = byName || rules.ignored(at, name, true)
	}
	if byName {
		rules = &ignores{}
	}
	return w.folder(at, rules)
}

// enter adds the ignore files of a folder to those in force.
func (w *walker) enter(folder string, above *ignores) *ignores {
	return &ignores{
		ignore:  join(above.ignore, w.read(folder, anyIgnore)),
		git:     join(above.git, w.read(folder, gitIgnore)),
		exclude: above.exclude,
	}
}

// join never writes into the sets of the folder above, which its other
// subfolders use too.
func join(above, own []ruleSet) []ruleSet {
	if len(own) == 0 {
		return above
	}
	return append(slices.Clip(above), own...)
}

// read reads an ignore file; one that is not there or not readable has no rules.
func (w *walker) read(folder, name string) []ruleSet {
	data := w.readUpTo(path.Join(folder, name), maxIgnoreFile)
	if len(data) == 0 {
		return nil
	}
	return []ruleSet{parseRules(folder, data)}
}

func (w *walker) readUpTo(name string, most int64) []byte {
	info, err := w.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := w.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return data
}

// entry is a directory entry with its path.
type entry struct {
	fs.DirEntry
	path string
}

// folder lists a folder and what is below it.
func (w *walker) folder(folder string, above *ignores) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := w.entries(folder)
	if err != nil {
		w.skip(reasonOf(err))
		return nil
	}
	rules := above
	if hasIgnoreFile(entries) {
		rules = w.enter(folder, above)
	}
	for _, e := range entries {
		if err := w.entry(e, rules); err != nil {
			return err
		}
	}
	return nil
}

// entries reads a folder in the byte order of the paths that come of it: a
// folder sorts as if its name ended in a slash.
func (w *walker) entries(folder string) ([]entry, error) {
	name := folder
	if name == "" {
		name = "."
	}
	f, err := w.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	read, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(read))
	for i, e := range read {
		entries[i] = entry{DirEntry: e, path: path.Join(folder, e.Name())}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return entries, nil
}

func (e entry) sortKey() string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func hasIgnoreFile(entries []entry) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.Name() == gitIgnore || e.Name() == anyIgnore })
}

func (w *walker) entry(e entry, rules *ignores) error {
	if strings.HasPrefix(e.Name(), ".") {
		w.skip(Hidden)
		return nil
	}
	if rules.ignored(e.path, e.Name(), e.IsDir()) {
		w.skip(Ignored)
		return nil
	}
	switch mode := e.Type(); {
	case mode.IsDir():
		return w.folder(e.path, rules)
	case mode.IsRegular():
		w.file(e)
	case mode&fs.ModeSymlink != 0:
		w.skip(Symlink)
	default:
		w.skip(Special)
	}
	return nil
}

func (w *walker) file(e entry) {
	if w.pattern != "" && !doublestar.MatchUnvalidated(w.pattern, e.path) {
		return
	}
	head := func() []byte { return w.readUpTo(e.path, headBytes) }
	if w.options.Select != nil && !w.options.Select(e.path, head) {
		return
	}
	info, err := e.Info()
	if err != nil {
		w.skip(reasonOf(err))
		return
	}
	w.add(e.path, info)
}

func (w *walker) add(name string, info fs.FileInfo) {
	if w.options.MaxFileBytes > 0 && info.Size() > w.options.MaxFileBytes {
		w.skip(TooLarge)
		return
	}
	w.listing.Files = append(w.listing.Files, File{Path: name, Size: info.Size(), ModTime: info.ModTime()})
}

func reasonOf(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return Vanished
	}
	return Unreadable
}

// IsBinary tells whether a source is no text: it has a NUL byte near its
// beginning.
func IsBinary(source []byte) bool {
	return bytes.IndexByte(source[:min(len(source), binaryBytes)], 0) >= 0
}
