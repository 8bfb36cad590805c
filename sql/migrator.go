package sql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/tern/v2/migrate"
)

// Migrator applies the migrations of a folder in order, and counts them in a version table.
// Tern reads them, and applies them if the database has advisory locks. Tern always takes
// one, so without them this package applies the migrations as tern does.
type Migrator struct {
	// OnStart is called when a migration begins, in its transaction.
	OnStart func() error

	// Split splits the text of a migration without transaction into its statements. Only
	// such migrations need it.
	Split func(text string) []string

	tern   *migrate.Migrator
	conn   *pgx.Conn
	table  string
	byHand bool
}

// NewMigrator reads the migrations of a folder, and makes their version table if it is
// missing.
func (l *Lock) NewMigrator(ctx context.Context, table string, folder fs.FS) (*Migrator, error) {
	m := &Migrator{conn: l.conn, table: table, byHand: l.holder != nil}
	conn := l.conn
	if m.byHand {
		conn = nil
		if err := m.makeTable(ctx); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", table, err)
		}
	}
	var err error
	if m.tern, err = migrate.NewMigrator(ctx, conn, table); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", table, err)
	}
	if err := m.tern.LoadMigrations(folder); err != nil {
		return nil, fmt.Errorf("load the migrations: %w", err)
	}
	return m, nil
}

func (m *Migrator) makeTable(ctx context.Context) error {
	_, err := m.conn.Exec(ctx, fmt.Sprintf(`
		create table if not exists %[1]s (version int4 not null);
		insert into %[1]s (version)
		select 0
		where not exists (select from %[1]s)`, m.table))
	return err
}

// Migrate applies all missing migrations.
func (m *Migrator) Migrate(ctx context.Context) error {
	return m.MigrateTo(ctx, int32(len(m.tern.Migrations)))
}

// MigrateTo applies the missing migrations up to a number. A refusal by Postgres is a
// migrate.MigrationPgError of tern.
func (m *Migrator) MigrateTo(ctx context.Context, number int32) error {
	if m.byHand {
		return m.applyTo(ctx, number)
	}
	var errStart error
	if m.OnStart != nil {
		m.tern.OnStart = func(int32, string, string, string) { errStart = errors.Join(errStart, m.OnStart()) }
	}
	return errors.Join(m.tern.MigrateTo(ctx, number), errStart)
}

// applyTo is tern's MigrateTo without its lock.
func (m *Migrator) applyTo(ctx context.Context, number int32) error {
	var version int32
	if err := m.conn.QueryRow(ctx, "select version from "+m.table).Scan(&version); err != nil {
		return fmt.Errorf("read %s: %w", m.table, err)
	}
	if version < 0 || number < version || int(number) > len(m.tern.Migrations) {
		return fmt.Errorf("cannot go from migration %d to migration %d of %d", version, number, len(m.tern.Migrations))
	}
	for _, migration := range m.tern.Migrations[version:number] {
		apply := m.apply
		if hasNoTransaction.MatchString(migration.UpSQL) {
			apply = m.applyAlone
		}
		if err := apply(ctx, migration); err != nil {
			return err
		}
	}
	return nil
}

// hasNoTransaction finds tern's mark of a migration that runs outside of a transaction.
var hasNoTransaction = regexp.MustCompile(`(?m)^---- tern: disable-tx ----$`)

// apply applies a migration in a transaction.
func (m *Migrator) apply(ctx context.Context, migration *migrate.Migration) error {
	return pgx.BeginFunc(ctx, m.conn, func(pgx.Tx) error {
		if m.OnStart != nil {
			if err := m.OnStart(); err != nil {
				return err
			}
		}
		if err := m.run(ctx, migration, migration.UpSQL); err != nil {
			return err
		}
		return m.count(ctx, migration)
	})
}

// applyAlone applies a migration statement by statement.
func (m *Migrator) applyAlone(ctx context.Context, migration *migrate.Migration) error {
	for _, statement := range m.Split(migration.UpSQL) {
		if err := m.run(ctx, migration, statement); err != nil {
			return err
		}
	}
	return m.count(ctx, migration)
}

func (m *Migrator) run(ctx context.Context, migration *migrate.Migration, text string) error {
	_, err := m.conn.Exec(ctx, text)
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return migrate.MigrationPgError{MigrationName: migration.Name, Sql: text, PgError: raised}
	}
	return err
}

// count counts an applied migration. It resets the settings of the migration.
func (m *Migrator) count(ctx context.Context, migration *migrate.Migration) error {
	if _, err := m.conn.Exec(ctx, "reset all"); err != nil {
		return err
	}
	tag, err := m.conn.Exec(ctx, "update "+m.table+" set version = $1 where version = $2", migration.Sequence, migration.Sequence-1)
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("%s: another program has migrated the database meanwhile", migration.Name)
	}
	return err
}
