package server

import (
	"context"
	"fmt"
	"time"
)

const (
	sweepInterval = time.Minute
	sweepMost     = 1000 // rows of a kind in one transaction
)

// sweep deletes at most so many expired rows. It tells whether more are left.
type sweep func(most int) (isMore bool, err error)

// sweep deletes expired rows again and again until the context ends. Several servers may
// do so at the same time.
func (s *Server) sweep(ctx context.Context) {
	sweeps := []sweep{s.signIn.Sweep, s.sweepBy("platform.answer_sweep"), s.sweepBy("platform.task_sweep"), s.sweepBy("platform.history_sweep")}
	if s.db.HasReplicas() {
		sweeps = append(sweeps, s.sweepBy("platform.position_sweep"))
	}
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.isTidied() {
			continue
		}
		for _, some := range sweeps {
			if err := some.all(ctx, sweepMost); err != nil {
				s.log.Warn("cannot delete expired rows", "error", err)
			}
		}
	}
}

// isTidied tells whether old rows can be deleted: a release is served, and the database takes writes.
func (s *Server) isTidied() bool { return s.current.Load() != nil && s.db.TakesWrites() }

// sweepBy returns a sweep that calls a function of the platform.
func (s *Server) sweepBy(function string) sweep {
	return func(most int) (isMore bool, err error) {
		if err := s.db.QueryRow("select "+function+"($1)", []any{most}, &isMore); err != nil {
			return false, fmt.Errorf("%s: %w", function, err)
		}
		return isMore, nil
	}
}

// all deletes batches until none is full.
func (some sweep) all(ctx context.Context, most int) error {
	for ctx.Err() == nil {
		if isMore, err := some(most); err != nil || !isMore {
			return err
		}
	}
	return nil
}
