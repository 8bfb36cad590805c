package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Chromium is the path of a browser. It skips the test without one, and says the consequence.
func Chromium(t testing.TB, consequence string) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("SKIPPED: %s: it needs Chromium, which is not on this machine (make browser)", consequence)
	return ""
}

// FindPostgres is the path of a client program of Postgres, such as psql, or empty.
func FindPostgres(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}

// Postgres is the path of a client program of Postgres. It skips the test without one, and says the consequence.
func Postgres(t testing.TB, name, consequence string) string {
	t.Helper()
	path := FindPostgres(name)
	if path == "" {
		t.Skipf("SKIPPED: %s: it needs %s, a client program of Postgres, which is not on this machine (Debian: apt-get install postgresql-client)", consequence, name)
	}
	return path
}

// installing is held by the test that installs modules: several tests share a folder, and the first one installs for
// all.
var installing sync.Mutex

// Modules installs the modules in the lock of a folder, unless they are there. It skips the test without Node.js or
// npm, and says the consequence.
func Modules(t testing.TB, dir, consequence string) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: %s: it needs Node.js with npm, and %s is not on this machine (Debian: apt-get install nodejs npm; others: nodejs.org)", consequence, tool)
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
