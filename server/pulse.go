package server

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/sternpost/sternpost/server/refusal"
)

// pulse tells a database that is silent from one that is busy. Both let calls wait for a place, but one answers a short
// question.
type pulse struct {
	asked    atomic.Int64 // when the first question was asked that is not answered, in Unix nanoseconds; 0 means none
	isAsking atomic.Bool
}

var errSilent = errors.New("the database does not answer")

// take asks the database when a call has waited for half of the time that it may, and again until it answers.
func (p *pulse) take(d *database, now time.Time) {
	if p.asked.Load() == 0 && !d.gate.HasWaiting(now.Add(-d.wait/2)) || p.isAsking.Swap(true) {
		return
	}
	p.asked.CompareAndSwap(0, now.UnixNano())
	go func() {
		defer p.isAsking.Store(false)
		if err := d.QueryRow("select true", nil, new(bool)); err == nil || refusal.SQLState(err) != "" {
			p.asked.Store(0)
		}
	}()
}

// isMissing tells whether a question has waited for a quarter of the time that a call may wait.
func (p *pulse) isMissing(now time.Time, wait time.Duration) bool {
	asked := p.asked.Load()
	return asked != 0 && now.UnixNano()-asked > int64(wait/4)
}
