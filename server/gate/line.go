package gate

import (
	"errors"
	"net"
	"slices"
	"time"
)

// ErrOverloaded is the error of a refused call.
var ErrOverloaded = errors.New("too many calls wait for the database")

// ErrLeft is the error of a call whose client has left.
var ErrLeft = errors.New("the client has left")

const (
	// lagging is how long the last of a queue would have to wait for its turn, at the pace of the queue, for it to count
	// as behind.
	lagging = 100 * time.Millisecond
	// paceOf is the number of turns that the pace of a queue averages, more or less.
	paceOf = 16
	// hurry divides the maximum wait while the queue is behind, and long: more than half of
	// its limit. A shorter queue is a burst, as when a server has just started and opens its
	// connections.
	hurry = 4
	long  = 2
	// patience is how long a call waits before its client is checked. A check costs a system call, and a short wait
	// is usual.
	patience = 5 * time.Millisecond
)

// Waiter is an entry of a queue.
type Waiter interface {
	Client() net.Conn // the waiting client; nil means that it cannot leave
	Since() time.Time
	Refuse(err error) // reports that the waiter gets no turn
}

// Line is a bounded, adaptive queue. It is not safe for concurrent use.
type Line[W Waiter] struct {
	Most    int           // how many may wait
	Wait    time.Duration // how long, at most
	HasLeft func(net.Conn) bool

	waiting []W           // the oldest first
	turn    time.Time     // when the last one had its turn, or the queue began
	pace    time.Duration // the time between two turns, averaged over the last ones; 0 before the first
}

// Len returns the length of the queue.
func (l *Line[W]) Len() int { return len(l.waiting) }

// Add adds a waiter to the queue. If it is full, the one that has waited longest is refused.
func (l *Line[W]) Add(w W, now time.Time) {
	if len(l.waiting) == 0 {
		l.turn, l.pace = now, 0
	}
	if len(l.waiting) >= l.Most {
		l.waiting[0].Refuse(ErrOverloaded)
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	l.waiting = append(l.waiting, w)
}

// isBehind tells whether the load exceeds the capacity. A short queue that moves quickly is not behind, however long it
// has existed: a few clients with one call after another keep one, and newest first would let some of them starve.
func (l *Line[W]) isBehind(now time.Time) bool {
	return time.Duration(len(l.waiting))*max(l.pace, now.Sub(l.turn)) > lagging
}

// turns notes that one has its turn.
func (l *Line[W]) turns(now time.Time) {
	last := now.Sub(l.turn)
	if l.pace == 0 {
		l.pace = last
	}
	l.pace += (last - l.pace) / paceOf
	l.turn = now
}

// Next removes the next waiter that a condition admits; nil admits all. It refuses the
// passed waiters whose client has left.
func (l *Line[W]) Next(now time.Time, admits func(W) bool) (next W, ok bool) {
	isBehind := l.isBehind(now)
	for i := 0; i < len(l.waiting); {
		at := i
		if isBehind {
			at = len(l.waiting) - 1 - i
		}
		w := l.waiting[at]
		if admits != nil && !admits(w) {
			i++
			continue
		}
		l.waiting = slices.Delete(l.waiting, at, at+1)
		if now.Sub(w.Since()) > patience && w.Client() != nil && l.HasLeft(w.Client()) {
			w.Refuse(ErrLeft)
			continue
		}
		l.turns(now)
		return w, true
	}
	return next, false
}

// Expire refuses waiters that have waited too long, and drops those whose client has left.
func (l *Line[W]) Expire(now time.Time) {
	limit := l.Wait
	if l.isBehind(now) && len(l.waiting) > l.Most/long {
		limit /= hurry
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(w W) bool {
		age := now.Sub(w.Since())
		switch {
		case age > limit:
			w.Refuse(ErrOverloaded)
		case age > patience && w.Client() != nil && l.HasLeft(w.Client()):
			w.Refuse(ErrLeft)
		default:
			return false
		}
		return true
	})
}

// Empty refuses all waiters.
func (l *Line[W]) Empty(err error) {
	for _, w := range l.waiting {
		w.Refuse(err)
	}
	l.waiting = nil
}
