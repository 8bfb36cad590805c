package listener

import (
	"net"
	"slices"
	"testing"
	"time"
)

// setter notes the deadlines of a socket.
type setter struct {
	net.Conn
	reads, writes []time.Time
}

func (s *setter) RemoteAddr() net.Addr               { return &net.UnixAddr{} }
func (s *setter) Read(b []byte) (int, error)         { return len(b), nil }
func (s *setter) SetReadDeadline(t time.Time) error  { s.reads = append(s.reads, t); return nil }
func (s *setter) SetWriteDeadline(t time.Time) error { s.writes = append(s.writes, t); return nil }

func TestDeadlines(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	for _, test := range []struct {
		name        string
		wanted, set []time.Time
	}{
		{"none", []time.Time{{}}, nil},
		{"one", []time.Time{start}, []time.Time{start}},
		{"the same", []time.Time{start, start}, []time.Time{start}},
		{"a little later", []time.Time{start, at(slack - 1)}, []time.Time{start}},
		{"later in small steps", []time.Time{start, at(slack - 1), at(slack), at(2*slack - 1)}, []time.Time{start, at(slack)}},
		{"earlier", []time.Time{start, at(-1)}, []time.Time{start, at(-1)}},
		{"no longer one", []time.Time{start, {}}, []time.Time{start, {}}},
		{"after none", []time.Time{{}, start}, []time.Time{start}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &setter{}
			c := New(nil, Limits{}, nil).Wrap(s)
			for _, wanted := range test.wanted {
				c.SetReadDeadline(start.Add(-time.Hour)) // nothing is read before the next
				c.SetReadDeadline(wanted)
				c.SetWriteDeadline(wanted)
				c.Read(make([]byte, 1))
			}
			if !equal(s.reads, test.set) {
				t.Errorf("for reading: got %v, want %v", s.reads, test.set)
			}
			if !equal(s.writes, test.set) {
				t.Errorf("for writing: got %v, want %v", s.writes, test.set)
			}
		})
	}
}

func equal(a, b []time.Time) bool {
	return slices.EqualFunc(a, b, time.Time.Equal)
}
