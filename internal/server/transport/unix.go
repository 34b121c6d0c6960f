package transport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocketPath is the longest path that fits a socket address on Linux.
const maxSocketPath = 107

// probeTimeout bounds the question whether somebody serves a socket; a local
// connect takes microseconds unless the peer's backlog is full.
const probeTimeout = time.Second

// ListenUnix serves a unix socket for the users in uids, or for toolsd's own
// user when there is none. The socket has mode 0600 and stands in a folder of
// mode 0700, which is made when it is missing. A socket that nobody serves any
// more is replaced; one that is served is an error. The lock file beside the
// socket keeps two daemons that start at once apart; it is left in place,
// because removing it would open that race again.
func ListenUnix(path string, uids []uint32) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("listen on unix://%s: the path has %d bytes, a socket's at most %d", path, len(path), maxSocketPath)
	}
	if err := privateFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("listen on unix://%s: %w", path, err)
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("listen on unix://%s: %w", path, err)
	}
	listener, err := bind(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on unix://%s: %w", path, err), lock.Close())
	}
	allowed := map[uint32]bool{}
	for _, uid := range uids {
		allowed[uid] = true
	}
	if len(uids) == 0 {
		allowed[uint32(os.Geteuid())] = true //nolint:gosec // a user id has 32 bits on Linux
	}
	return &guarded{Listener: &lockedListener{Listener: listener, lock: lock}, guard: uidGuard{allowed: allowed}}, nil
}

// privateFolder makes the socket's folder, or checks the one that is there.
// It does not repair a folder: the path may name one that others rely on.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil { //nolint:forbidigo // a socket's folder is no part of any workspace
		return fmt.Errorf("make its folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at its folder: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("look at its folder %s: no owner is known", dir)
	}
	if int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("its folder %s belongs to user id %d, not to toolsd's own (%d); name a folder of its own", dir, stat.Uid, os.Geteuid())
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Errorf("its folder %s has mode %#o, so others could replace the socket; name a folder of its own, or \"chmod 700\" it", dir, perm)
	}
	return nil
}

// lockFile takes the lock for as long as the file is open.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600) //nolint:forbidigo,gosec // beside the socket, in a private folder
	if err != nil {
		return nil, fmt.Errorf("open its lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(errors.New("another toolsd serves it; stop that one, or choose another --listen"), f.Close())
	}
	return f, nil
}

func bind(path string) (net.Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "unix", path) //nolint:forbidigo // nothing waits in a bind
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { //nolint:forbidigo // the socket is no part of any workspace
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// removeStale clears the way when a socket is there that nobody serves.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("something that is no socket stands there; remove it, or choose another --listen")
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout) //nolint:forbidigo // bounded by itself
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(errors.New("another program serves it; stop that one, or choose another --listen"), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("ask who serves it: %w", err)
	}
	return os.Remove(path) //nolint:forbidigo // a dead socket is no part of any workspace
}

// lockedListener gives the lock back when the listener is closed.
type lockedListener struct {
	net.Listener
	lock *os.File
}

// Close closes the socket and then gives its lock back.
func (l *lockedListener) Close() error {
	return errors.Join(l.Listener.Close(), l.lock.Close())
}

// peerUID asks the kernel whose process is at the other end.
func peerUID(conn net.Conn) (uint32, error) {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("%T has no peer credentials", conn)
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("read the peer's credentials: %w", err)
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, credErr); err != nil {
		return 0, fmt.Errorf("read the peer's credentials: %w", err)
	}
	return cred.Uid, nil
}
