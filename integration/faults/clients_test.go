package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The possible answers to a write.
type told int

const (
	acknowledged told = iota
	unknown           // the answer says so, or there was none
	refused           // it was not carried out
)

// clients write orders of two lines each, and remember the answers.
type clients struct {
	urls func() []string
	http *http.Client
	stop chan struct{}
	all  sync.WaitGroup

	mu      sync.Mutex
	told    map[string]told
	acks    []ack
	strange []string // answers that nobody foresaw
}

// ack is the time at which an acknowledged write was sent, and that of its answer.
type ack struct{ sent, answered time.Time }

// writers is the number of writing clients. Every other one sends an Idempotency-Key, and
// sends a write again, to another server, until it is acknowledged.
const writers = 8

// newClients begins to write.
func newClients(urls func() []string) *clients {
	c := &clients{
		urls: urls, stop: make(chan struct{}), told: map[string]told{},
		http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: writers}},
	}
	for writer := range writers {
		c.all.Go(func() {
			for n := 0; !c.isStopped(); n++ {
				c.write(writer, fmt.Sprintf("%d of %d", n, writer), writer%2 == 0)
			}
		})
	}
	return c
}

func (c *clients) isStopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// end ends the writing.
func (c *clients) end() {
	close(c.stop)
	c.all.Wait()
	c.http.CloseIdleConnections()
}

// write writes one order. With a key it is sent until it is acknowledged, or all ends.
func (c *clients) write(writer int, number string, hasKey bool) {
	body := fmt.Sprintf(`{"number":%q,"lines":[{"item":"a"},{"item":"b"}]}`, number)
	for try := 0; ; try++ {
		urls := c.urls()
		sent := time.Now()
		got, strange := c.send(urls[(writer+try)%len(urls)], body, number, hasKey)
		c.mu.Lock()
		if before, isAgain := c.told[number]; !isAgain || before != unknown || got == acknowledged {
			c.told[number] = got // once unknown, a refusal of a repetition tells nothing
		}
		if got == acknowledged {
			c.acks = append(c.acks, ack{sent, time.Now()})
		}
		if strange != "" {
			c.strange = append(c.strange, strange)
		}
		c.mu.Unlock()
		if got != acknowledged {
			time.Sleep(20 * time.Millisecond)
		}
		if got == acknowledged || !hasKey || c.isStopped() {
			return
		}
	}
}

// send sends one order to one server. An unforeseen answer is strange.
func (c *clients) send(url, body, number string, hasKey bool) (got told, strange string) {
	request, err := http.NewRequest("POST", url+"/api/json/place", strings.NewReader(body))
	if err != nil {
		return unknown, err.Error()
	}
	if hasKey {
		request.Header.Set("Idempotency-Key", number)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if strings.Contains(err.Error(), "connection refused") {
			return refused, ""
		}
		return unknown, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var refusal struct{ Code string }
	_ = json.Unmarshal(text, &refusal)
	switch {
	case err != nil:
		return unknown, ""
	case response.StatusCode == http.StatusOK:
		return acknowledged, ""
	case refusal.Code == "ERR_OUTCOME_UNKNOWN":
		return unknown, ""
	case refusal.Code == "ERR_UNAVAILABLE", refusal.Code == "ERR_TIMEOUT":
		return refused, ""
	}
	return unknown, fmt.Sprintf("%d %s", response.StatusCode, text)
}

// acknowledgedAfter tells whether a write that was sent after a moment was acknowledged, and how
// long after it the answer came.
func (c *clients) acknowledgedAfter(moment time.Time) (after time.Duration, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.acks {
		if a.sent.After(moment) && (!is || a.answered.Sub(moment) < after) {
			after, is = a.answered.Sub(moment), true
		}
	}
	return after, is
}

// slowest is the longest that an acknowledged write took.
func (c *clients) slowest() (longest time.Duration) {
	for _, a := range c.acks {
		longest = max(longest, a.answered.Sub(a.sent))
	}
	return longest
}

// waited counts the acknowledged writes that took longer than an undisturbed one.
func (c *clients) waited() (count int) {
	for _, a := range c.acks {
		if a.answered.Sub(a.sent) > long {
			count++
		}
	}
	return count
}

// long is the time of a write that has waited for something.
const long = 250 * time.Millisecond

// silence is the longest time without an acknowledged write.
func (c *clients) silence() (longest time.Duration) {
	for i := 1; i < len(c.acks); i++ {
		longest = max(longest, c.acks[i].answered.Sub(c.acks[i-1].answered))
	}
	return longest
}

// compare compares the answers to clients with the stored rows.
func (c *clients) compare(b testing.TB, r *result, conn *pgx.Conn) {
	b.Helper()
	rows, err := conn.Query(b.Context(), `select number, (select count(*) from app.line where line.order_id = "order".id) 
		from app."order"
		where not starts_with(number, $1)`, earlier)
	if err != nil {
		b.Fatal(err)
	}
	stored := map[string]int{}
	var number string
	var lines int
	_, err = pgx.ForEachRow(rows, []any{&number, &lines}, func() error {
		stored[number]++
		if lines != 2 {
			r.halfDone++
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for number, count := range stored {
		if count > 1 {
			r.doubled++
		}
		if _, isSent := c.told[number]; !isSent {
			r.strange = append(r.strange, number+" is stored, and nobody sent it")
		}
	}
	for number, told := range c.told {
		isStored := stored[number] > 0
		switch told {
		case acknowledged:
			r.acknowledged++
			if !isStored {
				r.lost++
			}
		case unknown:
			r.unknown++
			if isStored {
				r.unknownStored++
			}
		case refused:
			r.refused++
			if isStored {
				r.refusedStored++
			}
		}
	}
	r.waited, r.slowest, r.silence, r.strange = c.waited(), c.slowest(), c.silence(), append(r.strange, c.strange...)
}
