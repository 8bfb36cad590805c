package server

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/replica"
	"github.com/sternpost/sternpost/sql/postgres"
)

// positionHeader holds, in the answer to a write, the position in the log of the database.
// A request that sends it back sees everything written until then.
const positionHeader = "Sternpost-Position"

// readers are the replicas that serve reads.
type readers struct {
	watch     *replica.Watch
	databases []*database
	names     []string
	answered  *prometheus.CounterVec // reads, by the answering database
}

// openReaders makes the connections to replicas; nil if there are none. It does not connect.
func (s *Server) openReaders() (*readers, error) {
	if s.config.DatabaseReadURL == "" {
		return nil, nil
	}
	pc, err := pgxpool.ParseConfig(s.config.DatabaseReadURL)
	if err != nil {
		return nil, fmt.Errorf("read database.readUrl: %w", err)
	}
	r := &readers{answered: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_reads_total", Help: "Reading calls, by the database that answered: primary or replica.",
	}, []string{"database"})}
	options := replica.Options{
		MaxLag:  s.config.ReadLag,
		Log:     s.log,
		Primary: func(ctx context.Context) (*pgx.Conn, error) { return s.db.dial(ctx) },
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
		d, err := openPool(own, &s.config, s.db.role)
		if err != nil {
			r.close()
			return nil, err
		}
		r.databases = append(r.databases, d)
		name := net.JoinHostPort(host.Host, strconv.Itoa(int(host.Port)))
		r.names = append(r.names, name)
		options.Replicas = append(options.Replicas, replica.Replica{
			Name: name,
			Connect: func(ctx context.Context) (*pgx.Conn, error) {
				return d.dial(context.WithValue(ctx, isWatching{}, true))
			},
			Away: d.abandon,
		})
	}
	r.watch = replica.New(options)
	s.telemetry.Registry.MustRegister(r)
	return r, nil
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
		go d.watch(ctx)
	}
	r.watch.Run(ctx)
}

// close closes all connections.
func (r *readers) close() {
	for _, d := range r.databases {
		d.close()
	}
}

// cancelAll cancels all running statements.
func (r *readers) cancelAll() {
	for _, d := range r.databases {
		d.cancelAll()
	}
}

// abandon breaks the calls in flight to a server that does not answer, so that they are
// made elsewhere, and leaves its connections.
func (d *database) abandon() {
	d.pool.Reset()
	d.running.breakAll()
	if d.shared != nil {
		d.shared.Break()
	}
}

// read makes a reading call. It uses a replica if one has everything that the caller must
// see, else the primary.
func (s *Server) read(c *fiber.Ctx, r *served, st statement, who *caller, params [][]byte, answered *answer.Answer) error {
	seen, err := seenBy(c, who)
	if err != nil {
		return err
	}
	if i := s.readers.watch.Choose(seen, r.number); i >= 0 {
		err := s.readers.databases[i].call(who.request.Client, st, params, answered)
		if err == nil {
			err = answered.Err()
		}
		if err == nil || !isOfReplica(err) {
			s.readers.answered.WithLabelValues("replica").Inc()
			return err
		}
		answered.Restart()
	}
	s.readers.answered.WithLabelValues("primary").Inc()
	return s.db.call(who.request.Client, st, params, answered)
}

// seenBy returns what the caller of a request must see.
func seenBy(c *fiber.Ctx, who *caller) (replica.Seen, error) {
	seen := replica.Seen{Identity: who.identity}
	if text := c.Request().Header.Peek(positionHeader); len(text) > 0 {
		var err error
		if seen.Position, err = replica.ParsePosition(string(text)); err != nil {
			return seen, refusal.InputMalformed.Saying("invalid %s header: it must be the value from an earlier response", positionHeader)
		}
	}
	return seen, nil
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
		return isOvertaken(err) || refusal.IsOutage(err)
	}
}

// noting returns a function to run right after a write. It notes the position in the log,
// and sends it to the client.
func (s *Server) noting(c *fiber.Ctx, who *caller) func(*pgconn.PgConn) {
	return func(pg *pgconn.PgConn) {
		var identity []byte
		if who.identity != "" {
			identity = []byte(who.identity)
		}
		var position string
		_, err := executeAll(pg, sent{name: "position", sql: "select platform.position_note($1)::text", params: [][]byte{identity}, row: func(values [][]byte) bool {
			position = string(values[0])
			return true
		}})
		if err != nil {
			s.log.Warn(positionLost, "error", err)
			return
		}
		c.Set(positionHeader, position)
	}
}

// noteLater is noting for a write whose connection is not at hand.
func (s *Server) noteLater(c *fiber.Ctx, who *caller) {
	if s.readers == nil {
		return
	}
	var identity *string
	if who.identity != "" {
		identity = &who.identity
	}
	var position string
	if err := s.db.QueryRow("select platform.position_note($1)::text", []any{identity}, &position); err != nil {
		s.log.Warn(positionLost, "error", err)
		return
	}
	c.Set(positionHeader, position)
}

// positionLost is logged if a write was carried out and its position could not be noted.
const positionLost = "cannot record the position of a write: its caller may briefly read older data"
