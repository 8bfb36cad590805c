//go:build unix

package listener

import (
	"errors"
	"net"
	"syscall"
)

// HasLeft tells whether the client has closed its side of the connection. It peeks,
// so that a next request which the client has already sent stays where it is. It
// goes around the deadlines of the connection, which are fasthttp's.
func HasLeft(client net.Conn) bool {
	c, ok := client.(*Connection)
	if !ok || c.raw == nil {
		return false
	}
	left := false
	err := c.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == nil:
			left = n == 0
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		default:
			left = true
		}
	})
	return left || err != nil
}

// canPark tells whether awaitInput waits.
const canPark = true

// awaitInput waits until there is something to read on the connection, which it leaves
// there. It returns false if the client has left, and after the deadline.
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
