package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

const typescriptDir = "clients/typescript"

// TestTypescriptClients generates a client from the description of each API of each
// example app, compiles the program that uses it, strictly, and runs it.
func TestTypescriptClients(t *testing.T) {
	t.Parallel()
	program.Modules(t, typescriptDir, "the TypeScript clients are neither compiled nor run")
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
		node(t, work, nil, "node_modules/openapi-typescript/bin/cli.js", file+".json", "-o", file+".ts") // not .d.ts, which would not be checked
	}
	node(t, work, nil, "node_modules/typescript/bin/tsc", "-p", ".")
	out := node(t, work, nil, "out/"+name+".js", a.url, a.token(t, "ada"))
	if !strings.Contains(out, "ok ") || strings.Contains(out, "not ok ") {
		t.Errorf("the program of %s:\n%s", name, out)
	}
}
