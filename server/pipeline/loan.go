package pipeline

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Loan is a connection that one caller has exclusively for a while, for a statement that must not be repeated.
// Nothing else is in flight on it.
type Loan struct {
	n  *connection
	pg *pgconn.PgConn
}

// PgConn returns the connection. After GiveBack it belongs to the pool again.
func (l *Loan) PgConn() *pgconn.PgConn { return l.pg }

// Borrow lends an idle connection, or returns nil. One connection always stays with the reads.
func (p *Pool) Borrow() *Loan {
	p.mu.Lock()
	defer p.mu.Unlock()
	var idle *connection
	shared := 0
	for _, n := range p.connections {
		if n.retired.Load() || n.lent {
			continue
		}
		if shared++; n.load == 0 && n.isSilent() {
			idle = n
		}
	}
	if idle == nil || shared < 2 {
		p.grow(time.Now())
		return nil
	}
	if idle.loan == nil {
		pg, err := pgconn.Construct(idle.hijacked)
		if err != nil {
			return nil
		}
		newExclusive(pg, idle.wire)
		idle.loan = &Loan{n: idle, pg: pg}
	}
	idle.lent = true
	idle.load++
	return idle.loan
}

// isSilent tells whether no caller reads from the connection, and all input was processed.
func (n *connection) isSilent() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.reading && n.err == nil && n.r == n.w
}

// GiveBack returns the connection. It is closed unless it is unchanged: no statement runs on it, no transaction is
// open, and all input was read.
func (l *Loan) GiveBack() {
	n, pg := l.n, l.pg
	if pg.IsClosed() || pg.IsBusy() || pg.TxStatus() != 'I' || pg.SyncConn(ended) != nil {
		n.retired.Store(true)
	}
	n.pool.mu.Lock()
	n.lent = false
	n.pool.mu.Unlock()
	n.pool.leave(n)
	if n.retired.Load() {
		go n.end()
	}
}

// ended is a context that has ended: it checks whether a connection is in step, without any further action.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
