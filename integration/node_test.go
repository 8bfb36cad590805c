package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// installing is held by who installs modules: several tests share a folder, and the
// first of them does it for all.
var installing sync.Mutex

// installModules installs what the lock of a folder names, unless that is there. The
// test is skipped where there is no Node.js, with what that means.
func installModules(t *testing.T, dir, consequence string) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: %s: there is no %s here", consequence, tool)
		}
	}
	installing.Lock()
	defer installing.Unlock()
	installed, err1 := os.Stat(filepath.Join(dir, "node_modules/.package-lock.json"))
	locked, err2 := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err1 == nil && err2 == nil && !installed.ModTime().Before(locked.ModTime()) {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund")
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in %s: %v\n%s", dir, err, out)
	}
}

// node runs a script with Node.js, with more variables in its environment, and returns
// what it printed.
func node(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	return run(t, dir, env, "node", args...)
}

// run does so with another program.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), env...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
