//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a child that ends at the latest with this process.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended and been reaped
}

// command prepares a child that runs as the account.
func command(path string, args []string, acc account, output io.Writer) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = "/" // the account may have no access to the current one
	cmd.Env = environment()
	cmd.SysProcAttr = acc.attributes()
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the output open a little longer
	return cmd
}

// environment is the current one without variables that would redirect Postgres.
func environment() []string {
	env := []string{}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" || name == "TZ" {
			continue
		}
		env = append(env, entry)
	}
	return append(env, "LC_ALL=C", "TZ=UTC")
}

// runBound runs a child to its end, and ends it with ctx or with this process.
func runBound(ctx context.Context, cmd *exec.Cmd) error {
	proc, err := startBound(cmd, syscall.SIGTERM)
	if err != nil {
		return err
	}
	select {
	case <-proc.exited:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), proc.stop(syscall.SIGTERM))
	}
	if state := cmd.ProcessState; !state.Success() {
		return errors.New(state.String())
	}
	return nil
}

// stop sends the signal, then kills.
func (p *process) stop(signal syscall.Signal) error {
	for _, step := range []struct {
		signal  syscall.Signal
		timeout time.Duration
	}{
		{signal, 20 * time.Second},
		{syscall.SIGQUIT, 5 * time.Second},
		{syscall.SIGKILL, 5 * time.Second},
	} {
		if err := p.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop Postgres: %w", err)
		}
		select {
		case <-p.exited:
			return nil
		case <-time.After(step.timeout):
		}
	}
	return fmt.Errorf("stop Postgres: process %d did not end", p.cmd.Process.Pid)
}
