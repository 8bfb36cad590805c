package request

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/refusal"
)

// TestPace takes the reserve of a client that pauses, and refills it by what the client moves.
func TestPace(t *testing.T) {
	began := time.Now()
	now, pace := began, NewPace(5*time.Second, began)
	for i, step := range []struct {
		after time.Duration
		bytes int64
		left  time.Duration // of the reserve
	}{
		{0, 0, 5 * time.Second},
		{4 * time.Second, 0, time.Second},
		{0, paceRate, 2 * time.Second},
		{time.Second, paceRate, 2 * time.Second}, // at the minimum rate
		{time.Second, 1 << 30, 5 * time.Second},  // no more, however quick
		{6 * time.Second, paceRate / 2, -time.Second / 2},
	} {
		now = now.Add(step.after)
		pace.Moved(step.bytes, now)
		if left := pace.Until(0).Sub(now); left != step.left {
			t.Errorf("step %d: %s left, want %s", i, left, step.left)
		}
	}
}

// TestSlowBody gives a client ten seconds for each pause, and five if it sends a file.
func TestSlowBody(t *testing.T) {
	for reserve, isFile := range map[time.Duration]bool{bodyReserve: false, TransferReserve: true} {
		began := time.Now()
		d := &brought{pieces: []string{"x", strings.Repeat("y", paceRate), "z"}}
		b := body{stream: d, client: d, length: paceRate + 2, limit: paceRate + 2, pace: NewPace(bodyReserve, began)}
		if isFile {
			b.IsFile()
		}
		content, err := b.all(func(int64) error { return nil })
		if err != nil || len(content) != paceRate+2 {
			t.Fatalf("got %d bytes, %v", len(content), err)
		}
		for i, set := range d.set {
			if allowed := set.Sub(began); allowed < reserve || allowed > reserve+time.Second {
				t.Errorf("deadline %d is after %s, want %s", i, allowed, reserve)
			}
		}
	}

	late := refusal.Of(brokenBody(&net.OpError{Op: "read", Err: lateError{}}))
	if want := "the input could not be read: it arrived too slowly"; late.Status != http.StatusBadRequest || late.Message != want || !late.Close {
		t.Errorf("got %+v, want %s", late, want)
	}
}

// brought is a connection that notes the deadlines of its reads.
type brought struct {
	net.Conn
	pieces []string
	set    []time.Time
}

func (d *brought) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func (d *brought) Read(p []byte) (int, error) {
	if len(d.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.pieces[0])
	if d.pieces[0] = d.pieces[0][n:]; d.pieces[0] == "" {
		d.pieces = d.pieces[1:]
	}
	return n, nil
}

type lateError struct{}

func (lateError) Error() string { return "too late" }
func (lateError) Timeout() bool { return true }
