package main_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// taskSchema is a schema with a model of some fields.
func taskSchema(fields string) string {
	return "model Task {\n  fields {\n    " + fields + "\n  }\n  actions {\n    get getTask(id)\n    create createTask() with (title)\n" +
		"    list listTasks()\n  }\n  @permission(expression: true, actions: [get, list, create])\n}\n"
}

// withInput is a schema of tasks whose create takes another input.
func withInput(fields, name string) string {
	return strings.Replace(taskSchema(fields), "with (title)", "with (title, "+name+")", 1)
}

// migrations writes the migrations of schemas that follow one another.
func migrations(t *testing.T, steps ...[]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, step := range steps {
		writeFile(t, filepath.Join(dir, "schema.stern"), step[0])
		args := append([]string{"migrate", "new", "step_" + string(rune('a'+i)), dir}, step[1:]...)
		command{args: args}.expect(t, 0, "")
	}
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// facts returns the installed objects, one a line, and the state of the migrations.
func facts(t *testing.T, db *pgtest.DB) []string {
	t.Helper()
	rows, err := db.Owner(t).Query(t.Context(), `
		select object || ' ' || fact from platform.catalog()
		union all
		select 'version ' || version from public.schema_version
		union all
		select 'digest ' || platform.release_digest(manifest::text, description::text) from (select * from platform.release order by number desc limit 1) as newest
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMigrateCommands(t *testing.T) {
	t.Parallel()
	dir := migrations(t,
		[]string{taskSchema("title Text")},
		[]string{taskSchema("title Text @unique\n    count Number @default(1)"), "--allow", "unique:task.title"})
	run := func(code int, stderr string, args ...string) string {
		t.Helper()
		return command{args: append([]string{"migrate"}, args...)}.expect(t, code, stderr)
	}
	contains := func(out string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("it does not say %q:\n%s", want, out)
			}
		}
	}

	contains(run(0, "", "new", "again", dir), "nothing has changed since the last migration")
	run(exitUsage, "cannot be called", "new", "a b", dir)
	run(exitUsage, "cannot be called", "new", "a b", "nowhere") // before the project is read, which may print warnings
	run(exitUsage, "DATABASE_URL", "up", dir)
	for _, name := range []string{"plan", "up", "status", "adopt"} {
		run(exitEnvironment, "read migrations: there is no folder nowhere", name, "nowhere")
		run(exitEnvironment, "schema.stern is not a folder", name, filepath.Join(dir, "schema.stern"), "--database-url", "postgres://nobody@127.0.0.1:1/none")
	}
	run(exitUsage, "--lock-timeout must be positive", "up", dir, "--database-url", "x", "--lock-timeout", "0s")
	run(exitEnvironment, "connect", "up", dir, "--database-url", "postgres://nobody@127.0.0.1:1/none")

	db := pgtest.New(t, pgtest.Options{Empty: true})
	url := db.OwnerURL()
	contains(run(exitInput, "", "status", dir, "--database-url", url), "pending  001_step_a.sql", "migration 0 of 3, release 0")
	contains(run(0, "", "up", dir, "--database-url", url), "001_step_a.sql\n002_step_b_1.sql\n003_step_b_2.sql\napplied 3")
	contains(run(0, "", "up", dir, "--database-url", url), "nothing to do")
	contains(run(0, "", "status", dir, "--database-url", url), "applied  003_step_b_2.sql", "migration 3 of 3, release 2")

	writeFile(t, filepath.Join(dir, "schema.stern"), taskSchema("title Text @unique"))
	run(exitInput, "--allow drop:task.count", "new", "less", dir)
	run(exitInput, "write the next one with sternpost migrate new", "check", dir, "--scratch-url", db.SuperuserURL())
	contains(run(0, "", "new", "less", dir, "--allow", "drop:task.count"), "drop column count", "loses data")
	if _, err := db.Owner(t).Exec(t.Context(), "insert into app.task (title) values ('a'), ('b'); alter table app.task add column extra int"); err != nil {
		t.Fatal(err)
	}
	contains(run(exitInput, "changed by hand", "plan", dir, "--database-url", url),
		"004_less.sql", "drop column count", "lock ACCESS EXCLUSIVE; loses data", "app.task holds 2 rows", "app.task.count is dropped with 2 values", "by hand: column app.task.extra was made by hand")
	run(exitInput, "column app.task.extra was made by hand", "up", dir, "--database-url", url)
	run(0, "", "up", dir, "--database-url", url, "--allow-drift")
	contains(run(0, "", "check", dir, "--scratch-url", db.SuperuserURL()), "4 migrations lead to the schema")

	// Another database, by build.
	built := pgtest.New(t, pgtest.Options{Empty: true})
	runScript(t, built, command{args: []string{"build", dir}}.expect(t, 0, ""))
	run(exitInput, "sternpost migrate adopt", "up", dir, "--database-url", built.OwnerURL())
	contains(run(0, "", "adopt", dir, "--database-url", built.OwnerURL(), "--scratch-url", built.SuperuserURL()), "at migration 4 of 4")
	contains(run(0, "", "up", dir, "--database-url", built.OwnerURL()), "nothing to do")
}

// TestMigrateKilled kills migrators at any moment, and lets another one go on: the result
// is the same as without a kill.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	dir := migrations(t,
		[]string{taskSchema("title Text")},
		[]string{withInput("title Text @unique\n    slug Text @index\n    count Number @default(1)", "slug"), "--allow", "unique:task.title", "--backfill", "task.slug = lower(title)"},
		[]string{withInput("title Text @unique\n    name Text @index @renamed(from: slug)\n    count Number @default(1) @index", "name")})
	fill := "insert into app.task (title) select 'Title ' || n from generate_series(1, 20000) as n"

	undisturbed := pgtest.New(t, pgtest.Options{Empty: true})
	first := filepath.Join(t.TempDir(), "migrations")
	if err := os.Mkdir(first, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "migrations", "001_step_a.sql"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(first, "001_step_a.sql"), string(text))
	prepare := func(db *pgtest.DB) {
		command{args: []string{"migrate", "up", filepath.Dir(first), "--database-url", db.OwnerURL()}}.expect(t, 0, "")
		if _, err := db.Owner(t).Exec(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
	}
	prepare(undisturbed)
	began := time.Now()
	command{args: []string{"migrate", "up", dir, "--database-url", undisturbed.OwnerURL()}}.expect(t, 0, "")
	whole := time.Since(began)
	want := facts(t, undisturbed)

	random := rand.New(rand.NewPCG(7, 11))
	killed := 0
	for range 4 {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		prepare(db)
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(whole))))
			err := command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.prepare(ctx).Run() // the end of the context kills it
			if ctx.Err() != nil && err != nil {
				killed++
			}
			cancel()
		}
		command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, 0, "")
		got := facts(t, db)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("after it was killed there is\n%s\nwant\n%s", difference(got, want), difference(want, got))
		}
		var rows int
		if err := db.Owner(t).QueryRow(t.Context(), "select count(*) from app.task where name = lower(title) and count = 1").Scan(&rows); err != nil || rows != 20000 {
			t.Errorf("%d rows are as they should be (%v)", rows, err)
		}
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("%d were killed", killed)
}

// TestMigrateStoppedBetweenStatements stops a file without transaction behind each of its
// statements, as if the migrator had been killed there.
func TestMigrateStoppedBetweenStatements(t *testing.T) {
	t.Parallel()
	dir := migrations(t,
		[]string{taskSchema("title Text")},
		[]string{withInput("title Text @unique\n    slug Text @index\n    count Number @default(1)", "slug"), "--allow", "unique:task.title", "--backfill", "task.slug = lower(title)"})
	text, err := os.ReadFile(filepath.Join(dir, "migrations", "003_step_b_2.sql"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "---- tern: disable-tx ----\n")
	paragraphs := strings.Split(strings.TrimSpace(body), "\n\n")

	up := func(db *pgtest.DB, until string) {
		t.Helper()
		tern := exec.CommandContext(t.Context(), "go", "tool", "tern", "migrate", "--conn-string", db.OwnerURL(), "-m", filepath.Join(dir, "migrations"), "-d", until)
		if out, err := tern.CombinedOutput(); err != nil {
			t.Fatalf("tern: %v: %s", err, out[max(0, len(out)-2000):])
		}
	}
	undisturbed := pgtest.New(t, pgtest.Options{Empty: true})
	up(undisturbed, "3")
	want := strings.Join(facts(t, undisturbed), "\n")
	for done := 1; done <= len(paragraphs); done++ {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		up(db, "2")
		conn := db.Owner(t)
		for _, paragraph := range paragraphs[:done] {
			for _, statement := range statementsOf(paragraph) {
				if _, err := conn.Exec(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, 0, "")
		if got := strings.Join(facts(t, db), "\n"); got != want {
			t.Errorf("stopped behind %d paragraphs, it ends in\n%s\nwant\n%s", done, got, want)
		}
	}

	// An invalid index is made anew.
	db := pgtest.New(t, pgtest.Options{Empty: true})
	up(db, "2")
	conn := db.Owner(t)
	if _, err := conn.Exec(t.Context(), "insert into app.task (title, slug) values ('a', 'a'), ('a', 'b')"); err != nil {
		t.Fatal(err)
	}
	command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, exitInput, "task_title_key")
	var invalid bool
	if err := conn.QueryRow(t.Context(), "select not indisvalid from pg_index where indexrelid = 'app.task_title_key'::regclass").Scan(&invalid); err != nil || !invalid {
		t.Errorf("the index is valid, or not there: %v", err)
	}
	if _, err := conn.Exec(t.Context(), "delete from app.task"); err != nil {
		t.Fatal(err)
	}
	command{args: []string{"migrate", "up", dir, "--database-url", db.OwnerURL()}}.expect(t, 0, "")
	if got := strings.Join(facts(t, db), "\n"); got != want {
		t.Errorf("with an invalid index it ends in\n%s\nwant\n%s", got, want)
	}
}

// statementsOf cuts a paragraph at the ends of lines that end a statement.
func statementsOf(paragraph string) []string {
	var list []string
	var statement strings.Builder
	quoted := false
	for line := range strings.Lines(paragraph) {
		statement.WriteString(line)
		if strings.Contains(line, "$$") {
			quoted = !quoted
		}
		if !quoted && strings.HasSuffix(strings.TrimSpace(line), ";") {
			list = append(list, statement.String())
			statement.Reset()
		}
	}
	return list
}

// difference returns the entries that only the first list has.
func difference(a, b []string) string {
	there := map[string]bool{}
	for _, line := range b {
		there[line] = true
	}
	var only []string
	for _, line := range a {
		if !there[line] {
			only = append(only, line)
		}
	}
	return strings.Join(only, "\n")
}
