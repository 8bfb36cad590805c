// Command sternpost compiles schemas, serves them and helps to write them.
//
// It holds one file per command, with flags, wiring and exit codes; the commands' work is
// in the packages they call.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitInput       = 1 // what the user gave is wrong: a schema, a configuration
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // what the command needs failed: a database, a file, a port
)

// exitError is an error with an exit code. Without cause it has been reported.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

func inputError(err error) error       { return &exitError{exitInput, err} }
func usageError(err error) error       { return &exitError{exitUsage, err} }
func environmentError(err error) error { return &exitError{exitEnvironment, err} }

func main() {
	// A second Ctrl-C ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	c, err := newRoot().ExecuteContextC(ctx)
	stop()
	os.Exit(report(err, c))
}

// collectSeldom lets the heap of a command grow to five times of what is in use before garbage is collected. A compile
// makes much garbage in little time: at the usual pace, collecting it is a third of its work. Commands that serve keep
// that pace for the sake of memory, and a pace that the environment sets is kept, too.
func collectSeldom(command string) {
	if command != "serve" && command != "lsp" && command != "mcp" && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// report prints an error of a command and returns the exit code.
func report(err error, c *cobra.Command) int {
	if err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		// Only cobra makes errors without a code: flags and arguments.
		exit = &exitError{exitUsage, fmt.Errorf("%w\nusage: %s", err, c.UseLine())}
	}
	if text := exit.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "sternpost: "+text)
	}
	return exit.code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "sternpost",
		Short:         "A backend from a schema: tables, rules and an API, in Postgres",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          takesCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		PersistentPreRun: func(c *cobra.Command, _ []string) { collectSeldom(c.Name()) },
	}
	root.SetFlagErrorFunc(badFlag)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newInit(), newDev(), newReset(), newTest(), newCheck(), newFmt(), newBuild(), newMigrate(), newRoles(), newDoctor(), newOpenAPI(), newClient(), newServe(), newHealth(), newPermissions(), newFilesCommand(), newSecretsCommand(), newKeysCommand(), newEventsCommand(), newJobsCommand(), newDiff(), newExplain(), newLSP(), newMCP(), newVersion())
	return root
}

// projectDir is the folder of a command: its argument, or this one.
func projectDir(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}
