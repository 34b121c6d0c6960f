package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func (d *daemon) toolNames(run string) []string {
	d.t.Helper()
	response, err := d.run().ListTools(d.t.Context(), &toolsdv1.ListToolsRequest{RunId: run})
	must(d.t, err)
	var names []string
	for _, tool := range response.GetTools() {
		names = append(names, tool.GetName())
	}
	return names
}

// TestCeilingDecidesWhatExists is spec.md, "Approval tiers": a tool above the
// ceiling is absent, and calling it is no different from calling nothing.
func TestCeilingDecidesWhatExists(t *testing.T) {
	d := start(t)
	run := d.create("", toolsdv1.Tier_TIER_READ)
	edit := &toolsdv1.AstServiceEditRequest{RunId: run, Pattern: disposePattern, Rewrite: "$X?.dispose()", Language: "dart"}
	const arguments = `{"pattern": "if ($X != null) $X.dispose()", "rewrite": "$X?.dispose()", "language": "dart"}`

	if names := d.toolNames(run); !slices.Equal(names, []string{toolAstGrep}) {
		t.Errorf("ceiling read lists %v", names)
	}
	_, err := d.ast().Edit(t.Context(), edit)
	hidden := wantError(t, err, codes.NotFound, toolerr.ReasonToolNotRegistered)
	result, err := d.call(run, toolAstEdit, arguments)
	must(t, err)
	if !result.GetIsError() || result.GetErrorReason() != string(toolerr.ReasonToolNotRegistered) || result.GetText() != hidden {
		t.Errorf("Call answers %v, the typed RPC %q", result, hidden)
	}
	never, err := d.call(run, "ast_never", arguments)
	must(t, err)
	if strings.ReplaceAll(never.GetText(), "ast_never", toolAstEdit) != hidden {
		t.Errorf("a hidden tool answers %q, one that never was %q", hidden, never.GetText())
	}

	_, err = d.run().UpdateRun(t.Context(), &toolsdv1.UpdateRunRequest{RunId: run, MaxTier: toolsdv1.Tier_TIER_WRITE})
	must(t, err)
	if names := d.toolNames(run); !slices.Equal(names, []string{toolAstEdit, toolAstGrep, toolResolve}) {
		t.Errorf("ceiling write lists %v", names)
	}
	_, err = d.ast().Edit(t.Context(), edit)
	must(t, err)
	if result, err = d.call(run, toolAstEdit, arguments); err != nil || result.GetIsError() {
		t.Errorf("raised to write, Call answers %v, %v", result, err)
	}
}

// TestNoResourceNoTools: tools exist only when their resource is attached.
func TestNoResourceNoTools(t *testing.T) {
	d := start(t)
	request := d.request("bare", toolsdv1.Tier_TIER_EXEC)
	request.Resources = nil
	_, err := d.run().CreateRun(t.Context(), request)
	must(t, err)
	if names := d.toolNames("bare"); len(names) != 0 {
		t.Errorf("a run without resources lists %v", names)
	}
	_, err = d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{RunId: "bare", Pattern: "x"})
	wantError(t, err, codes.NotFound, toolerr.ReasonToolNotRegistered)
}

// TestCallMistakesOfTheModel: what a model can mend comes back to it as a
// result, and names what to mend.
func TestCallMistakesOfTheModel(t *testing.T) {
	d := start(t)
	run := d.create("", toolsdv1.Tier_TIER_WRITE)
	tests := []struct {
		name, tool, arguments string
		reason                toolerr.Reason
		says                  string
	}{
		{"no JSON", toolAstGrep, `{"pattern": `, toolerr.ReasonBadArgument, "JSON"},
		{"nothing", toolAstGrep, ``, toolerr.ReasonBadArgument, ""},
		{"an array", toolAstGrep, `[]`, toolerr.ReasonBadArgument, ""},
		{"an unknown argument", toolAstGrep, `{"pattern": "f()", "languages": "dart"}`, toolerr.ReasonBadArgument, "languages"},
		{"the run's id is not the model's", toolAstGrep, `{"pattern": "f()", "run_id": "x"}`, toolerr.ReasonBadArgument, "run_id"},
		{"no pattern", toolAstGrep, `{"language": "dart"}`, toolerr.ReasonBadArgument, "pattern"},
		{"an unparsable pattern", toolAstGrep, `{"pattern": "if (", "language": "dart"}`, toolerr.ReasonPatternUnparsable, ""},
		{"a path outside", toolAstGrep, `{"pattern": "f()", "path": "../x", "language": "dart"}`, toolerr.ReasonOutsideWorkspace, "../x"},
		{"an unknown language", toolAstGrep, `{"pattern": "f()", "language": "cobol"}`, toolerr.ReasonUnknownLanguage, "dart"},
		{"an edit that never was", toolResolve, `{"edit_id": "edit_9", "action": "accept"}`, toolerr.ReasonEditNotFound, "edit_9"},
		{"an action that is none", toolResolve, `{"edit_id": "edit_9", "action": "perhaps"}`, toolerr.ReasonBadArgument, "action"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := d.call(run, tt.tool, tt.arguments)
			must(t, err)
			if !result.GetIsError() || result.GetErrorReason() != string(tt.reason) || !strings.Contains(result.GetText(), tt.says) || result.GetText() == "" {
				t.Errorf("got %v, want an error of reason %s that says %q", result, tt.reason, tt.says)
			}
		})
	}
	_, err := d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{RunId: run, Pattern: "if (", Language: "dart"})
	wantError(t, err, codes.InvalidArgument, toolerr.ReasonPatternUnparsable)
	d.wantMetric(`toolsd_tool_calls_total{reason="PATTERN_UNPARSABLE",tool="ast_grep"}`, "2")
}

func TestUnknownRunIsAStatus(t *testing.T) {
	d := start(t)
	_, err := d.call("nobody", toolAstGrep, `{}`)
	wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound)
	_, err = d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{RunId: "nobody"})
	wantError(t, err, codes.NotFound, toolerr.ReasonRunNotFound)
	_, err = d.call("", toolAstGrep, `{}`)
	wantError(t, err, codes.InvalidArgument, toolerr.ReasonBadArgument)
}

// TestCallGivesWhatTheTypedRPCGives: one search through both doors.
func TestCallGivesWhatTheTypedRPCGives(t *testing.T) {
	d := start(t)
	run := d.create("", toolsdv1.Tier_TIER_READ)
	typed, err := d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{RunId: run, Pattern: disposePattern, Language: "dart"})
	must(t, err)
	if n := len(typed.GetMatches()); n != 1 || typed.GetMatches()[0].GetLocation().GetRange().GetStartLine() != 3 {
		t.Fatalf("want the guard of line 3 alone, got %v", typed.GetMatches())
	}
	result, err := d.call(run, toolAstGrep, `{"pattern": "if ($X != null) $X.dispose()", "language": "dart"}`)
	must(t, err)
	if result.GetIsError() || result.GetText() != typed.GetText() {
		t.Errorf("Call says %v, the typed RPC %q", result, typed.GetText())
	}
	var compact bytes.Buffer
	must(t, json.Compact(&compact, []byte(result.GetStructuredJson())))
	if compact.String() != result.GetStructuredJson() {
		t.Errorf("structured_json is not compact: %s", result.GetStructuredJson())
	}
	var fields map[string]json.RawMessage
	must(t, json.Unmarshal(compact.Bytes(), &fields))
	if _, ok := fields["text"]; ok {
		t.Error("structured_json repeats the text")
	}
	if !strings.Contains(compact.String(), `"start_line":3`) {
		t.Errorf("structured_json has no snake_case start_line: %s", &compact)
	}
}

// TestBytesThatAreNoText: code need not be UTF-8, and protobuf strings must be.
// A file whose name is not cannot be named in an answer, and is counted.
func TestBytesThatAreNoText(t *testing.T) {
	d := start(t)
	d.write("b.dart", "void f() {\n  g('\xfe');\n}\n")
	d.write("c\xff.dart", "void f() {\n  g(1);\n}\n")
	run := d.create("", toolsdv1.Tier_TIER_WRITE)
	found, err := d.ast().Grep(t.Context(), &toolsdv1.AstServiceGrepRequest{RunId: run, Pattern: "g($X)", Language: "dart"})
	must(t, err)
	if len(found.GetMatches()) != 1 || found.GetMatches()[0].GetLocation().GetPath() != "b.dart" || found.GetMatches()[0].GetText() != "g('\uFFFD')" {
		t.Errorf("got %v", found)
	}
	if n := found.GetStats().GetSkipped()["unreadable"]; n != 1 {
		t.Errorf("%d files are unreadable, want the one whose name is no text", n)
	}
	result, err := d.call(run, toolAstEdit, `{"pattern": "g($X)", "rewrite": "h($X)", "language": "dart"}`)
	must(t, err)
	if result.GetIsError() || !strings.Contains(result.GetText(), "h('\uFFFD')") {
		t.Errorf("got %v", result)
	}
}
