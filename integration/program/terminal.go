package program

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// StartOnTerminal starts a program as Start does, but at a terminal, and returns a function that types there.
func StartOnTerminal(t testing.TB, command *exec.Cmd) (p *Process, enter func(line string)) {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	p = &Process{Command: command, Out: &Output{}, Ended: make(chan struct{})}
	command.Stdin, command.Stdout, command.Stderr = tty, tty, tty
	copied := make(chan struct{})
	p.start(t, func() {
		select {
		case <-copied: // what it wrote last
		case <-time.After(5 * time.Second):
		}
	})
	tty.Close()
	go func() {
		io.Copy(p.Out, terminal) // until nobody has the terminal open
		close(copied)
	}()
	return p, func(line string) {
		t.Helper()
		if _, err := io.WriteString(terminal, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
}
