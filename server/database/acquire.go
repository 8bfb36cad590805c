package database

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/server/gate"
	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// Held is a connection with the place that it takes. It comes from the pool, or is lent by the shared connections.
type Held struct {
	pooled *pgxpool.Conn
	loan   *pipeline.Loan // nil for one of the pool
	gate   *gate.Gate
	who    gate.Who
}

// Conn is for callers of Acquire, which does not borrow.
func (h Held) Conn() *pgx.Conn { return h.pooled.Conn() }

func (h Held) pg() *pgconn.PgConn {
	if h.loan != nil {
		return h.loan.PgConn()
	}
	return h.Conn().PgConn()
}

// Release returns the connection and the place.
func (h Held) Release() {
	if h.loan != nil {
		h.gate.Return(h.loan)
		return
	}
	h.pooled.Release() // it closes a connection that is still busy, for example after a panic
	h.gate.Leave(h.who)
}

// service makes everything but actions.
var service gate.Who

// Acquire waits for a connection for anything but an action, such as a sign-in. One connection
// is always kept free from actions.
func (d *DB) Acquire() (Held, error) {
	if d.gate.TryEnter(service) {
		conn, err := d.connection()
		if err == nil {
			return Held{pooled: conn, gate: d.gate, who: service}, nil
		}
		d.gate.Leave(service)
		if !lacksSlots(err) {
			return Held{}, err
		}
	}
	return d.acquireAt(d.reserve, service, nil, time.Now())
}

// acquireAt waits for a place, and then for its connection. now is the time at present. If Postgres has fewer slots
// than the pool would take, it waits for one of the open connections, before those that came later.
func (d *DB) acquireAt(g *gate.Gate, who gate.Who, client net.Conn, now time.Time) (Held, error) {
	for until := now.Add(d.wait); ; {
		loan, err := g.Enter(who, client, now)
		if err != nil {
			return Held{}, d.refused(err)
		}
		if loan != nil {
			return Held{loan: loan.(*pipeline.Loan), gate: g}, nil
		}
		conn, err := d.connection()
		if err == nil {
			return Held{pooled: conn, gate: g, who: who}, nil
		}
		g.Leave(who)
		if !lacksSlots(err) || time.Now().After(until) {
			return Held{}, err
		}
		stat := d.pool.Stat()
		open := int(stat.AcquiredConns() + stat.IdleConns())
		g.SetPlaces(open)
		if open == 0 && d.shared != nil { // connections for reads only must not hold the last slots
			d.shared.Yield()
		}
		time.Sleep(slotDelay)
	}
}

// refused returns the refusal of a call that got no place.
func (d *DB) refused(err error) error {
	switch {
	case err == gate.ErrLeft:
		return refusal.Timeout.With(request.ErrClientLeft)
	case d.liveness.isMissing(time.Now(), d.wait):
		return refusal.Unavailable.With(errSilent)
	}
	return refusal.Overloaded.With(err)
}

const (
	// slotDelay is the pause before Postgres is asked for a slot again.
	slotDelay = 20 * time.Millisecond
	// slotInterval is how often the server tries whether Postgres has another slot.
	slotInterval = time.Second
)

// lacksSlots tells whether Postgres is out of connection slots.
func lacksSlots(err error) bool { return refusal.SQLState(err) == "53300" }

// connection takes a connection from the pool, which has one or may open one.
func (d *DB) connection() (*pgxpool.Conn, error) {
	patience, end := context.WithTimeout(context.Background(), d.wait)
	defer end()
	conn, err := d.pool.Acquire(patience)
	if err != nil && d.refusesSettings(err) {
		conn, err = d.pool.Acquire(patience)
	}
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, refusal.Unavailable.With(fmt.Errorf("connect to the database: it does not answer within %s: %w", d.wait, err))
	}
	return nil, refusal.Unavailable.With(fmt.Errorf("connect to the database: %w", err))
}

// growAgain allows one more connection again, after Postgres had no slot for it.
func (d *DB) growAgain() {
	for _, g := range []*gate.Gate{d.gate, d.reserve} {
		g.SetPlaces(g.Places() + 1)
	}
}
