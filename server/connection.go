package server

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// listener hands out connections that know their state. It exists for four things
// that fasthttp does not offer: to see that a client has left, to close connections
// that never sent a request when the server stops, to let an answer arrive that
// was given before the request was read to its end, and to know the path of a request
// whose header is too long.
type listener struct {
	net.Listener
	mu   sync.Mutex
	open map[*connection]struct{}
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, open: map[*connection]struct{}{}}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: inner, listener: l}
	if s, ok := inner.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.mu.Unlock()
	return c, nil
}

// closeUnused closes the connections on which nothing was ever sent.
func (l *listener) closeUnused() {
	l.mu.Lock()
	var unused []*connection
	for c := range l.open {
		if !c.used.Load() {
			unused = append(unused, c)
		}
	}
	l.mu.Unlock()
	for _, c := range unused {
		c.Close()
	}
}

// connection is a client's connection.
type connection struct {
	net.Conn
	listener *listener
	raw      syscall.RawConn // nil if it has no socket
	used     atomic.Bool     // something was sent on it
	linger   atomic.Bool     // the request was not read to its end
	ended    bool            // nothing more will come; for the goroutine that reads
	head     []byte          // the beginning of what was last read into an empty buffer
}

// headLimit is how much is kept of the beginning of a request: more than the paths
// need whose answers have another form.
const headLimit = 256

// Read reads. fasthttp counts a connection as active before anything was sent on it,
// so that the first bytes are noted here.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.used.Load() {
		c.used.Store(true)
	}
	if err == io.EOF {
		c.ended = true
	}
	if len(b) == headerLimit { // all of the buffer is free
		c.head = append(c.head[:0], b[:min(max(n, 0), headLimit)]...)
	}
	return n, err
}

// pathOfHead returns the path of the request that was read last, as long as the
// header is what is being read. It is for the goroutine that reads.
func (c *connection) pathOfHead() string {
	_, rest, _ := strings.Cut(string(c.head), " ")
	path, _, _ := strings.Cut(rest, " ")
	path, _, _ = strings.Cut(path, "?")
	return path
}

// lingerTime is how long a closing connection goes on reading.
const lingerTime = 2 * time.Second

// Close closes the connection. If the client is still sending, closing at once
// would reset the connection, and the answer might be lost with it. So it is told
// that nothing more will come, and what it sends is dropped for a while.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()

	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Swap(false) {
		if half.CloseWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	}
	return c.Conn.Close()
}
