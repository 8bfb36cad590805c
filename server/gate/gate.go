package gate

import (
	"net"
	"sync"
	"time"
)

// Options configure a Gate.
type Options struct {
	Places  int           // how many calls may be inside at a time
	Share   int           // how many of one name; 0 means all places
	Most    int           // how many may wait; 0 means 32 for each place
	Wait    time.Duration // how long a call waits, at most
	HasLeft func(net.Conn) bool
	Now     func() time.Time // nil means the clock

	// Borrow borrows an additional place for a caller that may borrow; it returns nil while none is free. nil means
	// that nothing can be borrowed.
	Borrow func() Loan
}

// Loan is a place that does not belong to the gate.
type Loan interface {
	// GiveBack returns it to its lender.
	GiveBack()
}

// waiting is how many calls may wait for each place by default.
const waiting = 32

// Gate admits callers. It may be used concurrently.
type Gate struct {
	options Options

	mu     sync.Mutex
	places int            // at present
	inside int            // the number of callers with a place
	held   map[string]int // places by name
	line   Line[*waiter]
}

// waiter waits for a place.
type waiter struct {
	name    string
	client  net.Conn
	borrows bool
	since   time.Time
	told    chan entry // holds one
}

// entry is the answer to a waiter.
type entry struct {
	loan Loan  // nil means one of the gate's own places
	err  error // why it gets no place
}

func (w *waiter) Client() net.Conn { return w.client }
func (w *waiter) Since() time.Time { return w.since }
func (w *waiter) Refuse(err error) { w.told <- entry{err: err} }

// New makes a gate.
func New(o Options) *Gate {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Share == 0 {
		o.Share = o.Places
	}
	if o.Most == 0 {
		o.Most = waiting * o.Places
	}
	return &Gate{
		options: o, places: o.Places, held: map[string]int{},
		line: Line[*waiter]{Most: o.Most, Wait: o.Wait, HasLeft: o.HasLeft},
	}
}

// Enter waits for a place. borrows allows a borrowed place too. A caller with a loan must pass it to Return; any
// other caller must call Leave with the same name. The error is ErrOverloaded or ErrLeft.
func (g *Gate) Enter(name string, client net.Conn, borrows bool) (Loan, error) {
	borrows = borrows && g.options.Borrow != nil
	g.mu.Lock()
	if g.hasRoom(name) { // nobody in the queue has, since each that gets room is admitted at once
		g.take(name)
		g.mu.Unlock()
		return nil, nil
	}
	if borrows && g.line.Len() == 0 {
		if loan := g.options.Borrow(); loan != nil {
			g.mu.Unlock()
			return loan, nil
		}
	}
	now := g.options.Now()
	w := waiters.Get().(*waiter)
	w.name, w.client, w.borrows, w.since = name, client, borrows, now
	g.line.Add(w, now)
	if g.line.Len() > 1 {
		g.lend(now) // to the one whose turn it is
	}
	g.mu.Unlock()
	told := <-w.told
	*w = waiter{told: w.told}
	waiters.Put(w)
	return told.loan, told.err
}

// waiters pools waiters that have been told.
var waiters = sync.Pool{New: func() any { return &waiter{told: make(chan entry, 1)} }}

// TryEnter takes a place if one is free and not waited for.
func (g *Gate) TryEnter(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasRoom(name) || g.line.Len() > 0 {
		return false
	}
	g.take(name)
	return true
}

// Leave returns a place.
func (g *Gate) Leave(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.held[name]--; g.held[name] == 0 {
		delete(g.held, name)
	}
	if g.line.Len() > 0 {
		g.admit(g.options.Now())
	}
}

// Return returns a loan. If its lender does not need it, a waiting caller gets it.
func (g *Gate) Return(loan Loan) {
	loan.GiveBack()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line.Len() > 0 {
		g.lend(g.options.Now())
	}
}

// SetPlaces changes how many may be inside at a time, at most the number in the options.
func (g *Gate) SetPlaces(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.places = max(1, min(n, g.options.Places))
	g.admit(g.options.Now())
}

// Places returns how many may be inside at present.
func (g *Gate) Places() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.places
}

// Look refuses calls that have waited too long, drops calls whose client has left, and gives the others places that
// can be borrowed by now. Call it periodically.
func (g *Gate) Look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line.Len() > 0 {
		now := g.options.Now()
		g.line.Expire(now)
		g.lend(now) // opened since, or idle now
	}
}

// Waiting returns how many calls wait.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line.Len()
}

func (g *Gate) hasRoom(name string) bool {
	return g.inside < g.places && (g.held[name] < g.options.Share || g.places == 1)
}

func (g *Gate) take(name string) {
	g.inside++
	g.held[name]++
}

// admit admits the next calls, as long as there is room.
func (g *Gate) admit(now time.Time) {
	for g.inside < g.places {
		w, ok := g.line.Next(now, func(w *waiter) bool { return g.hasRoom(w.name) })
		if !ok {
			break
		}
		g.take(w.name)
		w.told <- entry{}
	}
	g.lend(now)
}

// lend gives borrowed places to waiting calls that may borrow.
func (g *Gate) lend(now time.Time) {
	for g.options.Borrow != nil && g.line.Len() > 0 {
		loan := g.options.Borrow()
		if loan == nil {
			return
		}
		w, ok := g.line.Next(now, func(w *waiter) bool { return w.borrows })
		if !ok {
			loan.GiveBack()
			return
		}
		w.told <- entry{loan: loan}
	}
}
