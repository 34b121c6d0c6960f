package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// Names inside the state folder.
const (
	lockFile      = "workspace.lock"
	journalFolder = "journal"
)

// Pool opens workspaces. Handles of one root share what must be shared: the
// open folder, the write lock and the subscribers. Its methods are safe for
// concurrent use.
type Pool struct {
	lock    *os.File
	journal *os.Root // one folder a transaction

	// step, if not nil, is called before each step that changes a disk; an
	// error stands for that step's failure. Tests fail and kill with it.
	step func(name string) error

	mu    sync.Mutex
	cores map[string]*core // by canonical root
}

// NewPool opens the state folder, which is made with mode 0700 if it is not
// there, and locks it: it fails when another daemon holds it, and when others
// than its owner may write there.
func NewPool(stateDir string) (*Pool, error) {
	if err := os.MkdirAll(filepath.Join(stateDir, journalFolder), 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder %q: %w", stateDir, err)
	}
	info, err := os.Stat(stateDir)
	if err != nil {
		return nil, fmt.Errorf("look at the state folder: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("the state folder %q has mode %#o: others may write there; chmod 0700 it, or choose another", stateDir, info.Mode().Perm())
	}
	lock, err := lockState(stateDir)
	if err != nil {
		return nil, err
	}
	journal, err := os.OpenRoot(filepath.Join(stateDir, journalFolder))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal: %w", err), lock.Close())
	}
	return &Pool{lock: lock, journal: journal, cores: map[string]*core{}}, nil
}

// lockState takes the lock of a state folder. It ends with the returned file,
// and so with the process, however that ends.
func lockState(stateDir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(stateDir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state folder: %w", err)
	}
	switch err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("the state folder %q is in use by another toolsd; stop it, or choose another", stateDir), lock.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock the state folder %q: %w", stateDir, err), lock.Close())
	}
	return lock, nil
}

// Close releases the state folder. Open workspaces keep their files readable,
// but must not write any more.
func (p *Pool) Close() error {
	return errors.Join(p.journal.Close(), p.lock.Close())
}

// Open opens an existing folder, named by an absolute path; its canonical
// path, symlinks resolved, is the root. The caller closes the workspace.
// Anything else than a folder that can be opened is BAD_ARGUMENT.
func (p *Pool) Open(root string) (*Workspace, error) {
	if !filepath.IsAbs(root) {
		return nil, toolerr.BadArgument("workspace_root", "%q is not an absolute path", root)
	}
	canonical, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, toolerr.BadArgument("workspace_root", "%q cannot be opened: %v", root, reason(err)).WithCause(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	shared, ok := p.cores[canonical]
	if !ok {
		fs, err := openFolder(canonical)
		if err != nil {
			return nil, toolerr.BadArgument("workspace_root", "%q cannot be opened: %v", root, reason(err)).WithCause(err)
		}
		shared = newCore(p, canonical, fs)
		p.cores[canonical] = shared
	}
	shared.refs++
	return &Workspace{core: shared, alias: filepath.Clean(root)}, nil
}

// openFolder is os.OpenRoot that never waits on what is no folder.
func openFolder(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return os.OpenRoot(path)
}

// core is what the handles of one root share.
type core struct {
	pool *Pool
	root string
	disk disk
	// writing holds one token while a transaction runs.
	writing chan struct{}
	refs    int // guarded by Pool.mu

	mu          sync.Mutex
	subscribers map[int]func(paths []string)
	subscribed  int
}

func newCore(p *Pool, root string, fs *os.Root) *core {
	return &core{
		pool: p, root: root, disk: disk{root: fs, step: p.step},
		writing: make(chan struct{}, 1), subscribers: map[int]func([]string){},
	}
}

// release gives up one hold on the core; the last one closes it.
func (c *core) release() error {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	c.refs--
	if c.refs > 0 {
		return nil
	}
	delete(c.pool.cores, c.root)
	return c.disk.root.Close()
}

// subscribe adds a listener and returns what takes it away again.
func (c *core) subscribe(f func(paths []string)) (cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.subscribed
	c.subscribed++
	c.subscribers[id] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subscribers, id)
	}
}

// notify tells every listener, without a lock held, so that a listener may
// read, write and unsubscribe.
func (c *core) notify(paths []string) {
	c.mu.Lock()
	listeners := make([]func([]string), 0, len(c.subscribers))
	for _, f := range c.subscribers {
		listeners = append(listeners, f)
	}
	c.mu.Unlock()
	for _, f := range listeners {
		f(paths)
	}
}
