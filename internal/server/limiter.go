package server

import (
	"sync"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// limiter bounds the tool calls in flight, in the daemon and in each run. It
// refuses at once instead of queueing: a harness that is told so can wait,
// one that hangs cannot. Safe for concurrent use.
type limiter struct {
	daemonMax, runMax int

	mu     sync.Mutex
	daemon int
	runs   map[string]int // only runs with calls in flight
}

func newLimiter(daemonMax, runMax int) *limiter {
	return &limiter{daemonMax: daemonMax, runMax: runMax, runs: map[string]int{}}
}

// acquire counts a call, until release is called once.
func (l *limiter) acquire(runID string) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.daemon >= l.daemonMax {
		return nil, toolerr.Limit("max_calls", int64(l.daemonMax),
			"%d tool calls are in flight, which is the daemon's limit (--max-calls); try again when one has ended", l.daemon)
	}
	if l.runs[runID] >= l.runMax {
		return nil, toolerr.Limit("max_calls_per_run", int64(l.runMax),
			"%d tool calls are in flight in run %s, which is the limit of a run (--max-calls-per-run); wait for one of them", l.runs[runID], runID)
	}
	l.daemon++
	l.runs[runID]++
	return func() { l.release(runID) }, nil
}

func (l *limiter) release(runID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.daemon--
	if l.runs[runID]--; l.runs[runID] == 0 {
		delete(l.runs, runID)
	}
}
