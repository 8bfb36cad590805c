package server

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

// session describes what a connection keeps.
//
// A pooler that hands out connections by transaction keeps no session: a setting affects
// other clients, and is gone for the next call. So behind a pooler each transaction
// begins with its own settings, which end with it.
type session struct {
	settle  string // begins each transaction behind a pooler; empty without a pooler
	settles string // does the same by commands, which take no snapshot
	isNamed bool   // statements are prepared under a name, and found by it later
}

// isPooled tells whether the next transaction may run on another connection to the
// database.
func (s session) isPooled() bool { return s.settle != "" }

// sessionKey is the key of a connection's session, beside its prepared statements.
const sessionKey = " session" // not a name of a statement

// sessionOf returns the session of a connection.
func sessionOf(pg *pgconn.PgConn) session {
	s, _ := pg.CustomData()[sessionKey].(session)
	return s
}

// errUnkept is the error for a pooler that does not keep prepared statements, although
// the configuration says so.
var errUnkept = &incompatible{faults: []string{"database.preparedStatements is on, but the pooler before the database does not keep prepared statements: " +
	"let it (PgBouncer does from 1.21 on, with max_prepared_statements above 0), or choose auto or off"}}

// meet finds out what a new connection keeps, and takes the rights of the server there.
func (d *database) meet(ctx context.Context, pg *pgconn.PgConn) error {
	isPooled, keeps, err := examine(ctx, pg)
	if err != nil {
		return fmt.Errorf("inspect a connection: %w", err)
	}
	if d.prepares == config.PreparedOn && !keeps {
		return errUnkept
	}
	s := session{isNamed: keeps && d.prepares != config.PreparedOff}
	if isPooled {
		settings := d.settings
		if d.role != "" {
			settings = append(slices.Clone(settings), startSetting{name: "role", value: d.role})
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

// startSetting is a setting that every connection begins with.
type startSetting struct {
	name, value string
	isUsual     bool // poolers know it
}

func startSettings(c *config.Config) []startSetting {
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
	return []startSetting{
		{name: "statement_timeout", value: milliseconds(c.StatementTimeout)},
		{name: "lock_timeout", value: milliseconds(c.LockTimeout)},
		{name: "jit", value: "off"}, // calls are short: compiling a statement can cost twenty times what it saves
		{name: "timezone", value: "UTC", isUsual: true},
	}
}

// beginWith adds the start settings to a connection, or only those that a pooler takes.
func (d *database) beginWith(cc *pgx.ConnConfig) {
	for _, s := range d.settings {
		if s.isUsual || !d.isPlain.Load() {
			cc.RuntimeParams[s.name] = s.value
		}
	}
}

// refusesSettings tells whether a pooler has refused the start settings of a connection,
// and notes it for the next connection.
func (d *database) refusesSettings(err error) bool {
	if refusal.SQLState(err) != "08P01" {
		return false
	}
	d.isPlain.Store(true)
	return true
}

// dial opens a connection outside the pool, with the same rights. It may begin with other
// settings.
func (d *database) dial(ctx context.Context, settings ...startSetting) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for isAgain := false; ; isAgain = true {
		cc := d.pool.Config().ConnConfig // a copy
		d.beginWith(cc)
		if !d.isPlain.Load() {
			for _, s := range settings {
				cc.RuntimeParams[s.name] = s.value
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
func settling(settings []startSetting) (statement, commands string) {
	var calls, sets []string
	for _, s := range settings {
		value := "'" + strings.ReplaceAll(s.value, "'", "''") + "'"
		calls = append(calls, "pg_catalog.set_config('"+s.name+"', "+value+", true)")
		sets = append(sets, "set local "+s.name+" = "+value)
	}
	return "select where " + strings.Join(calls, " || ") + " is null", strings.Join(sets, "; ")
}

// settled applies the settings to an open transaction, where needed. It takes no snapshot,
// so the next statement does: other reads of the catalog may be newer.
func settled(ctx context.Context, tx pgx.Tx) error {
	s := sessionOf(tx.Conn().PgConn())
	if !s.isPooled() {
		return nil
	}
	if _, err := tx.Exec(ctx, s.settles); err != nil {
		return fmt.Errorf("begin a transaction behind a pooler: %w", err)
	}
	return nil
}

// queryRow runs a statement that returns one row, in a transaction of its own.
func queryRow(ctx context.Context, conn *pgx.Conn, statement string, arguments []any, into ...any) error {
	var batch pgx.Batch
	s := sessionOf(conn.PgConn())
	if s.isPooled() {
		batch.Queue(s.settle)
	}
	batch.Queue(statement, arguments...)
	results := conn.SendBatch(ctx, &batch)
	var err error
	if s.isPooled() {
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
