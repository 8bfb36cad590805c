package integration

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/sqlgen"
)

const (
	shipped = `
model Parcel {
  fields { step Number  code Secret?  cost Number? @hidden  label File? }
  actions {
    create createParcel() with (step, code?, label?)
    update moveParcel(id) with (step)
    delete deleteParcel(id)
  }
  @on([create, update, delete], tellWarehouse)
  @on([update], tellOther)
  @permission(expression: ctx.isAuthenticated, actions: [create, update, delete])
}
`
	hookKey = "Y2FuYXJ5IGtleSBvZiBhIHdlYmhvb2shIQ==" // base64
)

// sentEvent is an event as a webhook gets it.
type sentEvent struct {
	ID, EventName string
	Target        struct {
		ID   string
		Data *struct{ Step int }
	}
}

// receiver is an endpoint of a webhook. It keeps what it answers with success, and the ids of all that it gets.
type receiver struct {
	*httptest.Server
	mutex sync.Mutex
	taken []sentEvent
	tries map[string]int // by webhook-id
	last  string
}

// receive starts an endpoint that checks signatures. fails says what it answers to an attempt of an event: 0 is success.
func receive(t *testing.T, fails func(event sentEvent, attempt int) int) *receiver {
	r := &receiver{tries: map[string]int{}}
	key, err := base64.StdEncoding.DecodeString(hookKey)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var event sentEvent
		if err != nil || json.Unmarshal(body, &event) != nil {
			t.Errorf("the body of a webhook: %v, %s", err, body)
		}
		id := request.Header.Get("webhook-id")
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, request.Header.Get("webhook-timestamp"), body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); id != event.ID || !slices.Contains(strings.Fields(request.Header.Get("webhook-signature")), want) {
			t.Errorf("webhook %s of event %s is signed %s, want %s", id, event.ID, request.Header.Get("webhook-signature"), want)
		}
		r.mutex.Lock()
		r.tries[id]++
		attempt := r.tries[id]
		r.mutex.Unlock()
		if code := fails(event, attempt); code != 0 {
			w.WriteHeader(code)
			fmt.Fprint(w, "the warehouse is closed")
			return
		}
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.taken, r.last = append(r.taken, event), string(body)
	}))
	t.Cleanup(r.Close)
	return r
}

// count returns how many events it has taken, each once.
func (r *receiver) count() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	ids := map[string]bool{}
	for _, e := range r.taken {
		ids[e.ID] = true
	}
	return len(ids)
}

// await waits until it has taken so many events.
func (r *receiver) await(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); r.count() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the webhook has taken %d events, want %d", r.count(), want)
		}
	}
}

// inversions counts the events that were taken after a later one of their record.
func (r *receiver) inversions() (count int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	latest, seen := map[string]int{}, map[string]bool{}
	for _, e := range r.taken {
		step := 1 << 30 // of a delete
		if e.Target.Data != nil {
			step = e.Target.Data.Step
		}
		if step < latest[e.Target.ID] && !seen[e.ID] {
			count++
		}
		latest[e.Target.ID], seen[e.ID] = max(step, latest[e.Target.ID]), true
	}
	return count
}

// withHooks writes a project whose subscribers are webhooks, with members of their configuration.
func withHooks(t *testing.T, schema string, hooks map[string]string) (dir string) {
	t.Helper()
	config := "subscribers:\n"
	for name, members := range hooks {
		config += fmt.Sprintf("  %s: {secret: whsec_%s, %s}\n", name, hookKey, members)
	}
	return writeProject(t, map[string]string{"schema.stern": schema, sqlgen.ConfigName: config})
}

// record calls an action that creates a record, and returns its id.
func (a *app) record(t *testing.T, action, body string) string {
	t.Helper()
	response, answer := a.send(t, "POST", "/api/json/"+action, a.as(t, "ada"), body)
	var record struct{ ID string }
	if err := json.Unmarshal([]byte(answer), &record); err != nil || response.StatusCode != 200 {
		t.Errorf("%s: got %d %s", action, response.StatusCode, answer)
	}
	return record.ID
}

func (a *app) call(t *testing.T, action, body string) {
	t.Helper()
	if response, answer := a.send(t, "POST", "/api/json/"+action, a.as(t, "ada"), body); response.StatusCode != 200 {
		t.Errorf("%s %s: got %d %s", action, body, response.StatusCode, answer)
	}
}

// TestWebhook sends events to an address that fails for one in ten, and to one that never answers, from two servers. The
// first gets all of them in the order of each record.
func TestWebhook(t *testing.T) {
	t.Parallel()
	isUnlucky := func(e sentEvent) bool {
		h := fnv.New32a()
		h.Write([]byte(e.ID))
		return h.Sum32()%10 == 0
	}
	warehouse := receive(t, func(e sentEvent, attempt int) int {
		if attempt == 1 && isUnlucky(e) {
			return 503
		}
		return 0
	})
	never := make(chan struct{})
	hanging := receive(t, func(sentEvent, int) int { <-never; return 500 })
	t.Cleanup(func() { close(never) })
	dir := withHooks(t, shipped, map[string]string{
		"tellWarehouse": "url: " + warehouse.URL,
		"tellOther":     "url: " + hanging.URL + ", timeout: 30",
	})
	db := installApp(t, dir)
	stored := serving{env: []string{"STERNPOST_STORAGE_DIRECTORY=" + t.TempDir()}} // of both
	a, b := serveWith(t, db, dir, db.ServerURL(), stored), serveWith(t, db, dir, db.ServerURL(), stored)

	const records, steps = 30, 5
	var all sync.WaitGroup
	for i := range records {
		all.Go(func() {
			id := a.record(t, "createParcel", `{"step":0,"code":"canary-code","label":"data:text/plain;name=a.txt;base64,YQ=="}`)
			for step := 1; step <= steps; step++ {
				server := a
				if (i+step)%2 == 0 {
					server = b
				}
				server.call(t, "moveParcel", fmt.Sprintf(`{"where":{"id":%q},"values":{"step":%d}}`, id, step))
			}
			a.call(t, "deleteParcel", fmt.Sprintf(`{"id":%q}`, id))
		})
	}
	if all.Wait(); t.Failed() {
		return
	}
	warehouse.await(t, records*(steps+2))
	if n := warehouse.inversions(); n > 0 {
		t.Errorf("%d events were taken after a later one of their record", n)
	}
	var metrics map[string]int
	for deadline := time.Now().Add(5 * time.Second); metrics["succeeded"] != records*(steps+2) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		metrics = map[string]int{}
		for _, name := range []string{"succeeded", "failed", "dead"} {
			for _, server := range []*app{a, b} {
				metrics[name] += server.metric(t, `sternpost_deliveries_total{outcome="`+name+`",subscriber="tellWarehouse"} `)
			}
		}
	}
	if metrics["succeeded"] != records*(steps+2) || metrics["failed"] == 0 || metrics["dead"] != 0 {
		t.Errorf("metrics: %v", metrics)
	}
	for _, part := range []string{`"eventName": "parcel.deleted"`, `"data": null`, `"action": "deleteParcel"`, `"filename"`, `"requestId": "`} {
		if !strings.Contains(warehouse.last, part) {
			t.Errorf("an event lacks %s: %s", part, warehouse.last)
		}
	}
	for _, part := range []string{"canary", "cost", `"url"`} {
		if strings.Contains(warehouse.last, part) {
			t.Errorf("an event tells %s: %s", part, warehouse.last)
		}
	}
}
