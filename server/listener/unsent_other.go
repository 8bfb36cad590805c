//go:build !linux && !darwin

package listener

import "net"

// LimitUnsent does nothing on this system.
func LimitUnsent(net.Conn) {}
