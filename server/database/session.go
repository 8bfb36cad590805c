package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
)

// Session describes what a connection keeps.
//
// A pooler that hands out connections by transaction keeps no session: a setting affects
// other clients, and is gone for the next call. So behind a pooler each transaction
// begins with its own settings, which end with it.
type Session struct {
	settle  string // begins each transaction behind a pooler; empty without a pooler
	settles string // does the same by commands, which take no snapshot
	IsNamed bool   // statements are prepared under a name, and found by it later
}

// isPooled tells whether the next transaction may run on another connection to the
// database.
func (s Session) IsPooled() bool { return s.settle != "" }

// sessionKey is the key of a connection's session, beside its prepared statements.
const sessionKey = " session" // not a name of a statement

// sessionOf returns the session of a connection.
func SessionOf(pg *pgconn.PgConn) Session {
	s, _ := pg.CustomData()[sessionKey].(Session)
	return s
}

// errUnkept is the error for a pooler that does not keep prepared statements, although
// the configuration says so.
var errUnkept = &Incompatible{Faults: []string{"database.preparedStatements is on, but the pooler before the database does not keep prepared statements: " +
	"let it (PgBouncer does from 1.21 on, with max_prepared_statements above 0), or choose auto or off"}}

// meet finds out what a new connection keeps, and takes the rights of the server there.
func (d *DB) meet(ctx context.Context, pg *pgconn.PgConn) error {
	isPooled, keeps, err := examine(ctx, pg)
	if err != nil {
		return fmt.Errorf("inspect a connection: %w", err)
	}
	if d.prepares == config.PreparedOn && !keeps {
		return errUnkept
	}
	s := Session{IsNamed: keeps && d.prepares != config.PreparedOff}
	if isPooled {
		settings := d.settings
		if d.role != "" {
			settings = append(slices.Clone(settings), Setting{Name: "role", Value: d.role})
		}
		s.settle, s.settles = settling(settings)
	} else if d.role != "" {
		if err := pg.Exec(ctx, "set role "+pgx.Identifier{d.role}.Sanitize()).Close(); err != nil {
			return fmt.Errorf("assume the role %s: %w", d.role, err)
		}
	}
	pg.CustomData()[sessionKey] = s
	return nil
}

// examine checks a connection for a pooler. A pooler invents the process number that it reports to a client, since
// the process may change. A pooler that keeps prepared statements renames them; without that, our names are known on
// only one of its connections.
func examine(ctx context.Context, pg *pgconn.PgConn) (isPooled, keeps bool, err error) {
	name := "sternpost_" + rand.Text()
	p := pg.StartPipeline(ctx)
	p.SendPrepare(name, "select", nil)
	p.SendQueryParams("select pg_backend_pid(), exists (select from pg_prepared_statements where name = $1)",
		[][]byte{[]byte(name)}, nil, nil, nil)
	p.SendDeallocate(name)
	if err := p.Sync(); err != nil {
		return false, false, errors.Join(err, p.Close())
	}
	for {
		result, err := p.GetResults()
		if err != nil {
			return false, false, errors.Join(err, p.Close())
		}
		switch result := result.(type) {
		case *pgconn.ResultReader:
			read := result.Read()
			if read.Err != nil {
				return false, false, errors.Join(read.Err, p.Close())
			}
			isPooled = string(read.Rows[0][0]) != strconv.FormatUint(uint64(pg.PID()), 10)
			keeps = !isPooled || string(read.Rows[0][1]) == "f"
		case *pgconn.PipelineSync:
			return isPooled, keeps, p.Close()
		}
	}
}

// Setting is a setting that every connection begins with.
type Setting struct {
	Name, Value string
	isUsual     bool // poolers know it
}

func startSettings(c *config.Config) []Setting {
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
	return []Setting{
		{Name: "statement_timeout", Value: milliseconds(c.StatementTimeout)},
		{Name: "lock_timeout", Value: milliseconds(c.LockTimeout)},
		{Name: "jit", Value: "off"}, // calls are short: compiling a statement can cost twenty times what it saves
		{Name: "timezone", Value: "UTC", isUsual: true},
	}
}

// beginWith adds the start settings to a connection, or only those that a pooler takes.
func (d *DB) beginWith(cc *pgx.ConnConfig) {
	for _, s := range d.settings {
		if s.isUsual || !d.isPlain.Load() {
			cc.RuntimeParams[s.Name] = s.Value
		}
	}
}

// refusesSettings tells whether a pooler has refused the start settings of a connection,
// and notes it for the next connection.
func (d *DB) refusesSettings(err error) bool {
	if refusal.SQLState(err) != "08P01" {
		return false
	}
	d.isPlain.Store(true)
	return true
}

// Dial opens a connection outside the pool, with the same rights. It may begin with other
// settings.
func (d *DB) Dial(ctx context.Context, settings ...Setting) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	for isAgain := false; ; isAgain = true {
		cc := d.pool.Config().ConnConfig // a copy
		d.beginWith(cc)
		if !d.isPlain.Load() {
			for _, s := range settings {
				cc.RuntimeParams[s.Name] = s.Value
			}
		}
		conn, err := pgx.ConnectConfig(ctx, cc)
		if err != nil {
			if d.refusesSettings(err) && !isAgain {
				continue
			}
			return nil, fmt.Errorf("connect to the database: %w", err)
		}
		if err := d.meet(ctx, conn.PgConn()); err != nil {
			conn.Close(closedContext())
			return nil, err
		}
		return conn, nil
	}
}

// settling returns the beginning of each transaction behind a pooler, as one statement
// and as commands. It sets for that transaction what other connections set for their
// session. The statement returns no row.
func settling(settings []Setting) (statement, commands string) {
	var calls, sets []string
	for _, s := range settings {
		value := "'" + strings.ReplaceAll(s.Value, "'", "''") + "'"
		calls = append(calls, "pg_catalog.set_config('"+s.Name+"', "+value+", true)")
		sets = append(sets, "set local "+s.Name+" = "+value)
	}
	return "select where " + strings.Join(calls, " || ") + " is null", strings.Join(sets, "; ")
}

// Settle applies the settings to an open transaction, where needed. It takes no snapshot,
// so the next statement does: other reads of the catalog may be newer.
func Settle(ctx context.Context, tx pgx.Tx) error {
	s := SessionOf(tx.Conn().PgConn())
	if !s.IsPooled() {
		return nil
	}
	if _, err := tx.Exec(ctx, s.settles); err != nil {
		return fmt.Errorf("begin a transaction behind a pooler: %w", err)
	}
	return nil
}

// QueryRow runs a statement that returns one row, in a transaction of its own.
func QueryRow(ctx context.Context, conn *pgx.Conn, statement string, arguments []any, into ...any) error {
	var batch pgx.Batch
	s := SessionOf(conn.PgConn())
	if s.IsPooled() {
		batch.Queue(s.settle)
	}
	batch.Queue(statement, arguments...)
	results := conn.SendBatch(ctx, &batch)
	var err error
	if s.IsPooled() {
		_, err = results.Exec()
	}
	if err == nil {
		err = results.QueryRow().Scan(into...)
	}
	if ended := results.Close(); err == nil {
		err = ended
	}
	return err
}

// Incompatible is the reason why a database is not served. Waiting does not help.
type Incompatible struct {
	Faults []string
	Unsafe bool // rights and row security are wrong
}

func (e *Incompatible) Error() string {
	return "this database cannot be served:\n  " + strings.Join(e.Faults, "\n  ")
}

// Drop closes a connection without waiting.
func Drop(conn *pgx.Conn) { conn.Close(closedContext()) }

// CheckTimeout bounds one check of the database, so that a database that does not answer is noticed.
const CheckTimeout = 10 * time.Second
