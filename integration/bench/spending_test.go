package bench

import (
	"testing"
	"time"
)

func TestSpendingSince(t *testing.T) {
	t.Parallel()
	before := spending{1: time.Second, 2: 3 * time.Second}
	for _, test := range []struct {
		after   spending
		spent   time.Duration
		isWhole bool
	}{
		{spending{1: 2 * time.Second, 2: 3 * time.Second}, time.Second, true},
		{spending{1: time.Second, 2: 3 * time.Second, 3: 2 * time.Second}, 2 * time.Second, true},
		{spending{1: 2 * time.Second}, 0, false},
		{spending{1: 2 * time.Second, 3: 4 * time.Second}, 0, false},
	} {
		if spent, isWhole := test.after.since(before); spent != test.spent || isWhole != test.isWhole {
			t.Errorf("%v since %v: got %v, %t, want %v, %t", test.after, before, spent, isWhole, test.spent, test.isWhole)
		}
	}
}
