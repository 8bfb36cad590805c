package gate

import (
	"net"
	"sync"
	"time"
)

// Options say how a Gate works.
type Options struct {
	Places  int           // how many may be inside at a time
	Share   int           // how many of one name; 0 means as many as there are places
	Most    int           // how many may wait; 0 means 32 for each place
	Wait    time.Duration // how long one waits, at most
	HasLeft func(net.Conn) bool
	Now     func() time.Time // nil means the clock

	// Borrow borrows a place beyond these, for a caller that may; it returns nil while there is none to spare. nil means
	// that nobody lends.
	Borrow func() Loan
}

// Loan is a place that is not the gate's own.
type Loan interface {
	// GiveBack gives it back to who lent it.
	GiveBack()
}

// waiting is how many may wait for each place, unless the options say otherwise.
const waiting = 32

// Gate lets callers in. It may be used by many at once.
type Gate struct {
	options Options

	mu     sync.Mutex
	places int            // at present
	inside int            // who has a place
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

// entry is what a waiter is told.
type entry struct {
	loan Loan  // nil means one of the gate's own places
	err  error // why there is no place
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

// Enter waits for a place. borrows tells that it may also be one that others lend. Who gets a loan must give it to Return,
// who gets none must call Leave with the same name. The error is ErrOverloaded or ErrLeft.
func (g *Gate) Enter(name string, client net.Conn, borrows bool) (Loan, error) {
	borrows = borrows && g.options.Borrow != nil
	g.mu.Lock()
	if g.line.Len() == 0 {
		if g.hasRoom(name) {
			g.take(name)
			g.mu.Unlock()
			return nil, nil
		}
		if borrows {
			if loan := g.options.Borrow(); loan != nil {
				g.mu.Unlock()
				return loan, nil
			}
		}
	}
	now := g.options.Now()
	w := &waiter{name: name, client: client, borrows: borrows, since: now, told: make(chan entry, 1)}
	g.line.Add(w, now)
	g.admit(now) // those before may all have their share
	g.mu.Unlock()
	told := <-w.told
	return told.loan, told.err
}

// TryEnter takes a place if there is one that nobody waits for.
func (g *Gate) TryEnter(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasRoom(name) || g.line.Len() > 0 {
		return false
	}
	g.take(name)
	return true
}

// Leave gives a place back.
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

// Return gives a loan back. Where nobody else needs it, it goes to who waits.
func (g *Gate) Return(loan Loan) {
	loan.GiveBack()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line.Len() > 0 {
		g.lend(g.options.Now())
	}
}

// SetPlaces changes how many may be inside at a time; more than the options say there are
// never.
func (g *Gate) SetPlaces(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.places = max(1, min(n, g.options.Places))
	g.admit(g.options.Now())
}

// Places is how many may be inside at present.
func (g *Gate) Places() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.places
}

// Look turns away who has waited for too long, drops whose client has left, and gives the others what is lent by now. It is to
// be called every now and then.
func (g *Gate) Look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line.Len() > 0 {
		now := g.options.Now()
		g.line.Expire(now)
		g.lend(now) // what was opened since, or is idle now
	}
}

// Waiting is how many wait.
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

// admit lets in whose turn it is, as long as there is room.
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

// lend gives who waits, and may borrow, what others lend.
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
