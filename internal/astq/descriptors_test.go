package astq_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/toolsd/toolsd/internal/astq"
)

// Without descriptors a search fails, rather than to call every file
// unreadable, and an edit stays pending, rather than to be called stale.
func TestWithoutDescriptors(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(2), "b.go": calls(1)})
	p, err := r.Edit(t.Context(), astq.EditQuery{Pattern: "f($X)", Rewrite: "g($X)", Language: "go"})
	must(t, err)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}))
	_, grepErr := r.Grep(t.Context(), astq.GrepQuery{Pattern: "h($X)", Path: "a.go"})
	_, resolveErr := r.Resolve(t.Context(), p.ID, astq.Accept)
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	for call, err := range map[string]error{"Grep": grepErr, "Resolve": resolveErr} {
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s gave %v, want EMFILE", call, err)
		}
	}
	if _, err := r.Resolve(t.Context(), p.ID, astq.Accept); err != nil {
		t.Errorf("with descriptors again, the edit cannot be accepted: %v", err)
	}
}
