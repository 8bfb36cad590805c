package pipeline

import (
	"context"
	"time"
)

// Watch looks after queries that wait, until the context ends: those behind a slow one
// move, those that found no place in time give up. It sleeps while nothing waits.
func (p *Pool) Watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.watcher:
		}
		ticker := time.NewTicker(slow)
		for p.anyWaits(time.Now()) {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
		ticker.Stop()
	}
}

// wake wakes the one who watches.
func (p *Pool) wake() {
	select {
	case p.watcher <- struct{}{}:
	default:
	}
}

// anyWaits moves what waits behind slow queries and ends what has waited too long for a
// place. It tells whether anything still waits.
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

// moveOn sends what waits behind a slow query elsewhere. It tells whether anything still
// waits.
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

// Look looks at the queries that run for long, and at the age of connections. It is to
// be called every now and then, about as often as a client that has left should be
// noticed.
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

// look ends the query that runs if nobody waits for its answer, or if the database has
// forgotten its time limit, as one behind a pooler may.
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
		_ = n.net.SetDeadline(now) // nothing answers any more: this ends the reading
	case n.cancelled != nil:
	case age > limit:
		n.cancel()
	case !c.moved && c.Client != nil && n.pool.options.HasLeft(c.Client):
		c.left = true
		n.cancel()
	}
}

// CancelAll cancels what is running.
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

// cancel cancels the query that runs. What waits behind it moves, since the request may
// strike the next one, and the connection is closed afterwards.
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
