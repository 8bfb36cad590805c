package pipeline_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/pipeline"
)

// alone opens a connection for one caller.
func alone(t *testing.T, db *pgtest.DB, manner pipeline.Manner) (*pipeline.Exclusive, *pgconn.PgConn) {
	t.Helper()
	pg, err := pgconn.Connect(t.Context(), db.SuperuserURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close(context.Background()) })
	return pipeline.ExclusiveOf(pg, func(*pgconn.PgConn) pipeline.Manner { return manner }), pg
}

// run runs a statement and returns the first column of all rows, joined.
func run(e *pipeline.Exclusive, sql string, params ...string) (got string, mayHaveRun bool, err error) {
	q := pipeline.Query{SQL: sql}
	for _, p := range params {
		q.Params = append(q.Params, []byte(p))
	}
	var rows []string
	q.Row = func(columns [][]byte) bool { rows = append(rows, string(columns[0])); return true }
	mayHaveRun, err = e.Do(&q)
	return strings.Join(rows, ","), mayHaveRun, err
}

// TestExclusive runs queries of all kinds on a connection, one after the other, and uses it in another way between
// them.
func TestExclusive(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	if _, err := db.Superuser(t).Exec(t.Context(), "create table kept (id text primary key deferrable initially deferred)"); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3<<20)
	for name, manner := range map[string]pipeline.Manner{
		"prepared": {}, "unnamed": {Unnamed: true}, "with a statement before": {Before: "select where set_config('test.own', 'mine', true) is null"},
	} {
		t.Run(name, func(t *testing.T) {
			e, pg := alone(t, db, manner)
			for range 2 {
				for _, test := range []struct{ sql, param, want, code string }{
					{"select $1", "one", "one", ""},
					{"select $1 from generate_series(1, 3)", "three", "three,three,three", ""},
					{"select $1 where false", "none", "", ""},
					{"select $1::text || '!'", long, long + "!", ""},
					{"select $1::int / 0", "1", "", "22012"},
					{"select from nowhere where $1", "t", "", "42P01"},
					{"insert into kept values ($1), ('a'), ('a')", "b", "", "23505"}, // when its transaction ends
					{"select $1 from kept", "nothing", "", ""},
					{"do $$ begin raise notice 'a notice'; end $$", "", "", ""},
					{"set application_name = 'renamed'", "", "", ""}, // the database reports it
				} {
					var params []string
					if strings.Contains(test.sql, "$1") {
						params = append(params, test.param)
					}
					got, _, err := run(e, test.sql, params...)
					if got != test.want || sqlstate(err) != test.code || test.code == "" && err != nil {
						t.Errorf("%s: got %.60q, %v, want %.60q, %s", test.sql, got, err, test.want, test.code)
					}
					if got, err := ask(pg, "select $1 || coalesce(current_setting('test.own', true), '')", "pgconn"); err != nil || got != "pgconn" {
						t.Fatalf("%s: afterwards: got %q, %v", test.sql, got, err)
					}
				}
			}
			want := map[string]string{"prepared": "9", "unnamed": "0", "with a statement before": "10"}[name]
			got, err := ask(pg, "select count(*) from pg_prepared_statements where name <> $1", "")
			if err != nil || got != want { // the one that refers to a missing table is not among them
				t.Errorf("got %s prepared statements, %v, want %s", got, err, want)
			}
		})
	}
}

// TestExclusiveEnds breaks a connection in each way. It must be closed, and what has run must be known.
func TestExclusiveEnds(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	admin := db.Superuser(t)
	end := func(t *testing.T, pg *pgconn.PgConn) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), "select pg_terminate_backend($1, 60000)", pg.PID()); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name       string
		do         func(*testing.T, *pipeline.Exclusive, *pgconn.PgConn) (mayHaveRun bool, err error)
		mayHaveRun bool
		fails      string
	}{
		{"the database ends it before", func(t *testing.T, e *pipeline.Exclusive, pg *pgconn.PgConn) (bool, error) {
			end(t, pg)
			_, mayHaveRun, err := run(e, "select 1")
			return mayHaveRun, err
		}, false, pipeline.ErrGone.Error()},
		{"it is cut before", func(t *testing.T, e *pipeline.Exclusive, pg *pgconn.PgConn) (bool, error) {
			pg.Conn().(interface{ CloseRead() error }).CloseRead()
			_, mayHaveRun, err := run(e, "select 1")
			return mayHaveRun, err
		}, false, pipeline.ErrGone.Error()},
		{"the database ends it meanwhile", func(t *testing.T, e *pipeline.Exclusive, _ *pgconn.PgConn) (bool, error) {
			_, mayHaveRun, err := run(e, "select pg_terminate_backend(pg_backend_pid())")
			return mayHaveRun, err
		}, false, "terminating connection"},
		{"the line is cut meanwhile", func(t *testing.T, e *pipeline.Exclusive, pg *pgconn.PgConn) (bool, error) {
			return e.Do(&pipeline.Query{SQL: "select repeat('x', 1 << 20) from generate_series(1, 20)", Row: func([][]byte) bool {
				pg.Conn().(interface{ CloseRead() error }).CloseRead()
				return true
			}})
		}, true, "read from the database"},
		{"the rest is not wanted", func(t *testing.T, e *pipeline.Exclusive, _ *pgconn.PgConn) (bool, error) {
			return e.Do(&pipeline.Query{SQL: "select 1 from generate_series(1, 100)", Row: func([][]byte) bool { return false }})
		}, true, ""},
		{"a transaction stays open", func(t *testing.T, e *pipeline.Exclusive, _ *pgconn.PgConn) (bool, error) {
			_, mayHaveRun, err := run(e, "begin")
			return mayHaveRun, err
		}, true, ""},
		{"the caller panics", func(t *testing.T, e *pipeline.Exclusive, _ *pgconn.PgConn) (mayHaveRun bool, err error) {
			defer func() { recover() }()
			return e.Do(&pipeline.Query{SQL: "select 1", Row: func([][]byte) bool { panic("row") }})
		}, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, pg := alone(t, db, pipeline.Manner{})
			if got, _, err := run(e, "select $1", "before"); err != nil || got != "before" {
				t.Fatalf("before: got %q, %v", got, err)
			}
			mayHaveRun, err := test.do(t, e, pg)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if mayHaveRun != test.mayHaveRun || (text == "") != (test.fails == "") || !strings.Contains(text, test.fails) {
				t.Errorf("got %v, %q, want %v, %q", mayHaveRun, text, test.mayHaveRun, test.fails)
			}
			if !pg.IsClosed() {
				t.Error("the connection is not closed")
			}
		})
	}
}

// wrapped is a connection that hides its socket, as an encrypted one does.
type wrapped struct{ net.Conn }

func TestExclusiveWithoutSocket(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	config, err := pgconn.ParseConfig(db.SuperuserURL())
	if err != nil {
		t.Fatal(err)
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return wrapped{c}, err
	}
	pg, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(context.Background())
	e := pipeline.ExclusiveOf(pg, func(*pgconn.PgConn) pipeline.Manner { return pipeline.Manner{} })
	if e.NoticesGone() {
		t.Error("it looks at a socket that it does not have")
	}
	for _, want := range []string{"one", "two", strings.Repeat("x", 1<<20)} {
		if got, _, err := run(e, "select $1", want); err != nil || got != want {
			t.Errorf("got %.60q, %v, want %.60q", got, err, want)
		}
	}
}
