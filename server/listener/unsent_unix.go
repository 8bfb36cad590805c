//go:build linux || darwin

package listener

import (
	"net"

	"golang.org/x/sys/unix"
)

// maxUnsent is how much of a file waits in the kernel until the network takes it.
const maxUnsent = 64 << 10

// LimitUnsent lets the kernel hold little for a client beyond what is on its way. So a write ends when the client has
// taken most of it; otherwise it can wait until megabytes in the buffers of the kernel have drained.
func LimitUnsent(client net.Conn) {
	if c, ok := client.(*Connection); ok && c.raw != nil {
		_ = c.raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) })
	}
}
