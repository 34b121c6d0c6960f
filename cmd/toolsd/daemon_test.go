package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
)

// guards is the code of the workspaces here.
const guards = `class A {
  void close() {
    if (timer != null) timer.dispose();
    if (timer != null) other.dispose();
  }
}
`

// createRun makes a run of ceiling write on a workspace.
func (d *process) createRun(id, root string) {
	d.t.Helper()
	_, err := toolsdv1.NewRunServiceClient(d.conn).CreateRun(d.t.Context(), &toolsdv1.CreateRunRequest{
		RunId: id, WorkspaceRoot: root, MaxTier: toolsdv1.Tier_TIER_WRITE, Resources: &toolsdv1.Resources{Ast: &toolsdv1.AstResource{}},
	})
	must(d.t, err)
}

func (d *process) ast() toolsdv1.AstServiceClient { return toolsdv1.NewAstServiceClient(d.conn) }

// stage stages a rewrite and returns its id.
func (d *process) stage(run, pattern, rewrite string) string {
	d.t.Helper()
	edit, err := d.ast().Edit(d.t.Context(), &toolsdv1.AstServiceEditRequest{RunId: run, Pattern: pattern, Rewrite: rewrite, Language: "dart"})
	must(d.t, err)
	return edit.GetEditId()
}

func (d *process) accept(ctx context.Context, run, edit string) error {
	_, err := d.ast().Resolve(ctx, &toolsdv1.AstServiceResolveRequest{
		RunId: run, EditId: edit, Action: toolsdv1.ResolveAction_RESOLVE_ACTION_ACCEPT,
	})
	return err
}

func TestOneDaemonAPlace(t *testing.T) {
	p := newPlace(t)
	first := p.serve(t)
	tests := []struct {
		name   string
		change func(*place)
		says   func() string
	}{
		{"same state folder", func(p *place) { p.socket += "2" }, func() string { return p.state }},
		{"same socket", func(p *place) { p.state += "2" }, func() string { return p.socket }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := p
			tt.change(&other)
			second := other.launch(t)
			if status := second.wait(); status != exitUsage || !strings.Contains(second.logText(), tt.says()) {
				t.Errorf("exit status %d, log:\n%s", status, second.logText())
			}
		})
	}
	if _, stderr, status := toolsd(t, "healthcheck", "--listen", "unix://"+p.socket); status != 0 {
		t.Errorf("the first daemon is gone: %s", stderr)
	}
	if status := first.terminate(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	p := newPlace(t)
	first := p.serve(t)
	first.kill()
	if _, err := os.Lstat(p.socket); err != nil {
		t.Fatalf("a killed daemon leaves its socket, or this test shows nothing: %v", err)
	}
	second := p.serve(t)
	if status := second.terminate(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestTerminateLeavesNothing ends a daemon that has runs, an accepted edit and
// a staged one.
func TestTerminateLeavesNothing(t *testing.T) {
	p := newPlace(t)
	folder := filepath.Join(p.dir, "code")
	writeFile(t, filepath.Join(folder, "a.dart"), guards)
	d := p.serve(t)
	d.createRun("a", folder)
	d.createRun("b", folder)
	must(t, d.accept(t.Context(), "a", d.stage("a", "$X.dispose()", "$X.close()")))
	d.stage("b", "$X.close()", "$X.dispose()")

	if status := d.terminate(); status != 0 {
		t.Errorf("exit status %d, log:\n%s", status, d.logText())
	}
	if err := syscall.Kill(-d.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process of its group is left: %v", err)
	}
	if ended := d.logged("run ended"); len(ended) != 2 {
		t.Errorf("want the end of 2 runs in the log, got %v", ended)
	}
	// The two locks stay on purpose: removing one would let two daemons hold it.
	want := map[string]bool{"code/a.dart": true, "run/s.lock": true, "state/workspace.lock": true}
	for _, name := range files(t, p.dir) {
		if !want[name] {
			t.Errorf("%s is left behind", name)
		}
	}
	if got := readFile(t, filepath.Join(folder, "a.dart")); got != strings.ReplaceAll(guards, "dispose", "close") {
		t.Errorf("the accepted edit is:\n%s", got)
	}
}

// files lists what is below a folder and is no folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestMetricsAndLog(t *testing.T) {
	p := newPlace(t)
	folder := filepath.Join(p.dir, "code")
	writeFile(t, filepath.Join(folder, "a.dart"), guards)
	d := p.serve(t, "--metrics-listen", "127.0.0.1:0", "--log-level", "debug")
	d.createRun("a", folder)
	d.stage("a", "$X.dispose()", "$X.close()")

	served := d.logged("serving metrics")
	if len(served) != 1 {
		t.Fatalf("the log does not say where the metrics are:\n%s", d.logText())
	}
	page := get(t, served[0]["address"].(string))
	for _, want := range []string{
		`grpc_server_handled_total{grpc_code="OK",grpc_method="Edit",grpc_service="toolsd.v1.AstService",grpc_type="unary"} 1`,
		`grpc_server_handling_seconds_count{grpc_method="CreateRun",grpc_service="toolsd.v1.RunService",grpc_type="unary"} 1`,
		`toolsd_tool_calls_total{reason="OK",tool="ast_edit"} 1`,
		`toolsd_tool_seconds_count{tool="ast_edit"} 1`,
		`toolsd_build_info{version="v-test"} 1`,
		`toolsd_runs_created_total 1`,
		"toolsd_runs 1",
		"toolsd_calls_in_flight 0",
	} {
		if !strings.Contains(page, "\n"+want+"\n") {
			t.Errorf("the metrics miss %s", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	if status := d.terminate(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if calls := d.logged("call"); len(calls) < 2 { // logged checks that each line is JSON
		t.Errorf("the log has %d calls:\n%s", len(calls), d.logText())
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return string(body)
}
