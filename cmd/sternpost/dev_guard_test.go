package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// TestDevOnOthersDatabase gives dev databases that others may use. It uses none of them
// without being told to, and leaves them as they are.
func TestDevOnOthersDatabase(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	build := command{args: []string{"build", dir}}
	script := build.expect(t, 0, "")
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, db *pgtest.DB)
		says    string
	}{
		{"a database with tables of others", func(t *testing.T, db *pgtest.DB) {
			mustRun(t, db.Owner(t), "create table invoice (id int)")
		}, "it holds objects that Sternpost did not make: table invoice"},
		{"a database that a script has installed", func(t *testing.T, db *pgtest.DB) {
			mustRun(t, db.Owner(t), script)
		}, "release 1 was not installed by sternpost dev"},
		{"a database that a server serves", func(t *testing.T, db *pgtest.DB) {
			mustRun(t, db.Owner(t), script)
			mustRun(t, db.Owner(t), "update platform.release set by_dev = true")
			mustRun(t, db.Owner(t), `do $$
				begin
					execute format('grant connect on database %I to %I', current_database(), replace(current_user, '_owner', '_server'));
				end;
				$$`)
			db.Server(t) // a session of a server's login, for as long as the test goes on
		}, "a server uses it: 1 sessions of a login in sternpost_server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			c.prepare(t, db)
			conn := db.Owner(t)
			const schemas = "select string_agg(nspname, ' ' order by nspname) || (select count(*) from pg_class) from pg_namespace where nspname not like 'pg_%'"
			before := askOne(t, conn, schemas)
			dev := command{args: []string{"dev", "--port", program.FreePort(t), dir}, env: []string{"DATABASE_URL=" + db.OwnerURL()}}

			// Without a person to ask.
			dev.expect(t, exitEnvironment, c.says)
			dev.expect(t, exitEnvironment, "sternpost dev takes over the schemas platform, app, related, functions and api")
			dev.expect(t, exitEnvironment, "give --yes")
			if after := askOne(t, conn, schemas); after != before {
				t.Errorf("the database holds %s, before it held %s", after, before)
			}

			// The person says no.
			p, types := dev.startOnTerminal(t)
			p.Await(t, 0, "Use it? [y/N]")
			types("")
			p.Await(t, 0, "nothing was changed")
			<-p.Ended
			if after := askOne(t, conn, schemas); p.Err != nil || after != before {
				t.Errorf("after a no: %v; the database holds %s, before it held %s", p.Err, after, before)
			}

			// Yes, on the command line.
			dev.args = append(dev.args, "--yes")
			p = dev.start(t)
			p.Await(t, 0, "Ctrl-C stops everything")
			p.End(t, os.Interrupt)
		})
	}
}

// TestReset drops the development database of a project, after asking, and nothing else.
func TestReset(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	reset := command{args: []string{"reset", dir}}
	if out := reset.expect(t, 0, ""); !strings.Contains(out, "has no development database") {
		t.Errorf("reset of a new project says %q", out)
	}

	port := program.FreePort(t)
	api := "http://127.0.0.1:" + port + "/api/json/"
	dev := command{args: []string{"dev", "--port", port, dir}}
	p := dev.start(t)
	p.Await(t, 0, "Ctrl-C stops everything")
	awaitAnswer(t, "POST", api+"createNote", `{"text":"a"}`, `"text":"a"`)
	yes := command{args: []string{"reset", "--yes", dir}}
	yes.expect(t, exitEnvironment, "stop sternpost dev first")
	awaitAnswer(t, "GET", api+"listNotes", "", `"count":1`)
	p.End(t, os.Interrupt)

	reset.expect(t, exitInput, "give --yes")
	asked, types := reset.startOnTerminal(t)
	asked.Await(t, 0, "[y/N]")
	types("n")
	asked.Await(t, 0, "nothing was dropped")
	<-asked.Ended
	if _, err := os.Stat(filepath.Join(dir, ".sternpost", "postgres")); err != nil {
		t.Errorf("after a no: %v", err)
	}
	asked, types = reset.startOnTerminal(t)
	asked.Await(t, 0, "[y/N]")
	types("y")
	asked.Await(t, 0, "dropped; sternpost dev starts with an empty database")
	<-asked.Ended

	p = dev.start(t)
	p.Await(t, 0, "release 1 installed")
	awaitAnswer(t, "GET", api+"listNotes", "", `"count":0`)
}
