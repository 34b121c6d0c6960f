// Package walk lists the files of a workspace that are worth searching: what
// the ignore files, hidden names, links and sizes leave over (docs/structural-
// search.md, "Which files"). It reaches everything through an os.Root, so no
// link leads out, and opens no file but ignore files and the first bytes of
// those whose name does not tell their language.
//
// Ignore files are read as git reads them, with three differences: they count
// in a folder that is no repository too, .ignore files beat them as in ripgrep,
// and those outside the root (the user's own, and those of folders above) do
// not exist.
package walk

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Bounds of what is read on the way.
const (
	maxIgnoreFile = 1 << 20
	headBytes     = 256
	// binaryBytes is how far a NUL byte makes a file binary, as for git.
	binaryBytes = 8 << 10
	// maxPathBytes is PATH_MAX of Linux; nothing below a longer path can be
	// named by a caller.
	maxPathBytes = 4096
)

// Reasons for which something is passed over, the keys of Listing.Skipped.
const (
	Ignored  = "ignored"
	Hidden   = "hidden"
	TooLarge = "too_large"
	// Unreadable also counts ignore files that cannot be read, and names that
	// are not UTF-8, which no answer could carry.
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
	Inode   uint64
}

// Listing is what a scope holds.
type Listing struct {
	Files []File // in the byte order of their paths
	// Skipped counts what was passed over, by reason: folders count once.
	Skipped map[string]int
	// GlobMissed says that the scope is a glob and the path of no file that
	// was come across matches it, wanted or not.
	GlobMissed bool
}

func (l *Listing) skip(reason string) { l.Skipped[reason]++ }

// List lists a scope: "" for everything, a file, a folder, or a glob. A scope
// that names something ignored or hidden is searched all the same, whether it
// is a link or not; below it the usual rules hold, but not those of the files
// that ignore it. Links below it are not followed.
//
// In a glob, "*" and "?" stay within a name, "**" is any number of folders,
// "{a,b}" are alternatives and "[a-z]" is a set. The first parts of it that are
// there as they are written are taken as such, so "app/[id]/*.tsx" finds the
// folder "[id]". A name with a leading dot is matched by a part with one.
//
// Errors: PATH_NOT_FOUND for a scope, or a folder that a glob begins with, that
// is not there, PATH_UNREADABLE, PATH_OUTSIDE_WORKSPACE, BAD_ARGUMENT for what
// is neither file nor folder, and the context's. Failures below the scope are
// counted and do not end the listing, unless the process is out of descriptors.
func List(ctx context.Context, root *os.Root, scope string, o Options) (*Listing, error) {
	target, err := resolve(root, scope)
	if err != nil {
		return nil, err
	}
	w := &walker{ctx: ctx, root: root, options: o, glob: target.glob, listing: &Listing{Skipped: map[string]int{}}}
	switch {
	case target.info.IsDir():
		err = w.start(target.base)
	case target.info.Mode().IsRegular():
		w.add(fileOf(target.base, target.info))
	default:
		return nil, toolerr.BadArgument("path", "%q is neither a file nor a folder", scope)
	}
	if err != nil {
		return nil, err
	}
	w.listing.GlobMissed = target.glob != nil && !w.globHit
	return w.listing, nil
}

// fileOf describes a file that was named.
func fileOf(name string, info fs.FileInfo) File {
	return File{Path: name, Size: info.Size(), ModTime: info.ModTime(), Inode: inodeOf(info)}
}

// IsBinary tells whether a source is no text: it has a NUL byte near its
// beginning.
func IsBinary(source []byte) bool {
	return bytes.IndexByte(source[:min(len(source), binaryBytes)], 0) >= 0
}
