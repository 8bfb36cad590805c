package install_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// change is a step from one schema to another.
type change struct {
	name     string
	old, new string
	rows     string // statements that fill the old tables
	refused  string // in the RefusedError; empty means none
	misfit   string // in the RowsError; empty means none
}

// ruled is a schema with rules of a model.
func ruled(rules string) string {
	return "model Post { fields { title Text stars Number? } actions { create add() with (title, stars?) } " + rules +
		" @permission(expression: true, actions: [create]) }"
}

var changes = []change{
	{
		name: "model added",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text", "", "model Tag { fields { name Text @unique } actions { list listTags(name?) } @permission(expression: true, actions: [list]) }"),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "relation added",
		old:  wrap("title Text", "", "model Author { fields { name Text } }"),
		new:  wrap("title Text author Author?", "list listPosts(author.id?)", "model Author { fields { name Text posts Post[] } }"),
		rows: "insert into app.post (title) values ('a'); insert into app.author (name) values ('b')",
	},
	{
		name: "relation to a new model that points back",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text author Author?", "", "model Author { fields { favourite Post? @unique } }"),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "required relation added to an empty table",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text author Author", "", "model Author {}"),
	},
	{
		name:   "required relation added to rows",
		old:    wrap("title Text", "", ""),
		new:    wrap("title Text author Author", "", "model Author {}"),
		rows:   "insert into app.post (title) values ('a')",
		misfit: "author_id",
	},
	{
		name: "rules of the model added to rows that fit, changed, reordered and taken away",
		old:  ruled(`@validate(post.stars > 0) @validate(post.title != "")`),
		new:  ruled(`@validate(post.title != "", message: "no title") @validate(post.stars >= 0) @validate(post.stars < 100)`),
		rows: "insert into app.post (title, stars) values ('a', 1), ('b', null)",
	},
	{
		name:   "rule of the model added to rows that break it",
		old:    ruled(`@validate(post.title != "")`),
		new:    ruled(`@validate(post.title != "") @validate(post.stars > 0, message: "a post has stars")`),
		rows:   "insert into app.post (title, stars) values ('a', 0)",
		misfit: "(table app.post, constraint post_validate_02: @validate, a post has stars)",
	},
	{
		name: "rules of the model taken away",
		old:  ruled(`@validate(post.title != "") @validate(post.stars > 0)`),
		new:  ruled(""),
		rows: "insert into app.post (title, stars) values ('a', 1)",
	},
	{
		name: "optional fields of each kind added",
		old:  wrap("title Text", "", ""),
		new:  wrap("/// Why.\nnote Text? state State? count Number? when Timestamp? tags Text[]? picture File? title Text", "list listPosts(note?, state?, tags?)", "enum State { On Off }"),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "required fields with defaults added",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text count Number @default(3) state State @default(State.On) tags Text[] @default", "", "enum State { On Off }"),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "required field added to an empty table",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text count Number", "", ""),
	},
	{
		name:   "required field added to rows",
		old:    wrap("title Text", "", ""),
		new:    wrap("title Text count Number", "", ""),
		rows:   "insert into app.post (title) values ('a')",
		misfit: "count",
	},
	{
		name:   "index added to a text that is too long for one",
		old:    wrap("title Text", "", ""),
		new:    wrap("title Text @index", "", ""),
		rows:   "insert into app.post (title) select string_agg(md5(i::text), '') from generate_series(1, 200) i",
		misfit: "(table app.post, constraint post_title_idx: index row size",
	},
	{
		name: "unique field added",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text code ID @unique @default", "get getPostByCode(code)", ""),
		rows: "insert into app.post (title) values ('a'), ('b')",
	},
	{
		name: "field made optional",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text?", "", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "field made required, rows have it",
		old:  wrap("title Text?", "", ""),
		new:  wrap("title Text", "", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name:   "field made required, rows lack it",
		old:    wrap("title Text?", "", ""),
		new:    wrap("title Text", "", ""),
		rows:   "insert into app.post (title) values ('a'), (null)",
		misfit: "title",
	},
	{
		name: "relation made required",
		old:  wrap("author Author?", "", "model Author {}"),
		new:  wrap("author Author", "", "model Author {}"),
		rows: "insert into app.author (id) values ('a'); insert into app.post (author_id) values ('a')",
	},
	{
		name: "onDelete changed",
		old:  wrap("author Author?", "", "model Author {}"),
		new:  wrap("author Author? @onDelete(restrict)", "", "model Author {}"),
		rows: "insert into app.author (id) values ('a'); insert into app.post (author_id) values ('a')",
	},
	{
		name: "default added, changed and removed",
		old:  wrap("a Text b Number @default(1) c Text @default(\"x\")", "", ""),
		new:  wrap("a Text @default(\"y\") b Number @default(2) c Text", "", ""),
		rows: "insert into app.post (a) values ('a')",
	},
	{
		name: "enum value added",
		old:  wrap("state State states State[]", "list listPosts(state?)", "enum State { On Off }"),
		new:  wrap("state State states State[]", "list listPosts(state?)", "enum State { On Broken Off }"),
		rows: "insert into app.post (state, states) values ('On', '{On,Off}')",
	},
	{
		name: "enum value removed, no row has it",
		old:  wrap("state State states State[]", "", "enum State { On Broken Off }"),
		new:  wrap("state State states State[]", "", "enum State { On Off }"),
		rows: "insert into app.post (state, states) values ('On', '{On,Off}')",
	},
	{
		name:   "enum value removed, rows have it",
		old:    wrap("state State", "", "enum State { On Broken Off }"),
		new:    wrap("state State", "", "enum State { On Off }"),
		rows:   "insert into app.post (state) values ('Broken')",
		misfit: "post_state_check",
	},
	{
		name: "unique added",
		old:  wrap("title Text count Number", "", ""),
		new:  wrap("title Text @unique count Number", "get getPostByTitle(title)", ""),
		rows: "insert into app.post (title, count) values ('a', 1), ('b', 1)",
	},
	{
		name:   "unique added, rows conflict",
		old:    wrap("title Text", "", ""),
		new:    wrap("title Text @unique", "", ""),
		rows:   "insert into app.post (title) values ('a'), ('a')",
		misfit: "post_title_key",
	},
	{
		name: "unique of a relation added and its index gone",
		old:  wrap("author Author", "", "model Author {}"),
		new:  wrap("author Author @unique", "", "model Author { fields { post Post? } }"),
		rows: "insert into app.author (id) values ('a'); insert into app.post (author_id) values ('a')",
	},
	{
		name: "unique removed",
		old:  wrap("title Text @unique author Author @unique", "", "model Author {}"),
		new:  wrap("title Text author Author", "", "model Author {}"),
		rows: "insert into app.author (id) values ('a'); insert into app.post (title, author_id) values ('a', 'a')",
	},
	{
		name: "composite unique changed",
		old:  strings.Replace(wrap("a Text b Text c Text", "", ""), "@permission", "@unique([a, b]) @permission", 1),
		new:  strings.Replace(wrap("a Text b Text c Text", "", ""), "@permission", "@unique([b, a]) @unique([b, c]) @permission", 1),
		rows: "insert into app.post (a, b, c) values ('a', 'b', 'c')",
	},
	{
		name: "index added and removed",
		old:  wrap("title Text @index count Number", "", ""),
		new:  wrap("title Text count Number @index", "", ""),
		rows: "insert into app.post (title, count) values ('a', 1)",
	},
	{
		name: "action added, changed and removed",
		old:  wrap("title Text", "list listPosts() create createPost() with (title)", ""),
		new:  wrap("title Text", "list listPosts(title?) update updatePost(id) with (title) delete deletePost(id)", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "all actions removed",
		old:  wrap("title Text", "list listPosts() create createPost() with (title)", ""),
		new:  "model Post { fields { title Text } }",
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "rules changed and removed",
		old:  wrap("title Text", "list listPosts() delete deletePost(id)", ""),
		new: "model Post { fields { title Text } actions { get getPost(id) list listPosts() delete deletePost(id) }\n" +
			"@permission(expression: ctx.isAuthenticated, actions: [get, list]) }",
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "descriptions added, changed and removed",
		old:  "/// One.\nmodel Post { fields {\n/// A.\na Text\n/// B.\nb Text\nc Text } actions {\n/// Gets.\nget getPost(id)\nlist listPosts() } }",
		new:  "model Post { fields {\na Text\n/// It's B.\nb Text\n/// C.\nc Text } actions {\nget getPost(id)\n/// Lists.\nlist listPosts() } }",
		rows: "insert into app.post (a, b, c) values ('a', 'b', 'c')",
	},
	{
		name: "fields in another order",
		old:  wrap("a Text b Number", "list listPosts(a?)", ""),
		new:  wrap("b Number a Text", "list listPosts(a?)", ""),
		rows: "insert into app.post (a, b) values ('a', 1)",
	},
	{
		name: "models in another order",
		old:  wrap("title Text author Author?", "", "model Author {} model Tag {}"),
		new:  "model Tag {} model Author {}\n" + wrap("title Text author Author?", "", ""),
		rows: "insert into app.author (id) values ('a'); insert into app.post (title, author_id) values ('a', 'a')",
	},
	{
		name: "a name that passes from one constraint to another",
		old:  "model Foo { fields { barBaz Text @unique } }",
		new:  "model FooBar { fields { baz Text @unique } } model Foo { fields { barBaz Text @unique } }",
		rows: "insert into app.foo (bar_baz) values ('a')",
	},
	{
		name: "a table that takes the name of a constraint",
		old:  "model Foo { fields { bar Text @unique } }",
		new:  "model FooBarKey {} model Foo { fields { bar Text @unique } }",
		rows: "insert into app.foo (bar) values ('a')",
	},
	{
		name: "a table that takes the name of a primary key",
		old:  "model Foo { fields { bar Text } } model Child { fields { foo Foo } }",
		new:  "model Foo { fields { bar Text } } model Child { fields { foo Foo } } model FooPkey {}",
		rows: "insert into app.foo (id, bar) values ('a', 'a'); insert into app.child (foo_id) values ('a')",
	},
	{
		name: "identity pointed to",
		old:  wrap("title Text", "", ""),
		new:  wrap("title Text owner Identity?", "", ""),
		rows: "insert into app.identity (email) values ('a'); insert into app.post (title) values ('a')",
	},
	{
		name:    "field removed",
		old:     wrap("title Text subtitle Text?", "", ""),
		new:     wrap("title Text", "", ""),
		rows:    "insert into app.post (title, subtitle) values ('a', 'b')",
		refused: "column app.post.subtitle would be dropped with its values",
	},
	{
		name:    "relation removed",
		old:     wrap("title Text author Author?", "", "model Author {}"),
		new:     wrap("title Text", "", "model Author {}"),
		rows:    "insert into app.author (id) values ('x'); insert into app.post (title, author_id) values ('a', 'x')",
		refused: "column app.post.author_id would be dropped with its values",
	},
	{
		name:    "type changed",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Number", "", ""),
		rows:    "insert into app.post (title) values ('1')",
		refused: "column app.post.title would change its type from text to bigint",
	},
	{
		name:    "a Password that would be shown",
		old:     wrap("title Text pin Password?", "", ""),
		new:     wrap("title Text pin Text?", "", ""),
		rows:    "insert into app.post (title, pin) values ('a', 'hash')",
		refused: "column app.post.pin would no longer be a Password",
	},
	{
		name:    "a Secret made a Password",
		old:     wrap("title Text pin Secret?", "", ""),
		new:     wrap("title Text pin Password?", "", ""),
		rows:    "insert into app.post (title, pin) values ('a', 'x1:')",
		refused: "column app.post.pin would no longer be a Secret",
	},
	{
		name: "a Secret that holds nothing made a Text",
		old:  wrap("title Text pin Secret?", "", ""),
		new:  wrap("title Text pin Text?", "", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name:    "made an array",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Text[]", "", ""),
		rows:    "insert into app.post (title) values ('1')",
		refused: "column app.post.title would change its type from text to text[]",
	},
	{
		name:    "model removed",
		old:     wrap("title Text author Author?", "", "model Author {} model Tag {}"),
		new:     wrap("title Text author Author?", "", "model Author {}"),
		rows:    "insert into app.tag (id) values ('a')",
		refused: "table app.tag would be dropped with all its rows",
	},
	{
		name: "number widened to decimal",
		old:  wrap("title Text count Number @default(3) @unique counts Number[]", "list listPosts(count?)", ""),
		new:  wrap("title Text count Decimal @default(3) @unique counts Decimal[]", "list listPosts(count?)", ""),
		rows: "insert into app.post (title, count, counts) values ('a', 9007199254740991, '{1,-2}')",
	},
	{
		name: "field removed that holds nothing",
		old:  wrap("title Text subtitle Text? @unique", "list listPosts(subtitle?)", ""),
		new:  wrap("title Text", "list listPosts()", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "file removed that holds nothing",
		old:  wrap("title Text cover File? papers File[]?", "", "model Author { fields { portrait File? } }"),
		new:  wrap("title Text", "", "model Author { fields { portrait File? papers File[]? } }"),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name: "required field removed from an empty table",
		old:  wrap("title Text count Number", "", "") + " model Tag { fields { a Text b Text } @unique([a, b]) @index(b, a) }",
		new:  wrap("title Text", "", "") + " model Tag { fields { a Text } }",
	},
	{
		name: "relation removed that links nothing",
		old:  wrap("title Text author Author?", "list listPosts(author.id?)", "model Author {}"),
		new:  wrap("title Text", "list listPosts()", "model Author {}"),
		rows: "insert into app.author (id) values ('x'); insert into app.post (title) values ('a')",
	},
	{
		name: "type changed of what holds nothing",
		old:  wrap(`title Text note Text? @unique kind Kind? @default(Kind.A) day Text? @default("x")`, "list listPosts(note?, kind?)", "enum Kind { A B }"),
		new:  wrap(`title Text note Number? @unique kind Date? day Number? @default(7)`, "list listPosts(note?, kind?)", "enum Kind { A B }"),
		rows: "insert into app.post (title, kind, day) values ('a', null, null)",
	},
	{
		name: "made an array on an empty table",
		old:  wrap("title Text tags Text", "", ""),
		new:  wrap("title Text tags Text[]", "", ""),
	},
	{
		name: "models removed that hold nothing and point to each other",
		old:  wrap("title Text author Author?", "", "model Author { fields { boss Author? tag Tag? } } model Tag { fields { author Author? } }"),
		new:  wrap("title Text", "", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name:    "much at once",
		old:     wrap("title Text subtitle Text?", "", "model Author {}"),
		new:     wrap("title Text? count Number @default", "list listPosts()", ""),
		rows:    "insert into app.author (id) values ('x'); insert into app.post (title, subtitle) values ('a', 'b')",
		refused: "table app.author would be dropped with all its rows\n  column app.post.subtitle",
	},
}

// TestChange installs the old schema, fills it, and installs the new one over it.
// The outcome must be what a fresh installation of the new one gives, or that
// nothing has changed at all.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := pgtest.New(t, pgtest.Options{}).Owner(t)
			mustInstall(t, conn, c.old)
			if c.rows != "" {
				mustExec(t, conn, c.rows)
			}
			rows, facts := contents(t, conn), catalog(t, conn)

			outcome, err := install.Install(t.Context(), conn, compile(t, c.new))
			if c.refused != "" || c.misfit != "" {
				checkRefused(t, c, err)
				checkCatalog(t, catalog(t, conn), facts)
				checkKept(t, rows, contents(t, conn))
				if count, newest := releases(t, conn); count != 1 || newest != 1 {
					t.Errorf("there are %d releases, the newest %d, want 1", count, newest)
				}
				mustInstallNothing(t, conn, c.old)
				return
			}
			if err != nil {
				t.Fatalf("from\n%s\nto\n%s\n%v", c.old, c.new, err)
			}
			if !outcome.Changed || outcome.Release != 2 {
				t.Errorf("got %+v, want release 2, changed", outcome)
			}
			checkKept(t, rows, contents(t, conn))
			checkCatalog(t, catalog(t, conn), fresh(t, c.new))
			mustInstallNothing(t, conn, c.new)
			checkServing(t, conn)
		})
	}
}

func checkRefused(t *testing.T, c change, err error) {
	t.Helper()
	var refused *install.RefusedError
	var misfit *install.RowsError
	switch {
	case c.refused != "":
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("from\n%s\nto\n%s\ngot %v, want a RefusedError that says %q", c.old, c.new, err, c.refused)
		}
	case !errors.As(err, &misfit) || !strings.Contains(err.Error(), c.misfit):
		t.Errorf("from\n%s\nto\n%s\ngot %v, want a RowsError about %s", c.old, c.new, err, c.misfit)
	}
}

// fresh is the catalog after a first installation.
func fresh(t testing.TB, schema string) []string {
	t.Helper()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, schema)
	return catalog(t, conn)
}

// checkServing fails if a server would refuse to serve the database.
func checkServing(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	mustExec(t, conn, "set role sternpost_server")
	rows, err := conn.Query(t.Context(), "select * from platform.serving_faults()")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		t.Errorf("a server would refuse to serve the outcome:\n%s", strings.Join(faults, "\n"))
	}
	mustExec(t, conn, "reset role")
}
