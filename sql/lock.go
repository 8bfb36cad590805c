package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	// migratorLock is the advisory lock of tern. Holding it also keeps out tern's command
	// line, and tern takes it again within our session.
	migratorLock = int64(9628173550095224)

	// lockPoll is how often a waiting migrator tries the lock. A wait inside
	// pg_advisory_lock would hold a snapshot, and a concurrent index build of the first
	// migrator would wait for that.
	lockPoll = 100 * time.Millisecond
)

// Lock is the right to migrate a database. One migrator has it at a time.
type Lock struct {
	conn   *pgx.Conn
	isHeld bool
}

// AwaitLock waits until no other migrator is at work, and keeps others out until the lock
// is released or the session ends. waiting, unless nil, is called once before the wait.
// AwaitLock refuses a connection without a session of its own.
func AwaitLock(ctx context.Context, conn *pgx.Conn, waiting func()) (*Lock, error) {
	if err := postgres.CheckSession(ctx, conn); err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	l := &Lock{conn: conn}
	for {
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", migratorLock).Scan(&l.isHeld); err != nil {
			return nil, fmt.Errorf("lock migrations: %w", err)
		}
		if l.isHeld {
			return l, nil
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another migration to end: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// Release lets the next migrator in. If it fails, the connection is broken, and the end
// of its session has released the lock.
func (l *Lock) Release() {
	if l.isHeld {
		_, _ = l.conn.Exec(context.Background(), "select pg_advisory_unlock($1)", migratorLock)
	}
}
