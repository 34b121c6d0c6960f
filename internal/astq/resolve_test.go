package astq_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// renameF rewrites each call of f.
func renameF(to string) astq.EditQuery {
	return astq.EditQuery{Pattern: "f($X)", Rewrite: to + "($X)", Language: "go"}
}

func (r *room) resolve(id string, action astq.Action) *astq.Resolution {
	r.t.Helper()
	res, err := r.Resolve(r.t.Context(), id, action)
	must(r.t, err)
	return res
}

func TestAcceptWritesAll(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(2), "b/c.go": calls(1), "other.go": "package p\n"})
	must(t, os.Chmod(r.path("a.go"), 0o751))
	want := r.snapshot()
	for name, text := range want {
		want[name] = strings.ReplaceAll(text, "\tf(", "\tg(")
	}
	p := r.edit(renameF("g"))
	golden(t, "resolve_accept", r.resolve(p.ID, astq.Accept).Text())
	if diff := cmp.Diff(want, r.snapshot()); diff != "" {
		t.Errorf("the tree differs (-want +got):\n%s", diff)
	}
}

func TestDiscard(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(2)})
	before := r.snapshot()
	p := r.edit(renameF("g"))
	golden(t, "resolve_discard", r.resolve(p.ID, astq.Discard).Text())
	r.unchanged(before)
	_, err := r.Resolve(t.Context(), p.ID, astq.Accept)
	refused(t, err, toolerr.ReasonEditResolved, "edit_1", "discarded already", "no edit is waiting")
}

func TestResolveUnknown(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(1)})
	_, err := r.Resolve(t.Context(), "edit_1", astq.Accept)
	refused(t, err, toolerr.ReasonEditNotFound, `"edit_1"`, "no edit is waiting", "ast_edit")
	for range 3 {
		r.edit(renameF("g"))
	}
	r.resolve("edit_2", astq.Discard)
	for _, id := range []string{"edit_9", "", "EDIT_1", "edit_01"} {
		_, err := r.Resolve(t.Context(), id, astq.Accept)
		refused(t, err, toolerr.ReasonEditNotFound, fmt.Sprintf("%q", id), "waiting: edit_1, edit_3")
	}
	_, err = r.Resolve(t.Context(), "edit_1", 0)
	refused(t, err, toolerr.ReasonBadArgument, "accept or discard")
	r.resolve("edit_1", astq.Accept)
	_, err = r.Resolve(t.Context(), "edit_1", astq.Discard)
	refused(t, err, toolerr.ReasonEditResolved, "accepted already", "waiting: edit_3")
}

func TestResolveAtOnce(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(20), "b.go": calls(20)})
	p := r.edit(renameF("g"))
	errs := make([]error, 20)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() { _, errs[i] = r.Resolve(t.Context(), p.ID, astq.Accept) })
	}
	done.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		refused(t, err, toolerr.ReasonEditResolved, "accepted")
	}
	if won != 1 {
		t.Errorf("%d of 20 calls accepted the edit, want 1", won)
	}
}

func TestStale(t *testing.T) {
	files := map[string]string{
		"changed.go": calls(1), "deleted.go": calls(1), "link.go": calls(1), "folder.go": calls(1), "fifo.go": calls(1), "d/gone.go": calls(1), "same.go": calls(1),
	}
	r := newRoom(t, files)
	p := r.edit(renameF("g"))
	r.write(map[string]string{"changed.go": calls(1) + "\n"})
	must(t, os.Remove(r.path("deleted.go")))
	must(t, os.Rename(r.path("link.go"), r.path("target")))
	must(t, os.Symlink("target", r.path("link.go")))
	must(t, os.Remove(r.path("folder.go")))
	must(t, os.Mkdir(r.path("folder.go"), 0o755))
	must(t, os.Remove(r.path("fifo.go")))
	must(t, syscall.Mkfifo(r.path("fifo.go"), 0o600))
	must(t, os.RemoveAll(r.path("d")))
	before := r.snapshot()
	_, err := r.Resolve(t.Context(), p.ID, astq.Accept)
	refused(t, err, toolerr.ReasonEditStale)
	golden(t, "resolve_stale", err.Error()+"\n")
	r.unchanged(before)
	_, err = r.Resolve(t.Context(), p.ID, astq.Accept)
	refused(t, err, toolerr.ReasonEditResolved, "had changed, and is gone")
	r.edit(renameF("g"))
}

// A file that was touched, or written again as it was, has not changed.
func TestNotStale(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(1)})
	p := r.edit(renameF("g"))
	must(t, os.Remove(r.path("a.go")))
	r.write(map[string]string{"a.go": calls(1)})
	r.resolve(p.ID, astq.Accept)
}

func TestSecondEditOfAFileIsStale(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(1), "b.go": calls(1)})
	first, second := r.edit(renameF("g")), r.edit(renameF("h"))
	other := r.edit(astq.EditQuery{Pattern: "f($X)", Rewrite: "i($X)", Path: "b.go"})
	r.resolve(first.ID, astq.Accept)
	before := r.snapshot()
	for _, id := range []string{second.ID, other.ID} {
		_, err := r.Resolve(t.Context(), id, astq.Accept)
		refused(t, err, toolerr.ReasonEditStale, "b.go changed")
	}
	r.unchanged(before)
}

// What cannot be written changes nothing and stays staged: once the cause is
// gone it can be accepted.
func TestAcceptFails(t *testing.T) {
	t.Run("a read-only file", func(t *testing.T) {
		r := newRoom(t, map[string]string{"a.go": calls(1), "b.go": calls(1)})
		p := r.edit(renameF("g"))
		must(t, os.Chmod(r.path("b.go"), 0o444))
		before := r.snapshot()
		_, err := r.Resolve(t.Context(), p.ID, astq.Accept)
		refused(t, err, toolerr.ReasonWriteFailed, "b.go", "nothing was written")
		r.unchanged(before)
		must(t, os.Chmod(r.path("b.go"), 0o644))
		r.resolve(p.ID, astq.Accept)
	})
	t.Run("a full disk", func(t *testing.T) {
		root := t.TempDir()
		if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=256k"); err != nil {
			t.Skipf("no tmpfs can be mounted here: %v", err)
		}
		t.Cleanup(func() { must(t, syscall.Unmount(root, syscall.MNT_DETACH)) })
		r := openRoom(t, engineWith(t, func(*astq.Config) {}), root)
		r.write(map[string]string{"a.go": calls(1), "b.go": calls(5000)})
		p := r.edit(renameF("ggggggggggggg"))
		r.write(map[string]string{"filler": strings.Repeat("x", 120<<10)})
		before := r.snapshot()
		_, err := r.Resolve(t.Context(), p.ID, astq.Accept)
		refused(t, err, toolerr.ReasonWriteFailed, "b.go", "no space left", "nothing was written")
		r.unchanged(before)
		must(t, os.Remove(r.path("filler")))
		r.resolve(p.ID, astq.Accept)
	})
	t.Run("a caller that gave up", func(t *testing.T) {
		r := newRoom(t, map[string]string{"a.go": calls(1)})
		p := r.edit(renameF("g"))
		before := r.snapshot()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.Resolve(ctx, p.ID, astq.Accept)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
		r.unchanged(before)
		r.resolve(p.ID, astq.Accept)
	})
}

func TestCloseDropsEdits(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(1)})
	p := r.edit(renameF("g"))
	before := r.snapshot()
	must(t, r.Close(t.Context()))
	must(t, r.Close(t.Context()))
	for _, action := range []astq.Action{astq.Accept, astq.Discard} {
		_, err := r.Resolve(t.Context(), p.ID, action)
		refused(t, err, toolerr.ReasonEditNotFound)
	}
	_, err := r.Edit(t.Context(), renameF("g"))
	refused(t, err, toolerr.ReasonRunEnded)
	r.unchanged(before)
}
