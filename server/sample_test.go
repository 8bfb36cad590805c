package server

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSampler(t *testing.T) {
	t.Parallel()
	var s sampler
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		cause string
		after time.Duration
		want  string
	}{
		{"away", 0, "true 0"},
		{"away", 10 * time.Millisecond, "false 0"},
		{"full", 0, "true 0"},
		{"away", 500 * time.Millisecond, "false 0"},
		{"away", time.Second, "true 2"},
		{"away", 0, "false 0"},
		{"full", 0, "true 0"},
		{"away", time.Hour, "true 1"},
	} {
		now = now.Add(step.after)
		isTaken, more := s.takes(step.cause, now)
		if got := fmt.Sprint(isTaken, " ", more); got != step.want {
			t.Errorf("step %d: got %s, want %s", i, got, step.want)
		}
	}
	for i := range 2 * mostCauses {
		s.takes(fmt.Sprint(i), now)
	}
	if len(s.causes) > mostCauses {
		t.Errorf("%d causes are remembered, want at most %d", len(s.causes), mostCauses)
	}
}

// TestOutageIsSampled fails many calls for one cause: the log has few warnings of it.
func TestOutageIsSampled(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	d.exec(t, "alter sequence functions.attempt restart")
	began := time.Now()
	const calls = 100
	for range calls {
		if status, _ := s.post(t, "fail", `{"code":"53100"}`); status != 503 {
			t.Fatalf("got %d, want 503", status)
		}
	}
	most := int(time.Since(began)/sampleInterval) + 1
	if got := strings.Count(s.log.String(), `"level":"WARN","msg":"request"`); got < 1 || got > most {
		t.Errorf("%d calls that failed for one cause made %d warnings, want at most %d", calls, got, most)
	}
}
