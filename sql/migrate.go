package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	versionTable = "platform.schema_version"

	// lockTimeout limits how long a migration waits for a table, since other statements
	// queue behind it.
	lockTimeout = "5s"
)

// ErrNewerPlatform is returned for a database that a newer build has migrated.
var ErrNewerPlatform = errors.New("the database's platform is newer than this build of Sternpost")

// Migrate brings the platform of a database to Version, from any state: empty, with
// objects of others, or with an older platform. It returns at once if nothing is missing.
// It waits for another migrator until ctx ends.
//
// The role of conn becomes the owner. It must own the database and may create roles; it
// need not be a superuser. A failed migration leaves nothing behind, but the migrations
// before it stay.
func Migrate(ctx context.Context, conn *pgx.Conn) error {
	current, err := isCurrent(ctx, conn)
	if err != nil || current {
		return err
	}

	lock, err := AwaitLock(ctx, conn, nil)
	if err != nil {
		return err
	}
	defer lock.Release()

	// Another migrator may have done it meanwhile.
	current, err = isCurrent(ctx, conn)
	if err != nil || current {
		return err
	}
	if err := migrateTables(ctx, conn, lock); err != nil {
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

// migrateTables applies the missing migrations, each in a transaction.
func migrateTables(ctx context.Context, conn *pgx.Conn, lock *Lock) error {
	// The version table is in the schema that the first migration creates.
	if _, err := conn.Exec(ctx, "create schema if not exists platform"); err != nil {
		return fmt.Errorf("create schema platform: %w", err)
	}
	migrator, err := lock.NewMigrator(ctx, versionTable, Migrations())
	if err != nil {
		return err
	}
	// The migrator resets all settings after each migration, so each sets its own, within
	// its transaction.
	migrator.OnStart = func() error {
		_, err := conn.Exec(ctx, "set local lock_timeout = '"+lockTimeout+"'")
		return err
	}
	if err := migrator.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate the platform: %w", err)
	}
	return nil
}

func replaceFunctions(ctx context.Context, conn *pgx.Conn) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Their texts are the same everywhere. That Postgres takes their bodies was tested with Script.
		if _, err := tx.Exec(ctx, "set local lock_timeout = '"+lockTimeout+"'; set local check_function_bodies = off"); err != nil {
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
