package server

import (
	"context"
	"time"
)

const (
	answerSweepInterval = time.Minute
	answerSweepMost     = 1000 // in one transaction
)

// isTidied tells whether there is a database in which old rows can be deleted.
func (s *Server) isTidied() bool { return s.current.Load() != nil && s.db.takesWrites() }

// sweepAnswers deletes kept answers that have had their time, now and then, until the
// context ends.
func (s *Server) sweepAnswers(ctx context.Context) {
	ticker := time.NewTicker(answerSweepInterval)
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
		for isMore := true; isMore && ctx.Err() == nil; {
			if err := s.db.QueryRow("select platform.answer_sweep($1)", []any{answerSweepMost}, &isMore); err != nil {
				s.log.Warn("delete old answers that were kept", "error", err)
				break
			}
		}
	}
}
