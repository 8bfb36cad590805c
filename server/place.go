package server

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
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// held is a connection of the pool with the place that it takes.
type held struct {
	pooled *pgxpool.Conn
	gate   *gate.Gate
	name   string
}

func (h held) conn() *pgx.Conn    { return h.pooled.Conn() }
func (h held) pg() *pgconn.PgConn { return h.conn().PgConn() }

// Release gives both back.
func (h held) Release() {
	h.pooled.Release() // closes it if something is still running on it, so after a panic too
	h.gate.Leave(h.name)
}

// service is the name under which whatever is not an action takes its share.
const service = ""

// acquire waits for a connection for what is not an action, such as a sign-in. There always is
// one that actions do not take.
func (d *database) acquire() (held, error) {
	if d.gate.TryEnter(service) {
		conn, err := d.connection()
		if err == nil {
			return held{conn, d.gate, service}, nil
		}
		d.gate.Leave(service)
		if !lacksSlots(err) {
			return held{}, err
		}
	}
	return d.acquireAt(d.reserve, service, nil)
}

// acquireFor waits for a connection for an action.
func (d *database) acquireFor(action string, client net.Conn) (held, error) {
	return d.acquireAt(d.gate, action, client)
}

// acquireAt waits for a place, and then for its connection. Where Postgres has fewer slots
// than the pool would take, those that are open are waited for.
func (d *database) acquireAt(g *gate.Gate, name string, client net.Conn) (held, error) {
	for until := time.Now().Add(d.wait); ; {
		switch err := g.Enter(name, client); err {
		case nil:
		case gate.ErrLeft:
			return held{}, refusal.Timeout.With(request.ErrClientLeft)
		default:
			return held{}, refusal.Overloaded.With(err)
		}
		conn, err := d.connection()
		if err == nil {
			return held{conn, g, name}, nil
		}
		g.Leave(name)
		if !lacksSlots(err) || time.Now().After(until) {
			return held{}, err
		}
		stat := d.pool.Stat()
		open := int(stat.AcquiredConns() + stat.IdleConns())
		g.SetPlaces(open)
		if open == 0 && d.shared != nil { // what only reads may use must not keep the last slots
			d.shared.Yield()
		}
		time.Sleep(slotDelay)
	}
}

const (
	// slotDelay is how long a slot of Postgres is waited for before it is asked for again.
	slotDelay = 20 * time.Millisecond
	// slotInterval is how often it is tried whether Postgres has a slot more.
	slotInterval = time.Second
)

// lacksSlots tells whether Postgres takes no more connections.
func lacksSlots(err error) bool { return refusal.SQLState(err) == "53300" }

// connection takes a connection from the pool, which has one or may open one.
func (d *database) connection() (*pgxpool.Conn, error) {
	patience := beginPatience(d.wait)
	defer patience.end()
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

// growAgain lets one more connection be opened, after Postgres had no slot for it.
func (d *database) growAgain() {
	for _, g := range []*gate.Gate{d.gate, d.reserve} {
		g.SetPlaces(g.Places() + 1)
	}
}
