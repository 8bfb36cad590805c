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

func newScene(t *testing.T, places int) *scene {
	s := &scene{t: t, clock: &clock{now: time.Unix(1000, 0)}, told: make(chan struct{}, 10000)}
	s.gate = New(Options{Places: places, Wait: 2 * time.Second, Now: s.clock.Now, Borrow: s.borrow,
		HasLeft: func(c net.Conn) bool { return c.(*client).hasLeft }})
	return s
}

// whoIs reads "action" or "action of caller".
func whoIs(text string) Who {
	action, caller, _ := strings.Cut(text, " of ")
	return Who{action, caller, strings.Contains(caller, "/")}
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
		loan, err := s.gate.Enter(whoIs(action), client, s.clock.Now())
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
	s := newScene(t, 1)
	for _, name := range []string{"a", "b", "c"} {
		s.comes(name, "act", nil)
	}
	s.expect("a in")
	s.clock.pass(50 * time.Millisecond)
	s.gate.Leave(Who{Action: "act"})
	s.expect("b in")
	s.gate.Leave(Who{Action: "act"})
	s.expect("c in")
}

// A long wait changes nothing: the oldest goes first. A call that has left its place unused keeps its turn.
func TestOldestFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	came := s.clock.Now().Add(-time.Millisecond)
	for _, name := range []string{"a", "b", "c"} {
		s.comes(name, "act", nil)
	}
	s.expect("a in")
	s.clock.pass(time.Second)
	s.comes("d", "act", nil)
	s.gate.Leave(Who{Action: "act"})
	s.expect("b in")
	again := make(chan struct{})
	go func() {
		defer close(again)
		if _, err := s.gate.Enter(Who{Action: "act"}, nil, came); err != nil {
			t.Error(err)
		}
	}()
	for s.gate.Waiting() < 3 {
		time.Sleep(time.Millisecond)
	}
	s.gate.Leave(Who{Action: "act"})
	<-again
	s.gate.Leave(Who{Action: "act"})
	s.expect("c in")
	s.gate.Leave(Who{Action: "act"})
	s.expect("d in")
}

func TestTurnedAway(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("b", "act", nil)
	s.clock.pass(2*time.Second/hurry*9/8 - time.Millisecond) // with the grace of the next one
	s.gate.Look()
	for range waiting / long {
		s.comes("later", "act", nil)
	}
	s.clock.pass(2 * time.Millisecond)
	s.gate.Look()
	s.expect("b out")

	// A short queue does not hurry, however long it has existed. The next one is not refused at once.
	s.clock.pass(2*time.Second - 3*time.Millisecond)
	s.gate.Look()
	if s.gate.Waiting() != waiting/long {
		t.Errorf("%d wait, want %d", s.gate.Waiting(), waiting/long)
	}
	s.clock.pass(10 * time.Millisecond)
	s.gate.Look()
	s.expect(slices.Repeat([]string{"later out"}, waiting/long-1)...)
	s.clock.pass(2 * time.Second / grace)
	s.gate.Look()
	s.expect("later out")
}

// A full queue refuses the youngest call beyond its share, else the new one, at once.
func TestFull(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	s.comes("first", "act", nil)
	s.expect("first in")
	for i := range waiting {
		s.comes(fmt.Sprint(i), "act", nil)
	}
	s.comes("other", "quick", nil)
	s.expect(fmt.Sprint(waiting-1, " out"))
	s.gate.Leave(Who{Action: "act"})
	s.expect("0 in")
	for i := range waiting - 1 {
		s.comes(fmt.Sprint("quick ", i), "quick", nil)
		if i > 0 { // one place was free
			s.expect(fmt.Sprint(waiting-1-i, " out"))
		}
	}
	s.comes("last", "quick", nil)
	s.expect("last out")
}

// A caller that has left does not take a place.
func TestLeft(t *testing.T) {
	t.Parallel()
	s := newScene(t, 1)
	gone, still := &client{}, &client{}
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("gone", "act", gone)
	s.comes("still", "act", still)
	gone.hasLeft = true
	s.clock.pass(10 * time.Millisecond)
	s.gate.Leave(Who{Action: "act"})
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

// One action or caller leaves a place to others, and its waiting calls are passed by those of others.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, slow := range []string{"slow", "slow of ann", "of ann"} {
		name := func(i int) string {
			if slow == "of ann" { // another action each time
				return fmt.Sprint("slow", i, " of ann")
			}
			return slow
		}
		s := newScene(t, 4)
		for i := range 3 {
			s.comes(fmt.Sprint("slow ", i), name(i), nil)
			s.expect(fmt.Sprint("slow ", i, " in"))
		}
		s.comes("slow 3", name(3), nil)
		s.comes("slow 4", name(4), nil)
		s.comes("quick 1", "quick of ben", nil)
		s.expect("quick 1 in")
		s.comes("quick 2", "quick of ben", nil)
		s.gate.Leave(whoIs("quick of ben"))
		s.expect("quick 2 in")
		s.gate.Leave(whoIs(name(0)))
		s.expect("slow 3 in")
		s.gate.Leave(whoIs("quick of ben"))
		if s.gate.TryEnter(whoIs(name(5))) || s.gate.Waiting() != 1 {
			t.Errorf("%s: a fourth slow call is inside, or %d wait", slow, s.gate.Waiting())
		}
	}
}

// While no others wait, an action has all places but one. When others come, it gets no more until it is within its share.
func TestShareBindsWhileOthersWait(t *testing.T) {
	t.Parallel()
	s := newScene(t, 8)
	for i := range 8 {
		s.comes(fmt.Sprint("slow ", i), "slow", nil)
		if i < 7 {
			s.expect(fmt.Sprint("slow ", i, " in"))
		}
	}
	s.comes("quick 0", "quick", nil)
	s.expect("quick 0 in")
	s.comes("quick 1", "quick", nil)
	s.gate.Leave(Who{Action: "slow"})
	s.expect("quick 1 in")
	s.comes("slow 8", "slow", nil)
	s.gate.Leave(Who{Action: "quick"})
	s.gate.Leave(Who{Action: "quick"}) // two places are free
	s.expect("slow 7 in")
}

// Many people may have one address: it is passed by others, and no place is kept free from it.
func TestShareOfAddress(t *testing.T) {
	t.Parallel()
	s := newScene(t, 4)
	for i := range 3 {
		s.comes(fmt.Sprint(i), "slow of ::/64", nil)
		s.expect(fmt.Sprint(i, " in"))
	}
	s.comes("3", "slow of ::/64", nil) // the last place is kept free from the action
	s.comes("4", "quick of ::/64", nil)
	s.expect("4 in")
	s.comes("5", "quick of ::/64", nil)
	s.comes("6", "quick of ann", nil)
	s.gate.Leave(whoIs("quick of ::/64"))
	s.expect("6 in")
}

// Borrowed places go to calls when the gate has no place for them.
func TestLoans(t *testing.T) {
	t.Parallel()
	s := newScene(t, 2)
	s.lends(1)
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("b", "act", nil) // has its share
	s.expect("b lent")
	s.comes("c", "other", nil)
	s.expect("c in")
	s.comes("d", "act", nil)
	s.comes("e", "other", nil)
	s.comes("f", "third", nil)

	// A returned loan goes to the oldest within its share, else to the oldest.
	s.gate.Return(s.borrowed[0])
	s.expect("f lent")
	s.lends(1) // without effect until Look
	s.gate.Look()
	s.expect("d lent")
	s.gate.Leave(Who{Action: "other"})
	s.expect("e in")
	s.gate.Return(s.borrowed[1])
	s.gate.Return(s.borrowed[2])
	if s.spare != 2 || s.gate.Waiting() != 0 {
		t.Errorf("%d to spare and %d wait, want 2 and 0", s.spare, s.gate.Waiting())
	}
}

// With fewer places fewer calls enter, until there are more again.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := newScene(t, 4)
	s.gate.SetPlaces(1)
	s.comes("a", "act", nil)
	s.expect("a in")
	s.comes("b", "act", nil)
	s.gate.SetPlaces(0) // one always remains
	s.gate.Leave(Who{Action: "act"})
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
		line.Add(&waiter{since: now, told: make(chan entry, 1)})
	}
	worst := time.Duration(0)
	for range 5000 {
		now = now.Add(time.Millisecond)
		line.Add(&waiter{since: now, told: make(chan entry, 1)}) // the client of the call that ends
		if w, ok := line.Next(now, nil); ok {
			worst = max(worst, now.Sub(w.since))
		}
		line.Expire(now)
	}
	if line.Len() != clients-places || worst > clients*time.Millisecond {
		t.Errorf("%d wait, want %d; one waited %s, want at most %s", line.Len(), clients-places, worst, clients*time.Millisecond)
	}
}

// TestTenTimesTheLoad simulates clients that do not give up and send ten times what can be done. Whoever is served came
// before all who still wait, and has waited for no longer than the tenth of the wait that a long queue leaves.
func TestTenTimesTheLoad(t *testing.T) {
	t.Parallel()
	const places, wait = 4, 2 * time.Second
	now := time.Unix(1000, 0)
	line := &Line[*waiter]{Most: waiting * places, Wait: wait, Front: places, HasLeft: func(net.Conn) bool { return false }}
	var waits []time.Duration
	last := now
	for range 3000 { // ticks of 10 ms, in which each place does one call
		for range 10 * places {
			now = now.Add(time.Microsecond)
			line.Add(&waiter{since: now, told: make(chan entry, 1)})
		}
		now = now.Add(10 * time.Millisecond)
		line.Expire(now)
		for range places {
			w, ok := line.Next(now, nil)
			if !ok {
				t.Fatal("nobody waits")
			}
			if w.since.Before(last) {
				t.Fatalf("a call of %s is served after one of %s", w.since, last)
			}
			last, waits = w.since, append(waits, now.Sub(w.since))
		}
	}
	if longest := slices.Max(waits); longest > wait/hurry+wait/hurry/grace {
		t.Errorf("one was served after %s", longest)
	}
}

// TestGoodput simulates an hour of overload: clients give up after 300 ms, and a place
// does 50 calls a second. The number of calls done in time stays near the capacity,
// under any load.
func TestGoodput(t *testing.T) {
	t.Parallel()
	const perTick, most, tick = 4, 300 * time.Millisecond, 20 * time.Millisecond // four places, a call takes a tick
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
				line.Add(w)
			}
			now = now.Add(tick)
			for len(clients) > 0 && now.Sub(clients[0].since) > most {
				clients[0].client.(*client).hasLeft = true
				clients = clients[1:]
			}
			for range perTick {
				w, ok := line.Next(now, nil)
				if !ok {
					break
				}
				if served++; now.Sub(w.since)+tick > most {
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
