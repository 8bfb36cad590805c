//go:build unix

package listener

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// HasLeft tells whether the client has closed its side of the connection. It peeks, so
// that a next request in the buffer stays there. It bypasses the deadlines of the
// connection, which belong to fasthttp.
func HasLeft(client net.Conn) bool {
	c, ok := client.(*Connection)
	if !ok || c.raw == nil {
		return false
	}
	return isClosed(c.raw)
}

// IsGone tells whether the other side of any connection has closed it. Data that has
// arrived stays there, and counts as a sign of life.
func IsGone(c net.Conn) bool {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	system, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := system.SyscallConn()
	return err != nil || isClosed(raw)
}

// isClosed peeks.
func isClosed(raw syscall.RawConn) bool {
	p := peeks.Get().(*peek)
	defer peeks.Put(p)
	return raw.Control(p.at) != nil || p.closed
}

// peek looks whether a connection is closed. It is pooled, since each write looks.
type peek struct {
	closed bool
	first  [1]byte
	at     func(fd uintptr)
}

var peeks = sync.Pool{New: func() any {
	p := &peek{}
	p.at = p.look
	return p
}}

func (p *peek) look(fd uintptr) {
	n, _, err := syscall.Recvfrom(int(fd), p.first[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	switch {
	case err == nil:
		p.closed = n == 0
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		p.closed = false
	default:
		p.closed = true
	}
}

// writeAtOnce writes without waiting.
func writeAtOnce(raw syscall.RawConn, b []byte) (n int) {
	_ = raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b)
		return true
	})
	return max(n, 0)
}

// canPark tells whether awaitInput waits.
const canPark = true

// awaitInput waits until the connection has data to read, and leaves it there. It returns
// false if the client has left, and after the deadline.
func (c *Connection) awaitInput() bool {
	isThere := false
	err := c.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
			return false
		}
		isThere = err == nil && n > 0
		return true
	})
	return err == nil && isThere
}
