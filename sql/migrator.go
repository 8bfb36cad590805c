package sql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/tern/v2/migrate"
)

// Migrator applies the migrations of a folder in order, and counts them in a version table, by
// tern.
type Migrator struct {
	// OnStart is called when a migration begins, in its transaction.
	OnStart func() error

	tern *migrate.Migrator
}

// NewMigrator reads the migrations of a folder, and makes their version table if it is
// missing.
func (l *Lock) NewMigrator(ctx context.Context, table string, folder fs.FS) (*Migrator, error) {
	tern, err := migrate.NewMigrator(ctx, l.conn, table)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", table, err)
	}
	if err := tern.LoadMigrations(folder); err != nil {
		return nil, fmt.Errorf("load the migrations: %w", err)
	}
	return &Migrator{tern: tern}, nil
}

// Migrate applies all missing migrations.
func (m *Migrator) Migrate(ctx context.Context) error {
	return m.MigrateTo(ctx, int32(len(m.tern.Migrations)))
}

// MigrateTo applies the missing migrations up to a number. A refusal by Postgres is a
// migrate.MigrationPgError of tern.
func (m *Migrator) MigrateTo(ctx context.Context, number int32) error {
	var errStart error
	if m.OnStart != nil {
		m.tern.OnStart = func(int32, string, string, string) { errStart = errors.Join(errStart, m.OnStart()) }
	}
	return errors.Join(m.tern.MigrateTo(ctx, number), errStart)
}
