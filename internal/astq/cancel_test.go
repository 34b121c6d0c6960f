package astq_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/astq"
)

// A search that was given up ends at once, with its caller's error; goleak
// sees that no worker is left. Whole, it takes several seconds.
func TestGrepCancelled(t *testing.T) {
	r := openLibrary(t)
	for _, query := range []string{"$A + $B", "$A.$B", "f($$$A, $X, $$$B, $X)"} {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(300*time.Millisecond, cancel)
		began := time.Now()
		_, err := r.Grep(ctx, astq.GrepQuery{Pattern: query, Language: "go", MaxResults: new(int32(1))})
		timer.Stop()
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", query, err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: ended %v after the start, want soon after 300ms", query, took)
		}
	}
}

// The search's own time ends it as well; what was found until then comes back.
func TestGrepTimeBudget(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one for the slow file, one for the rest
	r := openRoom(t, engineWith(t, func(c *astq.Config) { c.SearchTimeout, c.MaxFileBytes = 500*time.Millisecond, 16<<20 }), t.TempDir())
	r.write(map[string]string{"a.go": calls(3), "slow.go": "package p\n\nvar x = " + longSum(8) + "\n"})
	res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(int32(1))})
	if !res.Stats.Incomplete || res.Stats.Searched != 1 || len(res.Matches) != 1 || res.Omitted != 2 {
		t.Errorf("stats %+v with %d matches, want an incomplete search that found 3", res.Stats, len(res.Matches)+res.Omitted)
	}
	golden(t, "grep_incomplete_found", res.Text())
}

// Files that are rewritten, replaced and taken away while they are searched
// are found, passed over or gone, and never an error.
func TestGrepWhileFilesChange(t *testing.T) {
	files := map[string]string{"keep.go": calls(1)}
	for i := range 200 {
		files[fmt.Sprintf("f%03d.go", i)] = calls(4)
	}
	r := newRoom(t, files)
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			path := r.path(fmt.Sprintf("f%03d.go", i%200))
			_ = os.Remove(path)
			_ = os.WriteFile(path, []byte(calls(1+i%4)), 0o600)
		}
	})
	for range 20 {
		res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(int32(1000))})
		inOrder(t, res.Matches)
		if last := res.Matches[len(res.Matches)-1]; res.Omitted == 0 && last.Path != "keep.go" {
			t.Errorf("the last match is in %s, want that of keep.go, which stays", last.Path)
		}
		seen := res.Stats.Searched
		for _, n := range res.Stats.Skipped {
			seen += n
		}
		if seen > len(files) {
			t.Errorf("%d files were searched or passed over, of %d: %+v", seen, len(files), res.Stats)
		}
	}
	close(stop)
	churn.Wait()
}
