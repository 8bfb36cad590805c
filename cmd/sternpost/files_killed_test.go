package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// wiretap is a proxy before a database that looks at the traffic.
type wiretap struct {
	url string
	mu  sync.Mutex
	see func(fromServer bool, seen []byte) // nil means nobody looks
}

// newWiretap makes one for the database of a URL.
func newWiretap(t *testing.T, databaseURL string) *wiretap {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	if strings.HasPrefix(config.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password),
		Host: listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	w := &wiretap{url: through.String()}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		listener.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			server, err := listener.Accept()
			if err != nil {
				return
			}
			database, err := net.Dial(network, address)
			if err != nil {
				server.Close()
				continue
			}
			closeBoth := func() { server.Close(); database.Close() }
			context.AfterFunc(ctx, closeBoth)
			all.Go(func() { defer closeBoth(); w.pass(database, server, true) })
			all.Go(func() { defer closeBoth(); w.pass(server, database, false) })
		}
	})
	return w
}

// pass copies one side's bytes, after a look at them.
func (w *wiretap) pass(to io.Writer, from io.Reader, fromServer bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		see := w.see
		w.mu.Unlock()
		if n > 0 && see != nil {
			see(fromServer, buffer[:n])
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wiretap) watch(see func(fromServer bool, seen []byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.see = see
}

// isIdle ends the database's message at the end of a call's transaction: it is ready for
// the next.
var isIdle = []byte("Z\x00\x00\x00\x05I")

// TestKilledAfterCommit kills the server when the database has committed a call and
// before the caller gets the answer: the file is there and the key is used.
func TestKilledAfterCommit(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	tap := newWiretap(t, p.db.ServerURL())
	p.env = append(p.env, "DATABASE_URL="+tap.url)
	s := p.start(t)
	key := p.upload(t)
	var once sync.Once
	tap.watch(func(fromServer bool, seen []byte) {
		if !fromServer && bytes.Contains(seen, []byte("committed")) && bytes.HasSuffix(seen, isIdle) {
			once.Do(func() { s.End(t, syscall.SIGKILL) })
		}
	})
	body := `{"title":"committed","image":"` + key + `","more":["data:image/png;name=b.png;base64,aW5saW5l"]}`
	if status, got := request(t, "POST", p.url+"/api/json/createPhoto", body); status != 0 {
		t.Errorf("create: got %d %s, want no answer", status, got)
	}
	tap.watch(nil)
	p.verify(t, "after the commit")

	p.start(t)
	for _, c := range []struct{ body, want string }{
		{body, `{"field":"image","code":"upload","error":"is not an upload key for this input"}`},
		{strings.Replace(body, key, "data:image/png;name=a.png;base64,aW1hZ2U=", 1), `must be unique`},
	} {
		if _, got := request(t, "POST", p.url+"/api/json/createPhoto", c.body); !strings.Contains(got, c.want) {
			t.Errorf("the same call again: got %s, want %s", got, c.want)
		}
	}
	status, got := request(t, "GET", p.url+"/api/json/getPhoto?title=committed", "")
	_, image, _ := strings.Cut(got, `"url":"`)
	image, _, _ = strings.Cut(image, `"`)
	if contents := storagetest.Fetch(t, strings.ReplaceAll(image, `\u0026`, "&")); status != 200 || string(contents) != "image" {
		t.Errorf("the photo: got %d %s, with contents %q", status, got, contents)
	}
	p.verify(t, "the same call again")
}

// TestKilledBeforeDiscard kills the server when a call has failed and its stored files are
// about to be deleted: they are deleted a day later.
func TestKilledBeforeDiscard(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	tap := newWiretap(t, p.db.ServerURL())
	p.env = append(p.env, "DATABASE_URL="+tap.url)
	s := p.start(t)
	body := `{"title":"taken","image":"data:image/png;name=a.png;base64,aW1hZ2U="}`
	if status, got := request(t, "POST", p.url+"/api/json/createPhoto", body); status != 200 {
		t.Fatalf("create: got %d %s", status, got)
	}
	var once sync.Once
	tap.watch(func(fromServer bool, seen []byte) {
		if fromServer && bytes.Contains(seen, []byte("platform.file_fail")) {
			once.Do(func() { s.End(t, syscall.SIGKILL) })
		}
	})
	if status, got := request(t, "POST", p.url+"/api/json/createPhoto", body); status != 0 {
		t.Errorf("create what is there: got %d %s, want no answer", status, got)
	}
	tap.watch(nil)
	p.verify(t, "before the files of a call that failed were queued")
	p.exec(t, `update platform.file set released_at = null, created_at = now() - interval '25 hours' where holders = 0;
		update platform.task set due_at = now() where kind = 'file'`)
	p.start(t)
	p.awaitRow(t, `select count(*) = 1 from platform.file`)
	p.verify(t, "a day later")
	if got := p.objects(t, storage.Files); got != 1 {
		t.Errorf("%d objects of files a day later, want 1", got)
	}
}

// TestKilledSweeper kills the server before and while it works off the queue of deletions.
// Nothing in it is forgotten, and nothing needed is deleted.
func TestKilledSweeper(t *testing.T) {
	t.Parallel()
	p := newPhotos(t)
	s := p.start(t)
	for _, c := range []struct{ path, body string }{
		{"createPhoto", `{"title":"kept","image":"` + p.upload(t) + `"}`},
		{"createPhoto", `{"title":"a","image":"data:image/png;name=a.png;base64,aW1hZ2U=","more":["data:image/png;name=b.png;base64,aW5saW5l"]}`},
		{"updatePhoto", `{"where":{"title":"a"},"values":{"image":"data:image/png;name=c.png;base64,bmV3"}}`},
		{"deletePhoto", `{"title":"a"}`},
	} {
		if status, got := request(t, "POST", p.url+"/api/json/"+c.path, c.body); status != 200 {
			t.Fatalf("%s %s: got %d %s", c.path, c.body, status, got)
		}
	}
	s.End(t, syscall.SIGKILL)
	p.verify(t, "before anything was deleted")
	p.exec(t, `update platform.file set released_at = now() - interval '2 hours' where holders = 0;
		update platform.task set due_at = now() where kind = 'file'`)
	// As if no upload had been deleted yet.
	p.exec(t, `update platform.file_upload set cleared_at = null`)

	for _, prefix := range []string{storage.Files, storage.Uploads} {
		for _, isDone := range []bool{false, true} {
			step := fmt.Sprintf("at the deletion of %s, done: %t", prefix, isDone)
			ended := make(chan struct{})
			var starting sync.Mutex // until the process is known
			starting.Lock()
			var once sync.Once
			p.proxy.watch(func(r *http.Request, done bool) {
				if r.Method == "DELETE" && strings.Contains(r.URL.Path, "/"+prefix) && done == isDone {
					once.Do(func() {
						starting.Lock()
						s.End(t, syscall.SIGKILL)
						close(ended)
					})
				}
			})
			s = command{args: []string{"serve"}, dir: t.TempDir(), env: p.env}.start(t)
			starting.Unlock()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatalf("%s: nothing is deleted", step)
			}
			p.proxy.watch(nil)
			p.verify(t, step)
		}
	}

	p.start(t)
	p.awaitRow(t, `select count(*) = 1 and min(holders) = 1 from platform.file`)
	p.awaitRow(t, `select bool_and(cleared_at is not null) from platform.file_upload`)
	p.verify(t, "after all was deleted")
	if files, uploads := p.objects(t, storage.Files), p.objects(t, storage.Uploads); files != 1 || uploads != 0 {
		t.Errorf("%d objects of files and %d of uploads are left, want 1 and 0", files, uploads)
	}
}

func (p *photos) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := p.db.Superuser(t).Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// objects counts the objects below a prefix.
func (p *photos) objects(t *testing.T, prefix string) int {
	t.Helper()
	n := 0
	for _, err := range p.store.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
