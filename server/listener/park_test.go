package listener

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"
)

// pair returns both ends of a connection.
func pair(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); client.Close() })
	return server, client
}

// TestPark lets connections wait as fasthttp does: the wait ends with the deadline, and then they are
// closed.
func TestPark(t *testing.T) {
	t.Parallel()
	long, short := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	for _, test := range []struct {
		name   string
		until  time.Time
		happen func(l *Listener, client net.Conn)
		served string // the answer, which is what was sent; empty if it is closed
	}{
		{"a request comes", long, func(_ *Listener, client net.Conn) { io.WriteString(client, "GET") }, "GET"},
		{"the client leaves", long, func(_ *Listener, client net.Conn) { client.(*net.TCPConn).CloseWrite() }, ""},
		{"it is too late", short, func(*Listener, net.Conn) {}, ""},
		{"the server stops", long, func(l *Listener, _ net.Conn) { l.CloseUnused() }, ""},
		{"there are too many", long, func(l *Listener, _ net.Conn) {
			for l.shed("") == 0 {
				time.Sleep(time.Millisecond)
			}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			inner, client := pair(t)
			l := New(nil, Limits{All: 10, perPeer: 10}, slog.New(slog.DiscardHandler))
			l.Parks(func(c net.Conn) error {
				b := make([]byte, 16)
				n, _ := c.Read(b)
				c.Write(b[:n])
				return c.Close()
			})
			c := l.Wrap(inner)
			if !l.admit(c) {
				t.Fatal("it is not admitted")
			}
			c.Waits(time.Now().Add(-2 * parkTime))
			if err := c.SetReadDeadline(test.until); err != nil {
				t.Fatal(err)
			}
			c.until = test.until // also if that is before it would be parked
			if n, err := c.Read(make([]byte, HeaderLimit)); n != 0 || err == nil {
				t.Fatalf("got %d bytes, %v", n, err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			test.happen(l, client)
			client.SetReadDeadline(time.Now().Add(30 * time.Second))
			if answer, err := io.ReadAll(client); err != nil || string(answer) != test.served {
				t.Errorf("got %q, %v, want %q", answer, err, test.served)
			}
			for all := 1; all > 0; all, _, _ = l.Count("") {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// A connection on which a request arrives is not a waiting one.
func TestReadingIsNotParked(t *testing.T) {
	t.Parallel()
	inner, client := pair(t)
	l := New(nil, Limits{All: 10, perPeer: 10}, slog.New(slog.DiscardHandler))
	l.Parks(func(net.Conn) error { t.Error("it was parked"); return nil })
	c := l.Wrap(inner)
	c.Waits(time.Now().Add(-2 * parkTime))
	c.Begins()
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, HeaderLimit)); n != 0 || err == nil {
		t.Fatalf("got %d bytes, %v", n, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
}
