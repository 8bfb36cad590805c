package server

import (
	"sync"
	"time"
)

// sampleInterval is how often one cause of failed requests is logged as a warning.
const sampleInterval = time.Second

// mostCauses limits the remembered causes.
const mostCauses = 256

// sampler keeps an outage from filling the log. It passes one line a second for each
// cause, with the number of suppressed lines before it.
type sampler struct {
	mu     sync.Mutex
	causes map[string]*sampled
}

type sampled struct {
	logged time.Time
	more   int // suppressed since then
}

// takes tells whether to log a line, and how many lines of its cause were suppressed since
// the last one.
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
