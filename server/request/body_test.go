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

// TestSlowBody gives a client ten seconds, and then as long as the received bytes allow.
func TestSlowBody(t *testing.T) {
	began := time.Now()
	d := &brought{pieces: []string{"x", strings.Repeat("y", bodyRate), "z"}}
	b := body{stream: d, client: d, length: bodyRate + 2, limit: bodyRate + 2, began: began}
	content, err := b.all(func(int64) error { return nil })
	if err != nil || len(content) != bodyRate+2 {
		t.Fatalf("got %d bytes, %v", len(content), err)
	}
	last := 2 * bodyPatience
	for i, set := range d.set {
		allowed := set.Sub(began)
		if i == 0 && allowed != bodyPatience || allowed < bodyPatience || allowed > bodyPatience+time.Second+time.Millisecond {
			t.Errorf("deadline %d is after %s", i, allowed)
		}
		last = allowed
	}
	if last < bodyPatience+time.Second {
		t.Errorf("after %d bytes the deadline was still %s", len(content)-1, last)
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
