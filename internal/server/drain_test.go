package server

import (
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestHealth(t *testing.T) {
	d := start(t)
	check := func(service string) (healthv1.HealthCheckResponse_ServingStatus, error) {
		response, err := healthClient(d).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		return response.GetStatus(), err
	}
	for _, service := range []string{"", "toolsd.v1.RunService", "toolsd.v1.ToolService", "toolsd.v1.AstService"} {
		if got, err := check(service); err != nil || got != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%q is %v, %v", service, got, err)
		}
	}
	// What is not built is not healthy; gRPC's health has its own word for it.
	for _, service := range []string{"toolsd.v1.LspService", "never"} {
		_, err := check(service)
		wantError(t, err, codes.NotFound, "NOT_FOUND")
	}
}

// TestDrain follows one shutdown: a call in flight ends as if nothing was,
// while health says no, new runs are refused, and two clients keep streams
// open that have no end of their own.
func TestDrain(t *testing.T) {
	g := newGate()
	d := start(t, withFault(g.pass))
	run := d.create("r", toolsdv1.Tier_TIER_READ)
	watch, err := healthClient(d).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	must(t, err)
	wantHealth(t, watch, healthv1.HealthCheckResponse_SERVING)
	reflect, err := reflectionv1.NewServerReflectionClient(d.conn).ServerReflectionInfo(t.Context())
	must(t, err)
	held := g.hold(1, func() error { return d.faultCall(run) })

	d.cancel()
	wantHealth(t, watch, healthv1.HealthCheckResponse_NOT_SERVING)
	// Refused from a moment after health has turned.
	refused := d.createUntilRefused()
	wantError(t, refused, codes.Unavailable, toolerr.ReasonDraining)
	if errorInfo(refused).GetMetadata()["retry_after"] == "" {
		t.Errorf("%v does not say when to try again", refused)
	}
	if names := d.toolNames(run); len(names) == 0 {
		t.Error("a live run has lost its tools before its calls have ended")
	}
	close(g.open)
	must(t, <-held)
	d.stop() // returns in spite of the two streams
	if _, err := reflect.Recv(); err == nil {
		t.Error("the reflection stream outlives the server")
	}
	if !strings.Contains(d.log.String(), `"cause":"drain"`) {
		t.Errorf("the log does not say that the run was drained:\n%s", d.log)
	}
}

func wantHealth(t *testing.T, watch healthv1.Health_WatchClient, want healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	response, err := watch.Recv()
	must(t, err)
	if response.GetStatus() != want {
		t.Fatalf("health is %v, want %v", response.GetStatus(), want)
	}
}

// createUntilRefused creates runs until one is refused.
func (d *daemon) createUntilRefused() error {
	for {
		if _, err := d.run().CreateRun(d.t.Context(), d.request("", toolsdv1.Tier_TIER_READ)); err != nil {
			return err
		}
	}
}

func TestReflection(t *testing.T) {
	for _, on := range []bool{true, false} {
		d := start(t, with(func(o *Options) { o.Reflection = on }))
		stream, err := reflectionv1.NewServerReflectionClient(d.conn).ServerReflectionInfo(t.Context())
		must(t, err)
		err = stream.Send(&reflectionv1.ServerReflectionRequest{
			MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "toolsd.v1.LspService"},
		})
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		must(t, stream.CloseSend())
		response, err := stream.Recv()
		switch {
		case on && (err != nil || len(response.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0):
			t.Errorf("reflection on: %v, %v", response, err)
		case !on && err == nil:
			t.Errorf("reflection off: %v", response)
		}
	}
}
