package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
)

// Status is the state of a database against the migrations.
type Status struct {
	Version  int   // the last applied migration
	Release  int64 // the newest; 0 means none
	Pending  []*File
	Drift    []Difference // changes by hand since then
	Halfway  bool         // whether the last change is not complete
	Obstacle error        // why the pending files cannot be applied; nil means they can
	Rows     []TableRows  // of the tables that the pending files name
}

// TableRows is how many rows a table holds, or how many values a column that is dropped.
type TableRows struct {
	Table     string // app.post
	Column    string // empty means rows
	Rows      int64
	Estimated bool // whether the number is Postgres' estimate, for a large table
}

// String says the number: app.post holds 2 rows.
func (r TableRows) String() string {
	about := ""
	if r.Estimated {
		about = "about "
	}
	if r.Column != "" {
		return fmt.Sprintf("%s.%s is dropped with %s%d values", r.Table, r.Column, about, r.Rows)
	}
	return fmt.Sprintf("%s holds %s%d rows", r.Table, about, r.Rows)
}

// IsCurrent tells whether all is applied and nothing was changed by hand.
func (s *Status) IsCurrent() bool {
	return len(s.Pending) == 0 && len(s.Drift) == 0 && s.Obstacle == nil
}

// statusLockTimeout is how long the status waits for a lock of a migration that is running. It is shorter than
// deadlock_timeout of Postgres, so that the status gives up before Postgres ends one of the two.
const statusLockTimeout = 500 * time.Millisecond

// ErrLocked is returned for a database whose tables another session has locked.
var ErrLocked = errors.New("another session has locked tables: if a migration is running, ask again when it has ended")

// ReadStatus compares a database with the migrations, as its owner. It changes nothing.
func ReadStatus(ctx context.Context, folder *Folder, url string) (*Status, error) {
	if err := folder.files(); err != nil {
		return nil, err
	}
	conn, err := connect(ctx, url, statusLockTimeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := checkOwner(ctx, conn); err != nil {
		return nil, err
	}
	s, err := readState(ctx, conn)
	if err != nil {
		return nil, err
	}
	status := &Status{Version: s.version, Release: s.release, Obstacle: folder.where(s)}
	if s.version <= len(folder.Files) {
		status.Pending = folder.Files[s.version:]
		status.Halfway = !folder.isComplete(s.version)
	}
	if !status.Halfway {
		if status.Drift, err = readDrift(ctx, conn); err != nil {
			return nil, orLocked(err)
		}
	}
	status.Rows, err = countRows(ctx, conn, status.Pending)
	return status, orLocked(err)
}

// orLocked is ErrLocked if an error says that a lock could not be taken in time; otherwise the error.
func orLocked(err error) error {
	if isLocked(err) {
		return ErrLocked
	}
	return err
}

// tableName matches a table of the application in the plan of a file.
var tableName = regexp.MustCompile(`\bapp\.("[^"]+"|[a-z_][a-z_0-9]*)`)

// droppedColumn matches a column in the plan of a file that is dropped with its values.
var droppedColumn = regexp.MustCompile(`alter table (app\.\S+) drop column (\S+);\n.*loses data`)

// large is the number of rows from which on Postgres' estimate is used: a count reads them all.
const large = 100_000

// countRows counts the rows of the existing tables that files name.
func countRows(ctx context.Context, conn *pgx.Conn, files []*File) ([]TableRows, error) {
	var list []TableRows
	seen := map[string]bool{}
	for _, f := range files {
		for _, name := range tableName.FindAllString(f.Plan(), -1) {
			if seen[name] {
				continue
			}
			seen[name] = true
			r := TableRows{Table: name}
			err := conn.QueryRow(ctx, "select reltuples::bigint from pg_class where oid = to_regclass($1) and relkind = 'r'", name).Scan(&r.Rows)
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				continue // it is an index, or not there yet
			case err == nil && r.Rows >= large:
				r.Estimated = true
			case err == nil:
				err = conn.QueryRow(ctx, "select count(*) from "+name).Scan(&r.Rows)
			}
			if err != nil {
				return nil, fmt.Errorf("count the rows of %s: %w", name, err)
			}
			list = append(list, r)
		}
		for _, drop := range droppedColumn.FindAllStringSubmatch(f.Plan(), -1) {
			r := TableRows{Table: drop[1], Column: drop[2]}
			err := conn.QueryRow(ctx, `
				select (reltuples * (1 - coalesce(null_frac, 0)))::bigint, reltuples >= $3
				from pg_class
				join pg_namespace on pg_namespace.oid = relnamespace
				join pg_attribute on attrelid = pg_class.oid and quote_ident(attname) = $2
				left join pg_stats on schemaname = nspname and tablename = relname and pg_stats.attname = pg_attribute.attname
				where pg_class.oid = to_regclass($1)`, r.Table, r.Column, large).Scan(&r.Rows, &r.Estimated)
			if errors.Is(err, pgx.ErrNoRows) {
				continue // an earlier file makes it
			}
			if err == nil && !r.Estimated {
				err = conn.QueryRow(ctx, "select count("+r.Column+") from "+r.Table).Scan(&r.Rows)
			}
			if err != nil {
				return nil, fmt.Errorf("count the values of %s.%s: %w", r.Table, r.Column, err)
			}
			list = append(list, r)
		}
	}
	return list, nil
}
