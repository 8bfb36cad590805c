package pipeline

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/gate"
)

// ErrElsewhere is returned for a query that was not finished here and should be made on
// another connection.
var ErrElsewhere = errors.New("the query is to be made elsewhere")

// Options configure a Pool.
type Options struct {
	// Connections is the maximum number of connections, Depth the number of queries in
	// flight on each.
	Connections, Depth int

	// Connect opens a connection.
	Connect func(context.Context) (*pgconn.PgConn, error)

	// Manner returns how queries are made on a connection; nil means in the usual manner.
	Manner func(*pgconn.PgConn) Manner

	// Wait is how long a query waits for a place.
	Wait time.Duration

	// Limit is the time after which the database should have ended a statement itself. A
	// statement that runs longer is cancelled, and then its connection is closed.
	Limit time.Duration

	// HasLeft tells whether the client has left. It is called for long queries.
	HasLeft func(net.Conn) bool
}

// Manner is how queries are made on a connection.
type Manner struct {
	Before  string // a statement without rows that comes first in the transaction of each query; empty means none
	Unnamed bool   // no statement is prepared for the next query
}

// Query is one statement with its parameters, and the receiver of its rows.
type Query struct {
	SQL     string   // the statement; it is prepared once per connection
	Params  [][]byte // in text form; nil is null
	Formats []int16  // of the columns: 0 text, 1 binary; one for all, or one for each; none means text
	Client  net.Conn // the waiting client; nil means that it cannot leave

	// Row takes the columns of a row; nil is null. They are valid during the call only.
	// Another goroutine calls it while Do waits. Its rows count only if Do returns nil. It
	// tells whether more rows are wanted; if not, the query ends there, and its connection
	// with it.
	Row func([][]byte) (more bool)
}

const (
	// slow is how long a statement may run before its connection takes no more queries,
	// and the queries behind it move.
	slow = 5 * time.Millisecond
	// patience is how long a statement runs before its client is checked.
	patience = 50 * time.Millisecond
	// overtime is how long the database may take to apply its own time limit, and then a
	// cancel request.
	overtime = time.Second
	// cancelTimeout limits a cancel request, and then the wait for the end of the
	// statement.
	cancelTimeout = 5 * time.Second
	// connectTimeout limits connecting, and reconnectDelay is the pause after a failure.
	connectTimeout = 5 * time.Second
	reconnectDelay = time.Second
	// lifetime is how long a connection is used.
	lifetime = time.Hour
)

// waiting is how many queries may wait for each query in flight.
const waiting = 8

// maxParams limits the bytes of a query's parameters. All queries in flight on a
// connection must fit into the network buffers: while a caller still writes, no caller
// reads answers.
const maxParams = 4 << 10

// Pool is a set of connections that many callers share.
type Pool struct {
	options Options
	watcher chan struct{} // wakes the goroutine that watches waiting queries; holds one

	mu          sync.Mutex
	connections []*connection
	connecting  int       // the number being opened
	retryAt     time.Time // when the next attempt to connect is allowed
	waiting     gate.Line[*place]
	closed      bool
}

// place is a place for a query whose caller waits for it.
type place struct {
	client net.Conn
	since  time.Time
	found  chan *connection // holds one; nil means elsewhere
	err    error            // why no place was found
}

// Client returns the waiting client.
func (w *place) Client() net.Conn { return w.client }

// Since returns when the place was requested.
func (w *place) Since() time.Time { return w.since }

// Refuse reports that no place was found.
func (w *place) Refuse(err error) {
	w.err = err
	w.found <- nil
}

// New makes a pool. It does not connect.
func New(options Options) *Pool {
	return &Pool{options: options, watcher: make(chan struct{}, 1), waiting: gate.Line[*place]{
		Most: waiting * options.Connections * options.Depth, Wait: options.Wait, HasLeft: options.HasLeft,
		Front: options.Connections * options.Depth,
	}}
}

// Takes tells whether a query with these parameters may use a pool.
func Takes(params [][]byte) bool {
	size := 0
	for _, p := range params {
		size += len(p)
	}
	return size <= maxParams
}

// Do runs a query. An error of the database is a *pgconn.PgError. ErrElsewhere, gate.ErrOverloaded
// and gate.ErrLeft mean that there is no answer.
func (p *Pool) Do(q *Query) error {
	n, err := p.place(q)
	if err != nil {
		return err
	}
	return n.do(q)
}

// place finds the connection for a query: an idle one, else the one with the fewest
// queries in flight. If all are full, it waits for room.
func (p *Pool) place(q *Query) (*connection, error) {
	now := time.Now()
	p.mu.Lock()
	n, isIdle, allSlow := p.best(now)
	if !isIdle {
		p.grow(now)
	}
	if n != nil {
		n.load++
		shared := n.load > 1
		p.mu.Unlock()
		if shared {
			p.wake()
		}
		return n, nil
	}
	if allSlow {
		p.mu.Unlock()
		return nil, ErrElsewhere
	}
	w := &place{client: q.Client, since: now, found: make(chan *connection, 1)}
	p.waiting.Add(w)
	p.mu.Unlock()
	p.wake()
	if n = <-w.found; n == nil {
		return nil, w.err
	}
	return n, nil
}

// best returns the connection with the fewest queries in flight, if it has room, and
// whether it is idle. allSlow tells that no connection will have room soon.
func (p *Pool) best(now time.Time) (best *connection, isIdle, allSlow bool) {
	allSlow = true
	for _, n := range p.connections {
		if n.retired.Load() || n.lent || n.isSlow(now) {
			continue
		}
		allSlow = false
		if n.load < p.options.Depth && (best == nil || n.load < best.load) {
			best = n
		}
	}
	return best, best != nil && best.load == 0, allSlow
}

// leave notes that a query has ended on a connection, and gives its place to the next.
func (p *Pool) leave(n *connection) {
	p.mu.Lock()
	n.load--
	if p.waiting.Len() > 0 && !n.retired.Load() && n.load < p.options.Depth {
		if w, ok := p.waiting.Next(time.Now(), nil); ok {
			n.load++
			w.found <- n
		}
	}
	p.mu.Unlock()
}

// Open opens the first connection in the background, so that the first query need not wait for it. It does nothing if
// one exists.
func (p *Pool) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.connections)+p.connecting == 0 {
		p.grow(time.Now())
	}
}

// grow opens one more connection in the background, if the limit allows it.
func (p *Pool) grow(now time.Time) {
	if p.closed || len(p.connections)+p.connecting >= p.options.Connections || now.Before(p.retryAt) {
		return
	}
	p.connecting++
	go p.connect()
}

func (p *Pool) connect() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	n, err := open(ctx, p)
	p.mu.Lock()
	p.connecting--
	if err != nil {
		p.retryAt = time.Now().Add(reconnectDelay)
	}
	closed := p.closed
	if err == nil && !closed {
		p.connections = append(p.connections, n)
	}
	p.mu.Unlock()
	if err == nil && closed {
		n.net.Close()
	}
}

// remove removes a connection. If it was the last one, waiting queries are sent
// elsewhere.
func (p *Pool) remove(n *connection) {
	p.mu.Lock()
	for i, other := range p.connections {
		if other == n {
			p.connections = append(p.connections[:i:i], p.connections[i+1:]...)
			break
		}
	}
	if len(p.connections) == 0 {
		p.waiting.Empty(ErrElsewhere)
	}
	p.mu.Unlock()
}

// Connections returns the number of connections that still take queries, and how many of
// them run a statement.
func (p *Pool) Connections() (all, busy int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		if n.retired.Load() {
			continue
		}
		if all++; n.load > 0 {
			busy++
		}
	}
	return all, busy
}

// Reset lets the open connections take no more queries. They are closed after their
// queries in flight.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		p.retire(n)
	}
}

// Yield closes one connection after its queries in flight, since another part of the server needs its slot at the
// database. It does nothing while a connection is being closed.
func (p *Pool) Yield() {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retryAt = now.Add(reconnectDelay)
	for _, n := range p.connections {
		if n.retired.Load() {
			return
		}
	}
	if n, _, _ := p.best(now); n != nil {
		p.retire(n)
	} else if len(p.connections) > 0 {
		p.retire(p.connections[0])
	}
}

// retire lets a connection take no more queries. It is closed after its queries in flight.
func (p *Pool) retire(n *connection) {
	if !n.retired.Swap(true) && n.load == 0 {
		go n.end()
	}
}

// Break breaks the connections to a server that does not answer. Queries in flight are to
// be made elsewhere.
func (p *Pool) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		_ = n.net.SetDeadline(time.Now())
		p.retire(n)
	}
}

// Close closes the connections. Queries in flight fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.connections
	p.mu.Unlock()
	for _, n := range all {
		n.retired.Store(true)
		n.net.Close()
		p.remove(n)
	}
}
