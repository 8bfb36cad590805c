//go:build !unix

package listener

import "net"

// HasLeft is never true here: a statement whose client has left runs to its end or
// its time limit.
func HasLeft(net.Conn) bool {
	return false
}
