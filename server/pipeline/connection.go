package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/gate"
)

// connection is one connection with the queries in flight on it.
type connection struct {
	*wire    // guarded by mu for sending, and by the reading caller for receiving
	pool     *Pool
	pg       *pgconn.PgConn // transferred the connection to n; it can still cancel
	hijacked *pgconn.HijackedConn
	opened   time.Time

	// Guarded by the pool.
	load int   // places taken
	lent bool  // one caller has it exclusively
	loan *Loan // nil if it was never lent

	retired   atomic.Bool  // takes no more queries
	headSince atomic.Int64 // when the oldest query began, in nanoseconds; 0 means none

	mu        sync.Mutex
	queue     []*query // in order of their answers
	out       []byte   // to be written
	spare     []byte
	writing   bool
	reading   bool          // a caller reads, or has been told to
	err       error         // why the connection is broken
	cancelled chan struct{} // closed when the cancel request has been sent; nil without one

	head *query // for the reading caller: the rows are for it; nil if it was not looked up, or its caller has left
}

// query is a query in flight.
type query struct {
	Query
	err    error
	brings []string  // the statements that it prepares, until the database has done so
	moved  bool      // no caller waits for it here any more
	left   bool      // it is cancelled because its client has left
	turn   chan turn // holds one
}

// turn is a message to a waiting caller.
type turn int

const (
	isDone  turn = iota // the query has ended
	mayRead             // it is the oldest now: read
)

// open opens a connection.
func open(ctx context.Context, p *Pool) (*connection, error) {
	pg, err := p.options.Connect(ctx)
	if err != nil {
		return nil, err
	}
	var manner Manner
	if p.options.Manner != nil {
		manner = p.options.Manner(pg)
	}
	var hijacked *pgconn.HijackedConn
	err = pg.SyncConn(ctx) // after a slow write, something else still reads
	if err == nil {
		hijacked, err = pg.Hijack()
	}
	if err != nil {
		pg.Close(ctx)
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &connection{
		wire: newWire(hijacked.Conn, manner), pool: p, pg: pg, hijacked: hijacked, opened: time.Now(),
	}, nil
}

// isSlow tells whether the current statement has been running for long.
func (n *connection) isSlow(now time.Time) bool {
	since := n.headSince.Load()
	return since != 0 && now.UnixNano()-since > int64(slow)
}

// queries pools finished queries.
var queries = sync.Pool{New: func() any { return &query{turn: make(chan turn, 1)} }}

// do sends a query and waits for its end.
func (n *connection) do(q *Query) error {
	c := queries.Get().(*query)
	c.Query, c.err, c.brings, c.moved, c.left = *q, nil, c.brings[:0], false, false

	mayReadNow, err := n.send(c)
	if err != nil {
		n.pool.leave(n)
		return ErrElsewhere
	}
	if mayReadNow || <-c.turn == mayRead {
		n.readAnswers(c)
	}
	if c.moved { // it is still in the queue
		return ErrElsewhere
	}
	err = c.err
	if c.left {
		err = gate.ErrLeft
	}
	c.Query = Query{}
	queries.Put(c)
	return err
}

// send sends a query. A caller that finds no other caller writing writes for all.
// mayReadNow tells whether this caller must read.
func (n *connection) send(c *query) (mayReadNow bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return false, n.err
	}
	if n.out, c.brings, err = n.appendQuery(n.out, c.brings, &c.Query); err != nil {
		return false, err
	}
	n.queue = append(n.queue, c)
	if len(n.queue) == 1 {
		n.headSince.Store(time.Now().UnixNano())
	}
	if !n.reading {
		n.reading, mayReadNow = true, true
	}
	if !n.writing {
		n.write()
	}
	return mayReadNow, nil
}

// write writes all pending output, including output added meanwhile. The lock is held
// before and after, but not during the network writes.
func (n *connection) write() {
	n.writing = true
	for len(n.out) > 0 && n.err == nil {
		out := n.out
		n.out = n.spare[:0]
		n.mu.Unlock()
		_, err := n.net.Write(out)
		n.mu.Lock()
		if n.spare = out; cap(out) > keptBuffer {
			n.spare = nil
		}
		if err != nil {
			n.net.Close() // the reading caller notices that
			break
		}
	}
	n.writing = false
}

// readAnswers reads until the answer to own, the oldest query, is complete. It delivers all
// other answers that have arrived, and hands the reading on.
func (n *connection) readAnswers(own *query) {
	for done := false; !done || n.hasMessage(); {
		kind, body, err := n.message()
		if err != nil {
			n.fail(own, err)
			break
		}
		if kind == 'D' && !n.row(body) {
			n.fail(own, errEnough)
			break
		}
		if ended := n.take(kind, body); ended == own {
			done = true
		} else if ended != nil && !ended.moved {
			ended.turn <- isDone
		}
	}
	n.handOn()
}

// handOn lets the caller of the oldest query read.
func (n *connection) handOn() {
	n.shrink()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case len(n.queue) == 0:
		n.reading = false
		if n.retired.Load() {
			go n.end()
		}
	case n.queue[0].moved:
		go n.readAnswers(n.queue[0]) // no caller waits for the answer, but it must be read
	default:
		n.queue[0].turn <- mayRead
	}
}

// take processes one message, and returns the query that it ends (Postgres 15, chapter
// 55.7). It ignores messages that are not about a query, such as notices.
func (n *connection) take(kind byte, body []byte) (ended *query) {
	switch kind {
	case '1': // ParseComplete
		n.brought()
	case 'E': // ErrorResponse
		n.refused(body)
	case 'Z': // ReadyForQuery
		n.head = nil
		return n.finish()
	}
	return nil
}

// row passes a row to the oldest query. It tells whether more are wanted.
func (n *connection) row(body []byte) (more bool) {
	if n.head == nil {
		n.head = n.oldest()
	}
	if n.head == nil {
		return true
	}
	return n.head.Row(n.columns(body))
}

// errEnough is the reason to abandon a connection with unwanted rows.
var errEnough = errors.New("the rest of a result is not wanted")

// oldest returns the oldest query, or nil if no caller waits for it. After its first row,
// a query does not move.
func (n *connection) oldest() *query {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 || n.queue[0].moved {
		return nil
	}
	return n.queue[0]
}

// refused notes an error of the database for the oldest query. A connection that is about
// to end, or has lost its prepared statements, takes no more queries.
func (n *connection) refused(body []byte) {
	raised, isFatal, err := readError(body)
	if err != nil {
		n.retired.Store(true)
		return
	}
	isLost := raised.Code == "26000" || isFatal
	if isLost {
		n.retired.Store(true)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 {
		return
	}
	c := n.queue[0]
	if c.err = raised; isLost {
		c.err = ErrElsewhere
	}
	n.forget(c.brings)
}

// brought notes that the database has prepared the next statement that the oldest query brings.
func (n *connection) brought() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) > 0 && len(n.queue[0].brings) > 0 {
		n.queue[0].brings = n.queue[0].brings[1:]
	}
}

// finish takes the oldest query out of the queue.
func (n *connection) finish() *query {
	n.mu.Lock()
	if len(n.queue) == 0 {
		n.mu.Unlock()
		return nil
	}
	c := n.queue[0]
	n.queue = slices.Delete(n.queue, 0, 1)
	if len(n.queue) == 0 {
		n.headSince.Store(0)
	} else {
		n.headSince.Store(time.Now().UnixNano())
	}
	n.mu.Unlock()
	n.pool.leave(n)
	return c
}

// fail ends all queries of a broken connection. own is that of the reading caller.
func (n *connection) fail(own *query, cause error) {
	n.mu.Lock()
	n.err = cause
	n.retired.Store(true)
	queue := n.queue
	n.queue = nil
	n.headSince.Store(0)
	for i, c := range queue {
		if c.err = ErrElsewhere; i == 0 && cause == errEnough {
			c.err = nil
		}
		if c != own && !c.moved {
			c.turn <- isDone
		}
	}
	n.mu.Unlock()
	for range queue {
		n.pool.leave(n)
	}
}

// end closes an idle connection once a cancel request has been sent, since that hits the
// current statement on the connection.
func (n *connection) end() {
	n.mu.Lock()
	cancelled := n.cancelled
	n.mu.Unlock()
	if cancelled != nil {
		<-cancelled
	}
	n.pool.remove(n)
	_, _ = n.net.Write([]byte{'X', 0, 0, 0, 4}) // Terminate
	n.net.Close()
}
