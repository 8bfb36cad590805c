package auth

import (
	"context"
	"sync"
)

const (
	maxLine    = 64   // passwords that wait at one client address
	maxWaiting = 1024 // passwords that wait or are worked on in all
)

// lines let one password of each client address at a time go on to where processors
// are waited for, so that anyone who sends many keeps nobody else waiting for more than
// one of them. It needs no making.
type lines struct {
	mutex     sync.Mutex
	byAddress map[string]*line
	members   int // of all lines
}

// line is those of one client address, in the order in which they came.
type line struct {
	turn    chan struct{} // holds something while it is somebody's turn
	members int           // who has the turn, and who waits for it
}

// enter waits for the turn of a client address. It does not wait if too many do.
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

// join returns the line of a client address with one more member, nil if it is full.
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

// quit takes a member out of its line.
func (l *lines) quit(address string, own *line) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.members--
	if own.members--; own.members == 0 {
		delete(l.byAddress, address)
	}
}
