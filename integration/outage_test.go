package integration

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestDatabaseAway takes the database away from a server and gives it back. The
// server says what is wrong, stays alive, and recovers by itself.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	dir := appDir("workshop")
	db := installApp(t, dir)
	between := newLine(t, db.ServerURL())
	a := serve(t, db, dir, between.url)
	a.await(t, "createCustomer", `{"name":"Ada"}`, `"name":"Ada"`)

	between.cut()
	a.awaitReady(t, `{"status":"unavailable","reason":"database"}`)
	response, got := a.send(t, "POST", "/api/json/listCustomers", nil, `{}`)
	want := `{"code":"ERR_UNAVAILABLE","message":"the service is temporarily unavailable"}`
	if response.StatusCode != 503 || got != want {
		t.Errorf("without database: got %d %s, want 503 %s", response.StatusCode, got, want)
	}
	if after := response.Header.Get("Retry-After"); after == "" || strings.Trim(after, "0123456789") != "" {
		t.Errorf("Retry-After: got %q, want whole seconds", after)
	}
	if _, got := a.send(t, "GET", "/healthz", nil, ""); got != `{"status":"ok"}` {
		t.Errorf("/healthz without database: got %s", got)
	}
	// A browser gets a page, and later the requested one.
	response, got = a.send(t, "GET", "/", nil, "")
	if response.StatusCode != 503 || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") ||
		!strings.Contains(got, "database does not answer") || !strings.Contains(got, `src="./docs/problem.js"`) {
		t.Errorf("the page without database: got %d %s %s", response.StatusCode, response.Header.Get("Content-Type"), got)
	}
	// Requests that need no database are still answered.
	if _, got := a.send(t, "POST", "/api/json/createCustomer", nil, `{}`); !strings.Contains(got, "name is required") {
		t.Errorf("an invalid input without database: got %s", got)
	}

	between.mend()
	a.awaitReady(t, `{"status":"ok"}`)
	a.await(t, "listCustomers", `{}`, `"name":"Ada"`)
	if response, got := a.send(t, "GET", "/", nil, ""); response.StatusCode != 200 || !strings.Contains(got, "createCustomer") {
		t.Errorf("the page with a database again: got %d %s", response.StatusCode, got)
	}

	// Connections that only broke take no time at all.
	if _, err := db.Superuser(t).Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	a.await(t, "listCustomers", `{}`, `"name":"Ada"`)
	a.awaitReady(t, `{"status":"ok"}`)
}

// line is a connection to a database that can be cut.
type line struct {
	url      string
	listener net.Listener

	mu               sync.Mutex
	network, address string // of the database
	isCut            bool
	conns            []net.Conn
}

// newLine makes a line to the database that a URL names.
func newLine(t *testing.T, databaseURL string) *line {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	through := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(config.User, config.Password),
		Host:     listener.Addr().String(),
		Path:     config.Database,
		RawQuery: "sslmode=disable",
	}
	l := &line{url: through.String(), listener: listener}
	l.network, l.address = pgconn.NetworkAddress(config.Host, config.Port)
	go l.accept()
	t.Cleanup(func() {
		listener.Close()
		l.cut()
	})
	return l
}

func (l *line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		far, err := net.Dial(l.network, l.address)
		if l.isCut || err != nil {
			near.Close()
			if err == nil {
				far.Close()
			}
			l.mu.Unlock()
			continue
		}
		l.conns = append(l.conns, near, far)
		l.mu.Unlock()
		go func() { _, _ = io.Copy(far, near); far.Close() }()
		go func() { _, _ = io.Copy(near, far); near.Close() }()
	}
}

// cut breaks all connections and lets no new ones through.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, c := range l.conns {
		c.Close()
	}
	l.conns = nil
}

// lead lets new connections lead to another database.
func (l *line) lead(t *testing.T, databaseURL string) {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.network, l.address = pgconn.NetworkAddress(config.Host, config.Port)
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}
