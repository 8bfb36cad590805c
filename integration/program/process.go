package program

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that runs until it is stopped.
type Process struct {
	Command *exec.Cmd
	Out     *Output       // what it writes, on both of its outputs
	Ended   chan struct{} // closed once it has ended
	Err     error         // how it ended, once it has
}

// Start starts a program in a process group of its own, so that an interrupt reaches only it. The end of the test
// interrupts it, and shows its output if the test has failed.
func Start(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Command: command, Out: &Output{}, Ended: make(chan struct{})}
	command.Stdout, command.Stderr = p.Out, p.Out
	p.start(t, func() {})
	return p
}

// start starts it, and calls last between its end and the report of the end.
func (p *Process) start(t testing.TB, last func()) {
	t.Helper()
	if p.Command.SysProcAttr == nil {
		p.Command.SysProcAttr = &syscall.SysProcAttr{}
	}
	p.Command.SysProcAttr.Setpgid = true
	if err := p.Command.Start(); err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	go func() {
		p.Err = p.Command.Wait()
		last()
		close(p.Ended)
	}()
	t.Cleanup(func() {
		p.End(t, os.Interrupt)
		if t.Failed() {
			t.Logf("%s wrote:\n%s", p, p.Out)
		}
	})
}

// String is the command.
func (p *Process) String() string { return strings.Join(p.Command.Args, " ") }

// End ends the process by a signal, unless it has ended, and returns how it ended.
func (p *Process) End(t testing.TB, signal os.Signal) error {
	t.Helper()
	select {
	case <-p.Ended:
		return p.Err
	default:
	}
	if err := p.Command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	select {
	case <-p.Ended:
	case <-time.After(time.Minute):
		_ = p.Command.Process.Kill()
		<-p.Ended
		t.Errorf("%s does not end after %v", p, signal)
	}
	return p.Err
}

// Await waits until the process writes a text after a position of its output, and returns the position behind the text.
func (p *Process) Await(t testing.TB, after int, text string) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if at := strings.Index(p.Out.String()[after:], text); at >= 0 {
			return after + at + len(text)
		}
		select {
		case <-p.Ended:
			if strings.Contains(p.Out.String()[after:], text) {
				continue // it was written just before the end
			}
			t.Fatalf("%s ended (%v) before it wrote %q; it wrote:\n%s", p, p.Err, text, p.Out)
		default:
		}
	}
	t.Fatalf("%s does not write %q; it wrote:\n%s", p, text, p.Out)
	return 0
}
