package server

import (
	"context"
	"testing"
	"time"
)

// A patience serves many waits, and each has its own time.
func TestPatience(t *testing.T) {
	t.Parallel()
	p := &patience{Context: context.Background(), done: make(chan struct{})}
	for _, looks := range []int{0, 1, 2} { // of the timer, during a wait and after it
		p.begin(time.Hour)
		for range looks {
			p.look()
		}
		if p.Err() != nil || p.fires.IsZero() {
			t.Fatalf("after %d looks: got %v, with a timer until %v", looks, p.Err(), p.fires)
		}
		if !p.endsInTime() {
			t.Fatal("the wait was too long")
		}
		p.look()
		if p.Err() != nil || !p.fires.IsZero() {
			t.Fatalf("without a wait: got %v, with a timer until %v", p.Err(), p.fires)
		}
	}
	p.begin(time.Hour)
	p.endsInTime()
	p.begin(time.Millisecond) // sooner than the timer of the wait before
	<-p.Done()
	if p.Err() != context.DeadlineExceeded || p.endsInTime() {
		t.Errorf("after too long a wait: got %v", p.Err())
	}
}
