package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/sql/release"
)

const (
	unknownJSON = `{"code":"ERR_OUTCOME_UNKNOWN","message":"it is not known whether the action was carried out"}`
	reusedJSON  = `{"code":"ERR_IDEMPOTENCY_KEY_REUSED","message":"the idempotency key was used for another request"}`
)

// notes counts the notes of a title.
func (d *testDatabase) notes(t *testing.T, title string) int {
	t.Helper()
	var n int
	if err := d.Superuser(t).QueryRow(t.Context(), "select count(*) from app.note where title = $1", title).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// startBehindProxy is startReady with a proxy between the server and its database.
func startBehindProxy(t *testing.T) (*testServer, *testDatabase, *pgtest.Proxy) {
	t.Helper()
	d := newDatabase(t)
	m := app()
	m.Actions = append(m.Actions, &release.Action{Name: "createByCode", Kind: release.Write, Model: "Note", Function: "create_by_code", Input: "CreateNoteInput", Custom: true})
	m.APIs[0].Actions = append(m.APIs[0].Actions, "createByCode")
	d.exec(t, `call public.declare_function('create_by_code', 'volatile', $$
		begin
			perform platform.enter('custom code', context);
			insert into app.note (title) values (input->>'title');
			return '"created"';
		end;
		$$)`)
	d.install(t, m)
	proxy := pgtest.NewProxy(t, d.ServerURL())
	s := start(t, proxy.URL(), nil)
	s.waitReady(t, "")
	return s, d, proxy
}

// cutOnce gives one statement whose text contains a part its fate. A commit is that of the call: the sweep of files, which
// comes a second after the start, commits too.
func cutOnce(p *pgtest.Proxy, part string, fate pgtest.Fate) {
	var once sync.Once
	var isCalled atomic.Bool
	p.Decide(func(statement string) (f pgtest.Fate) {
		if strings.Contains(statement, "create_") {
			isCalled.Store(true)
		}
		if strings.Contains(statement, part) && (part != "commit" || isCalled.Load()) {
			once.Do(func() { f = fate })
		}
		return f
	})
}

// TestUnknownOutcome breaks the connection to the database at each moment of a call. Only
// one that may have been carried out is answered as such, and one that was is there.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	s, d, proxy := startBehindProxy(t)
	for i, test := range []struct {
		action, key string
		cut         string // in the text of the statement
		fate        pgtest.Fate
		status      int
		body        string // of the response, or a part of it
		notes       int    // that are there
		again       int    // that are there after the same call was sent again
	}{
		{"createNote", "", "create_note", pgtest.CutBefore, 503, unknownJSON, 0, 1}, // the server cannot know better
		{"createNote", "", "create_note", pgtest.CutUnanswered, 503, unknownJSON, 1, 2},
		{"createNote", "", "create_note", pgtest.CutAnswered, 200, `"title"`, 1, 2},
		{"createByCode", "", "create_by_code", pgtest.CutUnanswered, 503, unknownJSON, 1, 2},

		// With a key it is known until the transaction is to be committed, and a repetition
		// does no harm at all.
		{"createNote", "k", "answer_claim", pgtest.CutBefore, 503, unavailableJSON, 0, 1},
		{"createNote", "k", "answer_claim", pgtest.CutUnanswered, 503, unavailableJSON, 0, 1},
		{"createNote", "k", "create_note", pgtest.CutUnanswered, 503, unavailableJSON, 0, 1},
		{"createNote", "k", "commit", pgtest.CutBefore, 503, unknownJSON, 0, 1},
		{"createNote", "k", "commit", pgtest.CutUnanswered, 503, unknownJSON, 1, 1},
		{"createNote", "k", "commit", pgtest.CutAnswered, 200, `"title"`, 1, 1},
		{"createByCode", "k", "platform.leave", pgtest.CutUnanswered, 503, unavailableJSON, 0, 1},
		{"createByCode", "k", "commit", pgtest.CutUnanswered, 503, unknownJSON, 1, 1},
	} {
		name := fmt.Sprintf("%s, key %q, %s, fate %d", test.action, test.key, test.cut, test.fate)
		title := fmt.Sprint("unknown ", i)
		header := map[string]string{}
		if test.key != "" {
			header["Idempotency-Key"] = fmt.Sprint(test.key, i)
		}
		send := func() (*http.Response, string) {
			return s.do(t, "POST", "/api/json/"+test.action, `{"title":"`+title+`"}`, header)
		}
		s.waitReady(t, "")
		cutOnce(proxy, test.cut, test.fate)
		response, body := send()
		if response.StatusCode != test.status || !strings.Contains(body, test.body) {
			t.Errorf("%s: got %d %s, want %d %s", name, response.StatusCode, body, test.status, test.body)
		}
		if wants := body == unavailableJSON; wants != (response.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After: got %q", name, response.Header.Get("Retry-After"))
		}
		if got := d.notes(t, title); got != test.notes {
			t.Errorf("%s: %d notes, want %d", name, got, test.notes)
		}
		response, again := send()
		if response.StatusCode != 200 || test.status == 200 && test.key != "" && again != body {
			t.Errorf("%s, again: got %d %s", name, response.StatusCode, again)
		}
		if got := d.notes(t, title); got != test.again {
			t.Errorf("%s, again: %d notes, want %d", name, got, test.again)
		}
	}

	// A read has the same outcome whenever the connection breaks.
	cutOnce(proxy, "get_note", pgtest.CutUnanswered)
	if status, body := s.post(t, "echo", `{}`); status != 200 {
		t.Errorf("a read whose connection is not cut: got %d %s", status, body)
	}
	cutOnce(proxy, "who_am_i", pgtest.CutUnanswered)
	if status, body := s.post(t, "echo", `{}`); status != 503 || body != unavailableJSON {
		t.Errorf("a read whose connection is cut: got %d %s", status, body)
	}
}

// TestTerminatedCall ends the backend that runs a call. The database says itself that it
// was not carried out.
func TestTerminatedCall(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	answered := make(chan string, 1)
	go func() {
		status, body := s.post(t, "hold", `{"id":"n1","seconds":30}`)
		answered <- fmt.Sprint(status, " ", body)
	}()
	d.waitSleeping(t, 1)
	if _, err := d.Superuser(t).Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got != "503 "+unavailableJSON {
		t.Errorf("got %s, want 503 %s", got, unavailableJSON)
	}
}

// TestIdempotencyKey is a matrix of callers, calls and keys.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	const replayed = "replayed"
	for i, step := range []struct {
		action, token, key, body string
		status                   int
		want                     string // replayed, or a part of the body
	}{
		{"createNote", "ada", "a", `{"title":"one"}`, 200, `"title":"one"`},
		{"createNote", "ada", "a", `{"title":"one"}`, 200, replayed},
		{"createNote", "ada", `"a"`, `{ "title" : "one" }`, 200, replayed}, // the same values
		{"createNote", "ada", "a", `{"title":"two"}`, 422, reusedJSON},
		{"createNote", "ada", "A", `{"title":"one"}`, 200, `"title":"one"`},
		{"createNote", "bob", "a", `{"title":"one"}`, 200, `"title":"one"`},
		{"createNote", "", "a", `{"title":"one"}`, 200, `"title":"one"`},
		{"createNote", "", "a", `{"title":"one"}`, 200, replayed},
		{"fail", "ada", "a", `{"code":"SP404"}`, 404, `ERR_RECORD_NOT_FOUND`}, // another action

		// A refused or invalid call leaves the key free.
		{"createNote", "ada", "b", `{"title":"forbidden"}`, 409, "ERR_CONFLICT"},
		{"createNote", "ada", "b", `{"titel":"three"}`, 400, "ERR_INVALID_INPUT"},
		{"createNote", "ada", "b", `{"title":"three","author":{"id":"nobody"}}`, 400, "ERR_INVALID_INPUT"},
		{"createNote", "ada", "b", `{"title":"three"}`, 200, `"title":"three"`},
		{"createNote", "ada", "b", `{"title":"three"}`, 200, replayed},
		{"updateNote", "ada", "c", `{"where":{"id":"none"},"values":{"title":"x"}}`, 404, "ERR_RECORD_NOT_FOUND"},
		{"deleteAuthor", "ada", "d", `{"id":"a2"}`, 200, `"a2"`},
		{"deleteAuthor", "ada", "d", `{"id":"a2"}`, 200, replayed},

		// Reads ignore the key.
		{"getNote", "ada", "a", `{"id":"n1"}`, 200, `"id":"n1"`},
		{"getNote", "ada", "a", `{"id":"none"}`, 200, `null`},
		{"getNote", "ada", strings.Repeat("k", 300), `{"id":"n1"}`, 200, `"id":"n1"`},

		{"createNote", "ada", strings.Repeat("k", 255), `{"title":"long"}`, 200, `"title":"long"`},
		{"createNote", "ada", strings.Repeat("k", 256), `{"title":"long"}`, 400, "invalid Idempotency-Key header"},
		{"createNote", "ada", `""`, `{"title":"long"}`, 400, "invalid Idempotency-Key header"},
		{"createNote", "ada", "caf\u00e9", `{"title":"long"}`, 400, "ERR_INPUT_MALFORMED"},
	} {
		header := map[string]string{"Idempotency-Key": step.key}
		if step.token != "" {
			header["Authorization"] = "Bearer " + step.token
		}
		response, body := s.do(t, "POST", "/api/json/"+step.action, step.body, header)
		isReplayed := response.Header.Get("Idempotent-Replayed") == "true"
		if response.StatusCode != step.status || isReplayed != (step.want == replayed) || !isReplayed && !strings.Contains(body, step.want) {
			t.Errorf("step %d: got %d %s, replayed %t; want %d %s", i, response.StatusCode, body, isReplayed, step.status, step.want)
		}
	}
	if got := d.notes(t, "one"); got != 4 {
		t.Errorf("%d notes, want 4", got)
	}
	response, _ := s.do(t, "POST", "/api/json/createNote", `{"title":"four"}`, nil)
	if _, isThere := response.Header["Idempotent-Replayed"]; isThere {
		t.Error("a call without key says that it was replayed")
	}

	// A day later the key is free.
	d.exec(t, "update platform.answer set expires_at = now()")
	header := map[string]string{"Idempotency-Key": "a", "Authorization": "Bearer ada"}
	response, body := s.do(t, "POST", "/api/json/createNote", `{"title":"next day"}`, header)
	if response.StatusCode != 200 || response.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("a day later: got %d %s", response.StatusCode, body)
	}
	_, again := s.do(t, "POST", "/api/json/createNote", `{"title":"next day"}`, header)
	if again != body {
		t.Errorf("a repetition got %s, want %s", again, body)
	}
}

// TestKeptAnswers repeats the call of a caller who is gone, and calls for whom enough is kept.
func TestKeptAnswers(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	create := func(token, key, title string) string {
		t.Helper()
		header := map[string]string{"Idempotency-Key": key}
		if token != "" {
			header["Authorization"] = "Bearer " + token
		}
		response, body := s.do(t, "POST", "/api/json/createNote", `{"title":"`+title+`"}`, header)
		return fmt.Sprint(response.StatusCode, " ", body, " ", response.Header.Get("Retry-After"))
	}
	for _, caller := range []string{"bob", ""} {
		first := create(caller, "first", "kept")
		d.exec(t, "update platform.answer set body = repeat('x', 16 << 20), expires_at = now() + interval '10 minutes'")
		const refused = `429 {"code":"ERR_RATE_LIMITED","message":"too many answers are kept for idempotency keys"} `
		if got := create(caller, "second", "beyond"); got != refused+"600" && got != refused+"599" || !strings.HasPrefix(first, "200") {
			t.Errorf("%q: got %.200s, then %.200s", caller, first, got)
		}
		if got := create(caller, "first", "kept"); !strings.HasPrefix(got, "200 xxx") {
			t.Errorf("%q: a repetition got %.200s", caller, got)
		}
		if response, body := s.do(t, "POST", "/api/json/createNote", `{"title":"without"}`, nil); response.StatusCode != 200 {
			t.Errorf("without a key: got %d %s", response.StatusCode, body)
		}
		d.exec(t, "truncate platform.answer")
	}
	if got := d.notes(t, "beyond"); got != 0 {
		t.Errorf("%d notes are written beyond the bound", got)
	}

	create("bob", "last", "his last")
	d.exec(t, "delete from app.author where id = 'bob'")
	for _, title := range []string{"his last", "another"} {
		if got := create("bob", "last", title); !strings.HasPrefix(got, "401 ") || !strings.Contains(got, "the identity does not exist") {
			t.Errorf("a caller who is gone: got %s", got)
		}
	}
}

// TestRacingKeys sends one call many times at once: it is carried out once, and all get
// the same answer.
func TestRacingKeys(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait = 4, 20*time.Second })
	var all sync.WaitGroup
	var mu sync.Mutex
	answers, fresh := map[string]int{}, 0
	for range 20 {
		all.Go(func() {
			response, body := s.do(t, "POST", "/api/json/createNote", `{"title":"race"}`, map[string]string{"Idempotency-Key": "race"})
			mu.Lock()
			defer mu.Unlock()
			answers[fmt.Sprint(response.StatusCode, " ", body)]++
			if response.Header.Get("Idempotent-Replayed") == "" {
				fresh++
			}
		})
	}
	all.Wait()
	if len(answers) != 1 || fresh != 1 || d.notes(t, "race") != 1 {
		t.Errorf("20 racing calls: answers %v, %d fresh, %d notes", answers, fresh, d.notes(t, "race"))
	}
}

// TestKeyInProgress repeats a running call: it waits for the first, but not longer than
// for a lock.
func TestKeyInProgress(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.LockTimeout, c.StatementTimeout = 100*time.Millisecond, 5*longEnough })
	d.letWake(t, "hold", "volatile", "hold")
	first := make(chan string, 1)
	header := map[string]string{"Idempotency-Key": "slow"}
	go func() {
		_, body := s.do(t, "POST", "/api/json/hold", `{"id":"n1","seconds":600}`, header)
		first <- body
	}()
	d.waitSleeping(t, 1)
	if response, body := s.do(t, "POST", "/api/json/hold", `{"id":"n1","seconds":600}`, header); response.StatusCode != 504 || body != timeoutBody {
		t.Errorf("in progress: got %d %s, want 504", response.StatusCode, body)
	}
	d.wake(t)
	want := <-first
	response, body := s.do(t, "POST", "/api/json/hold", `{"id":"n1","seconds":600}`, header)
	if response.Header.Get("Idempotent-Replayed") != "true" || body != want {
		t.Errorf("afterwards: got %d %s, want %s", response.StatusCode, body, want)
	}
}

// TestLostRacesUnderKey repeats a whole transaction that lost against a concurrent one.
func TestLostRacesUnderKey(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	for times, want := range []string{`200 "won"`, `200 "won"`, `200 "won"`, `200 "won"`, "503 " + unavailableJSON} {
		d.exec(t, "alter sequence functions.attempt restart")
		response, body := s.do(t, "POST", "/api/json/lose", fmt.Sprintf(`{"times":%d,"code":"40001"}`, times), map[string]string{"Idempotency-Key": fmt.Sprint(times)})
		if got := fmt.Sprint(response.StatusCode, " ", body); got != want {
			t.Errorf("%d times: got %s, want %s", times, got, want)
		}
	}
}
