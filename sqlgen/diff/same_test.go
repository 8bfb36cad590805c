package diff_test

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestSameDatabase checks that a comparison of a database with itself equals one with its description.
// An installation that finds the wanted description in the database does not read it.
func TestSameDatabase(t *testing.T) {
	t.Parallel()
	const renamed = `
		enum State { open @renamed(from: begun) done }
		model Post {
		  fields {
		    title Text @renamed(from: headline)
		    state State
		    other Post? @relation(posts)
		    posts Post[]
		    count Number @computed(COUNT(post.posts.id))
		  }
		  @renamed(from: Article)
		  actions { get getPost(id) { @permission(expression: true) } }
		}`
	databases := map[string]*pg.Database{"renames": compile(t, renamed)}
	for _, app := range []string{"ledger", "workshop"} {
		p, err := sqlgen.ReadProject(filepath.Join("..", "..", "integration", "apps", app))
		if err != nil {
			t.Fatal(err)
		}
		databases[app] = compiletest.Project(t, p).Database
	}
	options := diff.Options{Allow: []string{"drop:post.subtitle"}, Backfills: []diff.Backfill{{Table: "post", Column: "slug", Value: "title"}}, Rows: empty}
	for name, db := range databases {
		want, got := between(t, db, db, options), diff.Between(db, db, options)
		if !got.IsEmpty() || !want.IsEmpty() {
			t.Errorf("%s: %d and %d steps, want none", name, len(got.Steps), len(want.Steps))
		}
		if !reflect.DeepEqual(got.Warnings, want.Warnings) || !reflect.DeepEqual(got.Unused, want.Unused) {
			t.Errorf("%s: warnings %v, unused %v; want %v, %v", name, got.Warnings, got.Unused, want.Warnings, want.Unused)
		}
		if !bytes.Equal(got.Result.Description(), want.Result.Description()) || !bytes.Equal(got.Result.Description(), db.Description()) {
			t.Errorf("%s: the result is not the database", name)
		}
	}
	if len(diff.Between(databases["renames"], databases["renames"], options).Unused) != 2 {
		t.Error("what no change needs is not told")
	}
}
