package database

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/gate"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// Statement is the call of one function. It is prepared once per connection.
type Statement struct {
	*answer.Plan
	Shared bool // it may share a connection, and be repeated
	Custom bool // it runs code of the project, which may leave something behind
	Writes bool
	Who    gate.Who                // the action and the caller, which have their shares of the connections
	After  func(pg *pgconn.PgConn) // runs after a successful write; nil means nothing

	name string // on the connection, followed by the name of the plan's statement
}

// NewStatement builds the call of a function of an action.
//
// A reading function is stable, so that it cannot write; one that runs custom code makes
// its transaction read-only. The name contains the release: the same function of another
// release may answer other columns.
func NewStatement(r answer.Release, function string, plan *answer.Plan) Statement {
	return Statement{Plan: plan.ForRelease(r), name: statementName(r.Number, function)}
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

// Answer takes the rows of a call.
type Answer interface {
	Statement() *answer.Statement
	Restart()                        // discards the rows so far: the call is repeated
	Row(values [][]byte) (more bool) // whether more rows are wanted
	Again() bool                     // whether the call must be repeated
}

// maxRetries is how often a call is retried after it lost against a concurrent one.
const maxRetries = 3

// Call runs a statement and passes its rows to an answer. The answer counts only if the
// error is nil: a statement may still fail when its transaction ends. The statement ends
// when its client leaves.
func (d *DB) Call(client net.Conn, st Statement, params [][]byte, into Answer) error {
	if st.Shared && d.shared != nil {
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
func (d *DB) repeat(client net.Conn, st Statement, into Answer, run func(*pgconn.PgConn) (mayHaveRun bool, err error)) error {
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
			d.turns.lose(st.Who.Action, time.Now())
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
func (d *DB) callShared(client net.Conn, st Statement, params [][]byte, into Answer) error {
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
func (d *DB) attempt(
	client net.Conn, st Statement, asked, until time.Time, run func(*pgconn.PgConn) (mayHaveRun bool, err error),
) (err error) {
	if isRepeated := !until.IsZero(); isRepeated || st.Writes && d.turns.isContended(st.Who.Action, asked) {
		if _, err := d.turns.gate.Enter(st.Who, client, asked); err != nil {
			return d.refused(err)
		}
		defer d.turns.gate.Leave(st.Who)
	}
	conn, err := d.acquireAt(d.gate, st.Who, client, asked)
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
			if err == nil && st.Writes && !d.running.hasLeft(call) {
				// This ends a commit that waits for a standby, and the commit is reported as done.
				err = refusal.OutcomeUnknown.With(errCancelled)
			}
		}
	}()
	mayHaveRun, err := run(pg)
	switch {
	case err == nil && st.After != nil:
		st.After(pg)
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
		if st.Writes && mayHaveRun {
			return refusal.OutcomeUnknown.With(err)
		}
		return refusal.Unavailable.With(err)
	case refusal.SQLState(err) == readOnly && st.Writes:
		d.leaveReadOnly(pg)
	case refusal.SQLState(err) == unpreparedStatement, refusal.SQLState(err) == enteredAnother:
		_ = pg.Close(closedContext())
	case st.Custom && !SessionOf(pg).IsPooled(): // on the same connection
		// without a pooler, on the same connection
		if pg.Exec(context.Background(), "discard plans").Close() != nil {
			_ = pg.Close(closedContext())
		}
	}
	return err
}

// enteredAnother is raised by platform.leave if code has entered another action.
const enteredAnother = "SP500"

// queueTime is how long a call waits for a connection before the server checks its client. The gate has checked it
// until a place was free.
const queueTime = 20 * time.Millisecond
