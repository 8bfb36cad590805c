package replica

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Options configure a Watch.
type Options struct {
	// Primary connects to the database for writes.
	Primary func(context.Context) (*pgx.Conn, error)

	// Replicas are the replicas that may answer reads.
	Replicas []Replica

	// MaxLag is the maximum lag of a replica: it has everything written before that.
	MaxLag time.Duration

	Log *slog.Logger
}

// Replica is one of the replicas.
type Replica struct {
	// Name is the name of its host, for people.
	Name string

	// Connect opens a connection to it.
	Connect func(context.Context) (*pgx.Conn, error)

	// Away is called when it no longer answers, or is no longer a replica.
	Away func()
}

const (
	// interval is how often positions are queried if no caller waits for one.
	interval = 100 * time.Millisecond
	// pace is the pause before the next query to a replica that was behind for a caller.
	pace = 5 * time.Millisecond
	// staleness is the time without an answer after which a replica counts as away.
	staleness = time.Second
	// patience is how long a caller waits for the primary to answer what it must see.
	patience = 250 * time.Millisecond
	// reconnectDelay is the pause before the next connection to a server that is away.
	reconnectDelay = 200 * time.Millisecond
)

// Watch knows the positions of the primary and its replicas.
type Watch struct {
	options Options
	primary primary
	all     []*watched
	turn    atomic.Uint32
}

// New makes a watch. It does not connect.
func New(options Options) *Watch {
	w := &Watch{options: options, primary: primary{questions: make(chan *question, mostQuestions)}}
	for i := range options.Replicas {
		w.all = append(w.all, &watched{Replica: &options.Replicas[i], watch: w, wanted: make(chan struct{}, 1), said: isNew})
	}
	return w
}

// Run queries the positions of the primary and the replicas until the context ends.
func (w *Watch) Run(ctx context.Context) {
	for _, r := range w.all {
		go r.run(ctx)
	}
	w.runPrimary(ctx)
}

// Seen is what a caller must see.
type Seen struct {
	// Identity is the reading identity; empty for an anonymous caller.
	Identity string

	// Position is the position of the log at the caller's last write, if the caller sent
	// it: 0 otherwise, and then the primary is asked.
	Position Position
}

// Choose returns the number of a replica that holds a release and has everything that a
// caller must see. Without one it returns -1: the primary must answer.
func (w *Watch) Choose(seen Seen, release int64) int {
	first := w.next(0, release)
	if first < 0 {
		return -1
	}
	position := seen.Position
	if position == 0 && seen.Identity != "" {
		var err error
		if position, err = w.primary.find(seen.Identity); err != nil {
			return -1
		}
	}
	return w.next(position, release)
}

// next returns the next usable replica that has reached a position.
func (w *Watch) next(position Position, release int64) int {
	now := time.Now()
	turn := int(w.turn.Add(1))
	for i := range w.all {
		at := (turn + i) % len(w.all)
		r := w.all[at]
		switch s := r.state.Load(); {
		case s == nil || s.why(w, now) != "" || s.release != release:
		case s.position < position:
			r.want()
		default:
			return at
		}
	}
	return -1
}

// Meet checks whether a new connection leads to the server that is watched as a replica.
// A name may lead to several servers.
func (w *Watch) Meet(ctx context.Context, i int, pg *pgconn.PgConn) error {
	results, err := pg.Exec(ctx, identityQuery).ReadAll()
	if err != nil {
		return fmt.Errorf("identify a replica: %w", err)
	}
	s := w.all[i].state.Load()
	if len(results) != 1 || len(results[0].Rows) != 1 || s == nil || string(results[0].Rows[0][0]) != s.identity {
		return fmt.Errorf("%s leads to another server than before", w.all[i].Name)
	}
	return nil
}

// identityQuery distinguishes servers, and a server from itself before a restart.
const identityQuery = `select concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port())`

// Lag returns the lag of a replica, and whether it is used.
func (w *Watch) Lag(i int) (lag time.Duration, isUsed bool) {
	s := w.all[i].state.Load()
	if s == nil {
		return 0, false
	}
	return s.lag(w), s.why(w, time.Now()) == ""
}
