package migrate_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
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
