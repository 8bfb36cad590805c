package signin

import (
	"context"
	"time"
)

const (
	sweepInterval = time.Minute
	sweepMost     = 1000 // rows of a kind in one transaction
)

// Sweep deletes rows that have had their time, now and then, until the context
// ends.
func (s *Service) Sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.IsTidied() {
			continue
		}
		if err := s.SweepAll(ctx, sweepMost); err != nil {
			s.Log.Warn("delete old rows of sign-ins", "error", err)
		}
	}
}

// SweepAll deletes batches until none is full.
func (s *Service) SweepAll(ctx context.Context, most int) error {
	for ctx.Err() == nil {
		if isMore, err := s.passwordStore.sweep(most); err != nil || !isMore {
			return err
		}
	}
	return nil
}
