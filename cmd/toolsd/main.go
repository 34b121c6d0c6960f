// Command toolsd serves tools for AI agents over gRPC. This package owns the
// command line and the wiring of the rooms; it has no logic of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "devel"

// exitUsage is the exit status of a command that was refused before it began:
// a bad flag, an unsafe setting.
const exitUsage = 2

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes a command line and returns the exit status.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "toolsd: %v\n", err)
	if isUsage(err) {
		return exitUsage
	}
	return 1
}
