package budget

import (
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
			t.Errorf("%s takes %d of %d: got %v, want %t", step.who.client, step.bytes, b.held, err, step.taken)
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
