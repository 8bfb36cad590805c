package server

import (
	"context"
	"sync"
	"time"
)

// patience is a context that ends after too long a wait for a connection to the database.
// Calls rarely wait, so a patience is kept for the next call, where context.WithTimeout
// would make a new context each time.
type patience struct {
	context.Context // without end
	done            chan struct{}
	timer           *time.Timer
}

var patiences sync.Pool

// beginPatience begins to wait. The caller must call end after the wait, and must not use
// the context afterwards.
func beginPatience(limit time.Duration) *patience {
	if p, ok := patiences.Get().(*patience); ok {
		p.timer.Reset(limit)
		return p
	}
	p := &patience{Context: context.Background(), done: make(chan struct{})}
	p.timer = time.AfterFunc(limit, func() { close(p.done) })
	return p
}

// end ends the wait. A context that has ended cannot be reused.
func (p *patience) end() {
	if p.timer.Stop() {
		patiences.Put(p)
	}
}

// Done is closed when the wait was too long.
func (p *patience) Done() <-chan struct{} { return p.done }

// Err returns an error if the wait was too long.
func (p *patience) Err() error {
	select {
	case <-p.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
