package sqlgen_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture tests that ARCHITECTURE.md names every package of the compiler, and
// no missing file.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	text := readFile(t, "ARCHITECTURE.md")
	for _, path := range regexp.MustCompile("(?:`|\\()((?:\\.\\./)?[a-zA-Z/]+\\.(?:go|md))(?:`|\\))").FindAllStringSubmatch(text, -1) {
		if name := path[1]; strings.Contains(name, "/") {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("it names %s: %v", name, err)
			}
		}
	}
	files, err := filepath.Glob("*/doc.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d packages: %v", len(files), err)
	}
	for _, file := range files {
		if name := filepath.Dir(file); !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("it has no line for package %s", name)
		}
	}
}

// rooms are the packages of the compiler. Each imports only those before it.
var rooms = []string{
	"parallel", "layout", "syntax", "expr", "model", "check", "code", "pg", "diff", "emit",
	"lower/value", "lower/table", "lower/rule", "lower/derive", "lower/call", "lower/list", "lower",
	"access", "compatibility", "manifest", "install", "explain", ".", "migrate", "lsp",
}

// TestRooms tests that imports point one way, and that the description of a database knows nothing of the language.
func TestRooms(t *testing.T) {
	t.Parallel()
	const module = "github.com/sternpost/sternpost/"
	ofDatabase := []string{"pg", "diff", "emit", "layout", "parallel"}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.Dir(path)
		at := slices.Index(rooms, room)
		if at < 0 {
			t.Errorf("%s is in a package that the list of rooms lacks", path)
		}
		for _, i := range file.Imports {
			imported := strings.Trim(i.Path.Value, `"`)
			if strings.HasPrefix(imported, module+"server") {
				t.Errorf("%s imports %s: the compiler knows no server", path, imported)
			}
			below, isRoom := strings.CutPrefix(imported, module+"sqlgen/")
			if !isRoom {
				continue
			}
			if !slices.Contains(rooms[:max(at, 0)], below) {
				t.Errorf("%s imports %s, which is not below it", path, below)
			}
			if slices.Contains(ofDatabase, room) && !slices.Contains(ofDatabase, below) {
				t.Errorf("%s imports %s: a database is described without the language", path, below)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
