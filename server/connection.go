package server

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// connection is a client's connection.
type connection struct {
	sent atomic.Pointer[heldBytes] // of the answer that is being written; nil for nothing
	net.Conn
	listener *listener
	peer     string          // by whom it is counted; empty if by nobody
	raw      syscall.RawConn // nil if it has no socket
	waiting  atomic.Int64    // since when for a request, in Unix nanoseconds; 0 while one is answered
	used     atomic.Bool     // something was sent on it
	linger   atomic.Bool     // the request was not read to its end
	ended    bool            // nothing more will come; for the goroutine that reads
	head     []byte          // the beginning of what was last read into an empty buffer
}

// waits notes that the next request is waited for.
func (c *connection) waits(now time.Time) {
	c.waiting.Store(now.UnixNano())
}

// works notes that a request is answered.
func (c *connection) works() {
	c.waiting.Store(0)
}

// headLimit is how much is kept of the beginning of a request: more than the paths
// need whose answers have another form.
const headLimit = 256

// Read reads. fasthttp counts a connection as active before anything was sent on it,
// so that the first bytes are noted here.
func (c *connection) Read(b []byte) (int, error) {
	c.sent.Swap(nil).release() // the answer before has been written
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
	defer c.listener.forget(c)
	defer func() { c.sent.Swap(nil).release() }()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Swap(false) {
		if half.CloseWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	}
	return c.Conn.Close()
}
