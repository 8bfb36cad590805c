package listener

import (
	"net"
	"time"
)

// Stream makes a connection one that is only written to, after fasthttp has let go of it: one goroutine waits, without
// buffers, until the client leaves, or sends what nobody expects. Then it calls gone. The connection is closed with the
// parked ones when the server stops.
func (c *Connection) Stream(gone func()) {
	c.head = nil
	c.parked.Store(true)
	_ = c.Conn.SetDeadline(time.Time{})
	go func() {
		if c.raw != nil && canPark {
			c.awaitInput()
		} else {
			var b [1]byte
			_, _ = c.Conn.Read(b[:])
		}
		gone()
	}()
}

// TryWrite writes as much as the system takes at once, and returns how much that was. Where it cannot be known, that is
// nothing.
func TryWrite(client net.Conn, b []byte) int {
	if c, ok := client.(*Connection); ok && c.raw != nil {
		return writeAtOnce(c.raw, b)
	}
	return 0
}
