package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/s3"
	"github.com/sternpost/sternpost/storage/storagetest"
)

const anUpload = `{"filename":"a.png","contentType":"image/png","size":3}`

// TestUploadRoute goes through the checks of the upload route in their order: each
// request would fail at all that follow, too.
func TestUploadRoute(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{})
	const (
		notFound = `404 {"code":"ERR_ACTION_NOT_FOUND","message":"action not found"}`
		denied   = `403 {"code":"ERR_PERMISSION_DENIED","message":"not authorized to access"}`
	)
	invalid := func(entries string) string {
		return `400 {"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object","data":{"errors":[` + entries + `]}}`
	}
	for _, c := range []struct {
		name, method, path, identity string
		header                       http.Header
		body, want                   string
	}{
		{name: "no such API", path: "/none/json/closed/upload/none", header: http.Header{"Authorization": {"x"}}, body: `{`, want: notFound},
		{name: "a bad token", path: "/api/json/closed/upload/none", header: http.Header{"Authorization": {"x"}, "Time-Zone": {"x"}}, body: `{`,
			want: `401 {"code":"ERR_AUTHENTICATION_FAILED","message":"the Authorization header must be of the form Bearer <token>"}`},
		{name: "a bad time zone", method: "GET", path: "/api/json/closed/upload/none", header: http.Header{"Time-Zone": {"x"}}, body: `{`,
			want: `400 {"code":"ERR_INPUT_MALFORMED","message":"invalid Time-Zone header: unknown time zone x"}`},
		{name: "another method", method: "GET", path: "/api/json/closed/upload/none", body: `{`,
			want: `405 {"code":"ERR_HTTP_METHOD_NOT_ALLOWED","message":"method not allowed"}`},
		{name: "another type", path: "/api/json/closed/upload/none", header: http.Header{"Content-Type": {"text/plain"}}, body: `{`,
			want: `415 {"code":"ERR_UNSUPPORTED_MEDIA_TYPE","message":"the request body must be application/json"}`},
		{name: "no JSON", path: "/api/json/closed/upload/none", body: `{`,
			want: `400 {"code":"ERR_INPUT_MALFORMED","message":"the input could not be read: not valid JSON"}`},
		{name: "no such action", path: "/api/json/none/upload/cover", body: `{}`, want: notFound},
		{name: "no such field", path: "/api/json/closed/upload/none", body: `{}`, want: notFound},
		{name: "a field that is not a file", path: "/api/json/closed/upload/title", body: `{}`, want: notFound},
		{name: "a file that is not an input", path: "/api/json/createArticle/upload/author", body: `{}`, want: notFound},
		{name: "a nested file", path: "/api/json/createWithAuthor/upload/portrait", body: `{}`, want: notFound},
		{name: "an action of another kind", path: "/api/json/getArticle/upload/cover", body: `{}`, want: notFound},
		{name: "an action of another API", path: "/small/json/closed/upload/cover", body: `{}`, want: notFound},

		{name: "missing", path: "/api/json/closed/upload/cover", body: `{"name":"a"}`,
			want: invalid(`{"field":"filename","code":"required","error":"filename is required"},{"field":"contentType","code":"required","error":"contentType is required"},` +
				`{"field":"size","code":"required","error":"size is required"},{"field":"name","code":"additionalProperty","params":{"name":"name"},"error":"Additional property name is not allowed"}`)},
		{name: "an empty file", path: "/api/json/closed/upload/cover", body: `{"filename":"a","contentType":"text/csv","size":0}`,
			want: invalid(`{"field":"size","code":"minimum","params":{"limit":1},"error":"Must be greater than or equal to 1"}`)},
		{name: "other names", path: "/api/json/closed/upload/cover", body: `{"filename":"a/b","contentType":"image","size":3}`,
			want: invalid(`{"field":"filename","code":"format","params":{"format":"filename"},"error":"is not a file name: it has a /"},{"field":"contentType","code":"format","params":{"format":"content-type"},"error":"is not a content type"}`)},
		{name: "a long name", path: "/api/json/closed/upload/cover", body: `{"filename":"` + strings.Repeat("ü", 128) + `","contentType":"image/png","size":3}`,
			want: invalid(`{"field":"filename","code":"format","params":{"format":"filename"},"error":"is not a file name: it has 256 bytes, and at most 255 are allowed"}`)},

		{name: "nobody may", path: "/api/json/closed/upload/cover", identity: "ada", body: `{"filename":"a","contentType":"text/csv","size":9000}`, want: denied},
		{name: "identities only", path: "/api/json/sendArticle/upload/picture", body: `{"filename":"a","contentType":"text/csv","size":9000}`, want: denied},
		{name: "the row decides", path: "/api/json/changeOwn/upload/cover", body: `{"filename":"a","contentType":"text/csv","size":9000}`, want: denied},

		{name: "type and size", path: "/api/json/createArticle/upload/cover", body: `{"filename":"a","contentType":"text/csv","size":5001}`,
			want: invalid(`{"field":"contentType","code":"contentType","params":{"given":"text/csv","accepted":["image/*","application/pdf"]},"error":"content type text/csv is not accepted"},{"field":"size","code":"maxSize","params":{"limit":5000},"error":"must be at most 5000 bytes"}`)},
		{name: "a long type", path: "/api/json/createArticle/upload/cover", body: `{"filename":"a","contentType":"text/` + strings.Repeat("c", 100) + `","size":1}`,
			want: invalid(`{"field":"contentType","code":"contentType","params":{"given":"text/` + strings.Repeat("c", 59) + `","accepted":["image/*","application/pdf"]},"error":"content type text/` + strings.Repeat("c", 59) + ` is not accepted"}`)},
		{name: "the field of a @set", path: "/small/json/sendArticle/upload/picture", identity: "ada", body: `{"filename":"a","contentType":"text/csv","size":3}`,
			want: invalid(`{"field":"contentType","code":"contentType","params":{"given":"text/csv","accepted":["image/*","application/pdf"]},"error":"content type text/csv is not accepted"}`)},
	} {
		if c.method == "" {
			c.method = "POST"
		}
		if c.header == nil {
			c.header = a.as(t, c.identity)
		}
		response, got := a.send(t, c.method, c.path, c.header, c.body)
		if got = fmt.Sprint(response.StatusCode, " ", got); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	a.exec(t, `update app.identity set name = 'Ada' where id = 'ada'`) // the row may now admit her
	for _, c := range []struct{ path, identity, body string }{
		{"createArticle/upload/cover", "", anUpload},
		{"createArticle/upload/cover", "", `{"filename":"a","contentType":"IMAGE/PNG; a=b","size":5000}`},
		{"updateArticle/upload/papers", "", `{"filename":"a","contentType":"text/csv","size":1048576}`},
		{"sendArticle/upload/picture", "ada", anUpload},
		{"changeOwn/upload/cover", "ada", anUpload},
	} {
		a.ok(t, c.path, c.identity, c.body)
	}
	var entered int
	if a.query(t, `select count(*) from platform.file_upload`, &entered); entered != 5 {
		t.Errorf("%d uploads were noted, want 5", entered)
	}
}

func TestUploadsOutstanding(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{env: []string{"STERNPOST_UPLOADS_MAX_OUTSTANDING=3", "STERNPOST_UPLOADS_MAX_OUTSTANDING_ANONYMOUS=2"}})
	for _, c := range []struct {
		identity string
		most     int
	}{{"", 2}, {"ada", 3}} {
		header := a.as(t, c.identity)
		var mu sync.Mutex
		var answers []string
		var all sync.WaitGroup
		for range 10 { // at the same time
			all.Go(func() {
				response, body, err := a.try(t.Context(), "POST", "/api/json/createArticle/upload/cover", header, anUpload)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if response.StatusCode != http.StatusOK {
					after, err := strconv.Atoi(response.Header.Get("Retry-After"))
					if err != nil || after < 3500 || after > 3600 {
						t.Errorf("Retry-After: got %q, want about an hour", response.Header.Get("Retry-After"))
					}
					answers = append(answers, fmt.Sprint(response.StatusCode, " ", body))
				}
			})
		}
		all.Wait()
		want := `429 {"code":"ERR_RATE_LIMITED","message":"too many uploads outstanding"}`
		if len(answers) != 10-c.most || slices.ContainsFunc(answers, func(a string) bool { return a != want }) {
			t.Errorf("ten uploads of %q: %d refused, want %d\n got %q\nwant %s", c.identity, len(answers), 10-c.most, answers, want)
		}
	}
}

// Uploads of anonymous callers are counted by client address, for IPv6 by its network.
func TestUploadsOutstandingByAddress(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{env: []string{"STERNPOST_UPLOADS_MAX_OUTSTANDING_ANONYMOUS=2", "STERNPOST_SERVER_TRUSTED_PROXIES=127.0.0.0/8"}})
	for _, c := range []struct {
		from string
		want int
	}{
		{"2001:db8::1", 200}, {"2001:db8:0:0:ffff::2", 200}, {"[2001:db8::3]:4711", 429}, {"2001:db8:0:1::1", 200},
		{"203.0.113.1", 200}, {"::ffff:203.0.113.1", 200}, {"203.0.113.1:4711", 429}, {"203.0.113.2", 200},
	} {
		header := http.Header{"Content-Type": {"application/json"}, "X-Forwarded-For": {c.from}}
		if response, body := a.send(t, "POST", "/api/json/createArticle/upload/cover", header, anUpload); response.StatusCode != c.want {
			t.Errorf("from %s: got %d %s, want %d", c.from, response.StatusCode, body, c.want)
		}
	}
}

func TestAttachRefused(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, onBucket(t))
	const notKey = "is not an upload key for this input"
	sent := func(route, identity string) string { return a.sent(t, route, identity, "image/png", "contents") }

	expired, other, field := sent("createArticle/upload/cover", ""), sent("updateArticle/upload/cover", ""), sent("createArticle/upload/papers", "")
	ofAda, ofNobody := sent("createArticle/upload/cover", "ada"), sent("createArticle/upload/cover", "")
	missing := a.mint(t, "createArticle/upload/cover", "", "a.png", "image/png", 3).Key
	paper := sent("createArticle/upload/papers", "")
	a.exec(t, `update platform.file_upload set expires_at = now() where key = '`+expired+`'`)
	for _, c := range []struct{ name, action, identity, body, field, want string }{
		{"unknown", "createArticle", "", `{"title":"a","cover":"AAAAAAAAAAAAAAAAAAAAAA"}`, "cover", notKey},
		{"no key", "createArticle", "", `{"title":"a","cover":"../../etc/passwd"}`, "cover", notKey},
		{"empty", "createArticle", "", `{"title":"a","cover":""}`, "cover", notKey},
		{"expired", "createArticle", "", `{"title":"a","cover":"` + expired + `"}`, "cover", notKey},
		{"of another action", "createArticle", "", `{"title":"a","cover":"` + other + `"}`, "cover", notKey},
		{"of another field", "createArticle", "", `{"title":"a","cover":"` + field + `"}`, "cover", notKey},
		{"of another identity", "createArticle", "bob", `{"title":"a","cover":"` + ofAda + `"}`, "cover", notKey},
		{"of an identity, by nobody", "createArticle", "", `{"title":"a","cover":"` + ofAda + `"}`, "cover", notKey},
		{"twice in one request", "createArticle", "", `{"title":"a","papers":["` + paper + `","` + paper + `"]}`, "papers.1", notKey},
		{"in an update", "updateArticle", "", `{"where":{"title":"a"},"values":{"cover":"` + ofNobody + `"}}`, "values.cover", notKey},
		{"nothing was sent", "createArticle", "", `{"title":"a","cover":"` + missing + `"}`, "cover", "nothing has been uploaded for this key"},
	} {
		t.Log(c.name)
		a.refuses(t, c.action, c.identity, c.body, c.field, c.want)
	}
	// All problems of one request at once.
	status, got := a.post(t, "createArticle", "", `{"title":"a","cover":"`+missing+`","papers":["x","`+paper+`"]}`)
	if want := `[{"field":"cover","code":"upload","error":"nothing has been uploaded for this key"},{"field":"papers.0","code":"upload","error":"is not an upload key for this input"}]`; status != 400 || !strings.Contains(got, want) {
		t.Errorf("several problems: got %d %s, want %s", status, got, want)
	}
	// These requests did not use up a key.
	for i, c := range []struct{ identity, body string }{
		{"ada", `"cover":"` + ofAda + `"`},
		{"bob", `"cover":"` + ofNobody + `"`}, // anyone who holds it
		{"", `"papers":["` + paper + `"]`},
	} {
		a.ok(t, "createArticle", c.identity, fmt.Sprintf(`{"title":"%d",%s}`, i, c.body))
	}
	if got, want := a.counts(t), "3 held, 0 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}

	// An update attaches like a create. A key belongs to its action, in any API.
	a.ok(t, "updateArticle", "", `{"where":{"title":"0"},"values":{"cover":"`+other+`"}}`)
	a.refuses(t, "updateArticle", "", `{"where":{"title":"0"},"values":{"cover":"`+other+`"}}`, "values.cover", notKey)
	_, text := a.send(t, "POST", "/small/json/sendArticle/upload/picture", a.as(t, "ada"), anUpload)
	small := read[minted](t, text)
	if status := put(t, small, "abc"); status != http.StatusOK {
		t.Fatalf("PUT: status %d", status)
	}
	a.ok(t, "sendArticle", "ada", `{"title":"small","picture":"`+small.Key+`"}`)
	if got, want := a.counts(t), "4 held, 1 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// replacing is a store that replaces an upload between the look at it and its copy.
type replacing struct{ *s3.Store }

func (r replacing) Head(ctx context.Context, key string) (storage.Object, error) {
	o, err := r.Store.Head(ctx, key)
	if err == nil {
		err = r.Store.Put(ctx, key, "text/html", []byte("replaced"))
	}
	return o, err
}

func TestUploadChangesDuringAttach(t *testing.T) {
	t.Parallel()
	how := onBucket(t)
	how.store = replacing{how.store.(*s3.Store)}
	a := serveFiles(t, how)
	key := a.sent(t, "createArticle/upload/papers", "", "text/plain", "contents")
	body := `{"title":"a","papers":["` + dataURL("text/plain", "a", "inline") + `","` + key + `"]}`
	a.refuses(t, "createArticle", "", body, "papers.1", "the upload changed while it was being attached")
	if got, want := a.counts(t), "0 held, 0 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// TestUploadUsedDuringAttach lets another call use a key after a call was found to be able to: before the
// look at the upload, and between the look and the copy.
func TestUploadUsedDuringAttach(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		isBeforeHead bool
	}{{"before the look", true}, {"before the copy", false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			how := onBucket(t)
			store := &interrupted{Store: how.store.(*s3.Store), isBeforeHead: test.isBeforeHead}
			how.store = store
			a := serveFiles(t, how)
			key := a.sent(t, "createArticle/upload/cover", "", "image/png", "contents")
			body := `{"title":"a","cover":"` + key + `"}`
			other := func() {
				a.ok(t, "createArticle", "", body)
				if err := store.Delete(t.Context(), storage.Uploads+key); err != nil { // as the server does a moment later
					t.Error(err)
				}
			}
			store.by.Store(&other)
			a.refuses(t, "createArticle", "", body, "cover", "is not an upload key for this input")
			if got, want := a.counts(t), "1 held, 0 free, 0 neither"; got != want {
				t.Errorf("files: %s, want %s", got, want)
			}
		})
	}
}

func TestParallelAttach(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, onBucket(t))
	key := a.sent(t, "createArticle/upload/cover", "", "image/png", "contents")
	var succeeded atomic.Int32
	var all sync.WaitGroup
	gate := make(chan struct{}, 20)
	for i := range 200 {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			response, body, err := a.try(t.Context(), "POST", "/api/json/createArticle", nil, fmt.Sprintf(`{"title":"%d","cover":"%s"}`, i, key))
			switch {
			case err != nil:
				t.Error(err)
			case response.StatusCode == http.StatusOK:
				succeeded.Add(1)
			case !strings.Contains(body, `{"field":"cover","code":"upload","error":"is not an upload key for this input"}`):
				t.Errorf("got %d %s", response.StatusCode, body)
			}
		})
	}
	all.Wait()
	if n := succeeded.Load(); n != 1 {
		t.Errorf("of 200 calls with one key %d succeeded, want 1", n)
	}
	var rows int
	if a.query(t, `select count(*) from app.article`, &rows); rows != 1 {
		t.Errorf("%d rows, want 1", rows)
	}
	if got := a.counts(t); !strings.HasPrefix(got, "1 held, ") || !strings.HasSuffix(got, " 0 neither") {
		t.Errorf("files: %s, want 1 held, the others free", got)
	}
}

// interrupted is a store in which something happens before or after a look at an upload, once.
type interrupted struct {
	*s3.Store
	by           atomic.Pointer[func()] // nil means nothing
	isBeforeHead bool
}

func (s *interrupted) happen() {
	if by := s.by.Swap(nil); by != nil {
		(*by)()
	}
}

func (s *interrupted) Head(ctx context.Context, key string) (storage.Object, error) {
	if s.isBeforeHead {
		s.happen()
	}
	o, err := s.Store.Head(ctx, key)
	s.happen()
	return o, err
}

// hanging is a store that never answers. It does not wait for the limit to pass, but
// reports the limit.
type hanging struct {
	*s3.Store
	hangs atomic.Bool
	limit atomic.Int64 // the longest that it would have been waited for; -1 means for ever
}

func (h *hanging) hang(ctx context.Context) error {
	if !h.hangs.Load() {
		return nil
	}
	limit := int64(-1)
	if deadline, ok := ctx.Deadline(); ok {
		limit = int64(time.Until(deadline))
	}
	h.limit.Store(limit)
	return context.DeadlineExceeded
}

func (h *hanging) Head(ctx context.Context, key string) (storage.Object, error) {
	if err := h.hang(ctx); err != nil {
		return storage.Object{}, err
	}
	return h.Store.Head(ctx, key)
}

func (h *hanging) Put(ctx context.Context, key, contentType string, contents []byte) error {
	if err := h.hang(ctx); err != nil {
		return err
	}
	return h.Store.Put(ctx, key, contentType, contents)
}

// A call that waits for storage ends within the limits that the documentation states.
func TestStorageHangs(t *testing.T) {
	t.Parallel()
	how := onBucket(t)
	store := &hanging{Store: how.store.(*s3.Store)}
	how.store = store
	a := serveFiles(t, how)
	key := a.sent(t, "createArticle/upload/cover", "", "image/png", "contents")
	store.hangs.Store(true)
	for _, test := range []struct {
		cover string
		limit time.Duration
	}{
		{key, 10 * time.Second},
		{dataURL("image/png", "a", "x"), 40 * time.Second},
	} {
		status, got := a.post(t, "createArticle", "", `{"title":"a","cover":"`+test.cover+`"}`)
		if limit := time.Duration(store.limit.Load()); status != 503 || limit <= 0 || limit > test.limit {
			t.Errorf("%.20s: got %d %s after %s, want 503 within %s", test.cover, status, got, limit, test.limit)
		}
	}
	store.hangs.Store(false)
	a.ok(t, "createArticle", "", `{"title":"a","cover":"`+key+`"}`)
}

// Without storage, only calls that need it fail; once it is back, all works as before.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	g := storagetest.StartGateway(t)
	bucket, err := s3.Open(g.Options(storagetest.NewBucket(t, g)))
	if err != nil {
		t.Fatal(err)
	}
	store := &interrupted{Store: bucket}
	a := serveFiles(t, serving{store: store})
	key := a.sent(t, "createArticle/upload/cover", "", "image/png", "contents")
	created := read[article](t, a.ok(t, "createArticle", "", `{"title":"a","cover":"`+dataURL("image/png", "a", "x")+`"}`))
	a.ok(t, "createArticle", "", `{"title":"gone","cover":"`+dataURL("image/png", "a", "x")+`"}`)
	stop := g.Stop
	store.by.Store(&stop)

	const away = `{"code":"ERR_UNAVAILABLE","message":"the service is temporarily unavailable"}`
	withKey := `{"title":"b","cover":"` + key + `"}`
	for _, body := range []string{
		withKey, // during which it stops
		withKey,
		`{"title":"b","cover":"` + dataURL("image/png", "a", "x") + `"}`,
		`{"title":"b","cover":"` + dataURL("image/png", "a", "x") + `","papers":["` + dataURL("a/b", "a", "") + `"]}`,
	} {
		response, got := a.send(t, "POST", "/api/json/createArticle", nil, body)
		if response.StatusCode != 503 || got != away || response.Header.Get("Retry-After") == "" {
			t.Errorf("%.50s: got %d %s, want 503 %s", body, response.StatusCode, got, away)
		}
	}
	a.ok(t, "createArticle", "", `{"title":"c"}`)
	a.ok(t, "getArticle", "", `{"title":"a"}`)
	a.ok(t, "listArticles", "", `{}`)
	m := a.mint(t, "createArticle/upload/papers", "", "a", "text/plain", 4)
	a.ok(t, "updateArticle", "", `{"where":{"title":"c"},"values":{"papers":[]}}`)
	a.ok(t, "deleteArticle", "", `{"title":"gone"}`)
	a.awaitReady(t, `{"status":"ok"}`)
	if strings.Contains(a.log.String(), key) {
		t.Errorf("the log holds an upload key:\n%s", a.log)
	}

	// Earlier uploads can be attached, and uploads announced meanwhile can be sent.
	g.Restart(t)
	attached := read[article](t, a.ok(t, "createArticle", "", withKey))
	if got := string(storagetest.Fetch(t, attached.Cover.URL)); got != "contents" {
		t.Errorf("the file that was attached at last: got %q", got)
	}
	if got := string(storagetest.Fetch(t, created.Cover.URL)); got != "x" {
		t.Errorf("the file that was there before: got %q", got)
	}
	if status := put(t, m, "late"); status != http.StatusOK {
		t.Errorf("PUT: status %d", status)
	}
	a.ok(t, "createArticle", "", `{"title":"d","papers":["`+m.Key+`"]}`)
	if got, want := a.counts(t), "3 held, 5 free, 0 neither"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
}

// The log holds neither contents nor usable signatures, at any log level.
func TestFilesAreNotLogged(t *testing.T) {
	t.Parallel()
	for _, how := range []serving{onBucket(t), {}} {
		how.debug = true
		a := serveFiles(t, how)
		m := a.mint(t, "createArticle/upload/cover", "", "a.png", "image/png", 11)
		put(t, m, "parrot-body")
		inline := dataURL("text/plain", "parrot-name", "parrot-inline")
		created := a.ok(t, "createArticle", "", `{"title":"a","cover":"`+m.Key+`","papers":["`+inline+`"]}`)
		a.post(t, "createArticle", "", `{"title":"a","papers":["`+inline+`"]}`) // a constraint fails
		a.send(t, "PUT", "/storage/uploads/"+m.Key+"?expires=1&signature=parrot-signature", nil, "parrot-body")
		log := a.log.String()
		for _, secret := range []string{"parrot", "ignature", inline, "cGFycm90", "expires=", read[article](t, created).Cover.URL} {
			if strings.Contains(log, secret) {
				t.Errorf("the log holds %.60s:\n%s", secret, log)
			}
		}
		if !strings.Contains(log, "path=/api/json/createArticle/upload/cover") {
			t.Errorf("requests are not logged:\n%s", log)
		}
	}
}

// Pages of other origins may upload to local storage, and may use nothing else there.
func TestLocalUploadAcrossOrigins(t *testing.T) {
	t.Parallel()
	a := serveFiles(t, serving{})
	m := a.mint(t, "createArticle/upload/cover", "", "a.png", "image/png", 3)
	path := strings.TrimPrefix(m.URL, a.url)
	response, _ := a.send(t, "OPTIONS", path, http.Header{"Origin": {"https://app.example.com"}, "Access-Control-Request-Method": {"PUT"}}, "")
	if response.StatusCode != 204 || response.Header.Get("Access-Control-Allow-Methods") != "PUT" ||
		response.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("preflight: got %d %v", response.StatusCode, response.Header)
	}
	if response, _ := a.send(t, "GET", path, nil, ""); response.StatusCode != 405 || response.Header.Get("Allow") != "PUT" {
		t.Errorf("GET: got %d %s", response.StatusCode, response.Header.Get("Allow"))
	}
	// More than announced, even more than any body may have.
	for _, size := range []int{4, 7_000_000} {
		header := http.Header{"Content-Type": {"image/png"}}
		response, _, err := a.try(t.Context(), "PUT", path, header, strings.Repeat("x", size))
		if err == nil && response.StatusCode != 403 {
			t.Errorf("PUT of %d bytes: got %d, want 403", size, response.StatusCode)
		}
	}
	// Another signature, a longer life, another key, the key of a file.
	signed, err := url.Parse(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	query := signed.Query()
	expires, signature := query.Get("expires"), query.Get("signature")
	for _, path := range []string{
		signed.Path,
		signed.Path + "?expires=" + expires,
		signed.Path + "?expires=" + expires + "&signature=" + strings.Repeat("A", len(signature)),
		signed.Path + "?expires=" + expires + "0&signature=" + signature,
		signed.Path + "?expires=1&signature=" + signature,
		"/storage/uploads/AAAAAAAAAAAAAAAAAAAAAA?" + signed.RawQuery,
		"/storage/uploads/..%2Ffiles%2FAAAAAAAAAAAAAAAAAAAAAA?" + signed.RawQuery,
	} {
		response, got := a.send(t, "PUT", path, http.Header{"Content-Type": {"image/png"}}, "abc")
		if want := `{"code":"ERR_PERMISSION_DENIED","message":"not authorized to access"}`; response.StatusCode != 403 || got != want {
			t.Errorf("PUT %s: got %d %s, want 403 %s", path, response.StatusCode, got, want)
		}
	}
	// An upload may be longer than any other body.
	big := strings.Repeat("x", 900_000)
	a.ok(t, "createArticle", "", `{"title":"big","papers":["`+a.sent(t, "createArticle/upload/papers", "", "text/plain", big)+`"]}`)
}
