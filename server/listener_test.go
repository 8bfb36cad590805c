package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
)

// starving is a listener that lacks something when it is first asked.
type starving struct {
	net.Listener
	errors []error
	next   atomic.Int64
}

func (l *starving) Accept() (net.Conn, error) {
	if i := int(l.next.Add(1)) - 1; i < len(l.errors) {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", l.errors[i])}
	}
	return l.Listener.Accept()
}

// If no connection can be accepted, the server waits until one can, and logs that once.
func attackOnDescriptors(t *testing.T) {
	l := &starving{Listener: listenLocal(t), errors: []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
	}}
	log := &logBuffer{}
	s, err := New(testConfig("postgres://127.0.0.1:1/none", nil), Options{
		Identifier: tokens{}, Log: slog.New(slog.NewJSONHandler(log, nil)), Listener: l,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	ts := &testServer{Server: s, url: "http://" + s.Addr().String()}
	c := ts.dial(t)
	c.write(t, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, body := c.response(t, "GET"); resp.StatusCode != 200 {
		t.Errorf("healthz: got %d %s", resp.StatusCode, body)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	if n := strings.Count(log.String(), "cannot accept a connection"); n != 1 {
		t.Errorf("it was logged %d times: %s", n, log)
	}
}

// dialFrom opens a connection from another address.
func (s *testServer) dialFrom(t *testing.T, address string) *rawConn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := d.Dial("tcp4", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return newRawConn(t, c)
}

// connections returns the number of open connections, in total and of one address.
func (s *testServer) connections(address string) (all, theirs int) {
	all, theirs, _ = s.public.Count(address)
	return all, theirs
}

// busy opens a connection whose request is being answered for as long as its body is awaited.
func (s *testServer) busy(t *testing.T, address string) *rawConn {
	t.Helper()
	c := s.dialFrom(t, address)
	before := s.inFlight.Load()
	c.write(t, "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{")
	until(t, "the request is being answered", func() bool { return s.inFlight.Load() > before })
	return c
}

// Any number of idle connections leaves room for a new request, and busy ones of one
// address leave room for those of another.
func attackWithConnections(t *testing.T) {
	s, _ := startReady(t, func(c *config.Config) { c.MaxConnections = 16 })
	const health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	served := func(who, address string) {
		t.Helper()
		c := s.dialFrom(t, address)
		c.write(t, health)
		if resp, body := c.response(t, "GET"); resp.StatusCode != 200 {
			t.Errorf("%s: got %d %s", who, resp.StatusCode, body)
		}
		c.Close()
	}

	for i := range 60 {
		c := s.dialFrom(t, "127.0.0.2")
		if i%2 == 0 { // kept after an answer
			c.write(t, health)
			c.response(t, "GET")
		}
		if all, theirs := s.connections("127.0.0.2"); all > 16 || theirs > 8 {
			t.Fatalf("%d connections are open, %d of one address", all, theirs)
		}
	}
	served("the same address", "127.0.0.2")
	served("another address", "127.0.0.3")

	var all []*rawConn
	for range 8 {
		all = append(all, s.busy(t, "127.0.0.2"))
	}
	if !s.dialFrom(t, "127.0.0.2").isShut() {
		t.Error("a ninth connection of an address at work was taken")
	}
	served("another address", "127.0.0.3")
	for range 8 {
		all = append(all, s.busy(t, "127.0.0.4"))
	}
	if !s.dialFrom(t, "127.0.0.3").isShut() {
		t.Error("a connection was taken while all were at work")
	}
	for _, c := range all {
		c.write(t, `"id":"n1"}`)
		if resp, body := c.response(t, "POST"); resp.StatusCode != 200 {
			t.Errorf("one at work: got %d %s", resp.StatusCode, body)
		}
	}
	served("whoever comes afterwards", "127.0.0.3")
	if n := strings.Count(s.log.String(), "too many connections: closing"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// isShut waits for the server to end the connection in any way.
func (c *rawConn) isShut() bool {
	_, err := c.in.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// silent is a connection that sends a beginning and then nothing. The server learns at once that its
// deadline has passed.
type silent struct {
	deadlines
	written strings.Builder
	closed  bool
}

func (c *silent) Read(p []byte) (int, error) {
	n, err := c.deadlines.Read(p)
	if err == io.EOF {
		err = &net.OpError{Op: "read", Err: timeoutError{}}
	}
	return n, err
}

func (c *silent) Write(p []byte) (int, error)      { return c.written.Write(p) }
func (c *silent) SetDeadline(time.Time) error      { return nil }
func (c *silent) SetWriteDeadline(time.Time) error { return nil }
func (c *silent) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *silent) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *silent) Close() error                     { c.closed = true; return nil }

// A connection without a header is closed after ten seconds, and one that was kept alive
// after a bit more than a minute.
func attackBySilence(t *testing.T) {
	s, err := New(testConfig("postgres://127.0.0.1:1/none", nil), Options{Identifier: tokens{}, Log: discardLog(), Listener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.db.Close()
	defer s.public.Close()
	const request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, test := range []struct {
		name     string
		pieces   []string
		patience time.Duration
		answer   string // how it begins
	}{
		{"nothing", nil, 10 * time.Second, ""},
		{"half a header", []string{"GET /healthz HTTP/1.1\r\nHo"}, 10 * time.Second, "HTTP/1.1 400"},
		{"kept", []string{request}, 75 * time.Second, "HTTP/1.1 200"},
		{"half of a second header", []string{request, "GET"}, 10 * time.Second, "HTTP/1.1 200"},
	} {
		c := &silent{deadlines: deadlines{pieces: test.pieces}}
		began := time.Now()
		_ = s.app.Server().ServeConn(s.public.Wrap(c))
		ended := time.Now()
		last := c.set[len(c.set)-1]
		if last.Before(began.Add(test.patience)) || last.After(ended.Add(test.patience)) {
			t.Errorf("%s: it is waited for %s, want %s", test.name, last.Sub(began), test.patience)
		}
		if got := c.written.String(); !strings.HasPrefix(got, test.answer) {
			t.Errorf("%s: got %q, want %s", test.name, got, test.answer)
		}
		if test.answer == "" && !c.closed {
			t.Errorf("%s: it is answered", test.name)
		}
	}
}
