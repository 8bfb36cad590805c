package database

import (
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// readOnly is raised by a server that takes no writes: a standby, or one set to read-only.
const readOnly = "25006"

// errCancelled is the reason why the outcome of a write that ended well is unknown.
var errCancelled = errors.New("the request to cancel the call crossed its end")

// writability is whether the database takes writes, as far as known. After a failover the
// URL may lead elsewhere than the open connections.
type writability struct {
	isReadOnly atomic.Bool // according to the connection that follows releases
	isRefused  atomic.Bool // a connection has refused a write since that one was opened
}

// leaveReadOnly closes a connection that has refused a write, and lets the follower find out
// where the URL leads now. Connections to a database known as read-only stay open.
func (d *DB) leaveReadOnly(pg *pgconn.PgConn) {
	d.writes.isRefused.Store(true)
	if !d.writes.isReadOnly.Load() {
		_ = pg.Close(closedContext())
	}
}

// TakesWrites tells whether the database took writes when it was last asked.
func (d *DB) TakesWrites() bool { return !d.writes.isReadOnly.Load() }

// NoteWritability notes the finding of a new connection. It tells whether the other
// connections must be left, since they may lead to a server that refuses writes.
func (d *DB) NoteWritability(isReadOnly bool) (isLeft bool) {
	wasReadOnly := d.writes.isReadOnly.Swap(isReadOnly)
	if isReadOnly {
		return false
	}
	wasRefused := d.writes.isRefused.Swap(false)
	if !wasReadOnly && !wasRefused {
		return false
	}
	d.reset()
	return true
}

// LooksAgain tells whether a new connection may find a database that takes writes.
func (d *DB) LooksAgain() bool {
	return d.writes.isReadOnly.Load() || d.writes.isRefused.Load()
}
