package server

import (
	"context"
	"time"
)

const (
	rowSweepInterval = time.Minute
	rowSweepMost     = 1000 // in one transaction
)

// What is deleted now and then, each by a function that takes the most rows to delete and
// tells whether there are more.
const (
	sweepAnswers   = "platform.answer_sweep"   // kept answers that have had their time
	sweepPositions = "platform.position_sweep" // positions that every replica has passed
)

// isTidied tells whether there is a database in which old rows can be deleted.
func (s *Server) isTidied() bool { return s.current.Load() != nil && s.db.takesWrites() }

// sweep deletes rows by a function, now and then, until the context ends.
func (s *Server) sweep(ctx context.Context, function string) {
	ticker := time.NewTicker(rowSweepInterval)
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
			if err := s.db.QueryRow("select "+function+"($1)", []any{rowSweepMost}, &isMore); err != nil {
				s.log.Warn("delete rows that have had their time", "function", function, "error", err)
				break
			}
		}
	}
}
