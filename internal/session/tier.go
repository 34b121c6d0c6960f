package session

import "fmt"

// Tier is how much a tool may do (spec.md, "Approval tiers"). Tiers are
// ordered: a run with ceiling TierWrite has the tools of TierRead too. The
// zero Tier is none of them and is refused, so that a forgotten tier never
// opens anything.
type Tier int

// The tiers, in rising order.
const (
	// TierRead has no side effects.
	TierRead Tier = iota + 1
	// TierWrite changes files.
	TierWrite
	// TierExec starts or drives a process.
	TierExec
)

// String returns the tier's name in the specification.
func (t Tier) String() string {
	switch t {
	case TierRead:
		return "read"
	case TierWrite:
		return "write"
	case TierExec:
		return "exec"
	default:
		return fmt.Sprintf("tier(%d)", int(t))
	}
}

func (t Tier) valid() bool { return TierRead <= t && t <= TierExec }

// Kind names a resource that a run may declare: the backing of one tool
// family.
type Kind string

// The kinds.
const (
	// KindLSP is the language-server supervisor.
	KindLSP Kind = "lsp"
	// KindFiles is the wrapped writing of files.
	KindFiles Kind = "files"
	// KindAST is structural search and rewriting.
	KindAST Kind = "ast"
	// KindDebug is the debug supervisor.
	KindDebug Kind = "debug"
	// KindEval is the kernel factory.
	KindEval Kind = "eval"
	// KindAsk is the question port.
	KindAsk Kind = "ask"
	// KindVibe is the background workers.
	KindVibe Kind = "vibe"
)

// needsWorkspace reports whether the kind is of no use without a working
// directory (spec.md, "Registered when").
func (k Kind) needsWorkspace() bool {
	switch k {
	case KindLSP, KindFiles, KindAST, KindDebug:
		return true
	default:
		return false
	}
}

// needsConversation reports whether the kind is of no use without a
// conversation: a debug session is one per conversation, a question is shown
// in one.
func (k Kind) needsConversation() bool { return k == KindDebug || k == KindAsk }

// Requirement is what a tool needs in order to exist for a run. Its zero
// value is met by no run.
type Requirement struct {
	// Tier of the tool; the run's ceiling must reach it.
	Tier Tier
	// Kind that must be attached; empty when the tool needs none.
	Kind Kind
	// Workspace says that the run must have a working directory.
	Workspace bool
	// Conversation says that the run must belong to a conversation.
	Conversation bool
}
