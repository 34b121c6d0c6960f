package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	codepb "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/toolsd/toolsd/internal/toolerr"
)

// errorDomain is the domain of every google.rpc.ErrorInfo of toolsd.
const errorDomain = "toolsd"

// Reasons that only the edge gives.
const (
	reasonCanceled toolerr.Reason = "CANCELED"
	reasonDeadline toolerr.Reason = "DEADLINE_EXCEEDED"
	reasonInternal toolerr.Reason = "INTERNAL"
)

// kindCodes is the one place where an error's kind becomes a gRPC code.
var kindCodes = map[toolerr.Kind]codes.Code{
	toolerr.Internal:           codes.Internal,
	toolerr.InvalidArgument:    codes.InvalidArgument,
	toolerr.NotFound:           codes.NotFound,
	toolerr.AlreadyExists:      codes.AlreadyExists,
	toolerr.PermissionDenied:   codes.PermissionDenied,
	toolerr.Unauthenticated:    codes.Unauthenticated,
	toolerr.FailedPrecondition: codes.FailedPrecondition,
	toolerr.Aborted:            codes.Aborted,
	toolerr.ResourceExhausted:  codes.ResourceExhausted,
	toolerr.Unavailable:        codes.Unavailable,
	toolerr.DeadlineExceeded:   codes.DeadlineExceeded,
	toolerr.Canceled:           codes.Canceled,
	toolerr.Unimplemented:      codes.Unimplemented,
}

// kindOf finds the kind that becomes a code, or Internal for codes that no
// kind becomes.
func kindOf(code codes.Code) toolerr.Kind {
	for kind, c := range kindCodes {
		if c == code {
			return kind
		}
	}
	return toolerr.Internal
}

// classify turns any error into one with a kind and a reason. What nobody
// classified is a fault of ours: its text stays in the log, found by the call
// id, and does not reach the caller.
func classify(err error, callID string) *toolerr.Error {
	if e, ok := toolerr.As(err); ok {
		return e
	}
	st := status.Convert(err)
	switch {
	case errors.Is(err, context.Canceled), st.Code() == codes.Canceled:
		return toolerr.New(toolerr.Canceled, reasonCanceled, "the call was cancelled by its caller").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded), st.Code() == codes.DeadlineExceeded:
		return toolerr.New(toolerr.DeadlineExceeded, reasonDeadline, "the call's time ran out; give it a longer deadline, or ask for less").WithCause(err)
	case kindOf(st.Code()) != toolerr.Internal:
		// A status of gRPC itself, or of its health and reflection services.
		// Its reason is its code's name: nothing finer is known.
		return toolerr.New(kindOf(st.Code()), toolerr.Reason(codepb.Code(st.Code()).String()), "%s", st.Message()).WithCause(err) //nolint:gosec // a code is below 17
	default:
		return toolerr.New(toolerr.Internal, reasonInternal,
			"internal error; toolsd's log has the cause under call %s", callID).WithCause(err)
	}
}

// cutOff returns why the call's context ended, when that is one of toolsd's
// own reasons: a call that failed because its run ended says so, instead of
// "cancelled", which would sound like the caller's own doing.
func cutOff(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if _, classified := toolerr.As(err); classified {
		return err
	}
	if cause, ok := toolerr.As(context.Cause(ctx)); ok {
		return cause
	}
	return err
}

// toStatus renders an error for a gRPC client: the code, the message, and the
// details that grpcurl prints decoded.
func toStatus(e *toolerr.Error) error {
	st := status.New(kindCodes[e.Kind], validUTF8(e.Message))
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason: string(e.Reason), Domain: errorDomain, Metadata: validFields(e.Fields),
	}}
	if len(e.Violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range e.Violations {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Field: validUTF8(v.Field), Description: validUTF8(v.Description),
			})
		}
		details = append(details, bad)
	}
	detailed, err := st.WithDetails(details...)
	if err != nil {
		// The details are our own messages with valid strings; without them
		// the caller would branch on nothing.
		panic(fmt.Sprintf("server: details of %s: %v", e.Reason, err))
	}
	return detailed.Err()
}

// validUTF8 keeps a text that quotes a file's bytes or name from failing the
// whole message: protobuf strings are UTF-8.
func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validFields(fields map[string]string) map[string]string {
	out := make(map[string]string, len(fields))
	for k, v := range fields {
		out[k] = validUTF8(v)
	}
	return out
}
