package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoSession is returned for a connection that leads through a pooler to now one, now
// another session of the database. Locks of a session would outlive it there, and shut out
// even those who took them.
var ErrNoSession = errors.New("the connection leads through a pooler that keeps no session: connect to Postgres itself, or through a pooler by session")

const (
	sessionTrials = 5
	// sessionWait is how long a pooler that has no connection to spare keeps one waiting.
	sessionWait = 2 * time.Second
)

// CheckSession returns ErrNoSession unless a connection has a session of its own. It is a
// round trip where nothing is before the database: a pooler makes up the number of the
// process that it tells a client.
func CheckSession(ctx context.Context, conn *pgx.Conn) error {
	own, err := processOf(ctx, conn)
	if err != nil || own == conn.PgConn().PID() {
		return err
	}
	other, err := pgx.ConnectConfig(ctx, conn.Config().Copy())
	if err != nil {
		return fmt.Errorf("look whether a pooler keeps sessions: %w", err)
	}
	defer other.Close(context.WithoutCancel(ctx))

	// The other one sits on a connection to the database. A pooler by transaction has just
	// got back ours, and gives it away.
	for range sessionTrials {
		limited, stop := context.WithTimeout(ctx, sessionWait)
		defer stop()
		if _, err := other.Exec(limited, "begin"); err != nil {
			return ctx.Err() // there is none to spare, so ours is not given away
		}
		taken, err := processOf(limited, other)
		if err != nil {
			return fmt.Errorf("look whether a pooler keeps sessions: %w", err)
		}
		now, err := processOf(limited, conn)
		if err != nil || now != own || taken == own {
			return errors.Join(ErrNoSession, ctx.Err())
		}
		if _, err := other.Exec(limited, "commit"); err != nil {
			return fmt.Errorf("look whether a pooler keeps sessions: %w", err)
		}
	}
	return nil
}

// processOf returns the number of the process that a connection leads to now.
func processOf(ctx context.Context, conn *pgx.Conn) (number uint32, err error) {
	var signed int32
	err = conn.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&signed)
	return uint32(signed), err
}
