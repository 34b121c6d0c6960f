package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolsd/toolsd/internal/config"
	"github.com/toolsd/toolsd/internal/server"
)

// usageError is a command line or a configuration that cannot be used.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// noArguments refuses arguments as a bad flag is refused.
func noArguments(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return usageError{err}
	}
	return nil
}

func isUsage(err error) bool { return errors.As(err, new(usageError)) }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "toolsd",
		Short:         "Tools for AI agents, backed by something alive, over gRPC",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(serveCommand(), configCommand(), healthcheckCommand(), protosetCommand(), versionCommand())
	return root
}

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "serve", Short: "Serve until SIGINT or SIGTERM, then drain", Args: noArguments}
	loader := config.NewLoader(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := loader.Load(os.LookupEnv, os.Environ())
		if err != nil {
			return usageError{err}
		}
		return serve(cmd.Context(), c)
	}
	return cmd
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show the configuration"}
	show := &cobra.Command{
		Use: "print", Args: noArguments,
		Short: "Print the settings in force, as a file that --config reads",
	}
	loader := config.NewLoader(show.Flags())
	show.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := loader.Load(os.LookupEnv, os.Environ())
		if err != nil {
			return usageError{err}
		}
		return c.Print(cmd.OutOrStdout())
	}
	cmd.AddCommand(show)
	return cmd
}

func protosetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "protoset", Args: noArguments,
		Short: "Write the API's descriptor set, with comments, for grpcurl -protoset",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeAll(cmd.OutOrStdout(), server.DescriptorSet())
		},
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Args: noArguments,
		Short: "Print the version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeAll(cmd.OutOrStdout(), []byte("toolsd "+version+"\n"))
		},
	}
}

func writeAll(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}
