package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/client"
	"github.com/sternpost/sternpost/sql/release"
)

// clientsOf writes the clients of all APIs of a project, by the name of the file: that of the
// project and, except for the first one, that of the API.
func clientsOf(t *testing.T, name, dir string) map[string]string {
	t.Helper()
	m := account.Extend(manifestOf(t, dir), account.All)
	files := map[string]string{}
	for i := range m.APIs {
		file := name
		if i > 0 {
			file += "-" + m.APIs[i].Path
		}
		files[file+"-client.ts"] = clientOf(t, m, &m.APIs[i])
	}
	return files
}

func clientOf(t *testing.T, m *release.Manifest, api *release.API) string {
	t.Helper()
	text, err := client.TypeScript(m, api)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// namesProject is a project whose names are those of the language and of the client.
func namesProject(t *testing.T) string {
	t.Helper()
	return writeProject(t, map[string]string{"names.stern": fileText(t, "testdata/client/names.stern")})
}

// TestKeptClients compares clients with kept ones, without the parts that are the same for every
// schema.
func TestKeptClients(t *testing.T) {
	t.Parallel()
	for _, kept := range []struct{ name, dir, file string }{
		{"workshop", appDir("workshop"), "workshop-tablet-client.ts"},
		{"ledger", appDir("ledger"), "ledger-books-client.ts"},
		{"names", namesProject(t), "names-client.ts"},
	} {
		t.Run(kept.name, func(t *testing.T) {
			t.Parallel()
			text := clientsOf(t, kept.name, kept.dir)[kept.file]
			if clientsOf(t, kept.name, kept.dir)[kept.file] != text {
				t.Error("written twice, the clients differ")
			}
			got, _, found := strings.Cut(text, "\n// The rest of this file is the same for every schema.\n")
			if !found {
				t.Fatalf("the client does not say where its runtime begins:\n%s", text)
			}
			path := "testdata/client/" + kept.file
			if casetest.Updating() {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := fileText(t, path); got != want {
				t.Errorf("the client is not that of %s (-update rewrites it); differing lines:\n%s", path, differing(got, want))
			}
		})
	}
}

// TestClientRuntime checks the part that all clients share, under more than TypeScript's
// strict mode.
func TestClientRuntime(t *testing.T) {
	t.Parallel()
	program.Modules(t, typescriptDir, "the runtime of clients is not checked")
	modules, err := filepath.Abs(filepath.Join(typescriptDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node(t, "../server/client/runtime", nil, filepath.Join(modules, "typescript/bin/tsc"), "-p", ".")
}

// typescriptFolder is a folder with TypeScript, clients of the example apps and some of
// the programs that use them.
func typescriptFolder(t *testing.T, programs ...string) string {
	t.Helper()
	work := t.TempDir()
	modules, err := filepath.Abs(filepath.Join(typescriptDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(work, "node_modules")); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range append(programs, "package.json", "tsconfig.json", "program.ts") {
		texts[name] = fileText(t, filepath.Join(typescriptDir, name))
	}
	for _, app := range []string{"workshop", "ledger"} {
		for name, text := range clientsOf(t, app, appDir(app)) {
			texts[name] = text
		}
	}
	for name, text := range clientsOf(t, "names", namesProject(t)) {
		texts[name] = text
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return work
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const tsc = "node_modules/typescript/bin/tsc"

// TestClient compiles programs that use the clients of the example apps, strictly, and runs them.
func TestClient(t *testing.T) {
	t.Parallel()
	program.Modules(t, typescriptDir, "the clients are neither compiled nor run")
	work := typescriptFolder(t, "client-calls.ts", "client-signin.ts", "client-restricted.ts", "client-mistakes.ts")
	node(t, work, nil, tsc, "-p", ".")
	var out string
	for _, program := range []string{"out/client-signin.js", "out/client-restricted.js"} {
		out += node(t, work, nil, program, serveApp(t, appDir("workshop")).url, "")
	}
	if strings.Contains(out, "not ok ") || strings.Count(out, "ok ") != 21 {
		t.Errorf("the programs:\n%s", out)
	}
}

// TestClientPage runs the examples of the page about the client, in their order, with a
// client that the command on the page prints.
func TestClientPage(t *testing.T) {
	t.Parallel()
	program.Modules(t, typescriptDir, "the examples of the page about the client are neither compiled nor run")
	var commands, program strings.Builder
	for _, b := range casetest.Blocks(t, "guide/how-to/client.md") {
		switch b.Language {
		case "sh":
			commands.WriteString(b.Text)
		case "ts":
			program.WriteString(b.Text)
		default:
			t.Fatalf("a block of %s is not expected:\n%s", b.Language, b.Text)
		}
	}
	if got := commands.String(); got != "sternpost client ts > client.ts\n" {
		t.Fatalf("the page's commands are %q", got)
	}
	a := serveApp(t, appDir("workshop"))
	work := typescriptFolder(t)
	for name, text := range map[string]string{
		"client.ts": clientsOf(t, "workshop", appDir("workshop"))["workshop-client.ts"],
		"page.ts":   strings.ReplaceAll(program.String(), "http://localhost:8080", a.url),
	} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	node(t, work, nil, tsc, "-p", ".")
	want := "true\n1 1\nF-1\nCity, Road, Mountain, Cargo, Electric\nframeNumber must be unique\ngood-bye\n3 of 3 bytes\n"
	if got := node(t, work, nil, "out/page.js"); got != want {
		t.Errorf("the examples print\n%s\nwant\n%s", got, want)
	}
}
