package program

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Engine returns the command of a container engine that answers, and does not wait for one that hangs; empty means that
// there is none.
func Engine(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, name := range []string{"docker", "podman"} {
		if _, err := engine(ctx, name, "info"); err == nil {
			return name
		}
	}
	return ""
}

// HasImage tells whether an engine has an image.
func HasImage(ctx context.Context, name, image string) bool {
	_, err := engine(ctx, name, "image", "inspect", image)
	return err == nil
}

// StartContainer runs a container, described by arguments of run, with a port that is published on the loopback interface.
// It returns the address of that port. The containers of processes that have died are removed.
func StartContainer(ctx context.Context, name, port string, run ...string) (address string, stop func() error, err error) {
	host, err := os.Hostname()
	if err != nil {
		return "", nil, fmt.Errorf("name this machine: %w", err)
	}
	ours := "sternpost-test-" + host + "-"
	if err := sweep(ctx, name, ours); err != nil {
		return "", nil, err
	}
	container := ours + strconv.Itoa(os.Getpid()) + "-" + rand.Text()
	stop = func() error {
		_, err := engine(context.WithoutCancel(ctx), name, "rm", "--force", "--volumes", container)
		return err
	}
	if _, err := engine(ctx, name, append([]string{"run", "--detach", "--name", container, "--publish", "127.0.0.1::" + port}, run...)...); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	published, err := engine(ctx, name, "port", container, port+"/tcp")
	if err != nil {
		return "", nil, errors.Join(err, stop())
	}
	address, _, _ = strings.Cut(published, "\n")
	return address, stop, nil
}

// sweep removes the containers of dead processes of this machine.
func sweep(ctx context.Context, name, ours string) error {
	list, err := engine(ctx, name, "ps", "--all", "--filter", "name="+ours, "--format", "{{.Names}}")
	if err != nil {
		return err
	}
	for container := range strings.FieldsSeq(list) {
		owner, _, _ := strings.Cut(strings.TrimPrefix(container, ours), "-")
		if pid, err := strconv.Atoi(owner); err == nil && !isRunning(pid) {
			// Another process may do so as well, so a failure does not matter.
			_, _ = engine(ctx, name, "rm", "--force", "--volumes", container)
		}
	}
	return nil
}

func isRunning(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// engine runs a command of a container engine, and returns its output.
func engine(ctx context.Context, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.WaitDelay = time.Second // for what it has started
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, arguments[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
