package postgres

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startBound starts a child that the kernel sends the signal when we end, however
// we end.
//
// To the kernel the parent is the thread that started the child, not the process.
// So the goroutine keeps its thread until the child has ended.
func startBound(cmd *exec.Cmd, signal syscall.Signal) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.SysProcAttr.Pdeathsig = signal

	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}
