package sqlgen_test

import (
	"bytes"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestDescriptionIsWhole keeps each case as a release does, reads it back and compares it
// with a new compilation: nothing may seem to have changed. From an empty database, the
// plan must make everything.
func TestDescriptionIsWhole(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compiled, _ := sqlgen.Compile(projectOf(archive))
		if compiled == nil {
			continue
		}
		db := compiled.Database
		kept, err := pg.ReadDescription(db.Description())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if again := kept.Description(); !bytes.Equal(again, db.Description()) {
			t.Errorf("%s: read and written again, the description is\n%s\nnot\n%s", path, again, db.Description())
		}
		plan := diff.Between(kept, db, diff.Options{})
		if !plan.IsEmpty() {
			t.Errorf("%s: nothing has changed, and the plan is\n%v\nrefused %v", path, emit.Plan(plan), plan.Refused)
		}
		if len(emit.Plan(plan)) > 0 {
			t.Errorf("%s: an empty plan has statements: %v", path, emit.Plan(plan))
		}

		made := map[string]int{}
		for _, step := range diff.Between(nil, db, diff.Options{}).Steps {
			switch step.Change.(type) {
			case diff.CreateTable:
				made["tables"]++
			case diff.CreateView:
				made["views"]++
			case diff.CreatePolicy:
				made["policies"]++
			case diff.SetGrants:
				made["grants"]++
			case diff.CreateFunction:
				made["functions"]++
			}
		}
		policies, grants := 0, 0
		for _, table := range db.Tables {
			policies += len(table.Policies)
			grants += min(1, len(table.Grants))
		}
		for what, want := range map[string]int{
			"tables": len(db.Tables), "views": len(db.Views), "policies": policies,
			"grants": grants, "functions": len(db.Functions),
		} {
			if made[what] != want {
				t.Errorf("%s: the first plan makes %d %s of %d", path, made[what], what, want)
			}
		}
	}
}
