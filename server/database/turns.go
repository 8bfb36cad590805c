package database

import (
	"sync"
	"time"

	"github.com/sternpost/sternpost/server/gate"
)

// turns lets calls go one at a time that would wait for each other in circles: a call that is repeated after a deadlock,
// and, after two deadlocks within a contention, all calls of the actions that have lost one. Postgres finds a deadlock
// after a second, in which one call at a time would have done far more.
type turns struct {
	gate *gate.Gate // with one place

	mu      sync.Mutex
	last    time.Time       // of the deadlocks
	actions map[string]bool // that have lost calls to deadlocks, no two of them a contention apart
	until   time.Time       // their calls take the turn
}

// contention is how long a deadlock counts.
const contention = 10 * time.Second

// lose notes that a call of an action has been ended to resolve a deadlock.
func (t *turns) lose(action string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.last) < contention {
		t.until = now.Add(contention)
	} else {
		clear(t.actions)
	}
	t.last, t.actions[action] = now, true
}

// isContended tells whether the calls of an action take the turn.
func (t *turns) isContended(action string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.until) && t.actions[action]
}
