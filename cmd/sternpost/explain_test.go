package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

const ownedSchema = `model Note {
  fields {
    text Text
    owner Identity
  }
  actions {
    get getNote(id)
    update editNote(id) with (text)
  }
  @permission(expression: note.owner == ctx.identity, actions: [get])
  @permission(expression: ctx.isAuthenticated && ctx.headers.key == ctx.secrets.NOTE_KEY, actions: [update])
  @permission(expression: note.text == "mine", jobs: [count])
  @on([create], count)
}
`

const countCode = "create function functions.count(event jsonb) returns void language sql volatile as 'select';\n"

// TestExplain runs the command against a given database; package explain tests the
// explanations.
func TestExplain(t *testing.T) {
	t.Parallel()
	content := map[string]string{"schema.stern": ownedSchema, "functions/count.sql": countCode, sqlgen.ConfigName: "secrets:\n  - name: NOTE_KEY\n"}
	dir := files(t, content)
	content["schema.stern"] = strings.NewReplacer("owner Identity", "holder Identity", "note.owner", "note.holder").Replace(ownedSchema)
	ahead := files(t, content)
	db, empty := installed(t, dir), pgtest.New(t, pgtest.Options{Empty: true})
	insert(t, db.Superuser(t))

	env := []string{"NOTE_KEY=k3y"}
	tests := []struct {
		name   string
		args   []string
		code   int
		out    string
		stderr string
	}{
		{"admitted", []string{"getNote", dir, "--as", "ada", "--input", `{"id":"n1"}`}, 0, "200, admitted\n", ""},
		{"admitted by e-mail", []string{"getNote", dir, "--as", "ada@a.example", "--input", `{"id":"n1"}`}, 0, "200, admitted\n", ""},
		{"refused", []string{"getNote", dir, "--as", "bea", "--input", `{"id":"n1"}`}, 0, "403, refused: no rule admits the row\n", ""},
		{"as JSON", []string{"getNote", dir, "--as", "bea", "--input", `{"id":"n1"}`, "--format", "json"}, 0, `"status": 403`, ""},
		{"by --row", []string{"getNote", dir, "--as", "ada", "--row", "n1"}, 0, "200, admitted\n", ""},
		{"a header and a secret", []string{"editNote", dir, "--as", "bea", "--header", "Key=k3y", "--input", `{"where":{"id":"n1"},"values":{"text":"x"}}`}, 0, "ctx.secrets.NOTE_KEY: (not shown)", ""},
		{"another header", []string{"editNote", dir, "--as", "bea", "--header", "Key=x", "--input", `{"where":{"id":"n1"},"values":{"text":"x"}}`}, 0, "403, refused before any row is read", ""},
		{"code of a subscriber", []string{"count.updateNote", dir, "--row", "n1"}, 0, "admitted\n", ""},
		{"a caller of a subscriber", []string{"count.updateNote", dir, "--row", "n1", "--as", "ada"}, exitInput, "", "nobody calls count: leave out --as"},
		{"an unknown caller", []string{"getNote", dir, "--as", "nobody", "--input", `{"id":"n1"}`}, exitInput, "", "there is no Identity with the id or e-mail nobody"},
		{"an unknown action", []string{"getNot", dir}, exitInput, "", "the schema has no action getNot (did you mean getNote?)"},
		{"input that is missing", []string{"getNote", dir}, exitInput, "", "id is required"},
		{"input that is not JSON", []string{"getNote", dir, "--input", "{"}, exitInput, "", "not valid JSON"},
		{"a header without value", []string{"getNote", dir, "--header", "Key"}, exitInput, "", "--header takes Name=value"},
		{"another format", []string{"getNote", dir, "--format", "xml"}, exitUsage, "", `not "xml"`},
		{"without action", nil, exitUsage, "", "an argument is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"explain", "--database-url", db.OwnerURL()}, test.args...)
			if out := (command{args: args, env: env}).expect(t, test.code, test.stderr); !strings.Contains(out, test.out) {
				t.Errorf("got\n%s\nwithout %q", out, test.out)
			}
		})
	}

	byRow := []string{"explain", "getNote", "--as", "ada", "--row", "n1"}
	given := append(env, "DATABASE_URL="+db.OwnerURL())
	command{args: byRow, dir: dir, env: given}.expect(t, 0, "")
	command{args: byRow, dir: ahead, env: given}.expect(t, exitEnvironment, "the database holds release 1, which differs from this schema")
	command{args: byRow, dir: dir, env: append(env, "DATABASE_URL="+empty.OwnerURL())}.expect(t, exitEnvironment, "the database holds no release")
	command{args: byRow, dir: dir, env: append(env, "DATABASE_URL="+db.ServerURL())}.expect(t, exitEnvironment, "connect as the owner of the database")
	command{args: byRow, dir: dir, env: env}.expect(t, exitEnvironment, "no database to explain with: run sternpost dev in . first")

	// Only the variables that the action itself reads must be in the environment.
	command{args: byRow, dir: dir, env: given[1:]}.expect(t, 0, "")
	byRow[1] = "editNote"
	command{args: byRow, dir: dir, env: given[1:]}.expect(t, exitInput, "the environment has no value for NOTE_KEY")
}

// installed returns a database with the project in a folder.
func installed(t *testing.T, dir string) *pgtest.DB {
	t.Helper()
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(project)
	if compiled == nil {
		t.Fatalf("the schema has errors: %v", errs)
	}
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), compiled.Release()); err != nil {
		t.Fatal(err)
	}
	return db
}

func insert(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `
		insert into app.identity (id, email) values ('ada', 'ada@a.example'), ('bea', null);
		insert into app.note (id, text, owner_id) values ('n1', 'mine', 'ada')`)
	if err != nil {
		t.Fatal(err)
	}
}

// TestExplainBesideDev finds dev's database, while dev runs and after.
func TestExplainBesideDev(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	p := command{args: []string{"dev", dir, "--port", program.FreePort(t)}}.start(t)
	p.Await(t, 0, "release 1 installed")
	explain := command{args: []string{"explain", "listNotes", filepath.Clean(dir)}}
	if out := explain.expect(t, 0, ""); !strings.Contains(out, "200, admitted for any rows") {
		t.Errorf("beside dev: got\n%s", out)
	}
	if err := p.End(t, os.Interrupt); err != nil {
		t.Fatalf("dev after an interrupt: %v", err)
	}
	if out := explain.expect(t, 0, ""); !strings.Contains(out, "200, admitted for any rows") {
		t.Errorf("after dev: got\n%s", out)
	}
}

const attachedSchema = `model Note {
  fields {
    text Text
    scan File?
  }
  actions {
    create write() with (text, scan?)
    get getNote(id)
  }
  @permission(expression: ctx.isAuthenticated, actions: [get, create])
}
`

// A caller whose files are refused for some time gets to know it, and until when.
func TestExplainThrottled(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": attachedSchema})
	db := installed(t, dir)
	if _, err := db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id, email) values ('ada', 'ada@a.example'), ('bea', 'bea@a.example'), ('cyd', 'cyd@a.example');
		insert into platform.file_failure (caller, bytes, since) values
			('identity ada', 104857600, now() - interval '20 minutes'),
			('identity bea', 104857599, now()),
			('identity cyd', 104857600, now() - interval '61 minutes');
		insert into platform.file_upload (key, action, field, identity_id, minter, filename, content_type, size, expires_at)
		select whose || i, 'write', 'scan', whose, 'identity ' || whose, 'a', 'text/plain', 1, now() + interval '30 minutes'
		from (values ('ada', 2), ('bea', 1)) as of (whose, many), generate_series(1, many) as i`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		action, as     string
		failed, minted bool
	}{
		{"write", "ada", true, true},
		{"write", "bea", false, false},
		{"write", "cyd", false, false},
		{"getNote", "ada", false, false}, // it takes no files
	} {
		input := `{"text":"x"}`
		if c.action == "getNote" {
			input = `{"id":"n"}`
		}
		explain := command{
			args: []string{"explain", c.action, dir, "--as", c.as, "--input", input},
			env:  []string{"DATABASE_URL=" + db.OwnerURL(), "STERNPOST_UPLOADS_MAX_OUTSTANDING=2"},
		}
		out := explain.expect(t, 0, "")
		if got := strings.Contains(out, "failed calls stored 104857600 bytes within the last hour"); got != c.failed {
			t.Errorf("%s as %s: failed calls are named: %v, want %v\n%s", c.action, c.as, got, c.failed, out)
		}
		if got := strings.Contains(out, "2 uploads are outstanding"); got != c.minted {
			t.Errorf("%s as %s: outstanding uploads are named: %v, want %v\n%s", c.action, c.as, got, c.minted, out)
		}
	}
}
