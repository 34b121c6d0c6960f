package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolsd/toolsd/internal/config"
)

// healthcheckCommand asks a daemon how it is; for exec probes and scripts.
func healthcheckCommand() *cobra.Command {
	var service string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "healthcheck", Args: noArguments,
		Short: "Ask a running daemon for its health; exit status 0 means SERVING",
	}
	loader := config.NewLoader(cmd.Flags())
	cmd.Flags().StringVar(&service, "service", "", "service to ask for; the whole daemon when empty")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for the answer")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := loader.Load(os.LookupEnv, os.Environ())
		if err != nil {
			return usageError{err}
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
		defer cancel()
		status, err := checkHealth(ctx, c.Listen[0], service)
		if err != nil {
			return err
		}
		return writeAll(cmd.OutOrStdout(), []byte(status.String()+"\n"))
	}
	return cmd
}

// checkHealth asks the daemon behind a listen address; plain TCP or a unix
// socket, since health needs no credentials.
func checkHealth(ctx context.Context, listen, service string) (healthv1.HealthCheckResponse_ServingStatus, error) {
	address, err := config.ParseAddress(listen)
	if err != nil {
		return 0, usageError{err}
	}
	target := "passthrough:///" + address.Target
	if address.Network == "unix" {
		target = "unix://" + address.Target
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, fmt.Errorf("dial %s: %w", listen, err)
	}
	defer conn.Close() //nolint:errcheck // the answer is what counts
	response, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: service})
	if err != nil {
		return 0, fmt.Errorf("ask %s for its health: %w", listen, err)
	}
	if response.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		return 0, fmt.Errorf("%s is %s", listen, response.GetStatus())
	}
	return response.GetStatus(), nil
}
