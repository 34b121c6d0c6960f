package server

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/toolerr"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestRunLife(t *testing.T) {
	d := start(t)
	ctx := t.Context()
	request := d.request("", toolsdv1.Tier_TIER_WRITE)
	request.ConversationId, request.Labels, request.IdleTtl = "c1", map[string]string{"team": "x"}, durationpb.New(time.Minute)
	created, err := d.run().CreateRun(ctx, request)
	must(t, err)
	id := created.GetRun().GetRunId()
	want := &toolsdv1.Run{
		RunId: id, Replica: "local", ConversationId: "c1", WorkspaceRoot: d.folder, MaxTier: toolsdv1.Tier_TIER_WRITE,
		Resources: []toolsdv1.ResourceKind{toolsdv1.ResourceKind_RESOURCE_KIND_AST},
		Labels:    map[string]string{"team": "x"}, IdleTtl: durationpb.New(time.Minute), CreateTime: created.GetRun().GetCreateTime(),
	}
	if diff := cmp.Diff(want, created.GetRun(), protocmp.Transform()); diff != "" || !strings.HasPrefix(id, "local.") || !want.GetCreateTime().IsValid() {
		t.Errorf("created run %q differs (-want +got):\n%s", id, diff)
	}
	got, err := d.run().GetRun(ctx, &toolsdv1.GetRunRequest{RunId: id})
	must(t, err)
	if diff := cmp.Diff(want, got.GetRun(), protocmp.Transform()); diff != "" {
		t.Errorf("GetRun differs (-want +got):\n%s", diff)
	}
	updated, err := d.run().UpdateRun(ctx, &toolsdv1.UpdateRunRequest{RunId: id, MaxTier: toolsdv1.Tier_TIER_READ})
	must(t, err)
	if tier := updated.GetRun().GetMaxTier(); tier != toolsdv1.Tier_TIER_READ {
		t.Errorf("the updated ceiling is %v", tier)
	}
	_, err = d.run().CloseRun(ctx, &toolsdv1.CloseRunRequest{RunId: id})
	must(t, err)
	list, err := d.run().ListRuns(ctx, &toolsdv1.ListRunsRequest{})
	must(t, err)
	if len(list.GetRuns()) != 0 {
		t.Errorf("after the close there are runs: %v", list.GetRuns())
	}
}

func TestListRunsInPages(t *testing.T) {
	d := start(t)
	want := []string{d.create("a", toolsdv1.Tier_TIER_READ), d.create("b", toolsdv1.Tier_TIER_READ), d.create("c", toolsdv1.Tier_TIER_READ)}
	var got []string
	request := &toolsdv1.ListRunsRequest{PageSize: 2}
	for {
		page, err := d.run().ListRuns(t.Context(), request)
		must(t, err)
		for _, run := range page.GetRuns() {
			got = append(got, run.GetRunId())
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	_, err := d.run().ListRuns(t.Context(), &toolsdv1.ListRunsRequest{PageToken: "never given"})
	wantError(t, err, codes.InvalidArgument, toolerr.ReasonBadArgument)
}

func TestServerInfo(t *testing.T) {
	info, err := start(t).run().GetServerInfo(t.Context(), &toolsdv1.GetServerInfoRequest{})
	must(t, err)
	if info.GetVersion() != "test" || info.GetReplica() != "local" || info.GetLimits()["max_calls"] != 8 ||
		!slices.Equal(info.GetResources(), []toolsdv1.ResourceKind{toolsdv1.ResourceKind_RESOURCE_KIND_AST}) {
		t.Errorf("got %v", info)
	}
	var languages []string
	for _, g := range info.GetGrammars() {
		languages = append(languages, g.GetLanguage())
		if g.GetVersion() == "" || g.GetAbi() == 0 || len(g.GetExtensions()) == 0 || g.GetUnavailable() != "" {
			t.Errorf("grammar without version, ABI or extensions, or unavailable: %v", g)
		}
		if dart := g.GetLanguage() == "dart"; dart != (g.GetFile() != "") {
			t.Errorf("%s was loaded from %q", g.GetLanguage(), g.GetFile())
		}
	}
	want := []string{"c", "cpp", "dart", "go", "java", "javascript", "python", "rust", "tsx", "typescript"}
	if !slices.Equal(languages, want) {
		t.Errorf("languages %v, want %v", languages, want)
	}
}

func TestCreateRunIsIdempotent(t *testing.T) {
	d := start(t)
	request := d.request("same", toolsdv1.Tier_TIER_READ)
	first, err := d.run().CreateRun(t.Context(), request)
	must(t, err)
	again, err := d.run().CreateRun(t.Context(), request)
	must(t, err)
	if diff := cmp.Diff(first, again, protocmp.Transform()); diff != "" {
		t.Errorf("the same request gave another run:\n%s", diff)
	}
	_, err = d.run().CreateRun(t.Context(), d.request("same", toolsdv1.Tier_TIER_EXEC))
	wantError(t, err, codes.AlreadyExists, toolerr.ReasonRunExists)
}

func TestCreateRunRejects(t *testing.T) {
	d := start(t)
	tests := []struct {
		name   string
		change func(*toolsdv1.CreateRunRequest)
		code   codes.Code
		reason toolerr.Reason
		says   string
		fields []string
	}{
		{
			"a resource that is not built", func(r *toolsdv1.CreateRunRequest) { r.Resources.Lsp = &toolsdv1.LspResource{} },
			codes.FailedPrecondition, toolerr.ReasonResourceUnavailable, "lsp", nil,
		},
		{"everything bad at once", func(r *toolsdv1.CreateRunRequest) {
			r.MaxTier, r.WorkspaceRoot, r.ConversationId, r.Env = 0, "", "a\x00b", map[string]string{"1": ""}
		}, codes.InvalidArgument, toolerr.ReasonBadArgument, "", []string{"conversation_id", "env", "max_tier", "workspace_root"}},
		{
			"a tier that is none", func(r *toolsdv1.CreateRunRequest) { r.MaxTier = 99 },
			codes.InvalidArgument, toolerr.ReasonBadArgument, "",
			[]string{"max_tier"},
		},
		{
			"a bad id", func(r *toolsdv1.CreateRunRequest) { r.RunId = "a b" },
			codes.InvalidArgument, toolerr.ReasonBadArgument, `"a b"`,
			[]string{"run_id"},
		},
		{
			"no time at all", func(r *toolsdv1.CreateRunRequest) { r.IdleTtl = durationpb.New(0) },
			codes.InvalidArgument, toolerr.ReasonBadArgument, "above zero",
			[]string{"idle_ttl"},
		},
		{
			"an impossible duration", func(r *toolsdv1.CreateRunRequest) { r.IdleTtl = &durationpb.Duration{Seconds: 1, Nanos: -1} },
			codes.InvalidArgument, toolerr.ReasonBadArgument, "",
			[]string{"idle_ttl"},
		},
		{
			"a relative workspace", func(r *toolsdv1.CreateRunRequest) { r.WorkspaceRoot = "here" },
			codes.InvalidArgument, toolerr.ReasonBadArgument, `"here"`,
			[]string{"workspace_root"},
		},
		{
			"a workspace that is not there", func(r *toolsdv1.CreateRunRequest) { r.WorkspaceRoot = "/no/such" },
			codes.InvalidArgument, toolerr.ReasonBadArgument, "/no/such",
			[]string{"workspace_root"},
		},
		{
			"an unknown parent", func(r *toolsdv1.CreateRunRequest) { r.ParentRunId = "nobody" },
			codes.NotFound, toolerr.ReasonRunNotFound, "local.nobody", nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			request := d.request("", toolsdv1.Tier_TIER_READ)
			tt.change(request)
			_, err := d.run().CreateRun(t.Context(), request)
			if message := wantError(t, err, tt.code, tt.reason); !strings.Contains(message, tt.says) {
				t.Errorf("%q does not say %q", message, tt.says)
			}
			var fields []string
			for _, v := range detail[*errdetails.BadRequest](err).GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
			if slices.Sort(fields); !slices.Equal(fields, tt.fields) {
				t.Errorf("bad fields %v, want %v", fields, tt.fields)
			}
		})
	}
}

func TestWrongReplicaNamesTheOwner(t *testing.T) {
	_, err := start(t).run().GetRun(t.Context(), &toolsdv1.GetRunRequest{RunId: "pod-7.x"})
	wantError(t, err, codes.FailedPrecondition, toolerr.ReasonWrongReplica)
	if owner := errorInfo(err).GetMetadata()["owner"]; owner != "pod-7" {
		t.Errorf("the owner is %q", owner)
	}
}

// TestRunsOfOthersDoNotExist asks for a run that never was, one that is
// closed and one of another principal: the answers must not differ.
func TestRunsOfOthersDoNotExist(t *testing.T) {
	mine, theirs := strings.Repeat("m", 40), strings.Repeat("t", 40)
	d, tcp := startTCP(t, "me "+mine+"\nthem "+theirs+"\n")
	conn := dial(t, "passthrough:///"+tcp.Addr().String())
	runs, ast := toolsdv1.NewRunServiceClient(conn), toolsdv1.NewAstServiceClient(conn)
	me := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+mine)
	them := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+theirs)

	_, err := runs.CreateRun(me, d.request("r", toolsdv1.Tier_TIER_WRITE))
	must(t, err)
	_, err = runs.GetRun(me, &toolsdv1.GetRunRequest{RunId: "r"})
	must(t, err)
	ask := func() []string {
		var texts []string
		_, err := runs.GetRun(them, &toolsdv1.GetRunRequest{RunId: "r"})
		texts = append(texts, wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound))
		_, err = runs.CloseRun(them, &toolsdv1.CloseRunRequest{RunId: "r"})
		texts = append(texts, wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound))
		_, err = runs.UpdateRun(them, &toolsdv1.UpdateRunRequest{RunId: "r", MaxTier: toolsdv1.Tier_TIER_READ})
		texts = append(texts, wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound))
		_, err = ast.Grep(them, &toolsdv1.AstServiceGrepRequest{RunId: "r", Pattern: "x", Language: "dart"})
		return append(texts, wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound))
	}
	others := ask()
	list, err := runs.ListRuns(them, &toolsdv1.ListRunsRequest{})
	must(t, err)
	if len(list.GetRuns()) != 0 {
		t.Errorf("they see %v", list.GetRuns())
	}
	_, err = runs.CloseRun(me, &toolsdv1.CloseRunRequest{RunId: "r"})
	must(t, err)
	if diff := cmp.Diff(others, ask()); diff != "" {
		t.Errorf("another's run and a closed one differ:\n%s", diff)
	}
	if never, closed := strings.ReplaceAll(notFound(me, t, runs, "nobody"), "nobody", "r"), notFound(me, t, runs, "r"); never != closed {
		t.Errorf("an unknown run is %q, a closed one %q", never, closed)
	}
}

func notFound(ctx context.Context, t *testing.T, runs toolsdv1.RunServiceClient, id string) string {
	t.Helper()
	_, err := runs.GetRun(ctx, &toolsdv1.GetRunRequest{RunId: id})
	return wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound)
}

func startTCP(t *testing.T, tokens string, setups ...setup) (*daemon, net.Listener) {
	t.Helper()
	parsed, err := transport.ParseTokens([]byte(tokens))
	must(t, err)
	tcp, err := transport.ListenTCP("127.0.0.1:0", transport.TCPOptions{Tokens: parsed})
	must(t, err)
	return start(t, append(setups, alsoOn(tcp))...), tcp
}

// TestListToolsGolden keeps what models read under review: names, tiers,
// descriptions and schemas.
func TestListToolsGolden(t *testing.T) {
	d := start(t)
	tools, err := d.run().ListTools(t.Context(), &toolsdv1.ListToolsRequest{RunId: d.create("", toolsdv1.Tier_TIER_EXEC)})
	must(t, err)
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(tools)
	must(t, err)
	var got bytes.Buffer
	must(t, json.Indent(&got, raw, "", "  ")) // protojson's own spaces are random
	got.WriteByte('\n')
	const golden = "testdata/list_tools.json"
	if *update {
		must(t, os.MkdirAll(filepath.Dir(golden), 0o750))
		must(t, os.WriteFile(golden, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the tools changed; if that is meant, run the test with -update (-want +got):\n%s", diff)
	}
	for _, tool := range tools.GetTools() {
		if !json.Valid([]byte(tool.GetInputSchemaJson())) {
			t.Errorf("the schema of %s is no JSON", tool.GetName())
		}
	}
}
