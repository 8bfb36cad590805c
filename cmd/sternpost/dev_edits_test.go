package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// editedSchema is the schema of the edits below.
const editedSchema = `model Task {
  fields {
    title Text
    prio Number @default(1)
    price Decimal @default(1)
    code Text @default("7")
    remark Text @default("none")
    note Text?
    state State @default(State.Open)
    pin Password?
  }
  actions {
    list listTasks()
  }
  @validate(task.title != "")
  @permission(expression: true, actions: [list])
}

model Label {
  fields {
    name Text
  }
}

enum State {
  Open
  Broken
  Done
}
`

const editedRows = `
insert into app.task (id, title, prio, price, code, remark, state, pin) values
  ('a', 'one', 1, 1.5, '7', 'none', 'Broken', 'a hash'),
  ('b', 'one', 2, 2, '8', 'much', 'Open', null);
insert into app.label (name) values ('red'), ('blue')`

// edit is a change of the schema, with dev's output without a terminal.
type edit struct {
	name     string
	old, new string   // replaced in pairs of lines, separated by |
	says     []string // in this order
	refused  bool     // whether the installed release stays
	asks     string   // a query after the change
	answers  string
	back     []string // what dev says when the files are put back; empty means that nothing has changed
	undo     string   // statements that make up for what putting back cannot
}

var edits = []edit{
	{
		name: "a field added",
		old:  "    note Text?", new: "    note Text?\n    extra Text?",
		says: []string{"installed in"},
		asks: "select count(extra)::text from app.task", answers: "0",
		back: []string{"dropped column app.task.extra, which held nothing", "installed in"},
	},
	{
		name: "a computed field added",
		old:  "    note Text?", new: "    note Text?\n    twice Number @computed(task.prio * 2)",
		says: []string{"installed in"},
		asks: "select count(twice)::text from app.task where false", answers: "0",
		back: []string{"dropped column app.task.twice, which was computed", "installed in"},
	},
	{
		name: "a field removed",
		old:  "    prio Number @default(1)\n", new: "",
		says: []string{
			`column app.task.prio would be dropped with its values (2 values), for example "1", "2"`,
			"because of model Task, field prio is gone, schema.stern:1:7",
			"Nothing was changed, and the previous release is still served",
			"stop dev and run this to go on:\n  sternpost dev --allow drop:task.prio ",
		},
		refused: true,
	},
	{
		name: "a Password removed, whose values nobody is shown",
		old:  "    pin Password?\n", new: "",
		says:    []string{"column app.task.pin would be dropped with its values (1 value)\n", "--allow drop:task.pin "},
		refused: true,
	},
	{
		name: "a field renamed without a word",
		old:  "    title Text|task.title !=", new: "    headline Text|task.headline !=",
		says: []string{
			`column app.task.title would be dropped with its values (2 values), for example "one", "one"`,
			"perhaps a rename? Then write: headline Text @renamed(from: title)",
			"column app.task.headline would be required, and the rows that are there have no value for it (2 rows)",
			"--allow drop:task.title --backfill 'task.headline = …' ",
		},
		refused: true,
	},
	{
		name: "a field renamed",
		old:  "    title Text|task.title !=", new: "    headline Text @renamed(from: title)|task.headline !=",
		says: []string{"renamed column app.task.title to headline", "installed in"},
		asks: "select string_agg(headline, ' ') from app.task", answers: "one one",
		back: []string{"perhaps a rename? Then write: title Text @renamed(from: headline)"},
		undo: "rename",
	},
	{
		name: "a model renamed without a word",
		old:  "model Label {", new: "model Tag {",
		says: []string{
			"table app.label would be dropped with all its rows (2 rows)",
			"perhaps a rename? Then write: model Tag { … @renamed(from: Label) }",
			"--allow drop:label ",
		},
		refused: true,
	},
	{
		name: "a Number made a Text, and a Number again",
		old:  "prio Number @default(1)", new: `prio Text @default("1")`,
		says: []string{"changed the type of column app.task.prio from bigint to text", "installed in"},
		asks: "select string_agg(prio || '!', ' ' order by id) from app.task", answers: "1! 2!",
		back: []string{"changed the type of column app.task.prio from text to bigint", "installed in"},
	},
	{
		name: "a Text made a Number, all values read as one",
		old:  `code Text @default("7")`, new: "code Number @default(7)",
		says: []string{"changed the type of column app.task.code from text to bigint", "installed in"},
		asks: "select sum(code)::text from app.task", answers: "15",
		back: []string{"changed the type of column app.task.code from bigint to text", "installed in"},
	},
	{
		name: "a Text made a Number",
		old:  `remark Text @default("none")`, new: "remark Number @default(7)",
		says: []string{
			"column app.task.remark would change its type from text to bigint, and values that cannot be read as one would be lost (2 values), " +
				`for example "none", "much"`,
			"--allow type:task.remark ",
		},
		refused: true,
	},
	{
		name: "a Decimal made a Number",
		old:  "price Decimal @default(1)", new: "price Number @default(1)",
		says: []string{
			`column app.task.price would change its type from numeric to bigint, and values would be cut off (1 value), for example "1.5"`,
			"--allow type:task.price ",
		},
		refused: true,
	},
	{
		name: "a field made required that rows lack",
		old:  "    note Text?", new: "    note Text",
		says: []string{
			"column app.task.note would be required, and rows have no value for it (2 rows)",
			"--backfill 'task.note = …' ",
		},
		refused: true,
	},
	{
		name: "a value of an enum removed that rows hold",
		old:  "  Broken\n", new: "",
		says: []string{
			`value Broken of column app.task.state is gone from the enum, and rows hold it (1 value), for example "Broken"`,
			"--allow enum:task.state.Broken ",
		},
		refused: true,
	},
	{
		name: "a model removed that has rows",
		old:  "model Label {\n  fields {\n    name Text\n  }\n}\n", new: "",
		says: []string{"table app.label would be dropped with all its rows (2 rows)\n    because of model Label is gone", "--allow drop:label "},

		refused: true,
	},
	{
		name: "@unique over duplicates",
		old:  "    title Text\n", new: "    title Text @unique\n",
		says: []string{
			`key task_title_key on table app.task would be broken by rows that have the same values (2 values), for example "one", "one"`,
			"Undo the change in the schema, or change the rows",
		},
		refused: true,
	},
}

// TestDevEdits makes edits that once could not be undone, and puts the files back after
// each: that always works, and loses nothing.
func TestDevEdits(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": editedSchema})
	schema := filepath.Join(dir, "schema.stern")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	p := command{
		args: []string{"dev", "--port", program.FreePort(t), dir},
		env:  []string{"DATABASE_URL=" + db.OwnerURL()},
	}.start(t)
	at := p.Await(t, 0, "Ctrl-C stops everything")
	conn := db.Owner(t)
	mustRun(t, conn, editedRows)
	rows := "select string_agg(task::text, ' ' order by id) from app.task"
	before := askOne(t, conn, rows)

	for _, e := range edits {
		changed := editedSchema
		olds, news := strings.Split(e.old, "|"), strings.Split(e.new, "|")
		for i := range olds {
			if !strings.Contains(changed, olds[i]) {
				t.Fatalf("%s: the schema has no %q", e.name, olds[i])
			}
			changed = strings.Replace(changed, olds[i], news[i], 1)
		}
		from := at
		replaceFile(t, schema, changed)
		for _, want := range e.says {
			at = p.Await(t, at, want)
		}
		at = p.Await(t, at, "\n")
		t.Logf("%s: dev says:\n%s", e.name, strings.TrimSpace(p.Out.String()[from:at]))
		if e.refused {
			if got := askOne(t, conn, rows); got != before {
				t.Errorf("%s: the rows are\n%s\nbefore they were\n%s", e.name, got, before)
			}
		} else if got := askOne(t, conn, e.asks); got != e.answers {
			t.Errorf("%s: %s: got %q, want %q", e.name, e.asks, got, e.answers)
		}

		replaceFile(t, schema, editedSchema)
		if e.refused {
			at = p.Await(t, at, "nothing has changed since release")
		}
		for _, want := range e.back {
			at = p.Await(t, at, want)
		}
		if e.undo != "" {
			replaceFile(t, schema, strings.Replace(editedSchema, "    title Text\n", "    title Text @renamed(from: headline)\n", 1))
			at = p.Await(t, at, "renamed column app.task.headline to title")
			replaceFile(t, schema, editedSchema)
		}
		if got := askOne(t, conn, "select count(*) || ' ' || (select count(*) from app.label) from app.task"); got != "2 2" {
			t.Errorf("%s: afterwards there are %s rows, want 2 2", e.name, got)
		}
		before = askOne(t, conn, rows)
	}
	if err := p.End(t, os.Interrupt); err != nil {
		t.Errorf("after Ctrl-C: %v, want exit 0", err)
	}
}

func mustRun(t *testing.T, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

func askOne(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	var answer string
	if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}
