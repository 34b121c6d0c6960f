package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if out, _, status := toolsd(t, "version"); out != "toolsd v-test\n" || status != 0 {
		t.Errorf("got %q, exit status %d", out, status)
	}
}

// TestServeRefuses: what is unsafe or wrong is refused before anything is
// served, with exit status 2 and the flag's name.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	writeFile(t, short, "me tooshort\n")
	open := filepath.Join(dir, "open")
	must(t, os.Mkdir(open, 0o700))
	must(t, os.Chmod(open, 0o777)) // above what the umask leaves
	empty := filepath.Join(dir, "empty.yaml")
	writeFile(t, empty, "max_rums: 3\n")
	state := []string{"--state-dir", filepath.Join(dir, "state"), "--grammar-dir", filepath.Dir(tool(t, "grammars/dart.so", "grammars"))}
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"an unknown flag", []string{"--no-such-flag"}, "--no-such-flag"},
		{"an argument", []string{"now"}, "now"},
		{"open to the network", []string{"--listen", "tcp://0.0.0.0:0"}, "--token-file"},
		{"open to the network, flag or not", []string{"--listen", "tcp://0.0.0.0:0", "--insecure-loopback"}, "--token-file"},
		{"loopback by accident", []string{"--listen", "tcp://127.0.0.1:0"}, "--insecure-loopback"},
		{"a token that can be guessed", []string{"--listen", "tcp://127.0.0.1:0", "--token-file", short}, "--token-file: token file " + short},
		{"a token file that is not there", []string{"--listen", "tcp://127.0.0.1:0", "--token-file", "/no/such"}, "/no/such"},
		{"a key without certificate", []string{"--tls-key", "k"}, "--tls-cert"},
		{"a socket in an open folder", []string{"--listen", "unix://" + filepath.Join(open, "s")}, open},
		{"a state folder that others write", []string{"--listen", "unix://" + filepath.Join(dir, "r", "s"), "--state-dir", open}, "--state-dir"},
		{"an unknown key of the file", []string{"--config", empty}, "max_rums"},
		{"a limit of zero", []string{"--max-calls", "0"}, "--max-calls"},
		{"a log level that is none", []string{"--log-level", "loud"}, "--log-level"},
		{"a grammar folder that is not there", []string{"--listen", "unix://" + filepath.Join(dir, "r", "s"), "--grammar-dir", "/no/such"}, "--grammar-dir"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, stderr, status := toolsd(t, append(append([]string{"serve"}, state...), tt.args...)...)
			if status != exitUsage || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit status %d, want %d, and an error that says %q:\n%s", status, exitUsage, tt.says, stderr)
			}
		})
	}
}

func TestConfigPrintIsReadBack(t *testing.T) {
	args := []string{"config", "print", "--listen", "unix:///run/toolsd/s", "--state-dir", "/var/lib/toolsd", "--grammar-dir", "/a b"}
	first, stderr, status := toolsd(t, append(args, "--replica", "pod-7", "--idle-ttl", "90s", "--max-file-bytes", "123")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(t.TempDir(), "toolsd.yaml")
	writeFile(t, file, first)
	second, stderr, status := toolsd(t, "config", "print", "--config", file)
	if status != 0 || second != first {
		t.Errorf("exit status %d, %s\nprinted:\n%s\nread back:\n%s", status, stderr, first, second)
	}
	for _, want := range []string{"replica: pod-7\n", "idle_ttl: 1m30s\n", "max_file_bytes: 123\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the settings miss %q:\n%s", want, first)
		}
	}
}

// TestProtosetHasComments: a grpcurl user can work from it without a daemon.
func TestProtosetHasComments(t *testing.T) {
	set, stderr, status := toolsd(t, "protoset")
	if status != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(t.TempDir(), "toolsd.binpb")
	writeFile(t, file, set)
	grpcurl := tool(t, "bin/grpcurl", "grpcurl")
	for symbol, want := range map[string]string{
		"toolsd.v1.RunService":                 "// Creates a run",
		"toolsd.v1.AstServiceGrepRequest":      "// A code fragment with metavariables",
		"toolsd.v1.DebugService.StepOver":      "// ",
		"toolsd.v1.Tier":                       "// ",
		"toolsd.v1.EvalService.ServeTools":     "// ",
		"toolsd.v1.AskService.WatchQuestions":  "// ",
		"toolsd.v1.VibeService.HostWorkers":    "// ",
		"toolsd.v1.LspService.TypeDefinition":  "// ",
		"toolsd.v1.FileService.ApplyPatch":     "// ",
		"toolsd.v1.ToolService.Call":           "// ",
		"toolsd.v1.RunService.GetServerInfo":   "// ",
		"toolsd.v1.AstServiceResolveResponse":  "// ",
		"toolsd.v1.DebugService.SetBreakpoint": "",
	} {
		out, err := exec.Command(grpcurl, "-protoset", file, "describe", symbol).CombinedOutput()
		if known := want != ""; known != (err == nil) || !strings.Contains(string(out), want) {
			t.Errorf("describe %s: %v, want %q in:\n%s", symbol, err, want, out)
		}
	}
}

func TestHealthcheck(t *testing.T) {
	p := newPlace(t)
	listen := []string{"healthcheck", "--listen", "unix://" + p.socket}
	if _, stderr, status := toolsd(t, listen...); status != 1 || !strings.Contains(stderr, p.socket) {
		t.Errorf("nobody serves: exit status %d, %s", status, stderr)
	}
	if _, stderr, status := toolsd(t, "healthcheck", "--listen", "nonsense"); status != exitUsage || !strings.Contains(stderr, "--listen") {
		t.Errorf("no address: exit status %d, %s", status, stderr)
	}
	p.serve(t)
	if out, stderr, status := toolsd(t, listen...); out != "SERVING\n" || status != 0 {
		t.Errorf("served: %q, exit status %d, %s", out, status, stderr)
	}
	if out, stderr, status := toolsd(t, append(listen, "--service", "toolsd.v1.AstService")...); out != "SERVING\n" || status != 0 {
		t.Errorf("a built service: %q, exit status %d, %s", out, status, stderr)
	}
	if out, stderr, status := toolsd(t, append(listen, "--service", "toolsd.v1.LspService")...); status != 1 || !strings.Contains(stderr, "unknown service") {
		t.Errorf("an unbuilt service: %q, exit status %d, %s", out, status, stderr)
	}
}
