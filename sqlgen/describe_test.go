package sqlgen_test

import (
	"encoding/json"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
)

// TestDescriptionIsWhole keeps each case as a release does, reads it back and
// compares it with a new compilation: nothing may seem to have changed. From
// nothing, the plan must make all that is there.
func TestDescriptionIsWhole(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		db, _ := sqlgen.Compile(projectOf(archive))
		if db == nil {
			continue
		}
		described := emit.Describe(db, "platform")
		text, err := json.Marshal(described)
		if err != nil {
			t.Fatal(err)
		}
		var kept diff.Database
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		plan := diff.Between(&kept, emit.Describe(db, "platform"), holdsAll)
		if !plan.IsEmpty() {
			t.Errorf("%s: nothing has changed, and the plan is\n%q\nrefused %v", path, emit.Plan(plan), plan.Refused)
		}
		if len(emit.Plan(plan)) > 0 {
			t.Errorf("%s: an empty plan has statements: %q", path, emit.Plan(plan))
		}

		made := map[string]int{}
		for _, step := range diff.Between(&diff.Database{}, described, holdsAll).Steps {
			switch step.(type) {
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
		for what, want := range map[string]int{
			"tables": len(described.Tables), "views": len(described.Views), "policies": len(described.Policies),
			"grants": len(described.Grants), "functions": len(described.Functions),
		} {
			if made[what] != want {
				t.Errorf("%s: the first plan makes %d %s of %d", path, made[what], what, want)
			}
		}
	}
}

// holdsAll is a database in which every table and column holds something.
func holdsAll(_, _ string) bool { return true }
