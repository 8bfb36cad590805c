package sql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// withHook makes a table whose changes are told to a webhook.
func withHook(t *testing.T) *pgtest.DB {
	t.Helper()
	database := withChanges(t)
	exec(t, database.Owner(t), `select platform.follow_consumers('{"subscribers": [{"name": "watch", "events": {"Thing": "watch__thing"}}]}')`)
	return database
}

// lent is what a lease hands out.
type lent struct {
	Read   int
	Last   *int64
	Lease  *string
	Events []struct {
		Seq    int64
		Record string
		Waits  bool
	}
}

func (l *lent) String() string {
	var all []string
	for _, e := range l.Events {
		all = append(all, strings.TrimSuffix(e.Record+" waits", strings.Repeat(" waits", map[bool]int{false: 1, true: 0}[e.Waits])))
	}
	return strings.Join(all, ", ")
}

// lend leases the webhook; nil means that another server has it.
func lend(t *testing.T, conn *pgx.Conn, most int) *lent {
	t.Helper()
	text := value[*string](t, conn, fmt.Sprintf(`select platform.events_lease('watch', '1 minute', pg_backend_pid(), %d)::text`, most))
	if text == nil {
		return nil
	}
	l := &lent{}
	if err := json.Unmarshal([]byte(*text), l); err != nil {
		t.Fatal(err)
	}
	return l
}

// settle settles a lease, up to a seq.
func settle(t *testing.T, conn *pgx.Conn, l *lent, last *int64, waiting, held []int64) []*int64 {
	t.Helper()
	if l.Lease == nil {
		t.Fatal("there is no lease")
	}
	return value[[]*int64](t, conn, `select platform.events_settle('watch', $1::text::timestamptz, $2, $3, $4, '1 minute')`, *l.Lease, last, waiting, held)
}

// TestWebhookLease hands out each event until it is settled, to one server at a time.
func TestWebhookLease(t *testing.T) {
	t.Parallel()
	database := withHook(t)
	owner, a, b := database.Owner(t), database.Server(t), database.Server(t)
	exec(t, owner, `insert into app.thing values ('a', 'one'), ('b', 'quiet'), ('c', 'three'), ('d', 'four'); update app.thing set note = 'two' where id = 'a'`)

	first := lend(t, a, 10)
	if got := first.String(); got != "a, c, d, a" || first.Read != 5 || first.Last != nil {
		t.Fatalf("handed out %s of %d, up to %v", got, first.Read, first.Last)
	}
	if l := lend(t, b, 10); l != nil || value[bool](t, b, `select 'watch' = any (platform.events_waiting())`) {
		t.Errorf("another server has it too: %v", l)
	}
	exec(t, owner, `insert into app.thing values ('e', 'late')`) // it is not in the snapshot that is read

	// The server ends: the same is handed out again.
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var second *lent
	for second == nil {
		second = lend(t, b, 10)
	}
	if got := second.String(); got != "a, c, d, a" {
		t.Fatalf("handed out again %s", got)
	}
	if ids := settle(t, b, first, nil, nil, nil); ids != nil {
		t.Errorf("a lease that was lost has settled %v", ids)
	}

	// The first has failed, so the second of its record waits; one was not begun.
	before := second.Events[2].Seq - 1
	ids := settle(t, b, second, &before, nil, []int64{second.Events[0].Seq})
	if len(ids) != 1 || ids[0] == nil {
		t.Fatalf("settled %v", ids)
	}
	if got := lend(t, b, 10).String(); got != "d, a waits" {
		t.Errorf("after the first two: %s", got)
	}
	exec(t, owner, `update platform.consumer set leased_until = now() - interval '1 second'`)
	third := lend(t, b, 1)
	if got := third.String(); got != "d" || third.Last == nil {
		t.Errorf("one of them: %s up to %v", got, third.Last)
	}
	settle(t, b, third, third.Last, nil, nil)
	fourth := lend(t, b, 10)
	settle(t, b, fourth, fourth.Last, []int64{fourth.Events[0].Seq}, nil)
	if got := lend(t, b, 10).String(); got != "e" {
		t.Errorf("at the end: %s", got)
	}

	// The task of the first is this server's; what waits behind it follows it.
	take := func() string {
		t.Helper()
		return value[string](t, owner, `select coalesce((select string_agg(task #>> '{payload,event,target,data,note}', ' ')
			from json_array_elements(platform.task_take('delivery', 'watch', '1 minute', null, 10)) as task), '')`)
	}
	if got := take(); got != "" {
		t.Errorf("a task of another server is taken: %s", got)
	}
	exec(t, b, fmt.Sprintf(`select platform.task_done(%d, false)`, *ids[0]))
	if got := take(); got != "two" {
		t.Errorf("behind the first there is %q", got)
	}
}

// TestWebhookStopped neither hands out nor repeats the events of a webhook that is stopped, until it is resumed.
func TestWebhookStopped(t *testing.T) {
	t.Parallel()
	database := withHook(t)
	owner, server := database.Owner(t), database.Server(t)
	exec(t, owner, `insert into app.thing values ('a', 'one'), ('c', 'three')`)
	l := lend(t, server, 10)
	ids := settle(t, server, l, nil, nil, []int64{l.Events[0].Seq})
	exec(t, server, fmt.Sprintf(`select platform.task_failed(%d, 'gone', '1 hour')`, *ids[0]))
	exec(t, server, `select platform.events_stop('watch')`)
	exec(t, owner, `insert into app.thing values ('d', 'four')`)
	exec(t, owner, `update platform.task set due_at = now()`)
	take := func() int {
		t.Helper()
		return value[int](t, server, `select json_array_length(platform.task_take('delivery', 'watch', '1 minute', null, 10))`)
	}
	if l, n := lend(t, server, 10), take(); l != nil || n > 0 || value[bool](t, server, `select cardinality(platform.events_waiting()) > 0`) {
		t.Errorf("while it is stopped, %v is handed out, and %d are repeated", l, n)
	}
	exec(t, owner, `update platform.task set due_at = now() + interval '1 hour'`)
	if !value[bool](t, server, `select platform.events_resume('watch')`) || value[bool](t, server, `select platform.events_resume('watch')`) {
		t.Error("it is not resumed once")
	}
	if l, n := lend(t, server, 10), take(); l.String() != "d" || n != 1 {
		t.Errorf("when it goes on, %v is handed out, and %d are repeated", l, n)
	}
}

// TestCodeBecomesWebhook keeps what waits for a subscriber whose code is taken away.
func TestCodeBecomesWebhook(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	exec(t, owner, `insert into app.broken values ('x'); insert into app.thing values ('a', 'fail')`)
	run(t, server, 10)
	exec(t, owner, `insert into app.thing values ('b', 'unread')`)
	exec(t, owner, `select platform.follow_consumers('{"subscribers": [{"name": "watch", "events": {"Thing": "watch__thing"}}]}')`)
	if got := lend(t, server, 10).String(); got != "b" {
		t.Errorf("handed out: %s", got)
	}
	if got := strings.Join(values[string](t, owner, `select kind || ' ' || key from platform.task`), ", "); got != "delivery a" {
		t.Errorf("tasks: %s", got)
	}
}

// TestEventsAreMended lists what waits and what was given up, tells it again or passes over it, and replays.
func TestEventsAreMended(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	list := func(isAll bool) string {
		t.Helper()
		return strings.Join(values[string](t, server, `
			select concat_ws(' ', listed->>'id', listed->>'subscriber', listed #>> '{event,eventName}', listed #>> '{event,target,id}', listed->>'state', listed->>'attempts')
			from json_array_elements(platform.events_list(20, $1)) as listed order by 1, listed->>'state'`, isAll), "\n")
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
		}
	}
	exec(t, owner, `
		insert into app.thing values ('a', 'told'), ('z', 'quiet');
		insert into app.broken values ('x');
		insert into app.thing values ('b', 'fail'), ('c', 'fail');
		update app.thing set note = 'after' where id = 'b'`)
	run(t, server, 10)
	exec(t, owner, `insert into app.thing values ('d', 'unread')`)
	check("at first", list(false), "1 watch thing.created b waiting 1\n2 watch thing.created c waiting 1\n3 watch thing.updated b waiting 0")
	check("all of it", list(true), list(false)+"\nwatch thing.created a done 1\nwatch thing.created d unread 0")

	exec(t, owner, `update platform.task set failed_at = now() where id in (1, 2)`)
	state := value[string](t, server, `select concat_ws(' ', state->>'name', state->>'isCode', state->>'changes', state->>'waiting', state->>'dead', (state->>'seconds')::numeric > 0)
		from json_array_elements(platform.events_state()) as state`)
	check("the subscriber", state, "watch true 1 1 2 t")
	retry := func() {
		exec(t, server, `select platform.event_retry((task->>'id')::bigint) from json_array_elements(platform.task_take('event', 'watch', '1 minute', null, 10)) as task`)
	}
	retry()
	check("given up", list(false), "1 watch thing.created b dead 1\n2 watch thing.created c dead 1\n3 watch thing.updated b waiting 0")

	for _, test := range []struct{ call, want string }{
		{`select platform.events_mend(true, 99, '99')`, "0"}, {`select platform.events_mend(true, 1, '1')`, "1"}, {`select platform.events_mend(true, 1, '1')`, "0"},
		{`select platform.events_mend(false, null, 'watch')`, "2"}, {`select platform.events_mend(false, null, 'other')`, "0"},
	} {
		check(test.call, value[string](t, server, "select ("+test.call+")::text"), test.want)
	}
	exec(t, owner, `truncate app.broken; truncate app.told`)
	retry()
	told := func() string {
		t.Helper()
		return strings.Join(values[string](t, owner, `select record || ' ' || (event #>> '{target,data,note}') from app.told order by place`), ", ")
	}
	check("told again", told(), "c fail, b after")
	check("nothing is left", list(false), "")

	run(t, server, 10)
	exec(t, owner, `truncate app.told; update platform.change set at = at - interval '1 day' where record = 'c'; insert into app.thing values ('e', 'not read')`)
	check("replay", value[string](t, server, `select platform.events_replay('watch', now() - interval '1 hour')::text`), "4")
	if value[*int](t, server, `select platform.events_replay('nobody', now())`) != nil {
		t.Error("a subscriber that does not exist is replayed")
	}
	for range 2 {
		retry()
	}
	run(t, server, 10)
	check("replayed", told(), "a told, b fail, d unread, b after, e not read")
}
