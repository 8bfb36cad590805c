package migrate_test

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// changeOf is a schema of posts and authors.
func changeOf(fields, rules, rest string) string {
	return "model Post { fields { title Text " + fields + " } actions { get getPost(id) list listPosts(title?) } " + rules +
		" @permission(expression: true, actions: [get, list]) } model Author { fields { name Text } } " + rest
}

// countedOf is such a schema in which the posts of an author may be counted.
func countedOf(computed, rules string) string {
	return strings.Replace(changeOf("author Author?", "", ""), "model Author { fields { name Text } }",
		"model Author { fields { name Text posts Post[] "+computed+" } "+rules+" }", 1)
}

// indexedOf is such a schema with an index, and with further actions of posts.
func indexedOf(actions string) string {
	return strings.Replace(changeOf("note Text?", "@index(note, title)", ""), "actions {", "actions { "+actions, 1)
}

// TestOldIndexServesUntilNewOne checks that an index goes behind the one that follows it, and is not missing meanwhile.
func TestOldIndexServesUntilNewOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, makes, drops string }{
		{"longer index", indexedOf(""), indexedOf("list byTitle(note?) { @orderBy(title: asc) }"),
			"create index concurrently if not exists post_note_title_id_idx", "drop index if exists app.post_note_title_idx;"},
		{"key", changeOf("author Author?", "", ""), changeOf("author Author?", "@unique([author, title])", ""),
			"add constraint post_author_id_title_key", "drop index if exists app.post_author_id_idx;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			mustNew(t, project, "old", compile(t, c.old))
			written, err := migrate.New(folder(t, project), "new", compile(t, c.new), migrate.PlanOptions{Allow: []string{"unique:post.author_id,title"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(written.Files) != 2 {
				t.Fatalf("it takes %d files, want 2", len(written.Files))
			}
			if text := written.Files[0].Text; strings.Contains(text, "drop index") {
				t.Errorf("the first file drops an index:\n%s", text)
			}
			text := written.Files[1].Text
			made, dropped := strings.Index(text, c.makes), strings.Index(text, c.drops)
			if made < 0 || dropped < made {
				t.Errorf("%q is at %d and %q at %d in\n%s", c.makes, made, c.drops, dropped, text)
			}
			if steps := strings.Split(strings.TrimSpace(written.Files[1].Plan()), "\n"); len(steps) < 2 || !strings.Contains(steps[len(steps)-2], "drop index") {
				t.Errorf("the drop is not the last step of\n%s", written.Files[1].Plan())
			}
		})
	}
}

// TestChanges checks that a migration's files lead to the same state as the schema at once, with existing rows that
// stay; then nothing more is to do.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		old, new  string
		allow     []string
		backfills []string
		parts     int
		kept      string // a condition that the row of a post satisfies afterwards
	}{
		{"optional field", changeOf("", "", ""), changeOf("note Text?", "", ""), nil, nil, 1, "note is null"},
		{"field with default", changeOf("", "", ""), changeOf("count Number @default(3)", "", ""), nil, nil, 2, "count = 3"},
		{"required field with backfill", changeOf("", "", ""), changeOf("slug Text", "", ""), nil, []string{"post.slug = upper(title)"}, 2, "slug = 'A'"},
		{"required field with a backfill and a comment", changeOf("", "", ""), changeOf("slug Text", "", ""), nil, []string{"post.slug = upper(title) -- for now"}, 2, "slug = 'A'"},
		{"required relation with backfill", changeOf("", "", ""), changeOf("author Author", "", ""), nil,
			[]string{"post.author_id = (select min(id) from app.author)"}, 2, "author_id is not null"},
		{"field made required", changeOf("note Text?", "", ""), changeOf("note Text", "", ""), nil, []string{"post.note = coalesce(note, 'x')"}, 2, "note = 'x'"},
		{"unique", changeOf("", "", ""), changeOf("", "@unique([title, id])", ""), []string{"unique:post.title,id"}, nil, 2, "true"},
		{"unique field", changeOf("code Text?", "", ""), changeOf("code Text? @unique", "", ""), []string{"unique:post.code"}, nil, 2, "true"},
		{"index", changeOf("note Text?", "", ""), changeOf("note Text? @index", "", ""), nil, nil, 2, "true"},
		{"index that another follows", indexedOf(""), indexedOf("list byTitle(note?) { @orderBy(title: asc) }"), nil, nil, 2, "true"},
		{"relation", changeOf("", "", ""), changeOf("author Author? @onDelete(restrict)", "", ""), nil, nil, 2, "author_id is null"},
		{"relation to a new model", changeOf("", "", ""), changeOf("tag Tag?", "", "model Tag { fields { name Text @unique } }"), nil, nil, 2, "tag_id is null"},
		{"rule", changeOf("stars Number?", "", ""), changeOf("stars Number?", `@validate(post.stars > 0)`, ""), []string{"check:post.post_validate_01"}, nil, 2, "true"},
		{"computed field", countedOf("", ""), countedOf("count Number @computed(COUNT(author.posts))", ""), nil, nil, 2, "author_id is null"},
		{"rule over what is computed", countedOf("count Number @computed(COUNT(author.posts))", ""),
			countedOf("count Number @computed(COUNT(author.posts))", `@validate(author.count < 5 || author.name == "{{ x }} ---- $$")`),
			[]string{"check:author.author_validate_01"}, nil, 2, "true"},
		{"rule over what is computed, with the field", countedOf("", ""), countedOf("count Number @computed(COUNT(author.posts))", "@validate(author.count < 5)"),
			nil, nil, 2, "true"},
		{"field under a rule over what is computed", countedOf("count Number @computed(COUNT(author.posts))", "@validate(author.count < 5)"),
			countedOf("count Number @computed(COUNT(author.posts)) nick Text", "@validate(author.count < 5) @validate(author.count + author.count < 9)"),
			nil, []string{"author.nick = 'x'"}, 2, "true"},
		{"rule over what is computed gone", countedOf("count Number @computed(COUNT(author.posts))", "@validate(author.count < 5)"),
			countedOf("count Number @computed(COUNT(author.posts))", ""), nil, nil, 1, "true"},
		{"enum value gone", changeOf("state State?", "", "enum State { On Off }"), changeOf("state State?", "", "enum State { On }"), []string{"enum:post.state.Off"}, nil, 2, "true"},
		{"renames", changeOf("label Text? @unique author Author?", "", ""),
			strings.Replace(changeOf("tag Text? @unique @renamed(from: label) writer Writer? @renamed(from: author)", "", ""),
				"model Author {", "model Writer { @renamed(from: Author) ", 1), nil, nil, 1, "tag is null"},
		{"drops", changeOf("a Text? b Number @default(1) author Author?", "@index(a, b)", "model Gone { fields { name Text } }"), changeOf("", "", ""),
			[]string{"drop:post.a", "drop:post.b", "drop:post.author_id", "drop:gone"}, nil, 1, "true"},
		{"type", changeOf("count Number @default(1)", "", ""), changeOf("count Text @default(\"1\")", "", ""), nil, nil, 1, "count = '1'"},
		{"longer text", changeOf("note Text? @maxLength(9) tags Text[]? @maxItems(3) @maxLength(2)", "", ""), changeOf("note Text? @maxLength(10) tags Text[]? @maxItems(4) @maxLength(3)", "", ""),
			nil, nil, 2, "true"},
		{"action", changeOf("", "", ""), strings.Replace(changeOf("", "", ""), "get getPost(id)", "get fetchPost(id)", 1), nil, nil, 1, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			mustNew(t, project, "old", compile(t, c.old))
			db := pgtest.New(t, pgtest.Options{Empty: true})
			mustUp(t, project, db.OwnerURL())
			conn := db.Owner(t)
			mustExec(t, conn, "insert into app.author (name) values ('n'); insert into app.post (title) values ('a')")

			o := migrate.PlanOptions{Allow: c.allow}
			for _, text := range c.backfills {
				b, err := diff.ParseBackfill(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Backfills = append(o.Backfills, b)
			}
			new := compile(t, c.new)
			written, err := migrate.New(folder(t, project), "new", new, o)
			if err != nil {
				t.Fatal(err)
			}
			if c.parts > 0 && len(written.Files) != c.parts {
				t.Errorf("it takes %d files, want %d", len(written.Files), c.parts)
			}
			mustUp(t, project, db.OwnerURL())
			if got := value[bool](t, conn, "select "+c.kept+" from app.post where title = 'a'"); !got {
				t.Errorf("of the row %q does not hold", c.kept)
			}
			fresh := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
			if _, err := install.Install(t.Context(), fresh, new); err != nil {
				t.Fatal(err)
			}
			checkSame(t, c.name, catalog(t, conn), catalog(t, fresh))
			if got := value[int](t, conn, "select count(*) from platform.drift()"); got > 0 {
				t.Errorf("%d objects are other than the release wants", got)
			}
			if _, err := migrate.New(folder(t, project), "more", new, migrate.PlanOptions{}); err != migrate.ErrNothingChanged {
				t.Errorf("after it there is more to do: %v", err)
			}
		})
	}
}
