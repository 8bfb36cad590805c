package sql_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/role"
)

// withChanges makes a table whose changes are told to a subscriber, as the compiler prints it. What its code gets is in
// app.told; it fails for a row with the note "fail", as long as app.broken has a row.
func withChanges(t *testing.T) *pgtest.DB {
	t.Helper()
	database := pgtest.New(t, pgtest.Options{})
	makeChanges(t, database)
	return database
}

func makeChanges(t *testing.T, database *pgtest.DB) {
	t.Helper()
	exec(t, database.Owner(t), `
		create table app.thing (id text primary key, note text, secret text, updated_at timestamptz default now());
		create table app.told (place bigint generated always as identity, record text, name text, event jsonb);
		create table app.broken (id text);
		create trigger _500_change after insert or update or delete on app.thing
			for each row execute function platform.tg_change('Thing', 'secret');
		create function api.watch__thing(kind text, previous jsonb, data jsonb) returns jsonb language sql stable as $$
			select jsonb_build_object('variable', 'thing', 'data', data, 'previousData', previous) where data->>'note' is distinct from 'quiet'
		$$;
		create function api.watch__run(event jsonb, context jsonb) returns void language plpgsql as $$
		begin
			perform set_config('sternpost.depth', context->>'depth', true), set_config('sternpost.origin', 'watch', true);
			insert into app.told (record, name, event) values (event #>> '{target,id}', event->>'eventName', event);
			if event #>> '{target,data,note}' = 'fail' and exists (select from app.broken) then
				raise exception 'it is broken';
			end if;
			if event #>> '{target,data,note}' = 'chain' then
				insert into app.thing values (event #>> '{target,id}' || '+', 'chain');
			end if;
		end;
		$$;
		select platform.follow_consumers('{"subscribers": [{"name": "watch", "run": "watch__run", "events": {"Thing": "watch__thing"}}]}');
	`)
}

// run lets a server run the subscriber until it has read all.
func run(t *testing.T, conn *pgx.Conn, most int) {
	t.Helper()
	for value[bool](t, conn, `select cardinality(platform.events_waiting()) > 0`) {
		exec(t, conn, fmt.Sprintf(`select platform.events_run('watch', %d, true)`, most))
	}
}

// TestEvents tells of each write once, in order, and of none that was rolled back.
func TestEvents(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	told := func() string {
		t.Helper()
		return strings.Join(values[string](t, owner, `
			select concat_ws(' ', record, name, event->>'action', event->>'identityId', event->'target'->'data'->>'note', event->'target'->'previousData'->>'note')
			from app.told order by place`), "\n")
	}
	exec(t, owner, `
		begin;
		select set_config('sternpost.origin', 'createThing', true), set_config('sternpost.identity_id', 'ada', true);
		insert into app.thing values ('a', 'one', 'hush'), ('b', 'quiet', null);
		commit;
		begin;
		insert into app.thing values ('never');
		rollback;
		update app.thing set note = 'two', secret = 'other' where id = 'a';
		update app.thing set secret = 'third', updated_at = now() + interval '1 hour' where id = 'a';
		delete from app.thing where id = 'a';
	`)
	run(t, server, 2)
	want := "a thing.created createThing ada one\na thing.updated two one\na thing.deleted two"
	if got := told(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := value[bool](t, owner, `select bool_or(event::text like '%hush%' or event::text like '%other%') from app.told`); got {
		t.Error("an event has a column that is never told")
	}
	if got := value[string](t, owner, `select coalesce(string_agg(distinct event->>'id', ' '), '') from app.told where event->>'id' !~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$'`); got != "" {
		t.Errorf("ids that are no UUIDs: %s", got)
	}

	// What fails is tried again, and the later events of its record wait behind it; others do not.
	exec(t, owner, `truncate app.told; insert into app.broken values ('x');
		insert into app.thing values ('c', 'fail'), ('d', 'fine'); update app.thing set note = 'later' where id = 'c'`)
	run(t, server, 10)
	if got := told(); got != "d thing.created fine" {
		t.Errorf("while the code fails, got\n%s", got)
	}
	exec(t, owner, `truncate app.broken`)
	for range 2 {
		exec(t, owner, `update platform.task set due_at = now() where done_at is null`)
		exec(t, server, `select platform.event_retry((task->>'id')::bigint) from json_array_elements(platform.task_take('event', 'watch', '1 minute', null, 10)) as task`)
	}
	if got := told(); got != "d thing.created fine\nc thing.created fail\nc thing.updated later fail" {
		t.Errorf("when the code works again, got\n%s", got)
	}

	// A chain of events ends.
	exec(t, owner, `truncate app.told; insert into app.thing values ('e', 'chain')`)
	run(t, server, 10)
	if got := value[int](t, owner, `select count(*)::int from app.told`); got != 16 {
		t.Errorf("a chain had %d events, want 16", got)
	}
	if got := value[string](t, owner, `select failure from platform.task where failed_at is not null`); got != "it ends a chain of more than 15 events" {
		t.Errorf("the last of a chain: %s", got)
	}

	// An event that is too large says so.
	exec(t, owner, `truncate app.told; insert into app.thing values ('f', repeat('x', 1100000))`)
	run(t, server, 10)
	if got := value[string](t, owner, `select (event->'truncated')::text || (event->'target')::text from app.told`); got != `true{"id": "f", "type": "Thing"}` {
		t.Errorf("a large event: %s", got)
	}
}

// TestEventsBesideWriters lets three servers read beside twelve writers, whose transactions last up to 1.5 seconds and
// are rolled back now and then: each row that was committed is told once, and those of a record in their order.
func TestEventsBesideWriters(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner := database.Owner(t)
	ctx, stop := context.WithTimeout(t.Context(), 8*time.Second)
	defer stop()

	var writers, readers sync.WaitGroup
	for w := range 12 {
		conn := database.Owner(t)
		random := rand.New(rand.NewPCG(uint64(w), 7))
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_ = pgx.BeginFunc(context.Background(), conn, func(tx pgx.Tx) error {
					for i := range 1 + random.IntN(4) {
						_, err := tx.Exec(context.Background(), `insert into app.thing values ($1, '0') on conflict (id) do update set note = (thing.note::int + 1)::text`,
							fmt.Sprintf("%d", 20*i+random.IntN(20))) // in one order, so that writers do not wait in a circle
						if err != nil {
							return err
						}
					}
					if random.IntN(8) == 0 {
						time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
					}
					if random.IntN(5) == 0 {
						return fmt.Errorf("rolled back")
					}
					return nil
				})
			}
		})
	}
	done := make(chan struct{})
	for range 3 {
		conn := database.Server(t)
		readers.Go(func() {
			for isLast := false; ; {
				select {
				case <-done:
					isLast = true
				default:
				}
				var waiting int
				if err := conn.QueryRow(context.Background(), `select cardinality(platform.events_waiting())`).Scan(&waiting); err != nil {
					t.Error(err)
					return
				}
				if _, err := conn.Exec(context.Background(), `select platform.events_run('watch', 20, true)`); err != nil {
					t.Error(err)
					return
				}
				if isLast && waiting == 0 {
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()

	wrote := value[int](t, owner, `select sum(note::int + 1)::int from app.thing`)
	if got := value[int](t, owner, `select count(*)::int from app.told`); got != wrote || wrote < 100 {
		t.Errorf("%d writes were told of %d", got, wrote)
	}
	if got := value[int](t, owner, `select count(distinct event->>'id')::int from app.told`); got != wrote {
		t.Errorf("%d different events were told of %d", got, wrote)
	}
	if got := value[int](t, owner, `select count(*)::int from (
		select (event #>> '{target,data,note}')::int - row_number() over (partition by record order by place) + 1 as off from app.told) as of_record where off <> 0`); got != 0 {
		t.Errorf("%d events came out of order", got)
	}
	t.Logf("%d writes", wrote)
}

// TestChangesAreEmptied empties the partitions that everybody has read, and no others, while a writer is at it.
func TestChangesAreEmptied(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	count := func() int { return value[int](t, owner, `select count(*)::int from platform.change`) }
	exec(t, owner, `insert into app.thing values ('a')`)
	if exec(t, server, `select platform.events_tend('0 seconds')`); count() != 1 {
		t.Error("a change is gone that a consumer has not read")
	}
	run(t, server, 10)
	if exec(t, server, `select platform.events_tend('1 hour')`); count() != 1 {
		t.Error("a change is gone before its time")
	}
	tx, err := database.Owner(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if exec(t, server, `select platform.events_tend('0 seconds')`); count() != 0 {
		t.Error("a change stays that everybody has read")
	}
	if got := value[int](t, owner, `select count(*)::int from app.told`); got != 1 {
		t.Errorf("%d events were told", got)
	}
}

// TestUnreadChangesStay keeps the change of a transaction that was running when a consumer read last, though later changes
// of its partition are read: also of a webhook that is stopped. Those of other days go, while a webhook is being read.
func TestUnreadChangesStay(t *testing.T) {
	t.Parallel()
	database := withHook(t)
	owner, other, server := database.Owner(t), database.Owner(t), database.Server(t)
	exec(t, other, `begin; insert into app.thing values ('slow')`)
	exec(t, owner, `insert into app.thing values ('quick')`)
	for range 2 {
		if l := lend(t, server, 10); l.Lease != nil {
			settle(t, server, l, nil, nil, nil)
		}
	}
	exec(t, other, `commit`)
	exec(t, server, `select platform.events_stop('watch')`)
	exec(t, owner, `update platform.change set day = (day + 6) % 8, at = at - interval '2 days'`)
	if n := value[int](t, server, `select platform.events_tend('1 day')`); n > 0 {
		t.Error("a change is gone that a webhook has not read")
	}
	exec(t, server, `select platform.events_resume('watch')`)
	exec(t, owner, `insert into app.thing values ('new')`)
	l := lend(t, server, 1)
	if l.String() != "slow" {
		t.Errorf("handed out %s", l)
	}
	settle(t, server, l, l.Last, nil, nil)
	settle(t, server, lend(t, server, 10), nil, nil, nil)
	exec(t, owner, `insert into app.thing values ('newer')`)
	if l := lend(t, server, 10); l.String() != "newer" {
		t.Errorf("handed out %s", l)
	}
	if n := value[int](t, server, `select platform.events_tend('1 day')`); n != 1 {
		t.Errorf("%d partitions were emptied that everybody has read", n)
	}
	if got := strings.Join(values[string](t, owner, `select record from platform.change order by seq`), " "); got != "new newer" {
		t.Errorf("the record has %s", got)
	}
}

// TestStayingAway gives up what a consumer has not read for too long, so that the record goes on, and nothing that is new.
func TestStayingAway(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	giveUp := func(want map[string]int) {
		t.Helper()
		if got := value[map[string]int](t, server, `select platform.events_give_up('3 days', 2)`); !maps.Equal(got, want) {
			t.Errorf("gave up %v, want %v", got, want)
		}
	}
	exec(t, owner, `insert into app.thing values ('a', 'one'), ('b', 'quiet'), ('c', 'three')`)
	giveUp(nil)
	exec(t, owner, `update platform.change set day = (day + 4) % 8, at = at - interval '4 days'`)
	exec(t, owner, `insert into app.thing values ('d', 'new')`)
	giveUp(map[string]int{"watch": 1})
	giveUp(map[string]int{"watch": 1})
	giveUp(map[string]int{"watch": 0})
	giveUp(nil)
	if got, want := strings.Join(values[string](t, owner, `select key || ' ' || coalesce(failure, 'due') from platform.task order by id`), ", "),
		"a its subscriber has not read it in time, c its subscriber has not read it in time, d due"; got != want {
		t.Errorf("tasks: %s\nwant %s", got, want)
	}
	exec(t, server, `select platform.events_tend('1 day')`)
	if got := values[string](t, owner, `select record from platform.change`); len(got) != 1 || got[0] != "d" {
		t.Errorf("the record has %s, want d", got)
	}
	exec(t, owner, `insert into app.thing values ('e', 'next')`)
	run(t, server, 10)
	if got := strings.Join(values[string](t, owner, `select record from app.told`), " "); got != "e" {
		t.Errorf("told of %s, want e", got)
	}
}

// TestStayingAwayByBytes gives up what a consumer has not read when more than so many bytes were written since, be it of
// today, and nothing of one that has read it.
func TestStayingAwayByBytes(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	most := func() string {
		return value[string](t, owner, `select (sum(pg_total_relation_size(inhrelid)) / 2)::bigint::text from pg_inherits where inhparent = 'platform.change'::regclass`)
	}
	giveUp := func(bytes string) int {
		return value[map[string]int](t, server, `select platform.events_give_up('3 days', 10000, `+bytes+`)`)["watch"]
	}
	exec(t, owner, `insert into app.thing select n::text, repeat(md5(n::text), 20) from generate_series(1, 2000) as n`)
	if got := giveUp("1073741824"); got != 0 {
		t.Errorf("gave up %d of few", got)
	}
	if got := giveUp(most()); got < 900 || got > 1500 {
		t.Errorf("gave up %d of 2000, about half of which may wait", got)
	}
	exec(t, owner, `insert into app.thing select n::text, repeat(md5(n::text), 20) from generate_series(2001, 4000) as n`)
	run(t, server, 1000)
	if got := giveUp(most()); got != 0 {
		t.Errorf("gave up %d that were read", got)
	}
}

// TestChangeRights lets only servers read events, by functions.
func TestChangeRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, name := range role.All() {
		for _, table := range []string{"change", "change_0", "consumer"} {
			if value[bool](t, owner, `select has_any_column_privilege($1, 'platform.' || $2, 'select, insert, update')`, name, table) {
				t.Errorf("%s may use platform.%s", name, table)
			}
		}
		for _, function := range values[string](t, owner, `
			select oid::regprocedure::text from pg_proc where pronamespace = 'platform'::regnamespace and proname in ('events_run', 'event_retry', 'events_give_up', 'events_tend', 'events_waiting',
				'events_lease', 'events_settle', 'events_stop', 'events_resume', 'events_state', 'events_list', 'events_mend', 'events_replay')`) {
			if value[bool](t, owner, `select has_function_privilege($1, $2, 'execute')`, name, function) != (name == role.Server) {
				t.Errorf("%s may execute %s, or the server may not", name, function)
			}
		}
	}
}

// TestEventsAfterRestore moves the record and what a consumer has seen to another cluster, whose transactions have smaller
// numbers: what was not seen is told once, and so is what is written there.
func TestEventsAfterRestore(t *testing.T) {
	t.Parallel()
	database := withChanges(t)
	owner, server := database.Owner(t), database.Server(t)
	exec(t, owner, `insert into app.thing values ('a', 'seen')`)
	run(t, server, 10)
	exec(t, owner, `insert into app.thing values ('b', 'not seen'); update app.thing set note = 'nor this' where id = 'b'`)
	exec(t, database.Superuser(t), `
		update platform.change set xid = (xid::text::bigint + 1000000)::text::xid8;
		update platform.consumer set
			cluster = 1,
			seen = (pg_snapshot_xmax(seen)::text::bigint + 1000000 || ':' || pg_snapshot_xmax(seen)::text::bigint + 1000000 || ':')::pg_snapshot,
			fence = (fence::text::bigint + 1000000)::text::xid8`)
	run(t, server, 10)
	exec(t, owner, `insert into app.thing values ('c', 'written here')`)
	run(t, server, 10)
	for range 2 {
		exec(t, server, `select platform.event_retry((task->>'id')::bigint) from json_array_elements(platform.task_take('event', 'watch', '1 minute', null, 10)) as task`)
	}
	got := strings.Join(values[string](t, owner, `select record || ' ' || (event #>> '{target,data,note}') from app.told order by place`), ", ")
	if want := "a seen, c written here, b not seen, b nor this"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
