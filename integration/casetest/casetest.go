// Package casetest runs the cases of tests that are kept as txtar archives: the files
// of a project, and sections with the expected results.
//
// With the flag -update a test takes its results as the expected ones, and rewrites its
// archives; they are reviewed like code.
package casetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the cases of testdata want; review them like code")

// Updating tells whether the results become the expected ones.
func Updating() bool { return *update }

// Case is one archive.
type Case struct {
	*txtar.Archive
	Path string
}

// Read reads the cases whose paths match a pattern. There must be at least one.
func Read(t testing.TB, pattern string) []*Case {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no cases %s: %v", pattern, err)
	}
	cases := make([]*Case, len(paths))
	for i, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases[i] = &Case{archive, path}
	}
	return cases
}

// Run runs the cases whose paths match a pattern, each as a parallel test of its name.
func Run(t *testing.T, pattern string, run func(*testing.T, *Case)) {
	t.Helper()
	for _, c := range Read(t, pattern) {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			run(t, c)
			if Updating() {
				if err := os.WriteFile(c.Path, txtar.Format(c.Archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Name is the name of the case: that of its file without the extension.
func (c *Case) Name() string { return strings.TrimSuffix(filepath.Base(c.Path), ".txtar") }

// Want compares a result with the section of that number.
func (c *Case) Want(t testing.TB, section int, got string) {
	t.Helper()
	wanted := &c.Files[section]
	if Updating() {
		wanted.Data = []byte(got)
		return
	}
	if want := string(wanted.Data); got != want {
		t.Errorf("%s of %s\ngot\n%s\nwant\n%s", wanted.Name, c.Path, got, want)
	}
}

// Index returns the number of the section of that name, -1 if there is none.
func (c *Case) Index(name string) int {
	for i, f := range c.Files {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Content returns the content of the section of that name, "" if there is none.
func (c *Case) Content(name string) string {
	if i := c.Index(name); i >= 0 {
		return string(c.Files[i].Data)
	}
	return ""
}

// File compares a whole file, such as a page of the guide that is generated from the
// program. Under -update it writes the file.
func File(t testing.TB, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	lines, wanted := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range wanted {
		if i >= len(lines) || lines[i] != wanted[i] {
			t.Errorf("%s:%d is stale; write it with -update\n  it has %q\n  want   %q", path, i+1, strings.Join(lines[min(i, len(lines)):min(i+1, len(lines))], ""), wanted[i])
			return
		}
	}
	t.Errorf("%s is stale: it has %d lines too many; write it with -update", path, len(lines)-len(wanted))
}
