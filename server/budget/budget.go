package budget

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"

	"github.com/sternpost/sternpost/server/refusal"
)

// Budget bounds what requests take together of one thing, such as memory, and those of one
// client, so that nobody can use up what is there for all.
type Budget struct {
	Limit   int64            // of all
	share   int64            // of one client
	refused *refusal.Refusal // what a request is answered that gets none

	mu      sync.Mutex
	held    int64
	clients map[string]int64 // that hold anything
}

// Held is what one request holds of a budget.
type Held struct {
	budget *Budget
	client string
	bytes  int64
}

// newBudget makes a budget. Unless one is configured, it is an eighth of the memory that
// this process may use, since what is counted is held in several forms. A single request
// that needs no more than it may always has its place.
func newBudget(configured, single int, cause error) *Budget {
	limit := int64(configured)
	if limit == 0 {
		limit = max(budgetOf(debug.SetMemoryLimit(-1)), 2*int64(single))
	}
	return &Budget{Limit: limit, share: max(limit/2, int64(single)), refused: refusal.Overloaded.With(cause), clients: map[string]int64{}}
}

// ForBodies makes the budget for the bodies of requests.
func ForBodies(limit, single int) *Budget {
	b := newBudget(limit, single, errors.New("the bodies of requests take too much memory"))
	b.refused.Close = true // the body is still arriving
	return b
}

// ForAnswers makes the budget for answers in the making and on their way.
func ForAnswers(limit, single int) *Budget {
	return newBudget(limit, single, errors.New("the answers that are on their way take too much memory"))
}

// transfers is how many files are on their way, unless that is configured.
const transfers = 256

// ForTransfers makes the budget for files that are received and sent at the same time.
func ForTransfers(limit int) *Budget {
	if limit == 0 {
		limit = transfers
	}
	return &Budget{
		Limit: int64(limit), share: max(int64(limit)/2, 1), clients: map[string]int64{},
		refused: refusal.Overloaded.With(errors.New("too many files are received and sent at the same time")),
	}
}

// budgetOf is the budget of a process that may use that much memory.
func budgetOf(memory int64) int64 {
	const unlimited = 256 << 20
	if memory == math.MaxInt64 {
		return unlimited
	}
	return memory / 8
}

// Of begins the account of a request of that client.
func (b *Budget) Of(client string) *Held {
	return &Held{budget: b, client: client}
}

// Take takes memory, or refuses the request.
func (h *Held) Take(bytes int64) error {
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held+bytes > b.Limit || b.clients[h.client]+bytes > b.share {
		r := *b.refused
		return &r
	}
	h.bytes += bytes
	b.held += bytes
	b.clients[h.client] += bytes
	return nil
}

// Release gives all back. It may be called on nil, of a request that took nothing.
func (h *Held) Release() {
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

// InUse returns how many bytes are held.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}
