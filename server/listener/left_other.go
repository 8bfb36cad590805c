//go:build !unix

package listener

import "net"

// HasLeft is never true here: a statement whose client has left runs to its end or
// its time limit.
func HasLeft(net.Conn) bool {
	return false
}

// canPark is false here: connections keep their buffers while they wait.
const canPark = false

func (c *Connection) awaitInput() bool { return false }

// IsGone never finds out that a connection was closed here.
func IsGone(net.Conn) bool { return false }
