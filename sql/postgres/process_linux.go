package postgres

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startBound starts a child that gets the signal from the kernel when this process ends,
// in any way.
//
// For the kernel the parent is the thread that started the child, not the process. So the
// goroutine keeps its thread until the child has ended.
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
			_ = cmd.Wait() // its log says how it ended
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}
