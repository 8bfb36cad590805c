package server

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
)

// bodyBudget bounds the memory that the bodies of requests take together, and those of
// one client, so that nobody can use up what is there for all.
type bodyBudget struct {
	limit int64 // of all
	share int64 // of one client

	mu      sync.Mutex
	held    int64
	clients map[string]int64 // that hold anything
}

// heldBytes is what one request holds of the budget.
type heldBytes struct {
	budget *bodyBudget
	client string
	bytes  int64
}

// newBodyBudget makes the budget of the configuration. Unless that names one, it is an
// eighth of the memory that this process may use, since reading a body takes several
// times its length. A single body always has its place.
func newBodyBudget(c *Config) *bodyBudget {
	limit := int64(c.BodiesLimit)
	if limit == 0 {
		limit = max(bodiesOf(debug.SetMemoryLimit(-1)), 2*int64(c.BodyLimit))
	}
	return &bodyBudget{limit: limit, share: max(limit/2, int64(c.BodyLimit)), clients: map[string]int64{}}
}

// bodiesOf is the budget of a process that may use that much memory.
func bodiesOf(memory int64) int64 {
	const unlimited = 256 << 20
	if memory == math.MaxInt64 {
		return unlimited
	}
	return memory / 8
}

// of begins the account of a request of that client.
func (b *bodyBudget) of(client string) *heldBytes {
	return &heldBytes{budget: b, client: client}
}

var errBudget = errors.New("the bodies of requests take too much memory")

// take takes memory, or refuses the request.
func (h *heldBytes) take(bytes int64) error {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held+bytes > b.limit || b.clients[h.client]+bytes > b.share {
		r := overloaded.with(errBudget)
		r.close = true
		return r
	}
	h.bytes += bytes
	b.held += bytes
	b.clients[h.client] += bytes
	return nil
}

// release gives all back. It may be called on nil, of a request that took nothing.
func (h *heldBytes) release() {
	if h == nil || h.bytes == 0 {
		return
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= h.bytes
	if b.clients[h.client] -= h.bytes; b.clients[h.client] == 0 {
		delete(b.clients, h.client)
	}
	h.bytes = 0
}
