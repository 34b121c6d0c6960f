package arch

import (
	"slices"
	"strings"
	"testing"
)

// imports makes a graph from lines "package: import import …". A name with a
// known first part is one of the module.
func imports(lines ...string) map[string]pkg {
	qualify := func(name string) string {
		for _, part := range []string{"cmd", "gen", "internal"} {
			if within(name, part) {
				return module + "/" + name
			}
		}
		return name
	}
	graph := map[string]pkg{}
	for _, line := range lines {
		name, list, _ := strings.Cut(line, ":")
		p := pkg{ImportPath: qualify(name), Doc: "Package x is a package.", GoFiles: []string{"x.go"}}
		for imported := range strings.FieldsSeq(list) {
			p.Imports = append(p.Imports, qualify(imported))
		}
		graph[p.ImportPath] = p
	}
	return graph
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		graph map[string]pkg
		want  []string // the breaches, without the module's path
	}{
		{
			name: "the house as it is drawn",
			graph: imports(
				"cmd/toolsd: internal/server internal/session internal/astq internal/telemetry google.golang.org/grpc",
				"internal/server: gen/toolsd/v1 google.golang.org/grpc/codes internal/session internal/astq internal/toolerr",
				"internal/server/toolschema: google.golang.org/protobuf/proto",
				"internal/session: internal/workspace internal/toolerr",
				"internal/astq: internal/astq/grammar internal/workspace",
				"internal/astq/grammar: internal/toolerr",
				"internal/proc: os/exec internal/telemetry",
				"internal/workspace: os",
				"gen/toolsd/v1: google.golang.org/grpc",
			),
		},
		{
			name:  "a family imports another",
			graph: imports("internal/astq: internal/lsp"),
			want:  []string{"internal/astq imports internal/lsp, which is not on a lower floor"},
		},
		{
			name:  "a family imports an inner package of another",
			graph: imports("internal/astq/edit: internal/lsp/uri"),
			want:  []string{"internal/astq/edit imports internal/lsp/uri, which is not on a lower floor"},
		},
		{
			name:  "a family imports the session",
			graph: imports("internal/ask: internal/session"),
			want:  []string{"internal/ask imports internal/session, which is not on a lower floor"},
		},
		{
			name:  "the session imports the server",
			graph: imports("internal/session: internal/server"),
			want:  []string{"internal/session imports internal/server, which is not on a lower floor"},
		},
		{
			name:  "the workspace starts processes",
			graph: imports("internal/workspace: os/exec internal/proc"),
			want: []string{
				"internal/workspace imports internal/proc, which is not on a lower floor",
				"internal/workspace imports os/exec, which only internal/proc may",
			},
		},
		{
			name:  "the command knows the generated code",
			graph: imports("cmd/toolsd: gen/protoset"),
			want:  []string{"cmd/toolsd imports gen/protoset, which only internal/server may"},
		},
		{
			name:  "the session speaks gRPC",
			graph: imports("internal/session: google.golang.org/grpc/status"),
			want:  []string{"internal/session imports google.golang.org/grpc/status, which only cmd/toolsd and internal/server may"},
		},
		{
			name: "a family reaches gRPC through another module",
			graph: imports(
				"internal/lsp: internal/telemetry",
				"internal/telemetry: example.org/metrics",
				"example.org/metrics: google.golang.org/grpc",
			),
			want: []string{
				"internal/lsp reaches google.golang.org/grpc: internal/lsp → internal/telemetry → example.org/metrics → google.golang.org/grpc",
				"internal/telemetry reaches google.golang.org/grpc: internal/telemetry → example.org/metrics → google.golang.org/grpc",
			},
		},
		{
			name:  "a name that only begins alike is another package",
			graph: imports("internal/session: google.golang.org/grpcurl os/executor"),
		},
		{
			name:  "a room without a floor",
			graph: imports("internal/utils:"),
			want:  []string{"room internal/utils has no floor in this test: say where it belongs"},
		},
		{
			name:  "a package without a comment",
			graph: map[string]pkg{module + "/internal/ask": {ImportPath: module + "/internal/ask", GoFiles: []string{"ask.go"}}},
			want:  []string{"internal/ask has no package comment"},
		},
		{
			name:  "a package of tests alone needs no comment",
			graph: map[string]pkg{module + "/internal/ask": {ImportPath: module + "/internal/ask"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := check(test.graph)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], module+"/", "")
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("breaches:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}
