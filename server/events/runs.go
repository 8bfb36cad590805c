package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sql/schedule"
)

// Runs returns how the runs of jobs are done. A run that failed is tried again as often as its job says.
func (e *Events) Runs() queue.Kind {
	return queue.Kind{
		Kind: "job", Most: readers, Lease: e.Timeout + 30*time.Second, Delay: queue.Doubling(firstDelay, longestDelay),
		Run: func(ctx context.Context, t *queue.Task) error {
			err := e.transaction(ctx, `select platform.job_run($1, $2)::text`, []any{t.ID, e.Values()}, new(*string))
			var raised *pgconn.PgError
			if errors.As(err, &raised) {
				err = &failure{raised}
			}
			if err != nil && ctx.Err() == nil && t.Attempts >= e.retriesOf(t.Name) {
				return &queue.GivenUp{Reason: err.Error()}
			}
			return err
		},
		Ended: func(t *queue.Task, err error, delay time.Duration) {
			switch {
			case err == nil:
				e.runs.WithLabelValues(t.Name, succeeded).Inc()
			case delay == 0:
				e.runs.WithLabelValues(t.Name, givenUp).Inc()
				e.Log.Error("a run is given up", "job", t.Name, "run", t.Key, "attempts", t.Attempts+1, "error", err)
			default:
				e.runs.WithLabelValues(t.Name, repeated).Inc()
				e.Log.Warn("a run is tried again", "job", t.Name, "run", t.Key, "attempt", t.Attempts+1, "in", delay, "error", err)
			}
		},
	}
}

// failure is why a run failed, as it is kept: the code that Postgres or the project raised, and the message.
type failure struct{ raised *pgconn.PgError }

func (f *failure) Error() string { return f.raised.Code + " " + f.raised.Message }

// retriesOf returns how often a run of a job is tried again.
func (e *Events) retriesOf(job string) int {
	if _, m := e.Release(); m != nil {
		if i := slices.IndexFunc(m.Jobs, func(j release.Job) bool { return j.Name == job }); i >= 0 {
			return m.Jobs[i].Retries
		}
	}
	return 0
}

// Run is a run of a job.
type Run struct {
	Run, Job string
	Inputs   json.RawMessage
	State    string // waiting, running, succeeded, failed or cancelled
	AskedAt  time.Time
	EndedAt  *time.Time
	DueAt    time.Time // when it is tried, or tried again
	Attempts int
	Result   json.RawMessage
	Failure  string
}

// Runs returns the latest runs of jobs.
func (q Querier) Runs(most int) (list []Run, err error) {
	err = q.list("the runs", &list, "platform.job_list($1)", int32(most))
	return list, err
}

// MendRun lets a run that failed run again, or gives up one that waits or runs. It tells whether there was such a run.
func (q Querier) MendRun(isCancelled bool, run string) (isDone bool, err error) {
	statement := "select platform.job_retry($1)"
	if isCancelled {
		statement = "select platform.job_cancel($1)"
	}
	if err := q(statement, []any{run}, &isDone); err != nil {
		return false, fmt.Errorf("mend the run %s: %w", run, err)
	}
	return isDone, nil
}

// Refused is why a run cannot be started: of a job or with inputs that the release does not have.
type Refused string

func (r Refused) Error() string { return string(r) }

// Start queues a run of a job without a caller, and returns its id. Inputs are checked as the API does.
func (q Querier) Start(m *release.Manifest, job string, inputs []byte) (run string, err error) {
	i := slices.IndexFunc(m.Jobs, func(j release.Job) bool { return j.Name == job })
	if i < 0 {
		var names []string
		for _, j := range m.Jobs {
			names = append(names, j.Name)
		}
		return "", Refused(fmt.Sprintf("the release has no job %s; it has: %s", job, strings.Join(names, ", ")))
	}
	reader, err := input.Compile(m.Schemas, m.Jobs[i].Input)
	if err != nil {
		return "", fmt.Errorf("start %s: %w", job, err)
	}
	read, err := reader.Read(inputs)
	if invalid := (*input.Invalid)(nil); errors.As(err, &invalid) {
		return "", Refused("the inputs: " + invalid.Problems[0].Field + " " + invalid.Problems[0].Error)
	} else if err != nil {
		return "", Refused("the inputs: " + err.Error())
	}
	var started struct{ Run string }
	if err := q.ask(&started, "platform.job_start($1, $2)", job, string(read.JSON)); err != nil {
		return "", fmt.Errorf("start %s: %w", job, err)
	}
	return started.Run, nil
}

// Scheduled is a schedule of a job.
type Scheduled struct {
	Job, Text, TimeZone string
	Slot                time.Time // the latest that was queued
}

// Next returns the next slot.
func (s *Scheduled) Next() (time.Time, error) {
	parsed, err := schedule.Parse(s.Text, s.TimeZone)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the schedule %q of %s: %w", s.Text, s.Job, err)
	}
	return parsed.Next(time.Now()), nil
}

// Schedules returns the schedules of jobs.
func (q Querier) Schedules() (all []Scheduled, err error) {
	err = q.list("the schedules", &all, "platform.schedules()")
	return all, err
}
