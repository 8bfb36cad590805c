package migrate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	tern "github.com/jackc/tern/v2/migrate"

	"github.com/sternpost/sternpost/sql"
)

// UpOptions say how to apply migrations.
type UpOptions struct {
	URL string // connects as the owner of the database

	// LockTimeout is how long a migration waits for a table, and all later transactions with it. The default is two
	// seconds.
	LockTimeout time.Duration

	// Patience is how long a migration is tried again when it did not get its locks in that time. The default is five
	// minutes; a negative one means not at all.
	Patience time.Duration

	// AllowDrift applies migrations to a database with changes by hand.
	AllowDrift bool

	// Progress is how long a migration runs until its progress is reported; each further report comes after three times
	// as long. The default is three seconds.
	Progress time.Duration

	// Say gets the reports, a line at a time.
	Say func(line string)
}

func (o *UpOptions) say(format string, args ...any) {
	if o.Say != nil {
		o.Say(fmt.Sprintf(format, args...))
	}
}

const (
	defaultLockTimeout = 2 * time.Second
	defaultPatience    = 5 * time.Minute
	defaultProgress    = 3 * time.Second
)

// DriftError is returned for a database with changes by hand.
type DriftError struct {
	Differences []Difference
}

// Error lists the changes by hand.
func (e *DriftError) Error() string {
	return "the database was changed by hand since its last release:\n" + lines(e.Differences) +
		"\nchange it back, or go on as it is with --allow-drift"
}

func lines(differences []Difference) string {
	list := make([]string, len(differences))
	for i, d := range differences {
		list[i] = "  " + d.Object + " " + d.Change
	}
	return strings.Join(list, "\n")
}

// ApplyError is returned for a migration that Postgres refuses. A migration in a transaction leaves nothing; another
// one lacks the statements from the failed one on.
type ApplyError struct {
	File  string
	Line  int    // 0 means unknown
	Text  string // of the line
	Cause *pgconn.PgError
}

// Error says where and why.
func (e *ApplyError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	text += fmt.Sprintf(": %s (%s)", e.Cause.Message, e.Cause.Code)
	if e.Text != "" {
		text += "\n    " + strings.TrimSpace(e.Text)
	}
	for _, more := range []struct{ what, text string }{{"detail", e.Cause.Detail}, {"hint", e.Cause.Hint}, {"where", e.Cause.Where}} {
		if more.text != "" {
			text += "\n  " + more.what + ": " + more.text
		}
	}
	return text
}

// Unwrap returns Postgres' error.
func (e *ApplyError) Unwrap() error { return e.Cause }

// Up applies the migrations that a database lacks, one after the other, and returns their number. One migrator works at
// a time, tern's own command line included; a second one waits, and then finds nothing to do. A migration that fails
// leaves those before it. After any end of Up, it can be called again and goes on where it was.
func Up(ctx context.Context, folder *Folder, o UpOptions) (applied int, err error) {
	if err := folder.files(); err != nil {
		return 0, err
	}
	if len(folder.Files) == 0 {
		return 0, fmt.Errorf("there are no migrations in %s: write the first one with sternpost migrate new", folder.Dir)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = defaultLockTimeout
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Progress == 0 {
		o.Progress = defaultProgress
	}
	conn, err := connect(ctx, o.URL, o.LockTimeout)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := checkOwner(ctx, conn); err != nil {
		return 0, err
	}
	lock, err := sql.AwaitLock(ctx, conn, func() { o.say("waiting: another program is migrating this database") })
	if err != nil {
		return 0, err
	}
	defer lock.Release()

	var s state
	err = o.patiently(ctx, conn, "the look at the database", func() (err error) {
		if s, err = readState(ctx, conn); err == nil {
			err = folder.where(s)
		}
		if err == nil && s.version < len(folder.Files) {
			err = o.checkDrift(ctx, conn, folder, s)
		}
		return err
	})
	if err != nil || s.version == len(folder.Files) {
		return 0, orLocked(err)
	}
	migrator, err := lock.NewMigrator(ctx, versionTable, os.DirFS(folder.Dir))
	if err != nil {
		return 0, err
	}
	for _, file := range folder.Files[s.version:] {
		if err := o.apply(ctx, conn, migrator, file); err != nil {
			return applied, err
		}
		applied++
	}
	return applied, nil
}

// checkDrift refuses a database that was changed by hand. In the middle of a change, the objects of its last files do
// not exist yet, so it cannot tell.
func (o *UpOptions) checkDrift(ctx context.Context, conn *pgx.Conn, folder *Folder, s state) error {
	if o.AllowDrift || !folder.isComplete(s.version) {
		return nil
	}
	drift, err := readDrift(ctx, conn)
	if err != nil {
		return err
	}
	if len(drift) > 0 {
		return &DriftError{drift}
	}
	return nil
}

// isComplete tells whether a change is complete at a version.
func (f *Folder) isComplete(version int) bool {
	return version == 0 || f.Files[version-1].IsLast()
}

// apply applies one migration.
func (o *UpOptions) apply(ctx context.Context, conn *pgx.Conn, migrator *sql.Migrator, file *File) error {
	o.say("%s", file.Name)
	if err := o.warn(ctx, conn, file); err != nil {
		return err
	}
	return o.patiently(ctx, conn, file.Name, func() error {
		defer o.watch(ctx, conn.PgConn().PID(), file.Name)()
		if err := migrator.MigrateTo(ctx, int32(file.Number)); err != nil {
			return failure(err, file)
		}
		return nil
	})
}

// patiently does something again and again while it does not get its locks.
func (o *UpOptions) patiently(ctx context.Context, conn *pgx.Conn, name string, do func() error) error {
	began := time.Now()
	wait := 250 * time.Millisecond
	for {
		err := do()
		if !isLocked(err) || time.Since(began) > o.Patience {
			return err
		}
		// All transactions that waited behind it go on now, before it is tried again.
		pause := wait/2 + rand.N(wait)
		o.say("%s: it did not get a lock within %v, and is tried again%s", name, o.LockTimeout, inTheWay(ctx, conn))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		wait = min(2*wait, 8*time.Second)
	}
}

// isLocked tells whether an error says that a lock could not be taken in time.
func isLocked(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "55P03" || refused.Code == "40P01")
}

// failure adds the place in a file to an error.
func failure(err error, file *File) error {
	var refused tern.MigrationPgError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	e := &ApplyError{File: file.Name, Cause: refused.PgError}
	if refused.Position > 0 {
		if at, err := tern.ExtractErrorLine(refused.Sql, int(refused.Position)); err == nil {
			e.Line, e.Text = at.LineNum, at.Text
		}
	}
	return e
}

// inTheWay names transactions that have been open for some time, as far as this role may see them.
func inTheWay(ctx context.Context, conn *pgx.Conn) string {
	rows, err := conn.Query(ctx, `
		select format('process %s (%s%s) has been in a transaction for %s s', pid, usename, ', ' || nullif(application_name, ''), floor(extract(epoch from now() - xact_start)))
		from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '1 second'
		order by xact_start
		limit 3`)
	if err != nil {
		return ""
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(list) == 0 {
		return ""
	}
	return "; " + strings.Join(list, ", ")
}
