package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/server/toolschema"
	"github.com/toolsd/toolsd/internal/telemetry"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// toolService takes a model's own tool calls.
type toolService struct {
	toolsdv1.UnimplementedToolServiceServer
	server *Server
}

// Call runs a tool of the run. What a model can act on is a result with
// is_error, and what only the harness can act on is a status.
func (s *toolService) Call(request *toolsdv1.CallRequest, stream grpc.ServerStreamingServer[toolsdv1.CallResponse]) error {
	ctx := stream.Context()
	type outcome struct {
		result *toolsdv1.ToolResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = s.server.recover(ctx, callFrom(ctx), func(ctx context.Context) (err error) {
			o.result, err = s.call(ctx, request)
			return err
		})
		done <- o
	}()
	// The call is waited for even when the client is gone, so that it never
	// outlives its place in the run and in the limits.
	beat := time.NewTicker(s.server.heartbeat)
	defer beat.Stop()
	for sequence := uint64(1); ; sequence++ {
		select {
		case o := <-done:
			if o.err != nil {
				return o.err
			}
			return stream.Send(&toolsdv1.CallResponse{Sequence: sequence, Event: &toolsdv1.CallResponse_Result{Result: o.result}})
		case now := <-beat.C:
			event := &toolsdv1.CallResponse_Heartbeat{Heartbeat: &toolsdv1.Heartbeat{Time: timestamppb.New(now)}}
			if err := stream.Send(&toolsdv1.CallResponse{Sequence: sequence, Event: event}); err != nil {
				<-done
				return err
			}
		}
	}
}

func (s *toolService) call(ctx context.Context, request *toolsdv1.CallRequest) (*toolsdv1.ToolResult, error) {
	c := callFrom(ctx)
	t, err := s.server.tools.visible(runFrom(ctx), request.GetName())
	if err != nil {
		return s.failed(ctx, err)
	}
	c.tool = t.name
	started := s.server.now()
	result, err := s.invoke(ctx, t, request.GetArgumentsJson())
	took := s.server.now().Sub(started)
	if err != nil {
		err = cutOff(ctx, err)
		s.server.metrics.ToolCall(t.name, string(classify(err, c.id).Reason), took)
		return s.failed(ctx, err)
	}
	s.server.metrics.ToolCall(t.name, telemetry.ReasonOK, took)
	return result, nil
}

func (s *toolService) invoke(ctx context.Context, t *tool, arguments string) (*toolsdv1.ToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, s.server.rules[t.method].deadline)
	defer cancel()
	message := t.request()
	if err := toolschema.Decode(arguments, message); err != nil {
		return nil, err
	}
	setRun(message, runFrom(ctx).ID())
	response, err := t.invoke(ctx, message)
	if err != nil {
		return nil, err
	}
	structured, err := structuredJSON(response)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.name, err)
	}
	return &toolsdv1.ToolResult{Text: response.GetText(), StructuredJson: structured}, nil
}

// failed sorts a failure: to the model as a result, or to the harness as a
// status.
func (s *toolService) failed(ctx context.Context, err error) (*toolsdv1.ToolResult, error) {
	e := classify(err, callFrom(ctx).id)
	if !forModel(e) {
		return nil, err
	}
	return &toolsdv1.ToolResult{Text: validUTF8(e.Message), IsError: true, ErrorReason: string(e.Reason)}, nil
}

// forModel tells what a model can act on: everything about its own call. A
// call that was cut off, a daemon that is going away, a run that is gone and
// a fault of toolsd are the harness's to handle.
func forModel(e *toolerr.Error) bool {
	switch e.Kind {
	case toolerr.Internal, toolerr.Unauthenticated, toolerr.Canceled, toolerr.Unimplemented:
		return false
	case toolerr.NotFound, toolerr.InvalidArgument, toolerr.AlreadyExists, toolerr.PermissionDenied, toolerr.FailedPrecondition,
		toolerr.Aborted, toolerr.ResourceExhausted, toolerr.Unavailable, toolerr.DeadlineExceeded:
	}
	switch e.Reason {
	case toolerr.ReasonRunNotFound, toolerr.ReasonWrongReplica, toolerr.ReasonDraining, toolerr.ReasonRunEnded:
		return false
	default:
		return true
	}
}

// structuredJSON renders a response for programs. The text is left out: the
// result carries it already.
func structuredJSON(m response) (string, error) {
	stripped := proto.Clone(m).ProtoReflect()
	stripped.Clear(stripped.Descriptor().Fields().ByName("text"))
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(stripped.Interface())
	if err != nil {
		return "", fmt.Errorf("render the response: %w", err)
	}
	// protojson adds spaces at random, so that nobody relies on its bytes;
	// here they would only cost the model tokens.
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return "", fmt.Errorf("compact the response: %w", err)
	}
	return compact.String(), nil
}
