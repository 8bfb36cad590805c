package live

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/refusal"
)

const (
	senders          = 4                // goroutines that write to streams, as far as the system takes it at once
	heartbeatSeconds = 15               // between two comments
	slowLimit        = 15 * time.Second // for a client to take what it was sent
	spread           = 5 * time.Second  // over which clients come back
)

// Stream is a connection that follows answers. While nothing changes, it has no buffers.
type Stream struct {
	hub      *Hub
	client   net.Conn
	head     []byte // of the response; nil once it is sent
	caller   string // that it counts for
	identity string
	token    string
	expires  time.Time // zero means never
	turn     int       // when it is sent a comment
	subs     []*subscription
	beats    bool             // a comment is to be sent
	ended    *refusal.Refusal // why it ends; nil means that it goes on
	saidWhy  bool
	isSent   bool // it is in the queue of the senders, or written to
	isClosed bool
}

// watch notices when the client leaves.
func (s *Stream) watch() {
	if c, ok := s.client.(*listener.Connection); ok {
		c.Stream(s.close)
	}
}

// close ends a stream without a word.
func (s *Stream) close() {
	h := s.hub
	unlock := h.lock()
	if s.isClosed {
		unlock()
		return
	}
	s.isClosed = true
	delete(h.streams, s)
	if h.callers[s.caller]--; h.callers[s.caller] == 0 {
		delete(h.callers, s.caller)
	}
	for _, sub := range s.subs {
		h.unsubscribe(sub)
	}
	unlock()
	_ = s.client.Close()
}

// send has what is new written to a stream.
func (h *Hub) send(s *Stream) {
	if !s.isSent && !s.isClosed {
		s.isSent = true
		h.outgoing = append(h.outgoing, s)
		h.sends.Signal()
	}
}

// end ends a stream, and says why.
func (h *Hub) end(s *Stream, why *refusal.Refusal) {
	if s.ended == nil {
		s.ended = why
		h.send(s)
	}
}

// EndAll ends all streams: another release is served.
func (h *Hub) EndAll() {
	defer h.lock()()
	for s := range h.streams {
		h.end(s, &refusal.Unavailable)
	}
}

// Stop ends all streams and refuses new ones. It waits until they are ended, at most for a while.
func (h *Hub) Stop(most time.Duration) {
	unlock := h.lock()
	h.isOver = true
	unlock()
	h.EndAll()
	for until := time.Now().Add(most); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		unlock := h.lock()
		isDone := len(h.streams) == 0
		unlock()
		if isDone {
			return
		}
	}
}

// sendAll writes to the streams that have something new, as long as the server runs.
func (h *Hub) sendAll() {
	for {
		h.mutex.Lock()
		for len(h.outgoing) == 0 && !h.isEnded {
			h.sends.Wait()
		}
		if h.isEnded {
			h.mutex.Unlock()
			return
		}
		s := h.outgoing[0]
		h.outgoing = h.outgoing[1:]
		h.mutex.Unlock()
		out := s.gather()
		if sent := listener.TryWrite(s.client, out); sent < len(out) {
			go s.sendSlowly(out[sent:])
			continue
		}
		s.settle()
	}
}

// sendSlowly writes to a client that does not take everything at once. What changes meanwhile waits, and is sent once.
func (s *Stream) sendSlowly(out []byte) {
	_ = s.client.SetWriteDeadline(time.Now().Add(slowLimit))
	if _, err := s.client.Write(out); err != nil {
		s.close()
		return
	}
	_ = s.client.SetWriteDeadline(time.Time{})
	s.settle()
}

// gather returns what is new for a stream.
func (s *Stream) gather() []byte {
	var all []news
	unlock := s.hub.lock()
	out := s.head
	s.head = nil
	if s.beats {
		s.beats = false
		out = append(out, ":\n\n"...)
	}
	ended := s.ended
	s.saidWhy = ended != nil
	for _, sub := range s.subs {
		if sub.next != nil && ended == nil {
			all = append(all, news{sub, sub.next, sub.version, sub.isNew})
			sub.version, sub.isNew, sub.next = sub.next.version, false, nil
		}
	}
	unlock()
	for _, n := range all {
		before := len(out)
		if out = n.event(out); len(out) > before {
			s.hub.events.Inc()
		}
	}
	if ended != nil {
		out = append(out, "retry: "...)
		out = strconv.AppendInt(out, 1+rand.Int64N(spread.Milliseconds()), 10)
		out = append(out, "\nevent: end\ndata: "...)
		out = append(append(out, ended.Envelope()...), "\n\n"...)
	}
	return out
}

// settle notes that a stream was written to. If it was ended, it is closed; if something is new, it is written to again.
func (s *Stream) settle() {
	unlock := s.hub.lock()
	if s.saidWhy {
		unlock()
		s.close()
		return
	}
	s.isSent = false
	if s.beats || slices.ContainsFunc(s.subs, func(sub *subscription) bool { return sub.next != nil }) {
		s.hub.send(s)
	}
	unlock()
}
