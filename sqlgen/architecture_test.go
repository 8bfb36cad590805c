package sqlgen_test

import (
	"os"
	"path/filepath"
	"regexp"
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
