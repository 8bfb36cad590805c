// Package install brings a compiled database into Postgres.
//
// Its input is a compiled database and a connection of the owner. Afterwards the
// platform is current, the tables, policies and functions are those of the
// compilation, and a new release tells all servers. Everything happens in one
// transaction. Changes that would lose rows or values are refused, and then
// nothing is changed at all.
package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql"
	sqlrelease "github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Script returns the whole application, platform included, as one SQL text for
// an empty database, to be run in one transaction. Equal input gives equal text.
func Script(r *emit.Release) string {
	return emit.Script(OverPlatform(r), sql.Script())
}

// BackfillError is returned when the value given for rows cannot be computed. Nothing was changed.
type BackfillError struct {
	Backfill diff.Backfill
	Reason   string // the part of the schema that asks for it
	IsOpen   bool   // whether a bracket or a quote of the expression is not closed
	Cause    *pgconn.PgError
}

// Error names the expression and adds Postgres' error about it.
func (e *BackfillError) Error() string {
	why := e.Cause.Message
	if e.IsOpen {
		why = "the expression does not end: a bracket or a quote is open"
	}
	return fmt.Sprintf("the value given for existing rows cannot be computed: %s\n%s (%s)", e.Backfill, why, e.Reason)
}

// Unwrap returns Postgres' error.
func (e *BackfillError) Unwrap() error { return e.Cause }

// OverPlatform returns a release as one that depends on the platform of this build.
func OverPlatform(r *emit.Release) *emit.Release {
	over := *r.Database
	over.Platform = sql.Hash()
	return &emit.Release{Database: &over, Manifest: r.Manifest}
}

// Outcome tells what Install did.
type Outcome struct {
	Release int64      // the release that is installed now
	Changed bool       // whether it is new
	Plan    *diff.Plan // the necessary changes
}

// RowsError is returned when existing rows do not satisfy the new schema. Nothing was changed.
type RowsError struct {
	Cause *pgconn.PgError
	Rule  string // the message of the @validate that they break; empty if they break anything else
}

// Error says which constraint or column the rows do not satisfy.
func (e *RowsError) Error() string {
	object := "table app." + e.Cause.TableName
	switch {
	case e.Cause.ConstraintName != "":
		object += ", constraint " + e.Cause.ConstraintName
	case e.Cause.ColumnName != "":
		object += ", column " + e.Cause.ColumnName
	}
	because := e.Cause.Message
	if e.Rule != "" {
		because = "@validate, " + e.Rule
	}
	return "the schema cannot be installed: rows that are there do not fit it (" + object + ": " + because + ")"
}

// Unwrap returns Postgres' error.
func (e *RowsError) Unwrap() error { return e.Cause }

// Options say what an installation may do. The zero value refuses every change that would lose
// rows or values.
type Options struct {
	Allow     []string        // allowed losses: drop:post.subtitle
	Backfills []diff.Backfill // values for existing rows
	ByDev     bool            // whether sternpost dev installs it
}

// Install brings the database behind conn to the state that a release describes. The role of conn is or becomes the
// owner. Install does nothing if that state is installed already.
func Install(ctx context.Context, conn *pgx.Conn, r *emit.Release) (Outcome, error) {
	return InstallWith(ctx, conn, r, Options{})
}

// InstallWith is Install with options. If it fails because of a change by hand, it returns a *DriftError.
func InstallWith(ctx context.Context, conn *pgx.Conn, r *emit.Release, options Options) (Outcome, error) {
	if err := sql.Migrate(ctx, conn); err != nil {
		return Outcome{}, fmt.Errorf("install the platform: %w", err)
	}
	outcome, err := install(ctx, conn, r, options)
	return outcome, orDrift(ctx, conn, r.Database, err)
}

func install(ctx context.Context, conn *pgx.Conn, r *emit.Release, options Options) (Outcome, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("install a release: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))

	if err := CheckBackfills(r.Database, options.Backfills); err != nil {
		return Outcome{}, err
	}
	wanted := OverPlatform(r)
	installed, err := newest(ctx, tx)
	if err != nil {
		return Outcome{}, err
	}
	old, err := installed.left(wanted.Database)
	if err != nil {
		return Outcome{}, err
	}
	if err := lockChanged(ctx, tx, old, wanted.Database, options); err != nil {
		return Outcome{}, err
	}
	counted := counter{ctx: ctx, tx: tx}
	plan := diff.Between(old, wanted.Database, diff.Options{Allow: options.Allow, Backfills: options.Backfills, Rows: counted.rows})
	outcome := Outcome{Release: installed.number, Plan: plan}
	switch {
	case counted.err != nil:
		return Outcome{}, counted.err
	case len(plan.Refused) > 0:
		return Outcome{}, refusedError(ctx, tx, plan.Refused)
	case old != nil && plan.IsEmpty() && bytes.Equal(installed.manifest, wanted.Manifest) && old.Platform == wanted.Platform:
		return outcome, nil
	}
	if err := checkSource(r.Database); err != nil {
		return Outcome{}, err
	}
	if err := run(ctx, tx.Conn().PgConn(), emit.Plan(plan)); err != nil {
		return Outcome{}, namingRule(err, r.Manifest)
	}
	if err := checkCode(ctx, tx, r.Database); err != nil {
		return Outcome{}, err
	}
	if err := checkBodies(ctx, tx, r.Database); err != nil {
		return Outcome{}, err
	}
	err = tx.QueryRow(ctx, "select platform.install_release($1, $2, $3)",
		wanted.Source, string(wanted.Manifest), string(plan.Result.Description())).Scan(&outcome.Release)
	if err != nil {
		return Outcome{}, fmt.Errorf("record a release: %w", err)
	}
	if options.ByDev {
		if _, err := tx.Exec(ctx, "update platform.release set by_dev = true where number = $1", outcome.Release); err != nil {
			return Outcome{}, fmt.Errorf("record a release: %w", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return Outcome{}, fmt.Errorf("install a release: %w", err)
	}
	outcome.Changed = true
	return outcome, nil
}

// lockChanged locks what will be changed, all at once: a count of rows locks its table, and would wait for calls that
// wait for another.
func lockChanged(ctx context.Context, tx pgx.Tx, old, wanted *pg.Database, options Options) error {
	if old == nil || old == wanted {
		return nil
	}
	all := diff.Between(old, wanted, diff.Options{Allow: options.Allow, Backfills: options.Backfills, Rows: func(string, string) int64 { return 0 }})
	lock := emit.Lock(all.Locks)
	if lock == "" {
		return nil
	}
	if _, err := tx.Exec(ctx, lock); err != nil {
		return fmt.Errorf("lock what changes: %w", err)
	}
	return nil
}

// counter counts the rows of tables.
type counter struct {
	ctx context.Context
	tx  pgx.Tx
	err error
}

// rows counts the rows of a table that satisfy a condition. It locks the table against writes, so that the count stays
// true.
func (c *counter) rows(table, condition string) int64 {
	name := pg.Qualified("app", table)
	query := "select count(*) from " + name
	if condition != "" {
		query += " where " + condition
	}
	var count int64
	if c.err == nil {
		_, c.err = c.tx.Exec(c.ctx, "lock table "+name+" in access exclusive mode")
	}
	if c.err == nil {
		c.err = c.tx.QueryRow(c.ctx, query).Scan(&count)
	}
	if c.err != nil {
		c.err = fmt.Errorf("look what table %s holds: %w", name, c.err)
	}
	return count
}

// installedRelease is the newest row of platform.release.
type installedRelease struct {
	number                int64
	manifest, description []byte
}

// newest reads the newest release under a lock, so that two installations follow each other; number 0 means none.
func newest(ctx context.Context, tx pgx.Tx) (installedRelease, error) {
	var r installedRelease
	if _, err := tx.Exec(ctx, "lock table platform.release in share row exclusive mode"); err != nil {
		return r, fmt.Errorf("lock the releases: %w", err)
	}
	err := tx.QueryRow(ctx,
		"select number, manifest::text, description::text from platform.release order by number desc limit 1",
	).Scan(&r.number, &r.manifest, &r.description)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("read the installed release: %w", err)
	}
	return r, nil
}

// left returns the database that the release left; nil without a release. Most installations change nothing: then that
// is the wanted one, and its description need not be read.
func (r installedRelease) left(wanted *pg.Database) (*pg.Database, error) {
	if r.number > 0 && bytes.Equal(r.description, wanted.Description()) {
		return wanted, nil
	}
	return r.database()
}

// database reads the database that the release left; nil without a release.
func (r installedRelease) database() (*pg.Database, error) {
	if r.number == 0 {
		return nil, nil
	}
	db, err := pg.ReadDescription(r.description)
	if errors.Is(err, pg.ErrDescriptionFormat) {
		return nil, fmt.Errorf("release %d was installed by another version of Sternpost: %w. "+
			"In development, start over with an empty database: sternpost reset", r.number, err)
	}
	if err != nil {
		return nil, fmt.Errorf("release %d: %w", r.number, err)
	}
	return db, nil
}

// run runs the statements of a plan: the generated ones in as few round trips as possible, each file of custom code by
// itself. An error that rows or custom code cause is the user's; any other is a mistake of the compiler and shows its
// statement.
func run(ctx context.Context, conn *pgconn.PgConn, statements []emit.Statement) error {
	for len(statements) > 0 {
		if first := statements[0]; first.Code != "" {
			if err := runCode(ctx, conn, first); err != nil {
				return err
			}
			statements = statements[1:]
			continue
		}
		end := 0
		for end < len(statements) && statements[end].Code == "" {
			end++
		}
		if err := runOurs(ctx, conn, statements[:end]); err != nil {
			return err
		}
		statements = statements[end:]
	}
	return nil
}

func runOurs(ctx context.Context, conn *pgconn.PgConn, statements []emit.Statement) error {
	texts := make([]string, len(statements))
	for i, s := range statements {
		texts[i] = s.Text
	}
	done, err := send(ctx, conn, strings.Join(texts, "\n"))
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		if at, isOpen := failedValue(statements, done, refused); at >= 0 {
			return &BackfillError{Backfill: *statements[at].Step.Given, Reason: statements[at].Step.Reason, IsOpen: isOpen, Cause: refused}
		}
	}
	if errors.As(err, &refused) {
		switch refused.Code {
		case "23502", "23503", "23505", "23514", // not null, foreign key, unique, check
			"22P02", "22003", "22007", "22008": // a text that is not valid for the new type, a number or moment out of its range
			return &RowsError{Cause: refused}
		case "54000": // a limit of Postgres; of the entries of an index, if it names the table
			if refused.TableName != "" {
				return &RowsError{Cause: refused}
			}
		}
	}
	if done < len(statements) {
		return &mistakeError{err, texts[done]}
	}
	return fmt.Errorf("install a release: %w", err)
}

// mistakeError is an error of a statement that neither rows nor custom code cause.
type mistakeError struct {
	cause     error
	statement string
}

// Error asks for a report.
func (e *mistakeError) Error() string {
	return fmt.Sprintf("this is a mistake of sternpost, please report it: %v\nin the statement:\n%s", e.cause, e.statement)
}

// Unwrap returns Postgres' error.
func (e *mistakeError) Unwrap() error { return e.cause }

// failedValue returns the statement that failed if it computes a given value, and else -1. A syntax error fails before
// the first statement runs, and generated statements have none: it is in the last given value that begins before its
// place. A bracket is open there if the place is behind the value, and a quote if the message quotes what is behind it.
func failedValue(statements []emit.Statement, done int, refused *pgconn.PgError) (at int, isOpen bool) {
	given := func(i int) *diff.Backfill {
		if i >= len(statements) || statements[i].Step == nil {
			return nil
		}
		return statements[i].Step.Given
	}
	if refused.Code != "42601" {
		if given(done) == nil {
			return -1, false
		}
		return done, false
	}
	at = -1
	begin, place := 0, int(refused.Position)
	for i, s := range statements {
		if b := given(i); b != nil {
			before, after, isHere := strings.Cut(s.Text, b.Expression())
			from := begin + utf8.RuneCountInString(before)
			if at < 0 || isHere && from < place {
				isBehind := place > from+utf8.RuneCountInString(b.Expression())
				at, isOpen = i, isHere && (isBehind || strings.Contains(refused.Message, ")"+after))
			}
		}
		begin += utf8.RuneCountInString(s.Text) + len("\n")
	}
	return at, isOpen
}

// namingRule adds to a RowsError the rule that rows break, if the manifest has one for the constraint.
func namingRule(err error, manifest []byte) error {
	var misfit *RowsError
	if !errors.As(err, &misfit) {
		return err
	}
	var m sqlrelease.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		panic(fmt.Sprintf("install: read a manifest: %v", err))
	}
	misfit.Rule = m.Constraints[misfit.Cause.ConstraintName].Message
	return err
}

// send runs statements in one round trip and tells how many of them succeeded.
func send(ctx context.Context, conn *pgconn.PgConn, text string) (done int, err error) {
	results := conn.Exec(ctx, text)
	for results.NextResult() {
		if _, err := results.ResultReader().Close(); err != nil {
			break
		}
		done++
	}
	return done, results.Close()
}
