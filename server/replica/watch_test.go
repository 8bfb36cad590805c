package replica

import (
	"log/slog"
	"testing"
	"time"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Position{"0/0": 0, "0/1": 1, "16/B374D848": 0x16B374D848, "FFFFFFFF/FFFFFFFF": 1<<64 - 1} {
		got, err := ParsePosition(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "/", "1/", "/1", "1/1/1", "g/1", "100000000/1", "-1/1", " 1/1"} {
		if got, err := ParsePosition(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// The lag of a replica is the time since the primary was at the replica's current position, for any distance in
// bytes. It does not grow while the primary's position is unknown.
func TestLag(t *testing.T) {
	t.Parallel()
	w := New(Options{Replicas: []Replica{{Name: "a"}}, MaxLag: 5 * time.Second, Log: slog.New(slog.DiscardHandler)})
	r, start := w.all[0], time.Now().Add(-time.Minute)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	primary := func(seconds int, p Position) {
		w.primary.asked.Store(at(seconds).UnixNano())
		r.expect(mark{at(seconds), p})
	}
	state := func(p Position) *state {
		return &state{asked: time.Now(), position: p, release: 1, caughtUp: r.reach(p)}
	}
	if why := state(100).why(w, time.Now()); why != isNew {
		t.Errorf("before the primary is known: got %q", why)
	}
	primary(1, 100)
	if s := state(100); s.why(w, time.Now()) != "" || s.lag(w) != 0 {
		t.Errorf("caught up: got %q, lag %s", s.why(w, time.Now()), s.lag(w))
	}
	for second := 2; second <= 8; second++ {
		primary(second, Position(100*second))
	}
	if s := state(300); s.lag(w) != 5*time.Second || s.why(w, time.Now()) != "" {
		t.Errorf("at the mark of the third second: lag %s, left out %q", s.lag(w), s.why(w, time.Now()))
	}
	if s := state(299); s.lag(w) != 5*time.Second { // it does not go back
		t.Errorf("lag %s", s.lag(w))
	}
	primary(9, 900)
	if s := state(300); s.why(w, time.Now()) == "" {
		t.Error("a replica is used that is six seconds behind")
	}
	if s := state(900); s.lag(w) != 0 || s.why(w, time.Now()) != "" {
		t.Errorf("caught up again: lag %s, left out %q", s.lag(w), s.why(w, time.Now()))
	}
	// A replica that falls behind for hours has few marks, and is seen to catch up.
	for i := range 10 * mostMarks {
		primary(10+i, Position(1000+i))
	}
	if len(r.marks) > mostMarks {
		t.Errorf("%d marks are kept", len(r.marks))
	}
	if s := state(Position(1000 + 10*mostMarks)); s.lag(w) != 0 {
		t.Errorf("caught up after hours: lag %s", s.lag(w))
	}
	// Another primary: the state of the old one is ignored.
	r.forget()
	w.primary.floor.Store(50000)
	if why := state(900).why(w, time.Now()); why != isNew {
		t.Errorf("after a promotion: got %q", why)
	}
	if s := state(60000); s.why(w, time.Now().Add(2*staleness)) != "it does not answer" {
		t.Errorf("without an answer: got %q", s.why(w, time.Now().Add(2*staleness)))
	}
}

// The next replica in turn that is far enough and holds the release answers.
func TestNext(t *testing.T) {
	t.Parallel()
	w := New(Options{Replicas: make([]Replica, 3), MaxLag: time.Minute, Log: slog.New(slog.DiscardHandler)})
	now := time.Now()
	w.primary.asked.Store(now.UnixNano())
	for i, r := range w.all {
		r.state.Store(&state{asked: now, position: Position(100 * (i + 1)), release: 7, caughtUp: now})
	}
	for _, test := range []struct {
		position Position
		release  int64
		want     map[int]bool
	}{
		{0, 7, map[int]bool{0: true, 1: true, 2: true}}, {100, 7, map[int]bool{0: true, 1: true, 2: true}},
		{101, 7, map[int]bool{1: true, 2: true}}, {300, 7, map[int]bool{2: true}}, {301, 7, map[int]bool{-1: true}}, {0, 8, map[int]bool{-1: true}},
	} {
		got := map[int]bool{}
		for range 6 {
			got[w.next(test.position, test.release)] = true
		}
		if len(got) != len(test.want) {
			t.Errorf("%v of release %d: got %v, want %v", test.position, test.release, got, test.want)
		}
		for i := range got {
			if !test.want[i] {
				t.Errorf("%v of release %d: got %d, want one of %v", test.position, test.release, i, test.want)
			}
		}
	}
	if len(w.all[0].wanted) != 1 {
		t.Error("a replica that was behind is not asked again")
	}
}
