package database

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/pipeline"
)

// execute works below pgx: the answer needs the columns as they came, without decoding.
func execute(pg *pgconn.PgConn, st Statement, params [][]byte, into Answer) (mayHaveRun bool, err error) {
	if st.Custom {
		if st.Writes && isGone(pg) {
			return false, pipeline.ErrGone
		}
		return executeCustom(pg, st, params, into)
	}
	e := pipeline.ExclusiveOf(pg, mannerOf)
	if st.Writes && !e.NoticesGone() && listener.IsGone(pg.Conn()) {
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
func executeCustom(pg *pgconn.PgConn, st Statement, params [][]byte, into Answer) (mayHaveRun bool, err error) {
	calls := []sent{callOf(st, params, into), leaveCall, resetSettings}
	if !SessionOf(pg).IsPooled() {
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
func callOf(st Statement, params [][]byte, into Answer) sent {
	call := into.Statement()
	return sent{name: st.name + call.Name, sql: call.SQL, params: params, formats: call.Formats, row: into.Row}
}

// executeAll runs statements in one round trip and, unless one has begun, in one
// transaction.
func executeAll(pg *pgconn.PgConn, statements ...sent) (mayHaveRun bool, err error) {
	session := SessionOf(pg)
	if session.IsPooled() && pg.TxStatus() == 'I' {
		statements = slices.Concat([]sent{{name: "settle", sql: session.settle}}, statements)
	}
	var batch pgconn.Batch
	for _, s := range statements {
		if !session.IsNamed {
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
		if SessionOf(pg).IsPooled() { // the pooler still holds the name for taken
			_ = pg.Deallocate(context.Background(), name)
		}
		return nil, err
	}
	known[name] = sd
	return sd, nil
}

// These begin and end a transaction of several statements.
var (
	beginning = sent{name: "begin", sql: "begin"}
	ending    = sent{name: "commit", sql: "commit"}
)

// rolledBack ends the transaction unless it was committed, and returns the error. Behind a
// pooler it also discards the plans of custom code, since other clients use the connection
// afterwards.
func rolledBack(pg *pgconn.PgConn, err error) error {
	if !pg.IsClosed() && pg.TxStatus() != 'I' {
		end := "rollback"
		if SessionOf(pg).IsPooled() {
			end += "; discard plans"
		}
		if pg.Exec(context.Background(), end).Close() != nil {
			_ = pg.Close(closedContext())
		}
	}
	return err
}
