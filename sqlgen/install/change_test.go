package install_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// change is a step from one schema to another.
type change struct {
	name     string
	old, new string
	rows     string // statements that fill the old tables
	refused  string // in the RefusedError; empty means none
	misfit   string // in the RowsError; empty means none
	same     bool   // whether nothing is to be done

	allow     []string
	backfills []diff.Backfill
	asks      string // a query after the change, for values that are not kept under their old name
	answers   string // its one text
}

// storedFiles stores the contents of two files, which no row names yet. askHolders counts the fields that name each,
// and says whether it is to be deleted.
const (
	storedFiles = "insert into platform.file (key) values ('kept'), ('dropped'); "
	askHolders  = "select string_agg(concat_ws(' ', key, holders, (released_at is not null)::text), ', ' order by key) from platform.file"
)

// storedFile is the value of a field that names one of them.
func storedFile(key string) string {
	return `'{"key":"` + key + `","filename":"a.txt","contentType":"text/plain","size":1}'::jsonb`
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
		name:    "inputs that come to be required, so that the function takes them one by one",
		old:     wrap("title Text at Timestamp?", "get find(id, title?, at?)", ""),
		new:     wrap("title Text at Timestamp?", "get find(id, title, at)", ""),
		asks:    "select string_agg(oid::regprocedure::text, ' ') from pg_proc where pronamespace = 'api'::regnamespace and proname = 'find'",
		answers: "api.find(text,text,timestamp with time zone,text,text)",
	},
	{
		name:    "inputs that come to be optional, so that the function takes the body",
		old:     wrap("title Text at Timestamp?", "get find(id, title, at)", ""),
		new:     wrap("title Text at Timestamp?", "get find(id, title?, at?)", ""),
		asks:    "select string_agg(oid::regprocedure::text, ' ') from pg_proc where pronamespace = 'api'::regnamespace and proname = 'find'",
		answers: "api.find(jsonb,jsonb)",
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
		name:    "required relation added to rows",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Text author Author", "", "model Author {}"),
		rows:    "insert into app.post (title) values ('a')",
		refused: "column app.post.author_id would be required, and the rows that are there have no value for it (1 row)",
	},
	{
		name: "rules of the model added to rows that fit, changed, reordered and taken away",
		old:  ruled(`@validate(post.stars > 0) @validate(post.title != "")`),
		new:  ruled(`@validate(post.title != "", message: "no title") @validate(post.stars >= 0) @validate(post.stars < 100)`),
		rows: "insert into app.post (title, stars) values ('a', 1), ('b', null)",
	},
	{
		name:    "rule of the model added to rows that break it",
		old:     ruled(`@validate(post.title != "")`),
		new:     ruled(`@validate(post.title != "") @validate(post.stars > 0, message: "a post has stars")`),
		rows:    "insert into app.post (title, stars) values ('a', 0)",
		refused: "constraint post_validate_02 on table app.post would be broken by rows (1 row)",
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
		name:    "required field added to rows",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Text count Number", "", ""),
		rows:    "insert into app.post (title) values ('a')",
		refused: "column app.post.count would be required, and the rows that are there have no value for it (1 row)",
	},
	{
		name:   "index added to a text that is too long for one",
		old:    wrap("title Text", "", ""),
		new:    wrap("title Text @index", "", ""),
		rows:   "insert into app.post (title) select string_agg(md5(i::text), '') from generate_series(1, 200) i",
		misfit: "(table app.post, constraint post_title_idx: index row size",
	},
	{
		name:    "texts that become dates, where there is a default for those that are none",
		old:     wrap("days Text[]", "", ""),
		new:     wrap("days Date[] @default", "", ""),
		rows:    "insert into app.post (id, days) values ('1', '{2026-02-28}'), ('2', '{2026-02-28,soon}'), ('3', '{}')",
		allow:   []string{"type:post.days"},
		asks:    "select string_agg(days::text, ' ' order by id) from app.post",
		answers: "{2026-02-28} {} {}",
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
		name:    "field made required, rows lack it",
		old:     wrap("title Text?", "", ""),
		new:     wrap("title Text", "", ""),
		rows:    "insert into app.post (title) values ('a'), (null)",
		refused: "column app.post.title would be required, and rows have no value for it (1 row)",
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
		name:    "enum value removed, rows have it",
		old:     wrap("state State", "", "enum State { On Broken Off }"),
		new:     wrap("state State", "", "enum State { On Off }"),
		rows:    "insert into app.post (state) values ('Broken')",
		refused: "value Broken of column app.post.state is gone from the enum, and rows hold it (1 value), for example \"Broken\"",
	},
	{
		name: "unique added",
		old:  wrap("title Text count Number", "", ""),
		new:  wrap("title Text @unique count Number", "get getPostByTitle(title)", ""),
		rows: "insert into app.post (title, count) values ('a', 1), ('b', 1)",
	},
	{
		name:    "unique added, rows conflict",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Text @unique", "", ""),
		rows:    "insert into app.post (title) values ('a'), ('a')",
		refused: "key post_title_key on table app.post would be broken by rows that have the same values (2 values), for example \"a\", \"a\"",
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
		same: true,
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
		rows:    "insert into app.post (title) values ('1'), ('one'), ('007')",
		refused: "column app.post.title would change its type from text to bigint, and values that cannot be read as one would be lost (2 values), for example ",
	},
	{
		name:    "a Password that would be shown",
		old:     wrap("title Text pin Password?", "", ""),
		new:     wrap("title Text pin Text?", "", ""),
		rows:    "insert into app.post (title, pin) values ('a', 'hash')",
		refused: "column app.post.pin would change its type from Password to text, and its values would be lost (1 value)",
	},
	{
		name:    "a Secret made a Password",
		old:     wrap("title Text pin Secret?", "", ""),
		new:     wrap("title Text pin Password?", "", ""),
		rows:    "insert into app.post (title, pin) values ('a', 'x1:')",
		refused: "column app.post.pin would change its type from Secret to Password, and its values would be lost (1 value)",
	},
	{
		name: "a Secret that holds nothing made a Text",
		old:  wrap("title Text pin Secret?", "", ""),
		new:  wrap("title Text pin Text?", "", ""),
		rows: "insert into app.post (title) values ('a')",
	},
	{
		name:    "made no array any more",
		old:     wrap("title Text[]", "", ""),
		new:     wrap("title Text", "", ""),
		rows:    "insert into app.post (title) values ('{a}'), ('{a,b}'), ('{}')",
		refused: "column app.post.title would change its type from text[] to text, and values would be cut off (2 values)",
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
		name:    "field renamed, with all that depends on it",
		old:     wrap("title Text @unique count Number @index", "list listPosts(title?, count?)", ""),
		new:     wrap("headline Text @unique @renamed(from: title) rank Number @index @renamed(from: count)", "list listPosts(headline?, rank?)", ""),
		rows:    "insert into app.post (title, count) values ('a', 1), ('b', 2)",
		asks:    "select string_agg(headline || rank, ' ' order by headline) from app.post",
		answers: "a1 b2",
	},
	{
		name:    "relation renamed",
		old:     wrap("title Text writer Author?", "list listPosts(writer.id?)", "model Author {}"),
		new:     wrap("title Text author Author? @renamed(from: writer)", "list listPosts(author.id?)", "model Author {}"),
		rows:    "insert into app.author (id) values ('x'); insert into app.post (title, writer_id) values ('a', 'x')",
		asks:    "select author_id from app.post",
		answers: "x",
	},
	{
		name: "model renamed, with rows that point to it",
		old: wrap("title Text @unique body Text @index files File[]?", "list listPosts(title?)",
			"model Note { fields { post Post  text Text } actions { list listNotes(post.id?) } @permission(expression: note.post.title != \"\", actions: [list]) }"),
		new: strings.ReplaceAll(wrap("title Text @unique body Text @index files File[]?", "list listPosts(title?)",
			"model Note { fields { post Article  text Text } actions { list listNotes(post.id?) } @permission(expression: note.post.title != \"\", actions: [list]) }"),
			"model Post {", "model Article {\n  @renamed(from: Post)\n"),
		rows:    "insert into app.post (id, title, body) values ('p', 'a', 'b'); insert into app.note (post_id, text) values ('p', 'n')",
		asks:    "select article.title || note.text from app.note join app.article on article.id = note.post_id",
		answers: "an",
	},
	{
		name:    "model renamed whose table takes the name of another's key",
		old:     "model Foo { fields { bar Text @unique } } model Baz { fields { a Text } }",
		new:     "model Foo { fields { baz Text @unique @renamed(from: bar) } } model FooBarKey { fields { a Text } @renamed(from: Baz) }",
		rows:    "insert into app.foo (bar) values ('x'); insert into app.baz (a) values ('y')",
		asks:    "select foo.baz || foo_bar_key.a from app.foo, app.foo_bar_key",
		answers: "xy",
	},
	{
		name:    "enum value renamed, in rows, arrays and defaults",
		old:     wrap("title Text state State @default(State.Draft) states State[]", "list listPosts(state?)", "enum State { Draft Public }"),
		new:     wrap("title Text state State @default(State.Sketch) states State[]", "list listPosts(state?)", "enum State { Sketch @renamed(from: Draft) Public }"),
		rows:    "insert into app.post (title, states, updated_at) values ('a', '{Draft,Public}', '2020-01-01')",
		asks:    "select state || states::text || (updated_at > '2020-01-02') from app.post",
		answers: "Sketch{Sketch,Public}false",
	},
	{
		name: "a @renamed that has had its effect",
		old:  wrap("headline Text", "", ""),
		new:  wrap("headline Text @renamed(from: title)", "", ""),
		rows: "insert into app.post (headline) values ('a')",
		same: true,
	},
	{
		name:    "field removed, and allowed",
		old:     wrap("title Text subtitle Text?", "", ""),
		new:     wrap("title Text", "", ""),
		rows:    "insert into app.post (title, subtitle) values ('a', 'b')",
		allow:   []string{"drop:post.subtitle"},
		asks:    "select title from app.post",
		answers: "a",
	},
	{
		name: "field of files removed, and allowed",
		old:  wrap("title Text photo File? sketches File[]", "", ""),
		new:  wrap("title Text photo File?", "", ""),
		rows: storedFiles + "insert into app.post (title, photo, sketches) values ('a', " + storedFile("kept") + ", array[" + storedFile("dropped") + "]::jsonb[])",

		allow:   []string{"drop:post.sketches"},
		asks:    askHolders,
		answers: "dropped 0 true, kept 1 false",
	},
	{
		name: "model with files removed, and allowed",
		old:  wrap("photo File?", "", "model Tag { fields { photo File } }"),
		new:  wrap("photo File?", "", ""),
		rows: storedFiles + "insert into app.post (photo) values (" + storedFile("kept") + "); insert into app.tag (photo) values (" + storedFile("dropped") + ")",

		allow:   []string{"drop:tag"},
		asks:    askHolders,
		answers: "dropped 0 true, kept 1 false",
	},
	{
		name:    "field removed beside one of its type",
		old:     wrap("title Text subtitle Text?", "", ""),
		new:     wrap("title Text lead Text?", "", ""),
		rows:    "insert into app.post (title, subtitle) values ('a', 'b')",
		refused: "perhaps a rename? Then write: lead Text? @renamed(from: subtitle)",
	},
	{
		name:    "model removed beside one like it",
		old:     wrap("title Text", "", "model Tag { fields { name Text } }"),
		new:     wrap("title Text", "", "model Label { fields { name Text } }"),
		rows:    "insert into app.tag (name) values ('a')",
		refused: "perhaps a rename? Then write: model Label { … @renamed(from: Tag) }",
	},
	{
		name:    "model removed, and allowed",
		old:     wrap("title Text", "", "model Tag { fields { name Text } }"),
		new:     wrap("title Text", "", ""),
		rows:    "insert into app.tag (name) values ('a')",
		allow:   []string{"drop:tag"},
		asks:    "select count(*)::text from app.post",
		answers: "0",
	},
	{
		name:      "required field added to rows, with a value for them",
		old:       wrap("title Text", "", ""),
		new:       wrap("title Text slug Text @unique", "", ""),
		rows:      "insert into app.post (title) values ('A b'), ('C')",
		backfills: []diff.Backfill{{Table: "post", Column: "slug", Value: "lower(replace(title, ' ', '-'))"}},
		asks:      "select string_agg(slug, ' ' order by slug) from app.post",
		answers:   "a-b c",
	},
	{
		name:      "field made required, with a value for rows that lack it",
		old:       wrap("title Text?", "", ""),
		new:       wrap("title Text", "", ""),
		rows:      "insert into app.post (title) values ('a'), (null)",
		backfills: []diff.Backfill{{Table: "post", Column: "title", Value: "'untitled' -- for now"}},
		asks:      "select string_agg(title, ' ' order by title) from app.post",
		answers:   "a untitled",
	},
	{
		name:    "text made a number, all rows read as one",
		old:     wrap("title Text @default(\"7\") @unique", "list listPosts(title?)", ""),
		new:     wrap("title Number @default(7) @unique", "list listPosts(title?)", ""),
		rows:    "insert into app.post (title) values ('1'), ('-20')",
		asks:    "select string_agg((title + 1)::text, ' ' order by title) from app.post",
		answers: "-19 2",
	},
	{
		name:    "text made a number, what does not read as one is lost, and allowed",
		old:     wrap("title Text?", "", ""),
		new:     wrap("title Number?", "", ""),
		rows:    "insert into app.post (title) values ('1'), ('one'), (null)",
		allow:   []string{"type:post.title"},
		asks:    "select count(*) || ' ' || sum(title) from app.post",
		answers: "3 1",
	},
	{
		name:      "text made a number, with how to read it",
		old:       wrap("title Text", "", ""),
		new:       wrap("title Number", "", ""),
		rows:      "insert into app.post (title) values ('1'), ('one')",
		backfills: []diff.Backfill{{Table: "post", Column: "title", Value: "case title when 'one' then 1 else title::bigint end + 1"}},
		asks:      "select sum(title)::text from app.post",
		answers:   "4",
	},
	{
		name:    "number made a text",
		old:     wrap("count Number @default(1) counts Number[]", "list listPosts(count?)", ""),
		new:     wrap("count Text @default(\"1\") counts Text[]", "list listPosts(count?)", ""),
		rows:    "insert into app.post (count, counts) values (7, '{1,2}')",
		asks:    "select count || counts::text from app.post",
		answers: "7{1,2}",
	},
	{
		name:    "made an array",
		old:     wrap("title Text", "", ""),
		new:     wrap("title Text[]", "", ""),
		rows:    "insert into app.post (title) values ('1')",
		asks:    "select title::text from app.post",
		answers: "{1}",
	},
	{
		name:    "enum value removed that rows hold, and allowed",
		old:     wrap("state State? states State[]", "", "enum State { On Broken Off }"),
		new:     wrap("state State? states State[]", "", "enum State { On Off }"),
		rows:    "insert into app.post (state, states) values ('Broken', '{On,Broken}'), ('On', '{}')",
		allow:   []string{"enum:post.state.Broken", "enum:post.states.Broken"},
		asks:    "select string_agg(coalesce(state, '-') || states::text, ' ' order by state) from app.post",
		answers: "On{} -{On}",
	},
	{
		name:      "enum value removed that rows hold, with another for them",
		old:       wrap("state State", "", "enum State { On Broken Off }"),
		new:       wrap("state State", "", "enum State { On Off }"),
		rows:      "insert into app.post (state) values ('Broken'), ('On')",
		backfills: []diff.Backfill{{Table: "post", Column: "state", Value: "'Off'"}},
		asks:      "select string_agg(state, ' ' order by state) from app.post",
		answers:   "Off On",
	},
	{
		name:    "text made an enum",
		old:     wrap("state Text", "", "enum State { On Off }"),
		new:     wrap("state State", "", "enum State { On Off }"),
		rows:    "insert into app.post (state) values ('Broken'), ('On')",
		refused: "column app.post.state would be an enum, and rows hold what is not one of its values (1 value), for example \"Broken\"",
	},
	{
		name:    "moment made an enum",
		old:     wrap("day Date?", "", "enum State { On Off }"),
		new:     wrap("day State?", "", "enum State { On Off }"),
		rows:    "insert into app.post (day) values ('2027-03-01'), (null)",
		refused: "column app.post.day would change its type from date to text, and values that cannot be read as one would be lost (1 value)",
	},
	{
		name:    "moment made an enum, and allowed",
		old:     wrap("day Date?", "", "enum State { On Off }"),
		new:     wrap("day State?", "", "enum State { On Off }"),
		rows:    "insert into app.post (day) values ('2027-03-01'), (null)",
		allow:   []string{"type:post.day"},
		asks:    "select count(*)::text || count(day) from app.post",
		answers: "20",
	},
	{
		name:    "enum made an array, while a value gets another name",
		old:     wrap("state State", "", "enum State { Draft Public }"),
		new:     wrap("state State[]", "", "enum State { Sketch @renamed(from: Draft) Public }"),
		rows:    "insert into app.post (state) values ('Draft'), ('Public')",
		asks:    "select string_agg(state::text, ' ' order by state desc) from app.post",
		answers: "{Sketch} {Public}",
	},
	{
		name:      "number made a required text, with a value for rows that lack it",
		old:       wrap("count Number?", "", ""),
		new:       wrap("count Text", "", ""),
		rows:      "insert into app.post (count) values (1), (null)",
		backfills: []diff.Backfill{{Table: "post", Column: "count", Value: "coalesce(count::text, 'none')"}},
		asks:      "select string_agg(count, ' ' order by count) from app.post",
		answers:   "1 none",
	},
	{
		name: "reference to another model",
		old:  wrap("author Author?", "", "model Author {} model Writer {}"),
		new:  wrap("author Writer?", "", "model Author {} model Writer {}"),
		rows: "insert into app.author (id) values ('a'); insert into app.post (author_id) values ('a')",
		refused: "reference post_author_id_fkey on table app.post would be broken by rows that point to nothing in app.writer (1 value), " +
			"for example \"a\"",
	},
	{
		name:    "much at once",
		old:     wrap("title Text subtitle Text?", "", "model Author {}"),
		new:     wrap("title Text? count Number @default", "list listPosts()", ""),
		rows:    "insert into app.author (id) values ('x'); insert into app.post (title, subtitle) values ('a', 'b')",
		refused: "table app.author would be dropped with all its rows (1 row)\n    because of model Author is gone\n  column app.post.subtitle",
	},
}

// TestChange installs the old schema, fills it, and installs the new one over it. The outcome must equal a fresh
// installation of the new one, or nothing may have changed at all.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(changes, computedChanges, sequenceChanges, sequencePerChanges) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := pgtest.New(t, pgtest.Options{}).Owner(t)
			mustInstall(t, conn, c.old)
			if c.rows != "" {
				mustExec(t, conn, c.rows)
			}
			rows, facts := contents(t, conn), catalog(t, conn)

			outcome, err := install.InstallWith(t.Context(), conn, compile(t, c.new), install.Options{Allow: c.allow, Backfills: c.backfills})
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
			if outcome.Changed == c.same {
				t.Errorf("got %+v, want another release: %v", outcome, !c.same)
			}
			if len(outcome.Plan.Unused) > 0 {
				t.Errorf("allowed for nothing: %q", outcome.Plan.Unused)
			}
			if c.asks == "" {
				checkKept(t, rows, contents(t, conn))
			} else {
				var got string
				if err := conn.QueryRow(t.Context(), c.asks).Scan(&got); err != nil || got != c.answers {
					t.Errorf("%s: got %q, %v, want %q", c.asks, got, err, c.answers)
				}
			}
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

// TestBadBackfill gives a value that cannot be computed: that is the user's error, and nothing changes.
func TestBadBackfill(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, wrap("title Text", "", ""))
	mustExec(t, conn, "insert into app.post (title) values ('a')")
	facts := catalog(t, conn)
	const open = "the expression does not end: a bracket or a quote is open"
	for value, want := range map[string]string{
		"lower(titel)":                 `column "titel" does not exist`,
		"title::int::text":             `invalid input syntax for type integer: "a"`,
		"'x'; drop table app.post; --": `syntax error at or near ";"`,
		"lower(title":                  open,
		"'é":                           open,
		"title)":                       `syntax error at or near ")"`,
		"title ||":                     `syntax error at or near ")"`,
	} {
		// The backfills around it are sound, and the rows have a trigger of updatedAt.
		_, err := install.InstallWith(t.Context(), conn, compile(t, wrap("title Text before Text slug Text after Text", "", "")), install.Options{
			Backfills: []diff.Backfill{
				{Table: "post", Column: "before", Value: "'é'"}, {Table: "post", Column: "slug", Value: value}, {Table: "post", Column: "after", Value: "title"},
			},
		})
		want = "the value given for existing rows cannot be computed: post.slug = " + value + "\n" + want + " (model Post, field slug, "
		var bad *install.BackfillError
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want a BackfillError that begins\n%s", value, err, want)
		}
	}
	checkCatalog(t, catalog(t, conn), facts)

	_, err := install.InstallWith(t.Context(), conn, compile(t, wrap("title Text slug Text", "", "")), install.Options{
		Backfills: []diff.Backfill{{Table: "post", Column: "slgu", Value: "title"}},
	})
	var unknown *install.UnknownFieldError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `(did you mean "post.slug"?)`) {
		t.Errorf("for an unknown field: got %v", err)
	}
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
