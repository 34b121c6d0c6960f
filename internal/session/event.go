package session

// Cause says why a run or a slot ended. The set is closed, so a cause may be
// the label of a metric.
type Cause string

// The causes.
const (
	// CauseClosed is a run ended by its caller.
	CauseClosed Cause = "closed"
	// CauseIdle is a run that had no call and no stream for its idle TTL.
	CauseIdle Cause = "idle"
	// CauseParent is a run whose parent ended.
	CauseParent Cause = "parent_ended"
	// CauseDrain is a run ended with the daemon.
	CauseDrain Cause = "drain"
	// CauseTTL is a slot held for its whole TTL.
	CauseTTL Cause = "ttl"
	// CauseFailed is a run that could not be created whole.
	CauseFailed Cause = "create_failed"
)

// explain completes "the run ended: …" for a reader.
func (c Cause) explain() string {
	switch c {
	case CauseClosed:
		return "it was closed"
	case CauseIdle:
		return "it was idle for its whole idle TTL"
	case CauseParent:
		return "its parent run ended"
	case CauseDrain:
		return "toolsd is shutting down"
	case CauseFailed:
		return "it could not be created whole"
	default:
		return string(c)
	}
}

// EventType is what happened, for counters.
type EventType int

// The event types, with what their label is.
const (
	// EventRunCreated is a run that went live; no label.
	EventRunCreated EventType = iota + 1
	// EventRunEnded is a run that is gone, with everything it owned; the label
	// is its Cause (CauseFailed for one that never went live).
	EventRunEnded
	// EventSwept is what the sweeper ended; the label is "run" or the name of
	// the slot.
	EventSwept
	// EventCloseFailed is a callback at the end of a run or slot that failed,
	// panicked or outstayed its time; the label is the resource's kind, the
	// slot's name, "workspace", "calls" or "attach".
	EventCloseFailed
	// EventLimitRejected is a request over a limit; the label names the limit.
	EventLimitRejected
)

// Event is one fact for telemetry. Labels come from closed sets: never an id,
// a path or an error's text.
type Event struct {
	Type  EventType
	Label string
}

// sweptRun is the label of a run in EventSwept.
const sweptRun = "run"

// observe hands an event to telemetry. It is never called under m.mu.
func (m *Manager) observe(t EventType, label string) {
	// A panic is logged by guard, and an observer returns nothing.
	_ = m.guard("observer", func() error {
		m.cfg.Observe(Event{Type: t, Label: label})
		return nil
	})
}
