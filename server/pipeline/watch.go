package pipeline

import (
	"context"
	"time"
)

// Watch checks waiting queries until the context ends: those behind a slow one move,
// those without a place in time give up. It sleeps while no query waits.
func (p *Pool) Watch(ctx context.Context) {
	ticker := time.NewTicker(slow)
	defer ticker.Stop()
	for {
		ticker.Stop()
		select {
		case <-ctx.Done():
			return
		case <-p.watcher:
		}
		ticker.Reset(slow)
		for waits := true; waits; waits = p.anyWaits(time.Now()) { // not at once: most queries are done within a tick
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}
}

// wake wakes the watching goroutine.
func (p *Pool) wake() {
	select {
	case p.watcher <- struct{}{}:
	default:
	}
}

// anyWaits moves queries that wait behind slow ones, and ends those that have waited too
// long for a place. It tells whether any still wait.
func (p *Pool) anyWaits(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	any := false
	for _, n := range p.connections {
		if n.moveOn(now) {
			any = true
		}
	}
	if _, _, allSlow := p.best(now); allSlow {
		p.waiting.Empty(ErrElsewhere)
	} else {
		p.waiting.Expire(now)
	}
	return any || p.waiting.Len() > 0
}

// moveOn sends the queries behind a slow one elsewhere. It tells whether any still wait.
func (n *connection) moveOn(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) < 2 {
		return false
	}
	if !n.isSlow(now) {
		return true
	}
	n.moveRest()
	return false
}

func (n *connection) moveRest() {
	for _, c := range n.queue[1:] {
		if !c.moved {
			c.moved = true
			c.turn <- isDone
		}
	}
}

// Look checks long-running queries, and the age of connections. Call it periodically,
// about as often as the server should notice that a client has left.
func (p *Pool) Look(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		n.look(now)
		if n.load == 0 && now.Sub(n.opened) > lifetime && !n.retired.Swap(true) {
			go n.end()
		}
	}
}

// look ends the current query if its client has left, or if the database ignores its time
// limit, as it may behind a pooler.
func (n *connection) look(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 {
		return
	}
	c := n.queue[0]
	age := time.Duration(now.UnixNano() - n.headSince.Load())
	limit := n.pool.options.Limit + overtime
	switch {
	case age < patience:
	case age > limit+cancelTimeout:
		_ = n.net.SetDeadline(now) // the server does not answer any more: this ends the reading
	case n.cancelled != nil:
	case age > limit:
		n.cancel()
	case !c.moved && c.Client != nil && n.pool.options.HasLeft(c.Client):
		c.left = true
		n.cancel()
	}
}

// CancelAll cancels all running queries.
func (p *Pool) CancelAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.connections {
		n.mu.Lock()
		if len(n.queue) > 0 && n.cancelled == nil {
			n.cancel()
		}
		n.mu.Unlock()
	}
}

// cancel cancels the current query. Queries behind it move, since the cancel request may
// hit the next one, and the connection is closed afterwards.
func (n *connection) cancel() {
	n.retired.Store(true)
	n.moveRest()
	sent := make(chan struct{})
	n.cancelled = sent
	go func() {
		defer close(sent)
		ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
		defer stop()
		_ = n.pg.CancelRequest(ctx) // its failure does not matter: the statement has a time limit
	}()
}
