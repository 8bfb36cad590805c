package pipeline_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

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
		}, false, "stays open"},
		{"the caller looks whether the database has ended it", func(t *testing.T, e *pipeline.Exclusive, pg *pgconn.PgConn) (bool, error) {
			if e.IsGone() {
				t.Error("it is gone before")
			}
			end(t, pg)
			if !e.IsGone() {
				t.Error("it is not gone afterwards")
			}
			_, mayHaveRun, err := run(e, "select 1")
			return mayHaveRun, err
		}, false, pipeline.ErrGone.Error()},
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
	if _, err := db.Superuser(t).Exec(t.Context(), "select pg_terminate_backend($1, 60000)", pg.PID()); err != nil {
		t.Fatal(err)
	}
	if _, mayHaveRun, err := run(e, "select $1", "after"); mayHaveRun || err != pipeline.ErrGone {
		t.Errorf("after the end: got %v, %v", mayHaveRun, err)
	}
}

// TestExclusiveAnswers sends answers that Postgres gives rarely or never, and what a pooler sends in its place. A
// query after an answer that leaves the connection open runs.
func TestExclusiveAnswers(t *testing.T) {
	t.Parallel()
	message := func(kind byte, body string) string {
		return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body)))) + body
	}
	const fatal = "SFATAL\x00VFATAL\x00C57P01\x00Mterminating connection\x00\x00"
	ready := message('Z', "I")
	row := message('1', "") + message('2', "") + message('D', "\x00\x01\x00\x00\x00\x01x")
	done := row + message('C', "SELECT 1\x00")
	for _, test := range []struct {
		name, answer string
		before       string // the statement before each query, as behind a pooler
		mayHaveRun   bool
		fails        string
		isOpen       bool
	}{
		{"an answer", done + ready, "", true, "", true},
		{"with a notification behind it", done + ready + message('A', "\x00\x00\x00\x01c\x00p\x00"), "", true, "", true},
		{"with an end behind it", done + ready + message('E', fatal), "", true, "", false},
		{"an end in place of it", message('E', fatal), "", false, pipeline.ErrGone.Error(), false},
		{"an end in place of it, behind a pooler", message('E', fatal), "select", false, "terminating", false},
		{"an end within it", row + message('E', fatal), "", false, "terminating", false},
		{"an end before its transaction is reported", done + message('E', fatal), "", true, "terminating", false},
		{"nothing after the rows", done, "", true, "read from the database", false},
		{"a transaction that stays open", done + message('Z', "T"), "", false, "stays open", false},
		{"a pooler's line was too long", message('E', "SFATAL\x00C08P01\x00Mquery_wait_timeout\x00\x00"), "", false, "query_wait_timeout", false},
		{"a pooler cannot connect", message('E', "SFATAL\x00C08P01\x00Mserver login has been failing\x00\x00"), "", false, "login", false},
		{"a pooler lost the connection", row + message('E', "SFATAL\x00C08P01\x00Mserver conn crashed?\x00\x00"), "", true, "crashed", false},
		{"a length that cannot be", "D\x00\x00\x00\x00", "", true, "a message of", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pg := scripted(t, test.answer, done+ready)
			e := pipeline.ExclusiveOf(pg, func(*pgconn.PgConn) pipeline.Manner { return pipeline.Manner{Before: test.before} })
			_, mayHaveRun, err := run(e, "select 1")
			text := ""
			if err != nil {
				text = err.Error()
			}
			if mayHaveRun != test.mayHaveRun || (text == "") != (test.fails == "") || !strings.Contains(text, test.fails) {
				t.Errorf("got %v, %q, want %v, %q", mayHaveRun, text, test.mayHaveRun, test.fails)
			}
			if pg.IsClosed() == test.isOpen {
				t.Errorf("the connection is closed: %v", pg.IsClosed())
			}
			if !test.isOpen {
				return
			}
			if got, _, err := run(e, "select 1"); err != nil || got != "x" {
				t.Errorf("the next query: got %q, %v", got, err)
			}
		})
	}
}

// scripted connects to a server that lets everybody in, and answers one query after the other. Then it closes the
// connection.
func scripted(t *testing.T, answers ...string) *pgconn.PgConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serveScript(l, answers) }()
	pg, err := pgconn.Connect(t.Context(), "postgres://somebody@"+l.Addr().String()+"/any?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pg.Close(context.Background())
		l.Close()
		<-served
	})
	return pg
}

func serveScript(l net.Listener, answers []string) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	backend := pgproto3.NewBackend(c, c)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return err
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := backend.Flush(); err != nil {
		return err
	}
	for _, answer := range answers {
		for isSync := false; !isSync; {
			message, err := backend.Receive()
			if err != nil {
				return err
			}
			_, isSync = message.(*pgproto3.Sync)
		}
		if _, err := io.WriteString(c, answer); err != nil || !strings.HasSuffix(answer, "I") && !strings.Contains(answer, "p\x00") {
			return err
		}
	}
	return nil
}

// TestExclusiveFreesRows tests that a connection does not keep the memory of a large row.
func TestExclusiveFreesRows(t *testing.T) {
	e, _ := alone(t, pgtest.New(t, pgtest.Options{}), pipeline.Manner{})
	const large = 64 << 20
	freed := make(chan bool, 1)
	if _, err := e.Do(&pipeline.Query{SQL: "select 'a', repeat('x', " + strconv.Itoa(large) + ")", Row: func(columns [][]byte) bool {
		runtime.AddCleanup(&columns[1][0], func(freed chan bool) { freed <- true }, freed)
		return true
	}}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(e)
			return
		case <-time.After(100 * time.Millisecond): // cleanups run in the background
		}
	}
	t.Error("a row is kept after its query")
	runtime.KeepAlive(e)
}
