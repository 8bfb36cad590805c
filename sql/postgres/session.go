package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoSession is returned for a connection through a pooler that switches between
// sessions of the database. Session locks would outlive the client's use there, and lock
// out even their holder.
var ErrNoSession = errors.New("the connection goes through a pooler that does not keep sessions: connect directly to Postgres, or through a pooler in session mode")

const (
	sessionTrials = 5
	// sessionWait is how long a pooler without a free connection makes a client wait.
	sessionWait = 2 * time.Second
)

// CheckSession returns ErrNoSession unless a connection has its own session. Without a
// pooler it takes one round trip: a pooler invents the process number that it reports to
// a client.
func CheckSession(ctx context.Context, conn *pgx.Conn) error {
	own, err := processOf(ctx, conn)
	if err != nil || own == conn.PgConn().PID() {
		return err
	}
	other, err := pgx.ConnectConfig(ctx, conn.Config().Copy())
	if err != nil {
		return fmt.Errorf("test whether a pooler keeps sessions: %w", err)
	}
	defer other.Close(context.WithoutCancel(ctx))

	// The other client occupies a connection to the database. A pooler by transaction has
	// just got ours back, and hands it out.
	for range sessionTrials {
		limited, stop := context.WithTimeout(ctx, sessionWait)
		defer stop()
		if _, err := other.Exec(limited, "begin"); err != nil {
			return ctx.Err() // the pooler has no free one, so ours is not handed out
		}
		taken, err := processOf(limited, other)
		if err != nil {
			return fmt.Errorf("test whether a pooler keeps sessions: %w", err)
		}
		now, err := processOf(limited, conn)
		if err != nil || now != own || taken == own {
			return errors.Join(ErrNoSession, ctx.Err())
		}
		if _, err := other.Exec(limited, "commit"); err != nil {
			return fmt.Errorf("test whether a pooler keeps sessions: %w", err)
		}
	}
	return nil
}

// processOf returns the process number of the session behind a connection.
func processOf(ctx context.Context, conn *pgx.Conn) (number uint32, err error) {
	var signed int32
	err = conn.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&signed)
	return uint32(signed), err
}
