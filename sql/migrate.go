package sql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"github.com/sternpost/sternpost/sql/postgres"
)

const (
	versionTable = "platform.schema_version"

	// lockTimeout bounds how long a migration waits for a table: anyone who queues
	// behind it waits as well.
	lockTimeout = "5s"

	// migratorLock is the advisory lock that tern takes. Holding the same one keeps
	// out tern's command line too, and tern takes it again within our session.
	migratorLock = int64(9628173550095224)

	// lockPoll is how often a second migrator looks whether it is its turn. Waiting
	// inside pg_advisory_lock would hold a snapshot, for which an index that is being
	// built concurrently by the first one would wait in turn.
	lockPoll = 100 * time.Millisecond
)

// ErrNewerPlatform is returned for a database that a newer build has migrated.
var ErrNewerPlatform = errors.New("the database's platform is newer than this build of Sternpost")

// Migrate brings the platform of a database to Version, whatever it holds: nothing,
// objects of others, or an older platform. It returns at once when there is nothing
// to do, and waits for its turn, until ctx ends, when somebody else is migrating.
//
// The role of conn becomes the owner. It must own the database and may create
// roles; it need not be a superuser. A migration that fails leaves nothing behind,
// those before it stay.
func Migrate(ctx context.Context, conn *pgx.Conn) error {
	current, err := isCurrent(ctx, conn)
	if err != nil || current {
		return err
	}

	unlock, err := Lock(ctx, conn, nil)
	if err != nil {
		return err
	}
	defer unlock()

	// The one before may have done it.
	current, err = isCurrent(ctx, conn)
	if err != nil || current {
		return err
	}
	if err := migrateTables(ctx, conn); err != nil {
		return err
	}
	return replaceFunctions(ctx, conn)
}

// isCurrent tells whether version and functions are those of this build.
func isCurrent(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var installed bool
	err := conn.QueryRow(ctx, `
		select to_regclass('platform.schema_version') is not null and to_regclass('platform.function_version') is not null
	`).Scan(&installed)
	if err != nil {
		return false, fmt.Errorf("look for the platform: %w", err)
	}
	if !installed {
		return false, nil
	}

	var version int
	var hash string
	err = conn.QueryRow(ctx, `
		select schema_version.version, coalesce((select function_version.hash from platform.function_version), '')
		from platform.schema_version
	`).Scan(&version, &hash)
	if err != nil {
		return false, fmt.Errorf("read the platform's version: %w", err)
	}
	if version > Version() {
		return false, fmt.Errorf("%w (version %d, known up to %d)", ErrNewerPlatform, version, Version())
	}
	return version == Version() && hash == Hash(), nil
}

// Lock waits until nobody else migrates the database, and keeps others out until unlock
// is called or the session ends. waiting, if there is one, is called once before it waits.
// It refuses a connection without a session of its own.
func Lock(ctx context.Context, conn *pgx.Conn, waiting func()) (unlock func(), err error) {
	if err := postgres.CheckSession(ctx, conn); err != nil {
		return nil, fmt.Errorf("lock migrations: %w", err)
	}
	for {
		var locked bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", migratorLock).Scan(&locked); err != nil {
			return nil, fmt.Errorf("lock migrations: %w", err)
		}
		if locked {
			return func() {
				// A connection on which this fails is broken, and its session has ended the lock.
				_, _ = conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", migratorLock)
			}, nil
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

// migrateTables applies the migrations that are missing, each in a transaction.
func migrateTables(ctx context.Context, conn *pgx.Conn) error {
	// The version table is in the schema that the first migration is about.
	if _, err := conn.Exec(ctx, "create schema if not exists platform"); err != nil {
		return fmt.Errorf("create schema platform: %w", err)
	}
	migrator, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return fmt.Errorf("prepare %s: %w", versionTable, err)
	}
	if err := migrator.LoadMigrations(Migrations()); err != nil {
		return fmt.Errorf("load the platform's migrations: %w", err)
	}

	// Tern resets all settings after each migration, so each sets its own, within its
	// transaction.
	var errTimeout error
	migrator.OnStart = func(int32, string, string, string) {
		_, err := conn.Exec(ctx, "set local lock_timeout = '"+lockTimeout+"'")
		errTimeout = errors.Join(errTimeout, err)
	}
	if err := errors.Join(migrator.Migrate(ctx), errTimeout); err != nil {
		return fmt.Errorf("migrate the platform: %w", err)
	}
	return nil
}

func replaceFunctions(ctx context.Context, conn *pgx.Conn) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local lock_timeout = '"+lockTimeout+"'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, functionsSQL()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, setHashSQL())
		return err
	})
	if err != nil {
		return fmt.Errorf("replace the platform's functions: %w", err)
	}
	return nil
}
