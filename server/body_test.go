package server

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
)

// heap returns the bytes of live objects.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// until waits for a concurrent event.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longEnough); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Fatalf("it never happened that %s", what)
}

// Connections that announce bodies and send almost none of them cost almost nothing.
func attackByAnnouncing(t *testing.T) {
	const connections, length = 200, 1 << 20 // 200 MiB in all
	s, _ := startReady(t, nil)
	s.post(t, "getNote", `{"id":"n1"}`)
	before := heap()
	for range connections {
		c := s.dial(t)
		c.write(t, fmt.Sprintf("POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", length))
	}
	until(t, "all headers were read", func() bool {
		_, _, used := s.public.Count("")
		return used >= connections
	})
	most := int64(0)
	for range 10 {
		most = max(most, heap()-before)
		time.Sleep(20 * time.Millisecond)
	}
	each := most / connections
	t.Logf("a connection that announced %d bytes takes %d bytes", length, each)
	if each > 64<<10 {
		t.Errorf("that is more than it may")
	}
	if resp, body := s.do(t, "GET", "/healthz", "", nil); resp.StatusCode != 200 {
		t.Errorf("healthz: got %d %s", resp.StatusCode, body)
	}
}

// A refusal by path, method, token or length comes before the body. Then the connection
// ends, since its next bytes are that body.
func attackWithRefusedBodies(t *testing.T) {
	s, _ := startReady(t, nil)
	const body = "Content-Length: 1000000\r\n\r\n"
	for _, test := range []struct {
		name, header string
		status       int
	}{
		{"no such path", "POST /nowhere HTTP/1.1\r\nHost: x\r\n", 404},
		{"no such API", "POST /other/json/getNote HTTP/1.1\r\nHost: x\r\n", 404},
		{"a page", "GET /healthz HTTP/1.1\r\nHost: x\r\n", 200},
		{"a page by POST", "POST /healthz HTTP/1.1\r\nHost: x\r\n", 405},
		{"an action by PUT", "PUT /api/json/getNote HTTP/1.1\r\nHost: x\r\n", 405},
		{"an action by GET", "GET /api/json/getNote?id=n1 HTTP/1.1\r\nHost: x\r\n", 200},
		{"a bad token", "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer bad\r\n", 401},
		{"another content type", "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n", 415},
		{"an upload that nobody signed", "PUT /storage/uploads/x HTTP/1.1\r\nHost: x\r\n", 404},
		{"a sign-in by PUT", "PUT /auth/providers HTTP/1.1\r\nHost: x\r\n", 413},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			c.write(t, test.header+body)
			resp, text := c.response(t, "POST")
			if resp.StatusCode != test.status || !resp.Close {
				t.Errorf("got %d %s, close %t, want %d", resp.StatusCode, text, resp.Close, test.status)
			}
			c.write(t, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			if !c.isClosed() {
				t.Error("what came as the body was read as a request")
			}
		})
	}
}

// The rest of a short unwanted body is skipped.
func TestUnwantedBodyIsSkipped(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for name, body := range map[string]string{
		"announced": "Content-Length: 13\r\n\r\nGET / HTTP/1.",
		"in chunks": "Transfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n",
		"longer":    "Content-Length: 50000\r\n\r\n" + strings.Repeat("x", 50000),
	} {
		c := s.dial(t)
		c.write(t, "POST /nowhere HTTP/1.1\r\nHost: x\r\n"+body+"POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{\"id\":\"n1\"}")
		if resp, text := c.response(t, "POST"); resp.StatusCode != 404 || resp.Close {
			t.Errorf("%s: got %d %s, close %t", name, resp.StatusCode, text, resp.Close)
		}
		if resp, text := c.response(t, "POST"); resp.StatusCode != 200 {
			t.Errorf("%s: the next request got %d %s", name, resp.StatusCode, text)
		}
	}
}

// An incomplete body is refused with its cause.
func TestBodyEndsEarly(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for _, body := range []string{
		"Content-Length: 100\r\n\r\n{\"id\":",
		"Transfer-Encoding: chunked\r\n\r\n64\r\n{\"id\":",
		"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
	} {
		c := s.dial(t)
		c.write(t, "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\n"+body)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if resp, text := c.response(t, "POST"); resp.StatusCode != 400 || !resp.Close || !strings.Contains(text, "ERR_INPUT_MALFORMED") {
			t.Errorf("%q: got %d %s", body, resp.StatusCode, text)
		}
	}
}

// All bodies together are limited, one client has half of the limit, and short ones pass.
func attackWithManyBodies(t *testing.T) {
	const overloadedBody = `{"code":"ERR_UNAVAILABLE","message":"the service is overloaded"}`
	s, _ := startReady(t, func(c *config.Config) { c.BodyLimit, c.BodiesLimit = 128<<10, 256<<10 })
	head := "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 131072\r\n\r\n"
	first := s.dial(t)
	first.write(t, head+strings.Repeat(" ", 100<<10))
	held := func() int64 {
		return s.bodies.InUse()
	}
	until(t, "the first body has its place", func() bool { return held() > 100<<10 })

	second := s.dial(t)
	second.write(t, head+strings.Repeat(" ", 100<<10))
	resp, body := second.response(t, "POST")
	if resp.StatusCode != 503 || body != overloadedBody || resp.Header.Get("Retry-After") == "" || !resp.Close {
		t.Errorf("a second one: got %d %s %v", resp.StatusCode, body, resp.Header)
	}
	if status, body := s.post(t, "getNote", `{"id":"n1"}`); status != 200 {
		t.Errorf("a short one: got %d %s", status, body)
	}

	first.write(t, strings.Repeat(" ", 28<<10-11)+`{"id":"n1"}`)
	if resp, body := first.response(t, "POST"); resp.StatusCode != 200 {
		t.Errorf("the first one: got %d %s", resp.StatusCode, body)
	}
	until(t, "all is given back", func() bool { return held() == 0 })
}

// deadlines is a connection that notes its read deadlines.
type deadlines struct {
	net.Conn
	pieces []string
	set    []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func (d *deadlines) Read(p []byte) (int, error) {
	if len(d.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.pieces[0])
	if d.pieces[0] = d.pieces[0][n:]; d.pieces[0] == "" {
		d.pieces = d.pieces[1:]
	}
	return n, nil
}

type timeoutError struct{}

func (timeoutError) Error() string { return "too late" }
func (timeoutError) Timeout() bool { return true }
