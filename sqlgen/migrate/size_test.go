package migrate_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// fourteen is a schema of that many models, each with all kinds of actions.
func fourteen(more string) string {
	var b strings.Builder
	for i := range 14 {
		fields, owner := "", ""
		if i == 7 {
			fields = more
		}
		if i > 0 {
			owner = fmt.Sprintf("    owner Thing%d?\n", i-1)
		}
		fmt.Fprintf(&b, `/// The things of kind %[1]d.
model Thing%[1]d {
  fields {
    name Text @unique
    note Text?
    count Number @default(1)
    price Decimal?
    dueOn Date?
    isOpen Boolean @default(true)
    state State
%[3]s%[2]s  }
  actions {
    get getThing%[1]d(id)
    list listThing%[1]ds(name?, count?, state?, dueOn?)
    create createThing%[1]d() with (name, note?, count?, price?, dueOn?, state)
    update updateThing%[1]d(id) with (name?, note?, count?, price?, dueOn?, state?)
    delete deleteThing%[1]d(id)
  }
  @permission(expression: thing%[1]d.isOpen, actions: [get, list])
  @permission(expression: ctx.isAuthenticated, actions: [create, update, delete])
}
`, i, fields, owner)
	}
	return b.String() + "enum State {\n  New\n  Old\n}\n"
}

// TestSizeOfAMigration checks that a migration holds the changes, and little more.
func TestSizeOfAMigration(t *testing.T) {
	t.Parallel()
	workshop := func(edit func(text string) string) *emit.Release {
		project, err := sqlgen.ReadProject(filepath.Join("..", "..", "integration", "apps", "workshop"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range project.Files {
			f.Text = []byte(edit(string(f.Text)))
		}
		return compiletest.Project(t, project).Release()
	}
	addField := func(text string) string {
		return strings.Replace(text, "  fields {\n", "  fields {\n    sternpostTest Text?\n", 1)
	}
	for _, c := range []struct {
		name     string
		old, new *emit.Release
		percent  int
	}{
		{"fourteen models", compile(t, fourteen("")), compile(t, fourteen("    place Text?\n")), 10},
		{"the workshop", workshop(func(text string) string { return text }), workshop(addField), 10},
	} {
		project := t.TempDir()
		mustNew(t, project, "first", c.old)
		files := mustNew(t, project, "column", c.new)
		build, size := len(install.Script(c.new)), 0
		for _, f := range files {
			size += len(f.Text)
		}
		t.Logf("%s: build prints %d bytes, a migration for one more column %d (%.1f %%)", c.name, build, size, 100*float64(size)/float64(build))
		if size*100 > build*c.percent {
			t.Errorf("%s: that is more than %d %%", c.name, c.percent)
		}
	}
}

// TestReview changes a column of the clinic: a migration begins with what it loses, rewrites and locks, and the changes of
// tables. It makes only the policies that differ, which are those of the column's table.
func TestReview(t *testing.T) {
	t.Parallel()
	clinic := func(edits ...string) *emit.Release {
		project, err := sqlgen.ReadProject(filepath.Join("..", "..", "integration", "apps", "clinic"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range project.Files {
			for i := 0; i < len(edits); i += 2 {
				edited := strings.ReplaceAll(string(f.Text), edits[i], edits[i+1])
				if edited == string(f.Text) {
					t.Fatalf("%s has no %q", f.Name, edits[i])
				}
				f.Text = []byte(edited)
			}
		}
		return compiletest.Project(t, project).Release()
	}
	before := clinic()
	made := regexp.MustCompile(`(?m)^create policy \w+ on app\.(\w+)`)
	for _, c := range []struct {
		name  string
		edits []string
		allow []string
		table string
		head  string
	}{
		{
			name: "added", table: "patient",
			edits: []string{"    born Date?\n", "    born Date?\n    nickname Text?\n"},
			head:  "Loses: nothing.\nRewrites: nothing.\nLocks: app.patient. Calls that use it wait: a moment.",
		},
		{
			name: "renamed", table: "patient",
			edits: []string{"    born Date?\n", "    birth Date? @renamed(from: born)\n", "born?", "birth?"},
			head:  "Loses: nothing.\nRewrites: nothing.\nLocks: app.patient. Calls that use it wait: a moment.",
		},
		{
			name: "made optional", table: "room",
			edits: []string{"model Room {\n  fields {\n    practice Practice @onDelete(cascade)\n    name Text\n", "model Room {\n  fields {\n    practice Practice @onDelete(cascade)\n    name Text?\n"},
			head:  "Loses: nothing.\nRewrites: nothing.\nLocks: app.room. Calls that use it wait: a moment.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			mustNew(t, project, "first", before)
			written, err := migrate.New(folder(t, project), "column", clinic(c.edits...), migrate.PlanOptions{Allow: c.allow})
			if err != nil {
				t.Fatal(err)
			}
			file := written.Files[0]
			if got := strings.TrimSpace(strings.ReplaceAll(file.Head(), "\n  ", "\n")); got != c.head {
				t.Errorf("the head is\n%s\nwant\n%s", got, c.head)
			}
			tables, _, found := strings.Cut(file.Text, "\n-- Functions and policies")
			if lines := strings.Count(tables, "\n"); !found || lines > 120 {
				t.Errorf("%d lines come before the first function or policy (a part of its own: %t), want at most 120:\n%s", lines, found, tables)
			}
			var tablesOf []string
			for _, match := range made.FindAllStringSubmatch(file.Text, -1) {
				tablesOf = append(tablesOf, match[1])
			}
			if slices.ContainsFunc(tablesOf, func(table string) bool { return table != c.table }) {
				t.Errorf("it makes policies of %v, want those of %s at most", tablesOf, c.table)
			}
		})
	}
}
