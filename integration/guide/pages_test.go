// Package guide holds the pages for users, and the tests that keep them true.
package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the top of the repository.
const root = "../.."

// pages returns all pages of the repository, by their paths from its top.
func pages(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." && name != ".github" && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil || len(names) < 10 {
		t.Fatalf("found %d pages (%v)", len(names), err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var link = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)]*))?\)`)

// TestLinks follows the links of all pages to other files and to headings.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			path, anchor := m[1], m[2]
			if strings.HasPrefix(path, "https://") {
				continue // no test leaves the machine
			}
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: link %s: %v", page, m[0], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: link %s: the page has no such heading", page, m[0])
			}
		}
	}
}

// TestIndex holds that the index leads to each page of the guide.
func TestIndex(t *testing.T) {
	t.Parallel()
	const index = "integration/guide/README.md"
	text := read(t, index)
	for _, page := range pages(t) {
		if name, found := strings.CutPrefix(page, "integration/guide/"); found && page != index && !strings.Contains(text, "("+name+")") {
			t.Errorf("%s has no link to %s", index, name)
		}
	}
}

// anchors returns the anchors of the headings of a page, as GitHub names them.
func anchors(text string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(plain, " ", "-"))
	}
	return list
}
