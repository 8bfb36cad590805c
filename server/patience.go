package server

import (
	"context"
	"sync"
	"time"
)

// patience is a context that ends after too long a wait for a connection to the database.
// Calls rarely wait, so a patience is kept for the next call, where context.WithTimeout
// would make a new context each time. Its timer keeps running meanwhile, since to stop and
// start a timer costs more than the rest: when it fires, it looks whether the wait is over.
type patience struct {
	context.Context // without end
	done            chan struct{}

	mu    sync.Mutex
	until time.Time // when the current wait is too long; zero if there is none
	fires time.Time // when the timer fires; zero if it does not run
	timer *time.Timer
}

var patiences = sync.Pool{New: func() any { return &patience{Context: context.Background(), done: make(chan struct{})} }}

// beginPatience begins to wait. The caller must call end after the wait, and must not use
// the context afterwards.
func beginPatience(limit time.Duration) *patience {
	p := patiences.Get().(*patience)
	p.begin(limit)
	return p
}

func (p *patience) begin(limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(limit)
	if p.fires.IsZero() || p.fires.After(p.until) {
		p.fireAfter(limit)
	}
}

// fireAfter starts the timer, or sets it anew.
func (p *patience) fireAfter(d time.Duration) {
	p.fires = time.Now().Add(d)
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.look)
		return
	}
	p.timer.Reset(d)
}

// look ends the context if the current wait is too long. The timer may have been started for
// an earlier one.
func (p *patience) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fires = time.Time{}
	switch left := time.Until(p.until); {
	case p.until.IsZero():
	case left > 0:
		p.fireAfter(left)
	default:
		p.until = time.Time{}
		close(p.done)
	}
}

// end ends the wait.
func (p *patience) end() {
	if p.endsInTime() {
		patiences.Put(p)
	}
}

// endsInTime ends the wait, and tells whether it was short enough: a context that has ended cannot be reused.
func (p *patience) endsInTime() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	inTime := !p.until.IsZero()
	p.until = time.Time{}
	return inTime
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
