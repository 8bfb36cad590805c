package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/storage"
)

const (
	// fileSweepInterval is how often a server sweeps counts of failed calls, and fileSweepStart
	// when it first does. So a server that runs only for moments, as in development, does
	// its share.
	fileSweepInterval = time.Minute
	fileSweepStart    = time.Second
	// deletions is how many objects a server deletes at a time, and deletionLease how long an object is
	// reserved for it.
	deletions     = 4
	deletionLease = 5 * time.Minute
	// failureBatch is how many counts of failed calls it deletes at a time.
	failureBatch = 1000
	// tidyInterval is how often it looks for unfinished files of a server that ended, and
	// unfinishedAge how long such a file must have been unchanged.
	tidyInterval  = time.Hour
	unfinishedAge = 24 * time.Hour
)

// tidier is storage that may contain leftovers of a server that ended.
type tidier interface {
	Tidy(before time.Time) error
}

// Sweep deletes counts of failed calls, and leftovers of servers that ended, until the context
// ends. Several servers may do so at the same time.
func (s *Service) Sweep(ctx context.Context, isServed func() bool) {
	tick := time.NewTicker(fileSweepStart)
	defer tick.Stop()
	var tidied time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !isServed() {
			continue // the platform is not installed yet
		}
		tick.Reset(fileSweepInterval)
		if err := s.sweepFailures(); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot delete counts of failed calls", "error", err)
		}
		if store, tidies := s.Store.(tidier); tidies && time.Since(tidied) > tidyInterval {
			tidied = time.Now()
			if err := store.Tidy(tidied.Add(-unfinishedAge)); err != nil {
				s.Log.Warn("cannot remove the parts of unfinished files", "error", err)
			}
		}
	}
}

// sweepFailures deletes the counts of failed calls that have expired.
func (s *Service) sweepFailures() error {
	for n := int32(failureBatch); n == failureBatch; {
		if err := s.DB.QueryRow(`select platform.file_failures_sweep($1)`, []any{int32(failureBatch)}, &n); err != nil {
			return err
		}
	}
	return nil
}

// Deletions returns how the contents of files that no row holds any more, and of uploads, are
// deleted. It waits while storage or the database is away.
func (s *Service) Deletions() []queue.Kind {
	kind := queue.Kind{Most: deletions, Lease: deletionLease, Delay: queue.Doubling(time.Second, time.Minute), Ended: s.deleted}
	files, uploads := kind, kind
	files.Kind = "file"
	files.Run = func(ctx context.Context, t *queue.Task) error {
		return s.delete(ctx, storage.Files, t.Key, `select is_due, wait from platform.file_due($1, $2)`, []any{s.Config.Storage.DeleteDelay},
			`select platform.file_forget($1)`)
	}
	uploads.Kind = "upload"
	uploads.Run = func(ctx context.Context, t *queue.Task) error {
		return s.delete(ctx, storage.Uploads, t.Key, `select is_due, wait from platform.file_uploads_due($1)`, nil,
			`select platform.file_uploads_forget($1)`)
	}
	return []queue.Kind{files, uploads}
}

// delete deletes an object while its row is locked, so that no write can use it again.
func (s *Service) delete(ctx context.Context, prefix, key, due string, arguments []any, forget string) error {
	if err := s.claim(); err != nil {
		return err
	}
	later := &queue.Later{}
	err := s.DB.Transaction(ctx, func(tx pgx.Tx) error {
		var isDue *bool
		var wait *time.Duration
		err := tx.QueryRow(ctx, due, append([]any{pgx.QueryExecModeExec, key}, arguments...)...).Scan(&isDue, &wait)
		if err != nil {
			return fmt.Errorf("look at an object to delete: %w", err)
		}
		if isDue == nil {
			return nil
		}
		if later.Wait = *wait; !*isDue {
			return nil
		}
		return s.deleteObjects(ctx, tx, prefix, forget, key)
	})
	if err == nil && later.Wait > 0 {
		return later
	}
	return err
}

// deleteObjects deletes objects and notes that they are gone.
func (s *Service) deleteObjects(ctx context.Context, tx pgx.Tx, prefix, forget string, keys ...string) error {
	if s.Store == nil {
		return errors.New("objects are due for deletion, but no storage is configured")
	}
	for _, key := range keys {
		if err := s.Store.Delete(ctx, prefix+key); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, forget, pgx.QueryExecModeExec, keys); err != nil {
		return fmt.Errorf("record the deleted objects: %w", err)
	}
	return nil
}

// deleted logs a deletion that failed.
func (s *Service) deleted(t *queue.Task, err error, delay time.Duration) {
	if err != nil {
		s.Log.Warn("cannot delete the contents of a file", "task", t.ID, "attempt", t.Attempts+1, "in", delay, "error", err)
	}
}
