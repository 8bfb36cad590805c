package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/program"
)

// TestWebhookKilled kills servers while they send events: another one goes on. No event is lost, none that is sent again
// has another id, and none is sent behind a later one of its record.
func TestWebhookKilled(t *testing.T) {
	t.Parallel()
	const records, steps = 100, 12
	type taken struct{ record, text string }
	ids := map[string]taken{}
	latest := map[string]string{} // text by record
	repeats, inversions := 0, 0
	var mutex sync.Mutex
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			ID     string
			Target struct {
				ID   string
				Data struct{ Text string }
			}
		}
		err := json.NewDecoder(r.Body).Decode(&event)
		time.Sleep(5 * time.Millisecond) // so that servers are killed while they send
		mutex.Lock()
		defer mutex.Unlock()
		now := taken{event.Target.ID, event.Target.Data.Text}
		before, isKnown := ids[event.ID]
		switch {
		case err != nil || event.ID != r.Header.Get("webhook-id") || isKnown && before != now:
			t.Errorf("got event %s as webhook %s, %v of %v (%v)", event.ID, r.Header.Get("webhook-id"), now, before, err)
		case isKnown:
			repeats++
		case now.text < latest[now.record]:
			inversions++
		}
		ids[event.ID], latest[now.record] = now, max(now.text, latest[now.record])
	}))
	t.Cleanup(endpoint.Close)
	count := func() int {
		mutex.Lock()
		defer mutex.Unlock()
		return len(ids)
	}
	await := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); count() < want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d events were taken, want %d", count(), want)
			}
		}
	}

	schema := strings.Replace(noteSchema, "  @permission", "  @on([create, update], tellShop)\n  @permission", 1)
	db := built(t, files(t, map[string]string{"schema.stern": schema}))
	settings := files(t, map[string]string{"sternpost.yaml": "subscribers: {tellShop: {url: \"" + endpoint.URL + "\", secret: whsec_Y2FuYXJ5IGtleSBvZiBhIHdlYmhvb2shIQ==}}"})
	start := func() *program.Process {
		t.Helper()
		port := program.FreePort(t)
		p := command{args: []string{"serve"}, dir: settings, env: append(production(t, db.ServerURL(), port), "STERNPOST_MODE=development")}.start(t)
		awaitAnswer(t, "GET", "http://127.0.0.1:"+port+"/readyz", "", `{"status":"ok"}`)
		return p
	}
	servers := []*program.Process{start(), start()}
	conn := db.Superuser(t)
	write := func(step int) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), fmt.Sprintf(`
			insert into app.note (id, text) select 'n' || n, '%02d' from generate_series(1, %d) as n
			on conflict (id) do update set text = excluded.text`, step, records)); err != nil {
			t.Fatal(err)
		}
	}
	for step := range steps {
		write(step)
		if step%3 == 2 {
			await(count() + records/2)
			at := step / 3 % len(servers)
			_ = servers[at].End(t, syscall.SIGKILL)
			servers[at] = start()
		}
	}
	await(records * steps)
	mutex.Lock()
	defer mutex.Unlock()
	if len(ids) != records*steps || inversions > 0 {
		t.Errorf("%d events were taken, %d of them behind a later one; want %d and 0", len(ids), inversions, records*steps)
	}
	t.Logf("%d events were sent again", repeats)
}
