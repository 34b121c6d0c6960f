package walk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/toolsd/toolsd/internal/workspace"
)

// namesAtOnce is how many names of a folder are read between two looks at the
// context.
const namesAtOnce = 4096

// entry is what a folder has under a name, links not followed.
type entry struct {
	// key is the name, with a slash behind that of a folder: so keys sort as
	// the paths that come of them.
	key     string
	kind    uint32 // unix.S_IFREG and the like
	size    int64
	modTime int64 // nanoseconds since 1970
	inode   uint64
}

func (e *entry) isDir() bool { return e.kind == unix.S_IFDIR }

func (e *entry) name() string { return strings.TrimSuffix(e.key, "/") }

// file describes an entry that is a regular file.
func (e *entry) file(path string) File {
	return File{Path: path, Size: e.size, ModTime: time.Unix(0, e.modTime), Inode: e.inode}
}

// folder is an open folder. It reads and opens by base names alone and follows
// no link, so whatever is swapped meanwhile, nothing leaves the folder that
// os.Root found.
type folder struct {
	dir  *os.File
	path string // "" for the root
}

// openFolder opens a folder; O_DIRECTORY keeps it from waiting on a pipe.
func openFolder(root *os.Root, path string) (*folder, error) {
	name := path
	if name == "" {
		name = "."
	}
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, path: path}, nil
}

// open opens a folder in the folder.
func (f *folder) open(name string) (*folder, error) {
	file, err := f.openFile(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{dir: file, path: f.child(name)}, nil
}

// openFile opens what is under a name for reading, and does not wait for it.
func (f *folder) openFile(name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(f.dir.Fd()), name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, err
		}
	}
}

func (f *folder) close() { _ = f.dir.Close() } // it was only read

// child returns the path of a name in the folder.
func (f *folder) child(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "/" + name
}

// names reads the next names; none are left when it returns io.EOF.
func (f *folder) names() ([]string, error) { return f.dir.Readdirnames(namesAtOnce) }

// look describes what is under a name.
func (f *folder) look(name string) (entry, error) {
	var stat unix.Stat_t
	for {
		err := unix.Fstatat(int(f.dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return entry{}, err
		}
	}
	e := entry{key: name, kind: stat.Mode & unix.S_IFMT, size: stat.Size, modTime: stat.Mtim.Nano(), inode: stat.Ino}
	if e.isDir() {
		e.key += "/"
	}
	return e, nil
}

// readIgnore reads an ignore file of the folder. As for git, one that is a
// link is none.
func (f *folder) readIgnore(name string) ([]byte, error) {
	file, err := f.openFile(name, 0)
	if err != nil {
		return nil, err
	}
	return readRegular(file, maxIgnoreFile)
}

// readRegular reads the beginning of a file and closes it. One that is not
// regular is empty; no read of it could be trusted to return.
func readRegular(file *os.File, most int64) ([]byte, error) {
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return []byte{}, err
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// entries reads the folder. Entries that may not be listed are counted and
// left out; ignoreFiles tells whether there are any.
func (w *walker) entries(f *folder) (entries []entry, ignoreFiles bool, err error) {
	for {
		if err := w.ctx.Err(); err != nil {
			return nil, false, err
		}
		names, err := f.names()
		for _, name := range names {
			ignoreFiles = ignoreFiles || name == gitIgnore || name == anyIgnore
			e, ok, err := w.look(f, name)
			if err != nil {
				return nil, false, err
			}
			if ok {
				entries = append(entries, e)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, fmt.Errorf("read folder %q: %w", f.path, err)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return entries, ignoreFiles, nil
}

// look describes the entry under a name, unless it is one to pass over.
func (w *walker) look(f *folder, name string) (e entry, ok bool, err error) {
	switch {
	case name[0] == '.' && (w.glob == nil || !w.glob.names(name)):
		w.listing.skip(Hidden)
		return e, false, nil
	case !utf8.ValidString(name) || len(f.path)+1+len(name) > maxPathBytes:
		w.listing.skip(Unreadable)
		return e, false, nil
	}
	e, err = f.look(name)
	if err != nil {
		return e, false, w.failed(err)
	}
	return e, true, nil
}

// failed counts something that could not be read. It returns the errors that
// are no fault of the file.
func (w *walker) failed(err error) error {
	switch {
	case workspace.IsOurs(err), w.ctx.Err() != nil:
		return err
	case isMissing(err):
		w.listing.skip(Vanished)
	default:
		w.listing.skip(Unreadable)
	}
	return nil
}

func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
