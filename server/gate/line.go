package gate

import (
	"errors"
	"net"
	"slices"
	"time"
)

// ErrOverloaded is what they are told who are turned away.
var ErrOverloaded = errors.New("too much waits for the database")

// ErrLeft is what they are told whose client has left.
var ErrLeft = errors.New("the client has left")

const (
	// lagging is for how long a line has to be there until it is behind.
	lagging = 100 * time.Millisecond
	// hurry divides the time that one may wait while the line is behind, and long: more
	// than half of what it may be. A shorter one is a burst, as when a server has just started
	// and opens its connections.
	hurry = 4
	long  = 2
	// patience is how long one waits before the client is looked at.
	patience = time.Millisecond
)

// Waiter is somebody in a line.
type Waiter interface {
	Client() net.Conn // who waits for the answer; nil means that nobody can leave
	Since() time.Time
	Refuse(err error) // tells that the turn does not come
}

// Line is a bounded, adaptive line. It is not safe for concurrent use.
type Line[W Waiter] struct {
	Most    int           // who may wait
	Wait    time.Duration // how long, at most
	HasLeft func(net.Conn) bool

	waiting []W       // the oldest first
	began   time.Time // since when the line is there
}

// Len is how many wait.
func (l *Line[W]) Len() int { return len(l.waiting) }

// Add puts somebody into the line. If it is full, who has waited longest is turned away.
func (l *Line[W]) Add(w W, now time.Time) {
	if len(l.waiting) == 0 {
		l.began = now
	}
	if len(l.waiting) >= l.Most {
		l.waiting[0].Refuse(ErrOverloaded)
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	l.waiting = append(l.waiting, w)
}

// isBehind tells whether more comes than can be done.
func (l *Line[W]) isBehind(now time.Time) bool {
	return len(l.waiting) > 0 && now.Sub(l.began) > lagging
}

// Next takes out whose turn it is, of those that a condition admits; nil admits all. Who
// is passed whose client has left is told so.
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
		return w, true
	}
	return next, false
}

// Expire turns away who has waited for too long, and drops whose client has left.
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

// Empty sends everybody away.
func (l *Line[W]) Empty(err error) {
	for _, w := range l.waiting {
		w.Refuse(err)
	}
	l.waiting = nil
}
