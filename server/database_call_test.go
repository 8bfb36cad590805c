package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
)

func TestReadingActionsDoNotWrite(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.PoolSize = 1 })
	for _, call := range []string{"GET /api/json/sneak HTTP/1.1\nHost: x\n\n", "POST /api/json/sneak HTTP/1.1\nHost: x\nContent-Length: 0\n\n"} {
		if resp, body := s.raw(t, call); resp.StatusCode != 500 || body != internalBody {
			t.Errorf("%s: got %d %s, want 500", call, resp.StatusCode, body)
		}
	}
	if !strings.Contains(s.log.String(), `"sqlstate":"25006"`) {
		t.Error("the write was not refused as one in a read-only transaction")
	}
	var sneaked int
	if err := d.Owner(t).QueryRow(t.Context(), "select count(*) from app.author where id = 'sneaked'").Scan(&sneaked); err != nil || sneaked != 0 {
		t.Errorf("sneaked rows: got %d (%v), want 0", sneaked, err)
	}
	// Writing works on the same connection right after.
	if status, body := s.post(t, "createNote", `{"title":"written"}`); status != 200 {
		t.Errorf("createNote: got %d %s", status, body)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	t.Run("statement", func(t *testing.T) {
		t.Parallel()
		s, _ := startReady(t, func(c *config.Config) { c.StatementTimeout = time.Second })
		if status, body := s.post(t, "nap", `{"seconds":30}`); status != 504 || body != timeoutBody {
			t.Errorf("got %d %s, want 504", status, body)
		}
	})
	t.Run("statement, behind a pooler that drops the setting", func(t *testing.T) {
		t.Parallel()
		s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.StatementTimeout = 1, 2*time.Second })
		d.exec(t, `create or replace function api.nap(input jsonb, context jsonb) returns text
			language plpgsql stable security definer set search_path = pg_catalog, pg_temp
			as $$ begin perform set_config('statement_timeout', '0', false); return '"off"'; end; $$`)
		if _, body := s.post(t, "nap", `{"seconds":1}`); body != `"off"` {
			t.Fatalf("nap: got %s", body)
		}
		if status, body := s.post(t, "hold", `{"id":"n1","seconds":30}`); status != 504 || body != timeoutBody {
			t.Errorf("got %d %s, want 504", status, body)
		}
	})
	t.Run("lock", func(t *testing.T) {
		t.Parallel()
		s, d := startReady(t, func(c *config.Config) { c.LockTimeout = 200 * time.Millisecond })
		conn := d.Owner(t)
		if _, err := conn.Exec(t.Context(), "begin; lock table app.note"); err != nil {
			t.Fatal(err)
		}
		if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 504 || body != timeoutBody {
			t.Errorf("got %d %s, want 504", status, body)
		}
	})
	t.Run("place", func(t *testing.T) {
		t.Parallel()
		s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait, c.StatementTimeout = 1, time.Second, 5*longEnough })
		held := make(chan struct{})
		go func() {
			defer close(held)
			s.post(t, "hold", `{"id":"n1","seconds":600}`)
		}()
		d.waitSleeping(t, 1)
		if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 503 || body != overloadedJSON {
			t.Errorf("got %d %s, want 503 %s", status, body, overloadedJSON)
		}
		d.wake(t)
		<-held
		if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
			t.Errorf("afterwards: got %d %s", status, body)
		}
	})
}

func TestLostRacesAreRetried(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	for _, code := range []string{"40001", "40P01"} {
		for times, want := range []string{`200 "won"`, `200 "won"`, `200 "won"`, `200 "won"`, "503 " + unavailableJSON} {
			d.exec(t, "alter sequence functions.attempt restart")
			status, body := s.post(t, "lose", fmt.Sprintf(`{"times":%d,"code":"%s"}`, times, code))
			if got := fmt.Sprint(status, " ", body); got != want {
				t.Errorf("%d times %s: got %s, want %s", times, code, got, want)
			}
		}
	}
}

// Calls of several identities take turns on one connection.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait = 1, 20*time.Second })
	var wg sync.WaitGroup
	for _, who := range []string{"ada", "bob", ""} {
		wg.Go(func() {
			for range 100 {
				header, want := map[string]string{}, `{"requestId":"`
				if who != "" {
					header["Authorization"] = "Bearer " + who
					want = `"identityId":"` + who + `"}`
				}
				resp, body := s.do(t, "POST", "/api/json/whoAmI", "", header)
				if resp.StatusCode != 200 || !strings.Contains(body, want) || who == "" && strings.Contains(body, "identityId") {
					t.Errorf("%s: got %d %s", who, resp.StatusCode, body)
				}
			}
		})
	}
	wg.Wait()
}

func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	leave := map[string]func(c *rawConn){
		"closing":    func(c *rawConn) { c.Close() },
		"resetting":  func(c *rawConn) { c.Conn.(*net.TCPConn).SetLinger(0); c.Close() },
		"half-close": func(c *rawConn) { c.Conn.(*net.TCPConn).CloseWrite() },
	}
	for name, leave := range leave {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.StatementTimeout = 1, time.Minute })
			c := s.dial(t)
			c.write(t, "POST /api/json/hold HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\n{\"id\":\"n1\", \"seconds\":500}")
			d.waitSleeping(t, 1)
			leave(c)
			d.waitSleeping(t, 0)
			s.waitLog(t, `"status":499`)
			// The cancelled connection is not used again; a new one is.
			if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
				t.Errorf("afterwards: got %d %s", status, body)
			}
		})
	}

	t.Run("one that stays", func(t *testing.T) {
		t.Parallel()
		s, _ := startReady(t, nil)
		c := s.dial(t)
		// A pending next request does not count as leaving, and stays.
		c.write(t, "POST /api/json/nap HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"seconds\":0.4}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, body := c.response(t, "POST"); body != `"rested"` {
			t.Errorf("nap: got %s", body)
		}
		if _, body := c.response(t, "GET"); body != `{"status":"ok"}` {
			t.Errorf("healthz: got %s", body)
		}
	})
}

// A call is never sent if its client leaves while it waits for a connection.
func attackByLeaving(t *testing.T) {
	s, d := startReady(t, func(c *config.Config) { c.PoolSize, c.PoolWait, c.StatementTimeout = 1, time.Minute, time.Minute })
	slow := s.dial(t)
	slow.write(t, "POST /api/json/hold HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\n{\"id\":\"n1\", \"seconds\":500}")
	d.waitSleeping(t, 1)
	create := func(title string) *rawConn {
		c := s.dial(t)
		before := s.inFlight.Load()
		c.write(t, fmt.Sprintf("POST /api/json/createNote HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{\"title\":%q}", len(title)+12, title))
		until(t, "the call waits", func() bool { return s.inFlight.Load() > before })
		return c
	}
	for left := range 3 {
		create("left").Close()
		until(t, "it is seen that the client has left", func() bool { return strings.Count(s.log.String(), `"status":499`) == left+1 })
	}
	stays := create("stays")
	slow.Close()
	if resp, body := stays.response(t, "POST"); resp.StatusCode != 200 {
		t.Errorf("the one that stays: got %d %s", resp.StatusCode, body)
	}
	until(t, "all calls have ended", func() bool { return s.inFlight.Load() == 0 })
	var left int
	if err := d.Superuser(t).QueryRow(t.Context(), "select count(*) from app.note where title = 'left'").Scan(&left); err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("%d calls were made for clients that had left", left)
	}
	if n := strings.Count(s.log.String(), `"status":499`); n != 4 {
		t.Errorf("%d calls are logged as left, want 4", n)
	}
}

// A connection that has lost its prepared statements does not stay broken.
func TestLostStatements(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	s := start(t, d.LoginURL(), func(c *config.Config) { c.PoolSize = 1 }) // a pooler would go on to believe that it has them
	s.waitReady(t, "")
	d.exec(t, "create or replace function api.snoop(input jsonb, context jsonb) returns text language plpgsql volatile security definer "+
		"set search_path = pg_catalog, pg_temp as $$ begin execute 'deallocate all'; return 'null'; end; $$")
	for _, action := range []string{"whoAmI", "snoop", "whoAmI", "snoop", "snoop"} {
		if status, body := s.post(t, action, ""); status != 200 {
			t.Errorf("%s: got %d %s", action, status, body)
		}
	}
}

// switchboard is between a server and its database, and can cut the line.
type switchboard struct {
	net.Listener
	network, target string
	mu              sync.Mutex
	isCut           atomic.Bool
	open            []net.Conn
}

func newSwitchboard(t *testing.T, network, target string) *switchboard {
	b := &switchboard{Listener: listenLocal(t), network: network, target: target}
	t.Cleanup(func() { b.Close(); b.cut() })
	go func() {
		for {
			in, err := b.Accept()
			if err != nil {
				return
			}
			if b.isCut.Load() {
				in.Close()
				continue
			}
			out, err := net.Dial(b.network, b.target)
			if err != nil {
				in.Close()
				continue
			}
			b.mu.Lock()
			b.open = append(b.open, in, out)
			b.mu.Unlock()
			go func() { io.Copy(in, out); in.Close() }()
			go func() { io.Copy(out, in); out.Close() }()
		}
	}()
	return b
}

func (b *switchboard) cut() {
	b.isCut.Store(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.open {
		c.Close()
	}
	b.open = nil
}

func (b *switchboard) mend() { b.isCut.Store(false) }

func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	network, address := d.address(t)
	board := newSwitchboard(t, network, address)
	board.cut()

	// It may be away at the start, too.
	s := start(t, d.through(t, board.Addr().String()), nil)
	s.waitReady(t, "database")
	for range 2 {
		for range 5 {
			resp, body := s.do(t, "POST", "/api/json/getNote", `{"id":"n1"}`, nil)
			if resp.StatusCode != 503 || body != unavailableJSON || resp.Header.Get("Retry-After") == "" {
				t.Errorf("away: got %d %s", resp.StatusCode, body)
			}
		}
		if status, _ := s.post(t, "getNote", "{"); status != 503 && status != 400 {
			t.Errorf("away, malformed: got %d", status)
		}
		board.mend()
		s.waitReady(t, "")
		for range 5 {
			if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
				t.Errorf("back: got %d %s", status, body)
			}
		}
		board.cut()
		s.waitReady(t, "database")
	}
}

func TestDatabaseKillsConnections(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, nil)
	keys := 0
	write := func(when string) { // it is not sent on a connection that has ended
		if status, body := s.post(t, "createNote", `{"title":"written"}`); status != 200 {
			t.Fatalf("a write %s: got %d %s", when, status, body)
		}
		keys++
		header := map[string]string{"Content-Type": "application/json", "Idempotency-Key": fmt.Sprintf("key-%d", keys)}
		if resp, body := s.do(t, "POST", "/api/json/createNote", `{"title":"written once"}`, header); resp.StatusCode != 200 {
			t.Fatalf("a write with a key %s: got %d %s", when, resp.StatusCode, body)
		}
	}
	end := func() {
		_, err := d.Superuser(t).Exec(t.Context(), "select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database() and usename = $1", d.serverLogin(t))
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
			t.Fatalf("got %d %s", status, body)
		}
		write("before")
		end()
		write("right after the restart")
		for i := range 5 {
			if status, body := s.post(t, "getNote", `{"id":"n1"}`); i > 0 && status != 200 {
				t.Errorf("call %d after the restart: got %d %s", i, status, body)
			}
		}
	}
}
