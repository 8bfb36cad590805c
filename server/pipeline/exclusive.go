package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Exclusive runs queries one at a time on a connection that one caller has for itself. They need not be repeatable.
// Between its queries, the caller may use the connection in other ways.
//
// The goroutine of the caller writes and reads. A query takes one write and mostly one read, without timers.
type Exclusive struct {
	*wire
	pg     *pgconn.PgConn
	socket socket
	out    []byte
	brings []string // the statements that the query prepares, until the database has done so
}

// exclusively is the key of a connection's Exclusive in its custom data.
const exclusively = " exclusive" // not a name of a statement

// ExclusiveOf returns the Exclusive of a connection, which is always the same. Only the first call needs the manner.
func ExclusiveOf(pg *pgconn.PgConn, manner func(*pgconn.PgConn) Manner) *Exclusive {
	if e, ok := pg.CustomData()[exclusively].(*Exclusive); ok {
		return e
	}
	return newExclusive(pg, newWire(pg.Conn(), manner(pg)))
}

func newExclusive(pg *pgconn.PgConn, w *wire) *Exclusive {
	e := &Exclusive{wire: w, pg: pg}
	e.socket.open(e)
	pg.CustomData()[exclusively] = e
	return e
}

// ErrGone is returned for a query that the database has not taken, since it had ended or closed the connection before.
var ErrGone = errors.New("the database has closed the connection")

// errUncommitted is returned for a query whose transaction has not ended with it. It ends without effect.
var errUncommitted = errors.New("the transaction of a query stays open")

// NoticesGone tells whether Do looks whether the database has closed the connection, before it sends a query.
func (e *Exclusive) NoticesGone() bool { return e.socket.isOpen() }

// IsGone tells whether the database has ended or closed the connection, if it notices that. It ignores messages that
// have arrived otherwise.
func (e *Exclusive) IsGone() bool {
	if !e.socket.isOpen() {
		return false
	}
	return e.pg.SyncConn(context.Background()) != nil || e.socket.isGone()
}

// Do runs a query. An error of the database is a *pgconn.PgError. mayHaveRun tells whether a query with an error may
// have taken effect. The connection is closed unless it was left ready for the next query: also if not all rows were
// wanted.
func (e *Exclusive) Do(q *Query) (mayHaveRun bool, err error) {
	isReady := false
	defer func() {
		if !isReady {
			_ = e.pg.Close(ended)
		}
	}()
	if err := e.pg.SyncConn(context.Background()); err != nil { // the caller may have used it in another way
		return false, err
	}
	if e.out, e.brings, err = e.appendQuery(e.out[:0], e.brings[:0], q); err != nil {
		isReady = true
		return false, err
	}
	if wasSent, err := e.send(); err != nil {
		return wasSent, err
	}
	if cap(e.out) > keptBuffer {
		e.out = nil
	}
	mayHaveRun, isReady, err = e.readAnswer(q)
	e.shrink()
	return mayHaveRun, err
}

// send sends the query. wasSent tells whether any of it was sent. Where the socket can do both at once, it waits for
// the beginning of the answer too.
func (e *Exclusive) send() (wasSent bool, err error) {
	if e.socket.isOpen() {
		return e.socket.exchange()
	}
	return e.write()
}

// write writes the query. ErrGone says that nothing of it could be written.
func (e *Exclusive) write() (wasSent bool, err error) {
	n, err := e.net.Write(e.out)
	if err != nil && n == 0 && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed) {
		return false, ErrGone
	}
	return n > 0, err
}

// readAnswer reads the messages of an answer (Postgres 15, chapter 55.7). It ignores those that are not about the
// query, such as notices.
func (e *Exclusive) readAnswer(q *Query) (mayHaveRun, isReady bool, err error) {
	running := 1 // statements that were not reported as complete; a complete one may still fail when its transaction ends
	if e.manner.Before != "" {
		running++
	}
	var raised *pgconn.PgError
	for isFirst := true; ; isFirst = false {
		kind, body, err := e.message()
		switch {
		case err != nil && raised != nil: // a pooler has ended the connection, and did not mark its error as fatal
			return !wasQueued(raised), false, raised
		case err != nil:
			return true, false, fmt.Errorf("read from the database: %w", err)
		}
		switch kind {
		case '1': // ParseComplete
			if len(e.brings) > 0 {
				e.brings = e.brings[1:]
			}
		case 'D': // DataRow
			if !q.Row(e.columns(body)) {
				return true, false, nil
			}
		case 'C': // CommandComplete
			running--
		case 'E': // ErrorResponse
			why, isFatal, err := readError(body)
			if err != nil {
				return true, false, err
			}
			switch {
			case isFatal && isFirst && e.manner.Before == "" && strings.HasPrefix(why.Code, "57P"):
				return false, false, ErrGone // the database had ended the connection before it took the query
			case isFatal:
				return running == 0, false, why
			}
			raised = why
			e.forget(e.brings)
		case 'Z': // ReadyForQuery
			isIdle := body[0] == 'I'
			switch {
			case raised != nil:
				return running == 0, isIdle && e.isSilent(), raised
			case !isIdle:
				return false, false, errUncommitted
			}
			return true, e.isSilent(), nil
		}
	}
}

// wasQueued tells whether a pooler has raised an error for a query that waited for a connection to the database.
// PgBouncer has no code for that.
func wasQueued(raised *pgconn.PgError) bool {
	for _, message := range []string{"query_wait_timeout", "server login", "pgbouncer cannot connect to server"} {
		if strings.HasPrefix(raised.Message, message) {
			return true
		}
	}
	return false
}

// isSilent reads all messages that have begun to arrive. It tells whether that succeeded, and none ends the connection.
func (e *Exclusive) isSilent() bool {
	for e.r != e.w {
		if kind, _, err := e.message(); err != nil || kind == 'E' {
			return false
		}
	}
	return true
}
