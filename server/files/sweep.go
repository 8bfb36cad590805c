package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/storage"
)

const (
	// fileSweepInterval is how often a server looks for contents to delete, and
	// fileSweepStart when it first does. So a server that runs only for moments, as in
	// development, does its share.
	fileSweepInterval = time.Minute
	fileSweepStart    = time.Second
	// fileSweepBatch is how many it deletes while it holds locks on their rows.
	fileSweepBatch = 20
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

// Sweep deletes the contents of unused files, and of uploads that are attached or have
// expired, until the context ends. Several servers may do so at the same time. It waits
// while storage or the database is away.
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
		if err := s.SweepOnce(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("cannot delete the contents of files", "error", err)
		}
		if store, tidies := s.Store.(tidier); tidies && time.Since(tidied) > tidyInterval {
			tidied = time.Now()
			if err := store.Tidy(tidied.Add(-unfinishedAge)); err != nil {
				s.Log.Warn("cannot remove the parts of unfinished files", "error", err)
			}
		}
	}
}

// SweepOnce deletes all that is due now.
func (s *Service) SweepOnce(ctx context.Context) error {
	for n := int32(failureBatch); n == failureBatch; {
		if err := s.DB.QueryRow(`select platform.file_failures_sweep($1)`, []any{int32(failureBatch)}, &n); err != nil {
			return err
		}
	}
	if err := s.claim(); err != nil {
		return err
	}
	delay := s.Config.Storage.DeleteDelay
	err := s.sweepAll(ctx, storage.Files, `select platform.file_due($1, $2)`, []any{delay, int32(fileSweepBatch)}, `select platform.file_forget($1)`)
	if err != nil {
		return err
	}
	return s.sweepAll(ctx, storage.Uploads, `select platform.file_uploads_due($1)`, []any{int32(fileSweepBatch)}, `select platform.file_uploads_forget($1)`)
}

// sweepAll deletes batches until none is left.
func (s *Service) sweepAll(ctx context.Context, prefix, due string, arguments []any, forget string) error {
	for {
		n, err := s.sweepBatch(ctx, prefix, due, arguments, forget)
		if err != nil || n < fileSweepBatch {
			return err
		}
	}
}

// sweepBatch deletes objects while their rows are locked, so that no write can use one
// again and no other server deletes the same.
func (s *Service) sweepBatch(ctx context.Context, prefix, due string, arguments []any, forget string) (n int, err error) {
	err = s.DB.Transaction(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, due, append([]any{pgx.QueryExecModeExec}, arguments...)...)
		if err != nil {
			return fmt.Errorf("list the objects to delete: %w", err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("list the objects to delete: %w", err)
		}
		if n = len(keys); n == 0 {
			return nil
		}
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
	})
	return n, err
}
