package auth

import (
	"context"
	"sync"
)

const (
	maxLine    = 64   // passwords in the queue of one client address
	maxWaiting = 1024 // passwords in all queues or in work
)

// lines queues the passwords of each client address. One password per address at a time
// waits for a processor, so that many passwords from one address delay another client by
// at most one of them. The zero value is ready.
type lines struct {
	mutex     sync.Mutex
	byAddress map[string]*line
	members   int // of all lines
}

// line is the queue of one client address, in order of arrival.
type line struct {
	turn    chan struct{} // holds a value while a member has the turn
	members int           // the member with the turn, and those that wait
}

// enter waits for the turn of a client address. It fails at once if too many wait.
func (l *lines) enter(ctx context.Context, address string) (leave func(), err error) {
	own := l.join(address)
	if own == nil {
		return nil, errTooManyWait
	}
	select {
	case own.turn <- struct{}{}:
		return func() {
			<-own.turn
			l.quit(address, own)
		}, nil
	case <-ctx.Done():
		l.quit(address, own)
		return nil, context.Cause(ctx)
	}
}

// join adds a member to the queue of a client address; nil if it is full.
func (l *lines) join(address string) *line {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	own := l.byAddress[address]
	if l.members >= maxWaiting || own != nil && own.members > maxLine {
		return nil
	}
	if own == nil {
		own = &line{turn: make(chan struct{}, 1)}
		if l.byAddress == nil {
			l.byAddress = map[string]*line{}
		}
		l.byAddress[address] = own
	}
	own.members++
	l.members++
	return own
}

// quit removes a member from its queue.
func (l *lines) quit(address string, own *line) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.members--
	if own.members--; own.members == 0 {
		delete(l.byAddress, address)
	}
}
