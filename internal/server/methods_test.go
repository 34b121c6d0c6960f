package server

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/toolsd/toolsd/internal/server/transport"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// registered is every method that the gRPC server serves, by full name.
func registered(s *Server) map[string]grpc.MethodInfo {
	all := map[string]grpc.MethodInfo{}
	for service, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			all["/"+service+"/"+m.Name] = m
		}
	}
	return all
}

func TestEveryMethodHasItsRule(t *testing.T) {
	s := start(t).server
	methods := registered(s)
	for name, method := range methods {
		r, ok := s.rules[name]
		if !ok {
			t.Errorf("%s is registered and has no rule", name)
			continue
		}
		if r.access == accessUnbuilt {
			continue // it is refused before anything could take time
		}
		if r.access == accessRun && r.limiter == 0 {
			t.Errorf("%s works for a run and has no limiter", name)
		}
		if !method.IsServerStream && !method.IsClientStream && r.deadline <= 0 {
			t.Errorf("%s is unary and has no deadline", name)
		}
	}
	for name := range s.rules {
		if _, ok := methods[name]; !ok {
			t.Errorf("the rule of %s is of no registered method", name)
		}
	}
	if len(methods) < 50 {
		t.Errorf("only %d methods are registered; the API has more", len(methods))
	}
}

// TestToolsMatchTheirRules holds the two tables together: a typed RPC that
// misses its tool would be served above the run's ceiling.
func TestToolsMatchTheirRules(t *testing.T) {
	s := start(t).server
	of := map[string]string{}
	for _, tool := range s.tools.tools {
		of[tool.method] = tool.name
	}
	for name, r := range s.rules {
		if r.tool != of[name] {
			t.Errorf("%s has the rule of tool %q and belongs to tool %q", name, r.tool, of[name])
		}
	}
}

// ghost is a service that somebody registered without giving it rules.
var ghost = grpc.ServiceDesc{
	ServiceName: "test.Ghost", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: func(_ any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		request := &emptypb.Empty{}
		if err := dec(request); err != nil {
			return nil, err
		}
		handler := func(context.Context, any) (any, error) { return &emptypb.Empty{}, nil }
		return interceptor(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/test.Ghost/Unary"}, handler)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
		return stream.SendMsg(&emptypb.Empty{})
	}}},
}

func TestUnlistedMethodIsRefused(t *testing.T) {
	d := start(t, before(func(s *Server) { s.grpc.RegisterService(&ghost, struct{}{}) }))
	for _, method := range []string{"/test.Ghost/Unary", "/test.Ghost/Stream"} {
		err := invoke(t, d.conn, method)
		wantError(t, err, codes.PermissionDenied, toolerr.ReasonMethodNotAllowed)
	}
}

func TestUnbuiltMethodsSayThatTheyAreUnbuilt(t *testing.T) {
	d := start(t)
	unbuilt := 0
	for name, r := range d.server.rules {
		if r.access != accessUnbuilt {
			continue
		}
		unbuilt++
		message := wantError(t, invoke(t, d.conn, name), codes.Unimplemented, toolerr.ReasonNotBuilt)
		if !strings.Contains(message, name) {
			t.Errorf("%q does not name %s", message, name)
		}
	}
	if unbuilt < 30 {
		t.Errorf("only %d methods are unbuilt; has the table lost some?", unbuilt)
	}
}

func TestNoCredentialsNoAnswer(t *testing.T) {
	tokens, err := transport.ParseTokens([]byte("me " + strings.Repeat("t", transport.MinTokenBytes)))
	must(t, err)
	tcp, err := transport.ListenTCP("127.0.0.1:0", transport.TCPOptions{Tokens: tokens})
	must(t, err)
	d := start(t, alsoOn(tcp))
	stranger := dial(t, "passthrough:///"+tcp.Addr().String())
	for _, name := range slices.Sorted(maps.Keys(d.server.rules)) {
		if strings.HasPrefix(name, "/grpc.health.v1.Health/") {
			if err := invoke(t, stranger, name); err != nil {
				t.Errorf("%s needs credentials: %v", name, err)
			}
			continue
		}
		wantError(t, invoke(t, stranger, name), codes.Unauthenticated, toolerr.ReasonUnauthenticated)
	}
}

// invoke sends an empty request to any method, as a stream, which serves
// every kind, and returns the outcome of the first answer.
func invoke(t *testing.T, conn *grpc.ClientConn, method string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel() // ends a stream that has no end of its own, such as a health watch
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	must(t, err)
	if err := stream.SendMsg(&emptypb.Empty{}); err != nil && !errors.Is(err, io.EOF) { // EOF: refused already; RecvMsg says why
		t.Fatal(err)
	}
	must(t, stream.CloseSend())
	return stream.RecvMsg(&emptypb.Empty{})
}
