package session_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/session"
)

const idleRuns = 10_000

// idleSpec is a run as harnesses make them: a few resources, labels and
// variables. No two runs share strings that callers send.
func idleSpec(i int) session.Spec {
	return session.Spec{
		RunID:          fmt.Sprintf("run-%d", i),
		ConversationID: fmt.Sprintf("conversation-%d", i),
		WorkspaceRoot:  fmt.Sprintf("/srv/projects/%d", i),
		Ceiling:        session.TierExec,
		Resources: map[session.Kind]any{
			session.KindLSP: struct{}{}, session.KindFiles: struct{}{}, session.KindAST: struct{}{},
			session.KindDebug: struct{}{}, session.KindEval: struct{}{}, session.KindAsk: struct{}{},
			session.KindVibe: struct{}{},
		},
		Env:    map[string]string{"GOFLAGS": fmt.Sprintf("-p=%d", i), "LANG": "C.UTF-8"},
		Labels: map[string]string{"team": fmt.Sprintf("team-%d", i), "purpose": "review"},
	}
}

// idleManager returns a Manager with n idle runs, whose resources weigh next
// to nothing, and the clock that it goes by.
func idleManager(tb testing.TB, n int) (*session.Manager, *time.Time) {
	tb.Helper()
	now := time.Now()
	attach := func(context.Context, session.AttachEnv, any) (session.Resource, error) {
		return closer(func(context.Context) error { return nil }), nil
	}
	cfg := session.Config{
		Attachers: map[session.Kind]session.Attacher{},
		OpenWorkspace: func(root string) (session.Workspace, error) {
			return ledgerWorkspace{root, func() {}}, nil
		},
		Now: func() time.Time { return now },
	}
	for kind := range idleSpec(0).Resources {
		cfg.Attachers[kind] = attach
	}
	m, err := session.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		if _, err := m.Create(tb.Context(), alice, idleSpec(i)); err != nil {
			tb.Fatal(err)
		}
	}
	return m, &now
}

func drainIdle(tb testing.TB, m *session.Manager) {
	tb.Helper()
	if err := m.Drain(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first one finalized
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}

// TestIdleRunsCost checks the bound of 8 KiB an idle run, and that it has no
// goroutine.
func TestIdleRunsCost(t *testing.T) {
	const n, bound = 1000, 8 << 10
	goroutines, before := runtime.NumGoroutine(), heapInUse()
	m, _ := idleManager(t, n)
	after := heapInUse()
	if perRun := (after - before) / n; perRun > bound {
		t.Errorf("an idle run costs %d bytes, want at most %d", perRun, bound)
	}
	if extra := runtime.NumGoroutine() - goroutines; extra > 10 {
		t.Errorf("%d goroutines for %d idle runs", extra, n)
	}
	drainIdle(t, m)
}

// BenchmarkIdleRuns tells what 10,000 idle runs cost, stacks included.
func BenchmarkIdleRuns(b *testing.B) {
	var bytes uint64
	for b.Loop() {
		before := heapInUse()
		m, _ := idleManager(b, idleRuns)
		bytes += heapInUse() - before
		drainIdle(b, m)
	}
	b.ReportMetric(float64(bytes)/float64(b.N)/idleRuns, "B/run")
}

// BenchmarkSweep10k tells what a sweep takes that looks at 10,000 idle runs,
// none of them due.
func BenchmarkSweep10k(b *testing.B) {
	m, _ := idleManager(b, idleRuns)
	for b.Loop() {
		if m.Sweep() != 0 {
			b.Fatal("a run was ended")
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/sweep")
	b.StopTimer()
	drainIdle(b, m)
}

// BenchmarkSweepEnds10k tells how long the sweeper is busy when 10,000 runs
// are due at once; what they own is closed beside it.
func BenchmarkSweepEnds10k(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		m, now := idleManager(b, idleRuns)
		*now = now.Add(session.DefaultIdleTTL)
		b.StartTimer()
		if n := m.Sweep(); n != idleRuns {
			b.Fatalf("%d runs were ended", n)
		}
		b.StopTimer()
		drainIdle(b, m)
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/sweep")
}

// BenchmarkBegin tells what a call costs here, with 10,000 runs in the map.
func BenchmarkBegin(b *testing.B) {
	m, _ := idleManager(b, idleRuns)
	b.ReportAllocs()
	for b.Loop() {
		_, call, err := m.Begin(b.Context(), alice, "local.run-5000")
		if err != nil {
			b.Fatal(err)
		}
		call.Done()
	}
	b.StopTimer()
	drainIdle(b, m)
}
