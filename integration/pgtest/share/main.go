// Share runs a command with one Postgres for all tests in it, which ends with the command.
//
//	share go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
	}
	os.Exit(code)
}

func run(arguments []string) (code int, err error) {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM) // the command gets an interrupt too, and ends
	setting, stop, err := pgtest.Share(context.Background())
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), setting)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return max(failed.ExitCode(), 1), nil
	}
	return command.ProcessState.ExitCode(), err
}
