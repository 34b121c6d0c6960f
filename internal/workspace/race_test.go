package workspace

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// swapWorld is a workspace whose folder dir can be swapped for a symlink to a
// folder outside that looks the same.
type swapWorld struct {
	root, outside, dir, away string
	pool                     *Pool
	want                     map[string]string // outside
}

func newSwapWorld(t *testing.T) *swapWorld {
	t.Helper()
	s := &swapWorld{root: t.TempDir(), outside: t.TempDir(), pool: newPool(t)}
	s.dir, s.away = filepath.Join(s.root, "dir"), filepath.Join(s.root, "away")
	files := map[string]string{"a": "0", "b": "0", "gone": "0"}
	write(t, s.outside, files)
	s.want = snapshot(t, s.outside)
	s.reset(t)
	return s
}

// reset makes dir a folder with its first content again.
func (s *swapWorld) reset(t *testing.T) {
	t.Helper()
	must(t, os.RemoveAll(s.dir))
	must(t, os.RemoveAll(s.away))
	write(t, s.dir, map[string]string{"a": "0", "b": "0", "gone": "0"})
}

func (s *swapWorld) swap() {
	_ = os.Rename(s.dir, s.away)
	_ = os.Symlink(s.outside, s.dir)
}

func (s *swapWorld) swapBack() {
	_ = os.RemoveAll(s.dir)
	_ = os.Rename(s.away, s.dir)
}

func (s *swapWorld) apply(t *testing.T) error {
	t.Helper()
	w, err := s.pool.Open(s.root)
	must(t, err)
	defer w.Close()
	_, err = w.Apply(t.Context(), []Change{
		{Path: "dir/a", Before: content("0"), After: []byte("1")},
		{Path: "dir/b", Before: content("0"), After: []byte("1")},
		{Path: "dir/gone", Before: content("0"), Delete: true},
		{Path: "dir/new/c", Before: Absent(), After: []byte("1")},
	})
	return err
}

func (s *swapWorld) wantOutsideUntouched(t *testing.T) {
	t.Helper()
	if got := snapshot(t, s.outside); !maps.Equal(got, s.want) {
		t.Fatalf("outside: %v, was %v", got, s.want)
	}
}

// imitate makes the folder outside equal to dir as it is now, siblings of a
// transaction and all, so that a write which follows the symlink succeeds.
func (s *swapWorld) imitate(t *testing.T) {
	t.Helper()
	must(t, os.RemoveAll(s.outside))
	must(t, os.CopyFS(s.outside, os.DirFS(s.dir)))
	s.want = snapshot(t, s.outside)
}

// The folder is swapped before each step of a transaction in turn, and stays
// so through the undoing.
func TestApplyNeverLeavesTheRoot(t *testing.T) {
	s := newSwapWorld(t)
	for n := 1; ; n++ {
		s.reset(t)
		step := 0
		s.pool.step = func(string) error {
			if step++; step == n {
				s.imitate(t)
				s.swap()
			}
			return nil
		}
		err := s.apply(t)
		s.wantOutsideUntouched(t)
		if step < n {
			must(t, err)
			return
		}
	}
}

// The folder is swapped there and back by another goroutine, at any instant.
func TestApplyRacesWithASwap(t *testing.T) {
	s := newSwapWorld(t)
	written, refused := 0, 0
	for range 300 {
		s.reset(t)
		begin, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			<-begin
			for range rand.IntN(2000) { // anywhere within the transaction
				runtime.Gosched()
			}
			s.swap()
			s.swapBack()
		}()
		close(begin)
		if s.apply(t) == nil {
			written++
		} else {
			refused++
		}
		<-done
		s.wantOutsideUntouched(t)
	}
	t.Logf("%d written, %d refused", written, refused)
}
