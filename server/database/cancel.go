package database

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/listener"
)

// calls are the running statements. fasthttp does not report that a client has left, so
// one goroutine checks, at intervals that are long compared to a usual call. A call only
// pays for its place in this list.
type calls struct {
	mu     sync.Mutex
	oldest *runningCall
	newest *runningCall

	limit time.Duration // when the database should have ended a statement itself
}

// runningCall is one statement that is running.
type runningCall struct {
	client net.Conn // nil if no client waits for the answer
	pg     *pgconn.PgConn
	since  time.Time
	until  time.Time // the deadline of a call that is repeated; zero for any other

	previous, next *runningCall
	cancelled      chan struct{} // nil until it is cancelled; closed when the cancel request has been sent
	left           bool          // it is cancelled because the client has left
}

const (
	// watchInterval is how often clients are checked, and the age of a call at its first
	// check.
	watchInterval = 50 * time.Millisecond
	// CancelTimeout limits a cancel request, and then the wait for the end of the
	// statement.
	CancelTimeout = 5 * time.Second
	// overtime is how long the database may take to apply its own time limit to a
	// statement. Behind a pooler that drops settings it does not know the limit.
	overtime = time.Second
)

// begin notes that a statement starts now on a connection.
func (l *calls) begin(client net.Conn, pg *pgconn.PgConn, now, until time.Time) *runningCall {
	c := &runningCall{client: client, pg: pg, since: now, until: until}
	l.mu.Lock()
	if c.previous = l.newest; c.previous != nil {
		c.previous.next = c
	} else {
		l.oldest = c
	}
	l.newest = c
	l.mu.Unlock()
	return c
}

// end notes that the statement has ended. It tells whether it was cancelled. Then the
// connection must not be used again, since the cancel request may hit the next statement
// on it.
func (l *calls) end(c *runningCall) (wasCancelled bool) {
	l.mu.Lock()
	if c.previous != nil {
		c.previous.next = c.next
	} else {
		l.oldest = c.next
	}
	if c.next != nil {
		c.next.previous = c.previous
	} else {
		l.newest = c.previous
	}
	cancelled := c.cancelled
	l.mu.Unlock()

	if cancelled == nil {
		return false
	}
	<-cancelled
	return true
}

// hasLeft tells whether a statement was cancelled because its client has left.
func (l *calls) hasLeft(c *runningCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.left
}

// look checks the long-running calls. A call leaves the list before its handler returns,
// so that under the lock its client is still the caller.
func (l *calls) look(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.next {
		age := now.Sub(c.since)
		switch {
		case age < watchInterval:
			return // all others are younger
		case age > l.limit+overtime+CancelTimeout:
			// The database does not answer any more. This ends the call that reads from it.
			_ = c.pg.Conn().SetDeadline(now)
		case c.cancelled != nil:
		case age > l.limit+overtime, !c.until.IsZero() && now.After(c.until):
			c.cancel()
		case listener.HasLeft(c.client):
			c.left = true
			c.cancel()
		}
	}
}

// breakAll ends all calls on connections to a server that does not answer.
func (l *calls) breakAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.next {
		_ = c.pg.Conn().SetDeadline(time.Now())
	}
}

// cancelAll cancels all running statements.
func (l *calls) cancelAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.next {
		if c.cancelled == nil {
			c.cancel()
		}
	}
}

func (c *runningCall) cancel() {
	sent := make(chan struct{})
	c.cancelled = sent
	go func() {
		defer close(sent)
		ctx, stop := context.WithTimeout(context.Background(), CancelTimeout)
		defer stop()
		// Its failure does not matter: the statement has a time limit.
		_ = c.pg.CancelRequest(ctx)
	}()
}
