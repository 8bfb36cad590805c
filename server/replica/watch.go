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

// Options say what is watched.
type Options struct {
	// Primary connects to the database that is written to.
	Primary func(context.Context) (*pgx.Conn, error)

	// Replicas are those that may answer reads.
	Replicas []Replica

	// MaxLag is how far behind a replica may be: what was written before that it has.
	MaxLag time.Duration

	Log *slog.Logger
}

// Replica is one of the replicas.
type Replica struct {
	// Name is that of its host, for people.
	Name string

	// Connect opens a connection to it.
	Connect func(context.Context) (*pgx.Conn, error)

	// Away is called when it answers no more, or is not a replica any more.
	Away func()
}

const (
	// interval is how often positions are asked for, if nobody waits for one.
	interval = 100 * time.Millisecond
	// pace is how soon a replica is asked again which a caller found behind.
	pace = 5 * time.Millisecond
	// staleness is after how long without an answer a replica counts as away.
	staleness = time.Second
	// patience is how long a caller waits until the primary has said what it must see.
	patience = 250 * time.Millisecond
	// reconnectDelay is how long a server that is away is left alone.
	reconnectDelay = 200 * time.Millisecond
)

// Watch knows how far the primary and its replicas are.
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

// Run asks the primary and the replicas how far they are, until the context ends.
func (w *Watch) Run(ctx context.Context) {
	for _, r := range w.all {
		go r.run(ctx)
	}
	w.runPrimary(ctx)
}

// Seen is what a caller must see.
type Seen struct {
	// Identity is who reads; empty for an anonymous caller.
	Identity string

	// Position is where the log was when the caller last wrote, if it says so: 0 for a
	// caller that does not, of which the primary is asked.
	Position Position
}

// Choose returns the number of a replica that holds a release and has all that a caller
// must see. Without one it returns -1: the primary has to answer.
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

// next returns the next replica that may be used and has come so far.
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

// Meet looks whether a new connection leads to the server that is watched as a replica. A
// name may lead to several.
func (w *Watch) Meet(ctx context.Context, i int, pg *pgconn.PgConn) error {
	results, err := pg.Exec(ctx, identityQuery).ReadAll()
	if err != nil {
		return fmt.Errorf("ask a replica who it is: %w", err)
	}
	s := w.all[i].state.Load()
	if len(results) != 1 || len(results[0].Rows) != 1 || s == nil || string(results[0].Rows[0][0]) != s.identity {
		return fmt.Errorf("%s leads to another server than before", w.all[i].Name)
	}
	return nil
}

// identityQuery tells servers apart, and a server from what it was before a restart.
const identityQuery = `select concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port())`

// Lag returns how far a replica is behind, and whether it is used.
func (w *Watch) Lag(i int) (lag time.Duration, isUsed bool) {
	s := w.all[i].state.Load()
	if s == nil {
		return 0, false
	}
	return s.lag(w), s.why(w, time.Now()) == ""
}
