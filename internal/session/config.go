package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Defaults of Config.
const (
	DefaultMaxRuns             = 10_000
	DefaultMaxRunsPerPrincipal = 10_000
	DefaultIdleTTL             = time.Hour
	DefaultMaxIdleTTL          = 24 * time.Hour
	DefaultCloseTimeout        = 10 * time.Second
	DefaultSweepInterval       = time.Second
)

// DebugTTL is the hard TTL of a conversation's debug session (spec.md,
// "debug").
const DebugTTL = 30 * time.Minute

// Workspace is the working directory of a run.
type Workspace interface {
	// Root returns the absolute path of the folder, symlinks resolved.
	Root() string
	// Close gives up this run's hold on the workspace.
	Close() error
}

// Resource is what a run owns: the backing of one tool family.
type Resource interface {
	// Close releases everything behind the resource. It is called once, when
	// the run ends or fails to be created, possibly while cancelled calls are
	// still on their way out, and beside the Close of the run's other
	// resources. ctx ends after Config.CloseTimeout; Close is then left behind
	// and the run ends without it.
	Close(ctx context.Context) error
}

// AttachEnv is what an attacher may know of the run it attaches to.
type AttachEnv struct {
	RunID          string
	ConversationID string
	// Workspace is nil for a run without a working directory. It belongs to
	// the run and outlives the resource.
	Workspace Workspace
	// Env is the environment that the caller adds for children. It is shared
	// and must not be changed.
	Env map[string]string
	// Parent is the run whose servers and caches may be shared, or nil. It
	// outlives the resource.
	Parent *Run
}

// Attacher makes the resource of one kind for a run. spec is what the caller
// declared for it. ctx ends with the creation, successful or not, so nothing
// that is to live as long as the run may hang on it. A failure fails the
// whole creation.
type Attacher func(ctx context.Context, env AttachEnv, spec any) (Resource, error)

// Config is what a Manager is made of. A zero number or duration stands for
// its default; nothing means "no limit".
type Config struct {
	// Replica is the first part of this daemon's run ids; "local" by default.
	Replica string
	// Attachers are the kinds that this daemon can attach.
	Attachers map[Kind]Attacher
	// OpenWorkspace opens a caller's workspace root. Required.
	OpenWorkspace func(root string) (Workspace, error)

	// MaxRuns bounds the runs of the daemon, those being created and ended
	// included; MaxRunsPerPrincipal those of one principal, by default all,
	// because most daemons serve one.
	MaxRuns             int
	MaxRunsPerPrincipal int
	// DefaultIdleTTL is the idle TTL of a run that asks for none; MaxIdleTTL
	// the longest that one may ask for.
	DefaultIdleTTL time.Duration
	MaxIdleTTL     time.Duration
	// CloseTimeout bounds each foreign callback at the end of a run or slot.
	CloseTimeout time.Duration
	// SweepInterval is how often RunSweeper looks; runs and slots end at most
	// this late.
	SweepInterval time.Duration

	// Now is the clock of every TTL; time.Now by default. Its readings must be
	// monotonic, so that a changed wall clock ends nothing.
	Now func() time.Time
	// Observe receives what telemetry counts; it must be quick and safe for
	// concurrent use. Events are dropped when nil.
	Observe func(Event)
	// Logger receives what goes wrong outside any call; discarded when nil.
	Logger *slog.Logger
}

// withDefaults returns c with its defaults filled in, or what is wrong with
// it.
func (c Config) withDefaults() (Config, error) {
	if c.OpenWorkspace == nil {
		return c, errors.New("session: Config.OpenWorkspace is required")
	}
	if c.Replica == "" {
		c.Replica = DefaultReplica
	}
	if !validIDPart(c.Replica) {
		return c, fmt.Errorf("session: replica name %q: want 1 to %d letters, digits, '_' or '-' that start with a letter or digit", c.Replica, maxIDPart)
	}
	err := errors.Join(
		setDefault("MaxRuns", &c.MaxRuns, DefaultMaxRuns),
		setDefault("MaxRunsPerPrincipal", &c.MaxRunsPerPrincipal, DefaultMaxRunsPerPrincipal),
		setDefault("DefaultIdleTTL", &c.DefaultIdleTTL, DefaultIdleTTL),
		setDefault("MaxIdleTTL", &c.MaxIdleTTL, DefaultMaxIdleTTL),
		setDefault("CloseTimeout", &c.CloseTimeout, DefaultCloseTimeout),
		setDefault("SweepInterval", &c.SweepInterval, DefaultSweepInterval),
	)
	if err != nil {
		return c, err
	}
	if c.DefaultIdleTTL > c.MaxIdleTTL {
		return c, fmt.Errorf("session: DefaultIdleTTL %s is above MaxIdleTTL %s", c.DefaultIdleTTL, c.MaxIdleTTL)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func setDefault[N int | time.Duration](name string, value *N, fallback N) error {
	if *value < 0 {
		return fmt.Errorf("session: %s is %v: want a positive value, or 0 for the default of %v", name, *value, fallback)
	}
	if *value == 0 {
		*value = fallback
	}
	return nil
}
