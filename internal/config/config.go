// Package config owns toolsd's settings: their defaults, where they come from
// (flags over TOOLSD_* variables over a strict YAML file over defaults), what
// makes a combination of them unsafe, and how they are printed.
//
// It opens no socket and reads no token; it only says what to do.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Config is every setting of the daemon. The yaml tag names the setting; its
// flag is the same with dashes, its variable TOOLSD_ and upper case.
type Config struct {
	Listen           []string      `yaml:"listen" help:"address to serve on, repeatable: unix:///path/to/socket or tcp://host:port"`
	AllowUID         []string      `yaml:"allow_uid" help:"user ids that may use a unix socket, repeatable; toolsd's own when none is given"`
	TokenFile        string        `yaml:"token_file" help:"file of bearer tokens for TCP, one \"principal token\" a line, tokens of 32 bytes and more"`
	TLSCert          string        `yaml:"tls_cert" help:"certificate for TCP, PEM"`
	TLSKey           string        `yaml:"tls_key" help:"key of tls_cert, PEM"`
	ClientCA         string        `yaml:"client_ca" help:"authorities whose client certificates are accepted on TCP, PEM (mutual TLS)"`
	InsecureLoopback bool          `yaml:"insecure_loopback" help:"serve TCP on loopback without authentication: every local user may then use toolsd"`
	MetricsListen    string        `yaml:"metrics_listen" help:"host:port of the Prometheus endpoint /metrics; off when empty"`
	Replica          string        `yaml:"replica" help:"name of this daemon in run ids: letters, digits and dashes"`
	StateDir         string        `yaml:"state_dir" help:"folder for crash journals, 0700; one daemon at a time"`
	GrammarDir       []string      `yaml:"grammar_dir" help:"folder of compiled tree-sitter grammars (<language>.so), repeatable"`
	LogLevel         string        `yaml:"log_level" help:"debug, info, warn or error"`
	LogFormat        string        `yaml:"log_format" help:"json or text"`
	Reflection       bool          `yaml:"reflection" help:"serve gRPC reflection"`
	DrainGrace       time.Duration `yaml:"drain_grace" help:"time that calls in flight get at shutdown"`

	MaxRuns             int           `yaml:"max_runs" help:"runs at once"`
	MaxRunsPerPrincipal int           `yaml:"max_runs_per_principal" help:"runs at once of one principal"`
	IdleTTL             time.Duration `yaml:"idle_ttl" help:"idle time after which a run is closed, when the run names none"`
	MaxIdleTTL          time.Duration `yaml:"max_idle_ttl" help:"longest idle time that a run may name"`
	MaxCalls            int           `yaml:"max_calls" help:"tool calls in flight in the whole daemon"`
	MaxCallsPerRun      int           `yaml:"max_calls_per_run" help:"tool calls in flight in one run"`
	MaxRequestBytes     int           `yaml:"max_request_bytes" help:"largest request message"`
	MaxFileBytes        int64         `yaml:"max_file_bytes" help:"largest file that structural search reads; larger ones are skipped and counted"`
	ParseTimeout        time.Duration `yaml:"parse_timeout" help:"time to parse one file; slower ones are skipped and counted"`
	SearchTimeout       time.Duration `yaml:"search_timeout" help:"time of one structural search; what was found by then is returned and called incomplete"`
	MaxCacheBytes       int64         `yaml:"max_cache_bytes" help:"memory for parsed files, which makes searching them again fast"`
	MaxStagedBytes      int64         `yaml:"max_staged_bytes" help:"bytes of staged edits that one run may hold"`
}

// Default returns the settings that hold when nothing is said.
func Default() Config {
	return Config{
		Listen:     []string{"unix://" + filepath.Join(runtimeDir(), "toolsd.sock")},
		Replica:    "local",
		StateDir:   filepath.Join(stateHome(), "toolsd"),
		GrammarDir: grammarDirs(),
		LogLevel:   "info",
		LogFormat:  "json",
		Reflection: true,
		DrainGrace: 10 * time.Second,

		MaxRuns:             10_000,
		MaxRunsPerPrincipal: 10_000,
		IdleTTL:             time.Hour,
		MaxIdleTTL:          24 * time.Hour,
		MaxCalls:            256,
		MaxCallsPerRun:      32,
		MaxRequestBytes:     4 << 20,
		MaxFileBytes:        8 << 20,
		ParseTimeout:        5 * time.Second,
		SearchTimeout:       time.Minute,
		MaxCacheBytes:       256 << 20,
		MaxStagedBytes:      64 << 20,
	}
}

// runtimeDir is the private folder of the default socket: the user's runtime
// folder where the system has one, else one of ours in the temporary folder.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "toolsd")
	}
	return filepath.Join(os.TempDir(), "toolsd-"+strconv.Itoa(os.Getuid()))
}

func stateHome() string {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return dir
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state")
	}
	return filepath.Join(os.TempDir(), "toolsd-state-"+strconv.Itoa(os.Getuid()))
}

// grammarDirs are the places where a release archive and a build of the
// source tree keep grammars, relative to the program; only those that exist.
func grammarDirs() []string {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	var out []string
	for _, rel := range []string{"grammars", "../.tools/grammars", "../lib/toolsd/grammars"} {
		dir := filepath.Join(filepath.Dir(program), rel)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

// positive are the settings that must be above zero.
func (c *Config) positive() map[string]int64 {
	return map[string]int64{
		"drain_grace": int64(c.DrainGrace), "max_runs": int64(c.MaxRuns),
		"max_runs_per_principal": int64(c.MaxRunsPerPrincipal), "idle_ttl": int64(c.IdleTTL),
		"max_idle_ttl": int64(c.MaxIdleTTL), "max_calls": int64(c.MaxCalls),
		"max_calls_per_run": int64(c.MaxCallsPerRun), "max_request_bytes": int64(c.MaxRequestBytes),
		"max_file_bytes": c.MaxFileBytes, "parse_timeout": int64(c.ParseTimeout),
		"search_timeout": int64(c.SearchTimeout), "max_staged_bytes": c.MaxStagedBytes,
		"max_cache_bytes": c.MaxCacheBytes,
	}
}

// Limits are the limits in force, by setting name, for GetServerInfo: bytes,
// counts, and times in milliseconds.
func (c *Config) Limits() map[string]int64 {
	return map[string]int64{
		"max_runs": int64(c.MaxRuns), "max_runs_per_principal": int64(c.MaxRunsPerPrincipal),
		"max_calls": int64(c.MaxCalls), "max_calls_per_run": int64(c.MaxCallsPerRun),
		"max_request_bytes": int64(c.MaxRequestBytes), "max_file_bytes": c.MaxFileBytes,
		"max_staged_bytes": c.MaxStagedBytes, "max_cache_bytes": c.MaxCacheBytes,
		"idle_ttl_ms": c.IdleTTL.Milliseconds(), "max_idle_ttl_ms": c.MaxIdleTTL.Milliseconds(),
		"parse_timeout_ms": c.ParseTimeout.Milliseconds(), "search_timeout_ms": c.SearchTimeout.Milliseconds(),
	}
}

// describe names a setting in an error as its flag, which is how most people
// will mend it.
func describe(setting string) string { return fmt.Sprintf("--%s", flagName(setting)) }
