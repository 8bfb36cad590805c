//go:build unix && !linux

package postgres

import (
	"errors"
	"os/exec"
	"syscall"
)

// startBound starts a child that gets the signal from a watcher when this process ends,
// in any way.
func startBound(cmd *exec.Cmd, signal syscall.Signal) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	unwatch, err := watch(cmd.Process.Pid, signal)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Signal(syscall.SIGQUIT), cmd.Wait())
	}
	go func() {
		_ = cmd.Wait() // its log says how it ended
		unwatch()
		close(p.exited)
	}()
	return p, nil
}
