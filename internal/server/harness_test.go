package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/telemetry"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; reaching it is a failure.
const patience = 30 * time.Second

// guards is the source that most tests search: the first guard disposes what
// it checked, the second something else.
const guards = `class A {
  void close() {
    if (timer != null) timer.dispose();
    if (timer != null) other.dispose();
  }
}
`

// disposePattern finds the first guard of guards only.
const disposePattern = "if ($X != null) $X.dispose()"

// testEngine is loaded once: grammars stay in the process anyway.
var testEngine = sync.OnceValues(func() (*astq.Engine, error) {
	const grammars = "../../.tools/grammars"
	if _, err := os.Stat(filepath.Join(grammars, "dart.so")); err != nil {
		return nil, err // scripts/setup.sh grammars makes it
	}
	return astq.NewEngine(astq.Config{
		GrammarDirs: []string{grammars}, MaxFileBytes: 8 << 20, ParseTimeout: patience,
		SearchTimeout: patience, MaxStagedBytes: 64 << 20,
	})
})

// daemon is a real server over a unix socket, with what its tests look at.
type daemon struct {
	t       *testing.T
	server  *Server
	metrics *telemetry.Metrics
	log     *logBuffer
	folder  string // the workspace of its runs
	conn    *grpc.ClientConn
	cancel  context.CancelFunc
	ended   chan error
	stopped bool
}

// setup changes the server between New and Serve.
type setup func(*Options, *[]func(*Server), *[]net.Listener)

// with changes the options of the server.
func with(change func(*Options)) setup {
	return func(o *Options, _ *[]func(*Server), _ *[]net.Listener) { change(o) }
}

// before changes the server before it serves.
func before(change func(*Server)) setup {
	return func(_ *Options, hooks *[]func(*Server), _ *[]net.Listener) { *hooks = append(*hooks, change) }
}

// alsoOn adds a listener.
func alsoOn(l net.Listener) setup {
	return func(_ *Options, _ *[]func(*Server), more *[]net.Listener) { *more = append(*more, l) }
}

func start(t *testing.T, setups ...setup) *daemon {
	t.Helper()
	engine, err := testEngine()
	if err != nil {
		t.Fatalf("load the grammars: %v; run: scripts/setup.sh grammars", err)
	}
	d := &daemon{t: t, log: &logBuffer{}, folder: t.TempDir(), ended: make(chan error, 1)}
	d.write("a.dart", guards)
	log := slog.New(slog.NewJSONHandler(d.log, nil))
	d.metrics = telemetry.NewMetrics("test")
	pool, err := workspace.NewPool(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { must(t, pool.Close()) })
	runs, err := session.New(session.Config{
		OpenWorkspace: func(root string) (session.Workspace, error) { return pool.Open(root) },
		Attachers: map[session.Kind]session.Attacher{
			session.KindAST: func(_ context.Context, env session.AttachEnv, _ any) (session.Resource, error) {
				return engine.NewSession(env.Workspace.(*workspace.Workspace)), nil
			},
		},
		Logger: log,
	})
	must(t, err)
	options := Options{
		Runs: runs, Engine: engine, Metrics: d.metrics, Log: log,
		Info:            Info{Version: "test", Replica: "local", Resources: []session.Kind{session.KindAST}, Limits: map[string]int64{"max_calls": 8}},
		MaxRequestBytes: 4 << 20, MaxCalls: 8, MaxCallsPerRun: 4, Reflection: true,
	}
	socket := filepath.Join(shortDir(t), "s")
	unix, err := transport.ListenUnix(socket, nil)
	must(t, err)
	listeners := []net.Listener{unix}
	var hooks []func(*Server)
	for _, s := range setups {
		s(&options, &hooks, &listeners)
	}
	d.server, err = New(options)
	must(t, err)
	d.server.stopGrace = time.Second // long enough that a busy machine cuts no answer off
	for _, hook := range hooks {
		hook(d.server)
	}
	d.serve(listeners)
	d.conn = dial(t, "unix://"+socket)
	return d
}

func (d *daemon) serve(listeners []net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() { d.ended <- d.server.Serve(ctx, patience, listeners...) }()
	d.t.Cleanup(func() { d.stop() })
}

// stop drains the server and returns when it has ended.
func (d *daemon) stop() {
	d.t.Helper()
	d.cancel()
	if d.stopped {
		return
	}
	d.stopped = true
	select {
	case err := <-d.ended:
		must(d.t, err)
	case <-time.After(patience):
		d.t.Fatal("the server does not end")
	}
}

// write puts a file into the workspace.
func (d *daemon) write(name, content string) {
	d.t.Helper()
	must(d.t, os.WriteFile(filepath.Join(d.folder, name), []byte(content), 0o600))
}

func (d *daemon) run() toolsdv1.RunServiceClient   { return toolsdv1.NewRunServiceClient(d.conn) }
func (d *daemon) ast() toolsdv1.AstServiceClient   { return toolsdv1.NewAstServiceClient(d.conn) }
func (d *daemon) tool() toolsdv1.ToolServiceClient { return toolsdv1.NewToolServiceClient(d.conn) }

// request is a whole and valid CreateRunRequest.
func (d *daemon) request(id string, tier toolsdv1.Tier) *toolsdv1.CreateRunRequest {
	return &toolsdv1.CreateRunRequest{
		RunId: id, WorkspaceRoot: d.folder, MaxTier: tier, Resources: &toolsdv1.Resources{Ast: &toolsdv1.AstResource{}},
	}
}

// create makes a run and returns its id.
func (d *daemon) create(id string, tier toolsdv1.Tier) string {
	d.t.Helper()
	response, err := d.run().CreateRun(d.t.Context(), d.request(id, tier))
	must(d.t, err)
	return response.GetRun().GetRunId()
}

// call sends a model's call and returns its result or status.
func (d *daemon) call(run, name, arguments string) (*toolsdv1.ToolResult, error) {
	d.t.Helper()
	stream, err := d.tool().Call(d.t.Context(), &toolsdv1.CallRequest{RunId: run, Name: name, ArgumentsJson: arguments})
	must(d.t, err)
	return lastResult(stream)
}

// lastResult reads a stream to its result, which must be its last event.
func lastResult(stream grpc.ServerStreamingClient[toolsdv1.CallResponse]) (*toolsdv1.ToolResult, error) {
	var result *toolsdv1.ToolResult
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return result, nil
		}
		if err != nil {
			return nil, err
		}
		if result != nil {
			return nil, status.Errorf(codes.Unknown, "%v comes after the result", event)
		}
		result = event.GetResult()
	}
}

// metric returns the value that a metric has now, by name and labels as the
// text format writes them; empty when it has none.
func (d *daemon) metric(series string) string {
	d.t.Helper()
	recorder := httptest.NewRecorder()
	d.metrics.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(recorder.Body.String()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (d *daemon) wantMetric(series, want string) {
	d.t.Helper()
	if got := d.metric(series); got != want {
		d.t.Errorf("metric %s is %q, want %q", series, got, want)
	}
}

// logBuffer is a log that many goroutines write.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// shortDir is a folder whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t") //nolint:usetesting // t.TempDir is too long for a socket
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

func dial(t *testing.T, target string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	conn, err := grpc.NewClient(target, options...)
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close()) })
	return conn
}

// wantError checks a status's code and reason and returns its message.
func wantError(t *testing.T, err error, code codes.Code, reason toolerr.Reason) string {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != code || errorInfo(err).GetReason() != string(reason) || errorInfo(err).GetDomain() != "toolsd" {
		t.Errorf("got %v with details %v, want %v with reason %s of domain toolsd", err, st.Details(), code, reason)
	}
	return st.Message()
}

// errorInfo returns the google.rpc.ErrorInfo of a status, or nil.
func errorInfo(err error) *errdetails.ErrorInfo { return detail[*errdetails.ErrorInfo](err) }

// detail returns a status's detail of a type, or its zero value.
func detail[T any](err error) (found T) {
	for _, d := range status.Convert(err).Details() {
		if d, ok := d.(T); ok {
			return d
		}
	}
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func healthClient(d *daemon) healthv1.HealthClient { return healthv1.NewHealthClient(d.conn) }
