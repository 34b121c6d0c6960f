// Package session owns the run map: which runs live, whose they are, what
// they own, what they may do, and when they end (design.md section 4).
//
// A run is made whole or not at all: every resource it declares is attached
// by an injected [Attacher], and all of them are closed, once, when the run
// ends. A run ends by [Manager.Close], by its idle TTL, with its parent, or
// with the daemon ([Manager.Drain]). A conversation has at most one holder of
// each named slot (the debug session), across its runs, and a slot has a hard
// TTL of its own.
//
// The package knows no gRPC, no generated code and no tool family; it neither
// authenticates (a [Principal] is what the caller says it is) nor touches
// files or processes.
//
// # Goroutines
//
// An idle run has none, and no timer either: the one loop that the owner
// starts with [Manager.RunSweeper] ends runs and slots whose time is up. A
// run that is being created or ended has one, and one more for each resource
// that is closing; both end by themselves. Drain waits for all of them,
// except for a foreign callback that outstays [Config].CloseTimeout.
//
// # Locking
//
// One mutex, Manager.mu, guards the run map and the changing part of every
// run and slot. Nothing slow and nothing foreign runs under it.
package session
