package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/gate"
	"github.com/sternpost/sternpost/server/pipeline"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// clients are callers that can leave.
type client struct {
	net.Conn
	left atomic.Bool
}

func hasLeft(c net.Conn) bool { return c.(*client).left.Load() }

// longEnough is how long a test waits for an expected event. It is far more than needed, even on the busiest machine.
const longEnough = 2 * time.Minute

// start makes a pool on a database of its own, and waits until it has connected.
func start(t *testing.T, change func(*pipeline.Options)) (*pipeline.Pool, *pgtest.DB) {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	options := pipeline.Options{
		Connections: 1, Depth: 8, Wait: 10 * time.Second, Limit: 20 * time.Second, HasLeft: hasLeft,
		Connect: func(ctx context.Context) (*pgconn.PgConn, error) { return pgconn.Connect(ctx, db.SuperuserURL()) },
	}
	if change != nil {
		change(&options)
	}
	p := pipeline.New(options)
	ctx, stop := context.WithCancel(context.Background())
	go p.Watch(ctx)
	go func() {
		for ctx.Err() == nil {
			p.Look(time.Now())
			time.Sleep(20 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); p.Close() })
	connect(t, p, options.Connections)
	return p, db
}

// connect waits for the given number of idle connections: the pool sends a query behind a slow statement elsewhere,
// even after the client of the slow one has left.
func connect(t *testing.T, p *pipeline.Pool, want int) {
	t.Helper()
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		n, busy := p.Connections()
		switch {
		case n == want && busy == 0:
			return
		case n == want:
			continue
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _, _ = text(p, nil, "select pg_sleep(0.002)::text || $1", "") })
		}
		all.Wait()
	}
	t.Fatalf("there are not %d connections", want)
}

// text runs a statement and returns the first column of all rows, joined.
func text(p *pipeline.Pool, c *client, sql string, params ...string) (string, error) {
	q := pipeline.Query{SQL: sql}
	for _, param := range params {
		q.Params = append(q.Params, []byte(param))
	}
	if c != nil {
		q.Client = c
	}
	var got []string
	q.Row = func(columns [][]byte) bool { got = append(got, string(columns[0])); return true }
	err := p.Do(&q)
	return strings.Join(got, ","), err
}

func sqlstate(err error) string {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return raised.Code
	}
	return ""
}

// TestEachGetsItsOwn has many callers with many kinds of statements on two connections.
// If one of them fails in any way, the others still get exactly their answers.
func TestEachGetsItsOwn(t *testing.T) {
	t.Parallel()
	p, db := start(t, func(o *pipeline.Options) { o.Connections = 2 })
	holder := db.Superuser(t)
	if _, err := holder.Exec(t.Context(), `
		create function fail(text) returns text language plpgsql as $$
		begin perform set_config('test.own', $1, true); raise exception '%', $1 using errcode = 'SP403'; end $$;
		-- It ends by its own time: a limit for all statements would on a busy machine end others too.
		create function ends(text) returns text language plpgsql set lock_timeout = '150ms' as $$
		begin perform pg_advisory_xact_lock(1); return $1; end $$;
		select pg_advisory_lock(1)`); err != nil {
		t.Fatal(err)
	}
	const callers, each = 24, 120
	var answered, refused, ended, elsewhere, left atomic.Int64
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(caller)))
			for call := 0; call < each; {
				own := fmt.Sprintf("%d.%d", caller, call)
				c := &client{}
				var got, want string
				var err error
				switch kind := random.IntN(100); {
				case kind < 50:
					want = own + "/"
					got, err = text(p, c, "select $1 || '/' || coalesce(current_setting('test.own', true), '')", own)
				case kind < 70:
					want = own
					got, err = text(p, c, "select set_config('test.own', $1, true)", own)
				case kind < 85:
					n := random.IntN(2000)
					want = own + strings.Repeat(","+own, n)
					got, err = text(p, c, "select $1::text from generate_series(0, $2::int)", own, strconv.Itoa(n))
				case kind < 97:
					_, err = text(p, c, "select fail($1)", own)
					if raised := (*pgconn.PgError)(nil); errors.As(err, &raised) && raised.Code == "SP403" {
						refused.Add(1)
						if raised.Message != own {
							t.Errorf("caller %s got the error of %s", own, raised.Message)
						}
						call++
						continue
					}
				case kind < 99:
					_, err = text(p, c, "select ends($1)", own)
					if sqlstate(err) == "55P03" {
						ended.Add(1)
						call++
						continue
					}
				default:
					time.AfterFunc(20*time.Millisecond, func() { c.left.Store(true) })
					_, err = text(p, c, "select pg_sleep(0.12)::text || $1", own)
					if err == gate.ErrLeft {
						left.Add(1)
						call++
						continue
					}
				}
				switch {
				case err == pipeline.ErrElsewhere:
					elsewhere.Add(1)
					time.Sleep(time.Millisecond)
					continue
				case err != nil:
					t.Errorf("caller %s: %v", own, err)
				case want != "" && got != want:
					t.Errorf("caller %s got %.60q, want %.60q", own, got, want)
				default:
					answered.Add(1)
				}
				call++
			}
		})
	}
	all.Wait()
	t.Logf("answered %d, refused %d, ended by time %d, left %d, elsewhere %d",
		answered.Load(), refused.Load(), ended.Load(), left.Load(), elsewhere.Load())
	for what, n := range map[string]int64{"answered": answered.Load(), "refused": refused.Load(), "ended": ended.Load(), "elsewhere": elsewhere.Load()} {
		if n == 0 {
			t.Errorf("no call was %s: the test did not try what it is for", what)
		}
	}
}

func TestMovesFromBehindASlowOne(t *testing.T) {
	t.Parallel()
	p, db := start(t, nil)
	var slow sync.WaitGroup
	slow.Go(func() {
		if _, err := text(p, nil, "select pg_sleep(20)::text || $1", ""); sqlstate(err) != "57014" {
			t.Errorf("the slow one: got %v, want that it was cancelled in the end", err)
		}
	})
	waitSleeping(t, db)
	// While it runs no query is answered here, either behind it or without a place.
	for range 20 {
		if _, err := text(p, nil, "select $1", "x"); err != pipeline.ErrElsewhere {
			t.Errorf("got %v, want ErrElsewhere", err)
		}
	}
	p.CancelAll()
	slow.Wait()
	connect(t, p, 1)
	if got, err := text(p, nil, "select $1", "after"); err != nil || got != "after" {
		t.Errorf("afterwards: got %q, %v", got, err)
	}
}

func TestClientLeaves(t *testing.T) {
	t.Parallel()
	p, db := start(t, nil)
	gone := &client{}
	var left sync.WaitGroup
	left.Go(func() {
		if _, err := text(p, gone, "select pg_sleep(20)::text || $1", ""); err != gate.ErrLeft {
			t.Errorf("got %v, want ErrLeft", err)
		}
	})
	waitSleeping(t, db)
	gone.left.Store(true)
	left.Wait()
	connect(t, p, 1)
	if got, err := text(p, nil, "select $1", "after"); err != nil || got != "after" {
		t.Errorf("afterwards: got %q, %v", got, err)
	}
}

func TestForgottenTimeLimit(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(o *pipeline.Options) { o.Limit = 50 * time.Millisecond })
	if _, err := text(p, nil, "select pg_sleep(30)::text || $1", ""); sqlstate(err) != "57014" {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	p, db := start(t, nil)
	terminate := func() {
		t.Helper()
		if _, err := db.Superuser(t).Exec(t.Context(),
			"select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("while it runs", func(t *testing.T) {
		var run sync.WaitGroup
		run.Go(func() {
			if _, err := text(p, nil, "select pg_sleep(20)::text || $1", ""); err != pipeline.ErrElsewhere {
				t.Errorf("got %v, want ErrElsewhere", err)
			}
		})
		waitSleeping(t, db)
		terminate()
		run.Wait()
	})
	t.Run("while it idles", func(t *testing.T) {
		connect(t, p, 1)
		terminate()
		if got, err := text(p, nil, "select $1", "x"); err != pipeline.ErrElsewhere && (err != nil || got != "x") {
			t.Errorf("got %q, %v", got, err)
		}
	})
	connect(t, p, 1)
	got, err := text(p, nil, "select $1", "after")
	for deadline := time.Now().Add(longEnough); err == pipeline.ErrElsewhere && time.Now().Before(deadline); { // a connection whose end is not noticed yet
		time.Sleep(20 * time.Millisecond)
		got, err = text(p, nil, "select $1", "after")
	}
	if err != nil || got != "after" {
		t.Errorf("afterwards: got %q, %v", got, err)
	}
}

func TestStatementThatIsNotThere(t *testing.T) {
	t.Parallel()
	p, db := start(t, nil)
	for range 2 {
		if _, err := text(p, nil, "select later($1)", "x"); sqlstate(err) != "42883" {
			t.Fatalf("got %v, want an undefined function", err)
		}
	}
	if _, err := db.Superuser(t).Exec(t.Context(), "create function later(text) returns text language sql as 'select $1'"); err != nil {
		t.Fatal(err)
	}
	if got, err := text(p, nil, "select later($1)", "x"); err != nil || got != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	p, _ := start(t, nil)
	for _, size := range []int{1, 8 << 10, 16<<10 - 7, 16 << 10, 100_000, 5 << 20} {
		got, err := text(p, nil, "select repeat('x', $1::int)", strconv.Itoa(size))
		if err != nil || len(got) != size {
			t.Errorf("%d: got %d, %v", size, len(got), err)
		}
	}
	got, err := text(p, nil, "select i from generate_series(1, $1::int) i", "50000")
	if err != nil || !strings.HasSuffix(got, ",49999,50000") {
		t.Errorf("many rows: got …%q, %v", got[max(0, len(got)-20):], err)
	}
}

func TestEnoughRows(t *testing.T) {
	t.Parallel()
	p, _ := start(t, nil)
	n := 0
	err := p.Do(&pipeline.Query{
		SQL: "select generate_series(1, $1::int)", Params: [][]byte{[]byte("100000000")},
		Row: func([][]byte) bool { n++; return n < 10 },
	})
	if err != nil || n != 10 {
		t.Errorf("got %d rows, %v, want 10", n, err)
	}
	connect(t, p, 1)
	if got, err := text(p, nil, "select $1", "after"); err != nil || got != "after" {
		t.Errorf("afterwards: got %q, %v", got, err)
	}
}

func TestFormatsAndNulls(t *testing.T) {
	t.Parallel()
	p, _ := start(t, nil)
	var rows [][]string
	err := p.Do(&pipeline.Query{
		SQL: "select null, '', 258::int8, $1::text", Params: [][]byte{nil}, Formats: []int16{0, 0, 1, 0},
		Row: func(columns [][]byte) bool {
			row := make([]string, len(columns))
			for i, c := range columns {
				row[i] = fmt.Sprintf("%v %q", c == nil, c)
			}
			rows = append(rows, row)
			return true
		},
	})
	want := `[[true "" false "" false "\x00\x00\x00\x00\x00\x00\x01\x02" true ""]]`
	if got := fmt.Sprint(rows); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// waitSleeping waits until a statement sleeps in the database.
func waitSleeping(t *testing.T, db *pgtest.DB) {
	t.Helper()
	conn := db.Superuser(t)
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var sleeps bool
		err := conn.QueryRow(t.Context(), "select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')").Scan(&sleeps)
		if err != nil {
			t.Fatal(err)
		}
		if sleeps {
			return
		}
	}
	t.Fatal("nothing sleeps")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	p, _ := start(t, func(o *pipeline.Options) { o.Connections = 2 })
	p.Open() // does nothing if one exists
	expect(t, p, 2, 0)
	p.Reset()
	expect(t, p, 0, 0)
	for range 2000 { // closing ones still exist
		p.Open()
		if all, _ := p.Connections(); all == 1 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("no connection was opened")
}

// late is a connection whose writes return late if it is told so.
type late struct {
	net.Conn
	isLate atomic.Bool
}

func (c *late) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.isLate.Load() {
		time.Sleep(100 * time.Millisecond)
	}
	return n, err
}

// TestSlowWriteBefore takes over connections whose last statement was sent slowly. Their driver reads in the background
// then, and would read the next answer too.
func TestSlowWriteBefore(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	p := pipeline.New(pipeline.Options{
		Connections: 1, Depth: 8, Wait: time.Second, Limit: time.Hour,
		Connect: func(ctx context.Context) (*pgconn.PgConn, error) {
			config, err := pgconn.ParseConfig(db.SuperuserURL())
			if err != nil {
				return nil, err
			}
			var slow *late
			dial := config.DialFunc
			config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				slow = &late{Conn: conn}
				return slow, err
			}
			pg, err := pgconn.ConnectConfig(ctx, config)
			if err != nil {
				return nil, err
			}
			slow.isLate.Store(true)
			_, err = pg.Exec(ctx, "select 1").ReadAll()
			slow.isLate.Store(false)
			return pg, err
		},
	})
	t.Cleanup(p.Close)
	answered := make(chan error, 1)
	go func() {
		err := pipeline.ErrElsewhere
		for errors.Is(err, pipeline.ErrElsewhere) { // until there is a connection
			time.Sleep(2 * time.Millisecond)
			_, err = text(p, nil, "select 'x'")
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the answer was read by something else")
	}
}
