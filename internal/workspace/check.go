package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// target is a change that was found to fit its file.
type target struct {
	Change
	path string
	info fs.FileInfo // of the file as it was checked; nil for a creation
}

// check compares every file with what its change expects. All that differ are
// named in one CONTENT_CHANGED.
func (c *core) check(ctx context.Context, changes []Change, paths []string) ([]target, error) {
	targets := make([]target, len(changes))
	var differ, readOnly []string
	for i, change := range changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, difference, err := c.compare(paths[i], change.Before)
		switch {
		case err != nil:
			return nil, err
		case difference != "":
			differ = append(differ, fmt.Sprintf("%s %s", paths[i], difference))
		case info != nil && info.Mode().Perm()&0o222 == 0:
			readOnly = append(readOnly, fmt.Sprintf("%s (mode %#o)", paths[i], info.Mode().Perm()))
		}
		targets[i] = target{Change: change, path: paths[i], info: info}
	}
	if len(differ) > 0 {
		return nil, contentChanged(differ)
	}
	if len(readOnly) > 0 {
		return nil, toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonWriteFailed,
			"nobody may write %s; nothing was written. Give write permission first", strings.Join(readOnly, ", "))
	}
	return targets, nil
}

// contentChanged names each file that differs and how.
func contentChanged(differ []string) error {
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonContentChanged, "%s", strings.Join(differ, "; "))
}

// compare says how a path differs from what is expected; "" when it does not.
// info is nil when nothing is there. An error is a path that leaves the root,
// or a failure that IsOurs.
func (c *core) compare(name string, want Expected) (info fs.FileInfo, difference string, err error) {
	info, err = c.disk.root.Lstat(name)
	switch {
	case errors.Is(err, errEscapes), IsOurs(err):
		return nil, "", pathError(name, err)
	case isAbsent(err) && want.absent:
		return nil, "", nil
	case isAbsent(err):
		return nil, "was deleted", nil
	case err != nil:
		return nil, fmt.Sprintf("became unreadable (%v)", reason(err)), nil
	case want.absent:
		return nil, "appeared", nil
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, "became a symlink", nil
	case info.IsDir():
		return nil, "is a folder now", nil
	case !info.Mode().IsRegular():
		return nil, "is no regular file any more", nil
	}
	hash, opened, err := c.disk.hash(name)
	switch {
	case IsOurs(err):
		return nil, "", pathError(name, err)
	case isAbsent(err):
		return nil, "was deleted", nil
	case err != nil:
		return nil, fmt.Sprintf("became unreadable (%v)", reason(err)), nil
	case hash != want.hash || !unchanged(info, opened):
		return nil, "changed", nil
	}
	return opened, "", nil
}

// isAbsent says that nothing can be there: a part of the path is missing, or
// is no folder.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// identify returns a name of the place that a path leads to, equal for all
// spellings of it through folders that are symlinks. Names that hard links
// give to one file are equal too. A path that cannot be looked at is its own
// name; the check says what is wrong with it.
func (c *core) identify(name string) (string, error) {
	info, err := c.disk.root.Lstat(name)
	for rest := ""; ; {
		if err == nil {
			stat := info.Sys().(*syscall.Stat_t) // always so on Linux
			return fmt.Sprintf("%d:%d:%s", stat.Dev, stat.Ino, rest), nil
		}
		if errors.Is(err, errEscapes) {
			return "", pathError(path.Join(name, rest), err)
		}
		if !isAbsent(err) || name == "." {
			return path.Join(name, rest), nil
		}
		rest = path.Join(path.Base(name), rest)
		name = path.Dir(name)
		info, err = c.disk.root.Stat(name)
	}
}

// unchanged says that a file is the same, with the same size, time of change
// of its content, and mode.
func unchanged(a, b fs.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t) // always so on Linux
	return x.Dev == y.Dev && x.Ino == y.Ino && x.Size == y.Size && x.Mtim == y.Mtim && a.Mode() == b.Mode()
}
