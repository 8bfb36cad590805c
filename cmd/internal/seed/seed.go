// Package seed fills an empty database of development from the files in a project's folder
// seed: identities that can log in, rows, and calls of actions; or SQL.
//
// All that files write as the owner is one transaction: it is written completely or not at
// all. Then the calls are made, one after the other, as clients make them.
package seed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/pages"
	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Target is the database and server to fill.
type Target struct {
	DatabaseURL string // for its owner
	Compiled    *sqlgen.Compiled
	BaseURL     string // the issuer of identities that sign in with a password
	Address     string // of the server that serves what was compiled: http://127.0.0.1:8080
	Tokens      *auth.Tokens
}

// Result is the outcome of seeds.
type Result struct {
	Identities, Rows, Calls, Scripts int
	IsFull                           bool // the database had rows, or is not one of development: nothing was done
	IsKept                           bool // what is counted here is in the database, whether there is an error or not
}

// String lists the written seeds.
func (r Result) String() string {
	var parts []string
	count := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	count(r.Identities, "identity", "identities")
	count(r.Rows, "row", "rows")
	count(r.Scripts, "script", "scripts")
	count(r.Calls, "call", "calls")
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Apply writes seeds into a database without rows. It finds an error in a file before it
// writes, or undoes what it wrote; only a refused call leaves the writes before it.
func Apply(ctx context.Context, files []File, to Target) (Result, error) {
	callers, r, err := write(ctx, files, to, isFull)
	if err != nil || r.IsFull {
		return r, err
	}
	r.IsKept = true
	for _, f := range files {
		for i, c := range f.Calls {
			if err := c.make(ctx, to, callers[c.As]); err != nil {
				return r, fmt.Errorf("%s: %w", f.callPlace(i), err)
			}
			r.Calls++
		}
	}
	return r, nil
}

// Write writes the identities and rows of a test, also into a database with rows. It returns the ids of the callers, by
// what calls name them by.
func Write(ctx context.Context, test File, to Target) (callers map[string]string, err error) {
	callers, _, err = write(ctx, []File{test}, to, nil)
	return callers, err
}

// write writes all of files but their calls, unless the database is full.
func write(ctx context.Context, files []File, to Target, isFull func(context.Context, pgx.Tx, *sqlgen.Compiled) (bool, error)) (callers map[string]string, r Result, err error) {
	for _, f := range files {
		if err := f.check(to.Compiled); err != nil {
			return nil, r, err
		}
	}
	conn, err := postgres.Connect(ctx, to.DatabaseURL)
	if err != nil {
		return nil, r, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, pages.Session); err != nil {
		return nil, r, fmt.Errorf("set up the session: %w", err)
	}
	callers = map[string]string{}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if isFull != nil {
			if r.IsFull, err = isFull(ctx, tx, to.Compiled); err != nil || r.IsFull {
				return err
			}
		}
		w := writer{tx: tx, to: to, passwords: auth.NewPasswords(), result: &r}
		for _, f := range files {
			if err := w.write(ctx, f); err != nil {
				return err
			}
		}
		return findCallers(ctx, tx, files, callers)
	})
	if err != nil {
		return nil, Result{}, deferred(err)
	}
	return callers, r, nil
}

// isFull tells whether a database has rows, or is not one of development: one with a release
// that sternpost dev has not installed.
func isFull(ctx context.Context, tx pgx.Tx, compiled *sqlgen.Compiled) (bool, error) {
	conditions := []string{"exists (select from platform.release where not release.by_dev)"}
	for _, m := range compiled.Schema.Models {
		conditions = append(conditions, "exists (select from "+pg.Qualified("app", m.Table)+")")
	}
	var is bool
	if err := tx.QueryRow(ctx, "select "+strings.Join(conditions, " or ")).Scan(&is); err != nil {
		return false, fmt.Errorf("look whether the database has rows: %w", err)
	}
	return is, nil
}

// deferred says which error is found only at the end of the transaction.
func deferred(err error) error {
	var raised *pgconn.PgError
	var told *fileError
	if errors.As(err, &told) || !errors.As(err, &raised) {
		return err
	}
	if raised.Detail != "" {
		return fmt.Errorf("%s/: %s: %s", Folder, raised.Message, raised.Detail)
	}
	return fmt.Errorf("%s/: %s", Folder, raised.Message)
}

// writer writes files in a transaction.
type writer struct {
	tx        pgx.Tx
	to        Target
	passwords *auth.Passwords
	result    *Result
}

func (w *writer) write(ctx context.Context, f File) error {
	if f.SQL != "" {
		w.result.Scripts++
		return w.run(ctx, f)
	}
	for i, identity := range f.Identities {
		if err := w.identity(ctx, identity); err != nil {
			return f.wrong(fmt.Sprintf("identities[%d]", i), "%v", err)
		}
		w.result.Identities++
	}
	for _, t := range f.Rows {
		for i, values := range t.rows {
			place := fmt.Sprintf("rows.%s[%d]", t.model, i)
			err := pages.Insert(ctx, w.tx, w.to.Compiled, t.model, values)
			var wrong *docs.WrongError
			if errors.As(err, &wrong) && wrong.Field != "" {
				place += "." + wrong.Field
			}
			if err != nil {
				return f.wrong(place, "%v%s", err, w.order(err))
			}
			w.result.Rows++
		}
	}
	return nil
}

// order says how to treat a row that names a missing one.
func (w *writer) order(err error) string {
	if strings.HasPrefix(err.Error(), "the record referenced in ") {
		return "; a row must come after the rows that it names"
	}
	return ""
}

// identity makes an identity that logs in with its password, with a proven address.
func (w *writer) identity(ctx context.Context, identity Identity) error {
	email, _ := auth.ParseEmail(identity.Email)
	hash, err := w.passwords.Hash(ctx, identity.Password)
	if err != nil {
		return err
	}
	_, err = w.tx.Exec(ctx, `
		insert into app.identity (id, email, issuer, password, email_verified)
		values (coalesce(nullif($1, ''), platform.new_id()), $2, $3, $4, true)`,
		identity.ID, email, w.to.BaseURL, hash)
	var raised *pgconn.PgError
	if errors.As(err, &raised) && raised.Code == "23505" {
		return errors.New("another identity has this e-mail address or id")
	}
	return err
}

// run runs a script, which may hold several statements.
func (w *writer) run(ctx context.Context, f File) error {
	conn := w.tx.Conn().PgConn()
	_, err := conn.Exec(ctx, f.SQL).ReadAll()
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised):
		place := ""
		if raised.Position > 0 {
			place = position(f.SQL, int(raised.Position)-1)
		}
		text := raised.Message
		if raised.Detail != "" {
			text += ": " + raised.Detail
		}
		return f.wrong(place, "%s", text)
	case err != nil:
		return f.wrong("", "%v", err)
	case conn.TxStatus() != 'T':
		return f.wrong("", "it ends the transaction of the seeds: remove begin, commit and rollback, and start over with sternpost reset")
	}
	return nil
}

// findCallers finds the ids of the callers that calls name by an e-mail address or an id.
func findCallers(ctx context.Context, tx pgx.Tx, files []File, into map[string]string) error {
	for _, f := range files {
		for i, c := range f.Calls {
			if c.As == "" {
				continue
			}
			result, err := tx.Query(ctx, "select identity.id from app.identity where identity.email = lower($1) or identity.id = $1", c.As)
			if err != nil {
				return fmt.Errorf("look for the identity %s: %w", c.As, err)
			}
			ids, err := pgx.CollectRows(result, pgx.RowTo[string])
			switch {
			case err != nil:
				return fmt.Errorf("look for the identity %s: %w", c.As, err)
			case len(ids) == 0:
				return f.wrong(fmt.Sprintf("calls[%d].as", i), "identity %s does not exist: add it to identities, or leave as out to call anonymously", c.As)
			case len(ids) > 1:
				return f.wrong(fmt.Sprintf("calls[%d].as", i), "several identities have the e-mail %s: name one by its id", c.As)
			}
			into[c.As] = ids[0]
		}
	}
	return nil
}
