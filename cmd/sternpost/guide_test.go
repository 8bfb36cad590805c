package main_test

import (
	"path/filepath"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
)

const howTo = "../../integration/guide/how-to/"

// shellOf is a shell in the folder of a project. Statements of a page run as the owner of a database.
func shellOf(dir string, db *pgtest.DB, env ...string) casetest.Shell {
	return casetest.Shell{Command: binary, Dir: dir, Env: env, SQL: func(t testing.TB, statements string) {
		if _, err := db.Owner(t).Exec(t.Context(), statements); err != nil {
			t.Errorf("%s\n%v", statements, err)
		}
	}}
}

// TestUpgradePage runs the commands of the page about a new version, with a version that has nothing new.
func TestUpgradePage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "shop")
	command{args: []string{"init", dir}}.expect(t, 0, "")
	command{args: []string{"migrate", "new", "initial", dir}}.expect(t, 0, "")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, 0, "")
	shellOf(dir, db, "COPY_URL="+db.OwnerURL()).Follow(t, howTo+"upgrade.md")
}
