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
// a connection of its own.
var ErrElsewhere = errors.New("the query is to be made elsewhere")

// ErrBusy is returned for a query that found no place within the time that it may wait.
var ErrBusy = errors.New("no connection had a place in time")

// ErrLeft is returned for a query that was given up because its client has left.
var ErrLeft = errors.New("the client has left")

// Options say how a Pool works.
type Options struct {
	// Connections is how many connections there are at most, Depth how many queries are
	// on the way on each.
	Connections, Depth int

	// Connect opens a connection.
	Connect func(context.Context) (*pgconn.PgConn, error)

	// Manner says how queries are made on a connection; nil means in the usual manner.
	Manner func(*pgconn.PgConn) Manner

	// Wait is how long a query waits for a place.
	Wait time.Duration

	// Limit is after how long the database should have ended a statement itself. One that
	// runs longer is cancelled, and then its connection is closed.
	Limit time.Duration

	// HasLeft tells whether nobody waits for an answer any more. It is asked for queries
	// that take long.
	HasLeft func(net.Conn) bool
}

// Manner is how queries are made on a connection.
type Manner struct {
	Before  string // a statement without rows that comes first in the transaction of each query; empty means none
	Unnamed bool   // no statement is prepared for the next query
}

// Query is one statement with its parameters, and what takes its rows.
type Query struct {
	SQL     string   // the statement; it is prepared once per connection
	Params  [][]byte // in text form; nil is null
	Formats []int16  // of the columns: 0 text, 1 binary; one for all, or one for each; none means text
	Client  net.Conn // who waits for the answer; nil means that nobody can leave

	// Row takes the columns of a row; nil is null. They are valid during the call only.
	// It is called by another goroutine, while Do waits. What it was given counts only if
	// Do returns nil. It tells whether more rows are wanted; if not, the query ends there,
	// and its connection with it.
	Row func([][]byte) (more bool)
}

const (
	// slow is how long a statement may run before its connection takes no more, and
	// before what waits behind it moves.
	slow = 5 * time.Millisecond
	// patience is how long a statement runs before its client is looked at.
	patience = 50 * time.Millisecond
	// overtime is how long the database is trusted to end a statement by its own time
	// limit, and then a request to cancel to have an effect.
	overtime = time.Second
	// cancelTimeout is how long a request to cancel, and then the end of the statement,
	// may take.
	cancelTimeout = 5 * time.Second
	// connectTimeout is how long connecting may take, and reconnectDelay how long it is
	// not tried again after it failed.
	connectTimeout = 5 * time.Second
	reconnectDelay = time.Second
	// lifetime is how long a connection is used.
	lifetime = time.Hour
)

// waiting is how many queries may wait for each that is on its way.
const waiting = 8

// maxParams is how many bytes of parameters a query may have. What is on its way on a
// connection has to fit into the buffers of the network: nobody reads answers while a
// caller still writes.
const maxParams = 4 << 10

// Pool is a set of connections that many callers share.
type Pool struct {
	options Options
	watcher chan struct{} // wakes the one who looks after what waits; holds one

	mu          sync.Mutex
	connections []*connection
	connecting  int       // how many are being opened
	retryAt     time.Time // when connecting may be tried again
	waiting     gate.Line[*place]
	closed      bool
}

// place is where a query goes, for which its caller waits.
type place struct {
	client net.Conn
	since  time.Time
	found  chan *connection // holds one; nil means elsewhere
	err    error            // why there is none
}

// Client is who waits for the answer.
func (w *place) Client() net.Conn { return w.client }

// Since is when the place was asked for.
func (w *place) Since() time.Time { return w.since }

// Refuse tells that there is no place.
func (w *place) Refuse(err error) {
	switch w.err = err; err {
	case gate.ErrOverloaded:
		w.err = ErrBusy
	case gate.ErrLeft:
		w.err = ErrLeft
	}
	w.found <- nil
}

// New makes a pool. It does not connect.
func New(options Options) *Pool {
	return &Pool{options: options, watcher: make(chan struct{}, 1), waiting: gate.Line[*place]{
		Most: waiting * options.Connections * options.Depth, Wait: options.Wait, HasLeft: options.HasLeft,
	}}
}

// Takes tells whether a query of these parameters may pass here at all.
func Takes(params [][]byte) bool {
	size := 0
	for _, p := range params {
		size += len(p)
	}
	return size <= maxParams
}

// Do runs a query. An error of the database is a *pgconn.PgError. ErrElsewhere, ErrBusy
// and ErrLeft say that there is no answer.
func (p *Pool) Do(q *Query) error {
	n, err := p.place(q)
	if err != nil {
		return err
	}
	return n.do(q)
}

// place finds the connection for a query: an idle one, else the one with the fewest
// queries on their way, else it waits until there is room on one.
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
	p.waiting.Add(w, now)
	p.mu.Unlock()
	p.wake()
	if n = <-w.found; n == nil {
		return nil, w.err
	}
	return n, nil
}

// best returns the connection with the fewest queries on their way, if there is room on
// it, and whether that is idle. allSlow tells that no connection can be expected to have
// room soon.
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

// Open opens the first connection in the background, so that the first query need not wait for it. It does nothing where
// there is one.
func (p *Pool) Open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.connections)+p.connecting == 0 {
		p.grow(time.Now())
	}
}

// grow opens one more connection in the background, if there may be more.
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

// remove takes a connection out. What waits for a place is told to go elsewhere if it
// was the last one.
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

// Connections returns how many connections there are, without those that take no more
// queries, and how many of them run a statement.
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

// Reset lets no more queries onto the connections that are open. They are closed when
// those have ended that are on their way.
func (p *Pool) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		p.retire(n)
	}
}

// Yield closes one connection, as soon as what is on its way there has ended, since its slot at the database is needed for
// something else. While one is being closed, it does nothing.
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

// retire lets no more queries onto a connection, which is closed when those have ended that are on their way.
func (p *Pool) retire(n *connection) {
	if !n.retired.Swap(true) && n.load == 0 {
		go n.end()
	}
}

// Break breaks the connections to a server that does not answer. Queries that are under
// way are to be made elsewhere.
func (p *Pool) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		_ = n.net.SetDeadline(time.Now())
		p.retire(n)
	}
}

// Close closes the connections. Queries that are under way fail.
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
