package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// compile compiles a schema without errors, with custom code.
func compile(t *testing.T, schema string, code ...string) *pg.Database {
	t.Helper()
	p := &sqlgen.Project{Files: []*syntax.Source{{Name: "blog.stern", Text: []byte(schema)}}}
	db := compiletest.Project(t, p).Database
	for _, text := range code {
		db.Code = append(db.Code, &pg.CodeFile{Name: "functions/helper.sql", Text: text})
	}
	emit.RenderCode(db)
	return db
}

// between plans from one schema to another, the first as a release describes it.
func between(t *testing.T, old, new *pg.Database, options diff.Options) *diff.Plan {
	t.Helper()
	read, err := pg.ReadDescription(old.Description())
	if err != nil {
		t.Fatal(err)
	}
	return diff.Between(read, new, options)
}

// empty is a database without rows.
func empty(_, _ string) int64 { return 0 }

// ordered fails unless statements begin like this, in this order; others may be between.
func ordered(t *testing.T, plan *diff.Plan, wants ...string) {
	t.Helper()
	var texts []string
	for _, s := range emit.Plan(plan) {
		texts = append(texts, s.Text)
	}
	at := 0
	for _, want := range wants {
		found := slices.IndexFunc(texts[at:], func(text string) bool { return strings.Contains(text, want) })
		if found < 0 {
			t.Errorf("there is no %q behind the statements before it in\n%s", want, strings.Join(texts, "\n"))
			return
		}
		at += found + 1
	}
}

const rules = `@permission(expression: true, actions: [get, list, create])`

// unionOf is a schema with a model, authors, and a union of both.
func unionOf(model, title string) string {
	return model + "\nmodel Author { fields { name Text } }\nunion Event { fields { title Text } " +
		"arms { post Post { @set(event.title = " + title + ") } author Author { @set(event.title = author.name) } } " +
		"actions { get getEvent(id) } @permission(expression: true, actions: [get]) }"
}

// TestLaw checks the order of a plan, law by law.
func TestLaw(t *testing.T) {
	t.Parallel()
	const author = "model Author { fields { name Text } }\n"
	for _, law := range []struct {
		name     string
		old, new string
		code     string
		options  diff.Options
		want     []string
	}{
		{
			name: "custom code comes off before all else and goes back on behind all else",
			old:  "model Post { fields { title Text note Text? } }",
			new:  "model Post { fields { title Text } }",
			code: "create function functions.helper() returns setof app.post language sql as 'select * from app.post';",
			want: []string{"drop schema functions cascade", "drop view related.post", "drop column note", "create view related.post", "create function functions.helper"},
		},
		{
			name: "policies come off before the views that they read, views before columns, and back in the other order",
			old:  "model Post { fields { author Author note Text? } actions { get getPost(id) } @permission(expression: post.author.name == \"x\", actions: [get]) }\nmodel Author { fields { name Text old Text? } }",
			new:  "model Post { fields { author Author } actions { get getPost(id) } @permission(expression: post.author.name == \"x\", actions: [get]) }\nmodel Author { fields { name Text } }",
			want: []string{"drop policy post_select", "drop view related.author", "drop column old", "create view related.author", "create policy post_select"},
		},
		{
			name: "a view over a query is made anew with its query, and the policies that read it with it",
			old:  "model Post { fields { title Text } actions { get getPost(id) } @permission(roles: [Editor], actions: [get]) }\nrole Editor { domains { \"x\" } }",
			new:  "model Post { fields { title Text } actions { get getPost(id) } @permission(roles: [Editor], actions: [get]) }\nrole Editor { domains { \"y\" } }",
			code: "create function functions.helper() returns boolean language sql stable as 'select exists (select from related.caller__roles)';",
			want: []string{
				"drop schema functions cascade", "drop policy post_select", "drop view related.caller__roles",
				"create view related.caller__roles", "create policy post_select", "create function functions.helper",
			},
		},
		{
			name: "a view over a query comes off before the views that it reads, and back behind them",
			old:  unionOf("model Post { fields { author Author title Number } }", "post.author.name"),
			new:  unionOf("model Post { fields { author Author title Decimal } }", "post.author.name"),
			want: []string{
				"drop view related.event__post", "drop view related.post", "alter column title type numeric",
				"create view related.post", "create view related.event__post",
			},
		},
		{
			name: "a view stays, with what depends on it, and follows a renamed column before it shows more",
			old:  unionOf("model Post { fields { author Author title Text } }", "post.author.name"),
			new:  unionOf("model Post { fields { author Author headline Text @renamed(from: title) note Text? } }", "post.author.name"),
			want: []string{
				"alter table app.post rename column title to headline", "alter view related.post rename column title to headline",
				"add column note", "create or replace view related.post",
			},
		},
		{
			name: "what takes away comes before what adds: a new table has the name of an old constraint",
			old:  "model Foo { fields { bar Text @unique } }",
			new:  "model Foo { fields { bar Text } }\nmodel FooBarKey { fields { a Text } }",
			want: []string{"drop constraint foo_bar_key", "create table app.foo_bar_key"},
		},
		{
			name: "names pass on in an order in which none is taken twice",
			old:  "model Foo { fields { bar Text @unique } }\nmodel Baz { fields { a Text } }",
			new:  "model Foo { fields { baz Text @unique @renamed(from: bar) } }\nmodel FooBarKey { fields { a Text } @renamed(from: Baz) }",
			want: []string{"rename to foo_baz_key", "alter table app.baz rename to foo_bar_key", "alter index app.baz_pkey rename to foo_bar_key_pkey", "rename column bar to baz"},
		},
		{
			name: "renames come before what speaks of new names",
			old:  "model Post { fields { title Text } }",
			new:  "model Article { fields { headline Text @renamed(from: title) note Text? } @renamed(from: Post) }",
			want: []string{"alter table app.post rename to article", "alter table app.article rename column title to headline", "alter table app.article add column note"},
		},
		{
			name: "columns are made before rows get values, values before what they come from goes, and only then is one required",
			old:  "model Post { fields { first Text last Text } }",
			new:  "model Post { fields { name Text } }",
			options: diff.Options{
				Allow:     []string{"drop:post.first", "drop:post.last"},
				Backfills: []diff.Backfill{{Table: "post", Column: "name", Value: "first || last"}},
			},
			want: []string{"add column name text;", "set name = (first || last)", "drop column first"},
		},
		{
			name:    "enum values get their names before they are checked, and their check comes off before",
			old:     "model Post { fields { state State @default(State.Draft) } }\nenum State { Draft Done }",
			new:     "model Post { fields { state State @default(State.Sketch) } }\nenum State { Sketch @renamed(from: Draft) Done }",
			options: diff.Options{Rows: empty},
			want:    []string{"drop constraint post_state_check", "set state = 'Sketch'", "set default 'Sketch'", "add constraint post_state_check"},
		},
		{
			name: "a new table is made behind new ones that it refers to, with these references and those to itself",
			old:  author,
			new:  "model Post { fields { author Author  topic Topic? } }\nmodel Topic { fields { parent Topic? } }\n" + author,
			want: []string{
				"constraint topic_parent_id_fkey foreign key (parent_id) references app.topic on delete set null\n);",
				"constraint post_topic_id_fkey foreign key (topic_id) references app.topic on delete set null\n);",
				"create index post_author_id_idx",
				"add constraint post_author_id_fkey",
			},
		},
		{
			name: "references in a circle come after all tables and keys",
			new:  "model Writer { fields { posts Post[]  favourite Post? @unique } }\nmodel Post { fields { writer Writer @relation(posts)  notes Note[] } }\nmodel Note { fields { post Post } }\n",
			want: []string{
				"create table app.writer", "create table app.post", "create table app.note", "create index note_post_id_idx",
				"add constraint writer_favourite_id_fkey", "add constraint post_writer_id_fkey", "add constraint note_post_id_fkey",
			},
		},
		{
			name: "functions of actions come behind the tables that they read",
			old:  author,
			new:  "model Post { fields { title Text } actions { get getPost(id) } " + rules + " }\n" + author,
			want: []string{"create table app.post", "create view related.post", "create policy post_select", "create function api.get_post"},
		},
	} {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			if law.options.Rows == nil && law.options.Allow == nil {
				law.options.Rows = empty
			}
			var code []string
			if law.code != "" {
				code = []string{law.code}
			}
			plan := between(t, compile(t, law.old, code...), compile(t, law.new, code...), law.options)
			for _, r := range plan.Refused {
				t.Errorf("refused: %s %s", r.Object, r.Change)
			}
			ordered(t, plan, law.want...)
		})
	}
}

// TestTouchesOnlyWhatMentionsIt adds one column: policies, views, functions and custom
// code that do not mention its table stay as they are, and the policies of its own.
func TestTouchesOnlyWhatMentionsIt(t *testing.T) {
	t.Parallel()
	schema := func(more string) string {
		return "model Post { fields { title Text author Author " + more + " } actions { get getPost(id) create addPost() with (title, author.id) }\n" +
			"@permission(expression: post.author.name == \"x\", actions: [get, create]) }\n" +
			"model Author { fields { name Text posts Post[] } actions { list listAuthors(name?) } " + rules + " }"
	}
	const code = "create function functions.helper() returns int language sql as 'select 1';"
	plan := between(t, compile(t, schema(""), code), compile(t, schema("note Text?"), code), diff.Options{})
	var got []string
	for _, s := range emit.Plan(plan) {
		first, _, _ := strings.Cut(s.Text, "\n")
		if strings.HasPrefix(first, "--") {
			first = strings.SplitN(s.Text, "\n", 3)[1]
		}
		got = append(got, first)
	}
	for _, text := range got {
		if strings.Contains(text, "policy") || strings.Contains(text, "function") || strings.Contains(text, "author") || strings.HasPrefix(text, "drop") {
			t.Errorf("one more column of Post makes the plan\n%s\nand %q mentions none", strings.Join(got, "\n"), text)
		}
	}
	ordered(t, plan, "alter table app.post add column note text;", "create or replace view related.post")
}

// TestFunctionsGoBeforeTables drops a model: the functions that answer its rows go first.
func TestFunctionsGoBeforeTables(t *testing.T) {
	t.Parallel()
	const kept = "model Author { fields { name Text } actions { get getAuthor(id) } " + rules + " }\n"
	dropped := "model Post { fields { title Text } actions { get getPost(id) list listPosts() } " + rules + " }"
	plan := between(t, compile(t, kept+dropped), compile(t, kept), diff.Options{Rows: empty})
	ordered(t, plan, "drop function api.get_post", "drop function api.list_posts", "drop table app.post")
}

// TestConcurrent plans for a table that is large and in use: no step looks at its rows while others wait.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	old := compile(t, "model Post { fields { title Text? code Text slug Text } } model Author {}")
	new := compile(t, "model Post { fields { title Text code Text @unique slug Text @index author Author? } @validate(post.code != \"\") } model Author {}")
	plan := between(t, old, new, diff.Options{Concurrent: true, Allow: []string{"require:post.title", "unique:post.code", "check:post.post_validate_01"}})
	if len(plan.Refused) > 0 || len(plan.Unused) > 0 {
		t.Fatalf("refused %+v, unused %q", plan.Refused, plan.Unused)
	}
	ordered(t, plan,
		"add constraint post_title_not_null check (title is not null) not valid",
		"add constraint post_validate_01 check (post.code <> '') not valid",
		"add constraint post_author_id_fkey foreign key (author_id) references app.author on delete set null not valid",
		"create or replace view",
		"validate constraint post_title_not_null", "alter column title set not null", "drop constraint post_title_not_null",
		"create unique index concurrently post_code_key", "add constraint post_code_key unique using index post_code_key",
		"validate constraint post_validate_01", "create index concurrently post_author_id_idx",
		"create index concurrently post_slug_idx", "validate constraint post_author_id_fkey",
	)
	later := false
	for _, s := range emit.Plan(plan) {
		if s.Step == nil {
			continue
		}
		if later && !s.Step.Later {
			t.Errorf("%s follows what is later", s.Text)
		}
		later = s.Step.Later
		if alone := strings.Contains(s.Text, "concurrently"); alone != s.Alone {
			t.Errorf("%s: alone is %v, want %v", s.Text, s.Alone, alone)
		}
		looksAtRows := slices.Contains(s.Step.Hazards, diff.Long)
		if looksAtRows && s.Step.Lock != diff.ShareUpdateExclusive {
			t.Errorf("%s: looks at all rows under %s", s.Text, s.Step.Lock)
		}
	}
}

// TestReasons checks the reason, the hazards and the lock of each step.
func TestReasons(t *testing.T) {
	t.Parallel()
	old := compile(t, "model Post {\n  fields {\n    title Text\n    prio Text\n    note Text?\n  }\n}")
	new := compile(t, "model Post {\n  fields {\n    subtitle Text?\n    title Text @index\n    prio Number\n  }\n}")
	plan := between(t, old, new, diff.Options{Allow: []string{"drop:post.note", "type:post.prio"}})
	want := map[string]struct {
		lock    diff.Lock
		hazards []diff.Hazard
	}{
		"model Post, field subtitle, blog.stern:3:5":     {diff.AccessExclusive, nil},
		"model Post, field note is gone, blog.stern:1:7": {diff.AccessExclusive, []diff.Hazard{diff.LosesData}},
		"model Post, field title, blog.stern:4:5":        {diff.Share, []diff.Hazard{diff.LocksWrites, diff.Long}},
		"model Post, field prio, blog.stern:5:5": {diff.AccessExclusive,
			[]diff.Hazard{diff.LosesData, diff.MayFail, diff.Rewrites, diff.LocksReads, diff.LocksWrites, diff.Long}},
	}
	for _, s := range plan.Steps {
		if s.Reason == "" {
			t.Errorf("%T has no reason", s.Change)
		}
		w, ok := want[s.Reason]
		if _, isConstraint := s.Change.(diff.AddConstraint); !ok || isConstraint {
			continue
		}
		if s.Lock != w.lock || !slices.Equal(s.Hazards, w.hazards) {
			t.Errorf("%s: got %q %q, want %q %q", s.Reason, s.Lock, s.Hazards, w.lock, w.hazards)
		}
		delete(want, s.Reason)
	}
	for reason := range want {
		t.Errorf("no step is there because of %s", reason)
	}
}

// TestRefused checks that a plan without a database to ask names each change that it refuses by the name that allows
// it, and makes the change when that name is allowed.
func TestRefused(t *testing.T) {
	t.Parallel()
	const enum = "\nenum State { Open Done }\n"
	for _, c := range []struct{ old, new, want string }{
		{"model Post { fields { a Text } }", "model Post { fields { } }", "drop:post.a"},
		{"model Post { fields { a Text } } model Tag {}", "model Post { fields { a Text } }", "drop:tag"},
		{"model Post { fields { a Text } }", "model Post { fields { a Number } }", "type:post.a"},
		{"model Post { fields { a Text[] } }", "model Post { fields { a Text } }", "type:post.a"},
		{"model Post { fields { a Secret? } }", "model Post { fields { a Text? } }", "type:post.a"},
		{"model Post { fields { a Text } }" + enum, "model Post { fields { a State } }" + enum, "type:post.a"},
		{"model Post { fields { a State? } }" + enum, "model Post { fields { a State? } } enum State { Open }", "enum:post.a.Done"},
		{"model Post { fields { a Text? } }", "model Post { fields { a Text } }", "require:post.a"},
		{"model Post { fields { a Text } }", "model Post { fields { a Text @unique } }", "unique:post.a"},
		{"model Post { fields { a Text b Text } }", "model Post { fields { a Text b Text } @unique([a, b]) }", "unique:post.a,b"},
		{"model Post { fields { a Text } }", "model Post { fields { a Text } @validate(post.a != \"\") }", "check:post.post_validate_01"},
		{"model Post { fields { a Text } }", "model Post { fields { a Text @maxLength(3) } }", "check:post.post_a_max_length_check"},
		{"model Post { fields { a A? } } model A {} model B {}", "model Post { fields { a B? } } model A {} model B {}", "reference:post.a_id"},
	} {
		old, new := compile(t, c.old), compile(t, c.new)
		plan := between(t, old, new, diff.Options{})
		if len(plan.Refused) != 1 || plan.Refused[0].Allow != c.want || plan.Refused[0].Rows != diff.Unknown {
			t.Errorf("%s\n%s\nrefused %+v, want %s", c.old, c.new, plan.Refused, c.want)
			continue
		}
		plan = between(t, old, new, diff.Options{Allow: []string{c.want, "drop:nothing"}})
		if len(plan.Refused) > 0 || len(plan.Steps) == 0 || !slices.Equal(plan.Unused, []string{"drop:nothing"}) {
			t.Errorf("%s\n%s\nallowed by %s: refused %+v, %d steps, unused %q", c.old, c.new, c.want, plan.Refused, len(plan.Steps), plan.Unused)
		}
		if plan = between(t, old, new, diff.Options{Rows: empty}); len(plan.Refused) > 0 {
			t.Errorf("%s\n%s\nwithout rows: refused %+v", c.old, c.new, plan.Refused)
		}
	}
}

// TestNeedsValue refuses a new required field on a table that may hold rows, and names the column that needs a value.
func TestNeedsValue(t *testing.T) {
	t.Parallel()
	old, new := compile(t, "model Post {}"), compile(t, "model Post { fields { slug Text } }")
	plan := between(t, old, new, diff.Options{})
	if len(plan.Refused) != 1 || plan.Refused[0].Backfill != "post.slug" || plan.Refused[0].Allow != "" {
		t.Fatalf("refused %+v, want one that a backfill of post.slug helps", plan.Refused)
	}
	b, err := diff.ParseBackfill("post.slug = lower(id)")
	if err != nil {
		t.Fatal(err)
	}
	plan = between(t, old, new, diff.Options{Backfills: []diff.Backfill{b}})
	ordered(t, plan, "add column slug text;", "update app.post\nset slug = (lower(id))", "alter column slug set not null")
	for _, bad := range []string{"", "post.slug", "slug = 1", "post.slug =", "post. = 1", "lower(a.b) = 1"} {
		if _, err := diff.ParseBackfill(bad); err == nil {
			t.Errorf("%q is read as a backfill", bad)
		}
	}
}

// TestRenameNotFound warns of a @renamed from a name that the database never had, but not of one that has had its
// effect.
func TestRenameNotFound(t *testing.T) {
	t.Parallel()
	old := compile(t, "model Post { fields { a Text state State } } enum State { Open Done }")
	new := compile(t, "model Post { fields { a Text @renamed(from: x) b Text? @renamed(from: y) state State } } model Tag { @renamed(from: Label) }\n"+
		"enum State { Open Done Late @renamed(from: Over) }")
	plan := between(t, old, new, diff.Options{})
	var got []string
	for _, w := range plan.Warnings {
		got = append(got, w.Place+": "+w.Message)
	}
	want := []string{
		"blog.stern:1:59: model Post, field b, blog.stern:1:52 was never called y in the database: its @renamed has no effect",
		"blog.stern:1:109: model Tag was never called Label in the database: its @renamed has no effect",
		"blog.stern:2:24: Late was never called Over in the database: its @renamed has no effect",
	}
	if len(got) != len(want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestHistoryIsNotLost asks before a history is deleted, be it with its table or because it is not kept any longer, also
// if the table has no rows now.
func TestHistoryIsNotLost(t *testing.T) {
	t.Parallel()
	kept := compile(t, `model Tag { fields { name Text } @history } model Post { fields { title Text } `+rules+` }`)
	for _, c := range []struct{ name, schema string }{
		{"without history", `model Tag { fields { name Text } } model Post { fields { title Text } ` + rules + ` }`},
		{"without table", `model Post { fields { title Text } ` + rules + ` }`},
	} {
		new := compile(t, c.schema)
		plan := between(t, kept, new, diff.Options{Rows: empty})
		if len(plan.Refused) != 1 || plan.Refused[0].Allow != "history:tag" {
			t.Errorf("%s: refused %+v", c.name, plan.Refused)
		}
		plan = between(t, kept, new, diff.Options{Rows: empty, Allow: []string{"history:tag"}})
		if len(plan.Refused) != 0 || len(plan.Unused) != 0 {
			t.Errorf("%s: refused %+v, unused %v", c.name, plan.Refused, plan.Unused)
		}
	}
	renamed := compile(t, `model Label { fields { name Text } @history(keep: "1 year") @renamed(from: Tag) } model Post { fields { title Text } `+rules+` }`)
	if plan := between(t, kept, renamed, diff.Options{Rows: empty}); len(plan.Refused) != 0 {
		t.Errorf("renamed: refused %+v", plan.Refused)
	}
}
