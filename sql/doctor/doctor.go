// Package doctor tests on a database what Sternpost needs, and reports for each
// requirement whether it works.
//
// Its input is the database URL; its output is a finding for each requirement. It makes
// its own schema and role for the tests, and always removes both. It tests features, not
// the installed objects: platform.serving_faults checks those.
package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/sql/postgres"
)

// Verdict is the result of one check.
type Verdict string

// The verdicts.
const (
	Works     Verdict = "works"
	FallsBack Verdict = "falls back" // Sternpost runs, in another way or with fewer features
	Missing   Verdict = "missing"    // Sternpost cannot run
	Untried   Verdict = "not tried"  // a check that it needs has failed
)

// Finding is the result of one check with its details.
type Finding struct {
	Point   string
	Verdict Verdict
	Detail  string // the fallback, what it prevents, and why; empty if it works
}

const (
	// prefix is the prefix of the schema and the role for the tests.
	prefix = "sternpost_doctor_"
	// leftAfter is the minimum age of another doctor's leftovers, so that a running doctor keeps its own.
	leftAfter = time.Hour
	// patience limits one check.
	patience = 15 * time.Second
)

// examination is one run.
type examination struct {
	url    string
	config *pgx.ConnConfig
	conn   *pgx.Conn
	name   string // of the schema, and of the role if one could be made
	role   string // does not own the tables; empty if it could not be made
}

// Examine runs all checks on a database. The error is about the run itself: the database
// is out of reach, or an object could not be removed. Findings are complete without an
// error.
//
// The role should be the one that will own the database.
func Examine(ctx context.Context, url string) (findings []Finding, err error) {
	config, err := postgres.ParseURL(url)
	if err != nil {
		return nil, err
	}
	// The tests are about the statements: another check covers how they are sent.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.RuntimeParams["application_name"] = "sternpost doctor"
	e := &examination{url: url, config: config, name: prefix + strings.ToLower(rand.Text()[:12])}
	if e.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { err = errors.Join(err, e.clean(context.WithoutCancel(ctx))) }()

	broken := map[string]bool{}
	for _, c := range checks {
		f := e.find(ctx, c, broken)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		broken[c.point] = f.Verdict == Missing || f.Verdict == Untried
		findings = append(findings, f)
	}
	return findings, nil
}

// find runs one check.
func (e *examination) find(ctx context.Context, c check, broken map[string]bool) Finding {
	f := Finding{Point: c.point, Verdict: Works}
	for _, needed := range c.needs {
		if broken[needed] {
			f.Verdict, f.Detail = Untried, "this test needs: "+needed
			return f
		}
	}
	err := e.reconnected(ctx)
	if err == nil {
		limited, stop := context.WithTimeout(ctx, patience)
		err = c.try(limited, e)
		stop()
	}
	var note *note
	switch {
	case err == nil:
	case errors.As(err, &note):
		f.Verdict, f.Detail = note.verdict, note.text
	case c.fallback != "":
		f.Verdict, f.Detail = FallsBack, c.fallback+" ("+reason(err)+")"
	default:
		f.Verdict, f.Detail = Missing, c.prevents+" ("+reason(err)+")"
	}
	return f
}

// note is an error of a check that sets its own verdict.
type note struct {
	verdict Verdict
	text    string
}

func (n *note) Error() string { return n.text }

// reason returns the explanation of the database.
func reason(err error) string {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return raised.Message + ", SQLSTATE " + raised.Code
	}
	return err.Error()
}

// reconnected makes sure that a check begins with a usable connection.
func (e *examination) reconnected(ctx context.Context) error {
	if !e.conn.IsClosed() {
		if _, err := e.conn.Exec(ctx, "rollback"); err == nil {
			return nil
		}
		e.conn.Close(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, e.config)
	if err != nil {
		return fmt.Errorf("connect again: %w", err)
	}
	e.conn = conn
	return nil
}

// clean removes the objects of this run, and those of a killed doctor.
func (e *examination) clean(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	defer func() { e.conn.Close(ctx) }()
	if err := e.reconnected(ctx); err != nil {
		return fmt.Errorf("remove schema %s: %w", e.name, err)
	}
	names := append(e.left(ctx), e.name)
	var errs []error
	for _, name := range names {
		errs = append(errs, e.remove(ctx, name))
	}
	return errors.Join(errs...)
}

// left lists the leftovers of other doctors.
func (e *examination) left(ctx context.Context) []string {
	rows, err := e.conn.Query(ctx, `
		select nspname
		from pg_namespace
		where starts_with(nspname, $1) and obj_description(oid, 'pg_namespace')::timestamptz < now() - $2::interval`, prefix, leftAfter.String())
	if err != nil {
		return nil
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil // a foreign comment
	}
	return names
}

func (e *examination) remove(ctx context.Context, name string) error {
	var isThere bool
	err := e.conn.QueryRow(ctx, "select exists (select from pg_namespace where nspname = $1)", name).Scan(&isThere)
	if err == nil && isThere {
		_, err = e.conn.Exec(ctx, "drop schema "+name+" cascade")
	}
	if err == nil {
		err = e.conn.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)", name).Scan(&isThere)
	}
	if err == nil && isThere {
		_, err = e.conn.Exec(ctx, "drop owned by "+name+"; drop role "+name)
	}
	if err != nil {
		return fmt.Errorf("remove schema and role %s: %w", name, err)
	}
	return nil
}
