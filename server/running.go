package server

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/listener"
)

// calls are the statements that are running. fasthttp does not tell that a client
// has left, so that one goroutine looks, at long intervals compared to a usual
// call: what a call pays is its place in this list.
type calls struct {
	mu     sync.Mutex
	oldest *runningCall
	newest *runningCall

	limit time.Duration // after which the database should have ended a statement itself
}

// runningCall is one statement that is running.
type runningCall struct {
	client net.Conn // nil if nobody waits for the answer
	pg     *pgconn.PgConn
	since  time.Time
	until  time.Time // when a call that is repeated must have ended; zero means that it is not

	previous, next *runningCall
	cancelled      chan struct{} // nil until it is cancelled; closed when the request to do so has been sent
	left           bool          // it is cancelled because the client has left
}

const (
	// watchInterval is how often clients are looked at, and how old a call is when
	// it first happens.
	watchInterval = 50 * time.Millisecond
	// cancelTimeout is how long a request to cancel, and then the end of the
	// statement, may take.
	cancelTimeout = 5 * time.Second
	// overtime is how long the database is trusted to end a statement by its own
	// time limit. It does not know the limit behind a pooler that drops settings.
	overtime = time.Second
)

// begin notes that a statement starts on a connection, now.
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

// end notes that the statement has ended. It tells whether it was cancelled: then
// the connection must not be used again, since the request to cancel may strike
// whatever runs on it next.
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

// look goes through the calls that take longer. A call leaves the list before its
// handler returns, so that under the lock its client is still the one that called.
func (l *calls) look(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.next {
		age := now.Sub(c.since)
		switch {
		case age < watchInterval:
			return // the following ones are younger
		case age > l.limit+overtime+cancelTimeout:
			// Nothing answers any more. This ends the call that reads from it.
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

// breakAll ends all calls on connections that nothing comes from.
func (l *calls) breakAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.oldest; c != nil; c = c.next {
		_ = c.pg.Conn().SetDeadline(time.Now())
	}
}

// cancelAll cancels whatever is still running.
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
		ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
		defer stop()
		// Its failure does not matter: the statement has a time limit.
		_ = c.pg.CancelRequest(ctx)
	}()
}
