package server

import (
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// readOnly is what a server raises that takes no writes: a standby, or one that was told so.
const readOnly = "25006"

// errCancelled is why it is not known what became of a write that ended well.
var errCancelled = errors.New("the request to cancel the call crossed its end")

// writability is what is known of whether the database takes writes. After a failover the
// URL may lead elsewhere than the connections that are open.
type writability struct {
	isReadOnly atomic.Bool // as the connection found that follows releases
	isRefused  atomic.Bool // a connection has refused a write since that one was opened
}

// leaveReadOnly closes a connection that has refused a write, and has the follower find out
// where the URL leads now. A database that is known to take no writes keeps its connections.
func (d *database) leaveReadOnly(pg *pgconn.PgConn) {
	d.writes.isRefused.Store(true)
	if !d.writes.isReadOnly.Load() {
		_ = pg.Close(closedContext())
	}
}

// takesWrites tells whether the database took writes when it was last asked.
func (d *database) takesWrites() bool { return !d.writes.isReadOnly.Load() }

// noteWritability notes what a new connection has found. It tells whether the other
// connections have to be left, since they lead to where writes are refused.
func (d *database) noteWritability(isReadOnly bool) (isLeft bool) {
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

// isToLookAgain tells whether a new connection may find a database that takes writes.
func (d *database) isToLookAgain() bool {
	return d.writes.isReadOnly.Load() || d.writes.isRefused.Load()
}
