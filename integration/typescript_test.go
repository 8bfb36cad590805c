package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const typescriptDir = "clients/typescript"

// installTypescript installs what the programs in clients/typescript need, as their
// lock says, unless it is there.
var installTypescript = sync.OnceValue(func() error {
	installed, err1 := os.Stat(filepath.Join(typescriptDir, "node_modules/.package-lock.json"))
	locked, err2 := os.Stat(filepath.Join(typescriptDir, "package-lock.json"))
	if err1 == nil && err2 == nil && !installed.ModTime().Before(locked.ModTime()) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund")
	command.Dir = typescriptDir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", typescriptDir, err, out)
	}
	return nil
})

// TestTypescriptClients generates a client from the description of each API of each
// example app, compiles the program that uses it, strictly, and runs it.
func TestTypescriptClients(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the TypeScript clients are neither compiled nor run: there is no %s here", tool)
		}
	}
	if err := installTypescript(); err != nil {
		t.Fatal(err)
	}
	apps, err := os.ReadDir("apps")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range apps {
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			runTypescript(t, entry.Name())
		})
	}
}

// runTypescript runs the program of one app.
func runTypescript(t *testing.T, name string) {
	work := t.TempDir()
	modules, err := filepath.Abs(filepath.Join(typescriptDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(work, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"package.json", "tsconfig.json", "program.ts", name + ".ts"} {
		text, err := os.ReadFile(filepath.Join(typescriptDir, file))
		if err != nil {
			t.Fatalf("every app has a program that uses its client: %v", err)
		}
		if err := os.WriteFile(filepath.Join(work, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	a := serveApp(t, appDir(name))
	for _, api := range manifestOf(t, appDir(name)).APIs {
		response, document := a.send(t, "GET", "/"+api.Path+"/json/openapi.json", nil, "")
		if response.StatusCode != 200 {
			t.Fatalf("the description of %s: got %d %s", api.Name, response.StatusCode, document)
		}
		file := name + "-" + api.Path
		if err := os.WriteFile(filepath.Join(work, file+".json"), []byte(document), 0o644); err != nil {
			t.Fatal(err)
		}
		node(t, work, "node_modules/openapi-typescript/bin/cli.js", file+".json", "-o", file+".d.ts")
	}
	node(t, work, "node_modules/typescript/bin/tsc", "-p", ".")
	out := node(t, work, "out/"+name+".js", a.url, a.token(t, "ada"))
	if !strings.Contains(out, "ok ") || strings.Contains(out, "not ok ") {
		t.Errorf("the program of %s:\n%s", name, out)
	}
}

// node runs a script with Node.js and returns what it printed.
func node(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("node %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
