package server

import (
	"sync"
	"time"
)

// sampleInterval is how often one cause of failed requests is logged as a warning.
const sampleInterval = time.Second

// mostCauses bounds what is remembered of causes.
const mostCauses = 256

// sampler keeps an outage from filling the log: of each cause it lets one line through in
// a second, with the number of those before it that were not.
type sampler struct {
	mu     sync.Mutex
	causes map[string]*sampled
}

type sampled struct {
	logged time.Time
	more   int // since then
}

// takes tells whether a line is to be logged, and how many of its cause were not since the
// last one.
func (s *sampler) takes(cause string, now time.Time) (isTaken bool, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.causes[cause]
	if c == nil {
		if s.causes == nil || len(s.causes) >= mostCauses {
			s.causes = map[string]*sampled{}
		}
		s.causes[cause] = &sampled{logged: now}
		return true, 0
	}
	if now.Sub(c.logged) < sampleInterval {
		c.more++
		return false, 0
	}
	more = c.more
	c.logged, c.more = now, 0
	return true, more
}
