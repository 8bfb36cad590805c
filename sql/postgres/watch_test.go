//go:build unix

package postgres

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// watchedPID makes the test binary a process that binds the end of another to its own,
// reports that, and waits.
const watchedPID = "STERNPOST_POSTGRES_TEST_WATCHED"

// TestWatchChild is the process of TestWatch that is killed.
func TestWatchChild(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv(watchedPID))
	if err != nil {
		t.Skip("runs in a process of its own, started by TestWatch")
	}
	if _, err := watch(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stdout.WriteString("watching\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Hour)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	watched := exec.Command("sleep", "3600")
	if err := watched.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan *os.ProcessState)
	go func() {
		_ = watched.Wait()
		ended <- watched.ProcessState
	}()

	child := exec.Command(os.Args[0], "-test.run=^TestWatchChild$")
	child.Env = append(os.Environ(), watchedPID+"="+strconv.Itoa(watched.Process.Pid))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("watching\n"))
	if _, err := out.Read(line); err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()

	select {
	case state := <-ended:
		if status := state.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
			t.Errorf("the watched process ended with %s, want the signal interrupt", state)
		}
	case <-time.After(30 * time.Second):
		_ = watched.Process.Kill()
		t.Error("the watched process outlives the one that was killed")
	}
}

func TestUnwatch(t *testing.T) {
	t.Parallel()
	watched := exec.Command("sleep", "3600")
	if err := watched.Start(); err != nil {
		t.Fatal(err)
	}
	unwatch, err := watch(watched.Process.Pid, syscall.SIGINT)
	if err != nil {
		t.Fatal(err)
	}
	unwatch()
	if err := watched.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = watched.Wait()
	if status := watched.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("the process ended with %s, want terminated: unwatch let the watcher strike", watched.ProcessState)
	}
}
