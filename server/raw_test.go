package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawConn is a connection on which a test writes bytes that no client library would write.
type rawConn struct {
	net.Conn
	in *bufio.Reader
}

func (s *testServer) dial(t *testing.T) *rawConn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return newRawConn(t, c)
}

func newRawConn(t *testing.T, c net.Conn) *rawConn {
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(longEnough))
	return &rawConn{c, bufio.NewReader(c)}
}

func (c *rawConn) write(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// response reads one response to a request of that method.
func (c *rawConn) response(t *testing.T, method string) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("read the response: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read the response: %v", err)
	}
	watch.Look("the response to a request byte for byte", fmt.Sprint(resp.Header, string(body)))
	return resp, string(body)
}

// isClosed waits for the server to close the connection.
func (c *rawConn) isClosed() bool {
	_, err := c.in.ReadByte()
	return err == io.EOF
}

// raw sends a request byte for byte, and returns its response. In the test, line feeds separate the
// lines of the request; a blank line ends the header.
func (s *testServer) raw(t *testing.T, request string) (*http.Response, string) {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	c := s.dial(t)
	c.write(t, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body)
	method, _, _ := strings.Cut(head, " ")
	return c.response(t, method)
}
