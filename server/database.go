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
	role    string         // that every connection assumes; "" if none
	shared  *pipeline.Pool // of the reads that ride together; nil if there are too few connections to share
	size    int            // how many connections there may be, the shared ones included
	gate    *gate.Gate     // before the pool
	reserve *gate.Gate     // for what is not an action, when the pool is full
	wait    time.Duration
	limit   time.Duration // for a call
	running *calls
	writes  writability

	settings []startSetting
	prepares config.PreparedStatements
	isPlain  atomic.Bool // a pooler refuses the settings: connections begin without them
}

// statement is the call of one function. It is prepared once per connection.
type statement struct {
	*answer.Plan
	name    string // on the connection, with that of the plan's statement behind it
	shared  bool   // it may ride with others, and be made twice
	custom  bool   // it runs code of the project, which may leave something behind
	writes  bool
	borrows bool   // it may have a connection that reads share, while they leave it idle
	action  string // by whose name it takes its share of the connections

	after func(*pgconn.PgConn) // what follows a write that was carried out; nil means nothing
}

// newStatement builds the call of a function of an action.
//
// A reading function is stable, so that it cannot write; one that runs custom code makes
// its transaction read-only. The name says which release the statement is of: of another
// one, the function may answer other columns.
func newStatement(number int64, function string, plan *answer.Plan) statement {
	return statement{Plan: plan.ForRelease(number), name: statementName(number, function)}
}

// statementName names the statement of a function on a connection. Postgres keeps 63 bytes of it, and a plan adds up to
// eight more: where the name of the function is longer, its end is a digest instead.
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
	Restart()                        // what came does not count: the call is made again
	Row(values [][]byte) (more bool) // whether more rows are wanted
	Again() bool                     // whether the call must be made once more
}

// openDatabase makes a pool. It does not connect.
func openDatabase(c *config.Config, role string) (*database, error) {
	if c.DatabaseURL == "" { // for which pgx would look elsewhere
		return nil, errors.New("database.url is required")
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
	}
	pc.BeforeConnect = func(_ context.Context, cc *pgx.ConnConfig) error { d.beginWith(cc); return nil }
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return d.meet(ctx, conn.PgConn()) }
	var err error
	if d.pool, err = pgxpool.NewWithConfig(context.Background(), pc); err != nil {
		return nil, fmt.Errorf("make the pool of connections: %w", err)
	}
	places := gate.Options{Places: own, Share: own - own/shareLeft, Wait: c.PoolWait, HasLeft: listener.HasLeft}
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
	// reserved is how many connections there are beyond the size of the pool, for sign-ins
	// and whatever else is not an action. They take others too, if nobody waits for these.
	reserved = 1
	// reservedLine is how many of them may wait: their statements are short, so that a line that is long is soon over.
	reservedLine = 1024
	// shareLeft is which part of the connections one action leaves to others: a quarter.
	shareLeft = 4
)

// sharedConnections returns how many connections of so many reads share: half of them,
// but four do for two cores as well as more.
func sharedConnections(size int) int {
	return min(4, size/2)
}

// sharedDepth is how many reads are on their way on one connection.
const sharedDepth = 8

// connectShared opens a connection that reads share.
func (d *database) connectShared(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	return conn.PgConn(), nil
}

// mannerOf says how reads that share a connection are made there.
func mannerOf(pg *pgconn.PgConn) pipeline.Manner {
	s := sessionOf(pg)
	return pipeline.Manner{Before: s.settle, Unnamed: !s.isNamed}
}

// configureConnections says how connections are made. Nothing is prepared on them but what
// this package prepares.
func configureConnections(cc *pgx.ConnConfig) {
	timeout := connectTimeout
	if postgres.HasSeveralHosts(&cc.Config) { // for each of them
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

// maxRetries is how often a call is repeated that lost against a concurrent one.
const maxRetries = 3

// call runs a statement and gives its rows to an answer, which counts only if the error is
// nil: a statement may still fail when its transaction ends. A client that leaves ends the
// statement.
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

// repeat makes a call on a connection of its own, again if it lost against a concurrent
// one. run tells whether the call may have been carried out although it ends in an error.
func (d *database) repeat(client net.Conn, st statement, into answered, run func(*pgconn.PgConn) (mayHaveRun bool, err error)) error {
	var until time.Time // of a call that is repeated
	for attempt := 0; ; attempt++ {
		into.Restart()
		began := time.Now()
		err := d.attempt(client, st, until, run)
		if err == nil && into.Again() {
			continue
		}
		if err == nil || attempt == maxRetries || !isRepeatable(err) {
			return err
		}
		if attempt == 0 {
			until = began.Add(d.limit)
		}
		pause := pauseAfter(attempt)
		if time.Until(until) < pause {
			return err
		}
		time.Sleep(pause)
	}
}

// pauseAfter is how long a call waits until it is repeated. Those that were in each other's
// way must not meet again, so it is by chance, and longer each time: up to 40 ms, 160 ms and
// 640 ms.
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
	case err == pipeline.ErrBusy:
		return refusal.Overloaded.With(err)
	case err == pipeline.ErrLeft:
		return refusal.Timeout.With(request.ErrClientLeft)
	case isRepeatable(err):
		return pipeline.ErrElsewhere
	}
	return err
}

// isRepeatable tells whether a call did nothing and may do better next time.
func isRepeatable(err error) bool {
	switch refusal.SQLState(err) {
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

func (d *database) attempt(client net.Conn, st statement, until time.Time, run func(*pgconn.PgConn) (mayHaveRun bool, err error)) (err error) {
	asked := time.Now()
	conn, err := d.acquireFor(st, client)
	if err == nil && st.writes && listener.IsGone(conn.pg().Conn()) {
		// Once something is sent on it, nobody would know what became of that.
		_ = conn.pg().Close(closedContext())
		conn.Release()
		d.reset()
		conn, err = d.acquireFor(st, client)
	}
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
				// A commit that waits for a standby is ended by this, and is said to be done.
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
	case pg.IsClosed():
		// The others are most likely as dead: do not find out one by one.
		d.reset()
		if st.writes && mayHaveRun {
			return refusal.OutcomeUnknown.With(err)
		}
		return refusal.Unavailable.With(err)
	case refusal.SQLState(err) == readOnly && st.writes:
		d.leaveReadOnly(pg)
	case refusal.SQLState(err) == unpreparedStatement, refusal.SQLState(err) == enteredAnother:
		_ = pg.Close(closedContext())
	case st.custom && !sessionOf(pg).isPooled(): // where that has happened
		// What the code set is undone with its transaction, but not what it has planned.
		if pg.Exec(context.Background(), "discard plans").Close() != nil {
			_ = pg.Close(closedContext())
		}
	}
	return err
}

// reset has all connections closed once nothing runs on them.
func (d *database) reset() {
	d.pool.Reset()
	if d.shared != nil {
		d.shared.Reset()
	}
}

// enteredAnother is what platform.leave raises of code that has entered another action.
const enteredAnother = "SP500"

// queueTime is how long a call waits for a connection before its client is looked at.
const queueTime = time.Millisecond

// execute works one level below pgx: of the answer it needs the columns as they came, and
// no decoding.
func execute(pg *pgconn.PgConn, st statement, params [][]byte, into answered) (mayHaveRun bool, err error) {
	if st.custom {
		return executeCustom(pg, st, params, into)
	}
	session := sessionOf(pg)
	if session.isPooled() {
		return executeAll(pg, callOf(st, params, into))
	}
	call := into.Statement()
	var rows *pgconn.ResultReader
	if session.isNamed {
		prepared, err := prepare(pg, st.name+call.Name, call.SQL)
		if err != nil {
			return false, err
		}
		rows = pg.ExecStatement(context.Background(), prepared, params, nil, call.Formats)
	} else {
		rows = pg.ExecParams(context.Background(), call.SQL, params, nil, nil, call.Formats)
	}
	if !readRows(rows, into) {
		return true, nil
	}
	if _, err = rows.Close(); err == nil {
		return true, nil
	}
	return mayHaveEnded(err, isComplete(rows)), err
}

// mayHaveEnded tells whether what ended in an error may be in the database all the same.
// It is not if nothing was sent, or if the database itself says what is wrong before it
// says that all is complete. That a connection is closed, pgx also says of one that broke
// while it read.
func mayHaveEnded(err error, isComplete bool) bool {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return isComplete
	}
	return !pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed)
}

// isComplete tells whether the database has said that a statement is complete, whose rows
// have been closed.
func isComplete(rows *pgconn.ResultReader) bool {
	tag, _ := rows.Close() // which remembers it
	return tag.String() != ""
}

// readRows gives rows to an answer. It returns false if the answer wants no more: then the
// connection is closed, with which the rest of them goes.
func readRows(rows *pgconn.ResultReader, into answered) bool {
	for rows.NextRow() {
		if !into.Row(rows.Values()) {
			return false
		}
	}
	return true
}

// What follows each call of custom code, in its transaction: the question whether the code
// has entered another action, and the end of all settings that would outlive the call.
var (
	leaveCall     = sent{name: "leave", sql: "select platform.leave()"}
	resetSettings = sent{name: "reset", sql: "reset all"}
)

// executeCustom is execute for custom code. Behind a pooler its transaction is one that
// stays when the code fails, until its plans are gone: afterwards the connection to the
// database has others.
func executeCustom(pg *pgconn.PgConn, st statement, params [][]byte, into answered) (mayHaveRun bool, err error) {
	calls := []sent{callOf(st, params, into), leaveCall, resetSettings}
	if !sessionOf(pg).isPooled() {
		return executeAll(pg, calls...)
	}
	mayHaveRun, err = executeAll(pg, slices.Concat([]sent{beginning}, calls, []sent{ending})...)
	return mayHaveRun, rolledBack(pg, err)
}

// sent is a statement among others that are sent together.
type sent struct {
	name, sql string // the name under which it is prepared
	params    [][]byte
	formats   []int16
	row       func(values [][]byte) (more bool) // nil means that nobody wants its rows
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
		if sessionOf(pg).isPooled() { // which holds the name for taken all the same
			_ = pg.Deallocate(context.Background(), name)
		}
		return nil, err
	}
	known[name] = sd
	return sd, nil
}

// connections counts those of the pool, and those that reads share.
func (d *database) connections() telemetry.Connections {
	stat := d.pool.Stat()
	c := telemetry.Connections{Open: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()), Max: d.size}
	if d.shared != nil {
		open, busy := d.shared.Connections()
		c.Open, c.InUse = c.Open+open, c.InUse+busy
	}
	return c
}

// watch looks after the calls that run or wait, until the context ends.
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

// cancelAll cancels whatever is still running.
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

// close closes the pool. It waits for connections in use, but not for long.
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

// QueryRow runs a statement that returns one row. It is not prepared: a call that
// comes once per sign-in would hold its place on every connection. A nil []byte is
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

// Transaction runs statements in a transaction, which ends with them. It has a connection of
// its own, since what happens between the statements may take as long as a storage takes to
// answer.
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
