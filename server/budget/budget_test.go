package budget

import (
	"fmt"
	"math"
	"testing"
)

func TestBodyBudget(t *testing.T) {
	t.Parallel()
	b := ForBodies(1000, 100)
	ann, ben, cem := b.Of("ann"), b.Of("ben"), b.Of("cem")
	for _, step := range []struct {
		who   *Held
		bytes int64
		taken bool
	}{
		{ann, 400, true}, {ann, 101, false}, {ann, 100, true}, {b.Of("ann"), 1, false},
		{ben, 400, true}, {cem, 101, false}, {cem, 100, true}, {ben, 1, false},
	} {
		if err := step.who.Take(step.bytes); (err == nil) != step.taken {
			t.Errorf("%s takes %d of %d: got %v, want %t", step.who.counts[0].name, step.bytes, b.held, err, step.taken)
		}
	}
	for _, h := range []*Held{ann, ben, cem, nil} {
		h.Release()
		h.Release()
	}
	if b.held != 0 || len(b.clients) != 0 {
		t.Errorf("in the end %d are held, by %v", b.held, b.clients)
	}
	for memory, want := range map[int64]int64{math.MaxInt64: 256 << 20, 512 << 20: 64 << 20} {
		if got := budgetOf(memory); got != want {
			t.Errorf("of %d: got %d, want %d", memory, got, want)
		}
	}
}

// TestNetworks has clients in one network of IPv6, each within its own share.
func TestNetworks(t *testing.T) {
	t.Parallel()
	b := ForTransfers(320) // 20 for a client
	var held []*Held
	take := func(format string, n int) (taken int) {
		for i := range n {
			h := b.Of(fmt.Sprintf(format, i))
			held = append(held, h)
			for h.Take(1) == nil {
				taken++
			}
		}
		return taken
	}
	for _, c := range []struct {
		what, format string
		clients      int
		want         int
	}{
		{"addresses of IPv4", "192.0.2.%d", 3, 60},
		{"networks of a /56", "2001:db8:1:%x::/64", 6, 80},
		{"another /56 of the /48", "2001:db8:1:1%02x::/64", 6, 80},
		{"another /48", "2001:db8:2:%x::/64", 6, 80},
	} {
		if got := take(c.format, c.clients); got != c.want {
			t.Errorf("%s: took %d, want %d", c.what, got, c.want)
		}
	}
	for _, h := range held {
		h.Release()
	}
	if b.held != 0 || len(b.clients) != 0 {
		t.Errorf("in the end %d are held, by %v", b.held, b.clients)
	}
}
