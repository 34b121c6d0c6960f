package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The transaction that the crash and fault tests cut off: it replaces,
// deletes and creates, in folders old and new.
var (
	crashFiles   = map[string]string{"a": "a1", "dir/b": "b1", "gone": "g1"}
	crashChanges = []Change{
		{Path: "a", Before: content("a1"), After: []byte("a2")},
		{Path: "dir/b", Before: content("b1"), After: []byte("b2")},
		{Path: "gone", Before: content("g1"), Delete: true},
		{Path: "dir/c", Before: Absent(), After: []byte("c2")},
		{Path: "new/deep/d", Before: Absent(), After: []byte("d2")},
	}
)

// crashWorld is one workspace and state folder that survive what happens to
// the pools over them.
type crashWorld struct {
	root, state string
	before      map[string]string
}

func newCrashWorld(t *testing.T) crashWorld {
	t.Helper()
	w := crashWorld{root: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	write(t, w.root, crashFiles)
	must(t, os.Chmod(filepath.Join(w.root, "dir/b"), 0o755))
	w.before = snapshot(t, w.root)
	return w
}

// pool opens a pool whose steps call step.
func (w crashWorld) pool(t *testing.T, step func(string) error) *Pool {
	t.Helper()
	p, err := NewPool(w.state)
	must(t, err)
	p.step = step
	return p
}

// isNew says whether all changes are made; it fails when only some are.
func (w crashWorld) isNew(t *testing.T) bool {
	t.Helper()
	now := snapshot(t, w.root)
	if maps.Equal(now, w.before) {
		return false
	}
	for _, change := range crashChanges {
		got, err := os.ReadFile(filepath.Join(w.root, change.Path))
		if change.Delete && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil || string(got) != string(change.After) {
			t.Fatalf("neither all old nor all new: %v", now)
		}
	}
	if mode := now["dir/b"]; !strings.HasPrefix(mode, "-rwxr-xr-x") {
		t.Fatalf("the mode is lost: %s", mode)
	}
	return true
}

// settle recovers and checks that all is old or all is new, and nothing left.
func (w crashWorld) settle(t *testing.T) (isNew bool) {
	t.Helper()
	p := w.pool(t, nil)
	defer p.Close()
	recovered, err := p.Recover(t.Context())
	must(t, err)
	isNew = w.isNew(t)
	for _, r := range recovered {
		if r.Err != nil || len(r.Left) > 0 || r.Finished != isNew {
			t.Errorf("recovered: %v", r)
		}
	}
	wantNoLeftovers(t, p, w.root)
	return isNew
}

// errKilled unwinds a goroutine that is "killed" inside the process.
var errKilled = errors.New("killed")

// kill runs f until its nth step, and says whether it got there.
func kill(n int, f func(step func(string) error)) (killed bool) {
	defer func() {
		if v := recover(); v != nil {
			if v != errKilled { //nolint:errorlint // the value itself
				panic(v)
			}
			killed = true
		}
	}()
	step := 0
	f(func(string) error {
		step++
		if step >= n {
			panic(errKilled)
		}
		return nil
	})
	return false
}

func (w crashWorld) apply(t *testing.T, step func(string) error) error {
	t.Helper()
	p := w.pool(t, step)
	defer p.Close()
	ws, err := p.Open(w.root)
	must(t, err)
	defer ws.Close()
	_, err = ws.Apply(t.Context(), crashChanges)
	return err
}

func (w crashWorld) recover(t *testing.T, step func(string) error) {
	t.Helper()
	p := w.pool(t, step)
	defer p.Close()
	_, err := p.Recover(t.Context())
	must(t, err)
}

// Every step of a transaction is cut off, and after each every step of the
// recovery from it, and the recovery from that.
func TestRecoverAfterAnyStep(t *testing.T) {
	for n := 1; ; n++ {
		w := newCrashWorld(t)
		if !kill(n, func(step func(string) error) { must(t, w.apply(t, step)) }) {
			if !w.isNew(t) || n < 40 {
				t.Fatalf("the transaction took %d steps, new: %v", n-1, w.isNew(t))
			}
			t.Logf("%d steps", n-1)
			return
		}
		for m := 1; kill(m, func(step func(string) error) { w.recover(t, step) }); m++ {
			continue
		}
		w.settle(t)
	}
}

// The same with a real SIGKILL of a real process, once a step.
func TestRecoverAfterSIGKILL(t *testing.T) {
	outcomes := map[bool]int{}
	for n := 1; ; n++ {
		w := newCrashWorld(t)
		if !crashChild(t, crashOrder{Root: w.root, State: w.state, Step: n}) {
			if !w.isNew(t) {
				t.Fatal("a transaction that was not killed did not write")
			}
			break
		}
		if n%8 == 0 {
			crashChild(t, crashOrder{Root: w.root, State: w.state, Step: 2 + n%5, Recover: true})
		}
		outcomes[w.settle(t)]++
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("outcomes %v: want old and new ones", outcomes)
	}
}

// crashEnv holds the crashOrder of a child.
const crashEnv = "TOOLSD_TEST_CRASH"

// crashOrder tells a child what to do, and before which step to kill itself.
type crashOrder struct {
	Root, State string
	Step        int
	Recover     bool
}

// crashChild runs this test binary as a child, and says whether it was killed.
func crashChild(t *testing.T, order crashOrder) (killed bool) {
	t.Helper()
	text, err := json.Marshal(order)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("child: %v\n%s", err, out)
	}
	return true
}

// crash is the child.
func crash(text string) {
	var order crashOrder
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(json.Unmarshal([]byte(text), &order))
	p, err := NewPool(order.State)
	check(err)
	step := 0
	p.step = func(string) error {
		step++
		if step == order.Step {
			check(syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
		return nil
	}
	if order.Recover {
		_, err = p.Recover(context.Background())
		check(err)
		return
	}
	w, err := p.Open(order.Root)
	check(err)
	_, err = w.Apply(context.Background(), crashChanges)
	check(err)
}

// crashBefore kills a transaction before the first step with the given name.
func (w crashWorld) crashBefore(t *testing.T, name string) {
	t.Helper()
	killed := kill(1, func(now func(string) error) {
		must(t, w.apply(t, func(step string) error {
			if step == name {
				return now(step)
			}
			return nil
		}))
	})
	if !killed {
		t.Fatalf("no step %q", name)
	}
}

// What somebody changes after the crash is left alone and named.
func TestRecoverLeavesForeignChanges(t *testing.T) {
	w := newCrashWorld(t)
	w.crashBefore(t, "link new/deep/d")
	write(t, w.root, map[string]string{"a": "mine", "gone": "mine too", "new/other": "x"})
	must(t, os.Remove(filepath.Join(w.root, "dir/c")))
	must(t, os.Symlink("../a", filepath.Join(w.root, "dir/c")))

	p := w.pool(t, nil)
	defer p.Close()
	recovered, err := p.Recover(t.Context())
	must(t, err)
	if len(recovered) != 1 || recovered[0].Err != nil {
		t.Fatalf("recovered %v", recovered)
	}
	want := "undone: a, dir/b, gone, dir/c, new/deep/d in \"" + w.root + "\"; left alone, because somebody changed them since: " +
		"a (changed), gone (changed), dir/c (no regular file)"
	if got := recovered[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, want := range map[string]string{"a": "mine", "gone": "mine too", "dir/b": "b1", "dir/c": "mine", "new/other": "x"} {
		if got, err := os.ReadFile(filepath.Join(w.root, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	wantNoLeftovers(t, p, w.root)
}

// A file that somebody brought to the same content as the transaction, which
// had not got to it, is theirs.
func TestRecoverLeavesEqualForeignChanges(t *testing.T) {
	w := newCrashWorld(t)
	w.crashBefore(t, "rename dir/b")
	must(t, os.Remove(filepath.Join(w.root, "dir/b")))
	write(t, w.root, map[string]string{"dir/b": "b2", "dir/c": "c2"})
	p := w.pool(t, nil)
	defer p.Close()
	recovered, err := p.Recover(t.Context())
	must(t, err)
	if len(recovered) != 1 || !slices.Equal(recovered[0].Left, []string{"dir/b (changed)", "dir/c (changed)"}) {
		t.Fatalf("recovered %v", recovered)
	}
	for name, want := range map[string]string{"a": "a1", "dir/b": "b2", "dir/c": "c2"} {
		if got, _ := os.ReadFile(filepath.Join(w.root, name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	wantNoLeftovers(t, p, w.root)
}

// A folder that was replaced by a symlink after the crash is not followed.
func TestRecoverStaysInside(t *testing.T) {
	w, outside := newCrashWorld(t), t.TempDir()
	w.crashBefore(t, "link new/deep/d")
	moved := filepath.Join(outside, "moved")
	must(t, os.Rename(filepath.Join(w.root, "dir"), moved))
	must(t, os.Symlink(moved, filepath.Join(w.root, "dir")))
	before := snapshot(t, outside)

	p := w.pool(t, nil)
	defer p.Close()
	recovered, err := p.Recover(t.Context())
	must(t, err)
	if len(recovered) != 1 || recovered[0].Err != nil || len(recovered[0].Left) != 2 {
		t.Fatalf("recovered %v", recovered)
	}
	if after := snapshot(t, outside); !maps.Equal(before, after) {
		t.Errorf("outside: %v, was %v", after, before)
	}
	if got, _ := os.ReadFile(filepath.Join(w.root, "a")); string(got) != "a1" {
		t.Errorf("a is %q", got)
	}
}

func TestRecoverKeepsWhatItCannotSettle(t *testing.T) {
	w := newCrashWorld(t)
	w.crashBefore(t, "link new/deep/d")
	must(t, os.Rename(w.root, w.root+".away"))
	must(t, os.MkdirAll(filepath.Join(w.state, journalFolder, "broken"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.state, journalFolder, "broken", openRecord), []byte("{"), 0o600))
	p := w.pool(t, nil)
	defer p.Close()
	for range 2 {
		recovered, err := p.Recover(t.Context())
		must(t, err)
		if len(recovered) != 2 || recovered[0].Err == nil || recovered[1].Err == nil {
			t.Fatalf("recovered %v", recovered)
		}
	}
	must(t, os.RemoveAll(filepath.Join(w.state, journalFolder, "broken")))
	must(t, os.Rename(w.root+".away", w.root))
	recovered, err := p.Recover(t.Context())
	must(t, err)
	if len(recovered) != 1 || recovered[0].Err != nil || w.isNew(t) {
		t.Fatalf("recovered %v", recovered)
	}
	wantNoLeftovers(t, p, w.root)
}
