package migrate_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// scratchURL is a server on which migrations may be tried.
func scratchURL(t testing.TB) string {
	return pgtest.New(t, pgtest.Options{Empty: true}).SuperuserURL()
}

func check(t testing.TB, project string, db *emit.Release) error {
	t.Helper()
	return migrate.Check(t.Context(), folder(t, project), db, scratchURL(t))
}

// edit changes the text of a migration.
func edit(t testing.TB, project string, number int, change func(text string) string) {
	t.Helper()
	f := folder(t, project).Files[number-1]
	if err := os.WriteFile(filepath.Join(project, migrate.DirName, f.Name), []byte(change(f.Text)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// aboveRelease puts statements where those by hand belong.
func aboveRelease(statements string) func(text string) string {
	return func(text string) string {
		return strings.Replace(text, "\n-- Release\n", "\n"+statements+"\n\n-- Release\n", 1)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	last := compile(t, schemas[2])
	for _, c := range []struct {
		name string
		make func(t *testing.T, project string) // after the three migrations
		want string                             // of the error; empty means none
	}{
		{"as they were written", func(*testing.T, string) {}, ""},
		{"rows changed by hand", func(t *testing.T, project string) {
			edit(t, project, 2, aboveRelease("update app.task set prio = 2 where title = 'a';"))
		}, ""},
		{"a file by hand", func(t *testing.T, project string) {
			n := len(folder(t, project).Files) + 1
			name := filepath.Join(project, migrate.DirName, "00"+string(rune('0'+n))+"_fill.sql")
			if err := os.WriteFile(name, []byte("update app.task set prio = 3;\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"a table changed by hand", func(t *testing.T, project string) {
			edit(t, project, 2, aboveRelease("alter table app.task add column extra text;"))
		}, "column app.task.extra is there, and the schema does not have it"},
		{"a statement that was removed", func(t *testing.T, project string) {
			edit(t, project, 2, func(text string) string {
				return strings.Replace(text, "alter table app.tag enable row level security;", "", 1)
			})
		}, "table app.tag is not as the schema has it"},
		{"a release that was changed", func(t *testing.T, project string) {
			edit(t, project, 2, func(text string) string {
				at := strings.LastIndex(text, `"prio`)
				return text[:at] + `"proi` + text[at+5:]
			})
		}, "the release that this migration makes is not the one that it names"},
		{"a schema without migration", func(t *testing.T, project string) {
			for _, f := range folder(t, project).Files[3:] {
				os.Remove(filepath.Join(project, migrate.DirName, f.Name))
			}
		}, "belongs to migration 005"},
		{"a snapshot that was changed", func(t *testing.T, project string) {
			name := filepath.Join(project, migrate.DirName, migrate.SnapshotName)
			text, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, []byte(strings.Replace(string(text), "Task", "Tusk", 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "changed by hand or by a merge"},
		{"a gap", func(t *testing.T, project string) {
			dir := filepath.Join(project, migrate.DirName)
			if err := os.Rename(filepath.Join(dir, "005_third_2.sql"), filepath.Join(dir, "009_third_2.sql")); err != nil {
				t.Fatal(err)
			}
		}, "number 005 before it is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := threeMigrations(t)
			c.make(t, project)
			err := check(t, project, last)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Check = %v, want %q", err, c.want)
			}
		})
	}
	t.Run("a schema that has changed", func(t *testing.T) {
		t.Parallel()
		project := threeMigrations(t)
		err := check(t, project, compile(t, schemaOf("title Text @unique prio Number @default(1) tag Tag? more Text?", "model Tag { fields { name Text @unique tasks Task[] } }")))
		if want := "sternpost migrate new NAME\n  model Task, field more, schema.stern:1:"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %s", err, want)
		}
		err = check(t, project, compile(t, schemaOf("title Text @unique tag Tag?", "model Tag { fields { name Text @unique tasks Task[] } }")))
		if want := "sternpost migrate new NAME\nthe change needs a decision about existing rows:\n  column app.task.prio would be dropped"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %s", err, want)
		}
		err = check(t, project, compile(t, "/// All.\n"+strings.Replace(schemas[2], "get getTask(id)", "/// One.\nget getTask(id)", 1)))
		if want := "sternpost migrate new NAME\n  "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want %s", err, want)
		}
	})
}

func TestNewWithoutChange(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	before := folder(t, project)
	_, err := migrate.New(before, "again", compile(t, schemas[2]), migrate.PlanOptions{})
	if !errors.Is(err, migrate.ErrNothingChanged) {
		t.Errorf("New = %v, want that nothing has changed", err)
	}
	if after := folder(t, project); len(after.Files) != len(before.Files) {
		t.Errorf("there are %d files, before there were %d", len(after.Files), len(before.Files))
	}
	for _, name := range []string{"", "../x", "a b", "a.sql", "-x", "ä"} {
		var bad *migrate.NameError
		if _, err := migrate.New(before, name, compile(t, schemas[0]), migrate.PlanOptions{}); !errors.As(err, &bad) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}

// TestRebase checks a merge of two branches that both added a migration: the snapshot is that of one of them, or the
// remains of the merge.
func TestRebase(t *testing.T) {
	t.Parallel()
	const tag = "model Tag { fields { name Text } }"
	base, ours, theirs := schemaOf("title Text", ""), schemaOf("title Text", tag), schemaOf("title Text prio Text?", "")
	merged := compile(t, schemaOf("title Text prio Text?", tag))
	for _, byHand := range []bool{false, true} {
		project := t.TempDir()
		dir := filepath.Join(project, migrate.DirName)
		mustNew(t, project, "first", compile(t, base))
		snapshot, err := os.ReadFile(filepath.Join(dir, migrate.SnapshotName))
		if err != nil {
			t.Fatal(err)
		}
		mustNew(t, project, "theirs", compile(t, theirs))
		aside := filepath.Join(t.TempDir(), "002_theirs.sql")
		if err := errors.Join(os.Rename(filepath.Join(dir, "002_theirs.sql"), aside), os.WriteFile(filepath.Join(dir, migrate.SnapshotName), snapshot, 0o600)); err != nil {
			t.Fatal(err)
		}
		mustNew(t, project, "ours", compile(t, ours))
		if byHand {
			edit(t, project, 2, aboveRelease("update app.task set title = 'by hand {' || '{';\n-- {{{ }}} ------ create above / drop below ----\r{{"))
		}
		conflict := []byte("<<<<<<< HEAD\n" + string(snapshot) + "=======\n>>>>>>> theirs\n")
		if err := errors.Join(os.Rename(aside, filepath.Join(dir, "002_theirs.sql")), os.WriteFile(filepath.Join(dir, migrate.SnapshotName), conflict, 0o600)); err != nil {
			t.Fatal(err)
		}

		err = check(t, project, merged)
		if err == nil || !strings.Contains(err.Error(), "the same number") || !strings.Contains(err.Error(), "sternpost migrate rebase 002_theirs.sql") {
			t.Errorf("Check = %v, want that two files have one number", err)
		}
		outcome, err := migrate.Rebase(t.Context(), folder(t, project), "002_ours.sql", merged, migrate.PlanOptions{}, scratchURL(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(outcome.Written) != 1 || outcome.Written[0].Name != "003_ours.sql" || len(outcome.Kept) == 1 != byHand {
			t.Errorf("Rebase = %+v", outcome)
		}
		if text := outcome.Written[0].Text; strings.Contains(text, "-- | update app.task set title") != byHand || strings.Contains(text, "prio") && !byHand {
			t.Errorf("the migration is\n%s", text)
		}
		if err := check(t, project, merged); err != nil {
			t.Errorf("after it, Check = %v", err)
		}
	}
}

// TestRebaseOfSeveralFiles checks that changes of several files move together, for each file that is named.
func TestRebaseOfSeveralFiles(t *testing.T) {
	t.Parallel()
	const tag = "model Tag { fields { name Text } }"
	base, ours, theirs := schemaOf("title Text", ""), schemaOf("title Text prio Number @default(1)", ""), schemaOf("title Text @index", tag)
	merged := compile(t, schemaOf("title Text @index prio Number @default(1)", tag))
	project, aside := t.TempDir(), t.TempDir()
	mustNew(t, project, "first", compile(t, base))
	mustNew(t, aside, "first", compile(t, base))
	mustNew(t, project, "ours", compile(t, ours))
	for _, f := range mustNew(t, aside, "theirs", compile(t, theirs)) {
		if err := os.WriteFile(filepath.Join(project, migrate.DirName, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if problems := folder(t, project).Problems(); len(problems) != 2 {
		t.Errorf("the problems are %q, want that two numbers are given twice", problems)
	}
	outcome, err := migrate.Rebase(t.Context(), folder(t, project), "003_ours_2.sql", merged, migrate.PlanOptions{}, scratchURL(t))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range folder(t, project).Files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "001_first.sql 002_theirs_1.sql 003_theirs_2.sql 004_ours_1.sql 005_ours_2.sql" || len(outcome.Removed) != 2 {
		t.Errorf("the files are %s; %+v", got, outcome)
	}
	if err := check(t, project, merged); err != nil {
		t.Errorf("after it, Check = %v", err)
	}
}

// TestRebaseOfTheSnapshot checks that a missing snapshot is made anew.
func TestRebaseOfTheSnapshot(t *testing.T) {
	t.Parallel()
	project := threeMigrations(t)
	name := filepath.Join(project, migrate.DirName, migrate.SnapshotName)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(name)
	if err := check(t, project, compile(t, schemas[2])); err == nil || !strings.Contains(err.Error(), "migrate rebase") {
		t.Errorf("Check = %v, want what makes the snapshot", err)
	}
	if _, err := migrate.Rebase(t.Context(), folder(t, project), "", compile(t, schemas[2]), migrate.PlanOptions{}, scratchURL(t)); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(name)
	if err != nil || string(after) != string(before) {
		t.Errorf("the snapshot is not what it was (%v)", err)
	}
}

// TestRefusalsOfferAllWays checks what is offered for rows without a value, and what is said of a value for none.
func TestRefusalsOfferAllWays(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	mustNew(t, project, "first", compile(t, changeOf("count Text? label Text?", "", "")))
	for _, c := range []struct{ schema, backfill, want string }{
		{changeOf("count Text? label Text? slug Text", "", ""), "",
			"because of model Post, field slug, schema.stern:1:\n    a default for these rows and new ones? Then write: slug Text @default(…)\n    to give the rows a value: --backfill 'post.slug = …'"},
		{changeOf("count Text? label Text? author Author", "", ""), "", "because of model Post, field author, schema.stern:1:\n    to give the rows a value: --backfill 'post.author_id = …'"},
		{changeOf("count Number? name Text? @renamed(from: label)", "", ""), "",
			"because of model Post, field count, schema.stern:1:\n    another value may be computed from the columns as they are: id, title, count, name, created_at, updated_at\n"},
		{changeOf("count Text? label Text? slug Text", "", ""), "post.slgu = title", `--backfill "post.slgu = title": there is no column app.post.slgu in the schema (did you mean "post.slug"?)`},
		{changeOf("count Text? label Text? slug Text", "", ""), "other.x = 1", `--backfill "other.x = 1": there is no column app.other.x in the schema`},
	} {
		var o migrate.PlanOptions
		if given, err := diff.ParseBackfill(c.backfill); err == nil {
			o.Backfills = []diff.Backfill{given}
		}
		_, err := migrate.New(folder(t, project), "second", compile(t, c.schema), o)
		if err == nil || !strings.Contains(place.ReplaceAllString(err.Error(), "schema.stern:1:"), c.want) {
			t.Errorf("New = %v\nwant %s", err, c.want)
		}
	}
}

// place matches a place in a schema of one line.
var place = regexp.MustCompile(`schema\.stern:1:[0-9]+`)
