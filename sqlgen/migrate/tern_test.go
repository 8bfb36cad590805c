package migrate_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// hostile are texts that a reader of migrations might misread: templates, tern's marks, quotes of every kind,
// backslashes and line ends.
var hostile = []string{
	"{{", "{{ . }}", `{{ define "x" }}`, "{{- /* */ -}}", "{{{{", "{{ install_snapshot }}", "}}", "{", "{%",
	"x\n---- create above / drop below ----\ny", "---- create above / drop below ----", "x\n---- tern: disable-tx ----\ny",
	"$$", "$_$", "$body$", "$json$", "$", "'", "''", `"`, `\`, `\\`, `\'`, `\x7b`, `\r`, "\r", "a\r\nb", "\n", "\t", "a;b", "--", "/*", "*/",
	":x", ":'x'", `\echo x`, "E'x'", "ü日\u2028\ufffd\U0001f600",
}

// hostileSchema is a schema with hostile texts in every place that takes a text.
func hostileSchema(more string) string {
	var docs strings.Builder
	for _, text := range hostile {
		for line := range strings.Lines(strings.ReplaceAll(text, "\r", "")) {
			docs.WriteString("/// " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	var fields, validations strings.Builder
	for i, text := range hostile {
		quoted := quoteStern(text)
		fields.WriteString("    t" + strconv.Itoa(i) + " Text @default(" + quoted + ")\n")
		validations.WriteString("  @validate(post.title != " + quoted + ", message: " + quoted + ")\n")
	}
	return docs.String() + "model Post {\n  fields {\n" + docs.String() + "    title Text\n    tags Text[] @default([" + quoteStern("{{a") + ", " + quoteStern("{{") + "])\n" +
		fields.String() + "  }\n  actions {\n" + docs.String() + "    get getPost(id)\n    list listPosts(title?) {\n      @where(post.title != " + quoteStern(strings.Join(hostile, "")) + ")\n    }\n" +
		"    create createPost() with (title)\n    read answer(Question) returns (Answer)\n  }\n" + validations.String() +
		"  @permission(expression: post.title != " + quoteStern("{{ x }} ---- create above / drop below ----\r'\\$$") + ", actions: [get, list, create])\n" +
		"  @permission(expression: true, actions: [read])\n}\n" +
		"message Question {\n  text Text\n}\nmessage Answer {\n  text Text\n}\n" + more
}

// quoteStern writes a text literal of the language.
func quoteStern(text string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	return `"` + r.Replace(text) + `"`
}

// hostileCode is custom code with the same texts.
func hostileCode(more string) [2]string {
	literals := make([]string, len(hostile))
	for i, text := range hostile {
		literals[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return [2]string{"functions/answer.sql", "-- {{ . }} ---- create above / drop below ----\n---- tern: disable-tx ----\n" +
		"create function functions.answer(input jsonb) returns jsonb\nlanguage plpgsql\nstable\nsecurity invoker\nas $code$\nbegin\n" +
		"  -- {{ }} \r\n  /* ---- create above / drop below ----\n---- tern: disable-tx ----\n*/\n" +
		"  return jsonb_build_object('text', concat(" + strings.Join(literals, ",\n") + ", ('{{1,2},{3,4}}'::int[])[2][1]));" + more + "\nend;\n$code$;\n" +
		"comment on function functions.answer(jsonb) is '{{ x }}'"}
}

func hostileDatabase(t testing.TB, more string) *emit.Release {
	return compile(t, hostileSchema(more), hostileCode(strings.Repeat("\n  -- more {{", len(more))))
}

// TestHostileText checks that tern makes of the text that build prints, and of migrations, the same as Install.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const more = "enum State {\n  On\n  Off\n}\nmodel Tag {\n  fields {\n    name Text @default(\"{{ x }}\")\n  }\n}\n"
	first, second := hostileDatabase(t, ""), hostileDatabase(t, more)

	installed := func(db *emit.Release) ([]string, [2]string) {
		conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
		if _, err := install.Install(t.Context(), conn, db); err != nil {
			t.Fatal(err)
		}
		return catalog(t, conn), newestRelease(t, conn)
	}

	built := t.TempDir()
	if err := os.WriteFile(filepath.Join(built, "001_built.sql"), []byte(install.Script(first)), 0o600); err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	mustNew(t, project, "first", first)
	mustNew(t, project, "second", second)
	dir := filepath.Join(project, migrate.DirName)

	wantCatalog, wantRelease := installed(first)
	for name, dir := range map[string]string{"the text of build": built, "a migration": dir} {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		mustTern(t, db.OwnerURL(), dir, "-d", "1")
		conn := db.Owner(t)
		checkSame(t, name, catalog(t, conn), wantCatalog)
		if got := newestRelease(t, conn); got != wantRelease {
			t.Errorf("%s makes another release:\n%s\nwant\n%s", name, got, wantRelease)
		}
	}

	wantCatalog, wantRelease = installed(second)
	db := pgtest.New(t, pgtest.Options{Empty: true})
	mustTern(t, db.OwnerURL(), dir)
	conn := db.Owner(t)
	checkSame(t, "the second migration", catalog(t, conn), wantCatalog)
	if got := newestRelease(t, conn); got != wantRelease {
		t.Errorf("the second migration makes another release:\n%s\nwant\n%s", got, wantRelease)
	}
	got := value[string](t, conn, "select functions.answer('{}') ->> 'text'")
	if want := strings.Join(hostile, "") + "3"; got != want {
		t.Errorf("custom code answers %q, want %q", got, want)
	}
	for i, text := range hostile {
		mustExec(t, conn, "insert into app.post (title) values ('a') on conflict do nothing")
		if got := value[string](t, conn, "select t_"+strconv.Itoa(i)+" from app.post limit 1"); got != text {
			t.Errorf("the default %q has become %q", text, got)
		}
	}
}

// TestHostileBackfill checks that rows get the value of an expression with marks that tern reads, when a column is new
// and when its type changes. The plan shows the expression.
func TestHostileBackfill(t *testing.T) {
	t.Parallel()
	const schema = "model Post {\n  fields {\n    title Text\n    FIELDS\n  }\n  actions {\n    get getPost(id)\n  }\n  @permission(expression: true, actions: [get])\n}\n"
	project := t.TempDir()
	mustNew(t, project, "first", compile(t, strings.Replace(schema, "FIELDS", "count Number", 1)))
	want := `One {{ . }} \d` + "\n---- create above / drop below ----\n---- tern: disable-tx ----\n"
	expression := "'" + want + "' || title"
	changed := compile(t, strings.Replace(schema, "FIELDS", "count Text\n    code Text", 1))
	written, err := migrate.New(folder(t, project), "second", changed, migrate.PlanOptions{
		Backfills: []diff.Backfill{{Table: "post", Column: "code", Value: expression}, {Table: "post", Column: "count", Value: expression}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if plan := written.Files[0].Plan(); strings.Count(plan, `'One { { . }} \d`) != 2 {
		t.Errorf("the plan is\n%s", plan)
	}
	for name, up := range map[string]func(db *pgtest.DB){
		"tern":      func(db *pgtest.DB) { mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName)) },
		"sternpost": func(db *pgtest.DB) { mustUp(t, project, db.OwnerURL()) },
	} {
		db := pgtest.New(t, pgtest.Options{Empty: true})
		mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName), "-d", "1")
		conn := db.Owner(t)
		mustExec(t, conn, "insert into app.post (title, count) values ('a', 1)")
		up(db)
		for _, column := range []string{"code", "count"} {
			if got := value[string](t, conn, "select "+column+" from app.post"); got != want+"a" {
				t.Errorf("%s: %s is %q, want %q", name, column, got, want+"a")
			}
		}
	}
}
