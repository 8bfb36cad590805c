package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// TestEventsRestored restores an application in another cluster, whose transactions have smaller numbers, while its
// subscriber has read a part of what was written, and a run of a job waits. Served there, it tells the rest once, and what
// is written there, and does the run once.
func TestEventsRestored(t *testing.T) {
	t.Parallel()
	from, to := newCluster(t, "shop_owner"), newCluster(t, "shop_owner")
	pgDump := pgtest.Dump(t, from.url, toolless)
	dir := files(t, map[string]string{
		"schema.stern": strings.Replace(noteSchema, "  @permission", "  @on([create], hear)\n  @permission", 1) + `
model Heard {
  fields { text Text }
  @permission(expression: true, jobs: [hear, Close])
}
job Close {
  @permission(expression: true)
}
`,
		"functions/hear.sql":  "create function functions.hear(event jsonb) returns void language sql volatile as $$\n  insert into app.heard (text) values (event #>> '{target,data,text}');\n$$;\n",
		"functions/close.sql": "create function functions.close() returns void language sql volatile as $$\n  insert into app.heard (text) values ('closed');\n$$;\n",
	})
	command{args: []string{"migrate", "new", "first", dir}}.expect(t, 0, "")
	command{args: []string{"migrate", "up", dir, "--database-url", from.ownerURL()}}.expect(t, 0, "")

	owner, err := pgx.Connect(t.Context(), from.ownerURL())
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	for _, statement := range []string{
		"do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$",
		"insert into app.note (id, text) values ('a', '1'), ('b', '2'), ('c', '3')",
		"select platform.events_run('hear', 2, true)",
		"insert into app.note (id, text) values ('d', '4')",
	} {
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	command{args: []string{"jobs", "run", "Close", "--database-url", from.ownerURL()}}.expect(t, 0, "")

	dump := filepath.Join(openDir(t), "app.dump")
	runTool(t, pgDump, "--format=custom", "--file="+dump, from.ownerURL())
	roles := command{args: []string{"roles", "--login", to.login, "--database-url", to.ownerURL()}}
	roles.expect(t, 0, "")
	runTool(t, filepath.Join(filepath.Dir(pgDump), "pg_restore"), "--no-owner", "--exit-on-error", "--single-transaction", "--dbname="+to.ownerURL(), dump)
	roles.expect(t, 0, "")

	port := program.FreePort(t)
	command{args: []string{"serve"}, dir: t.TempDir(), env: production(t, to.serverURL(), port)}.start(t)
	awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/readyz", "", `{"status":"ok"}`)
	if status, body := request(t, "POST", "http://127.0.0.1:"+port+"/api/json/createNote", `{"text":"5"}`); status != 200 {
		t.Fatalf("createNote: got %d %s", status, body)
	}
	conn, err := pgx.Connect(t.Context(), to.ownerURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const want = "1 2 3 4 5 closed"
	heard := func() (text string) {
		if err := conn.QueryRow(t.Context(), "select coalesce(string_agg(text, ' ' order by text), '') from app.heard").Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	for deadline := time.Now().Add(30 * time.Second); heard() != want && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond) // nothing is told again
	if got := heard(); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}
