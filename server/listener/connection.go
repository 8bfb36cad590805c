package listener

import (
	"errors"
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
	sent atomic.Pointer[budget.Held] // for the answer in progress; nil for none
	net.Conn
	listener *Listener
	peer     string          // the peer that it counts for; empty if for none
	raw      syscall.RawConn // nil if it has no socket
	waiting  atomic.Int64    // since when it waits for a request, in Unix nanoseconds; 0 during an answer
	Used     atomic.Bool     // something was sent on it
	linger   atomic.Bool     // the request was not read completely
	parks    atomic.Bool     // it is parked when fasthttp closes it
	parked   atomic.Bool     // it is

	// For the reading goroutine:
	ended bool      // the input has ended
	head  []byte    // the beginning of the last read into an empty buffer
	kept  time.Time // since when it waits for the next request; zero if it does not
	until time.Time // when the wait ends; zero if the connection will not be parked

	reading, writing deadline
}

// Works notes that a request is being answered.
func (c *Connection) Works() {
	c.waiting.Store(0)
}

// SetWriteDeadline sets the deadline for what is sent to the client.
func (c *Connection) SetWriteDeadline(t time.Time) error {
	if c.writing.want(t); !c.writing.isDue() {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *Connection) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// ReadFrom sends the content of the reader. For a file, the kernel does that itself.
func (c *Connection) ReadFrom(r io.Reader) (int64, error) {
	if sender, ok := c.Conn.(io.ReaderFrom); ok {
		return sender.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// HeaderLimit limits the request line and the headers of a request: it is the size of their
// read buffer.
const HeaderLimit = 16 << 10

// headLimit is how much of the beginning of a request is kept: more than the paths need
// that have answers of another form.
const headLimit = 256

// Read notes the first bytes, since fasthttp counts a connection as active before
// anything was sent on it.
func (c *Connection) Read(b []byte) (int, error) {
	c.sent.Swap(nil).Release() // the previous answer has been written
	if err := c.setReading(); err != nil {
		return 0, err
	}
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
	if len(b) == HeaderLimit { // the whole buffer is free
		c.head = append(c.head[:0], b[:min(max(n, 0), headLimit)]...)
	}
	return n, err
}

// PathOfHead returns the path of the last request while its header is being read. It is
// for the reading goroutine.
func (c *Connection) PathOfHead() string {
	_, rest, _ := strings.Cut(string(c.head), " ")
	path, _, _ := strings.Cut(rest, " ")
	path, _, _ = strings.Cut(path, "?")
	return path
}

// lingerTime is how long a closing connection continues to read.
const lingerTime = 2 * time.Second

// Close closes the connection. If the client is still sending, an immediate close would
// reset the connection, and the answer might be lost. So the client gets the end of the
// stream, and its data is discarded for a while. A connection that only waits is parked.
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
// end of a body if it comes in place of the next chunk.
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

// HoldOf returns the account of the current answer on a client's connection, and calls
// begin for a new one; nil if the connection does not come from a listener.
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
