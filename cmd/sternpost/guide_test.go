package main_test

import (
	"path/filepath"
	"strings"
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

// TestAgentsPage runs what AGENTS.md of a new project shows: its commands, and its test of a rule. The test of a rule fails
// if the rule admits everybody.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "shop")
	command{args: []string{"init", dir}}.expect(t, 0, "")
	const rule = "note.author == ctx.identity, actions"
	schema, test := "", ""
	for _, b := range casetest.Blocks(t, filepath.Join(dir, "AGENTS.md")) {
		switch {
		case b.Language == "sh":
			if out, code := (casetest.Shell{Command: binary, Dir: dir}).Run(t, b.Text); code != 0 {
				t.Errorf("the commands\n%s\nexit with %d:\n%s", b.Text, code, out)
			}
		case strings.Contains(b.Text, rule):
			schema = b.Text
		case b.Language == "yaml":
			test = b.Text
		}
	}
	db := pgtest.New(t, pgtest.Options{Empty: true})
	for schema, code := range map[string]int{schema: 0, strings.Replace(schema, rule, "true, actions", 1): exitInput} {
		project := files(t, map[string]string{"schema.stern": schema, "tests/notes.yaml": test})
		command{args: []string{"test", "--scratch-url", db.SuperuserURL(), project}}.expect(t, code, "")
	}
}
