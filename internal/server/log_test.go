package server

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// accessLine is the log line of one call.
type accessLine struct {
	Level, Msg, Call, Method, Principal, Run, Tool, Code, Reason string
}

func (d *daemon) accessLines(method string) []accessLine {
	d.t.Helper()
	var out []accessLine
	for text := range strings.Lines(d.log.String()) {
		var line accessLine
		must(d.t, json.Unmarshal([]byte(text), &line))
		if line.Msg == "call" && line.Method == method {
			out = append(out, line)
		}
	}
	return out
}

func TestAccessLinesHaveTheirIDs(t *testing.T) {
	d := start(t)
	run := d.create("r", toolsdv1.Tier_TIER_READ)
	grep := &toolsdv1.AstServiceGrepRequest{RunId: "r", Pattern: disposePattern, Language: "dart"}
	_, err := d.ast().Grep(t.Context(), grep)
	must(t, err)
	grep.Pattern = "if ("
	if _, err = d.ast().Grep(t.Context(), grep); err == nil {
		t.Error("an unparsable pattern is searched")
	}
	_, err = d.call("r", toolAstGrep, `{"pattern": "f()", "language": "dart"}`)
	must(t, err)
	d.stop() // a stream's line is written after its last event; this waits for it

	typed, called := d.accessLines(toolsdv1.AstService_Grep_FullMethodName), d.accessLines(toolsdv1.ToolService_Call_FullMethodName)
	if len(typed) != 2 || len(called) != 1 {
		t.Fatalf("want 2 lines of typed calls and 1 of Call, got %d and %d:\n%s", len(typed), len(called), d.log)
	}
	ids := map[string]bool{}
	for _, line := range append(typed, called...) {
		ids[line.Call] = true
		if line.Run != run || line.Tool != toolAstGrep || !strings.HasPrefix(line.Principal, "uid:") || line.Level != slog.LevelInfo.String() {
			t.Errorf("an access line without run, tool or principal: %+v", line)
		}
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("the call ids are %v", ids)
	}
	if typed[0].Reason != "OK" || typed[1].Reason != "PATTERN_UNPARSABLE" || typed[1].Code != "InvalidArgument" {
		t.Errorf("the outcomes are %+v", typed)
	}
}

// TestRunIDsInTheLog: one that the daemon makes is in the log of its creation,
// and one that is none does not flood it.
func TestRunIDsInTheLog(t *testing.T) {
	d := start(t)
	run := d.create("", toolsdv1.Tier_TIER_READ)
	if lines := d.accessLines(toolsdv1.RunService_CreateRun_FullMethodName); len(lines) != 1 || lines[0].Run != run {
		t.Errorf("run %s was created, and the log has %+v", run, lines)
	}
	_, err := d.run().GetRun(t.Context(), &toolsdv1.GetRunRequest{RunId: strings.Repeat("x", 1<<20)})
	wantError(t, err, codes.InvalidArgument, toolerr.ReasonBadArgument)
	if lines := d.accessLines(toolsdv1.RunService_GetRun_FullMethodName); len(lines) != 1 || len(lines[0].Run) > 200 {
		t.Errorf("a bad run id is logged with %d bytes", len(lines[0].Run))
	}
}

// TestNothingSecretIsLogged runs a scenario, its failures included, and looks
// for what was planted in everything that a caller or a file can say.
func TestNothingSecretIsLogged(t *testing.T) {
	const code, value, token, label = "plantedCode", "plantedValue", "plantedTokenplantedTokenplantedToken", "plantedLabel"
	d, tcp := startTCP(t, "me "+token+"\n")
	d.conn = dial(t, "passthrough:///"+tcp.Addr().String())
	d.write("b.dart", "void f() { "+code+"(1); }\n")
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	request := d.request("r", toolsdv1.Tier_TIER_WRITE)
	request.Env, request.Labels = map[string]string{"SECRET": value}, map[string]string{"l": label}
	_, err := d.run().CreateRun(ctx, request)
	must(t, err)
	request.Env["SECRET"] = value + "\x00"
	_, badEnv := d.run().CreateRun(ctx, request)
	_, badToken := d.run().GetServerInfo(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token+"x"), nil)
	_, badPattern := d.ast().Grep(ctx, &toolsdv1.AstServiceGrepRequest{RunId: "r", Pattern: code + "((", Language: "dart"})
	_, badPath := d.ast().Grep(ctx, &toolsdv1.AstServiceGrepRequest{RunId: "r", Pattern: code, Path: "../" + code, Language: "dart"})
	for i, err := range []error{badEnv, badToken, badPattern, badPath} {
		if err == nil {
			t.Errorf("bad request %d was accepted", i)
		}
	}
	edit, err := d.ast().Edit(ctx, &toolsdv1.AstServiceEditRequest{RunId: "r", Pattern: code + "($X)", Rewrite: code + "2($X)", Language: "dart"})
	must(t, err)
	_, err = d.ast().Resolve(ctx, &toolsdv1.AstServiceResolveRequest{RunId: "r", EditId: edit.GetEditId(), Action: toolsdv1.ResolveAction_RESOLVE_ACTION_ACCEPT})
	must(t, err)
	for _, arguments := range []string{`{"pattern": "` + code + `2($X)", "language": "dart"}`, `{"` + code, `{"pattern": "` + code + `(("}`} {
		stream, err := d.tool().Call(ctx, &toolsdv1.CallRequest{RunId: "r", Name: toolAstGrep, ArgumentsJson: arguments})
		must(t, err)
		_, err = lastResult(stream)
		must(t, err)
	}
	stream, err := d.tool().Call(ctx, &toolsdv1.CallRequest{RunId: "r", Name: code})
	must(t, err)
	_, err = lastResult(stream)
	must(t, err)
	_, err = d.run().CloseRun(ctx, &toolsdv1.CloseRunRequest{RunId: "r"})
	must(t, err)
	d.stop()
	log := d.log.String()
	for _, secret := range []string{code, value, token, label} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %s:\n%s", secret, log)
		}
	}
	if !strings.Contains(log, "PATTERN_UNPARSABLE") || !strings.Contains(log, "UNAUTHENTICATED") {
		t.Errorf("the log misses the failures of the scenario:\n%s", log)
	}
}
