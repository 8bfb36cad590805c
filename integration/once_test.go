package integration

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

const lockers = `
model Locker {
  fields {
    name Text
    pin Password
    note Secret?
    photo File?
  }
  actions {
    create rent() with (name, pin, note?, photo?)
    list listLockers()
  }
  @permission(expression: true, actions: [create, list])
}
`

// keyed is a header with an Idempotency-Key.
func keyed(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// TestKeyWithFilesAndSecrets repeats calls with prepared inputs: files are stored, and
// passwords hashed, before the call to the database. Each time the digest of the input tells
// a repetition from another request, and a repetition leaves nothing behind.
func TestKeyWithFilesAndSecrets(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": lockers})
	db := installApp(t, dir)
	a := serveWith(t, db, dir, db.ServerURL(), onBucket(t))
	body := func(name, pin string) string {
		return `{"name":"` + name + `","pin":"` + pin + `","note":"canary-note","photo":"` + dataURL("image/png", "p.png", "photo") + `"}`
	}
	send := func(key, body string) (string, bool) {
		t.Helper()
		response, answer := a.send(t, "POST", "/api/json/rent", keyed(key), body)
		return answer, response.Header.Get("Idempotent-Replayed") == "true"
	}
	first, _ := send("one", body("a", "canary-pin-1"))
	if !strings.Contains(first, `"photo":{"key"`) {
		t.Fatalf("rent: got %s", first)
	}
	if again, isReplayed := send("one", body("a", "canary-pin-1")); !isReplayed || again != first {
		t.Errorf("again: got %s, replayed %t\nwant %s", again, isReplayed, first)
	}
	for _, other := range []string{body("b", "canary-pin-1"), body("a", "canary-pin-2")} {
		if answer, _ := send("one", other); !strings.Contains(answer, "ERR_IDEMPOTENCY_KEY_REUSED") {
			t.Errorf("another body: got %s", answer)
		}
	}

	// At once: all get the answer of the one call that was carried out.
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]bool{}
	for range 8 {
		all.Go(func() {
			answer, _ := send("two", body("c", "canary-pin-3"))
			mu.Lock()
			defer mu.Unlock()
			answers[answer] = true
		})
	}
	all.Wait()
	if len(answers) != 1 {
		t.Errorf("racing calls: got %d answers: %v", len(answers), answers)
	}

	var lockers, held, loose, plain int
	err := db.Superuser(t).QueryRow(t.Context(), `select
		(select count(*) from app.locker),
		(select count(*) from platform.file where holders > 0),
		(select count(*) from platform.file where holders = 0 and released_at is null),
		(select count(*) from platform.answer where body like '%canary%' or asks = sha256(convert_to($1, 'UTF8')))`,
		body("a", "canary-pin-1")).Scan(&lockers, &held, &loose, &plain)
	if err != nil || lockers != 2 || held != 2 || loose != 0 || plain != 0 {
		t.Errorf("%d lockers, %d files held, %d that nobody holds or deletes, %d answers that tell secrets (%v)", lockers, held, loose, plain, err)
	}
}

// TestKeysOfServers sends one call to two servers of one database.
func TestKeysOfServers(t *testing.T) {
	t.Parallel()
	dir := appDir("workshop")
	db := installApp(t, dir)
	one, two := serve(t, db, dir, db.ServerURL()), serve(t, db, dir, db.ServerURL())
	_, first := one.send(t, "POST", "/api/json/createCustomer", keyed("k"), `{"name":"Ada"}`)
	response, again := two.send(t, "POST", "/api/json/createCustomer", keyed("k"), `{"name":"Ada"}`)
	if again != first || response.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the other server answers %d %s, want %s", response.StatusCode, again, first)
	}
}
