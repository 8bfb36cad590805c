package gate

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that only tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// client is a client that may leave.
type client struct {
	net.Conn
	hasLeft bool
}

// scene is a gate with callers in a known order.
type scene struct {
	t     *testing.T
	gate  *Gate
	clock *clock

	mu   sync.Mutex
	said []string // the answers to callers, in order
	told chan struct{}

	lent     sync.Mutex
	spare    int    // places that can be borrowed
	borrowed []Loan // by callers, in order
}

// loan is one of them.
type loan struct{ s *scene }

func (l *loan) GiveBack() { l.s.lends(1) }

// lends adds places that can be borrowed.
func (s *scene) lends(more int) {
	s.lent.Lock()
	defer s.lent.Unlock()
	s.spare += more
}

func (s *scene) borrow() Loan {
	s.lent.Lock()
	defer s.lent.Unlock()
	if s.spare == 0 {
		return nil
	}
	s.spare--
	return &loan{s}
}

func newScene(t *testing.T, places, share int) *scene {
	s := &scene{t: t, clock: &clock{now: time.Unix(1000, 0)}, told: make(chan struct{}, 10000)}
	s.gate = New(Options{Places: places, Share: share, Wait: 2 * time.Second, Now: s.clock.Now, Borrow: s.borrow,
		HasLeft: func(c net.Conn) bool { return c.(*client).hasLeft }})
	return s
}

// comes adds a caller, and returns when it is inside or in the queue.
func (s *scene) comes(name, action string, c *client) {
	s.t.Helper()
	before := s.gate.Waiting()
	entered := make(chan struct{})
	go func() {
		var client net.Conn
		if c != nil {
			client = c
		}
		loan, err := s.gate.Enter(action, client, strings.HasPrefix(action, "borrow"))
		outcome := "in"
		if loan != nil {
			outcome = "lent"
		} else if errors.Is(err, ErrOverloaded) {
			outcome = "out"
		} else if errors.Is(err, ErrLeft) {
			outcome = "left"
		}
		s.mu.Lock()
		s.said = append(s.said, name+" "+outcome)
		if loan != nil {
			s.borrowed = append(s.borrowed, loan)
		}
		s.mu.Unlock()
		s.told <- struct{}{}
		close(entered)
	}()
	for s.gate.Waiting() == before {
		select {
		case <-entered:
			return
		case <-time.After(time.Millisecond): // for its turn to run
			if s.gate.Waiting() == s.gate.line.Most { // one leaves as one arrives
				return
			}
		}
	}
}

// expect waits for as many answers as want has, and compares them.
func (s *scene) expect(want ...string) {
	s.t.Helper()
	for range want {
		<-s.told
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.said, ", "); got != strings.Join(want, ", ") {
		s.t.Errorf("got  %s\nwant %s", got, strings.Join(want, ", "))
	}
	s.said = nil
}

func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1, 0)
	for _, name := range []string{"a", "b", "c"} {
		s.comes(name, "act", nil)
	}
	s.expect("a in")
	s.clock.pass(50 * time.Millisecond)
	s.gate.Leave("act")
	s.expect("b in")
	s.gate.Leave("act")
	s.expect("c in")
}

func TestNewestFirstWhenBehind(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1, 0)
	for _, name := range []string{"a", "b", "c"} {
		s.comes(name, "act", nil)
	}
	s.expect("a in")
	s.clock.pass(lagging + time.Millisecond)
	s.comes("d", "act", nil)
	s.gate.Leave("act")
	s.expect("d in")
	s.gate.Leave("act")
	s.expect("c in")
	s.gate.Leave("act")
	s.expect("b in")

	// The queue was empty: it is fair again.
	s.comes("e", "act", nil)
	s.comes("f", "act", nil)
	s.gate.Leave("act")
	s.expect("e in")
	s.gate.Leave("act")
	s.expect("f in")
}

func TestTurnedAway(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1, 0)
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("b", "act", nil)
	s.clock.pass(2*time.Second/hurry - time.Millisecond)
	s.gate.Look()
	for range waiting / long {
		s.comes("later", "act", nil)
	}
	s.clock.pass(2 * time.Millisecond)
	s.gate.Look()
	s.expect("b out")

	// A short queue does not hurry, however long it has existed.
	s.clock.pass(2*time.Second - 3*time.Millisecond)
	s.gate.Look()
	if s.gate.Waiting() != waiting/long {
		t.Errorf("%d wait, want %d", s.gate.Waiting(), waiting/long)
	}
	s.clock.pass(10 * time.Millisecond)
	s.gate.Look()
	s.expect(slices.Repeat([]string{"later out"}, waiting/long)...)
}

// A full queue refuses the call that has waited longest, at once.
func TestFull(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1, 0)
	s.comes("first", "act", nil)
	s.expect("first in")
	for i := range waiting {
		s.comes(fmt.Sprint(i), "act", nil)
	}
	s.comes("last", "act", nil)
	s.expect("0 out")
	if s.gate.Waiting() != waiting {
		t.Errorf("%d wait, want %d", s.gate.Waiting(), waiting)
	}
}

// A caller that has left does not take a place.
func TestLeft(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1, 0)
	gone, still := &client{}, &client{}
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("gone", "act", gone)
	s.comes("still", "act", still)
	gone.hasLeft = true
	s.clock.pass(10 * time.Millisecond)
	s.gate.Leave("act")
	<-s.told
	<-s.told
	s.mu.Lock()
	if got := strings.Join(s.said, ", "); got != "gone left, still in" && got != "still in, gone left" {
		t.Errorf("got %s", got)
	}
	s.said = nil
	s.mu.Unlock()

	other := &client{hasLeft: true}
	s.comes("other", "act", other)
	s.clock.pass(10 * time.Millisecond)
	s.gate.Look()
	s.expect("other left")
}

// One action has no more than its share, even if only its calls wait; others pass it.
func TestShare(t *testing.T) {
	t.Parallel()
	s := newScene(t, 4, 3)
	for _, name := range []string{"slow 1", "slow 2", "slow 3"} {
		s.comes(name, "slow", nil)
		s.expect(name + " in")
	}
	s.comes("slow 4", "slow", nil)
	s.comes("slow 5", "slow", nil)
	s.comes("quick 1", "quick", nil)
	s.expect("quick 1 in")
	s.comes("quick 2", "quick", nil)
	s.gate.Leave("quick")
	s.expect("quick 2 in")
	s.gate.Leave("slow")
	s.expect("slow 4 in")
	s.gate.Leave("quick")
	if s.gate.TryEnter("slow") || s.gate.Waiting() != 1 {
		t.Errorf("a fourth slow call is inside, or %d wait", s.gate.Waiting())
	}
}

// Borrowed places go to callers that may borrow, when the gate has no place for them.
func TestLoans(t *testing.T) {
	t.Parallel()
	s := newScene(t, 2, 1)
	s.lends(1)
	s.comes("a", "borrows", nil)
	s.expect("a in")
	s.comes("b", "borrows", nil) // has its share
	s.expect("b lent")
	s.comes("c", "keeps", nil)
	s.expect("c in")
	s.comes("d", "keeps", nil)
	s.comes("e", "borrows too", nil)
	s.comes("f", "borrows too", nil)

	// A returned loan goes to the first caller that may have it, and to no other.
	s.gate.Return(s.borrowed[0])
	s.expect("e lent")
	s.gate.Leave("keeps")
	s.expect("d in")
	s.lends(1) // without effect until Look
	s.gate.Look()
	s.expect("f lent")
	s.comes("g", "keeps", nil)
	s.gate.Return(s.borrowed[1])
	s.gate.Return(s.borrowed[2])
	if s.spare != 2 || s.gate.Waiting() != 1 {
		t.Errorf("%d to spare and %d wait, want 2 and 1", s.spare, s.gate.Waiting())
	}
	s.gate.Leave("keeps")
	s.expect("g in")
}

// With fewer places fewer calls enter, until there are more again.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := newScene(t, 4, 0)
	s.gate.SetPlaces(1)
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("b", "act", nil)
	s.gate.SetPlaces(0) // one always remains
	s.gate.Leave("act")
	s.expect("b in")
	s.comes("c", "act", nil)
	s.gate.SetPlaces(9)
	s.expect("c in")
	if s.gate.Places() != 4 {
		t.Errorf("%d places, want 4", s.gate.Places())
	}
}

// TestShortQueueIsFair simulates clients that make one call after another, on fewer places: there is always a queue, and
// it moves on every millisecond. Nobody waits longer than a round takes.
func TestShortQueueIsFair(t *testing.T) {
	t.Parallel()
	const clients, places = 16, 6
	now := time.Unix(1000, 0)
	line := &Line[*waiter]{Most: waiting * places, Wait: 2 * time.Second, HasLeft: func(net.Conn) bool { return false }}
	for range clients - places {
		line.Add(&waiter{since: now, told: make(chan entry, 1)}, now)
	}
	worst := time.Duration(0)
	for range 5000 {
		now = now.Add(time.Millisecond)
		line.Add(&waiter{since: now, told: make(chan entry, 1)}, now) // the client of the call that ends
		if w, ok := line.Next(now, nil); ok {
			worst = max(worst, now.Sub(w.since))
		}
		line.Expire(now)
	}
	if line.Len() != clients-places || worst > clients*time.Millisecond {
		t.Errorf("%d wait, want %d; one waited %s, want at most %s", line.Len(), clients-places, worst, clients*time.Millisecond)
	}
}

// TestGoodput simulates an hour of overload: clients give up after 300 ms, and a place
// does 100 calls a second. The number of calls done in time stays near the capacity,
// under any load.
func TestGoodput(t *testing.T) {
	t.Parallel()
	const perTick, most = 4, 300 * time.Millisecond // four places, a call takes a tick of 10 ms
	for _, load := range []int{1, 2, 10} {
		now := time.Unix(1000, 0)
		var line *Line[*waiter]
		line = &Line[*waiter]{Most: waiting * perTick, Wait: 2 * time.Second, HasLeft: func(c net.Conn) bool {
			return c.(*client).hasLeft
		}}
		served, late := 0, 0
		var clients []*waiter
		const ticks = 3000
		for range ticks {
			for range load * perTick {
				w := &waiter{client: &client{}, since: now, told: make(chan entry, 1)}
				clients = append(clients, w)
				line.Add(w, now)
			}
			now = now.Add(10 * time.Millisecond)
			for len(clients) > 0 && now.Sub(clients[0].since) > most {
				clients[0].client.(*client).hasLeft = true
				clients = clients[1:]
			}
			for range perTick {
				w, ok := line.Next(now, nil)
				if !ok {
					break
				}
				if served++; now.Sub(w.since) > most {
					late++
				}
			}
			line.Expire(now)
		}
		if good := served - late; good < ticks*perTick*9/10 {
			t.Errorf("at %d times what can be done: %d of %d done in time, %d late", load, good, ticks*perTick, late)
		}
	}
}
