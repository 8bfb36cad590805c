package integration

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sternpost/sternpost/integration/program"
)

// TestVSCode packages the extension for VS Code, lets it talk to the server with a stub of the editor, and tries its
// grammar as editors read it.
func TestVSCode(t *testing.T) {
	t.Parallel()
	const dir = "../sqlgen/lsp/vscode"
	program.Modules(t, dir, "the extension for VS Code is not packaged and tried")
	npm := func(env []string, args ...string) {
		t.Helper()
		run(t, dir, env, "npm", args...)
	}
	npm([]string{"STERNPOST=" + buildCommand(t)}, "test", "--silent")
	file := filepath.Join(t.TempDir(), "sternpost.vsix")
	npm(nil, "run", "package", "--silent", "--", "--out", file)

	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 200<<10 {
		t.Errorf("it takes %d bytes", info.Size())
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	want := []string{
		"[Content_Types].xml", "extension.vsixmanifest", "extension/LICENSE.txt", "extension/dist/NOTICES.txt", "extension/dist/extension.js",
		"extension/language-configuration.json", "extension/package.json", "extension/readme.md", "extension/syntaxes/stern.tmLanguage.json",
	}
	if !slices.Equal(names, want) {
		t.Errorf("it holds %q, want %q", names, want)
	}
}
