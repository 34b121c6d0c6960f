package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/config"
	"github.com/toolsd/toolsd/internal/server"
	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/telemetry"
	"github.com/toolsd/toolsd/internal/workspace"
)

// gcPercent is how much garbage there may be beside what is kept, in percent.
const gcPercent = 40

// serve wires the rooms together and serves until ctx ends.
func serve(ctx context.Context, c config.Config) error {
	log, err := telemetry.NewLogger(os.Stderr, c.LogLevel, c.LogFormat)
	if err != nil {
		return usageError{err}
	}
	// Most of the heap is parsed files that stay: with Go's default it would be
	// let grow to twice their size before they are looked at again.
	debug.SetGCPercent(gcPercent)
	metrics := telemetry.NewMetrics(version)

	workspaces, err := openWorkspaces(ctx, c, log)
	if err != nil {
		return err
	}
	defer workspaces.Close() //nolint:errcheck // nothing of it is in use any more
	engine, err := astq.NewEngine(astq.Config{
		GrammarDirs: c.GrammarDir, MaxFileBytes: c.MaxFileBytes, ParseTimeout: c.ParseTimeout,
		SearchTimeout: c.SearchTimeout, MaxCacheBytes: c.MaxCacheBytes, MaxStagedBytes: c.MaxStagedBytes,
	})
	if err != nil {
		return usageError{fmt.Errorf("--grammar-dir: %w", err)}
	}
	metrics.Gauge("toolsd_parse_cache_bytes", "Memory of parsed files.", func() float64 { return float64(engine.CacheBytes()) })
	logGrammars(log, engine)
	runs, err := newManager(c, log, metrics, workspaces, engine)
	if err != nil {
		return err
	}
	srv, err := server.New(server.Options{
		Runs: runs, Engine: engine, Metrics: metrics, Log: log,
		Info: server.Info{
			Version: version, Replica: c.Replica, Limits: c.Limits(),
			Resources: []session.Kind{session.KindAST},
		},
		MaxRequestBytes: c.MaxRequestBytes, MaxCalls: c.MaxCalls, MaxCallsPerRun: c.MaxCallsPerRun,
		Reflection: c.Reflection,
	})
	if err != nil {
		return err
	}
	listeners, err := listen(c)
	if err != nil {
		return usageError{err}
	}
	stopMetrics, err := serveMetrics(c.MetricsListen, metrics, log)
	if err != nil {
		return errors.Join(usageError{err}, closeAll(listeners))
	}
	sweeping, stopSweeper := context.WithCancel(context.WithoutCancel(ctx))
	swept := make(chan struct{})
	go func() { defer close(swept); runs.RunSweeper(sweeping) }()

	for _, l := range listeners {
		log.Info("serving", "address", l.Addr().Network()+"://"+l.Addr().String(), "version", version, "replica", c.Replica)
	}
	err = srv.Serve(ctx, c.DrainGrace, listeners...)
	stopSweeper()
	<-swept
	return errors.Join(err, stopMetrics())
}

// openWorkspaces also finishes or undoes what a crash cut off, before anybody
// can see it.
func openWorkspaces(ctx context.Context, c config.Config, log *slog.Logger) (*workspace.Pool, error) {
	pool, err := workspace.NewPool(c.StateDir)
	if err != nil {
		return nil, usageError{fmt.Errorf("--state-dir: %w", err)}
	}
	recovered, err := pool.Recover(ctx)
	for _, r := range recovered {
		log.Warn("a write that a crash cut off was settled", "outcome", r.String())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("settle what a crash cut off: %w", err), pool.Close())
	}
	return pool, nil
}

func logGrammars(log *slog.Logger, engine *astq.Engine) {
	for _, l := range engine.Languages() {
		if l.Unavailable != "" {
			log.Warn("language without grammar", "language", l.ID, "why", l.Unavailable)
			continue
		}
		log.Info("grammar", "language", l.ID, "version", l.Version, "abi", l.ABI, "file", l.File)
	}
}

func newManager(c config.Config, log *slog.Logger, metrics *telemetry.Metrics, workspaces *workspace.Pool, engine *astq.Engine) (*session.Manager, error) {
	runs, err := session.New(session.Config{
		Replica: c.Replica, MaxRuns: c.MaxRuns, MaxRunsPerPrincipal: c.MaxRunsPerPrincipal,
		DefaultIdleTTL: c.IdleTTL, MaxIdleTTL: c.MaxIdleTTL,
		OpenWorkspace: func(root string) (session.Workspace, error) { return workspaces.Open(root) },
		Attachers:     map[session.Kind]session.Attacher{session.KindAST: attachAST(engine)},
		Observe:       observe(metrics),
		Logger:        log,
	})
	if err != nil {
		return nil, err
	}
	metrics.Gauge("toolsd_runs", "Runs that live now.", func() float64 { return float64(runs.Stats().Runs) })
	metrics.Gauge("toolsd_calls_in_flight", "Calls and streams in flight in runs.", func() float64 { return float64(runs.Stats().Calls) })
	return runs, nil
}

// attachAST gives a run its structural search.
func attachAST(engine *astq.Engine) session.Attacher {
	return func(_ context.Context, env session.AttachEnv, _ any) (session.Resource, error) {
		ws, ok := env.Workspace.(*workspace.Workspace)
		if !ok {
			return nil, fmt.Errorf("structural search got a workspace of type %T", env.Workspace)
		}
		return engine.NewSession(ws), nil
	}
}

// observe turns the run map's events into metrics.
func observe(metrics *telemetry.Metrics) func(session.Event) {
	return func(e session.Event) {
		switch e.Type {
		case session.EventRunCreated:
			metrics.RunCreated()
		case session.EventRunEnded:
			metrics.RunEnded(e.Label)
		case session.EventSwept:
			metrics.Swept(e.Label)
		case session.EventCloseFailed:
			metrics.CloseFailed(e.Label)
		case session.EventLimitRejected:
			metrics.LimitRejected(e.Label)
		}
	}
}

func listen(c config.Config) (listeners []net.Listener, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(listeners))
		}
	}()
	uids, err := c.AllowedUIDs()
	if err != nil {
		return nil, err
	}
	options := transport.TCPOptions{CertFile: c.TLSCert, KeyFile: c.TLSKey, ClientCA: c.ClientCA, Open: c.InsecureLoopback}
	if c.TokenFile != "" {
		if options.Tokens, err = transport.ReadTokens(c.TokenFile); err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	for _, text := range c.Listen {
		address, err := config.ParseAddress(text)
		if err != nil {
			return listeners, err
		}
		var l net.Listener
		if address.Network == "unix" {
			l, err = transport.ListenUnix(address.Target, uids)
		} else {
			l, err = transport.ListenTCP(address.Target, options)
		}
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// serveMetrics serves /metrics until stop is called.
func serveMetrics(address string, metrics *telemetry.Metrics, log *slog.Logger) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	log.Info("serving metrics", "address", "http://"+l.Addr().String()+"/metrics")
	return func() error {
		err := srv.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve metrics: %w", served))
		}
		return err
	}, nil
}
