package session

import (
	"container/heap"
	"context"
	"time"
)

// deadline is the instant at which the sweeper looks at a run or a slot. For
// a slot it is the end of its TTL. For a run it is the earliest end of its
// idle time: calls do not move it, the sweeper does when it looks, so that a
// call costs nothing here and a run is looked at once in an idle TTL.
type deadline struct {
	at   time.Time
	pos  int  // 1-based place in the heap; 0 when it is in none
	run  *Run // one of the two is set
	slot *Slot
}

// deadlines is a heap, the earliest first. Not safe for concurrent use.
type deadlines struct{ queue deadlineQueue }

func (d *deadlines) add(e *deadline, at time.Time) {
	e.at = at
	heap.Push(&d.queue, e)
}

func (d *deadlines) remove(e *deadline) {
	if e.pos > 0 {
		heap.Remove(&d.queue, e.pos-1)
	}
}

// move puts off a deadline that is in the heap.
func (d *deadlines) move(e *deadline, at time.Time) {
	e.at = at
	heap.Fix(&d.queue, e.pos-1)
}

// passed returns the earliest deadline that is not after now, or nil.
func (d *deadlines) passed(now time.Time) *deadline {
	if len(d.queue) == 0 || d.queue[0].at.After(now) {
		return nil
	}
	return d.queue[0]
}

// deadlineQueue implements heap.Interface.
type deadlineQueue []*deadline

func (q deadlineQueue) Len() int           { return len(q) }
func (q deadlineQueue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

func (q deadlineQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i+1, j+1
}

func (q *deadlineQueue) Push(x any) {
	e := x.(*deadline)
	*q = append(*q, e)
	e.pos = len(*q)
}

func (q *deadlineQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	last.pos = 0
	*q = old[:len(old)-1]
	return last
}

// RunSweeper ends idle runs and slots whose TTL is over, until ctx ends. One
// goroutine per Manager.
func (m *Manager) RunSweeper(ctx context.Context) {
	ticker := time.NewTicker(m.cfg.SweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.Sweep()
		}
	}
}

// Sweep is one look of the sweeper: it starts the end of every run that has
// been idle for its idle TTL and of every slot held for its TTL, and returns
// how many. It waits for none of them, so that one that hangs holds up no
// other.
func (m *Manager) Sweep() int {
	swept := m.sweep()
	for _, kind := range swept {
		m.observe(EventSwept, kind)
	}
	return len(swept)
}

// sweep returns the label of each run and slot that it ended.
func (m *Manager) sweep() (swept []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.cfg.Now()
	for e := m.deadlines.passed(now); e != nil; e = m.deadlines.passed(now) {
		if s := e.slot; s != nil {
			m.expireSlotLocked(s, CauseTTL)
			swept = append(swept, s.key.name)
			continue
		}
		idleEnd := e.run.lastActiveLocked(now).Add(e.run.spec.IdleTTL)
		if idleEnd.After(now) {
			m.deadlines.move(e, idleEnd)
			continue
		}
		m.endLocked(e.run, CauseIdle)
		swept = append(swept, sweptRun)
	}
	m.lastSweep = now
	return swept
}
