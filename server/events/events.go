// Package events runs code that no call runs, and tells others of what was written: it lets the
// subscribers of a release read that, runs their code or sends events to their address, runs
// jobs, and repeats what failed. Any number of servers do so. A subscriber is read by one server
// at a time: code in the transaction that notes how far it has read, a webhook under a lease. A
// run is done in the transaction that notes that it is.
package events

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/sql/release"
)

const (
	// pollInterval is how often a server asks whether other servers, or other programs, have written something.
	pollInterval = 25 * time.Millisecond
	// idleInterval is how often it does without subscribers.
	idleInterval = time.Second
	// batch is how many changes a subscriber reads in a transaction. If that fails as a whole, one is read.
	batch = 100
	// readers is how many subscribers a server reads for at a time, each on a connection.
	readers = 4
	// tendInterval is how often a server looks for changes that everybody has read.
	tendInterval = time.Minute
	// measureInterval is how often it looks how far subscribers are behind.
	measureInterval = 10 * time.Second
	// keep is how long changes stay after that.
	keep = 24 * time.Hour
	// mostGivenUp is how many changes are given up in a transaction.
	mostGivenUp = 1000

	firstDelay, longestDelay = 5 * time.Second, time.Hour
	retries                  = 4 // tries of code, with the first
)

// Database is the part of the database that events need.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error

	// Dial opens a connection.
	Dial(ctx context.Context, settings ...database.Setting) (*pgx.Conn, error)
}

// Options configure the events of a server.
type Options struct {
	DB       Database
	IsServed func() bool // whether a release is served, and the database takes writes
	Release  func() (number int64, m *release.Manifest)
	Values   func() string // of the environment, which the code of jobs may read, as a JSON object
	Timeout  time.Duration // of the code for a batch of events, for one that is repeated, or for a run
	Keep     time.Duration // how long changes wait for a subscriber
	Webhooks []config.Subscriber
	Process  func() *int32 // of a connection that ends with this server, in the database; nil means none
	Registry prometheus.Registerer
	Log      *slog.Logger
}

// Events reads for the subscribers of the served release.
type Events struct {
	Options
	woken   chan struct{}
	free    chan *pgx.Conn // connections that nobody uses
	mutex   sync.Mutex
	reading map[string]bool // subscribers that this server reads for
	read    *prometheus.CounterVec
	sent    *prometheus.CounterVec
	runs    *prometheus.CounterVec
	waiting *prometheus.GaugeVec // runs
	gauges  []gauge
	failed  map[string]bool // subscribers whose reading failed last

	webhooks map[string]*webhook // by the name of the subscriber
	sending  sync.WaitGroup      // the readers of webhooks
}

// The outcomes of an attempt to send an event, or to run a job.
const (
	succeeded = "succeeded"
	repeated  = "failed"
	givenUp   = "dead"
)

// New prepares to read events. It reads nothing before Run.
func New(o Options) *Events {
	e := &Events{Options: o, woken: make(chan struct{}, 1), free: make(chan *pgx.Conn, readers), reading: map[string]bool{}, failed: map[string]bool{},
		read: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sternpost_changes_read_total", Help: "Changes of rows that this server has read for a subscriber.",
		}, []string{"subscriber"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sternpost_deliveries_total", Help: "Attempts of this server to send an event to a webhook, by what became of them.",
		}, []string{"subscriber", "outcome"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sternpost_job_attempts_total", Help: "Attempts of this server to run a job, by what became of them.",
		}, []string{"job", "outcome"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sternpost_job_runs", Help: "Runs of a job that wait, run, have failed or were cancelled.",
		}, []string{"job", "state"}),
		gauges: newGauges(o.Registry), webhooks: map[string]*webhook{},
	}
	o.Registry.MustRegister(e.read, e.sent, e.runs, e.waiting)
	for _, s := range o.Webhooks {
		e.webhooks[s.Name] = newWebhook(s)
		for _, outcome := range []string{succeeded, repeated, givenUp} {
			e.sent.WithLabelValues(s.Name, outcome)
		}
	}
	return e
}

func (e *Events) count(name, outcome string) { e.sent.WithLabelValues(name, outcome).Inc() }

// Queues returns what repeats events: those of code, and those of each webhook.
func (e *Events) Queues(o queue.Options) []*queue.Queue {
	all := []*queue.Queue{queue.New(o, e.retries())}
	for _, s := range e.Webhooks {
		w := e.webhooks[s.Name]
		w.queue = queue.New(o, e.repeats(w))
		all = append(all, w.queue)
	}
	return all
}

// Wake makes the server look for changes at once. It does not block.
func (e *Events) Wake() {
	select {
	case e.woken <- struct{}{}:
	default: // it is about to look
	}
}

// Run reads until the context ends.
func (e *Events) Run(ctx context.Context) {
	var tended, measured time.Time
	for ctx.Err() == nil {
		wait := idleInterval
		_, m := e.Release()
		if m != nil && e.IsServed() && time.Since(tended) > tendInterval {
			tended = time.Now()
			e.note(ctx, "", e.tend(ctx))
		}
		if m != nil && len(m.Subscribers)+len(m.Jobs) > 0 && e.IsServed() {
			if len(m.Subscribers) > 0 {
				wait = pollInterval
				if err := e.look(ctx, m); err != nil {
					e.note(ctx, "", err)
					wait = idleInterval
				}
			}
			if time.Since(measured) > measureInterval {
				measured = time.Now()
				e.note(ctx, "", e.measure())
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-e.woken:
		}
	}
	e.sending.Wait()
	for {
		select {
		case conn := <-e.free:
			e.hangUp(conn)
		default:
			return
		}
	}
}

// tend gives up what subscribers have left unread for too long, and empties what everybody has read.
func (e *Events) tend(ctx context.Context) error {
	total := map[string]int{}
	for ctx.Err() == nil {
		var read map[string]int
		if err := e.DB.QueryRow(`select platform.events_give_up($1, $2)`, []any{e.Keep, int32(mostGivenUp)}, &read); err != nil {
			return fmt.Errorf("give up changes: %w", err)
		}
		if len(read) == 0 {
			break
		}
		for name, n := range read {
			total[name] += n
		}
	}
	for name, n := range total {
		if n > 0 {
			e.Log.Error("a subscriber has stayed away: its events are given up", "subscriber", name, "events", n, "after", e.Keep)
		}
	}
	return e.DB.QueryRow(`select platform.events_tend($1)`, []any{keep}, new(int32))
}

// hangUp closes a connection.
func (e *Events) hangUp(conn *pgx.Conn) {
	end, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(end)
}

// look starts to read for each subscriber that may have something to read.
func (e *Events) look(ctx context.Context, m *release.Manifest) error {
	var waiting []string
	if err := e.DB.QueryRow(`select platform.events_waiting()`, nil, &waiting); err != nil {
		return fmt.Errorf("look for changes: %w", err)
	}
	for _, name := range waiting {
		for _, s := range m.Subscribers {
			w := e.webhooks[name]
			switch {
			case s.Name != name:
			case s.Run == "" && w != nil && w.reading.CompareAndSwap(false, true):
				e.sending.Go(func() {
					defer w.reading.Store(false)
					e.note(ctx, name, e.deliverFor(ctx, w))
				})
			case s.Run != "" && e.begins(name):
				go func() {
					defer e.ends(name)
					e.note(ctx, name, e.readFor(ctx, s))
				}()
			}
		}
	}
	return nil
}

// begins reserves a subscriber for one reader of this server.
func (e *Events) begins(name string) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.reading[name] || len(e.reading) == readers {
		return false
	}
	e.reading[name] = true
	return true
}

func (e *Events) ends(name string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	delete(e.reading, name)
}

// readFor reads for a subscriber until it has read all, or another server is at it.
func (e *Events) readFor(ctx context.Context, s release.Subscriber) error {
	most, runs := int32(batch), true
	for ctx.Err() == nil {
		var n *int32
		err := e.transaction(ctx, `select platform.events_run($1, $2, $3)`, []any{s.Name, most, runs}, &n)
		switch {
		case err == nil:
		case ctx.Err() == nil && most > 1:
			most = 1 // one event may take too long for the others, or end the whole transaction
			continue
		case ctx.Err() == nil && runs:
			runs = false // the queue tries it again, and gives it up
			continue
		default:
			return fmt.Errorf("read for %s: %w", s.Name, err)
		}
		if n == nil {
			return nil
		}
		e.read.WithLabelValues(s.Name).Add(float64(*n))
		if *n < most {
			return nil
		}
		runs = true
	}
	return nil
}

// transaction runs a statement that runs code, in a transaction on a connection of its own.
func (e *Events) transaction(ctx context.Context, statement string, arguments []any, into any) (err error) {
	var conn *pgx.Conn
	select {
	case conn = <-e.free:
	default:
		if conn, err = e.DB.Dial(ctx); err != nil {
			return err
		}
	}
	defer func() {
		if err == nil {
			select {
			case e.free <- conn:
				return
			default:
			}
		}
		e.hangUp(conn)
	}()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := database.Settle(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("set local statement_timeout = %d", e.Timeout.Milliseconds())); err != nil {
			return err
		}
		return tx.QueryRow(ctx, statement, append([]any{pgx.QueryExecModeExec}, arguments...)...).Scan(into)
	})
}

// note logs a failure, unless the last attempt failed too.
func (e *Events) note(ctx context.Context, name string, err error) {
	e.mutex.Lock()
	wasFailed := e.failed[name]
	e.failed[name] = err != nil
	e.mutex.Unlock()
	if err != nil && !wasFailed && ctx.Err() == nil {
		switch name {
		case schedules:
			e.Log.Warn("cannot queue runs by schedule", "error", err)
		case "":
			e.Log.Warn("cannot look after events and runs", "error", err)
		default:
			e.Log.Warn("cannot read events", "subscriber", name, "error", err)
		}
	}
}

// retries returns how events are repeated whose code has failed, or that wait behind one.
func (e *Events) retries() queue.Kind {
	return queue.Kind{
		Kind: "event", Most: readers, Lease: e.Timeout + 30*time.Second, Delay: queue.Doubling(firstDelay, longestDelay),
		Run: func(ctx context.Context, t *queue.Task) error {
			err := e.transaction(ctx, `select platform.event_retry($1)::text`, []any{t.ID}, new(*string))
			if err != nil && ctx.Err() == nil && t.Attempts+1 >= retries {
				return &queue.GivenUp{Reason: err.Error()}
			}
			return err
		},
		Ended: e.logRepeat,
	}
}

// logRepeat logs what became of an attempt that has failed.
func (e *Events) logRepeat(t *queue.Task, err error, delay time.Duration) {
	switch {
	case err != nil && delay == 0:
		e.Log.Error("an event is given up", "subscriber", t.Name, "task", t.ID, "record", t.Key, "attempts", t.Attempts+1, "error", err)
	case err != nil:
		e.Log.Warn("an event is tried again", "subscriber", t.Name, "task", t.ID, "attempt", t.Attempts+1, "in", delay, "error", err)
	}
}
