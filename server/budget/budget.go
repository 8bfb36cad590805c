package budget

import (
	"errors"
	"math"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/sternpost/sternpost/server/refusal"
)

// Budget limits one resource, such as memory, for all requests together and for those of
// one client, so that no client can use up all of it.
type Budget struct {
	Limit   int64            // of all
	share   int64            // of one client
	refused *refusal.Refusal // the answer to a request that gets none

	mu      sync.Mutex
	held    int64
	clients map[string]int64 // clients with a share, and their larger networks
}

// Held is the share of one request in a budget.
type Held struct {
	budget *Budget
	counts []count // what it counts for
	bytes  int64
}

// count is a client or a network of clients, and how many shares it has.
type count struct {
	name   string
	shares int64
}

// countsOf returns a client and, if it is a network of 64 bits of IPv6, the larger ones of which a provider gives out
// whole: they have 256 and 65,536 such clients.
func countsOf(client string) []count {
	counts := []count{{client, 1}}
	if network, err := netip.ParsePrefix(client); err == nil && network.Addr().Is6() && network.Bits() == 64 {
		for _, larger := range []struct {
			bits   int
			shares int64
		}{{56, 4}, {48, 16}} {
			of, _ := network.Addr().Prefix(larger.bits) // shorter than 128
			counts = append(counts, count{of.String(), larger.shares})
		}
	}
	return counts
}

// newBudget makes a budget. The default is an eighth of the memory that this process may
// use, since the counted data exists in several forms. A single request of at most single
// bytes always has its place.
func newBudget(configured, single int, cause error) *Budget {
	limit := int64(configured)
	if limit == 0 {
		limit = max(budgetOf(debug.SetMemoryLimit(-1)), 2*int64(single))
	}
	return &Budget{Limit: limit, share: max(limit/2, int64(single)), refused: refusal.Overloaded.With(cause), clients: map[string]int64{}}
}

// ForBodies makes the budget for the bodies of requests.
func ForBodies(limit, single int) *Budget {
	b := newBudget(limit, single, errors.New("request bodies use too much memory (limits.bodies)"))
	b.refused.Close = true // the body is still arriving
	return b
}

// ForAnswers makes the budget for answers in preparation and in flight.
func ForAnswers(limit, single int) *Budget {
	return newBudget(limit, single, errors.New("responses in progress use too much memory"))
}

// transfers is the default number of files in flight.
const transfers = 256

// ForTransfers makes the budget for files that are received at the same time, or for those that are sent. A client has a
// sixteenth, since few clients that take nothing could otherwise keep all places.
func ForTransfers(limit int) *Budget {
	if limit == 0 {
		limit = transfers
	}
	return &Budget{
		Limit: int64(limit), share: max(int64(limit)/16, 1), clients: map[string]int64{},
		refused: refusal.Overloaded.With(errors.New("too many files are transferred at the same time (limits.transfers)")),
	}
}

// budgetOf returns the budget of a process with that much memory.
func budgetOf(memory int64) int64 {
	const unlimited = 256 << 20
	if memory == math.MaxInt64 {
		return unlimited
	}
	return memory / 8
}

// Of begins the account of a request by a client.
func (b *Budget) Of(client string) *Held {
	return &Held{budget: b, counts: countsOf(client)}
}

// Take takes memory, or refuses the request.
func (h *Held) Take(bytes int64) error {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	isOver := func(c count) bool { return b.clients[c.name]+bytes > c.shares*b.share }
	if b.held+bytes > b.Limit || slices.ContainsFunc(h.counts, isOver) {
		r := *b.refused
		return &r
	}
	h.bytes += bytes
	b.held += bytes
	for _, c := range h.counts {
		b.clients[c.name] += bytes
	}
	return nil
}

// Release returns everything. It may be called on nil, for a request that took nothing.
func (h *Held) Release() {
	if h == nil || h.bytes == 0 {
		return
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= h.bytes
	for _, c := range h.counts {
		if b.clients[c.name] -= h.bytes; b.clients[c.name] == 0 {
			delete(b.clients, c.name)
		}
	}
	h.bytes = 0
}

// InUse returns how many bytes are held.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}
