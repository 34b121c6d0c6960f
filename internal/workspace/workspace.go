package workspace

import (
	"os"
	"sync"
)

// Workspace is one run's hold on a root. Its methods are safe for concurrent
// use.
type Workspace struct {
	core *core
	// alias is the root as it was named when it was opened.
	alias string

	mu      sync.Mutex
	closed  bool
	cancels []func()
}

// Root returns the absolute path of the root, symlinks resolved.
func (w *Workspace) Root() string { return w.core.root }

// FS returns the root for reading, for instance to walk it. It belongs to the
// workspace; only this package writes through it.
func (w *Workspace) FS() *os.Root { return w.core.disk.root }

// Close gives up the hold and ends the handle's subscriptions. A write that
// is under way is finished. Further calls do nothing.
func (w *Workspace) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	cancels := w.cancels
	w.cancels = nil
	w.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
	return w.core.release()
}

// OnChange calls f after each transaction on the root, through this handle or
// another, with the paths that it wrote, created or deleted. f runs on the
// writer's goroutine before [Workspace.Apply] returns, so it must be quick;
// it must not keep or change paths. It ends with cancel, or with the handle.
func (w *Workspace) OnChange(f func(paths []string)) (cancel func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return func() {}
	}
	cancel = w.core.subscribe(f)
	w.cancels = append(w.cancels, cancel)
	return cancel
}

// retain keeps the root open for the length of a call, whoever closes the
// handle meanwhile.
func (w *Workspace) retain() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	w.core.pool.mu.Lock()
	defer w.core.pool.mu.Unlock()
	w.core.refs++
	return nil
}
