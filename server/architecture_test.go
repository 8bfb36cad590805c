package server

import (
	"os"
	"strings"
	"testing"
)

// The page about the path of a request names every package, and all but the smallest files
// of the path.
func TestRoomsAreDescribed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" && !strings.Contains(string(page), "| ["+e.Name()+"]("+e.Name()+") |") {
			t.Errorf("ARCHITECTURE.md has no row for the room %s", e.Name())
		}
	}
	for _, name := range []string{"routes.go", "receive.go", "call.go", "prepare.go", "release.go", "releasewatch.go", "health.go"} {
		if _, err := os.Stat(name); err != nil || !strings.Contains(string(page), "["+name+"]("+name+")") {
			t.Errorf("ARCHITECTURE.md does not lead to %s (%v)", name, err)
		}
	}
}
