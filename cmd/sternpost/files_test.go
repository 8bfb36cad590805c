package main_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
	filestore "github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/s3"
	"github.com/sternpost/sternpost/storage/storagetest"
)

const photoSchema = `model Photo {
  fields {
    title Text @unique
    image File? @accepts(["image/*"])
    more File[] @default
  }
  actions {
    create createPhoto() with (title, image?, more?) { @allow(UncheckedInline) }
    get getPhoto(title)
    update updatePhoto(title) with (image?) { @allow(UncheckedInline) }
    delete deletePhoto(title)
  }
  @permission(expression: true, actions: [create, get, update, delete])
}
`

// photos is a server in production, as a process, with a proxy before its storage
// that looks at each request.
type photos struct {
	db    *pgtest.DB
	url   string
	store storage.Store
	env   []string
	proxy *proxy
}

func newPhotos(t *testing.T) *photos {
	t.Helper()
	return newPhotosOf(t, map[string]string{"schema.stern": photoSchema})
}

// newPhotosOf is newPhotos for a project of these files.
func newPhotosOf(t *testing.T, project map[string]string) *photos {
	t.Helper()
	g := storagetest.SharedGateway(t)
	bucket := storagetest.NewBucket(t, g)
	store, err := s3.Open(g.Options(bucket))
	if err != nil {
		t.Fatal(err)
	}
	db := built(t, files(t, project))
	port := program.FreePort(t)
	p := &photos{db: db, url: "http://127.0.0.1:" + port, store: store, proxy: newProxy(t, g.Endpoint)}
	through := *g
	through.Endpoint = p.proxy.url
	p.env = append(production(t, db.ServerURL(), port), through.Environment(bucket)...)
	return p
}

func (p *photos) start(t *testing.T) *program.Process {
	t.Helper()
	s := command{args: []string{"serve"}, dir: t.TempDir(), env: p.env}.start(t)
	awaitAnswer(t, "GET", p.url+"/readyz", "", `{"status":"ok"}`)
	return s
}

// upload sends a file ahead of a call and returns its key.
func (p *photos) upload(t *testing.T) string {
	t.Helper()
	status, body := request(t, "POST", p.url+"/api/json/createPhoto/upload/image", `{"filename":"a.png","contentType":"image/png","size":5}`)
	var m struct{ Key, URL string }
	if err := json.Unmarshal([]byte(body), &m); status != 200 || err != nil {
		t.Fatalf("mint: got %d %s", status, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "PUT", m.URL, strings.NewReader("image"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "image/png")
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("PUT: %v, %v", response, err)
	}
	response.Body.Close()
	return m.Key
}

// proxy is a proxy before storage.
type proxy struct {
	url string
	mu  sync.Mutex
	see func(r *http.Request, isDone bool) // nil means nobody looks
}

func newProxy(t *testing.T, endpoint string) *proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{}
	forward := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // the signature covers it
	}}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.look(r, false)
		// The sent request goes on although the sender is gone.
		recorder := httptest.NewRecorder()
		forward.ServeHTTP(recorder, r.WithContext(t.Context()))
		p.look(r, true)
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	}))
	t.Cleanup(listener.Close)
	p.url = listener.URL
	return p
}

func (p *proxy) look(r *http.Request, isDone bool) {
	p.mu.Lock()
	see := p.see
	p.mu.Unlock()
	if see != nil {
		see(r, isDone)
	}
}

func (p *proxy) watch(see func(r *http.Request, isDone bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.see = see
}

// isCopy and its like tell requests to storage apart.
func isCopy(r *http.Request) bool { return r.Header.Get("X-Amz-Copy-Source") != "" }
func isPut(r *http.Request) bool {
	return r.Method == "PUT" && !isCopy(r) && strings.Contains(r.URL.Path, "/files/")
}
func isHead(r *http.Request) bool { return r.Method == "HEAD" }

// TestKilledServer kills the server at each step of a call with files. At every moment,
// each row has its contents, and all contents have a row, by which they can be found
// again. The caller's uploads are used up only if the call succeeded.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	inline := "data:image/png;name=b.png;base64,aW5saW5l"
	for i, step := range []struct {
		name   string
		is     func(*http.Request) bool
		isDone bool
	}{
		{"before the look at the upload", isHead, false},
		{"after the look at the upload", isHead, true},
		{"before the copy", isCopy, false},
		{"after the copy", isCopy, true},
		{"before an inline file", isPut, false},
		{"after an inline file", isPut, true},
	} {
		s := p.start(t)
		key := p.upload(t)
		var once sync.Once
		p.proxy.watch(func(r *http.Request, isDone bool) {
			if step.is(r) && isDone == step.isDone {
				once.Do(func() { s.End(t, syscall.SIGKILL) })
			}
		})
		body := fmt.Sprintf(`{"title":"%d","image":"%s","more":["%s"]}`, i, key, inline)
		if status, got := request(t, "POST", p.url+"/api/json/createPhoto", body); status != 0 {
			t.Errorf("%s: got %d %s, want no answer", step.name, status, got)
		}
		p.proxy.watch(nil)
		p.verify(t, step.name)
		p.again(t, step.name, body)
	}

	// During the transaction, and after it.
	locked := p.start(t)
	key := p.upload(t)
	body := fmt.Sprintf(`{"title":"locked","image":"%s","more":["%s"]}`, key, inline)
	tx, err := p.db.Superuser(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `lock table app.photo in exclusive mode`); err != nil {
		t.Fatal(err)
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := request(t, "POST", p.url+"/api/json/createPhoto", body)
		answered <- status
	}()
	p.awaitRow(t, `select count(*) > 0 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
	locked.End(t, syscall.SIGKILL)
	if status := <-answered; status != 0 {
		t.Errorf("during the transaction: got %d, want no answer", status)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The database does not know that the client is gone: the statement goes on.
	p.awaitRow(t, `select count(*) = 0 from pg_stat_activity where datname = current_database() and query like '%create_photo%' and state = 'active' and pid <> pg_backend_pid()`)
	p.verify(t, "during the transaction")
	p.start(t)
	status, got := request(t, "GET", p.url+"/api/json/getPhoto?title=locked", "")
	if status != 200 || !strings.Contains(got, `"image":{"key"`) && got != "null" {
		t.Errorf("after the transaction went on: got %d %s", status, got)
	}
}

// again makes the call that was cut off, with the same key.
func (p *photos) again(t *testing.T, step, body string) {
	t.Helper()
	s := p.start(t)
	status, got := request(t, "POST", p.url+"/api/json/createPhoto", body)
	if status != 200 {
		t.Errorf("%s, the same call again: got %d %s", step, status, got)
	}
	p.verify(t, step+", the same call again")
	s.End(t, syscall.SIGTERM)
}

func (p *photos) awaitRow(t *testing.T, query string) {
	t.Helper()
	conn := p.db.Superuser(t)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		if err := conn.QueryRow(t.Context(), query).Scan(&is); err != nil {
			t.Fatal(err)
		}
		if is {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", query)
		}
	}
}

// verify compares all files, however new.
func (p *photos) verify(t *testing.T, step string) {
	t.Helper()
	settings := config.Config{DatabaseURL: p.db.ServerURL(), PoolSize: 1, PoolWait: 10 * time.Second, StatementTimeout: 10 * time.Second, LockTimeout: 10 * time.Second}
	faults, err := server.VerifyFiles(t.Context(), settings, "", filestore.VerifyOptions{Store: p.store, Age: time.Nanosecond})
	if err != nil {
		t.Fatalf("%s: verify: %v", step, err)
	}
	for _, fault := range faults {
		t.Errorf("%s: %s", step, fault)
	}
}

func TestFilesVerify(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	s := p.start(t)
	_, got := request(t, "POST", p.url+"/api/json/createPhoto", `{"title":"a","image":"`+p.upload(t)+`"}`)
	s.End(t, syscall.SIGTERM)
	verify := command{args: []string{"files", "verify"}, env: p.env}
	if out := verify.expect(t, 0, ""); out != "storage and database agree\n" {
		t.Errorf("verify: got %q", out)
	}
	key := regexp.MustCompile(`"key":"([^"]+)"`).FindStringSubmatch(got)[1]
	if err := p.store.Delete(t.Context(), storage.Files+key); err != nil {
		t.Fatal(err)
	}
	if out, want := verify.expect(t, exitInput, ""), "object files/"+key+" is missing, but the database refers to it\n"; out != want {
		t.Errorf("verify\n got %q\nwant %q", out, want)
	}
	// Rows that were removed without a trigger are found on request.
	if _, err := p.db.Superuser(t).Exec(t.Context(), `truncate app.photo`); err != nil {
		t.Fatal(err)
	}
	want := "file " + key + " is named by 0 fields of rows, and counted as named by 1\nobject files/" + key + " is missing, but the database refers to it\n"
	if out := verify.expect(t, exitInput, ""); out != want {
		t.Errorf("verify after truncate\n got %q\nwant %q", out, want)
	}
	recount := command{args: []string{"files", "verify", "--recount"}, env: p.env}
	if out := recount.expect(t, 0, ""); out != "storage and database agree\n" {
		t.Errorf("verify --recount: got %q", out)
	}
	command{args: []string{"files", "verify"}, env: production(t, p.db.ServerURL(), "1")}.expect(t, exitEnvironment, "storage.s3.bucket is required")
}

// TestMemoryOfInlineFiles sends as many large requests at once as a careless client
// would.
func TestMemoryOfInlineFiles(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	s := p.start(t)
	before := peakMemory(t, s)
	contents := base64.StdEncoding.EncodeToString(make([]byte, 4_710_000))
	var all sync.WaitGroup
	for i := range 10 {
		body := fmt.Sprintf(`{"title":"%d","image":"data:image/png;name=a.png;base64,%s"}`, i, contents)
		all.Go(func() {
			if status, got := request(t, "POST", p.url+"/api/json/createPhoto", body); status != 200 {
				t.Errorf("got %d %.200s", status, got)
			}
		})
	}
	all.Wait()
	peak := peakMemory(t, s)
	t.Logf("ten requests of %.1f MiB at once: the server's memory peaked at %d MiB, from %d MiB", float64(len(contents))/(1<<20), peak>>10, before>>10)
	if peak>>10 > 384 {
		t.Errorf("ten requests of 6 MiB took %d MiB, want at most 384", peak>>10)
	}
}

// peakMemory returns the most memory that a process has had resident, in KiB.
func peakMemory(t *testing.T, p *program.Process) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Command.Process.Pid))
	if err != nil {
		t.Skip("SKIPPED: the memory of a large upload: it needs /proc, where Linux tells what a process takes: ", err)
	}
	var kib int
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
