package faults

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

var leastEvents = flag.Int("events", 0, "write for so many events, with a fault in between")

const tellingName = "events: 20 kill -9 of servers, 5 of Postgres, a release, a promotion of a synchronous standby"

// heardSchema has a subscriber that hears of each line.
var heardSchema = strings.Replace(schema, "item Text }", "item Text } @on([create], hear)", 1) +
	"model Heard { fields { line Text @index } @permission(expression: true, jobs: [hear]) }\n"

var hear = &syntax.Source{Name: "functions/hear.sql", Text: []byte(`create function functions.hear(event jsonb) returns void
language sql volatile security invoker as $$ insert into app.heard (line) values (event #>> '{target,id}') $$;`)}

// slowWriters is how many sessions write beside the clients, in transactions of up to 1.5 s, of which every other one is
// rolled back.
const slowWriters = 4

// TestTold is that row for few events, without the release. It is among all tests, and the benchmark is not.
func TestTold(t *testing.T) {
	t.Parallel()
	told := fault{name: "events: 4 kill -9 of servers, one of Postgres, a promotion of a synchronous standby", servers: 2, standby: synchronous, isTold: true,
		befall: func(f *field) { tellThrough(f, 4, false) }}
	r, _ := told.run(t)
	r.judge(t)
	if r.events == 0 {
		t.Error("nothing was written")
	}
	t.Logf("%d events", r.events)
}

// tell kills servers and the database, installs a release and promotes the standby, while code hears of what is written.
func tell(f *field) { tellThrough(f, 20, true) }

func tellThrough(f *field, kills int, isReleased bool) {
	ctx, stop := context.WithCancel(f.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for w := range slowWriters {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				f.writeSlowly(ctx, w, n)
			}
		})
	}
	for i := range kills {
		s := f.servers[i%len(f.servers)]
		s.end(f, syscall.SIGKILL)
		f.awaitWrites(time.Now())
		s.start(f)
		f.awaitLines(*leastEvents * (i + 1) / kills)
		if i%4 == 3 {
			f.primary.Kill(f)
			f.primary.Start(f)
			f.awaitWrites(time.Now())
		}
	}
	if isReleased {
		if err := installSchema(f.Context(), f.db.Owner(f), strings.Replace(heardSchema, "number Text ", `number Text  state Text @default("new") `, 1), hear); err != nil {
			f.Fatal(err)
		}
	}
	stop()
	all.Wait() // and so all calls that have waited for the release
	f.awaitWrites(time.Now())
	promote(f)
}

// writeSlowly writes an order in a transaction of its own, which may end with the database.
func (f *field) writeSlowly(ctx context.Context, writer, n int) {
	conn, err := pgx.Connect(ctx, f.db.OwnerURL())
	if err != nil {
		time.Sleep(20 * time.Millisecond)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	end := "commit"
	if n%2 == 1 {
		end = "rollback"
	}
	number := fmt.Sprintf("%sslow %d of %d", earlier, n, writer) // which the clients did not send
	_, _ = conn.Exec(ctx, fmt.Sprintf(`begin;
		with made as (insert into app."order" (number) values ('%[1]s') returning id)
		insert into app.line (order_id, item) select made.id, '%[2]s' from made, generate_series(1, 2);
		select pg_sleep(random() * 1.5);
		%[2]s`, number, end)) // its rows tell what became of it
}

// awaitLines waits until so many lines are stored.
func (f *field) awaitLines(least int) {
	conn, count := f.superuser(), 0
	for count < least {
		if err := conn.QueryRow(f.Context(), `select count(*)::int from app.line`).Scan(&count); err != nil {
			f.Fatal(err)
		}
		time.Sleep(time.Second)
	}
}

// compareEvents compares what the subscriber has heard with the lines, once nothing waits.
func (f *field) compareEvents(r *result) {
	conn := f.superuser()
	const query = `select count(*)::int, count(*) filter (where heard.times is null)::int, (sum(heard.times - 1))::int,
		(select count(*)::int from app.heard where not exists (select from app.line where line.id = heard.line))
		from app.line left join (select line, count(*) as times from app.heard group by line) as heard on heard.line = line.id`
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if err := conn.QueryRow(f.Context(), query).Scan(&r.events, &r.unheard, &r.heardAgain, &r.heardOfNothing); err != nil {
			f.Fatal(err)
		}
		if r.unheard == 0 || time.Now().After(deadline) {
			return
		}
	}
}
