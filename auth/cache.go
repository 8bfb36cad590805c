package auth

import (
	"strings"
	"sync"
)

// cache remembers verified tokens, by the whole token. It holds at most size of
// them: two generations of half that many. The older one is dropped when the
// younger is full. What is in use moves to the younger one.
type cache struct {
	half         int
	mutex        sync.RWMutex
	young, older map[string]verification
}

func newCache(size int) *cache {
	return &cache{half: size / 2, young: map[string]verification{}}
}

func (c *cache) get(token string) (verification, bool) {
	c.mutex.RLock()
	v, isYoung := c.young[token]
	isOlder := false
	if !isYoung {
		v, isOlder = c.older[token]
	}
	c.mutex.RUnlock()
	if isOlder {
		c.put(token, v)
	}
	return v, isYoung || isOlder
}

// put remembers a copy of a token: what a server hands out of a request is reused
// after it.
func (c *cache) put(token string, v verification) {
	if c.half == 0 {
		return
	}
	token = strings.Clone(token)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.young) >= c.half {
		c.young, c.older = make(map[string]verification, c.half), c.young
	}
	c.young[token] = v
}
