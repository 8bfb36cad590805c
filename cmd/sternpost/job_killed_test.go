package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/program"
)

// TestJobKilled kills the server that does a run in the middle of it, twice: the one that is left
// takes the run up again, and its effects happen once.
func TestJobKilled(t *testing.T) {
	t.Parallel()
	db := built(t, files(t, map[string]string{
		"schema.stern": "model Mark {\n  fields { text Text }\n  @permission(expression: true, actions: [create], jobs: [Close])\n}\njob Close {\n  @permission(expression: true)\n}\n",
		"functions/close.sql": `create function functions.close() returns void language plpgsql volatile security invoker as $$
begin
  insert into app.mark (text) values ('begun');
  perform pg_sleep(1.5);
  insert into app.mark (text) values ('ended');
end;
$$;
`,
	}))
	dir := t.TempDir()
	start := func() *program.Process {
		t.Helper()
		port := program.FreePort(t)
		p := command{args: []string{"serve"}, dir: dir, env: production(t, db.ServerURL(), port)}.start(t)
		awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/readyz", "", `{"status":"ok"}`)
		return p
	}
	conn := db.Superuser(t)
	await := func(what, query string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			var isSo bool
			if err := conn.QueryRow(t.Context(), query).Scan(&isSo); err != nil {
				t.Fatal(err)
			}
			if isSo {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}

	first := start()
	stdout, stderr, code := command{args: []string{"jobs", "run", "Close"}, dir: dir, env: []string{"DATABASE_URL=" + db.OwnerURL()}}.run(t)
	if code != 0 {
		t.Fatalf("got exit %d %s", code, stderr)
	}
	run := strings.TrimSpace(stdout)
	isRunning := fmt.Sprintf(`select exists (select from pg_stat_activity where application_name = 'sternpost run %s' and pid <> all ($pids$%%s$pids$))`, run)
	var killed []string // the connections on which it ran
	for range 2 {
		await("nobody runs it", fmt.Sprintf(isRunning, "{"+strings.Join(killed, ",")+"}"))
		var pid string
		if err := conn.QueryRow(t.Context(), `select max(pid)::text from pg_stat_activity where application_name = $1`, "sternpost run "+run).Scan(&pid); err != nil {
			t.Fatal(err)
		}
		killed = append(killed, pid)
		second := start()
		_ = first.End(t, syscall.SIGKILL)
		first = second
	}
	await("it is not done", fmt.Sprintf(`select done_at is not null from platform.task where key = '%s'`, run))
	var marks string
	if err := conn.QueryRow(t.Context(), `select string_agg(text, ' ' order by text) from app.mark`).Scan(&marks); err != nil {
		t.Fatal(err)
	}
	if marks != "begun ended" {
		t.Errorf("the effects of one run, taken up twice: %s", marks)
	}
}
