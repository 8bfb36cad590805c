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
	// hurry divides the maximum wait while the queue is long: more than half of its limit. A shorter queue is a burst,
	// as when a server has just started and opens its connections.
	hurry = 10
	long  = 2
	// grace is the part of the maximum wait that is added for the next ones in the queue: calls that take a whole second
	// would race against a wait of two.
	grace = 8
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

// Line is a bounded queue: first come, first served. It is not safe for concurrent use.
type Line[W Waiter] struct {
	Most    int           // how many may wait
	Wait    time.Duration // how long, at most
	Front   int           // how many may have their turn at once: the next ones
	HasLeft func(net.Conn) bool
	Yields  func(W) bool // whether a waiter makes room for another in a full queue; nil means that none does

	waiting []W // the oldest first
}

// Len returns the length of the queue.
func (l *Line[W]) Len() int { return len(l.waiting) }

// Add adds a waiter to the queue, before those that are younger. If the queue is full, the youngest that yields is
// refused, else this one.
func (l *Line[W]) Add(w W) {
	if len(l.waiting) >= l.Most {
		last := len(l.waiting) - 1
		for last >= 0 && (l.Yields == nil || !l.Yields(l.waiting[last])) {
			last--
		}
		if last < 0 {
			w.Refuse(ErrOverloaded)
			return
		}
		l.waiting[last].Refuse(ErrOverloaded)
		l.waiting = slices.Delete(l.waiting, last, last+1)
	}
	at := len(l.waiting)
	for at > 0 && l.waiting[at-1].Since().After(w.Since()) {
		at--
	}
	l.waiting = slices.Insert(l.waiting, at, w)
}

// Next removes the oldest waiter that a condition admits; nil admits all. It refuses the
// passed waiters whose client has left.
func (l *Line[W]) Next(now time.Time, admits func(W) bool) (next W, ok bool) {
	for i := 0; i < len(l.waiting); {
		w := l.waiting[i]
		if admits != nil && !admits(w) {
			i++
			continue
		}
		l.waiting = slices.Delete(l.waiting, i, i+1)
		if now.Sub(w.Since()) > patience && w.Client() != nil && l.HasLeft(w.Client()) {
			w.Refuse(ErrLeft)
			continue
		}
		return w, true
	}
	return next, false
}

// Expire refuses waiters that have waited too long, and drops those whose client has left.
func (l *Line[W]) Expire(now time.Time) {
	limit := l.Wait
	if len(l.waiting) > l.Most/long {
		limit /= hurry
	}
	at := 0
	l.waiting = slices.DeleteFunc(l.waiting, func(w W) bool {
		age, most := now.Sub(w.Since()), limit
		if at++; at <= l.Front {
			most += limit / grace
		}
		switch {
		case age > most:
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
