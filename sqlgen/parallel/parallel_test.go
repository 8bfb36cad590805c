package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/parallel"
)

func TestEachCallsOncePerItem(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1000} {
		calls, items := make([]atomic.Int64, n), make([]int, n)
		for i := range items {
			items[i] = i
		}
		parallel.Each(items, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("item %d of %d: %d calls, want 1", i, n, got)
			}
		}
	}
}

// Each waits for the other, so they end only if they run at the same time.
func TestDoRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	a, b := make(chan struct{}), make(chan struct{})
	parallel.Do(
		func() { close(a); <-b },
		func() { close(b); <-a },
	)
}

func TestPanicIsRaisedInTheCaller(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "a mistake" {
			t.Errorf("raised %v, want the panic of the work", got)
		}
	}()
	parallel.Each([]int{1, 2, 3}, func(i int) {
		if i == 2 {
			panic("a mistake")
		}
	})
	t.Error("the caller goes on")
}
