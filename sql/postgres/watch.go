//go:build unix

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watch starts a process that waits for the end of this one and then sends the signal. It notices the end by a pipe
// that only this process holds open, so it detects every way of ending.
//
// Linux has a better way (see startBound there), so this is for other systems.
func watch(pid int, signal syscall.Signal) (unwatch func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer read.Close()

	cmd := exec.Command("/bin/sh", "-c", `read -r line; kill -"$2" "$1"`, "sh", strconv.Itoa(pid), strconv.Itoa(int(signal)))
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal from the terminal
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil, fmt.Errorf("start the watcher: %w", err)
	}
	return func() {
		_ = cmd.Process.Kill() // before the pipe closes, or it would send the signal
		_ = cmd.Wait()
		write.Close()
	}, nil
}
