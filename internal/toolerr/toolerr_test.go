package toolerr

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorKeepsItsFacts(t *testing.T) {
	err := fmt.Errorf("outer: %w", New(NotFound, ReasonRunNotFound, "run %q is unknown", "a").WithField("id", "a").WithCause(io.EOF))
	e, ok := As(err)
	if !ok || e.Kind != NotFound || e.Error() != `run "a" is unknown` || e.Fields["id"] != "a" {
		t.Errorf("got %+v", e)
	}
	if !Is(err, ReasonRunNotFound) || Is(err, ReasonLimit) || Is(io.EOF, ReasonLimit) {
		t.Error("Is does not tell reasons apart")
	}
	if !errors.Is(err, io.EOF) {
		t.Error("the cause is lost")
	}
}

func TestBadArgumentsNamesAll(t *testing.T) {
	err := BadArguments(Violation{"a", "is empty"}, Violation{"b", "is negative"})
	if err.Kind != InvalidArgument || err.Reason != ReasonBadArgument || err.Error() != "a: is empty; b: is negative" || len(err.Violations) != 2 {
		t.Errorf("got %+v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an error that names nothing was made")
		}
	}()
	_ = BadArguments()
}

func TestLimitNamesItself(t *testing.T) {
	err := Limit("max_runs", 7, "%d runs", 7)
	if err.Kind != ResourceExhausted || err.Fields["limit"] != "max_runs" || err.Fields["value"] != "7" {
		t.Errorf("got %+v", err)
	}
}
