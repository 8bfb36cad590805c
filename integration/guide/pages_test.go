// Package guide holds the pages for users, and the tests that keep them true.
package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sternpost/sternpost/integration/casetest"
)

// root is the root of the repository.
const root = "../.."

// pages returns all pages of the repository, by their paths from its root.
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

// TestIndex tests that the index leads to each page of the guide.
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

// TestLLMs compares llms.txt, the index of the guide for language models (llmstxt.org), with the index for people: the same
// links and texts, as lists.
func TestLLMs(t *testing.T) {
	t.Parallel()
	const agents = "cmd/sternpost/project/AGENTS.md"
	made := "# Sternpost\n\n> A backend from a schema: models, actions and permission rules are compiled to Postgres tables, row security and\n" +
		"> one function per action, and served as JSON.\n\n" +
		"- [The language on two pages](../../" + agents + "): for agents that write schemas; `sternpost init` puts it into each project\n"
	read(t, agents)
	entry := regexp.MustCompile(`^(?:\| |- )?(\[[^\]]+\]\([^)]+\))[:, |]*(.*?)[ |]*$`)
	for line := range strings.SplitSeq(read(t, "integration/guide/README.md"), "\n") {
		if heading, found := strings.CutPrefix(line, "## "); found {
			made += "\n## " + heading + "\n\n"
		} else if m := entry.FindStringSubmatch(line); m != nil {
			made += "- " + strings.TrimSuffix(m[1]+": "+m[2], ": ") + "\n"
		}
	}
	casetest.File(t, filepath.Join(root, "integration/guide/llms.txt"), made)
}

// TestNamesInPages tests that the files of source and the functions and tables of the platform that pages name exist. The
// changelog also names those of the past.
func TestNamesInPages(t *testing.T) {
	t.Parallel()
	var made strings.Builder // the texts that make and drop tables
	for _, name := range append(glob(t, "sql/migrations/*.sql"), "sql/sql.go") {
		made.WriteString(read(t, name))
	}
	named := 0
	for _, page := range pages(t) {
		if page == "CHANGELOG.md" {
			continue
		}
		text := read(t, page)
		for _, m := range regexp.MustCompile(`(?m)(?:^|[^/\w])platform\.([a-z_]*[a-z])\b(?:[^_*]|$)`).FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(root, "sql/functions", m[1]+".sql"))
			if named++; err != nil && !regexp.MustCompile(`\bplatform\.`+m[1]+`\b`).MatchString(made.String()) {
				t.Errorf("%s names platform.%s, which does not exist", page, m[1])
			}
			if strings.LastIndex(made.String(), "drop table platform."+m[1]+";") > strings.LastIndex(made.String(), "create table platform."+m[1]+" ") {
				t.Errorf("%s names platform.%s, which a migration drops", page, m[1])
			}
		}
		if strings.HasPrefix(page, "integration/guide/") || strings.HasPrefix(page, "integration/apps/") {
			continue // their files are those of projects
		}
		for _, m := range regexp.MustCompile("`([a-z][a-z_/]*\\.go)`").FindAllStringSubmatch(text, -1) {
			dir := filepath.Dir(page)
			if named++; len(glob(t, filepath.Join(dir, m[1]))) == 0 && len(glob(t, filepath.Join(dir, "*", m[1]))) == 0 {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if named < 60 {
		t.Errorf("found %d names", named)
	}
}

// glob returns the files of the repository whose paths match a pattern.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range found {
		if found[i], err = filepath.Rel(root, name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestGlossary tests that the entries of the glossary are in order, say a sentence or two, and lead to another page.
func TestGlossary(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "integration/guide/reference/glossary.md"), "\n### ")
	before := ""
	entries := strings.Split(text, "\n### ")
	for _, entry := range entries {
		term, meaning, _ := strings.Cut(entry, "\n")
		if strings.ToLower(term) <= strings.ToLower(before) {
			t.Errorf("%q comes after %q", term, before)
		}
		before = term
		if n := strings.Count(strings.Join(strings.Fields(meaning), " ")+" ", ". "); n < 2 || n > 4 {
			t.Errorf("%q has %d sentences, want 1 to 3 and the link", term, n)
		}
		if !regexp.MustCompile(`(?s)See\s\[[^\]]+\]\([^)#]+\.md[^)]*\)`).MatchString(meaning) {
			t.Errorf("%q leads to no other page:%s", term, meaning)
		}
	}
	if len(entries) < 20 || len(entries) > 45 {
		t.Errorf("the glossary has %d entries", len(entries))
	}
}

// TestWidth tests that the lines of the pages for users wrap at 120 characters. Tables, blocks of
// code and addresses do not wrap.
func TestWidth(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		if page != "README.md" && !strings.HasPrefix(page, "integration/guide/") {
			continue
		}
		isCode := false
		for i, line := range strings.Split(read(t, page), "\n") {
			isFence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
			isCode = isCode != isFence
			isTable := strings.HasPrefix(strings.TrimLeft(line, " "), "|")
			if isCode || isFence || isTable || strings.HasPrefix(line, "    ") || !strings.Contains(strings.TrimLeft(line, " -"), " ") {
				continue
			}
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s:%d has %d characters: wrap it at 120", page, i+1, n)
			}
		}
	}
}

// TestTargets tests that make has the targets in the pages for users.
func TestTargets(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	for _, name := range []string{"run", "test"} {
		if !strings.Contains(read(t, "README.md"), "\n    make "+name+" ") {
			t.Errorf("README.md does not show make %s", name)
		}
	}
	for _, page := range pages(t) {
		if page != "README.md" && !strings.HasPrefix(page, "integration/guide/") {
			continue
		}
		for _, m := range regexp.MustCompile("(?m)(?:^    |^|`)make ([a-z]+)\\b").FindAllStringSubmatch(read(t, page), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: make has no target %s", page, m[1])
			}
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

// TestFigures tests that the figures of the README are those of the last benchmark.
func TestFigures(t *testing.T) {
	t.Parallel()
	results := read(t, "integration/bench/RESULTS.md")
	readme := read(t, "README.md")
	byHand, postgraphile, found := strings.Cut(results, "The same with PostGraphile")
	_, section, foundSpeed := strings.Cut(readme, "\n## Speed\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| ([0-9.]+) \|$`).FindAllStringSubmatch(section, -1)
	if !found || !foundSpeed || len(rows) < 5 {
		t.Fatalf("found %d figures in the README", len(rows))
	}
	now := section
	for _, row := range rows {
		now = strings.Replace(now, row[0], "| "+row[1]+" | "+ratio(t, byHand, row[1])+" |", 1)
	}
	sentence := regexp.MustCompile(`PostGraphile 5 takes [0-9.]+ times the CPU of Sternpost for the get, and [0-9.]+ times for the list by status\.`)
	now = sentence.ReplaceAllString(now, "PostGraphile 5 takes "+ratio(t, postgraphile, "get")+" times the CPU of Sternpost for the get, and "+
		ratio(t, postgraphile, "list of 20, foreseen: by status")+" times for the list by status.")
	casetest.File(t, filepath.Join(root, "README.md"), strings.Replace(readme, section, now, 1))
}

// ratio returns the ratio of CPU in the first row of that name.
func ratio(t *testing.T, results, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `  .*? ([0-9.]+) \([0-9.]+ … [0-9.]+\)`).FindStringSubmatch(results)
	if found == nil {
		t.Fatalf("the results have no row %q", name)
	}
	return found[1]
}
