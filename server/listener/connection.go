package listener

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sternpost/sternpost/server/budget"
)

// Connection is a client's connection.
type Connection struct {
	sent atomic.Pointer[budget.Held] // of the answer that is being written; nil for nothing
	net.Conn
	listener *Listener
	peer     string          // by whom it is counted; empty if by nobody
	raw      syscall.RawConn // nil if it has no socket
	waiting  atomic.Int64    // since when for a request, in Unix nanoseconds; 0 while one is answered
	Used     atomic.Bool     // something was sent on it
	linger   atomic.Bool     // the request was not read to its end
	parks    atomic.Bool     // it is to be parked when fasthttp closes it
	parked   atomic.Bool     // it is

	// For the goroutine that reads:
	ended bool      // nothing more will come
	head  []byte    // the beginning of what was last read into an empty buffer
	kept  time.Time // since when the next request is waited for; zero if none is
	until time.Time // how long it may be waited for in all; zero if the connection is not to be parked
}

// Works notes that a request is answered.
func (c *Connection) Works() {
	c.waiting.Store(0)
}

// ReadFrom sends what the reader has. The kernel does that by itself if it is a file.
func (c *Connection) ReadFrom(r io.Reader) (int64, error) {
	if sender, ok := c.Conn.(io.ReaderFrom); ok {
		return sender.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// HeaderLimit is how long the request line and the headers of a request may be: the size of
// the buffer that they are read into.
const HeaderLimit = 16 << 10

// headLimit is how much is kept of the beginning of a request: more than the paths
// need whose answers have another form.
const headLimit = 256

// Read reads. fasthttp counts a connection as active before anything was sent on it,
// so that the first bytes are noted here.
func (c *Connection) Read(b []byte) (int, error) {
	c.sent.Swap(nil).Release() // the answer before has been written
	n, err := c.Conn.Read(b)
	if n > 0 && !c.Used.Load() {
		c.Used.Store(true)
	}
	if err == io.EOF {
		c.ended = true
	}
	if n == 0 && err != nil {
		c.noteParking(err)
	}
	if len(b) == HeaderLimit { // all of the buffer is free
		c.head = append(c.head[:0], b[:min(max(n, 0), headLimit)]...)
	}
	return n, err
}

// PathOfHead returns the path of the request that was read last, as long as the
// header is what is being read. It is for the goroutine that reads.
func (c *Connection) PathOfHead() string {
	_, rest, _ := strings.Cut(string(c.head), " ")
	path, _, _ := strings.Cut(rest, " ")
	path, _, _ = strings.Cut(path, "?")
	return path
}

// lingerTime is how long a closing connection goes on reading.
const lingerTime = 2 * time.Second

// Close closes the connection. If the client is still sending, closing at once
// would reset the connection, and the answer might be lost with it. So it is told
// that nothing more will come, and what it sends is dropped for a while. A connection that
// only waits is parked.
func (c *Connection) Close() error {
	if c.parks.Swap(false) {
		go c.listener.park(c)
		return nil
	}
	defer c.listener.forget(c)
	defer func() { c.sent.Swap(nil).Release() }()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Swap(false) {
		if half.CloseWrite() == nil && c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	}
	return c.Conn.Close()
}

// HasEnded tells whether the end of a connection has been read. fasthttp takes it for the
// end of a body where the next chunk should begin.
func HasEnded(client net.Conn) bool {
	own, ok := client.(*Connection)
	return ok && own.ended
}

// Linger makes the answer arrive although the client may still be sending.
func Linger(client net.Conn) {
	if own, ok := client.(*Connection); ok {
		own.linger.Store(true)
	}
}

// HoldOf returns the account of the answer that is being written on the connection of a
// client, which begins if there is none; nil if the connection is not one of a listener.
func HoldOf(client net.Conn, begin func() *budget.Held) *budget.Held {
	own, isOurs := client.(*Connection)
	if !isOurs {
		return nil
	}
	held := own.sent.Load()
	if held == nil {
		held = begin()
		own.sent.Store(held)
	}
	return held
}
