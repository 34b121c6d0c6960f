package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/server/toolschema"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// tool is one tool as a model knows it: a name, what it needs in order to
// exist for a run, and the typed RPC behind it.
type tool struct {
	name         string
	need         session.Requirement
	parallelSafe bool
	description  string // written for a model
	method       string // full name of the typed RPC
	schema       string // JSON Schema, derived from the request message
	request      func() proto.Message
	invoke       func(context.Context, proto.Message) (response, error)
}

// response is what the typed RPC behind a tool gives back: every one has the
// text that the model reads.
type response interface {
	proto.Message
	GetText() string
}

// catalogue is all tools of the daemon, by name.
type catalogue struct {
	tools []*tool
}

// newCatalogue derives the schemas and checks that each tool has a method.
func newCatalogue(comments toolschema.Comments, tools ...*tool) (*catalogue, error) {
	for _, t := range tools {
		schema, err := toolschema.JSON(t.request().ProtoReflect().Descriptor(), comments)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.name, err)
		}
		t.schema = schema
	}
	slices.SortFunc(tools, func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
	return &catalogue{tools: tools}, nil
}

// visible returns a tool that exists for the run now. One that the run's
// ceiling hides and one that toolsd never had give the same answer: neither
// exists.
func (c *catalogue) visible(run *session.Run, name string) (*tool, error) {
	for _, t := range c.tools {
		if t.name == name && run.Allows(t.need) {
			return t, nil
		}
	}
	return nil, toolerr.New(toolerr.NotFound, toolerr.ReasonToolNotRegistered,
		"tool %q does not exist for this run; ListTools names the tools that do", name)
}

// list returns the tools that exist for the run now, by name.
func (c *catalogue) list(run *session.Run) []*tool {
	var out []*tool
	for _, t := range c.tools {
		if run.Allows(t.need) {
			out = append(out, t)
		}
	}
	return out
}

// bind ties a tool to its typed RPC, so that a model's call and a typed
// client's call run the same code.
func bind[Request proto.Message, Response response](t tool, rpc func(context.Context, Request) (Response, error)) *tool {
	t.request = func() proto.Message {
		var zero Request
		return newMessage(zero)
	}
	t.invoke = func(ctx context.Context, m proto.Message) (response, error) {
		request, ok := m.(Request)
		if !ok {
			return nil, fmt.Errorf("tool %s got a %T", t.name, m)
		}
		return rpc(ctx, request)
	}
	return &t
}

// newMessage returns an empty message of m's type; m may be a nil pointer.
func newMessage(m proto.Message) proto.Message {
	return m.ProtoReflect().Type().New().Interface()
}

// setRun puts the run's id into a tool's request.
func setRun(request proto.Message, runID string) {
	m := request.ProtoReflect()
	field := m.Descriptor().Fields().ByName("run_id")
	m.Set(field, protoreflect.ValueOfString(runID))
}

// describe renders a tool for ListTools.
func (t *tool) describe() *toolsdv1.Tool {
	return &toolsdv1.Tool{
		Name:            t.name,
		Tier:            tierToProto(t.need.Tier),
		ParallelSafe:    t.parallelSafe,
		Description:     t.description,
		InputSchemaJson: t.schema,
		Methods:         []string{t.method},
	}
}
