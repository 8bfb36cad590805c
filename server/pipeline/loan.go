package pipeline

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Loan is a connection that one caller has for itself for a while, for a statement that must not be made twice. Nothing else
// is on its way on it.
type Loan struct {
	n  *connection
	pg *pgconn.PgConn
}

// PgConn is the connection. It belongs to the pool again once it has been given back.
func (l *Loan) PgConn() *pgconn.PgConn { return l.pg }

// Borrow lends an idle connection. One always stays with those who share; nil means that there is none besides.
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
		idle.loan = &Loan{n: idle, pg: pg}
	}
	idle.lent = true
	idle.load++
	return idle.loan
}

// isSilent tells whether nobody reads from the connection, and all that came was looked at.
func (n *connection) isSilent() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.reading && n.err == nil && n.r == n.w
}

// GiveBack gives the connection back. It is closed unless it is as it was: nothing runs on it, no transaction is open, and
// all that came was read.
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

// ended is a context that has ended: with it a connection is asked whether it is in step, and does nothing about it.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
