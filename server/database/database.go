// Package database is the way to Postgres: connections, who takes one, what is sent on it, and what becomes of a call
// whose client leaves or whose connection breaks. It knows neither requests nor actions, only functions to call.
package database

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/gate"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/pipeline"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/telemetry"
	"github.com/sternpost/sternpost/sql/postgres"
)

// DB is the way to one database, and to its replicas.
type DB struct {
	pool     *pgxpool.Pool
	role     string         // assumed by every connection; "" if none
	shared   *pipeline.Pool // for reads that share connections; nil if there are too few connections to share
	size     int            // the maximum number of connections, including the shared ones
	gate     *gate.Gate     // before the pool
	reserve  *gate.Gate     // for everything but actions, when the pool is full
	wait     time.Duration
	limit    time.Duration // for a call
	turns    turns         // before the gate
	liveness liveness
	running  *calls
	writes   writability
	readers  *readers // replicas; nil without any

	settings []Setting
	prepares config.PreparedStatements
	isPlain  atomic.Bool // a pooler refuses the settings: connections begin without them
}

// Open makes the connections that a configuration describes. They assume a role unless it is empty. It does not connect.
func Open(c *config.Config, role string) (*DB, error) {
	if c.DatabaseURL == "" { // pgx would look for it elsewhere
		return nil, config.Missing("database.url")
	}
	pc, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("read database.url: %w", err)
	}
	postgres.WantWrites(&pc.ConnConfig.Config, c.DatabaseURL)
	return open(pc, c, role)
}

// open makes a pool of connections to one place. It does not connect.
func open(pc *pgxpool.Config, c *config.Config, role string) (*DB, error) {
	configureConnections(pc.ConnConfig)
	shared := sharedConnections(c.PoolSize)
	own := c.PoolSize - shared
	pc.MaxConns = int32(own + reserved)
	d := &DB{
		size: c.PoolSize + reserved, wait: c.PoolWait, limit: c.StatementTimeout, running: &calls{limit: c.StatementTimeout},
		role: role, settings: startSettings(c), prepares: c.PreparedStatements,
		reserve: gate.New(gate.Options{Places: reserved, Most: reservedLine, Wait: c.PoolWait, HasLeft: listener.HasLeft}),
		turns:   turns{gate: gate.New(gate.Options{Places: 1, Wait: c.PoolWait, HasLeft: listener.HasLeft}), actions: map[string]bool{}},
	}
	pc.BeforeConnect = func(_ context.Context, cc *pgx.ConnConfig) error { d.beginWith(cc); return nil }
	pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return d.meet(ctx, conn.PgConn()) }
	var err error
	if d.pool, err = pgxpool.NewWithConfig(context.Background(), pc); err != nil {
		return nil, fmt.Errorf("make the pool of connections: %w", err)
	}
	places := gate.Options{Places: own, Wait: c.PoolWait, HasLeft: listener.HasLeft}
	if shared > 0 {
		d.shared = pipeline.New(pipeline.Options{
			Connections: shared, Depth: sharedDepth, Wait: c.PoolWait, Limit: c.StatementTimeout,
			HasLeft: listener.HasLeft, Connect: d.connectShared, Manner: mannerOf,
		})
		places.Borrow = func() gate.Loan {
			if loan := d.shared.Borrow(); loan != nil {
				return loan
			}
			return nil
		}
	}
	d.gate = gate.New(places)
	return d, nil
}

const (
	// reserved is the number of connections beyond the size of the pool, for sign-ins and everything else but
	// actions. These also take other connections if the pool has no queue.
	reserved = 1
	// reservedLine limits the queue for them: their statements are short, so that a long queue is soon served.
	reservedLine = 1024
)

// sharedConnections returns how many of size connections are shared by reads: half of
// them, and at most four, since four serve two cores as well as more would.
func sharedConnections(size int) int {
	return min(4, size/2)
}

// sharedDepth is the number of reads in flight on one connection.
const sharedDepth = 8

// connectShared opens a connection for shared reads.
func (d *DB) connectShared(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := d.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return conn.PgConn(), nil
}

// mannerOf returns how shared reads are made on a connection.
func mannerOf(pg *pgconn.PgConn) pipeline.Manner {
	s := SessionOf(pg)
	return pipeline.Manner{Before: s.settle, Unnamed: !s.IsNamed}
}

// configureConnections sets how connections are made. Only this package prepares
// statements on them.
func configureConnections(cc *pgx.ConnConfig) {
	timeout := connectTimeout
	if postgres.HasSeveralHosts(&cc.Config) { // the timeout is for each host
		timeout = hostTimeout
	}
	if cc.ConnectTimeout == 0 || cc.ConnectTimeout > timeout {
		cc.ConnectTimeout = timeout
	}
	cc.DefaultQueryExecMode = pgx.QueryExecModeExec
	cc.RuntimeParams["client_encoding"] = "UTF8"
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "sternpost"
	}
}

const (
	connectTimeout = 5 * time.Second
	hostTimeout    = 2 * time.Second // where there is another host to try
)

// User is the role that the connections log in as.
func (d *DB) User() string { return d.pool.Config().ConnConfig.User }

// OpenShared opens the first connection that reads share before there is a read.
func (d *DB) OpenShared() {
	if d.shared != nil {
		d.shared.Open()
	}
}

// reset closes every connection once it is idle.
func (d *DB) reset() {
	d.pool.Reset()
	if d.shared != nil {
		d.shared.Reset()
	}
}

// Connections counts the connections of the pool, and the shared ones.
func (d *DB) Connections() telemetry.Connections {
	stat := d.pool.Stat()
	c := telemetry.Connections{Open: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()), Max: d.size}
	if d.shared != nil {
		open, busy := d.shared.Connections()
		c.Open, c.InUse, c.Shared = c.Open+open, c.InUse+busy, open
	}
	return c
}

// Watch checks on running and waiting calls until the context ends.
func (d *DB) Watch(ctx context.Context) {
	if d.shared != nil {
		go d.shared.Watch(ctx)
	}
	if d.readers != nil {
		go d.readers.run(ctx)
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	grown := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			d.running.look(now)
			d.gate.Look()
			d.reserve.Look()
			d.turns.gate.Look()
			d.liveness.take(d, now)
			if now.Sub(grown) > slotInterval {
				grown = now
				d.growAgain()
			}
			if d.shared != nil {
				d.shared.Look(now)
			}
		}
	}
}

// CancelAll cancels all running statements.
func (d *DB) CancelAll() {
	d.running.cancelAll()
	if d.shared != nil {
		d.shared.CancelAll()
	}
	if d.readers != nil {
		d.readers.cancelAll()
	}
}

// closedContext has ended, so that closing a connection with it does not wait.
func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Close closes the pool. It waits briefly for connections in use.
func (d *DB) Close() {
	if d.readers != nil {
		d.readers.close()
	}
	if d.shared != nil {
		d.shared.Close()
	}
	closed := make(chan struct{})
	go func() {
		d.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(CancelTimeout):
	}
}

// QueryRow runs a statement that returns one row. The statement is not prepared: a call
// that comes once per sign-in would take up room on every connection. A nil []byte is
// null.
func (d *DB) QueryRow(statement string, arguments []any, into ...any) error {
	conn, err := d.Acquire()
	if err != nil {
		return err
	}
	defer conn.Release()

	pg := conn.pg()
	call := d.running.begin(nil, pg, time.Now(), time.Time{})
	defer func() {
		if cancelled := d.running.end(call); cancelled {
			_ = pg.Close(closedContext())
		}
	}()
	err = QueryRow(context.Background(), conn.Conn(), statement, arguments, into...)
	switch {
	case err != nil && pg.IsClosed():
		d.reset()
		return refusal.Unavailable.With(err)
	case refusal.SQLState(err) == readOnly:
		d.leaveReadOnly(pg)
	}
	return err
}

// Transaction runs statements in a transaction that ends with them. It uses a connection of
// its own, since the work between the statements may wait for an answer of the storage.
func (d *DB) Transaction(ctx context.Context, do func(pgx.Tx) error) error {
	conn, err := d.Dial(ctx)
	if err != nil {
		return refusal.Unavailable.With(err)
	}
	defer conn.Close(closedContext())
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := Settle(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}
