package workspace

import (
	"errors"
	"maps"
	"syscall"
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// withoutDescriptors runs f while the process can open nothing.
func withoutDescriptors(t *testing.T, f func()) {
	t.Helper()
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: limit.Max}))
	defer func() { must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	f()
}

// A daemon that has run out of descriptors says nothing of the files: they are
// neither unreadable nor changed, and what was to be written still can be.
func TestWithoutDescriptors(t *testing.T) {
	w, root := newWorkspace(t, map[string]string{"a": "1", "b": "2"})
	before := snapshot(t, root)
	changes := []Change{
		{Path: "a", Before: content("1"), After: []byte("one")},
		{Path: "b", Before: content("2"), After: []byte("two")},
	}
	withoutDescriptors(t, func() {
		_, err := w.ReadFile("a", 100)
		wantOurs(t, "ReadFile", err)
		_, err = w.Apply(t.Context(), changes)
		wantOurs(t, "Apply", err)
	})
	if after := snapshot(t, root); !maps.Equal(before, after) {
		t.Error("the files are not what they were")
	}
	if _, err := w.Apply(t.Context(), changes); err != nil {
		t.Errorf("with descriptors again, Apply: %v", err)
	}
}

func wantOurs(t *testing.T, call string, err error) {
	t.Helper()
	_, hasReason := toolerr.As(err)
	if !errors.Is(err, syscall.EMFILE) || hasReason {
		t.Errorf("%s gave %v, want EMFILE, without a reason that blames the file", call, err)
	}
}
