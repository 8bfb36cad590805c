package server

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"strconv"
	"testing"
)

// The benchmarks measure calls from one socket to the other, with the database. Their
// allocations do not include the client's.

// A get shares its connection to the database with others.
func BenchmarkGet(b *testing.B) {
	benchmarkCall(b, "json/getNote", `{"id":"n1"}`, `"slug":"knots"}`)
}

// A call of a tool by an agent is the same get, within a message.
func BenchmarkToolGet(b *testing.B) {
	benchmarkCall(b, "mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getNote","arguments":{"id":"n1"}}}`, `"isError":false}}`)
}

// A write has a connection of its own while it runs.
func BenchmarkUpdate(b *testing.B) {
	benchmarkCall(b, "json/updateNote", `{"where":{"id":"n1"},"values":{"title":"Knots"}}`, `}`)
}

func benchmarkCall(b *testing.B, path, body, end string) {
	d := newDatabase(b)
	d.install(b, app())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(testConfig(d.ServerURL(), openTools), Options{Identifier: tokens{}, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Listener: l})
	if err != nil {
		b.Fatal(err)
	}
	go s.Run(b.Context())
	for s.unready.Load() != nil {
	}

	request := []byte("POST /api/" + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\n" +
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
		if err != nil || !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 200")) || !bytes.HasSuffix(answer[:n], []byte(end)) {
			b.Fatalf("got %s, %v", answer[:n], err)
		}
	}
}
