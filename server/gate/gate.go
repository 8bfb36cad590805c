package gate

import (
	"net"
	"sync"
	"time"
)

// Options configure a Gate.
type Options struct {
	Places  int           // how many calls may be inside at a time
	Most    int           // how many may wait; 0 means 32 for each place
	Wait    time.Duration // how long a call waits, at most
	HasLeft func(net.Conn) bool
	Now     func() time.Time // nil means the clock

	// Borrow borrows an additional place; it returns nil while none is free. nil means that nothing can be borrowed.
	Borrow func() Loan
}

// Loan is a place that does not belong to the gate.
type Loan interface {
	// GiveBack returns it to its lender.
	GiveBack()
}

// Who makes a call: calls of one action, and of one caller, have a share of the places.
type Who struct {
	Action    string
	Caller    string // empty has no share of its own
	IsAddress bool   // the caller is an address, which many people may have: no place is kept free from it
}

// left is the part of the places that one action or caller leaves to others that wait: a quarter, and at least one.
const left = 4

// waiting is how many calls may wait for each place by default.
const waiting = 32

// Gate admits calls. It may be used concurrently.
type Gate struct {
	options Options

	mu      sync.Mutex
	places  int            // at present
	inside  int            // the number of calls with a place
	actions map[string]int // places by action
	callers map[string]int // places by caller
	line    Line[*waiter]
}

// waiter waits for a place.
type waiter struct {
	who    Who
	client net.Conn
	since  time.Time
	told   chan entry // holds one
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
	if o.Most == 0 {
		o.Most = waiting * o.Places
	}
	g := &Gate{options: o, places: o.Places, actions: map[string]int{}, callers: map[string]int{}}
	g.line = Line[*waiter]{
		Most: o.Most, Wait: o.Wait, Front: o.Places, HasLeft: o.HasLeft,
		Yields: func(w *waiter) bool { return !g.isWithinShare(w.who) },
	}
	return g
}

// Enter waits for a place; since is when the call began to wait. A call with a loan must pass it to Return; any other
// must call Leave. The error is ErrOverloaded or ErrLeft.
func (g *Gate) Enter(who Who, client net.Conn, since time.Time) (Loan, error) {
	g.mu.Lock()
	if g.hasRoom(who) {
		g.take(who)
		g.mu.Unlock()
		return nil, nil
	}
	if g.options.Borrow != nil && g.line.Len() == 0 {
		if loan := g.options.Borrow(); loan != nil {
			g.mu.Unlock()
			return loan, nil
		}
	}
	w := waiters.Get().(*waiter)
	w.who, w.client, w.since = who, client, since
	g.line.Add(w)
	if g.line.Len() > 1 {
		g.admit(g.options.Now()) // the one whose turn it is: others may wait for their share
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
func (g *Gate) TryEnter(who Who) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line.Len() > 0 || !g.hasRoom(who) {
		return false
	}
	g.take(who)
	return true
}

// Leave returns a place.
func (g *Gate) Leave(who Who) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	giveBack(g.actions, who.Action)
	giveBack(g.callers, who.Caller)
	if g.line.Len() > 0 {
		g.admit(g.options.Now())
	}
}

func giveBack(held map[string]int, name string) {
	if held[name]--; held[name] == 0 {
		delete(held, name)
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

// HasWaiting tells whether a call has been waiting since before a moment.
func (g *Gate) HasWaiting(before time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line.Len() > 0 && g.line.waiting[0].since.Before(before)
}

// Waiting returns how many calls wait.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line.Len()
}

// hasRoom tells whether a new call is admitted at once. Nobody who waits and is within the share would be: each that gets
// room is admitted.
func (g *Gate) hasRoom(who Who) bool {
	if g.isWithinShare(who) {
		return g.inside < g.places
	}
	return g.line.Len() == 0 && g.hasSpare(who)
}

// hasSpare tells whether a place is free for a call beyond a share. The last one is for others, so that they do not wait
// for a slow call.
func (g *Gate) hasSpare(who Who) bool {
	free := g.places - g.inside
	return free > 1 || free == 1 && who.IsAddress && g.actions[who.Action] < g.share()
}

// isWithinShare tells whether neither the action nor the caller has its share of the places. A share binds only while
// others wait.
func (g *Gate) isWithinShare(who Who) bool {
	return g.actions[who.Action] < g.share() && (who.Caller == "" || g.callers[who.Caller] < g.share())
}

func (g *Gate) share() int { return max(1, g.places-max(1, g.places/left)) }

func (g *Gate) take(who Who) {
	g.inside++
	g.actions[who.Action]++
	g.callers[who.Caller]++
}

// next removes the waiting call whose turn it is: the oldest within its share, else the oldest that a condition admits.
func (g *Gate) next(now time.Time, admits func(*waiter) bool) (*waiter, bool) {
	w, ok := g.line.Next(now, func(w *waiter) bool { return g.isWithinShare(w.who) })
	if !ok {
		w, ok = g.line.Next(now, admits)
	}
	return w, ok
}

// admit admits the next calls, as long as there is room.
func (g *Gate) admit(now time.Time) {
	for g.inside < g.places {
		w, ok := g.next(now, func(w *waiter) bool { return g.hasSpare(w.who) })
		if !ok {
			break
		}
		g.take(w.who)
		w.told <- entry{}
	}
	g.lend(now)
}

// lend gives borrowed places to waiting calls.
func (g *Gate) lend(now time.Time) {
	for g.options.Borrow != nil && g.line.Len() > 0 {
		loan := g.options.Borrow()
		if loan == nil {
			return
		}
		w, ok := g.next(now, nil)
		if !ok {
			loan.GiveBack()
			return
		}
		w.told <- entry{loan: loan}
	}
}
