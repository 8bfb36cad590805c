//go:build !unix

package listener

import (
	"net"
	"syscall"
)

// HasLeft is never true on this system: a statement runs to its end or its time limit
// even if its client has left.
func HasLeft(net.Conn) bool {
	return false
}

// canPark is false on this system: connections keep their buffers while they wait.
const canPark = false

func (c *Connection) awaitInput() bool { return false }

// IsGone never detects a closed connection on this system.
func IsGone(net.Conn) bool { return false }

func writeAtOnce(syscall.RawConn, []byte) int { return 0 }
