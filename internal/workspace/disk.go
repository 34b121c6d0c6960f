package workspace

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// disk is a folder to write in. Every change of any disk that this package
// makes is one of its methods, and none leaves the folder.
type disk struct {
	root *os.Root
	step func(name string) error // see Pool.step
}

// at marks a step.
func (d disk) at(step, name string) error {
	if d.step == nil {
		return nil
	}
	return d.step(step + " " + name)
}

// attributes are what a new file takes over from the one it replaces. The
// zero value is a new file's: our owner, and a mode as the umask has it.
type attributes struct {
	keep     bool
	mode     fs.FileMode
	uid, gid int
}

func attributesOf(info fs.FileInfo) attributes {
	stat := info.Sys().(*syscall.Stat_t) // always so on Linux
	return attributes{keep: true, mode: info.Mode(), uid: int(stat.Uid), gid: int(stat.Gid)}
}

// create makes a file that must not exist yet, writes and syncs it.
func (d disk) create(name string, content []byte, a attributes) (err error) {
	if err := d.at("create", name); err != nil {
		return err
	}
	perm := fs.FileMode(0o666)
	if a.keep {
		perm = 0o600 // nobody reads it before it has its owner
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := d.at("write", name); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := takeOver(f, a); err != nil {
		return err
	}
	if err := d.at("sync", name); err != nil {
		return err
	}
	return f.Sync()
}

// takeOver gives a new file its owner and then, since a change of owner
// clears the set-id bits, its mode.
func takeOver(f *os.File, a attributes) error {
	if !a.keep {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if now := attributesOf(info); now.uid != a.uid || now.gid != a.gid {
		if err := f.Chown(a.uid, a.gid); err != nil {
			return err
		}
	}
	return f.Chmod(a.mode)
}

// link gives a file a second name, which must not exist yet.
func (d disk) link(from, to string) error {
	if err := d.at("link", to); err != nil {
		return err
	}
	return d.root.Link(from, to)
}

// rename replaces what is at to.
func (d disk) rename(from, to string) error {
	if err := d.at("rename", to); err != nil {
		return err
	}
	return d.root.Rename(from, to)
}

// remove takes a file or an empty folder away, if it is there.
func (d disk) remove(name string) error {
	if err := d.at("remove", name); err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mkdir makes a folder that must not exist yet.
func (d disk) mkdir(name string, perm fs.FileMode) error {
	if err := d.at("mkdir", name); err != nil {
		return err
	}
	return d.root.Mkdir(name, perm)
}

// sync makes the names in a folder durable.
func (d disk) sync(folder string) error {
	if err := d.at("sync", folder); err != nil {
		return err
	}
	f, err := d.root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Sync has the last word
	return f.Sync()
}

// openRegular opens a regular file for reading and never waits for a writer
// of a FIFO.
func (d disk) openRegular(name string) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = syscall.EISDIR
	case !info.Mode().IsRegular():
		err = errNotRegular
	default:
		return f, info, nil
	}
	_ = f.Close() // it was only looked at
	return nil, nil, err
}

// read returns the content of a regular file.
func (d disk) read(name string) ([]byte, error) {
	f, _, err := d.openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(f)
}

// hash returns the hash of a regular file, and what the file was that was read.
func (d disk) hash(name string) (h Hash, info fs.FileInfo, err error) {
	f, info, err := d.openRegular(name)
	if err != nil {
		return h, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return h, nil, err
	}
	return Hash(sum.Sum(nil)), info, nil
}

// exists says whether anything is at a name.
func (d disk) exists(name string) bool {
	_, err := d.root.Lstat(name)
	return err == nil
}

// same says whether two names are of one file.
func (d disk) same(a, b string) bool {
	x, errX := d.root.Lstat(a)
	y, errY := d.root.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
