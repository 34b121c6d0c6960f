package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// patience bounds what a test waits for; reaching it is a failure.
const patience = time.Minute

// binDir holds the program that the tests run.
var binDir string

func TestMain(m *testing.M) {
	var err error
	if binDir, err = os.MkdirTemp("", "toolsd-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(binDir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

// build builds the program once, as a release is built.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(binDir, "toolsd")
	out, err := exec.Command("go", "build", "-ldflags", "-X main.version=v-test", "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build toolsd: %w\n%s", err, out)
	}
	return program, nil
})

func program(t *testing.T) string {
	t.Helper()
	name, err := build()
	must(t, err)
	return name
}

// tool returns the path of something that scripts/setup.sh installs.
func tool(t *testing.T, name, part string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../.tools", name))
	must(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run: scripts/setup.sh %s", err, part)
	}
	return path
}

// toolsd runs a command to its end.
func toolsd(t *testing.T, args ...string) (stdout, stderr string, exitStatus int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Env = cleanEnv(t)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// cleanEnv keeps the settings of whoever runs the tests out of them.
func cleanEnv(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
}

// place is where a daemon lives; daemons may follow each other there.
type place struct {
	dir, socket, state, temp string
	grammars                 string
}

func newPlace(t *testing.T) place {
	t.Helper()
	// t.TempDir is too long for a socket.
	dir, err := os.MkdirTemp("", "t") //nolint:usetesting // see above
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	p := place{dir: dir, socket: filepath.Join(dir, "run", "s"), state: filepath.Join(dir, "state"), temp: filepath.Join(dir, "tmp")}
	must(t, os.Mkdir(p.temp, 0o700))
	p.grammars = filepath.Dir(tool(t, "grammars/dart.so", "grammars"))
	return p
}

// process is a daemon of the real program.
type process struct {
	t     *testing.T
	place place
	cmd   *exec.Cmd
	conn  *grpc.ClientConn

	ready chan struct{} // closed when it says that it serves
	ended chan struct{} // closed when it has ended and its log is whole

	mu  sync.Mutex
	log []string
}

// serve starts a daemon and returns when its health is SERVING.
func (p place) serve(t *testing.T, args ...string) *process {
	t.Helper()
	d := p.launch(t, args...)
	select {
	case <-d.ready:
	case <-d.ended:
		t.Fatalf("toolsd ended instead of serving:\n%s", d.logText())
	case <-time.After(patience):
		t.Fatalf("toolsd does not serve:\n%s", d.logText())
	}
	conn, err := grpc.NewClient("unix://"+p.socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	d.conn = conn
	t.Cleanup(func() { must(t, conn.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel() // ends the watch, which would hold up a drain
	watch, err := healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	must(t, err)
	for {
		response, err := watch.Recv()
		must(t, err)
		if response.GetStatus() == healthv1.HealthCheckResponse_SERVING {
			return d
		}
	}
}

// launch starts a daemon in a process group of its own, and kills what the
// test leaves of it.
func (p place) launch(t *testing.T, args ...string) *process {
	t.Helper()
	args = append([]string{"serve", "--listen", "unix://" + p.socket, "--state-dir", p.state, "--grammar-dir", p.grammars}, args...)
	d := &process{t: t, place: p, ready: make(chan struct{}), ended: make(chan struct{})}
	d.cmd = exec.Command(program(t), args...)
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + p.temp}
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := d.cmd.StderrPipe()
	must(t, err)
	must(t, d.cmd.Start())
	go d.follow(stderr)
	t.Cleanup(d.kill)
	return d
}

// follow reads the log to its end, and then reaps the daemon.
func (d *process) follow(stderr io.Reader) {
	defer close(d.ended)
	lines := bufio.NewScanner(stderr)
	served := false
	for lines.Scan() {
		d.mu.Lock()
		d.log = append(d.log, lines.Text())
		d.mu.Unlock()
		if !served && strings.Contains(lines.Text(), `"msg":"serving"`) {
			served = true
			close(d.ready)
		}
	}
	_ = d.cmd.Wait() // the exit status is read from cmd.ProcessState
}

// kill is kill -9.
func (d *process) kill() {
	_ = d.cmd.Process.Kill() // it may have ended already
	<-d.ended
}

// terminate sends SIGTERM and returns the exit status.
func (d *process) terminate() int {
	d.t.Helper()
	must(d.t, d.cmd.Process.Signal(syscall.SIGTERM))
	return d.wait()
}

// wait returns the exit status of a daemon that ends by itself.
func (d *process) wait() int {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(patience):
		d.t.Fatalf("toolsd does not end:\n%s", d.logText())
	}
	return d.cmd.ProcessState.ExitCode()
}

func (d *process) logText() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.log, "\n")
}

// logged returns the log lines with a message, and fails on any line that is
// no JSON object. The daemon must have ended, or have logged what is asked.
func (d *process) logged(message string) []map[string]any {
	d.t.Helper()
	var found []map[string]any
	for line := range strings.Lines(d.logText()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			d.t.Errorf("a log line that is no JSON: %v: %s", err, line)
		}
		if entry["msg"] == message {
			found = append(found, entry)
		}
	}
	return found
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(content), 0o600))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return string(data)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
