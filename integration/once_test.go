package integration

import (
	"fmt"
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

const books = `
model Book {
  fields { title Text  text Text  isClosed Boolean @default(false)  pages Page[] }
  actions {
    create addBook() with (title, text, pages.text)
    create addClosed() with (title, text) { @set(book.isClosed = true) @permission(expression: book.title != "forbidden" && ctx.headers.desk == "open") }
    update renameBook(id) with (title?) { @select(title, text, pages.text) }
    update closeBook(id) with (isClosed) { @permission(expression: !book.isClosed && ctx.headers.desk == "open") }
    update tellBook(id) with (title) { @function }
    delete dropBook(id)
  }
  @permission(expression: ctx.isAuthenticated && ctx.headers.desk == "open", actions: [create, update, delete])
}
model Page { fields { book Book  text Text } }
`

const tellBook = `create function functions.tell_book(id text, title text) returns app.book language sql volatile as $$
  select jsonb_populate_record(null::app.book, jsonb_build_object(
    'id', id, 'title', title, 'text', repeat('told ', 4000), 'is_closed', false, 'created_at', now(), 'updated_at', now()))
$$`

// TestKeysOfLargeAnswers repeats calls with small and large answers: while the record is as it was, after it was changed,
// and as callers whom the rules now refuse, with or without looking at the row.
func TestKeysOfLargeAnswers(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": books, "functions/tellBook.sql": tellBook})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	if _, err := db.Superuser(t).Exec(t.Context(), "insert into app.identity (id) values ('ada')"); err != nil {
		t.Fatal(err)
	}
	send := func(desk, key, action, body string) string {
		t.Helper()
		response, answer := a.send(t, "POST", "/api/json/"+action, a.as(t, "ada", "Desk", desk, "Idempotency-Key", key), body)
		return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Idempotent-Replayed"), " ", answer)
	}
	const changed = `409  {"code":"ERR_CONFLICT","message":"the action was carried out, and its record has changed since"}`
	for _, text := range []string{"small", strings.Repeat("large ", 3000)} {
		isLarge := text != "small"
		add := func(key string) string {
			answer := send("open", key, "addBook", `{"title":"first","text":"`+text+`","pages":[{"text":"`+text+`"}]}`)
			_, id, _ := strings.Cut(answer, `"id":"`)
			return id[:36]
		}
		for _, test := range []struct {
			action, body string // with the id of a new book for %s
			isChanged    bool   // whether what happens meanwhile changes the record
		}{
			{"addBook", `{"title":"a","text":"` + text + `","pages":[]}`, false},
			{"addClosed", `{"title":"a","text":"` + text + `"}`, false},
			{"renameBook", `{"where":{"id":"%s"},"values":{"title":"b"}}`, true},
			{"closeBook", `{"where":{"id":"%s"},"values":{"isClosed":true}}`, true},
			{"tellBook", `{"where":{"id":"%s"},"values":{"title":"c"}}`, false}, // its own row, which no table has
			{"dropBook", `{"id":"%s"}`, false},
		} {
			key := fmt.Sprint(test.action, isLarge)
			id := add("for " + key)
			body := strings.Replace(test.body, "%s", id, 1)
			first := send("open", key, test.action, body)
			want := strings.Replace(first, "200  ", "200 true ", 1)
			if !strings.HasPrefix(first, "200  ") || want == first {
				t.Fatalf("%s: got %.200s", key, first)
			}
			if got := send("open", key, test.action, body); got != want {
				t.Errorf("%s, again: got %.200s, want %.200s", key, got, want)
			}
			for _, body := range []string{body, strings.Replace(body, `"`, ` "`, 1)} {
				if got := send("closed", key, test.action, body); !strings.HasPrefix(got, "403  ") {
					t.Errorf("%s, refused early: got %.200s", key, got)
				}
			}
			send("open", key+" meanwhile", "renameBook", `{"where":{"id":"`+id+`"},"values":{"title":"meanwhile"}}`)
			if isLarge && test.isChanged {
				want = changed
			}
			if got := send("open", key, test.action, body); got != want {
				t.Errorf("%s, meanwhile renamed: got %.200s, want %.200s", key, got, want)
			}
			send("open", key+" in the end", "dropBook", `{"id":"`+id+`"}`)
			if got := send("open", key, test.action, body); got != want {
				t.Errorf("%s, meanwhile dropped: got %.200s, want %.200s", key, got, want)
			}
		}
	}
	var books int
	if err := db.Superuser(t).QueryRow(t.Context(), "select count(*) from app.book").Scan(&books); err != nil || books != 4 {
		t.Errorf("%d books are left, want the four of addBook and addClosed (%v)", books, err)
	}
}

// TestKeysKeepLittle makes 20 updates whose answers have a MiB each.
func TestKeysKeepLittle(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"schema.stern": books, "functions/tellBook.sql": tellBook})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	super := db.Superuser(t)
	look := func(query string) (n int) {
		t.Helper()
		if err := super.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	_, err := super.Exec(t.Context(), `insert into app.book (id, title, text)
		select 'b', '', string_agg(encode(sha256(n::text::bytea), 'hex'), '') from generate_series(1, 16 * 1024) as n`)
	if err != nil {
		t.Fatal(err)
	}
	before := look("select pg_database_size(current_database())")
	for i := range 20 {
		header := a.as(t, "ada", "Desk", "open", "Idempotency-Key", fmt.Sprint(i))
		response, answer := a.send(t, "POST", "/api/json/renameBook", header, fmt.Sprintf(`{"where":{"id":"b"},"values":{"title":"%d"}}`, i))
		if response.StatusCode != 200 || len(answer) < 1<<20 {
			t.Fatalf("got %d with %d bytes", response.StatusCode, len(answer))
		}
	}
	if grown := look("select pg_database_size(current_database())") - before; grown > 1<<20 {
		t.Errorf("20 updates of a title grow the database by %d kB", grown>>10)
	}
	if rows, bytes := look("select count(*) from platform.answer"), look("select sum(pg_column_size(answer.*)) from platform.answer"); rows != 20 || bytes > 20*512 {
		t.Errorf("%d rows with %d bytes are kept, want 20 with no more than 512 each", rows, bytes)
	}
}
