package server

import (
	"context"
	"sync"
	"time"
)

// patience is a context that ends when a connection to the database has been waited for too
// long. A call hardly ever waits, so that its context is not made anew each time, as that of
// context.WithTimeout is, but kept for the next.
type patience struct {
	context.Context // without end
	done            chan struct{}
	timer           *time.Timer
}

var patiences sync.Pool

// beginPatience begins to wait. end must be called when the waiting is over; nobody may look
// at the context afterwards.
func beginPatience(limit time.Duration) *patience {
	if p, ok := patiences.Get().(*patience); ok {
		p.timer.Reset(limit)
		return p
	}
	p := &patience{Context: context.Background(), done: make(chan struct{})}
	p.timer = time.AfterFunc(limit, func() { close(p.done) })
	return p
}

// end ends the waiting. A context that has ended is of no use to the next.
func (p *patience) end() {
	if p.timer.Stop() {
		patiences.Put(p)
	}
}

// Done is closed when the waiting has lasted too long.
func (p *patience) Done() <-chan struct{} { return p.done }

// Err tells whether it has.
func (p *patience) Err() error {
	select {
	case <-p.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
