package auth

import (
	"strings"
	"sync"
)

// cache remembers verified tokens, by the whole token. It holds at most size tokens, in
// two generations of half that size. When the younger one is full, the older one is
// dropped. A token in use moves to the younger one.
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

// put remembers a copy of a token: a server reuses the memory of a request after it.
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
