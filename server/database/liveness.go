package database

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/sternpost/sternpost/server/refusal"
)

// liveness tells a database that is silent from one that is busy. Both let calls wait for a place, but one answers a short
// question.
type liveness struct {
	asked    atomic.Int64 // when the first question was asked that is not answered, in Unix nanoseconds; 0 means none
	isAsking atomic.Bool
}

var errSilent = errors.New("the database does not answer")

// take asks the database when a call has waited for half of the time that it may, and again until it answers.
func (l *liveness) take(d *DB, now time.Time) {
	if l.asked.Load() == 0 && !d.gate.HasWaiting(now.Add(-d.wait/2)) || l.isAsking.Swap(true) {
		return
	}
	l.asked.CompareAndSwap(0, now.UnixNano())
	go func() {
		defer l.isAsking.Store(false)
		if err := d.QueryRow("select true", nil, new(bool)); err == nil || refusal.SQLState(err) != "" {
			l.asked.Store(0)
		}
	}()
}

// isMissing tells whether a question has waited for a quarter of the time that a call may wait.
func (l *liveness) isMissing(now time.Time, wait time.Duration) bool {
	asked := l.asked.Load()
	return asked != 0 && now.UnixNano()-asked > int64(wait/4)
}
