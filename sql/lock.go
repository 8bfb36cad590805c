package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	// migratorLock is the advisory lock of tern. Holding it also keeps out tern's command
	// line, and tern takes it again within our session.
	migratorLock = int64(9628173550095224)

	// lockTable has the row that migrators lock in a database without advisory locks. It
	// is beside the version table of the migrations, since the first migration creates
	// the schemas of Sternpost.
	lockTable = "public.sternpost_migrator"

	// lockPoll is how often a waiting migrator tries the lock. A wait inside
	// pg_advisory_lock would hold a snapshot, and a concurrent index build of the first
	// migrator would wait for that.
	lockPoll = 100 * time.Millisecond
)

// Lock is the right to migrate a database. One migrator has it at a time.
type Lock struct {
	conn   *pgx.Conn
	holder *pgx.Conn // locks the row, in a database without advisory locks; otherwise nil
	isHeld bool
}

// AwaitLock waits until no other migrator is at work, and keeps others out until the lock
// is released or the session ends. waiting, unless nil, is called once before the wait.
// AwaitLock refuses a connection without a session of its own.
func AwaitLock(ctx context.Context, conn *pgx.Conn, waiting func()) (*Lock, error) {
	l, err := newLock(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	for {
		if err := l.try(ctx); err != nil {
			l.Release()
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
			l.Release()
			return nil, fmt.Errorf("wait for another migration to end: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// newLock finds out how the database can lock migrations. It locks nothing yet.
func newLock(ctx context.Context, conn *pgx.Conn) (*Lock, error) {
	if err := postgres.CheckSession(ctx, conn); err != nil {
		return nil, err
	}
	l := &Lock{conn: conn}
	err := TryAdvisoryLocks(ctx, conn)
	if err == nil || !isMissing(err) {
		return l, err
	}
	if l.holder, err = pgx.ConnectConfig(ctx, conn.Config().Copy()); err != nil {
		return nil, fmt.Errorf("open a second connection, to lock a row: %w", err)
	}
	if _, err = l.holder.Exec(ctx, "set idle_in_transaction_session_timeout = 0"); err != nil {
		l.Release()
		return nil, err
	}
	return l, nil
}

// TryAdvisoryLocks returns why a database lacks the advisory locks of a session that
// migrators take. Some engines compatible with Postgres do not have them, and a provider
// may reserve them.
func TryAdvisoryLocks(ctx context.Context, conn *pgx.Conn) error {
	// No other process takes the lock of this one, so this never waits.
	_, err := conn.Exec(ctx, `
		select pg_try_advisory_lock(own.lock), pg_advisory_lock(own.lock), pg_advisory_unlock(own.lock), pg_advisory_unlock(own.lock)
		from (select hashtextextended('sternpost ' || pg_backend_pid(), 0) as lock) as own`)
	return err
}

// isMissing tells whether the database lacks or refuses a feature, by its error.
func isMissing(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && slices.Contains([]string{"0A000", "42883", "42501"}, raised.Code)
}

// try takes the lock if it is free.
func (l *Lock) try(ctx context.Context) error {
	if l.holder != nil {
		return l.tryRow(ctx)
	}
	return l.conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", migratorLock).Scan(&l.isHeld)
}

// tryRow locks the row on a connection of its own, in one transaction: the transactions of
// migrations begin and end meanwhile. It holds no snapshot.
func (l *Lock) tryRow(ctx context.Context) error {
	statements := []string{
		"create table if not exists " + lockTable + " (number integer primary key)",
		"comment on table " + lockTable + " is 'A row that migrators lock, since this database has no advisory locks.'",
		"insert into " + lockTable + " (number) values (1) on conflict do nothing",
		"begin",
		"select from " + lockTable + " where number = 1 for update nowait",
	}
	var isThere bool
	if err := l.holder.QueryRow(ctx, "select to_regclass($1) is not null", lockTable).Scan(&isThere); err != nil {
		return err
	}
	if isThere {
		statements = statements[2:]
	}
	for _, statement := range statements {
		_, err := l.holder.Exec(ctx, statement)
		switch {
		case isTaken(err):
			_, err = l.holder.Exec(ctx, "rollback")
			return err
		case err != nil:
			return err
		}
	}
	l.isHeld = true
	return nil
}

// isTaken tells whether another migrator has the row, or is making it, by the error. A table
// has a type of its name, which two migrators may make at the same time.
func isTaken(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && slices.Contains([]string{"55P03", "23505", "42P07", "42710"}, raised.Code)
}

// Release lets the next migrator in. If it fails, the connection is broken, and the end
// of its session has released the lock.
func (l *Lock) Release() {
	switch {
	case l.holder != nil:
		_ = l.holder.Close(context.Background())
	case l.isHeld:
		_, _ = l.conn.Exec(context.Background(), "select pg_advisory_unlock($1)", migratorLock)
	}
}
