package server

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// attackByKeeping keeps connections that have had their answer. They give up their buffers, and are
// served when they continue.
func attackByKeeping(t *testing.T) {
	const connections, most = 400, 12 << 10 // bytes of one connection, at both ends
	s, _ := startReady(t, nil)
	request := "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{\"id\":\"n1\"}"
	ask := func(c net.Conn) string {
		answer := make([]byte, 4<<10)
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer[:n])
	}
	var all []net.Conn
	memory := func() int64 {
		runtime.GC() // what was pooled goes with the second
		var m runtime.MemStats
		held := heap()
		runtime.ReadMemStats(&m)
		return held + int64(m.StackInuse)
	}
	before := memory()
	for range connections {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all = append(all, c)
		ask(c)
	}
	each := int64(0)
	until(t, "the connections give up their buffers", func() bool {
		each = (memory() - before) / connections
		return each <= most
	})
	t.Logf("each takes %d bytes", each)
	for _, c := range all[:20] {
		if answer := ask(c); !strings.Contains(answer, "200 OK") || !strings.HasSuffix(answer, `"slug":"knots"}`) {
			t.Errorf("a parked connection is answered %q", answer)
		}
	}
}
