package database

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/replica"
	"github.com/sternpost/sternpost/sql/postgres"
)

// readers are the replicas that serve reads.
type readers struct {
	watch     *replica.Watch
	databases []*DB
	names     []string
	answered  *prometheus.CounterVec // reads, by the answering database
}

// OpenReplicas makes the connections to the replicas of a configuration, if any, and registers their metrics. It does not
// connect.
func (d *DB) OpenReplicas(c *config.Config, log *slog.Logger, metrics prometheus.Registerer) error {
	if c.DatabaseReadURL == "" {
		return nil
	}
	pc, err := pgxpool.ParseConfig(c.DatabaseReadURL)
	if err != nil {
		return fmt.Errorf("read database.readUrl: %w", err)
	}
	r := &readers{answered: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_reads_total", Help: "Reading calls, by the database that answered: primary or replica.",
	}, []string{"database"})}
	options := replica.Options{
		MaxLag:  c.ReadLag,
		Log:     log,
		Primary: func(ctx context.Context) (*pgx.Conn, error) { return d.Dial(ctx) },
	}
	for i, host := range postgres.EachHost(pc.ConnConfig) {
		own := pc.Copy()
		own.ConnConfig = host
		host.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
			if ctx.Value(isWatching{}) != nil { // the other connections are compared with this one
				return nil
			}
			return r.watch.Meet(ctx, i, pg)
		}
		one, err := open(own, c, d.role)
		if err != nil {
			r.close()
			return err
		}
		r.databases = append(r.databases, one)
		name := net.JoinHostPort(host.Host, strconv.Itoa(int(host.Port)))
		r.names = append(r.names, name)
		options.Replicas = append(options.Replicas, replica.Replica{
			Name: name,
			Connect: func(ctx context.Context) (*pgx.Conn, error) {
				return one.Dial(context.WithValue(ctx, isWatching{}, true))
			},
			Away: one.abandon,
		})
	}
	r.watch = replica.New(options)
	metrics.MustRegister(r)
	d.readers = r
	return nil
}

// isWatching marks the context of the connection that watches a replica.
type isWatching struct{}

// The metrics of each replica.
var (
	lagMetric  = prometheus.NewDesc("sternpost_replica_lag_seconds", "How far a replica is behind the primary.", []string{"replica"}, nil)
	usedMetric = prometheus.NewDesc("sternpost_replica_used", "1 while reads go to a replica.", []string{"replica"}, nil)
)

// Describe describes the metrics of replicas.
func (r *readers) Describe(to chan<- *prometheus.Desc) {
	r.answered.Describe(to)
	to <- lagMetric
	to <- usedMetric
}

// Collect reports the metrics of replicas.
func (r *readers) Collect(to chan<- prometheus.Metric) {
	r.answered.Collect(to)
	for i, name := range r.names {
		lag, isUsed := r.watch.Lag(i)
		used := 0.0
		if isUsed {
			used = 1
		}
		to <- prometheus.MustNewConstMetric(lagMetric, prometheus.GaugeValue, lag.Seconds(), name)
		to <- prometheus.MustNewConstMetric(usedMetric, prometheus.GaugeValue, used, name)
	}
}

// run watches the replicas until the context ends.
func (r *readers) run(ctx context.Context) {
	for _, d := range r.databases {
		go d.Watch(ctx)
	}
	r.watch.Run(ctx)
}

// close closes all connections.
func (r *readers) close() {
	for _, d := range r.databases {
		d.Close()
	}
}

// cancelAll cancels all running statements.
func (r *readers) cancelAll() {
	for _, d := range r.databases {
		d.CancelAll()
	}
}

// abandon breaks the calls in flight to a server that does not answer, so that they are
// made elsewhere, and leaves its connections.
func (d *DB) abandon() {
	d.pool.Reset()
	d.running.breakAll()
	if d.shared != nil {
		d.shared.Break()
	}
}

// HasReplicas tells whether reads may be made on a replica, so that callers need the position of their writes.
func (d *DB) HasReplicas() bool { return d.readers != nil }

// Read makes a reading call. It uses a replica if one has everything that the caller must see and the release, else the
// primary.
func (d *DB) Read(client net.Conn, st Statement, params [][]byte, into *answer.Answer, seen replica.Seen, release int64) error {
	if i := d.readers.watch.Choose(seen, release); i >= 0 {
		err := d.readers.databases[i].Call(client, st, params, into)
		if err == nil {
			err = into.Err()
		}
		if err == nil || !isOfReplica(err) {
			d.readers.answered.WithLabelValues("replica").Inc()
			return err
		}
		into.Restart()
	}
	d.readers.answered.WithLabelValues("primary").Inc()
	return d.Call(client, st, params, into)
}

// isOfReplica tells whether a call failed because it was made on a replica, and may
// succeed on the primary.
func isOfReplica(err error) bool {
	switch code := refusal.SQLState(err); code {
	case "40001", "40P01": // the primary has removed what it read
		return true
	case "SP401": // the identity may be new
		return true
	default:
		return refusal.IsOvertaken(err) || refusal.IsOutage(err)
	}
}

// NotePosition notes for an identity the position in the log after its write, on the connection of the write, and returns
// it.
func NotePosition(pg *pgconn.PgConn, identity string) (position string, err error) {
	var parameter []byte
	if identity != "" {
		parameter = []byte(identity)
	}
	_, err = executeAll(pg, sent{name: "position", sql: notePosition, params: [][]byte{parameter}, row: func(values [][]byte) bool {
		position = string(values[0])
		return true
	}})
	return position, err
}

// NotePosition is the function of the same name for a write whose connection is not at hand.
func (d *DB) NotePosition(identity string) (position string, err error) {
	var parameter *string
	if identity != "" {
		parameter = &identity
	}
	err = d.QueryRow(notePosition, []any{parameter}, &position)
	return position, err
}

const notePosition = "select platform.position_note($1)::text"
