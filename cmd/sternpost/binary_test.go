package main_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/canary"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// binary is the command, built by TestMain.
var binary string

// watch looks for passwords and secrets in every response and all output of the command.
var watch canary.Watch

func TestMain(m *testing.M) {
	http.DefaultClient.Transport = watch.Transport(http.DefaultTransport)
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sternpost-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "sternpost")
	build := exec.Command("go", "build", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the command: %v\n%s", err, out)
		return 1
	}
	// Some tests run it as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return watch.Exit(os.Stdout, pgtest.Main(m))
}

// command is a run of the binary.
type command struct {
	args []string
	dir  string              // where it runs; empty means here
	env  []string            // beside what every run has
	user *syscall.Credential // nil means the current user
}

// prepare makes a process without this process's settings.
func (c command) prepare(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, c.args...)
	cmd.Dir = c.dir
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	// Several servers run at once, and only one of them could have the usual port.
	cmd.Env = append(cmd.Env, "STERNPOST_ADMIN_PORT=0")
	cmd.Env = append(cmd.Env, c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user}
	return cmd
}

// run runs the command to its end.
func (c command) run(t *testing.T) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := c.prepare(ctx)
	var out, diagnostics strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("sternpost %s: %v", strings.Join(c.args, " "), err)
	}
	if ctx.Err() != nil {
		t.Fatalf("sternpost %s does not end; it wrote:\n%s%s", strings.Join(c.args, " "), out.String(), diagnostics.String())
	}
	watch.Look("sternpost "+strings.Join(c.args, " "), out.String()+diagnostics.String())
	return out.String(), diagnostics.String(), cmd.ProcessState.ExitCode()
}

// expect runs the command, compares its exit code, and looks for a text in its standard
// error; empty means that standard error is empty.
func (c command) expect(t *testing.T, code int, diagnostic string) (stdout string) {
	t.Helper()
	stdout, stderr, got := c.run(t)
	if got != code || !strings.Contains(stderr, diagnostic) || diagnostic == "" && stderr != "" {
		t.Errorf("sternpost %s\n  got  exit %d, on standard error:\n%s\n  want exit %d, %q",
			strings.Join(c.args, " "), got, stderr, code, diagnostic)
	}
	return stdout
}

// start starts the command. The end of the test ends it.
func (c command) start(t *testing.T) *program.Process {
	t.Helper()
	var p *program.Process
	t.Cleanup(func() {
		if p != nil {
			watch.Look(p.String(), p.Out.String())
		}
	})
	p = program.Start(t, c.prepare(context.Background()))
	return p
}

// openDir makes a folder that all users may enter, unlike those of TempDir: when the tests
// run as root, Postgres runs as another user, and keeps its data elsewhere if it cannot
// reach the project.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sternpost-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files makes a folder that holds files.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := openDir(t)
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		replaceFile(t, path, text)
	}
	return dir
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaceFile writes a file as editors do: a new file replaces it.
func replaceFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name+"~", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+"~", name); err != nil {
		t.Fatal(err)
	}
}
