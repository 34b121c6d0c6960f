package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// target is what a scope names.
type target struct {
	base string // clean, relative to the root
	info fs.FileInfo
	glob *glob // what the files below base must match; nil for all
}

// resolve finds out what a scope names.
func resolve(root *os.Root, scope string) (target, error) {
	clean := path.Clean(scope)
	if !fs.ValidPath(clean) {
		return target{}, scopeError(scope, errors.New("the path is not below the root"))
	}
	info, err := root.Stat(clean)
	switch {
	case err == nil:
		return target{base: clean, info: info}, nil
	case isMissing(err) && hasMeta(clean):
		return resolveGlob(root, clean)
	default:
		return target{}, scopeError(scope, err)
	}
}

// resolveGlob splits a glob into the folder that it begins with and the rest.
func resolveGlob(root *os.Root, scope string) (target, error) {
	base, rest := ".", scope
	for {
		part, after, _ := strings.Cut(rest, "/")
		next := path.Join(base, part)
		_, err := root.Lstat(next)
		if isMissing(err) && hasMeta(part) {
			break
		}
		if err != nil {
			return target{}, scopeError(next, err)
		}
		base, rest = next, after
	}
	if !doublestar.ValidatePattern(rest) {
		return target{}, toolerr.BadArgument("path", "%q is no valid glob", scope)
	}
	info, err := root.Stat(base)
	if err != nil {
		return target{}, scopeError(base, err)
	}
	if !info.IsDir() {
		return target{}, scopeError(scope, syscall.ENOTDIR)
	}
	return target{base: base, info: info, glob: newGlob(base, rest)}, nil
}

func hasMeta(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// isMissing tells whether nothing is there; the parent may be a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func scopeError(scope string, err error) error {
	var errno syscall.Errno
	switch {
	case workspace.IsOurs(err):
		return fmt.Errorf("look up %q: %w", scope, err)
	case isMissing(err):
		return toolerr.New(toolerr.NotFound, toolerr.ReasonPathNotFound,
			"path %q is not in the workspace; give a file, a folder or a glob relative to its root", scope).WithCause(err)
	case errors.As(err, &errno):
		return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonPathUnreadable, "path %q cannot be read: %v", scope, errno).WithCause(err)
	default:
		// What os.Root says of a path that escapes is no system error.
		return toolerr.New(toolerr.PermissionDenied, toolerr.ReasonOutsideWorkspace,
			"path %q leaves the workspace; give a path inside it", scope).WithCause(err)
	}
}

// glob is what is left of a scope behind the folder that it begins with.
type glob struct {
	skip    int // bytes of a path in front of the part that is matched
	pattern string
	// parts are those of the pattern; nil when braces hold a slash, so that it
	// cannot be taken apart.
	parts []string
}

func newGlob(base, pattern string) *glob {
	g := &glob{pattern: pattern}
	if base != "." {
		g.skip = len(base) + 1
	}
	parts := strings.Split(pattern, "/")
	for _, part := range parts {
		if strings.Count(part, "{") != strings.Count(part, "}") {
			return g
		}
	}
	g.parts = parts
	return g
}

func (g *glob) match(path string) bool {
	return doublestar.MatchUnvalidated(g.pattern, path[g.skip:])
}

// mayHold tells whether something below a folder may match.
func (g *glob) mayHold(folder string) bool {
	if g.parts == nil {
		return true
	}
	names := strings.Split(folder[g.skip:], "/")
	for i, name := range names {
		switch {
		case i == len(g.parts):
			return false
		case strings.Contains(g.parts[i], "**"):
			return true
		case !doublestar.MatchUnvalidated(g.parts[i], name):
			return false
		}
	}
	return len(names) < len(g.parts)
}

// names tells whether a part of the glob asks for a hidden name.
func (g *glob) names(hidden string) bool {
	for _, part := range g.parts {
		if strings.HasPrefix(part, ".") && doublestar.MatchUnvalidated(part, hidden) {
			return true
		}
	}
	return false
}
