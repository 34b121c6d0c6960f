package toolerr

// Reason is the stable name of a failure: the reason of google.rpc.ErrorInfo
// (domain "toolsd"). Reasons are part of the API: they are added, never
// renamed.
type Reason string

// The reasons, by the part of the service that gives them.
const (
	// Requests.

	// ReasonBadArgument names the bad fields in the error's violations.
	ReasonBadArgument Reason = "BAD_ARGUMENT"
	// ReasonLimit is a limit of the daemon; the fields name it and its value.
	ReasonLimit Reason = "LIMIT_EXCEEDED"
	// ReasonUnauthenticated is a caller without credentials that count here.
	ReasonUnauthenticated Reason = "UNAUTHENTICATED"
	// ReasonMethodNotAllowed is a method that the method table does not list.
	ReasonMethodNotAllowed Reason = "METHOD_NOT_ALLOWED"
	// ReasonNotBuilt is a service that is defined but not built yet.
	ReasonNotBuilt Reason = "NOT_BUILT"

	// Runs.

	// ReasonRunNotFound is a run that is unknown, closed, or another principal's.
	ReasonRunNotFound Reason = "RUN_NOT_FOUND"
	// ReasonRunEnded is a call that was in flight when its run ended; the field
	// "cause" says why it ended.
	ReasonRunEnded Reason = "RUN_ENDED"
	// ReasonRunExists is a run id taken by a different request.
	ReasonRunExists Reason = "RUN_EXISTS"
	// ReasonWrongReplica is a run of another replica; the field "owner" names it.
	ReasonWrongReplica Reason = "WRONG_REPLICA"
	// ReasonToolNotRegistered is a tool that does not exist for the run: its
	// resource is not attached, or its tier is above the run's ceiling.
	ReasonToolNotRegistered Reason = "TOOL_NOT_REGISTERED"
	// ReasonResourceUnavailable is a declared resource that cannot be attached.
	ReasonResourceUnavailable Reason = "RESOURCE_UNAVAILABLE"
	// ReasonDraining is a daemon that is shutting down.
	ReasonDraining Reason = "DRAINING"
	// ReasonSessionLive is a second holder of a conversation's slot.
	ReasonSessionLive Reason = "SESSION_LIVE"

	// Workspace.

	// ReasonOutsideWorkspace is a path that leaves the workspace.
	ReasonOutsideWorkspace Reason = "PATH_OUTSIDE_WORKSPACE"
	// ReasonPathNotFound is a path with nothing there.
	ReasonPathNotFound Reason = "PATH_NOT_FOUND"
	// ReasonPathUnreadable is a path that is there and cannot be read.
	ReasonPathUnreadable Reason = "PATH_UNREADABLE"
	// ReasonWriteFailed is a write that failed and was undone whole.
	ReasonWriteFailed Reason = "WRITE_FAILED"
	// ReasonOverlappingEdits are edits of one file that overlap.
	ReasonOverlappingEdits Reason = "OVERLAPPING_EDITS"
	// ReasonContentChanged are files that differ from what a change was computed from.
	ReasonContentChanged Reason = "CONTENT_CHANGED"

	// Structural search.

	// ReasonPatternUnparsable is a pattern that no context accepts.
	ReasonPatternUnparsable Reason = "PATTERN_UNPARSABLE"
	// ReasonPatternTooBroad is a pattern that would match every node.
	ReasonPatternTooBroad Reason = "PATTERN_TOO_BROAD"
	// ReasonUnknownLanguage is a language id without a grammar.
	ReasonUnknownLanguage Reason = "UNKNOWN_LANGUAGE"
	// ReasonLanguageRequired is a search whose language cannot be inferred.
	ReasonLanguageRequired Reason = "LANGUAGE_REQUIRED"
	// ReasonUnboundMetavariable is a rewrite that uses a name the pattern does not bind.
	ReasonUnboundMetavariable Reason = "UNBOUND_METAVARIABLE"
	// ReasonNoMatches is an edit whose pattern matched nothing, so nothing was staged.
	ReasonNoMatches Reason = "NO_MATCHES"
	// ReasonEditNotFound is an edit id that was never given out in this run.
	ReasonEditNotFound Reason = "EDIT_NOT_FOUND"
	// ReasonEditResolved is an edit that was accepted or discarded already.
	ReasonEditResolved Reason = "EDIT_RESOLVED"
	// ReasonEditStale is an edit whose files changed since it was staged.
	ReasonEditStale Reason = "EDIT_STALE"
)
