package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// database is the way to Postgres.
type database struct {
	pool    *pgxpool.Pool
	size    int32
	wait    time.Duration
	running *calls
}

// statement is the call of one function. It is prepared once per connection.
type statement struct {
	name string // on the connection
	sql  string
}

// newStatement builds the call of a function of schema api.
//
// A reading call runs read-only without a transaction block of its own. That its
// functions are stable is not enough: a stable function may call a volatile one, and
// custom code does. So the statement makes its own transaction read-only first;
// `case` evaluates its condition before the call, and the condition is volatile and
// so is not folded away. Measured on a get of 25.9 µs in the backend, this adds
// 0.2 µs; begin read only and commit, sent in the same round trip, add 15. A second
// pool with default_transaction_read_only would add nothing, but would halve the
// connections that a burst of either kind finds, and a transaction pooler would drop
// the setting.
func newStatement(function string, readOnly bool) statement {
	call := pgx.Identifier{"api", function}.Sanitize() + "($1, $2)"
	if !readOnly {
		return statement{name: "w_" + function, sql: "select " + call}
	}
	return statement{
		name: "r_" + function,
		sql: "select case when pg_catalog.set_config('transaction_read_only', 'on', true) is not null then " +
			call + " end",
	}
}

// openDatabase makes a pool. It does not connect.
func openDatabase(c *Config, role string) (*database, error) {
	if c.DatabaseURL == "" { // for which pgx would look elsewhere
		return nil, errors.New("database.url is required")
	}
	pc, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("read database.url: %w", err)
	}
	configureSession(pc.ConnConfig, c)
	pc.MaxConns = int32(c.PoolSize)
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return assumeRole(ctx, conn, role)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), pc)
	if err != nil {
		return nil, fmt.Errorf("make the pool of connections: %w", err)
	}
	return &database{pool: pool, size: pc.MaxConns, wait: c.PoolWait, running: &calls{limit: c.StatementTimeout}}, nil
}

// configureSession sets what every connection begins with.
func configureSession(cc *pgx.ConnConfig, c *Config) {
	if cc.ConnectTimeout == 0 || cc.ConnectTimeout > connectTimeout {
		cc.ConnectTimeout = connectTimeout
	}
	milliseconds := func(d time.Duration) string {
		return strconv.FormatInt(max(1, d.Milliseconds()), 10)
	}
	cc.RuntimeParams["statement_timeout"] = milliseconds(c.StatementTimeout)
	cc.RuntimeParams["lock_timeout"] = milliseconds(c.LockTimeout)
	cc.RuntimeParams["timezone"] = "UTC"
	cc.RuntimeParams["jit"] = "off" // calls are short: compiling a statement can cost twenty times what it saves
	cc.RuntimeParams["client_encoding"] = "UTF8"
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "sternpost"
	}
}

const connectTimeout = 5 * time.Second

// assumeRole gives up all rights but those of role, unless it is empty.
func assumeRole(ctx context.Context, conn *pgx.Conn, role string) error {
	if role == "" {
		return nil
	}
	if _, err := conn.Exec(ctx, "set role "+pgx.Identifier{role}.Sanitize()); err != nil {
		return fmt.Errorf("assume the role %s: %w", role, err)
	}
	return nil
}

// maxRetries is how often a call is repeated that lost against a concurrent one.
const maxRetries = 3

// call runs a statement and passes its one value, JSON text, to answer. The value is
// valid during that call only, and counts only if the error is nil: a statement may
// still fail when its transaction ends. A client that leaves ends the statement.
func (d *database) call(client net.Conn, st statement, input, callContext []byte, answer func([]byte)) error {
	for attempt := 0; ; attempt++ {
		err := d.attempt(client, st, input, callContext, answer)
		if err == nil || attempt == maxRetries || !isRepeatable(err) {
			return err
		}
		// Those that were in each other's way must not meet again.
		time.Sleep(time.Duration(1+rand.IntN(10<<attempt)) * time.Millisecond)
	}
}

// isRepeatable tells whether a call did nothing and may do better next time.
func isRepeatable(err error) bool {
	switch sqlstate(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case unpreparedStatement:
		return true
	}
	return false
}

// unpreparedStatement is what a connection raises that has lost its prepared
// statements, as custom code and poolers can bring about.
const unpreparedStatement = "26000"

// sqlstate returns the code of what the database raised, or an empty string.
func sqlstate(err error) string {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) {
		return ""
	}
	return raised.Code
}

func (d *database) attempt(client net.Conn, st statement, input, callContext []byte, answer func([]byte)) error {
	conn, err := d.acquire()
	if err != nil {
		return err
	}
	defer conn.Release() // closes it if something is still running on it, so after a panic too

	pg := conn.Conn().PgConn()
	call := d.running.begin(client, pg)
	defer func() {
		if cancelled := d.running.end(call); cancelled {
			_ = pg.Close(closedContext())
		}
	}()
	err = execute(pg, st, input, callContext, answer)
	switch {
	case err == nil:
		return nil
	case d.running.hasLeft(call):
		return timeout.with(errClientLeft)
	case pg.IsClosed():
		// The others are most likely as dead: do not find out one by one.
		d.pool.Reset()
		return unavailable.with(err)
	case sqlstate(err) == unpreparedStatement:
		_ = pg.Close(closedContext())
	}
	return err
}

// errClientLeft is why a statement was cancelled for whose answer nobody waits.
var errClientLeft = errors.New("the client has left")

// execute works one level below pgx: of the answer it needs one column of one row
// as it came, and no decoding.
func execute(pg *pgconn.PgConn, st statement, input, callContext []byte, answer func([]byte)) error {
	prepared, err := prepare(pg, st)
	if err != nil {
		return err
	}
	rows := pg.ExecStatement(context.Background(), prepared, [][]byte{input, callContext}, nil, nil)
	for rows.NextRow() {
		value := rows.Values()[0]
		if value == nil {
			value = []byte("null")
		}
		answer(value)
	}
	_, err = rows.Close()
	return err
}

// prepare returns the statement as the connection knows it.
func prepare(pg *pgconn.PgConn, st statement) (*pgconn.StatementDescription, error) {
	known := pg.CustomData()
	if sd, ok := known[st.name].(*pgconn.StatementDescription); ok {
		return sd, nil
	}
	sd, err := pg.Prepare(context.Background(), st.name, st.sql, nil)
	if err != nil {
		return nil, err
	}
	known[st.name] = sd
	return sd, nil
}

// acquire waits for a connection.
func (d *database) acquire() (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.wait)
	defer cancel()
	conn, err := d.pool.Acquire(ctx)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, context.DeadlineExceeded) && d.pool.Stat().AcquiredConns() == d.size:
		return nil, timeout.with(fmt.Errorf("wait for a connection: %w", err))
	default:
		return nil, unavailable.with(fmt.Errorf("connect to the database: %w", err))
	}
}

// closedContext has ended, so that closing a connection with it does not wait.
func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// close closes the pool. It waits for connections in use, but not for long.
func (d *database) close() {
	closed := make(chan struct{})
	go func() {
		d.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(cancelTimeout):
	}
}
