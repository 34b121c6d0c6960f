package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilledDuringAccept kills a daemon with SIGKILL at random moments of an
// accept. After the next start either every file is old or every file is new,
// and nothing else lies about.
func TestKilledDuringAccept(t *testing.T) {
	const rounds, fileCount = 12, 300
	p := newPlace(t)
	folder := filepath.Join(p.dir, "code")
	names := make([]string, fileCount)
	for i := range names {
		names[i] = fmt.Sprintf("d%d/f%d.dart", i%7, i)
		writeFile(t, filepath.Join(folder, names[i]), source("before", i))
	}
	took := timeAccept(t, p, folder)
	now := "after"
	settled := 0
	for range rounds {
		other := map[string]string{"before": "after", "after": "before"}[now]
		d := p.serve(t)
		d.createRun("r", folder)
		edit := d.stage("r", now+"($X)", other+"($X)")
		accepted := make(chan error, 1)
		go func() { accepted <- d.accept(context.WithoutCancel(t.Context()), "r", edit) }()
		moment := rand.N(took)
		<-time.After(moment) // not a wait for something: the moment is the test's input
		d.kill()
		answered := <-accepted == nil

		d = p.serve(t) // finishes or undoes before it serves
		recovered := d.logged("a write that a crash cut off was settled")
		settled += len(recovered)
		state := stateOf(t, folder, names)
		t.Logf("killed after %s of about %s: was %s, is %s, settled %v", moment, took, now, state, len(recovered) > 0)
		if answered && state != other {
			t.Fatalf("the accept was answered and the files are %s", state)
		}
		now = state
		if status := d.terminate(); status != 0 {
			t.Errorf("exit status %d", status)
		}
	}
	if settled == 0 {
		t.Error("no kill cut an accept off, so this has shown nothing")
	}
	for _, name := range files(t, p.state) {
		if name != "workspace.lock" {
			t.Errorf("%s is left in the state folder", name)
		}
	}
}

// source is what a file holds in one of its two states.
func source(state string, i int) string {
	return fmt.Sprintf("void f%d() {\n  %s(%d);\n}\n", i, state, i) + strings.Repeat("// filler\n", 200)
}

// timeAccept accepts before to after once, undisturbed, and returns its time.
func timeAccept(t *testing.T, p place, folder string) time.Duration {
	t.Helper()
	d := p.serve(t)
	d.createRun("r", folder)
	edit := d.stage("r", "before($X)", "after($X)")
	start := time.Now()
	must(t, d.accept(t.Context(), "r", edit))
	took := time.Since(start)
	if status := d.terminate(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	return took
}

// stateOf returns the state that every file is in, and fails when they differ
// or there are others.
func stateOf(t *testing.T, folder string, names []string) string {
	t.Helper()
	counts := map[string]int{}
	for i, name := range names {
		switch got := readFile(t, filepath.Join(folder, name)); got {
		case source("before", i):
			counts["before"]++
		case source("after", i):
			counts["after"]++
		default:
			t.Fatalf("%s is neither old nor new:\n%s", name, got)
		}
	}
	if left := files(t, folder); len(left) != len(names) {
		t.Errorf("%d files where %d belong: %v", len(left), len(names), left)
	}
	if len(counts) != 1 {
		t.Fatalf("neither all old nor all new: %v", counts)
	}
	for state := range maps.Keys(counts) {
		return state
	}
	return ""
}
