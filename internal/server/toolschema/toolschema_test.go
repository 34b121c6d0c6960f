package toolschema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestJSON(t *testing.T) {
	comments := func(name protoreflect.FullName) string {
		return "about " + string(name.Name())
	}
	tests := []struct {
		name    string
		message proto.Message
		want    string
	}{
		{
			name:    "a tool with numbers in a range",
			message: &toolsdv1.AstServiceGrepRequest{},
			want: `{"type":"object","properties":{` +
				`"pattern":{"type":"string","description":"about pattern"},` +
				`"path":{"type":"string","description":"about path"},` +
				`"language":{"type":"string","description":"about language"},` +
				`"max_results":{"type":"integer","description":"about max_results","minimum":1,"maximum":1000}},` +
				`"required":["pattern"],"additionalProperties":false}`,
		},
		{
			name:    "an enum as the model writes it",
			message: &toolsdv1.AstServiceResolveRequest{},
			want: `{"type":"object","properties":{` +
				`"edit_id":{"type":"string","description":"about edit_id"},` +
				`"action":{"type":"string","description":"about action","enum":["accept","discard"]}},` +
				`"required":["edit_id","action"],"additionalProperties":false}`,
		},
		{
			name:    "lists of objects, hidden fields left out",
			message: &toolsdv1.AskServiceAskRequest{},
			want: `{"type":"object","properties":{` +
				`"question":{"type":"string","description":"about question"},` +
				`"context":{"type":"string","description":"about context"},` +
				`"options":{"type":"array","description":"about options","items":{"type":"object","properties":{` +
				`"label":{"type":"string","description":"about label"},` +
				`"description":{"type":"string","description":"about description"}},` +
				`"required":["label"],"additionalProperties":false}},` +
				`"allow_free_text":{"type":"boolean","description":"about allow_free_text"},` +
				`"multi_select":{"type":"boolean","description":"about multi_select"}},` +
				`"required":["question"],"additionalProperties":false}`,
		},
		{
			name:    "a map",
			message: &toolsdv1.DebugServiceLaunchRequest{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := JSON(tt.message.ProtoReflect().Descriptor(), comments)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid([]byte(got)) {
				t.Fatalf("not JSON: %s", got)
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("schema differs:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
	launch, err := JSON((&toolsdv1.DebugServiceLaunchRequest{}).ProtoReflect().Descriptor(), comments)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(launch, `"env":{"type":"object","description":"about env","additionalProperties":{"type":"string"}}`) {
		t.Errorf("map field is not an object of strings: %s", launch)
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		json string
		into proto.Message
		want proto.Message
	}{
		{"empty means no arguments", "", &toolsdv1.VibeServiceListRequest{}, &toolsdv1.VibeServiceListRequest{}},
		{
			"strings and numbers", `{"pattern":"f($X)","max_results":7}`,
			&toolsdv1.AstServiceGrepRequest{RunId: "local.a"},
			&toolsdv1.AstServiceGrepRequest{RunId: "local.a", Pattern: "f($X)", MaxResults: proto.Int32(7)},
		},
		{
			"a whole number written as a float", `{"pattern":"f($X)","max_results":7.0}`,
			&toolsdv1.AstServiceGrepRequest{},
			&toolsdv1.AstServiceGrepRequest{Pattern: "f($X)", MaxResults: proto.Int32(7)},
		},
		{
			"null is not given", `{"pattern":"f()","path":null}`,
			&toolsdv1.AstServiceGrepRequest{},
			&toolsdv1.AstServiceGrepRequest{Pattern: "f()"},
		},
		{
			"an enum by its short name", `{"edit_id":"edit_1","action":"discard"}`,
			&toolsdv1.AstServiceResolveRequest{},
			&toolsdv1.AstServiceResolveRequest{EditId: "edit_1", Action: toolsdv1.ResolveAction_RESOLVE_ACTION_DISCARD},
		},
		{
			"an empty string is given", `{"pattern":"f()","rewrite":""}`,
			&toolsdv1.AstServiceEditRequest{},
			&toolsdv1.AstServiceEditRequest{Pattern: "f()"},
		},
		{
			"lists of objects", `{"question":"Which?","options":[{"label":"a"},{"label":"b","description":"c"}]}`,
			&toolsdv1.AskServiceAskRequest{},
			&toolsdv1.AskServiceAskRequest{Question: "Which?", Options: []*toolsdv1.QuestionOption{
				{Label: "a"}, {Label: "b", Description: "c"},
			}},
		},
		{
			"maps and lists of scalars", `{"program":"./x","args":["-v"],"env":{"A":"1"}}`,
			&toolsdv1.DebugServiceLaunchRequest{},
			&toolsdv1.DebugServiceLaunchRequest{Program: "./x", Args: []string{"-v"}, Env: map[string]string{"A": "1"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Decode(tt.json, tt.into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.into, protocmp.Transform()); diff != "" {
				t.Errorf("decoded message differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRejects(t *testing.T) {
	grep := func() proto.Message { return &toolsdv1.AstServiceGrepRequest{} }
	resolve := func() proto.Message { return &toolsdv1.AstServiceResolveRequest{} }
	tests := []struct {
		name   string
		json   string
		into   proto.Message
		fields []string
		says   string
	}{
		{"not JSON", `{"pattern":`, grep(), []string{"arguments_json"}, "not valid JSON"},
		{"not an object", `["f()"]`, grep(), []string{"arguments_json"}, "an array"},
		{"two values", `{} {}`, grep(), []string{"arguments_json"}, "exactly one"},
		{"missing", `{}`, grep(), []string{"pattern"}, "is required"},
		{"unknown names are listed with the known", `{"pattern":"f()","pat":1}`, grep(), []string{"pat"}, "known are: pattern, path, language, max_results"},
		{"the run is no argument", `{"pattern":"f()","run_id":"x"}`, grep(), []string{"run_id"}, "no such argument"},
		{"everything at once", `{"max_results":"many","colour":1}`, grep(), []string{"colour", "pattern", "max_results"}, "must be an integer"},
		{"out of range", `{"pattern":"f()","max_results":0}`, grep(), []string{"max_results"}, "between 1 and 1000, got 0"},
		{"a fraction", `{"pattern":"f()","max_results":1.5}`, grep(), []string{"max_results"}, "must be an integer, got 1.5"},
		{"larger than any integer", `{"pattern":"f()","max_results":1e400}`, grep(), []string{"max_results"}, "must be an integer"},
		{"a number for a string", `{"pattern":7}`, grep(), []string{"pattern"}, "must be a string, got the number 7"},
		{"an unknown enum value", `{"edit_id":"e","action":"apply"}`, resolve(), []string{"action"}, `one of accept, discard, got the string "apply"`},
		{"the proto name of an enum", `{"edit_id":"e","action":"unspecified"}`, resolve(), []string{"action"}, "one of accept, discard"},
		{"inside a list", `{"question":"q","options":[{"label":"a"},{"description":"b"}]}`, &toolsdv1.AskServiceAskRequest{}, []string{"options[1].label"}, "is required"},
		{"a list that is none", `{"question":"q","options":"a"}`, &toolsdv1.AskServiceAskRequest{}, []string{"options"}, "must be an array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Decode(tt.json, tt.into)
			var e *toolerr.Error
			if !errors.As(err, &e) || e.Kind != toolerr.InvalidArgument {
				t.Fatalf("got %v, want an InvalidArgument", err)
			}
			var fields []string
			for _, v := range e.Violations {
				fields = append(fields, v.Field)
			}
			if diff := cmp.Diff(tt.fields, fields); diff != "" {
				t.Errorf("fields differ (-want +got):\n%s", diff)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"pattern":"f($X)","max_results":7}`, `{"program":"./x","args":["-v"],"env":{"A":"1"}}`,
		`{"env":{"a":[]}}`, `[]`, `{`, `{"args":[null]}`, `{"pattern":{"a":1}}`, `{"max_results":-1e999}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, into := range []proto.Message{&toolsdv1.AstServiceGrepRequest{}, &toolsdv1.DebugServiceLaunchRequest{}, &toolsdv1.AskServiceAskRequest{}} {
			err := Decode(text, into)
			if err == nil {
				continue
			}
			if e, ok := toolerr.As(err); !ok || len(e.Violations) == 0 {
				t.Fatalf("Decode(%q) = %v, which names no argument", text, err)
			}
		}
	})
}
