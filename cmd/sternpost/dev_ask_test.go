package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// startOnTerminal starts the command at a terminal, as a person does, and returns a
// function that types there.
func (c command) startOnTerminal(t *testing.T) (*program.Process, func(line string)) {
	t.Helper()
	return program.StartOnTerminal(t, c.prepare(context.Background()))
}

const askedSchema = `model Task {
  fields {
    title Text
    subtitle Text?
    prio Number @default(1)
  }
  actions {
    list listTasks()
  }
  @permission(expression: true, actions: [list])
}
`

// TestDevAsks answers the questions of dev at a terminal: to drop, to rename, to give
// rows a value, to leave it, and none at all.
func TestDevAsks(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": askedSchema})
	schema := filepath.Join(dir, "schema.stern")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	p, types := command{
		args: []string{"dev", "--port", program.FreePort(t), dir},
		env:  []string{"DATABASE_URL=" + db.OwnerURL()},
	}.startOnTerminal(t)
	at := p.Await(t, 0, "Ctrl-C stops everything")
	conn := db.Owner(t)
	mustRun(t, conn, "insert into app.task (id, title, subtitle) values ('a', 'one', 'eins'), ('b', 'two', null)")
	save := func(pairs ...string) {
		t.Helper()
		replaceFile(t, schema, strings.NewReplacer(pairs...).Replace(askedSchema))
	}

	// The files are put back while the question is open: it needs no answer.
	save("    prio Number @default(1)\n", "")
	at = p.Await(t, at, "[d] drop it, and lose its values: 2")
	at = p.Await(t, at, "[k] keep the old release for now")
	save()
	at = p.Await(t, at, "nothing has changed since release 1")
	types("d") // not one of the choices
	if got := askOne(t, conn, "select sum(prio)::text from app.task"); got != "2" {
		t.Errorf("prio adds up to %s, want 2", got)
	}

	// An undecided question is asked again.
	save("    prio Number @default(1)\n", "")
	at = p.Await(t, at, "[k] keep the old release for now")
	types("what?")
	at = p.Await(t, at, "[k] keep the old release for now")
	types("k")
	at = p.Await(t, at, "nothing was changed; dev asks again after the next change of a file")

	// A rename is written into the schema.
	save("    subtitle Text?", "    lead   Text ?")
	at = p.Await(t, at, "[1] treat it as a rename: write lead Text? @renamed(from: subtitle)")
	types("1")
	at = p.Await(t, at, "renamed column app.task.subtitle to lead")
	at = p.Await(t, at, "release 2 installed")
	if got := askOne(t, conn, "select lead from app.task where id = 'a'"); got != "eins" {
		t.Errorf("lead is %q, want eins", got)
	}
	if text := readFile(t, schema); !strings.Contains(text, "    lead   Text ? @renamed(from: subtitle)\n") {
		t.Errorf("the rename is not in the schema:\n%s", text)
	}

	// Two questions: rows get a value, and a field goes.
	save("    subtitle Text?", "    lead Text @renamed(from: subtitle)", "    prio Number @default(1)\n", "")
	at = p.Await(t, at, "[= EXPRESSION] give the rows the value of an SQL expression")
	types("= upper(title)")
	at = p.Await(t, at, "[d] drop it")
	types("d")
	at = p.Await(t, at, "dropped column app.task.prio, with 2 values")
	at = p.Await(t, at, "release 3 installed")
	if got := askOne(t, conn, "select string_agg(lead, ' ' order by id) from app.task"); got != "eins TWO" {
		t.Errorf("lead is %q, want eins TWO", got)
	}

	// Dev names a wrong value and asks for another: for a text that is not an expression, and for a value
	// that breaks a constraint.
	withSlug := strings.NewReplacer("    subtitle Text?", "    lead Text", "    prio Number @default(1)\n", "    slug Text @unique\n").Replace(askedSchema)
	replaceFile(t, schema, withSlug)
	at = p.Await(t, at, "[= EXPRESSION] give the rows the value of an SQL expression")
	types("= lower(title")
	at = p.Await(t, at, "the value given for existing rows cannot be computed: task.slug = lower(title\r\n"+
		"the expression does not end: a bracket or a quote is open (model Task, field slug, schema.stern:")
	at = p.Await(t, at, "[= EXPRESSION] give the rows the value of an SQL expression")
	types("= 'same'")
	at = p.Await(t, at, "task_slug_key")
	at = p.Await(t, at, "[= EXPRESSION] give the rows the value of an SQL expression")
	types("= lower(title)")
	at = p.Await(t, at, "release 4 installed")
	if got := askOne(t, conn, "select string_agg(slug, ' ' order by id) from app.task"); got != "one two" {
		t.Errorf("slug is %q, want one two", got)
	}

	// A model is renamed, likewise.
	replaceFile(t, schema, strings.Replace(withSlug, "Task {", "Job {", 1))
	at = p.Await(t, at, "[1] treat it as a rename: write model Job { … @renamed(from: Task) }")
	types("1")
	at = p.Await(t, at, "renamed table app.task to job")
	p.Await(t, at, "release 5 installed")
	if got := askOne(t, conn, "select string_agg(lead, ' ' order by id) from app.job"); got != "eins TWO" {
		t.Errorf("lead is %q, want eins TWO", got)
	}
}

// TestDevAllow allows a loss on the command line, once, and gives rows a value.
func TestDevAllow(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": askedSchema})
	schema := filepath.Join(dir, "schema.stern")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	dev := command{args: []string{"dev", "--port", program.FreePort(t), dir}, env: []string{"DATABASE_URL=" + db.OwnerURL()}}
	p := dev.start(t)
	p.Await(t, 0, "Ctrl-C stops everything")
	conn := db.Owner(t)
	mustRun(t, conn, "insert into app.task (id, title, subtitle) values ('a', 'One', 'eins')")
	if err := p.End(t, os.Interrupt); err != nil {
		t.Fatal(err)
	}

	without := strings.NewReplacer("    prio Number @default(1)\n", "    slug Text\n").Replace(askedSchema)
	replaceFile(t, schema, without)
	dev.args = append(dev.args, "--allow", "drop:task.prio", "--backfill", "task.slug = nothing")
	p = dev.start(t)
	at := p.Await(t, 0, "the value given for existing rows cannot be computed: task.slug = nothing")
	p.Await(t, at, "the release that was installed before is served at http://localhost:")
	if err := p.End(t, os.Interrupt); err != nil {
		t.Fatal(err)
	}

	dev.args[len(dev.args)-1] = "task.slug = lower(title)"
	p = dev.start(t)
	at = p.Await(t, 0, "dropped column app.task.prio, with 1 value")
	at = p.Await(t, at, "release 2 installed")
	at = p.Await(t, at, "Ctrl-C stops everything")
	if got := askOne(t, conn, "select slug from app.task"); got != "one" {
		t.Errorf("slug is %q, want one", got)
	}
	replaceFile(t, schema, strings.Replace(without, "    slug Text\n", "    slug Text\n    prio Number @default(1)\n", 1))
	at = p.Await(t, at, "release 3 installed")
	replaceFile(t, schema, without)
	p.Await(t, at, "sternpost dev --allow drop:task.prio")

	if err := p.End(t, os.Interrupt); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, schema, strings.Replace(without, "    slug Text\n", "    slug Text\n    lead Text\n    prio Number @default(1)\n", 1))
	dev.args = []string{"dev", "--port", program.FreePort(t), "--backfill", "task.lead = titel", dir}
	p = dev.start(t)
	at = p.Await(t, 0, "cannot be computed: task.lead = titel\ncolumn \"titel\" does not exist (model Task, field lead, schema.stern:")
	p.Await(t, at, "sternpost dev --backfill 'task.lead = …'")

	dev.args = []string{"dev", "--backfill", "task.slug", dir}
	dev.expect(t, exitUsage, "write it as TABLE.COLUMN = EXPRESSION")
}

// TestDevDrift changes the database by hand and then the schema: dev reports the manual
// changes, where the schema mentions them, and how to undo them.
func TestDevDrift(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": askedSchema})
	schema := filepath.Join(dir, "schema.stern")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	p := command{args: []string{"dev", "--port", program.FreePort(t), dir}, env: []string{"DATABASE_URL=" + db.OwnerURL()}}.start(t)
	at := p.Await(t, 0, "Ctrl-C stops everything")
	conn := db.Owner(t)

	mustRun(t, conn, "alter table app.task rename column title to titel")
	replaceFile(t, schema, strings.Replace(askedSchema, "    title Text\n", "    title Text @unique\n", 1))
	at = p.Await(t, at, "column app.task.title is gone (model Task, field title, schema.stern:3:5); to put it back:\n"+
		"    alter table app.task rename column titel to title;")
	at = p.Await(t, at, "the new schema cannot be installed, because the database was changed by hand")
	at = p.Await(t, at, "Undo the change in the database")
	replaceFile(t, schema, strings.Replace(askedSchema, "    title Text\n", "    title Text\n    lead Text?\n", 1))
	at = p.Await(t, at, `the new schema cannot be installed, because the database was changed by hand: ERROR: column "title" does not exist`)
	at = p.Await(t, at, "Undo the change in the database")
	if strings.Contains(p.Out.String(), "mistake of sternpost") {
		t.Errorf("it takes the change for a mistake:\n%s", p.Out)
	}
	mustRun(t, conn, "alter table app.task rename column titel to title")
	replaceFile(t, schema, strings.Replace(askedSchema, "    title Text\n", "    title Text  @unique\n", 1))
	at = p.Await(t, at, "release 2 installed")

	mustRun(t, conn, "drop policy task_select_open on app.task; alter table app.task drop constraint task_title_key; create index mine on app.task (prio)")
	replaceFile(t, schema, askedSchema)
	at = p.Await(t, at, "constraint task_title_key on app.task is gone (model Task, schema.stern:1:7)")
	at = p.Await(t, at, "index app.mine was made by hand")
	p.Await(t, at, "policy task_select_open on app.task is gone (model Task, schema.stern:1:7); to put it back:\n    create policy task_select_open")
}
