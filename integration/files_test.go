package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/s3"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// filesSchema has files of every kind: single and several, in a related row, stored by
// @set, with rules that need a row, a caller, or nothing.
const filesSchema = `
model Author {
  fields {
    name Text
    portrait File? @accepts(["image/*"]) @maxSize("1 KB")
    articles Article[]
  }
}

model Article {
  fields {
    title Text @unique
    cover File? @accepts(["image/*", "application/pdf"]) @maxSize("5 KB")
    papers File[] @maxSize("1 MiB") @default([])
    author Author?
  }
  actions {
    create createArticle() with (title, cover?, papers?)
    get getArticle(title) { @embed(author) }
    update updateArticle(title) with (cover?, papers?)
    list listArticles() { @embed(author) @orderBy(title: asc) }
    delete deleteArticle(title)
    create createWithAuthor() with (title, author.name, author.portrait?)
    create sendArticle() with (title, picture: File?) {
      @set(article.cover = picture)
      @validate(title != "bad", message: "bad title")
      @permission(expression: ctx.isAuthenticated)
    }
    update changeOwn(title) with (cover) {
      @permission(expression: article.title == ctx.identity.name)
    }
    create closed() with (title, cover) {
      @permission(expression: false)
    }
  }
  @permission(expression: true, actions: [get, list, create, update, delete])
}

api Small {
  models { Article { actions { sendArticle } } }
}
`

// filesApp is an application with files, and its store.
type filesApp struct {
	*app
	store    storage.Store // nil where a folder is used
	isInline bool          // whether records hold contents, as data URLs: those of a folder in development
}

// serveFiles serves the schema with files.
func serveFiles(t *testing.T, how serving) *filesApp {
	t.Helper()
	dir := writeProject(t, map[string]string{"schema.stern": filesSchema})
	db := installApp(t, dir)
	return &filesApp{app: serveWith(t, db, dir, db.ServerURL(), how), store: how.store, isInline: how.store == nil && !slices.Contains(how.env, diskType)}
}

// onBucket serves it on a bucket of its own.
func onBucket(t *testing.T) serving {
	t.Helper()
	g := storagetest.SharedGateway(t)
	store, err := s3.Open(g.Options(storagetest.NewBucket(t, g)))
	if err != nil {
		t.Fatal(err)
	}
	return serving{store: store}
}

const diskType = "STERNPOST_STORAGE_TYPE=disk"

// onDisk serves it with files on the disk of the server, as in production.
func onDisk() serving {
	return serving{env: []string{diskType, "STERNPOST_STORAGE_RESERVE=0"}}
}

// eachStore runs a test on all backends.
func eachStore(t *testing.T, test func(t *testing.T, a *filesApp)) {
	t.Run("bucket", func(t *testing.T) { t.Parallel(); test(t, serveFiles(t, onBucket(t))) })
	t.Run("folder", func(t *testing.T) { t.Parallel(); test(t, serveFiles(t, serving{})) })
	t.Run("disk", func(t *testing.T) { t.Parallel(); test(t, serveFiles(t, onDisk())) })
}

// as is the header of a caller; empty is anonymous.
func (a *filesApp) as(t *testing.T, identity string) http.Header {
	t.Helper()
	if identity == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + a.token(t, identity)}}
}

// post calls an action or a route below it.
func (a *filesApp) post(t *testing.T, path, identity, body string) (int, string) {
	t.Helper()
	response, text := a.send(t, "POST", "/api/json/"+path, a.as(t, identity), body)
	return response.StatusCode, text
}

// ok is post for calls that must succeed.
func (a *filesApp) ok(t *testing.T, path, identity, body string) string {
	t.Helper()
	status, text := a.post(t, path, identity, body)
	if status != http.StatusOK {
		t.Fatalf("POST %s: %.300s: got %d %s", path, body, status, text)
	}
	return text
}

// minted is the answer of an upload route.
type minted struct {
	Key          string            `json:"key"`
	URL          string            `json:"url"`
	Headers      map[string]string `json:"headers"`
	ExpiresAt    time.Time         `json:"expiresAt"`
	URLExpiresAt time.Time         `json:"urlExpiresAt"`
}

// mint announces an upload.
func (a *filesApp) mint(t *testing.T, route, identity, filename, contentType string, size int) minted {
	t.Helper()
	var m minted
	text := a.ok(t, route, identity, fmt.Sprintf(`{"filename":%q,"contentType":%q,"size":%d}`, filename, contentType, size))
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// put sends the announced upload.
func put(t *testing.T, m minted, contents string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "PUT", m.URL, strings.NewReader(contents))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range m.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode == http.StatusOK && len(text) > 0 {
		t.Errorf("PUT: got %q, want an empty body", text)
	}
	return response.StatusCode
}

// sent mints a key and sends the contents.
func (a *filesApp) sent(t *testing.T, route, identity, contentType, contents string) string {
	t.Helper()
	m := a.mint(t, route, identity, "knots.png", contentType, len(contents))
	if status := put(t, m, contents); status != http.StatusOK {
		t.Fatalf("PUT: status %d", status)
	}
	return m.Key
}

// file is a file of a response.
type file struct {
	Key, Filename, ContentType, URL string
	Size                            int64
}

type article struct {
	Title  string
	Cover  *file
	Papers []file
	Author *struct {
		Name     string
		Portrait *file
	}
}

func read[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("read %.300s: %v", text, err)
	}
	return v
}

// dataURL is an inline file.
func dataURL(contentType, name, contents string) string {
	return "data:" + contentType + ";name=" + name + ";base64," + base64.StdEncoding.EncodeToString([]byte(contents))
}

func (a *filesApp) query(t *testing.T, statement string, into ...any) {
	t.Helper()
	if err := a.db.Superuser(t).QueryRow(t.Context(), statement).Scan(into...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (a *filesApp) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := a.db.Superuser(t).Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// counts tells how many files are held, free to be deleted, and neither.
func (a *filesApp) counts(t *testing.T) string {
	t.Helper()
	var held, free, other int
	a.query(t, `select count(*) filter (where holders > 0), count(*) filter (where released_at is not null),
		count(*) filter (where holders = 0 and released_at is null) from platform.file`, &held, &free, &other)
	return fmt.Sprintf("%d held, %d free, %d neither", held, free, other)
}

func TestFileByUpload(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *filesApp) {
		contents := strings.Repeat("knot", 1000)
		before := time.Now()
		m := a.mint(t, "createArticle/upload/cover", "", "knots ü.png", "image/png", len(contents))
		if raw, err := base64.RawURLEncoding.DecodeString(m.Key); err != nil || len(raw) != 16 {
			t.Errorf("the key %q does not have 128 bits in base64url", m.Key)
		}
		if len(m.Headers) != 2 || m.Headers["Content-Type"] != "image/png" || m.Headers["Content-Length"] != "4000" {
			t.Errorf("headers: got %v", m.Headers)
		}
		for name, c := range map[string]struct {
			at   time.Time
			want time.Duration
		}{"expiresAt": {m.ExpiresAt, time.Hour}, "urlExpiresAt": {m.URLExpiresAt, 15 * time.Minute}} {
			if got := c.at.Sub(before); got < c.want-5*time.Second || got > c.want+time.Minute {
				t.Errorf("%s: in %s, want %s", name, got, c.want)
			}
		}
		if status := put(t, m, contents); status != http.StatusOK {
			t.Fatalf("PUT: status %d", status)
		}

		created := read[article](t, a.ok(t, "createArticle", "", `{"title":"a","cover":"`+m.Key+`"}`))
		want := file{Key: created.Cover.Key, Filename: "knots ü.png", ContentType: "image/png", Size: 4000, URL: created.Cover.URL}
		if *created.Cover != want || created.Cover.Key == m.Key {
			t.Errorf("cover: got %+v, want %+v with a key of its own", *created.Cover, want)
		}
		if got := storagetest.Fetch(t, created.Cover.URL); string(got) != contents {
			t.Errorf("the contents differ: %d bytes", len(got))
		}
		// Another PUT to the same address does not change the file.
		put(t, m, strings.Repeat("evil", 1000))
		got := read[article](t, a.ok(t, "getArticle", "", `{"title":"a"}`))
		if contentsNow := storagetest.Fetch(t, got.Cover.URL); string(contentsNow) != contents {
			t.Errorf("the contents changed with a second PUT: %.20s", contentsNow)
		}
		if got.Cover.Key != created.Cover.Key {
			t.Errorf("the key changed from %s to %s", created.Cover.Key, got.Cover.Key)
		}
		// A key is used once, and the key of the response cannot be used.
		for _, key := range []string{m.Key, created.Cover.Key} {
			a.refuses(t, "createArticle", "", `{"title":"b","cover":"`+key+`"}`, "cover", "is not an upload key for this input")
		}
	})
}

// refuses expects an invalid input with one entry.
func (a *filesApp) refuses(t *testing.T, action, identity, body, field, problem string) {
	t.Helper()
	status, got := a.post(t, action, identity, body)
	begin := fmt.Sprintf(`{"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object","data":{"errors":[{"field":%q,"code":`, field)
	end := fmt.Sprintf(`,"error":%q}]}}`, problem)
	if status != http.StatusBadRequest || !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || strings.Count(got, `"field"`) != 1 {
		t.Errorf("%s %.200s\n got %d %s\nwant 400 %s…%s", action, body, status, got, begin, end)
	}
}

func TestInlineFiles(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a *filesApp) {
		// An inline file is not checked for type or size.
		long := strings.Repeat("x", 6000)
		created := read[article](t, a.ok(t, "createArticle", "", `{"title":"a","cover":"`+dataURL("text/csv;charset=utf-8", "%C3%BC%20a.csv", long)+`"}`))
		c := created.Cover
		if c.Filename != "ü a.csv" || c.ContentType != "text/csv;charset=utf-8" || c.Size != 6000 || string(storagetest.Fetch(t, c.URL)) != long {
			t.Errorf("cover: got %.200v", *c)
		}

		// Both forms in one array, and an empty file.
		key := a.sent(t, "createArticle/upload/papers", "", "text/plain", "uploaded")
		body := fmt.Sprintf(`{"title":"b","papers":["%s","%s","%s"]}`, dataURL("text/plain", "a.txt", "inline"), key, dataURL("text/plain", "e", ""))
		created = read[article](t, a.ok(t, "createArticle", "", body))
		var got []string
		for _, f := range created.Papers {
			got = append(got, f.Filename+"="+string(storagetest.Fetch(t, f.URL)))
		}
		if want := []string{"a.txt=inline", "knots.png=uploaded", "e="}; !slices.Equal(got, want) {
			t.Errorf("papers: got %q, want %q", got, want)
		}
		if got, want := a.counts(t), "4 held, 0 free, 0 neither"; got != want {
			t.Errorf("files: %s, want %s", got, want)
		}

		// An update replaces an array as a whole, and the files that it drops are queued for deletion.
		a.ok(t, "updateArticle", "", `{"where":{"title":"b"},"values":{"papers":["`+dataURL("text/plain", "n", "new")+`"]}}`)
		a.ok(t, "updateArticle", "", `{"where":{"title":"a"},"values":{"cover":null}}`)
		if got, want := a.counts(t), "1 held, 4 free, 0 neither"; got != want {
			t.Errorf("files after updates: %s, want %s", got, want)
		}
		a.ok(t, "deleteArticle", "", `{"title":"b"}`)
		if got, want := a.counts(t), "0 held, 5 free, 0 neither"; got != want {
			t.Errorf("files after the delete: %s, want %s", got, want)
		}
	})
}

// Files are in every shown record.
func TestFilesInResults(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{})
	a.ok(t, "createWithAuthor", "", `{"title":"a","author":{"name":"Ada","portrait":"`+dataURL("image/png", "ada", "portrait")+`"}}`)
	a.ok(t, "createArticle", "", `{"title":"b","cover":"`+dataURL("image/png", "b", "cover")+`"}`)
	check := func(got article, what string) {
		t.Helper()
		if got.Title == "a" && (got.Author == nil || string(storagetest.Fetch(t, got.Author.Portrait.URL)) != "portrait" || got.Cover != nil) ||
			got.Title == "b" && (got.Author != nil || string(storagetest.Fetch(t, got.Cover.URL)) != "cover") {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	check(read[article](t, a.ok(t, "getArticle", "", `{"title":"a"}`)), "get")
	list := read[struct{ Results []article }](t, a.ok(t, "listArticles", "", `{}`))
	if len(list.Results) != 2 {
		t.Fatalf("list: got %+v", list)
	}
	for _, got := range list.Results {
		check(got, "list")
	}
	if got := a.ok(t, "getArticle", "", `{"title":"none"}`); got != "null" {
		t.Errorf("get of nothing: got %s", got)
	}
	// A data URL is itself an input. The key of a nested input is not.
	a.ok(t, "updateArticle", "", `{"where":{"title":"a"},"values":{"cover":"`+list.Results[1].Cover.URL+`"}}`)
	key := a.sent(t, "createArticle/upload/cover", "", "image/png", "1")
	a.refuses(t, "createWithAuthor", "", `{"title":"c","author":{"name":"Ada","portrait":"`+key+`"}}`, "author.portrait",
		"is not a data URL with a type, a name and base64 data")
}

func TestInlineFilesThatAreNone(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{})
	const notDataURL = "is not a data URL with a type, a name and base64 data"
	for _, c := range []struct{ url, want string }{
		{"data:", notDataURL},
		{"data:;name=a;base64,", notDataURL},
		{"data:text/plain;base64,YQ==", notDataURL},
		{"data:text/plain;name=a,YQ==", notDataURL},
		{"data:text/plain;name=a;base64,YQ", notDataURL},
		{"data:text/plain;name=a;base64,Y-_=", notDataURL},
		{"data:text/plain;name=a;base64,YQ ==", notDataURL},
		{"DATA:text/plain;name=a;base64,YQ==x", notDataURL},
		{"data:text/plain;name=a;name=b;base64,YQ==", notDataURL},
		{"data:text/plain;name=%ZZ;base64,YQ==", notDataURL},
		{"data:text/plain;name=%FF;base64,YQ==", notDataURL},
		{"data:text;name=a;base64,YQ==", "is not a content type"},
		{"data:text/" + strings.Repeat("a", 251) + ";name=a;base64,YQ==", "is not a content type"},
		{"data:text/plain;name=;base64,YQ==", "is not a file name: it is empty"},
		{"data:text/plain;name=..;base64,YQ==", "is not a file name: .. is a folder"},
		{"data:text/plain;name=a%2Fb;base64,YQ==", "is not a file name: it has a /"},
		{"data:text/plain;name=a%5Cb;base64,YQ==", `is not a file name: it has a \`},
		{"data:text/plain;name=a%0Ab;base64,YQ==", "is not a file name: it has the control character U+000A"},
		{"data:text/plain;name=a%E2%80%AEb;base64,YQ==", "is not a file name: it has the character U+202E, which changes the direction of text"},
		{"data:text/plain;name=" + strings.Repeat("a", 256) + ";base64,YQ==", "is not a file name: it has 256 bytes, and at most 255 are allowed"},
	} {
		a.refuses(t, "createArticle", "", `{"title":"a","papers":["data:a/b;name=a;base64,","`+c.url+`"]}`, "papers.1", c.want)
	}
	status, got := a.post(t, "createArticle", "", `{"title":"a","cover":"`+dataURL("a/b", "a", strings.Repeat("x", 4_800_000))+`"}`)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(got, "ERR_REQUEST_TOO_LARGE") {
		t.Errorf("a body beyond the limit: got %d %.200s", status, got)
	}
	if got, want := a.counts(t), "0 held, 0 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// A call that is refused before its row is read leaves nothing behind. A file stored for a call
// that fails later is queued for deletion, and its upload can be used again.
func TestFilesOfRefusedCalls(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, onBucket(t))
	image := dataURL("image/png", "a", "contents")
	for _, c := range []struct{ action, identity, body, want string }{
		{"sendArticle", "", `{"title":"a","picture":"` + image + `"}`, "ERR_PERMISSION_DENIED"},
		{"sendArticle", "ada", `{"title":"bad","picture":"` + image + `"}`, `"error":"bad title"`},
		{"closed", "ada", `{"title":"a","cover":"` + image + `"}`, "ERR_PERMISSION_DENIED"},
		{"changeOwn", "", `{"where":{"title":"a"},"values":{"cover":"` + image + `"}}`, "ERR_PERMISSION_DENIED"},
		{"createArticle", "", `{"title":7,"cover":"` + image + `"}`, "ERR_INVALID_INPUT"},
		{"createArticle", "", `{"title":"a","papers":["` + image + `","unknown"]}`, "is not an upload key for this input"},
	} {
		if status, got := a.post(t, c.action, c.identity, c.body); status == http.StatusOK || !strings.Contains(got, c.want) {
			t.Errorf("%s %.100s: got %d %s, want %s", c.action, c.body, status, got, c.want)
		}
	}
	if got, want := a.counts(t), "0 held, 0 free, 0 neither"; got != want {
		t.Errorf("files of callers who were refused early: %s, want %s", got, want)
	}
	for o, err := range a.store.List(t.Context(), storage.Files) {
		t.Errorf("refused callers left %s: %v", o.Key, err)
	}

	// A missing row, a taken title, and another's row.
	key := a.sent(t, "createArticle/upload/cover", "", "image/png", "uploaded")
	a.ok(t, "createArticle", "", `{"title":"taken"}`)
	a.exec(t, `update app.identity set name = 'Ada' where id = 'ada'`) // a row could now admit her
	for _, c := range []struct{ action, identity, body, want string }{
		{"updateArticle", "", `{"where":{"title":"none"},"values":{"cover":"` + image + `"}}`, "ERR_RECORD_NOT_FOUND"},
		{"createArticle", "", `{"title":"taken","cover":"` + key + `"}`, "must be unique"},
		{"changeOwn", "ada", `{"where":{"title":"taken"},"values":{"cover":"` + image + `"}}`, "ERR_PERMISSION_DENIED"},
	} {
		if status, got := a.post(t, c.action, c.identity, c.body); status == http.StatusOK || !strings.Contains(got, c.want) {
			t.Errorf("%s %.100s: got %d %s, want %s", c.action, c.body, status, got, c.want)
		}
	}
	if got, want := a.counts(t), "0 held, 0 free, 0 neither"; got != want {
		t.Errorf("files of calls that failed: %s, want %s", got, want)
	}
	for o, err := range a.store.List(t.Context(), storage.Files) {
		t.Errorf("calls that failed left %s: %v", o.Key, err)
	}

	// Only stored files count: only the second call's, since the row decided the others.
	var failed string
	a.query(t, `select string_agg(split_part(caller, ' ', 1) || ' ' || bytes, ', ') from platform.file_failure`, &failed)
	if failed != "address 8" {
		t.Errorf("counted against callers: %q", failed)
	}
	created := read[article](t, a.ok(t, "createArticle", "", `{"title":"free","cover":"`+key+`"}`))
	if got := storagetest.Fetch(t, created.Cover.URL); string(got) != "uploaded" {
		t.Errorf("the upload after a call that failed: got %q", got)
	}
	if got, want := a.counts(t), "1 held, 0 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// A caller with too much stored for failed calls stores nothing more within the hour. Other callers
// are not affected.
func TestFilesOfFailedCallsAreBounded(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{})
	image := dataURL("image/png", "a", "contents")
	a.ok(t, "createArticle", "", `{"title":"taken"}`)
	taken := `{"title":"taken","cover":"` + image + `"}`
	for _, who := range []string{"", "ada"} {
		if status, got := a.post(t, "createArticle", who, taken); status != http.StatusBadRequest || !strings.Contains(got, "must be unique") {
			t.Fatalf("a title that is taken: got %d %s", status, got)
		}
	}
	for _, c := range []struct{ set, refused string }{
		{`bytes = 20 * 1024 * 1024 - 1`, ""},
		{`bytes = 20 * 1024 * 1024`, "anonymous"},
		{`bytes = case when caller like 'address%' then 0 else 100 * 1024 * 1024 end`, "ada"},
		{`bytes = 100 * 1024 * 1024`, "both"},
		{`bytes = 100 * 1024 * 1024, since = now() - interval '61 minutes'`, ""},
	} {
		a.exec(t, "update platform.file_failure set since = now(); update platform.file_failure set "+c.set)
		for name, who := range map[string]string{"anonymous": "", "ada": "ada"} {
			header := a.as(t, who)
			response, got := a.send(t, "POST", "/api/json/createArticle", header, fmt.Sprintf(`{"title":"%d%s","cover":"%s"}`, time.Now().UnixNano(), name, image))
			isRefused := c.refused == name || c.refused == "both"
			if isRefused {
				seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
				if response.StatusCode != 429 || !strings.Contains(got, `"ERR_RATE_LIMITED"`) || err != nil || seconds < 3500 || seconds > 3600 {
					t.Errorf("%s, %s: got %d %s, Retry-After %q", c.set, name, response.StatusCode, got, response.Header.Get("Retry-After"))
				}
			} else if response.StatusCode != http.StatusOK {
				t.Errorf("%s, %s: got %d %s", c.set, name, response.StatusCode, got)
			}
			// Rows without file are not affected.
			if status, got := a.post(t, "createArticle", who, fmt.Sprintf(`{"title":"%d%s without"}`, time.Now().UnixNano(), name)); status != http.StatusOK {
				t.Errorf("%s, %s, without file: got %d %s", c.set, name, status, got)
			}
		}
	}
	// After the hour the count begins anew.
	if status, _ := a.post(t, "createArticle", "", taken); status != http.StatusBadRequest {
		t.Fatalf("a title that is taken: got %d", status)
	}
	var bytes int
	a.query(t, `select bytes from platform.file_failure where caller like 'address%'`, &bytes)
	if bytes != len("contents") {
		t.Errorf("after the hour, %d bytes are counted", bytes)
	}
}

// Active content is never shown by a browser, regardless of its way in and its first bytes.
// A folder's files are data URLs, which browsers do not open as pages; the service itself
// hands out none.
func TestFilesAreNotRun(t *testing.T) {
	t.Parallel()
	const script = "<script>alert(1)</script>"
	const svg = `<svg xmlns="http://www.w3.org/2000/svg">` + script + `</svg>`
	eachStore(t, func(t *testing.T, a *filesApp) {
		for i, c := range []struct{ contentType, contents, want string }{
			{"text/html", script, "attachment"},
			{"TEXT/HTML;charset=utf-8", script, "attachment"},
			{"text/html", "GIF89a/*" + script + "*/", "attachment"}, // a picture by its first bytes
			{"application/xhtml+xml", script, "attachment"},
			{"image/svg+xml", svg, "attachment"},
			{"Image/SVG+XML;charset=utf-8", svg, "attachment"},
			{"text/xml", svg, "attachment"},
			{"application/xml", svg, "attachment"},
			{"text/javascript", "alert(1)", "attachment"},
			{"multipart/x-mixed-replace;boundary=a", "--a\r\nContent-Type: text/html\r\n\r\n" + script, "attachment"},
			{"message/rfc822", "Content-Type: text/html\r\n\r\n" + script, "attachment"},
			{"application/octet-stream", "%PDF-1.7 " + script, "attachment"},
			{"application/x-shockwave-flash", "FWS", "attachment"},
			{"text/csv", script, "attachment"},

			// Shown, as their type says, which is sent with them.
			{"image/gif", "GIF89a/*" + script + "*/", "inline"},
			{"image/png", script, "inline"},
			{"application/pdf", "%PDF-1.7 " + script, "inline"},
			{"audio/mpeg", script, "inline"},
			{"video/mp4", script, "inline"},
			{"text/plain;charset=utf-8", script, "inline"},
		} {
			m := a.mint(t, "createArticle/upload/papers", "", `a"b.html`, c.contentType, len(c.contents))
			if status := put(t, m, c.contents); status != http.StatusOK {
				t.Fatalf("%s: PUT: status %d", c.contentType, status)
			}
			created := read[article](t, a.ok(t, "createArticle", "",
				fmt.Sprintf(`{"title":"%d","papers":["%s",%q]}`, i, dataURL(c.contentType, "a%22b.html", c.contents), m.Key)))
			for _, file := range created.Papers {
				if a.isInline {
					if !strings.HasPrefix(file.URL, "data:"+c.contentType+";name=a%22b.html;base64,") {
						t.Errorf("%s: got %.100s, want a data URL of that type", c.contentType, file.URL)
					}
					continue
				}
				checkDownload(t, file.URL, c.contentType, c.want, c.contents)
			}
			if a.isInline {
				a.handsOutNothing(t, m, created.Papers[1].Key)
			}
		}
	})
}

// checkDownload gets a file and checks the headers for the browser.
func checkDownload(t *testing.T, url, contentType, disposition, contents string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != contents {
		t.Errorf("%s: got %q, %v, want %q", contentType, body, err, contents)
	}
	for name, want := range map[string]string{
		"Content-Type":        contentType,
		"Content-Disposition": disposition + `; filename="a_b.html"; filename*=UTF-8''a%22b.html`,
		"Cache-Control":       "private",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %s\n got %s\nwant %s", contentType, name, got, want)
		}
	}
}

// handsOutNothing tests that a folder's contents are at no address of the service.
func (a *filesApp) handsOutNothing(t *testing.T, m minted, key string) {
	t.Helper()
	for path, want := range map[string]int{
		strings.TrimPrefix(m.URL, a.url): http.StatusMethodNotAllowed,
		"/storage/uploads/" + m.Key:      http.StatusMethodNotAllowed,
		"/storage/files/" + key:          http.StatusNotFound,
	} {
		response, body := a.send(t, "GET", path, nil, "")
		if response.StatusCode != want || response.Header.Get("Content-Type") != "application/json" || response.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: got %d %s, %v, want %d and nosniff", path, response.StatusCode, body, response.Header, want)
		}
	}
}

// The limits of a field bind inline files only where the server checks them.
func TestInlineFilesAreChecked(t *testing.T) {
	t.Parallel()
	checked := serveFiles(t, serving{env: []string{"STERNPOST_UPLOADS_INLINE=checked"}})
	free := serveFiles(t, serving{})
	image := func(size int) string { return dataURL("image/png", "a", strings.Repeat("x", size)) }
	page := dataURL("text/html", "a", "x")
	entry := func(field, code, params, text string) string {
		return fmt.Sprintf(`{"field":%q,"code":%q,"params":%s,"error":%q}`, field, code, params, text)
	}
	badType := func(field string, accepted string) string {
		return entry(field, "contentType", `{"given":"text/html","accepted":[`+accepted+`]}`, "content type text/html is not accepted")
	}
	badSize := func(field string, limit int) string {
		return entry(field, "maxSize", fmt.Sprintf(`{"limit":%d}`, limit), fmt.Sprintf("must be at most %d bytes", limit))
	}
	a := dataURL("text/plain", "a", "x")
	for i, c := range []struct{ action, input, want string }{
		{"createArticle", `"cover":"` + image(5000) + `"`, ""},
		{"createArticle", `"cover":"` + image(5001) + `"`, badSize("cover", 5000)},
		{"createArticle", `"cover":"` + page + `"`, badType("cover", `"image/*","application/pdf"`)},
		{"createArticle", `"cover":"` + page + `","papers":["` + a + `","` + image(1<<20+1) + `"]`,
			badType("cover", `"image/*","application/pdf"`) + "," + badSize("papers.1", 1<<20)},
		{"createArticle", `"papers":["` + page + `"]`, ""},
		{"createWithAuthor", `"author":{"name":"Ada","portrait":"` + image(1000) + `"}`, ""},
		{"createWithAuthor", `"author":{"name":"Ada","portrait":"` + image(1001) + `"}`, badSize("author.portrait", 1000)},
		{"createWithAuthor", `"author":{"name":"Ada","portrait":"` + page + `"}`, badType("author.portrait", `"image/*"`)},
		{"sendArticle", `"picture":"` + page + `"`, badType("picture", `"image/*","application/pdf"`)},
	} {
		body := fmt.Sprintf(`{"title":"%d",%s}`, i, c.input)
		status, got := checked.post(t, c.action, "ada", body)
		checkEntries(t, fmt.Sprintf("%.100s", body), status, got, c.want)
		if status, got := free.post(t, c.action, "ada", body); status != http.StatusOK {
			t.Errorf("%.100s where inline files are free: got %d %s", body, status, got)
		}
	}
	if got := checked.counts(t); got != "3 held, 0 free, 0 neither" {
		t.Errorf("files: %s", got)
	}
}

// TestFilesInAny tests that Any is any JSON: a file object gets no url there, and a data
// URL stays a text.
func TestFilesInAny(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{
		"schema.stern": `
model Card {
  fields {
    photo File?
  }
  actions {
    create addCard() with (photo)
    read cards() returns (Any)
    write keep(Any) returns (Any)
  }
  @permission(expression: true, actions: [create, get, read, write])
}
`,
		"functions/cards.sql": "create function functions.cards() returns jsonb language sql stable as $$ select jsonb_agg(card.photo) from app.card; $$;\n",
		"functions/keep.sql":  "create function functions.keep(input jsonb) returns jsonb language sql volatile as $$ select keep.input; $$;\n",
	}))
	url := dataURL("image/png", "a.png", "picture")
	_, created := a.send(t, "POST", "/api/json/addCard", nil, `{"photo":"`+url+`"}`)
	if !strings.Contains(created, `"url":"`) {
		t.Fatalf("the record shows no url: %s", created)
	}
	_, got := a.send(t, "POST", "/api/json/cards", nil, `{}`)
	var photos []map[string]any
	if err := json.Unmarshal([]byte(got), &photos); err != nil || len(photos) != 1 {
		t.Fatalf("%v: %s", err, got)
	}
	if keys := slices.Sorted(maps.Keys(photos[0])); !slices.Equal(keys, []string{"contentType", "filename", "key", "size"}) {
		t.Errorf("a file in Any has %q", keys)
	}
	sent := `{"photo":"` + url + `"}`
	if _, got := a.send(t, "POST", "/api/json/keep", nil, sent); got != sent {
		t.Errorf("Any gives %s back as %s", sent, got)
	}
}
