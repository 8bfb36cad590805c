package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/gate"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/server/telemetry"
	"github.com/sternpost/sternpost/sql/postgres"
)

// database is the way to Postgres.
type database struct {
	pool    *pgxpool.Pool
	role    string         // assumed by every connection; "" if none
	shared  *pipeline.Pool // for reads that share connections; nil if there are too few connections to share
	size    int            // the maximum number of connections, including the shared ones
	gate    *gate.Gate     // before the pool
	reserve *gate.Gate     // for everything but actions, when the pool is full
	wait    time.Duration
	limit   time.Duration // for a call
	turns   turns         // before the gate
	pulse   pulse
	running *calls
	writes  writability

	settings []startSetting
	prepares config.PreparedStatements
	isPlain  atomic.Bool // a pooler refuses the settings: connections begin without them
}

// statement is the call of one function. It is prepared once per connection.
type statement struct {
	*answer.Plan
	name   string // on the connection, followed by the name of the plan's statement
	shared bool   // it may share a connection, and be repeated
	custom bool   // it runs code of the project, which may leave something behind
	writes bool
	who    gate.Who // the action and the caller, which have their shares of the connections

	after func(*pgconn.PgConn) // runs after a successful write; nil means nothing
}

// newStatement builds the call of a function of an action.
//
// A reading function is stable, so that it cannot write; one that runs custom code makes
// its transaction read-only. The name contains the release: the same function of another
// release may answer other columns.
func newStatement(r answer.Release, function string, plan *answer.Plan) statement {
	return statement{Plan: plan.ForRelease(r), name: statementName(r.Number, function)}
}

// statementName names the statement of a function on a connection. Postgres keeps 63 bytes of it, and a plan adds up
// to eight more. The end of a name that is too long is replaced by a digest.
func statementName(number int64, function string) string {
	const room = 63 - len("_bounded")
	name := strconv.FormatInt(number, 10) + "_" + function
	if len(name) <= room {
		return name
	}
	digest := sha256.Sum256([]byte(function))
	return name[:room-17] + "_" + hex.EncodeToString(digest[:8])
}

// answered takes the rows of a call.
type answered interface {
	Statement() *answer.Statement
	Restart()                        // discards the rows so far: the call is repeated
	Row(values [][]byte) (more bool) // whether more rows are wanted
	Again() bool                     // whether the call must be repeated
}

// openDatabase makes a pool. It does not connect.
func openDatabase(c *config.Config, role string) (*database, error) {
	if c.DatabaseURL == "" { // pgx would look for it elsewhere
		return nil, config.Missing("database.url")
	}
	pc, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("read database.url: %w", err)
	}
	postgres.WantWrites(&pc.ConnConfig.Config, c.DatabaseURL)
	return openPool(pc, c, role)
}

// openPool makes a pool of connections to one place. It does not connect.
func openPool(pc *pgxpool.Config, c *config.Config, role string) (*database, error) {
	configureConnections(pc.ConnConfig)
	shared := sharedConnections(c.PoolSize)
	own := c.PoolSize - shared
	pc.MaxConns = int32(own + reserved)
	d := &database{
		size: c.PoolSize + reserved, wait: c.PoolWait, limit: c.StatementTimeout, running: &calls{limit: c.StatementTimeout},
		role: role, settings: startSettings(c), prepares: c.PreparedStatements,
		reserve: gate.New(gate.Options{Places: reserved, Most: reservedLine, Wait: c.PoolWait, HasLeft: listener.HasLeft}),
		turns:   turns{gate: gate.New(gate.Options{Places: 1, Wait: c.PoolWait, HasLeft: listener.HasLeft}), actions: map[string]bool{}},
	}
	pc.BeforeConnect = func(_ context.Context, cc *pgx.ConnConfig) error { d.beginWith(cc); return nil }
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return d.meet(ctx, conn.PgConn()) }
	var err error
	if d.pool, err = pgxpool.NewWithConfig(context.Background(), pc); err != nil {
		return nil, fmt.Errorf("make the pool of connections: %w", err)
	}
	places := gate.Options{Places: own, Wait: c.PoolWait, HasLeft: listener.HasLeft}
	if shared > 0 {
		d.shared = pipeline.New(pipeline.Options{
			Connections: shared, Depth: sharedDepth, Wait: c.PoolWait, Limit: c.StatementTimeout,
			HasLeft: listener.HasLeft, Connect: d.connectShared, Manner: mannerOf,
		})
		places.Borrow = func() gate.Loan {
			if loan := d.shared.Borrow(); loan != nil {
				return loan
			}
			return nil
		}
	}
	d.gate = gate.New(places)
	return d, nil
}

const (
	// reserved is the number of connections beyond the size of the pool, for sign-ins and everything else but
	// actions. These also take other connections if the pool has no queue.
	reserved = 1
	// reservedLine limits the queue for them: their statements are short, so that a long queue is soon served.
	reservedLine = 1024
)

// sharedConnections returns how many of size connections are shared by reads: half of
// them, and at most four, since four serve two cores as well as more would.
func sharedConnections(size int) int {
	return min(4, size/2)
}

// sharedDepth is the number of reads in flight on one connection.
const sharedDepth = 8

// connectShared opens a connection for shared reads.
func (d *database) connectShared(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	return conn.PgConn(), nil
}

// mannerOf returns how shared reads are made on a connection.
func mannerOf(pg *pgconn.PgConn) pipeline.Manner {
	s := sessionOf(pg)
	return pipeline.Manner{Before: s.settle, Unnamed: !s.isNamed}
}

// configureConnections sets how connections are made. Only this package prepares
// statements on them.
func configureConnections(cc *pgx.ConnConfig) {
	timeout := connectTimeout
	if postgres.HasSeveralHosts(&cc.Config) { // the timeout is for each host
		timeout = hostTimeout
	}
	if cc.ConnectTimeout == 0 || cc.ConnectTimeout > timeout {
		cc.ConnectTimeout = timeout
	}
	cc.DefaultQueryExecMode = pgx.QueryExecModeExec
	cc.RuntimeParams["client_encoding"] = "UTF8"
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "sternpost"
	}
}

const (
	connectTimeout = 5 * time.Second
	hostTimeout    = 2 * time.Second // where there is another host to try
)

// maxRetries is how often a call is retried after it lost against a concurrent one.
const maxRetries = 3

// call runs a statement and passes its rows to an answer. The answer counts only if the
// error is nil: a statement may still fail when its transaction ends. The statement ends
// when its client leaves.
func (d *database) call(client net.Conn, st statement, params [][]byte, into answered) error {
	if st.shared && d.shared != nil {
		err := d.callShared(client, st, params, into)
		if err != pipeline.ErrElsewhere && (err != nil || !into.Again()) {
			return err
		}
	}
	return d.repeat(client, st, into, func(pg *pgconn.PgConn) (bool, error) {
		return execute(pg, st, params, into)
	})
}

// repeat makes a call on a connection of its own, and retries it if it lost against a concurrent one. run tells
// whether a call that returned an error may have been carried out.
func (d *database) repeat(client net.Conn, st statement, into answered, run func(*pgconn.PgConn) (mayHaveRun bool, err error)) error {
	var until time.Time // the deadline of the retries
	wasGone := false
	for attempt := 0; ; attempt++ {
		into.Restart()
		began := time.Now()
		err := d.attempt(client, st, began, until, run)
		switch {
		case err == nil && into.Again():
			continue
		case err == pipeline.ErrGone && !wasGone: // nothing was sent
			wasGone = true
			attempt--
			continue
		case err == pipeline.ErrGone:
			return refusal.Unavailable.With(err)
		case err == nil || attempt == maxRetries || !isRepeatable(err):
			return err
		}
		if attempt == 0 {
			until = began.Add(d.limit)
		}
		if refusal.SQLState(err) == deadlock {
			d.turns.lose(st.who.Action, time.Now())
		}
		pause := pauseAfter(attempt)
		if time.Until(until) < pause {
			return err
		}
		time.Sleep(pause)
	}
}

// pauseAfter returns how long a call waits before a retry. The pause is random, so that
// calls that collided do not meet again, and grows: up to 40 ms, 160 ms and 640 ms.
func pauseAfter(attempt int) time.Duration {
	return time.Millisecond + rand.N(40*time.Millisecond<<(2*attempt))
}

// callShared makes a call on a connection that reads share, or returns
// pipeline.ErrElsewhere.
func (d *database) callShared(client net.Conn, st statement, params [][]byte, into answered) error {
	if !pipeline.Takes(params) {
		return pipeline.ErrElsewhere
	}
	call := into.Statement()
	err := d.shared.Do(&pipeline.Query{SQL: call.SQL, Params: params, Formats: call.Formats, Client: client, Row: into.Row})
	switch {
	case err == nil || err == pipeline.ErrElsewhere:
		return err
	case err == gate.ErrOverloaded, err == gate.ErrLeft:
		return d.refused(err)
	case isRepeatable(err):
		return pipeline.ErrElsewhere
	}
	return err
}

// isRepeatable tells whether a call did nothing and may succeed on a retry.
func isRepeatable(err error) bool {
	switch refusal.SQLState(err) {
	case "40001", deadlock: // serialization failure
		return true
	case unpreparedStatement:
		return true
	}
	return false
}

// deadlock is raised for one of the calls that wait for each other in a circle.
const deadlock = "40P01"

// unpreparedStatement is raised by a connection that has lost its prepared statements.
// Custom code and poolers can cause that.
const unpreparedStatement = "26000"

// attempt makes a call once. asked is the time at present, and until the deadline of a call that is repeated.
func (d *database) attempt(
	client net.Conn, st statement, asked, until time.Time, run func(*pgconn.PgConn) (mayHaveRun bool, err error),
) (err error) {
	if isRepeated := !until.IsZero(); isRepeated || st.writes && d.turns.isContended(st.who.Action, asked) {
		if _, err := d.turns.gate.Enter(st.who, client, asked); err != nil {
			return d.refused(err)
		}
		defer d.turns.gate.Leave(st.who)
	}
	conn, err := d.acquireAt(d.gate, st.who, client, asked)
	if err != nil {
		return err
	}
	defer conn.Release()
	waited := time.Since(asked)
	if waited > queueTime && listener.HasLeft(client) {
		return refusal.Timeout.With(request.ErrClientLeft)
	}

	pg := conn.pg()
	call := d.running.begin(client, pg, asked.Add(waited), until)
	defer func() {
		if cancelled := d.running.end(call); cancelled {
			_ = pg.Close(closedContext())
			if err == nil && st.writes && !d.running.hasLeft(call) {
				// This ends a commit that waits for a standby, and the commit is reported as done.
				err = refusal.OutcomeUnknown.With(errCancelled)
			}
		}
	}()
	mayHaveRun, err := run(pg)
	switch {
	case err == nil && st.after != nil:
		st.after(pg)
		return nil
	case err == nil:
		return nil
	case d.running.hasLeft(call):
		return refusal.Timeout.With(request.ErrClientLeft)
	case err == pipeline.ErrGone:
		_ = pg.Close(closedContext())
		d.reset()
	case pg.IsClosed():
		// The other connections are most likely dead too: do not find out one by one.
		d.reset()
		if st.writes && mayHaveRun {
			return refusal.OutcomeUnknown.With(err)
		}
		return refusal.Unavailable.With(err)
	case refusal.SQLState(err) == readOnly && st.writes:
		d.leaveReadOnly(pg)
	case refusal.SQLState(err) == unpreparedStatement, refusal.SQLState(err) == enteredAnother:
		_ = pg.Close(closedContext())
	case st.custom && !sessionOf(pg).isPooled(): // on the same connection
		// without a pooler, on the same connection
		if pg.Exec(context.Background(), "discard plans").Close() != nil {
			_ = pg.Close(closedContext())
		}
	}
	return err
}

// reset closes every connection once it is idle.
func (d *database) reset() {
	d.pool.Reset()
	if d.shared != nil {
		d.shared.Reset()
	}
}

// enteredAnother is raised by platform.leave if code has entered another action.
const enteredAnother = "SP500"

// queueTime is how long a call waits for a connection before the server checks its client. The gate has checked it
// until a place was free.
const queueTime = 20 * time.Millisecond

// execute works below pgx: the answer needs the columns as they came, without decoding.
func execute(pg *pgconn.PgConn, st statement, params [][]byte, into answered) (mayHaveRun bool, err error) {
	if st.custom {
		if st.writes && isGone(pg) {
			return false, pipeline.ErrGone
		}
		return executeCustom(pg, st, params, into)
	}
	e := pipeline.ExclusiveOf(pg, mannerOf)
	if st.writes && !e.NoticesGone() && listener.IsGone(pg.Conn()) {
		return false, pipeline.ErrGone
	}
	call := into.Statement()
	return e.Do(&pipeline.Query{SQL: call.SQL, Params: params, Formats: call.Formats, Row: into.Row})
}

// isGone tells whether the database has ended a connection, as far as this can be seen without a query.
func isGone(pg *pgconn.PgConn) bool {
	e := pipeline.ExclusiveOf(pg, mannerOf)
	if e.NoticesGone() {
		return e.IsGone()
	}
	return listener.IsGone(pg.Conn())
}

// mayHaveEnded tells whether a call that returned an error may still have taken effect in
// the database. It has not if nothing was sent, or if the database reports the error
// before it reports completion. pgx reports a closed connection also for one that broke
// while it read.
func mayHaveEnded(err error, isComplete bool) bool {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return isComplete
	}
	return !pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed)
}

// isComplete closes the rows of a statement, and tells whether the database has reported
// the statement as complete.
func isComplete(rows *pgconn.ResultReader) bool {
	tag, _ := rows.Close() // the rows keep the error
	return tag.String() != ""
}

// Every call of custom code is followed by these, in its transaction: the check whether the code has entered another
// action, and the reset of all settings that would outlive the call.
var (
	leaveCall     = sent{name: "leave", sql: "select platform.leave()"}
	resetSettings = sent{name: "reset", sql: "reset all"}
)

// executeCustom is execute for custom code. Behind a pooler, its transaction stays open
// when the code fails, until its plans are discarded: afterwards other clients use the
// connection to the database.
func executeCustom(pg *pgconn.PgConn, st statement, params [][]byte, into answered) (mayHaveRun bool, err error) {
	calls := []sent{callOf(st, params, into), leaveCall, resetSettings}
	if !sessionOf(pg).isPooled() {
		return executeAll(pg, calls...)
	}
	mayHaveRun, err = executeAll(pg, slices.Concat([]sent{beginning}, calls, []sent{ending})...)
	return mayHaveRun, rolledBack(pg, err)
}

// sent is one of several statements that are sent together.
type sent struct {
	name, sql string // the name under which it is prepared
	params    [][]byte
	formats   []int16
	row       func(values [][]byte) (more bool) // nil means that its rows are ignored
}

// callOf is the call of an action.
func callOf(st statement, params [][]byte, into answered) sent {
	call := into.Statement()
	return sent{name: st.name + call.Name, sql: call.SQL, params: params, formats: call.Formats, row: into.Row}
}

// executeAll runs statements in one round trip and, unless one has begun, in one
// transaction.
func executeAll(pg *pgconn.PgConn, statements ...sent) (mayHaveRun bool, err error) {
	session := sessionOf(pg)
	if session.isPooled() && pg.TxStatus() == 'I' {
		statements = slices.Concat([]sent{{name: "settle", sql: session.settle}}, statements)
	}
	var batch pgconn.Batch
	for _, s := range statements {
		if !session.isNamed {
			batch.ExecParams(s.sql, s.params, nil, nil, s.formats)
			continue
		}
		prepared, err := prepare(pg, s.name, s.sql)
		if err != nil {
			return false, err
		}
		batch.ExecStatement(prepared, s.params, nil, s.formats)
	}
	results := pg.ExecBatch(context.Background(), &batch)
	complete := 0
	for at := 0; results.NextResult(); at++ {
		rows := results.ResultReader()
		for rows.NextRow() {
			if row := statements[at].row; row != nil && !row(rows.Values()) {
				return true, nil
			}
		}
		if isComplete(rows) {
			complete++
		}
	}
	if err = results.Close(); err == nil {
		return true, nil
	}
	return mayHaveEnded(err, complete == len(statements)), err
}

// prepare returns the statement as the connection knows it.
func prepare(pg *pgconn.PgConn, name, sql string) (*pgconn.StatementDescription, error) {
	known := pg.CustomData()
	if sd, ok := known[name].(*pgconn.StatementDescription); ok {
		return sd, nil
	}
	sd, err := pg.Prepare(context.Background(), name, sql, nil)
	if err != nil {
		if sessionOf(pg).isPooled() { // the pooler still holds the name for taken
			_ = pg.Deallocate(context.Background(), name)
		}
		return nil, err
	}
	known[name] = sd
	return sd, nil
}

// connections counts the connections of the pool, and the shared ones.
func (d *database) connections() telemetry.Connections {
	stat := d.pool.Stat()
	c := telemetry.Connections{Open: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()), Max: d.size}
	if d.shared != nil {
		open, busy := d.shared.Connections()
		c.Open, c.InUse = c.Open+open, c.InUse+busy
	}
	return c
}

// watch checks on running and waiting calls until the context ends.
func (d *database) watch(ctx context.Context) {
	if d.shared != nil {
		go d.shared.Watch(ctx)
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	grown := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			d.running.look(now)
			d.gate.Look()
			d.reserve.Look()
			d.turns.gate.Look()
			d.pulse.take(d, now)
			if now.Sub(grown) > slotInterval {
				grown = now
				d.growAgain()
			}
			if d.shared != nil {
				d.shared.Look(now)
			}
		}
	}
}

// cancelAll cancels all running statements.
func (d *database) cancelAll() {
	d.running.cancelAll()
	if d.shared != nil {
		d.shared.CancelAll()
	}
}

// closedContext has ended, so that closing a connection with it does not wait.
func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// close closes the pool. It waits briefly for connections in use.
func (d *database) close() {
	if d.shared != nil {
		d.shared.Close()
	}
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

// QueryRow runs a statement that returns one row. The statement is not prepared: a call
// that comes once per sign-in would take up room on every connection. A nil []byte is
// null.
func (d *database) QueryRow(statement string, arguments []any, into ...any) error {
	conn, err := d.acquire()
	if err != nil {
		return err
	}
	defer conn.Release()

	pg := conn.pg()
	call := d.running.begin(nil, pg, time.Now(), time.Time{})
	defer func() {
		if cancelled := d.running.end(call); cancelled {
			_ = pg.Close(closedContext())
		}
	}()
	err = queryRow(context.Background(), conn.conn(), statement, arguments, into...)
	switch {
	case err != nil && pg.IsClosed():
		d.reset()
		return refusal.Unavailable.With(err)
	case refusal.SQLState(err) == readOnly:
		d.leaveReadOnly(pg)
	}
	return err
}

// Transaction runs statements in a transaction that ends with them. It uses a connection of
// its own, since the work between the statements may wait for an answer of the storage.
func (d *database) Transaction(ctx context.Context, do func(pgx.Tx) error) error {
	conn, err := d.dial(ctx)
	if err != nil {
		return refusal.Unavailable.With(err)
	}
	defer conn.Close(closedContext())
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := settled(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}
