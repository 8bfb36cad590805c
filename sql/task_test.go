package sql_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql"
	"github.com/sternpost/sternpost/sql/role"
)

// TestTasksAreMoved brings a platform with waiting mails, files and uploads to the queue: nothing that waits is lost.
func TestTasksAreMoved(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
	lock, err := sql.AwaitLock(t.Context(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, owner, `create schema platform`)
	migrator, err := lock.NewMigrator(t.Context(), "platform.schema_version", sql.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if err := migrator.MigrateTo(t.Context(), 37); err != nil {
		t.Fatal(err)
	}
	lock.Release()
	exec(t, owner, `
		insert into platform.mail (name, recipient, content, ends_at, attempts, sent_at, failed_at) values
			('resetPassword', 'waits@example.com', 'sealed', now() + interval '1 hour', 2, null, null),
			('resetPassword', 'sent@example.com', null, now() + interval '1 hour', 1, now(), null),
			('verifyEmail', 'failed@example.com', null, now() + interval '1 hour', 1, null, now());
		insert into platform.file (key, holders, released_at, created_at) values
			('held', 1, null, now()), ('released', 0, now(), now()), ('entered', 0, null, now());
		insert into platform.file_upload (key, action, field, minter, filename, content_type, size, expires_at, attached_at, cleared_at) values
			('minted', 'a', 'f', 'x', 'x', 'x', 1, now() + interval '1 hour', null, null),
			('attached', 'a', 'f', 'x', 'x', 'x', 1, now() + interval '1 hour', now(), null),
			('cleared', 'a', 'f', 'x', 'x', 'x', 1, now() + interval '1 hour', now(), now());
	`)
	if err := sql.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(values[string](t, owner, `
		select concat_ws(' ', kind, name, key, attempts, encode(content, 'escape'), case
			when done_at is not null then 'done'
			when failed_at is not null then 'failed'
			else 'due in ' || round(extract(epoch from due_at - now()) / 3600)
		end)
		from platform.task order by kind, key`), "\n")
	const want = `file  entered 0 due in 24
file  released 0 due in 0
mail verifyEmail failed@example.com 1 failed
mail resetPassword sent@example.com 1 done
mail resetPassword waits@example.com 2 sealed due in 0
upload  attached 0 due in 0
upload  cleared 0 due in 2
upload  minted 0 due in 2`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTaskOrder takes events of one record one after the other, also behind one that was given up, and runs of a job
// with equal inputs likewise.
func TestTaskOrder(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	take := func(kind string) string {
		t.Helper()
		return value[string](t, owner, `select coalesce((
			select string_agg(task->>'id', ' ') from json_array_elements(platform.task_take($1, null, '1 minute', null, 10)) as task), '')`, kind)
	}
	exec(t, owner, `insert into platform.task (kind, name, key, payload) values
		('event', 'ship', 'a', '{}'), ('event', 'ship', 'a', '{}'), ('event', 'ship', 'b', '{}'), ('event', 'bill', 'a', '{}'),
		('job', 'Close', null, '{"inputs": {"month": 1}}'), ('job', 'Close', null, '{"inputs": {"month": 1}}'), ('job', 'Close', null, '{"inputs": {"month": 2}}')`)
	for _, step := range []struct{ does, statement, kind, want string }{
		{"the first of each record", `select 1`, "event", "1 3 4"},
		{"one waits to be tried again", `select platform.task_failed(1, 'x', '1 hour')`, "event", ""},
		{"one is given up", `select platform.task_failed(1, 'x', null)`, "event", ""},
		{"it is done", `select platform.task_done(1, false)`, "event", "2"},
		{"the first of equal inputs", `select 1`, "job", "5 7"},
		{"it runs", `select 1`, "job", ""},
		{"it has failed", `select platform.task_failed(5, 'x', null)`, "job", "6"},
	} {
		exec(t, owner, step.statement)
		if got := take(step.kind); got != step.want {
			t.Errorf("%s: got %q, want %q", step.does, got, step.want)
		}
	}
}

// TestMailsSent counts what code has sent to a recipient within a day: what another server takes at the same time
// counts, and what failed, is older or is of an account does not.
func TestMailsSent(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner, other := db.Owner(t), db.Owner(t)
	const take = `select string_agg(task->>'sent', ' ') from json_array_elements(platform.task_take('mail', null, '1 minute', null, 1)) as task`
	exec(t, owner, `insert into platform.mail_template (name) values ('visit')`)
	exec(t, owner, `insert into platform.task (kind, name, key, done_at, failed_at) values
		('mail', 'visit', 'ada', now() - interval '2 days', null), ('mail', 'visit', 'ada', null, now()), ('mail', 'verifyEmail', 'ada', now(), null),
		('mail', 'visit', 'bo', now(), null), ('mail', 'visit', 'ada', now(), null), ('mail', 'visit', 'ada', null, null), ('mail', 'visit', 'ada', null, null)`)
	tx, err := owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var first string
	if err := tx.QueryRow(t.Context(), take).Scan(&first); err != nil {
		t.Fatal(err)
	}
	second := make(chan string)
	go func() {
		var sent string
		if err := other.QueryRow(t.Context(), take).Scan(&sent); err != nil {
			sent = err.Error()
		}
		second <- sent
	}()
	select {
	case <-second:
		t.Fatal("the second taker has not waited for the first")
	case <-time.After(300 * time.Millisecond):
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-second; first != "1" || got != "2" {
		t.Errorf("got %s, %s; want 1, 2", first, got)
	}
}

// TestTaskRights lets only servers use the queue, and nobody its table.
func TestTaskRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, name := range role.All() {
		if value[bool](t, owner, `select has_any_column_privilege($1, 'platform.task', 'select, insert, update')`, name) {
			t.Errorf("%s may use platform.task", name)
		}
		for _, function := range values[string](t, owner, `
			select oid::regprocedure::text from pg_proc where pronamespace = 'platform'::regnamespace and proname like 'task\_%'`) {
			if value[bool](t, owner, `select has_function_privilege($1, $2, 'execute')`, name, function) != (name == role.Server) {
				t.Errorf("%s may execute %s, or the server may not", name, function)
			}
		}
	}
}
