package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// watched is a replica with its known state.
type watched struct {
	*Replica
	watch  *Watch
	wanted chan struct{} // a caller found it behind; holds one
	state  atomic.Pointer[state]
	said   string // the last logged reason why it was excluded; empty means that it was used

	mu       sync.Mutex
	marks    []mark // positions of the primary that it has not reached yet
	caughtUp time.Time
}

// mark is a position of the primary's log at a time.
type mark struct {
	at       time.Time
	position Position
}

// state is the answer of a replica about itself; nil before the first.
type state struct {
	identity string
	asked    time.Time
	position Position
	release  int64     // the newest that it holds
	caughtUp time.Time // it has everything written before
}

const (
	// markDistance is the minimum time between marks.
	markDistance = 50 * time.Millisecond
	// mostMarks limits the marks for a replica that falls behind.
	mostMarks = 1024
)

// expect notes the position of the primary.
func (r *watched) expect(m mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.marks)
	if n > 1 && r.marks[n-1].at.Sub(r.marks[n-2].at) < markDistance {
		n--
	}
	r.marks = append(r.marks[:n], m)
	if len(r.marks) > mostMarks { // it is far behind: half of them show that as well
		kept := r.marks[:0]
		for i := 1; i < len(r.marks); i += 2 {
			kept = append(kept, r.marks[i])
		}
		r.marks = kept
	}
}

// forget drops the marks of a former primary.
func (r *watched) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks, r.caughtUp = nil, time.Time{}
}

// reach notes the position of the replica, and returns when the primary was there.
func (r *watched) reach(p Position) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := 0
	for passed < len(r.marks) && r.marks[passed].position <= p {
		r.caughtUp = r.marks[passed].at
		passed++
	}
	r.marks = append(r.marks[:0], r.marks[passed:]...)
	return r.caughtUp
}

// lag returns the lag of a replica. While the primary is away the lag does not grow.
func (s *state) lag(w *Watch) time.Duration {
	return max(0, time.Unix(0, w.primary.asked.Load()).Sub(s.caughtUp))
}

// why returns the reason why a replica is excluded, or an empty string.
func (s *state) why(w *Watch, now time.Time) string {
	switch {
	case now.Sub(s.asked) > staleness:
		return "it does not answer"
	case s.caughtUp.IsZero(), uint64(s.position) < w.primary.floor.Load():
		return isNew
	case s.lag(w) > w.options.MaxLag:
		return fmt.Sprintf("it is more than %s behind", w.options.MaxLag)
	}
	return ""
}

// isNew is the reason to exclude a replica before much is known about it.
const isNew = "it has not caught up yet"

// want requests an early query to a replica.
func (r *watched) want() {
	select {
	case r.wanted <- struct{}{}:
	default:
	}
}

// run keeps a connection to a replica, until the context ends.
func (r *watched) run(ctx context.Context) {
	for {
		err := r.follow(ctx)
		if r.state.Swap(nil) != nil && r.Away != nil {
			r.Away()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(reconnectDelay):
		}
		r.say(err.Error())
	}
}

// say logs that a replica is excluded, or is used again.
func (r *watched) say(why string) {
	was := r.said
	r.said = why
	switch {
	case why == "" && was != "":
		r.watch.options.Log.Info("reads go to the replica", "replica", r.Name)
	case why != "" && (was == "" || was == isNew && why != isNew):
		r.watch.options.Log.Warn("reads do not go to the replica", "replica", r.Name, "why", why)
	}
}

// errNoReplica reports that a server is not in recovery. It may be the primary by now.
var errNoReplica = errors.New("it is not a replica")

// follow queries a replica's position on one connection.
func (r *watched) follow(ctx context.Context) error {
	conn, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ended, stop := context.WithCancel(context.Background())
		stop()
		_ = conn.Close(ended)
	}()
	var identity string
	if err := conn.QueryRow(ctx, identityQuery).Scan(&identity); err != nil {
		return fmt.Errorf("identify it: %w", err)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		s, err := r.ask(ctx, conn)
		if err != nil {
			return err
		}
		s.identity = identity
		r.state.Store(s)
		r.say(s.why(r.watch, time.Now()))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			continue
		case <-r.wanted:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pace):
		}
	}
}

// ask queries a replica's position.
func (r *watched) ask(ctx context.Context, conn *pgx.Conn) (*state, error) {
	ctx, cancel := context.WithTimeout(ctx, staleness)
	defer cancel()
	s := &state{asked: time.Now()}
	var isReplica bool
	var replayed *string
	err := conn.QueryRow(ctx, `select pg_is_in_recovery(), pg_last_wal_replay_lsn()::text, (select coalesce(max(number), 0) from platform.release)`).
		Scan(&isReplica, &replayed, &s.release)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask for its position: %w", err)
	case !isReplica, replayed == nil:
		return nil, errNoReplica
	}
	if s.position, err = ParsePosition(*replayed); err != nil {
		return nil, err
	}
	s.caughtUp = r.reach(s.position)
	return s, nil
}
