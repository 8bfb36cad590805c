package install_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// compile compiles a schema without errors.
func compile(t testing.TB, schema string) *emit.Release { return compiletest.Schema(t, schema) }

// mustInstall installs a schema and returns the outcome.
func mustInstall(t testing.TB, conn *pgx.Conn, schema string) install.Outcome {
	t.Helper()
	outcome, err := install.Install(t.Context(), conn, compile(t, schema))
	if err != nil {
		t.Fatalf("install\n%s\n%v", schema, err)
	}
	return outcome
}

func mustExec(t testing.TB, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// releases counts the releases and returns the newest number.
func releases(t testing.TB, conn *pgx.Conn) (count, newest int64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "select count(*), coalesce(max(number), 0) from platform.release").Scan(&count, &newest); err != nil {
		t.Fatal(err)
	}
	return count, newest
}

func TestInstallAgain(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	schema := wrap("title Text @unique author Author?", "list listPosts(title?)", "model Author {}")

	if got := mustInstall(t, conn, schema); got.Release != 1 || !got.Changed {
		t.Errorf("the first installation: %+v", got)
	}
	before := catalog(t, conn)
	if got := mustInstall(t, conn, schema); got.Release != 1 || got.Changed {
		t.Errorf("the same again: %+v, want release 1, not changed", got)
	}
	checkCatalog(t, catalog(t, conn), before)
	if count, newest := releases(t, conn); count != 1 || newest != 1 {
		t.Errorf("there are %d releases, the newest %d", count, newest)
	}
	if got := mustInstall(t, conn, schema+"model Other {}"); got.Release != 2 || !got.Changed {
		t.Errorf("another schema: %+v, want release 2, changed", got)
	}
}

func TestInstallNotifies(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner, listener := db.Owner(t), db.Server(t)
	mustExec(t, listener, "listen sternpost_release")
	for _, step := range []struct{ schema, want string }{
		{wrap("title Text", "", ""), "1"},
		{wrap("title Text", "", ""), ""},
		{wrap("title Text", "", "model Author {}"), "2"},
	} {
		mustInstall(t, owner, step.schema)
		if step.want == "" {
			continue // the next notification must be that of the next release
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := listener.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got.Channel != "sternpost_release" || got.Payload != step.want {
			t.Errorf("got %s %q, want sternpost_release %q", got.Channel, got.Payload, step.want)
		}
	}
}

func mustInstallNothing(t testing.TB, conn *pgx.Conn, schema string) {
	t.Helper()
	if got := mustInstall(t, conn, schema); got.Changed {
		t.Errorf("install\n%s\nmade release %d, and there was nothing to do", schema, got.Release)
	}
}

func TestInstallAtOnce(t *testing.T) {
	t.Parallel()
	for name, schemas := range map[string][2]string{
		"the same schema":      {wrap("title Text", "", ""), wrap("title Text", "", "")},
		"one beyond the other": {wrap("title Text", "", ""), wrap("title Text", "list listPosts()", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			var outcomes [2]install.Outcome
			var errs [2]error
			var group sync.WaitGroup
			for i, schema := range schemas {
				conn, compiled := db.Owner(t), compile(t, schema)
				group.Go(func() { outcomes[i], errs[i] = install.Install(t.Context(), conn, compiled) })
			}
			group.Wait()
			if err := errors.Join(errs[0], errs[1]); err != nil {
				t.Fatal(err)
			}
			want := int64(2)
			if schemas[0] == schemas[1] {
				want = 1
				if outcomes[0].Changed == outcomes[1].Changed {
					t.Errorf("both or none made a release: %+v", outcomes)
				}
			}
			if count, newest := releases(t, db.Owner(t)); count != want || newest != want {
				t.Errorf("there are %d releases, the newest %d, want %d", count, newest, want)
			}
		})
	}
}

// TestScriptByPsql runs a script as a user would, then lets Install continue from there.
func TestScriptByPsql(t *testing.T) {
	t.Parallel()
	psql := program.Postgres(t, "psql", "the script runs in the tests of sqlgen alone")
	db := pgtest.New(t, pgtest.Options{Empty: true})
	schema := wrap(
		"/// :variable :'variable' \\echo `ls` $$ {{ . }}\ntitle Text @default(\"\\\\echo :x\") author Author?",
		"list listPosts(title?)", "model Author {}",
	)
	compiled := compile(t, schema)
	path := filepath.Join(t.TempDir(), "app.sql")
	if err := os.WriteFile(path, []byte(install.Script(compiled)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), psql, "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", path, db.OwnerURL()).CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "NOTICE") || strings.Contains(string(out), "WARNING") {
		t.Errorf("psql has something to say:\n%s", out)
	}

	conn := db.Owner(t)
	byScript := catalog(t, conn)
	mustInstallNothing(t, conn, schema)
	if count, newest := releases(t, conn); count != 1 || newest != 1 {
		t.Errorf("there are %d releases, the newest %d, want 1", count, newest)
	}

	fresh := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, fresh, schema)
	checkCatalog(t, byScript, catalog(t, fresh))
}

func TestScriptIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	schema := wrap("title Text tags Text[] author Author", "list listPosts(title?, tags?, author.id?)", "model Author {}")
	first := install.Script(compile(t, schema))
	for range 20 {
		if got := install.Script(compile(t, schema)); got != first {
			t.Fatalf("equal schemas give\n%s\nand\n%s", first, got)
		}
	}
	if strings.Contains(first, "\t") {
		t.Error("there is a tab in the script")
	}
}

// wrap is a schema around a model Post.
func wrap(fields, actions, rest string) string {
	return "model Post {\n  fields {\n    " + fields + "\n  }\n  actions {\n    get getPost(id)\n    " + actions +
		"\n  }\n  @permission(expression: true, actions: [get, list, create, update, delete])\n}\n" + rest + "\n"
}
