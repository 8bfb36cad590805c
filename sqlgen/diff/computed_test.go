package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestOnlyWhatIsConcernedIsKeptAnew checks that only columns made of a changed column are computed anew.
func TestOnlyWhatIsConcernedIsKeptAnew(t *testing.T) {
	t.Parallel()
	const old = `
		model Invoice { fields { note Text paid Decimal lines Line[] net Decimal @computed(SUM(invoice.lines.worth)) due Decimal @computed(invoice.net - invoice.paid) } }
		model Line { fields { invoice Invoice what Text worth Decimal } }
		model Club { fields { name Text members Member[] size Number @computed(COUNT(club.members)) } }
		model Member { fields { club Club name Text } }
		model Tag { fields { text Text half Number @computed(tag.count / 2) count Number } }
	`
	for _, c := range []struct{ name, from, to, filled string }{
		{"a column of another table", "text Text", "text Text more Text?", ""},
		{"a column that nothing reads", "note Text", "note Text? more Text?", ""},
		{"a column of rows that are added up", "what Text", "what Text?", ""},
		{"what is added up", "worth Decimal", "worth Number", "invoice.lines__sum_worth"},
		{"another sum of the rows", "note Text", "note Text most Decimal? @computed(MAX(invoice.lines.worth))", "invoice.net invoice.most"},
		{"another count", "size Number", "size Number @unique", ""},
		{"a model that is counted too", "name Text members", "name Text fans Fan[] fan Number @computed(COUNT(club.fans)) members", "club.fan club.size"},
		{"a generated column", "tag.count / 2", "tag.count / 3", ""},
	} {
		to := strings.Replace(old, c.from, c.to, 1)
		if strings.Contains(to, "Fan[]") {
			to += "model Fan { fields { club Club } }"
		}
		plan := between(t, compile(t, old), compile(t, to), diff.Options{Rows: empty})
		var filled []string
		for _, s := range plan.Steps {
			if f, ok := s.Change.(diff.FillColumn); ok {
				filled = append(filled, f.Table.Name+"."+f.Column.Name)
			}
		}
		if isAnew := plan.Adds("tag", "half"); isAnew != (c.name == "a generated column") {
			t.Errorf("%s: half of Tag is computed anew: %v", c.name, isAnew)
		}
		want := strings.Fields(c.filled)
		slices.Sort(filled)
		slices.Sort(want)
		if !slices.Equal(filled, want) {
			t.Errorf("%s: filled %v, want %v", c.name, filled, want)
		}
	}
}

// TestKeysOfComputedFields plans from a release whose keys of computed fields were constraints. The rows satisfy the
// index that follows one.
func TestKeysOfComputedFields(t *testing.T) {
	t.Parallel()
	const schema = `model Tag { fields { text Text shout Text @unique @computed(tag.text + "!") } }`
	old, new := compile(t, schema), compile(t, schema)
	tag := slices.IndexFunc(old.Tables, func(t *pg.Table) bool { return t.Name == "tag" })
	for _, c := range old.Tables[tag].Constraints {
		c.Where = ""
	}
	plan := between(t, old, new, diff.Options{})
	ordered(t, plan, "drop constraint tag_shout_key", "create unique index tag_shout_key on app.tag (shout) where shout is not null")
	if len(plan.Refused) > 0 {
		t.Errorf("refused: %v", plan.Refused)
	}
}
