package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// load runs the loader over one source of each kind.
func load(t *testing.T, file string, env map[string]string, args ...string) (Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("toolsd", pflag.ContinueOnError)
	loader := NewLoader(flags)
	if file != "" {
		name := filepath.Join(t.TempDir(), "toolsd.yaml")
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", name)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	environ := make([]string, 0, len(env))
	for k, v := range env {
		environ = append(environ, k+"="+v)
	}
	lookup := func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
	return loader.Load(lookup, environ)
}

func TestLayers(t *testing.T) {
	file := "replica: file\nmax_runs: 3\nidle_ttl: 2m\nlisten: [\"unix:///run/a.sock\"]\n"
	env := map[string]string{"TOOLSD_REPLICA": "env", "TOOLSD_MAX_RUNS": "4", "TOOLSD_LISTEN": "unix:///run/b.sock,unix:///run/c.sock"}
	tests := []struct {
		name string
		file string
		env  map[string]string
		args []string
		want func(*Config)
	}{
		{"defaults", "", nil, nil, func(*Config) {}},
		{"file over defaults", file, nil, nil, func(c *Config) {
			c.Replica, c.MaxRuns, c.IdleTTL, c.Listen = "file", 3, 2*time.Minute, []string{"unix:///run/a.sock"}
		}},
		{"environment over file", file, env, nil, func(c *Config) {
			c.Replica, c.MaxRuns, c.IdleTTL = "env", 4, 2*time.Minute
			c.Listen = []string{"unix:///run/b.sock", "unix:///run/c.sock"}
		}},
		{"flags over environment", file, env, []string{"--replica", "flag", "--listen", "unix:///run/d.sock"}, func(c *Config) {
			c.Replica, c.MaxRuns, c.IdleTTL = "flag", 4, 2*time.Minute
			c.Listen = []string{"unix:///run/d.sock"}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Default()
			tt.want(&want)
			got, err := load(t, tt.file, tt.env, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadRejects(t *testing.T) {
	tests := []struct {
		name string
		file string
		env  map[string]string
		args []string
		says string
	}{
		{"an unknown key", "max_rums: 3\n", nil, nil, "max_rums"},
		{"a repeated key", "replica: a\nreplica: b\n", nil, nil, "already defined"},
		{"two documents", "replica: a\n---\nreplica: b\n", nil, nil, "more than one YAML document"},
		{"an unknown variable", "", map[string]string{"TOOLSD_MAX_RUMS": "3"}, nil, "TOOLSD_MAX_RUMS names no setting"},
		{"a variable that is no number", "", map[string]string{"TOOLSD_MAX_RUNS": "many"}, nil, `TOOLSD_MAX_RUNS="many": is no whole number`},
		{"a variable that is no duration", "", map[string]string{"TOOLSD_IDLE_TTL": "5"}, nil, "is no duration"},
		{"a limit of zero", "", nil, []string{"--max-runs", "0"}, "--max-runs must be above zero"},
		{"a replica with a dot", "", nil, []string{"--replica", "a.b"}, `--replica: "a.b"`},
		{"an unknown level", "", nil, []string{"--log-level", "loud"}, "debug, info, warn, error"},
		{"a relative socket", "", nil, []string{"--listen", "unix://a.sock"}, "absolute path"},
		{"an unknown scheme", "", nil, []string{"--listen", "http://127.0.0.1:1"}, "neither unix:///"},
		{"a uid that is a name", "", nil, []string{"--allow-uid", "root"}, "numeric user id"},
		{"half of a key pair", "", nil, []string{"--tls-cert", "a.pem"}, "--tls-cert and --tls-key go together"},
		{"open to the network", "", nil, []string{"--listen", "tcp://0.0.0.0:7000"}, "open to the network without authentication: give --token-file"},
		{"open to the network, flag or not", "", nil, []string{"--listen", "tcp://10.0.0.1:7000", "--insecure-loopback"}, "open to the network"},
		{"a name is not loopback", "", nil, []string{"--listen", "tcp://localhost:7000", "--insecure-loopback"}, "open to the network"},
		{"every interface", "", nil, []string{"--listen", "tcp://:7000", "--insecure-loopback"}, "open to the network"},
		{"loopback without the flag", "", nil, []string{"--listen", "tcp://127.0.0.1:7000"}, "--insecure-loopback"},
		{"two ways to know a caller", "", nil, []string{"--tls-cert", "a", "--tls-key", "b", "--client-ca", "c", "--token-file", "t"}, "choose one"},
		{"server TLS alone is no authentication", "", nil, []string{"--listen", "tcp://0.0.0.0:7000", "--tls-cert", "a", "--tls-key", "b"}, "open to the network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.file, tt.env, tt.args...)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want an error that says %q", err, tt.says)
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	tests := [][]string{
		{"--listen", "tcp://127.0.0.1:7000", "--insecure-loopback"},
		{"--listen", "tcp://[::1]:7000", "--insecure-loopback"},
		{"--listen", "tcp://0.0.0.0:7000", "--token-file", "t"},
		{"--listen", "tcp://0.0.0.0:7000", "--tls-cert", "a", "--tls-key", "b", "--client-ca", "c"},
	}
	for _, args := range tests {
		if _, err := load(t, "", nil, args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestValidateReportsEverything(t *testing.T) {
	_, err := load(t, "", nil, "--max-runs", "0", "--replica", "", "--listen", "x")
	for _, part := range []string{"--max-runs", "--replica", "--listen"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
}

func TestPrintIsReadBack(t *testing.T) {
	want := Default()
	want.Replica, want.MaxRuns, want.GrammarDir = "r1", 7, []string{"/a b", "/c"}
	var out bytes.Buffer
	if err := want.Print(&out); err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := ParseYAML(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
		t.Errorf("settings differ after printing (-want +got):\n%s", diff)
	}
}

func FuzzParseYAML(f *testing.F) {
	f.Add([]byte("replica: a\nlisten: [x]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var c Config
		_ = ParseYAML(data, &c)
	})
}
