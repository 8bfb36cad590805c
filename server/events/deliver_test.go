package events

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/queue"
)

// ledger is a database that hands out events once, and notes what becomes of them.
type ledger struct {
	Database
	handout string
	mutex   sync.Mutex
	noted   []string
}

func (l *ledger) QueryRow(statement string, arguments []any, into ...any) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case strings.Contains(statement, "events_lease"):
		if l.handout != "" {
			handout := l.handout
			*into[0].(**string), l.handout = &handout, ""
		}
	case strings.Contains(statement, "events_settle"):
		held := arguments[4].([]int64)
		l.noted = append(l.noted, fmt.Sprintf("settled up to %s, waiting %v, held %v", text(arguments[2].(*int64)), arguments[3], held))
		for i := range held {
			*into[0].(*[]*int64) = append(*into[0].(*[]*int64), &held[i])
		}
	default:
		_, call, _ := strings.Cut(statement, "platform.")
		name, _, _ := strings.Cut(call, "(")
		if strings.HasSuffix(statement, "null)") {
			name += " for good"
		}
		l.noted = append(l.noted, fmt.Sprint(name, " ", arguments[0]))
	}
	return nil
}

func text(n *int64) string {
	if n == nil {
		return "the end"
	}
	return fmt.Sprint(*n)
}

// TestDeliver sends events in the order of each record, and says what becomes of those that fail, that are not answered in
// time, and that wait behind them.
func TestDeliver(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	var mutex sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct{ ID string }
		if err := json.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		switch {
		case strings.HasPrefix(e.ID, "fails"):
			w.WriteHeader(500)
		case strings.HasPrefix(e.ID, "gone"):
			w.WriteHeader(410)
		case strings.HasPrefix(e.ID, "slow"):
			<-released
		}
		mutex.Lock()
		defer mutex.Unlock()
		got = append(got, e.ID)
	}))
	defer server.Close()

	tests := []struct {
		name        string
		events      string // record:id, each of the next seq; "waits" or "deep" behind it
		concurrency int
		sent        string
		noted       []string
	}{
		{name: "all", events: "a:1 b:2 a:3", concurrency: 1, sent: "1 2 3", noted: []string{"settled up to the end, waiting [], held []"}},
		{name: "behind a failure", events: "a:fails b:2 a:3", concurrency: 1, sent: "2 fails",
			noted: []string{"settled up to the end, waiting [3], held [1]", "task_failed 1"}},
		{name: "behind a task", events: "a:1:waits b:2 a:3:waits", concurrency: 1, sent: "2", noted: []string{"settled up to the end, waiting [1 3], held []"}},
		{name: "an address that wants no more", events: "a:gone", concurrency: 1, sent: "gone",
			noted: []string{"settled up to the end, waiting [], held [1]", "events_stop tell", "task_failed 1"}},
		{name: "a chain", events: "a:1:deep", concurrency: 1, noted: []string{"settled up to the end, waiting [], held [1]", "task_failed for good 1"}},
		{name: "not in time", events: "a:slow b:2 a:3", concurrency: 2, sent: "2 slow",
			noted: []string{"settled up to the end, waiting [3], held [1]", "task_done 1"}},
		{name: "no room", events: "a:slow b:2 c:3", concurrency: 1, sent: "slow",
			noted: []string{"settled up to 1, waiting [], held [1]", "task_done 1"}},
	}
	for _, test := range tests {
		mutex.Lock()
		got, released = nil, make(chan struct{})
		mutex.Unlock()
		var events []string
		for i, word := range strings.Fields(test.events) {
			parts := append(strings.Split(word, ":"), "")
			depth := 0
			if parts[2] == "deep" {
				depth = 16
			}
			events = append(events, fmt.Sprintf(`{"seq":%d,"record":%q,"depth":%d,"waits":%t,"event":{"id":%q}}`, i+1, parts[0], depth, parts[2] == "waits", parts[1]))
		}
		l := &ledger{handout: `{"read":9,"last":null,"lease":"now","events":[` + strings.Join(events, ",") + `]}`}
		e := New(Options{
			DB: l, Process: func() *int32 { return nil }, Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
			Webhooks: []config.Subscriber{{Name: "tell", URL: server.URL, Timeout: time.Minute, MaxAttempts: 12, Concurrency: test.concurrency, AllowPrivate: true}},
		})
		e.Queues(queue.Options{DB: l})
		if err := e.deliverFor(t.Context(), e.webhooks["tell"]); err != nil {
			t.Error(err)
		}
		close(released)
		e.webhooks["tell"].slots <- struct{}{} // the last one has ended
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			l.mutex.Lock()
			isNoted := len(l.noted) == len(test.noted)
			l.mutex.Unlock()
			if isNoted {
				break
			}
		}
		slices.Sort(got)
		if sent := strings.Join(got, " "); sent != test.sent || !slices.Equal(l.noted, test.noted) {
			t.Errorf("%s: sent %q, want %q; noted\n%s\nwant\n%s", test.name, sent, test.sent, strings.Join(l.noted, "\n"), strings.Join(test.noted, "\n"))
		}
	}
}
