package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Rel returns the clean, slash-separated path relative to the root of what a
// caller wrote: a path relative to the root, or an absolute one inside it, by
// its canonical name or the one that the workspace was opened by. The root
// itself is ".". It does not look at the disk: a symlink that leads out is
// found when the path is used.
//
// An empty path and one with a NUL byte are BAD_ARGUMENT; one that leaves the
// root is PATH_OUTSIDE_WORKSPACE. ".." that stays inside is resolved by name.
func (w *Workspace) Rel(name string) (string, error) {
	switch {
	case name == "":
		return "", toolerr.BadArgument("path", "is empty; the workspace itself is \".\"")
	case strings.ContainsRune(name, 0):
		return "", toolerr.BadArgument("path", "%q holds a NUL byte", name)
	}
	rel := path.Clean(name)
	if path.IsAbs(rel) {
		inside, ok := below(w.core.root, rel)
		if !ok {
			inside, ok = below(w.alias, rel)
		}
		if !ok {
			return "", outside(name)
		}
		return inside, nil
	}
	if !filepath.IsLocal(rel) {
		return "", outside(name)
	}
	return rel, nil
}

// below returns a clean absolute path relative to a root that holds it.
func below(root, name string) (rel string, ok bool) {
	if name == root {
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(root, "/")+"/")
}

func outside(name string) *toolerr.Error {
	return toolerr.New(toolerr.PermissionDenied, toolerr.ReasonOutsideWorkspace,
		"%q lies outside the workspace; paths are relative to its root", name)
}

// ReadFile returns the content of a regular file, by its path relative to the
// root. Symlinks inside the root are followed. A FIFO or a device is refused
// and never waited for.
//
// The errors are PATH_NOT_FOUND, PATH_UNREADABLE, PATH_OUTSIDE_WORKSPACE (a
// symlink that leads out), and LIMIT_EXCEEDED for a file of more than maxBytes;
// what IsOurs has no reason.
func (w *Workspace) ReadFile(rel string, maxBytes int64) ([]byte, error) {
	f, info, err := w.core.disk.openRegular(rel)
	if err != nil {
		return nil, pathError(rel, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	tooLarge := func() error {
		return toolerr.Limit("max_file_bytes", maxBytes, "%q holds more than %d bytes, the most that is read of a file", rel, maxBytes)
	}
	if info.Size() > maxBytes {
		return nil, tooLarge()
	}
	content, err := readAll(io.LimitReader(f, maxBytes+1), info.Size())
	if err != nil {
		return nil, pathError(rel, err)
	}
	if int64(len(content)) > maxBytes { // it grew meanwhile
		return nil, tooLarge()
	}
	return content, nil
}

// readAll is io.ReadAll with a buffer that fits a file of the given size.
func readAll(r io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, 0, size+1) // the extra byte lets the end be seen without growing
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// errNotRegular is what is neither a regular file nor a folder.
var errNotRegular = errors.New("not a regular file")

// errEscapes is what os.Root answers for a path that leaves it; package os
// exports no name for it.
var errEscapes = func() error {
	var pathErr *fs.PathError
	root, err := os.OpenRoot("/")
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	if _, err = root.Lstat(".."); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}()

// IsOurs tells whether the failure to use a path is no fault of the path: no
// descriptor is left for it, or the root was closed. What is at the path is
// then unknown, and must not be reported as missing, unreadable or changed.
func IsOurs(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, fs.ErrClosed)
}

// pathError turns the failure to use a path into what a caller can act on.
// One that IsOurs stays without a reason.
func pathError(rel string, err error) error {
	switch {
	case IsOurs(err):
		return fmt.Errorf("use %q: %w", rel, err)
	case errors.Is(err, errEscapes):
		return outside(rel).WithCause(err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return toolerr.New(toolerr.NotFound, toolerr.ReasonPathNotFound, "there is no %q in the workspace", rel).WithCause(err)
	default:
		return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonPathUnreadable, "%q cannot be read: %v", rel, reason(err)).WithCause(err)
	}
}

// reason is the innermost cause of a failure of package os, without the names
// of calls and temporary files.
func reason(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
