// Package queue does what waits in the database: mails, deletions of files, deliveries of
// events, runs of jobs. Any number of servers take tasks from one queue. A server leases a
// task: if it ends meanwhile, another takes the task once the connection of the first has
// ended, or the lease.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

const pollInterval = 2 * time.Second

// Database is the part of the database that the queue needs.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error
}

// Task is what a server has taken.
type Task struct {
	ID       int64           `json:"id"`
	Name     string          `json:"name"`    // the template of a mail, the subscriber of an event, the job of a run
	Key      string          `json:"key"`     // the recipient of a mail, the key of a file, the record of an event
	Content  []byte          `json:"content"` // of a mail
	Payload  json.RawMessage `json:"payload"` // the event, or the inputs of a run
	Attempts int             `json:"attempts"`
	IsLate   bool            `json:"isLate"` // it is of no use any more
	Sent     int             `json:"sent"`   // how many mails of code the recipient of a mail has got within a day
}

// Kind is what a server does with tasks of a kind.
type Kind struct {
	Kind  string        // as in the database
	Name  string        // only tasks of this name; empty means all
	Most  int           // how many are done at a time
	Lease time.Duration // how long a task is reserved for this server; more than Run takes

	// Run does a task. It fails with a *GivenUp if a retry cannot help, or with a *Later.
	Run func(ctx context.Context, t *Task) error
	// Delay is the wait before the next attempt, after so many that failed.
	Delay func(attempts int) time.Duration
	// IsKept tells that the content of a done task is kept.
	IsKept bool
	// Ended is told what became of each attempt; nil means that nobody is.
	Ended func(t *Task, err error, delay time.Duration)
}

// GivenUp is the error of a task that is not retried.
type GivenUp struct{ Reason string }

func (e *GivenUp) Error() string { return e.Reason }

// Later is the error of a task that was taken too early, or that has a second part.
type Later struct{ Wait time.Duration }

func (e *Later) Error() string { return fmt.Sprintf("it waits for %s", e.Wait) }

// Again is the error of a task that is tried again after a wait that was asked for, if that is the longer one.
type Again struct {
	Reason string
	Wait   time.Duration
}

func (e *Again) Error() string { return e.Reason }

// Options configure a queue.
type Options struct {
	DB       Database
	IsServed func() bool   // whether a release is served, which tasks need
	Process  func() *int32 // of a connection that ends with this server, in the database; nil means none
	Log      *slog.Logger
}

// Queue does the tasks of one kind.
type Queue struct {
	Options
	Kind
	woken    chan struct{}
	running  chan struct{} // one for each task in hand
	isFailed bool          // whether the last access to the database failed
}

// New makes a queue. It does nothing before Run.
func New(o Options, k Kind) *Queue {
	return &Queue{Options: o, Kind: k, woken: make(chan struct{}, 1), running: make(chan struct{}, k.Most)}
}

// Wake makes the queue look for due tasks at once. It does not block.
func (q *Queue) Wake() {
	select {
	case q.woken <- struct{}{}:
	default: // it is about to look
	}
}

// Run does the due tasks until the context ends, and then waits for those in hand.
func (q *Queue) Run(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-q.woken:
		}
		if !q.IsServed() {
			continue
		}
		tasks, err := q.take()
		if err != nil && !q.isFailed && ctx.Err() == nil {
			q.Log.Warn("cannot look for due tasks", "kind", q.Kind.Kind, "error", err)
		}
		q.isFailed = err != nil
		for _, t := range tasks {
			q.running <- struct{}{}
			all.Go(func() {
				defer q.Wake() // there may be more
				defer func() { <-q.running }()
				if err := q.do(ctx, t); err != nil && ctx.Err() == nil {
					q.Log.Warn("cannot note what became of a task", "kind", q.Kind.Kind, "task", t.ID, "error", err)
				}
			})
		}
	}
}

// Drain does the tasks that are due now, one after the other, and returns the first error.
func (q *Queue) Drain(ctx context.Context) error {
	var failed error
	for {
		tasks, err := q.take()
		if err != nil || len(tasks) == 0 {
			return errors.Join(failed, err)
		}
		for _, t := range tasks {
			err := q.Kind.Run(ctx, t)
			if later := (*Later)(nil); err != nil && !errors.As(err, &later) && failed == nil {
				failed = err
			}
			if err := q.Note(ctx, t, err); err != nil {
				return err
			}
		}
	}
}

// take leases due tasks, as many as there is room for.
func (q *Queue) take() ([]*Task, error) {
	room := cap(q.running) - len(q.running)
	if room == 0 {
		return nil, nil
	}
	var name *string
	if q.Name != "" {
		name = &q.Name
	}
	var text string
	err := q.DB.QueryRow(`select platform.task_take($1, $2, $3, $4, $5)::text`, []any{q.Kind.Kind, name, q.Lease, q.Process(), int32(room)}, &text)
	if err != nil {
		return nil, fmt.Errorf("take a task: %w", err)
	}
	var tasks []*Task
	if err := json.Unmarshal([]byte(text), &tasks); err != nil {
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	return tasks, nil
}

// do does a task and notes what became of it.
func (q *Queue) do(ctx context.Context, t *Task) error {
	err := q.Kind.Run(ctx, t)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the server stops: another one does it
	}
	return q.Note(ctx, t, err)
}

// Note notes what became of a task that is leased to this server.
func (q *Queue) Note(ctx context.Context, t *Task, failed error) error {
	var later *Later
	var givenUp *GivenUp
	var again *Again
	var delay time.Duration
	switch {
	case errors.As(failed, &later):
		return q.tell(`select platform.task_later($1, $2)`, t.ID, later.Wait)
	case failed != nil && !errors.As(failed, &givenUp):
		delay = q.Delay(t.Attempts)
		if errors.As(failed, &again) {
			delay = max(delay, again.Wait)
		}
	}
	if q.Ended != nil {
		q.Ended(t, failed, delay)
	}
	switch {
	case failed == nil:
		return q.tell(`select platform.task_done($1, $2)`, t.ID, q.IsKept)
	case delay == 0:
		return q.tell(`select platform.task_failed($1, $2, null)`, t.ID, failed.Error())
	default:
		return q.tell(`select platform.task_failed($1, $2, $3)`, t.ID, failed.Error(), delay)
	}
}

// tell calls a function that returns nothing. Postgres answers null for it if the function is in SQL.
func (q *Queue) tell(statement string, arguments ...any) error {
	return q.DB.QueryRow(statement, arguments, new(any))
}

// Doubling returns waits that begin with first and double up to longest, each up to a tenth longer by
// chance, so that what failed together is not repeated together.
func Doubling(first, longest time.Duration) func(attempts int) time.Duration {
	return func(attempts int) time.Duration {
		delay := min(first<<min(attempts, 20), longest)
		return delay + rand.N(delay/10+1)
	}
}
