//go:build unix

package sql_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// TestEventsMove moves a database while a subscriber has read a part of what was written, a transaction was rolled back,
// and an event waits behind a failure: each write is told once, in the order of its record, also what is written then.
func TestEventsMove(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(t *testing.T, node *pgtest.Node, database *pgtest.DB) (cluster bool){
		"promotion": func(t *testing.T, node *pgtest.Node, database *pgtest.DB) bool {
			standby := node.Replica(t, "standby")
			standby.AwaitReplay(t, node)
			node.Kill(t)
			standby.Promote(t)
			*database = *database.At(standby)
			return true
		},
		"pg_upgrade": func(t *testing.T, node *pgtest.Node, database *pgtest.DB) bool {
			node.Upgrade(t)
			*database = *database.At(node)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := pgtest.NewNode(t)
			database := node.New(t, pgtest.Options{})
			makeChanges(t, database)
			owner, server := database.Owner(t), database.Server(t)
			identifier := func(conn *pgx.Conn) string {
				return value[string](t, conn, `select system_identifier::text from pg_control_system()`)
			}
			before := identifier(database.Superuser(t))

			exec(t, owner, `insert into app.broken values ('x'); insert into app.thing values ('a', '1'), ('b', '1'), ('c', 'fail'), ('d', '1'); update app.thing set note = '2' where id = 'a'`)
			exec(t, server, `select platform.events_run('watch', 3, true)`) // a part
			open := database.Owner(t)
			exec(t, open, `begin; insert into app.thing values ('undone', '1')`)
			exec(t, owner, `update app.thing set note = '3' where id = 'a'; insert into app.thing values ('e', '1'); delete from app.broken`)

			isSame := move(t, node, database)
			owner, server = database.Owner(t), database.Server(t)
			if got := identifier(database.Superuser(t)); (got == before) != isSame {
				t.Fatalf("the cluster was %s and is %s", before, got)
			}
			exec(t, owner, `insert into app.thing values ('f', '1'); update app.thing set note = '4' where id = 'a'`)
			for range 4 {
				run(t, server, 10)
				exec(t, owner, `update platform.task set due_at = now() where done_at is null`)
				exec(t, server, `select platform.event_retry((task->>'id')::bigint) from json_array_elements(platform.task_take('event', 'watch', '1 minute', null, 10)) as task`)
			}
			got := strings.Join(values[string](t, owner, `
				select record || string_agg(event #>> '{target,data,note}', '' order by place) from app.told group by record order by record`), " ")
			if want := "a1234 b1 cfail d1 e1 f1"; got != want {
				t.Errorf("told %s, want %s", got, want)
			}
			if left := value[string](t, owner, `select count(*)::text from platform.task where done_at is null`); left != "0" {
				t.Errorf("%s tasks are left", left)
			}
			if emptied := value[int](t, server, `select platform.events_tend('0 seconds')`); emptied < 1 {
				t.Error("what everybody has read stays")
			}
		})
	}
}
