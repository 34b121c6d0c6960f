// Package server is toolsd's gRPC edge: the only room that knows the
// generated code. It authenticates callers, finds their run, checks that a
// tool exists for it, bounds and logs the call, converts between messages and
// the domain, and maps errors to statuses, each in one place (design.md
// sections 2 and 3).
//
// A call passes each floor once: the stages of chain.go, the typed RPC of a
// service, the tool family, and back. A model's call by name
// (ToolService.Call) runs the same typed RPC. What a tool does is the
// family's business, and how long things live is package session's.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/telemetry"
)

// Settings of the gRPC server; notes on each choice stand in
// docs/decisions.md.
const (
	maxSendBytes         = 16 << 20
	maxConcurrentStreams = 256
	keepaliveTime        = 30 * time.Second
	keepaliveTimeout     = 10 * time.Second
	// minPing is below the 20 s at which many clients ping; grpc-go's own
	// default of 5 minutes would cut those off.
	minPing = 10 * time.Second
	// heartbeat is below the 60 s after which common proxies cut a silent stream.
	heartbeat = 20 * time.Second
	// stopGrace is what GracefulStop gets before streams are cut.
	stopGrace = 5 * time.Second
)

// Info is what GetServerInfo says of the daemon.
type Info struct {
	Version string
	Replica string
	// Resources are the kinds that runs may declare here.
	Resources []session.Kind
	// Limits in force, by name.
	Limits map[string]int64
}

// Options are what a Server is made of; all are required but Reflection.
type Options struct {
	Runs            *session.Manager
	Engine          *astq.Engine
	Metrics         *telemetry.Metrics
	Log             *slog.Logger
	Info            Info
	MaxRequestBytes int
	MaxCalls        int
	MaxCallsPerRun  int
	// Reflection serves gRPC reflection.
	Reflection bool
}

// Server serves the API on any number of listeners. Its methods are safe for
// concurrent use.
type Server struct {
	runs    *session.Manager
	engine  *astq.Engine
	metrics *telemetry.Metrics
	log     *slog.Logger
	info    Info
	now     func() time.Time
	// heartbeat is the pause between signs of life on a silent stream.
	heartbeat time.Duration

	grpc    *grpc.Server
	health  *health.Server
	ast     *astService
	tools   *catalogue
	rules   map[string]rule
	chain   []stage
	limiter *limiter
}

// New returns a server that serves nothing yet; its health says NOT_SERVING
// until Serve.
func New(o Options) (*Server, error) {
	s := &Server{
		runs: o.Runs, engine: o.Engine, metrics: o.Metrics, log: o.Log, info: o.Info, now: time.Now, heartbeat: heartbeat,
		health: health.NewServer(), ast: &astService{},
		rules:   methodRules(),
		limiter: newLimiter(o.MaxCalls, o.MaxCallsPerRun),
	}
	s.chain = s.stages()
	comments, err := protoComments()
	if err != nil {
		return nil, err
	}
	if s.tools, err = newCatalogue(comments, s.ast.tools()...); err != nil {
		return nil, err
	}
	calls := grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram())
	o.Metrics.Register(calls)
	s.grpc = grpc.NewServer(
		grpc.Creds(transport.Credentials()),
		grpc.ChainUnaryInterceptor(calls.UnaryServerInterceptor(), s.unaryInterceptor),
		grpc.ChainStreamInterceptor(calls.StreamServerInterceptor(), s.streamInterceptor),
		grpc.MaxRecvMsgSize(o.MaxRequestBytes),
		grpc.MaxSendMsgSize(maxSendBytes),
		grpc.MaxConcurrentStreams(maxConcurrentStreams),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	)
	s.registerServices()
	healthv1.RegisterHealthServer(s.grpc, s.health)
	if o.Reflection {
		reflection.Register(s.grpc)
	}
	calls.InitializeMetrics(s.grpc)
	s.setServing(healthv1.HealthCheckResponse_NOT_SERVING)
	return s, nil
}

// Serve serves the listeners until ctx ends, and then drains: health turns
// NOT_SERVING, new runs are refused, calls in flight have drainGrace, every
// run ends, and streams are cut. It returns when nothing of toolsd is left
// behind, with what went wrong on the way.
func (s *Server) Serve(ctx context.Context, drainGrace time.Duration, listeners ...net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make(chan error, len(listeners))
	var serving sync.WaitGroup
	for _, l := range listeners {
		serving.Go(func() {
			if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				failures <- fmt.Errorf("serve %s: %w", l.Addr(), err)
				cancel() // one address that fails ends the daemon, instead of half of it living on
			}
		})
	}
	s.setServing(healthv1.HealthCheckResponse_SERVING)
	<-ctx.Done()
	drainErr := s.drain(drainGrace)
	serving.Wait()
	close(failures)
	errs := []error{drainErr}
	for err := range failures {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Server) drain(grace time.Duration) error {
	s.health.Shutdown()
	graceCtx, cancel := context.WithTimeout(context.Background(), grace) //nolint:forbidigo // draining begins when the server's context has ended
	defer cancel()
	err := s.runs.Drain(graceCtx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	select {
	case <-stopped:
	case <-time.After(stopGrace):
		// A client that keeps a stream open (health watch, reflection) must
		// not keep the daemon from ending.
		s.grpc.Stop()
		<-stopped
	}
	return err
}

// setServing sets the health of the daemon as a whole and of each service
// that is built.
func (s *Server) setServing(status healthv1.HealthCheckResponse_ServingStatus) {
	s.health.SetServingStatus("", status)
	for _, service := range serviceDescs() {
		if !isUnbuilt(service.ServiceName) {
			s.health.SetServingStatus(service.ServiceName, status)
		}
	}
}
