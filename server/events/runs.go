package events

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/sql/release"
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
			case delay == 0:
				e.Log.Error("a run is given up", "job", t.Name, "run", t.Key, "attempts", t.Attempts+1, "error", err)
			default:
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
