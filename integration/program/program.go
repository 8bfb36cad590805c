// Package program runs programs for tests: those of others that a test needs, which it finds or skips the test,
// and processes that go on until the test ends.
package program

import (
	"net"
	"strconv"
	"testing"
)

// FreePort returns a port of this machine that nothing listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
