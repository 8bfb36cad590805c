package server

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strconv"
	"testing"
)

// BenchmarkGet measures a get from one socket to the other, with the database. Of
// its allocations none are the client's.
func BenchmarkGet(b *testing.B) {
	d := newDatabase(b)
	d.install(b, app())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(testConfig(d.ServerURL(), nil), Options{Identifier: tokens{}, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Listener: l})
	if err != nil {
		b.Fatal(err)
	}
	go s.Run(b.Context())
	for s.unready.Load() != nil {
	}

	body := `{"id":"n1"}`
	request := []byte("POST /api/json/getNote HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	answer := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		c.Write(request)
		n, err := c.Read(answer)
		if err != nil || !bytes.HasSuffix(answer[:n], []byte(`"slug":"knots"}`)) {
			b.Fatalf("got %s, %v", answer[:n], err)
		}
	}
}
