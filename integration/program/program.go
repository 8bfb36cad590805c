// Package program runs programs for tests: programs of others, or it skips a test that needs a missing one, and
// processes that run until the test ends.
package program

import (
	"net"
	"strconv"
	"testing"
)

// FreePort returns a port of this machine without a listener.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
