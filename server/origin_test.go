package server

import (
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

// Foreign pages cannot read pages for developers, under any name that leads to this
// server.
func attackByName(t *testing.T) {
	own, _ := startReady(t, func(c *config.Config) {
		c.Docs, c.BaseURL, c.CORSOrigins = true, "http://books.test:8080", []string{"*"}
	})
	open, _ := startReady(t, func(c *config.Config) { c.Docs, c.Mode, c.BaseURL = true, config.Production, "https://books.test" })
	for _, test := range []struct {
		server       *testServer
		host, origin string
		status       int
	}{
		{own, "localhost", "", 200},
		{own, "LocalHost:8080", "http://localhost:8080", 200},
		{own, "127.0.0.1:8080", "", 200},
		{own, "[::1]:8080", "", 200},
		{own, "books.test", "http://books.test:8080", 200},
		{own, "localhost", "http://127.0.0.1:3000", 200},
		{own, "evil.example", "", 403},
		{own, "evil.example:8080", "http://evil.example:8080", 403},
		{own, "localhost.evil.example", "", 403},
		{own, "localhost@evil.example", "", 403},
		{own, "localhost", "http://evil.example", 403},
		{own, "localhost", "null", 403},
		{own, "127.0.0.1:8080", "http://localhost.evil.example", 403},
		{open, "whatever.example", "", 200},
	} {
		for _, path := range []string{"/", "/docs", "/docs/sql", "/docs/sql/getNote", "/docs/table/note", "/docs/pages.css", "/docs/action/getNote", "/docs/index", "/docs/samples"} {
			header := "Host: " + test.host + "\n"
			if test.origin != "" {
				header += "Origin: " + test.origin + "\n"
			}
			resp, body := test.server.raw(t, "GET "+path+" HTTP/1.1\n"+header+"\n")
			if resp.StatusCode != test.status {
				t.Errorf("%s for %q from %q: got %d %.200s, want %d", path, test.host, test.origin, resp.StatusCode, body, test.status)
			}
		}
	}
	const want = `{"code":"ERR_PERMISSION_DENIED","message":"this page is for developers and is not available at the host \"evil.example\": use localhost or the host of baseUrl"}`
	if _, body := own.raw(t, "GET / HTTP/1.1\nHost: evil.example\n\n"); body != want {
		t.Errorf("got %s, want %s", body, want)
	}
	if resp, _ := own.raw(t, "POST /api/json/getNote HTTP/1.1\nHost: evil.example\nContent-Length: 11\n\n{\"id\":\"n1\"}"); resp.StatusCode != 200 {
		t.Errorf("an action: got %d", resp.StatusCode)
	}
}

// A browser sends a body without type for a foreign page without a preflight.
func attackByForeignBody(t *testing.T) {
	listed := []string{"https://app.example"}
	s, _ := startReady(t, func(c *config.Config) { c.BaseURL, c.CORSOrigins = "https://books.test", listed })
	any, _ := startReady(t, func(c *config.Config) { c.BaseURL, c.CORSOrigins = "http://localhost", []string{"*"} })
	const body = `{"id":"n1"}`
	for _, test := range []struct {
		server               *testServer
		origin, header, body string
		status               int
	}{
		{s, "", "", body, 200},
		{s, "https://books.test", "", body, 200},
		{s, "https://app.example", "", body, 200},
		{s, "https://evil.example", "", body, 415},
		{s, "http://books.test", "", body, 415},
		{s, "https://books.test:8443", "", body, 415},
		{s, "null", "", body, 415},
		{s, "https://evil.example", "Content-Type: application/json\n", body, 200},
		{s, "https://evil.example", "Content-Type: text/plain\n", body, 415},
		{s, "https://evil.example", "", "", 400}, // nothing was sent
		{any, "https://evil.example", "", body, 200},
	} {
		header := test.header
		if test.origin != "" {
			header += "Origin: " + test.origin + "\n"
		}
		length := "Content-Length: 0\n\n"
		if test.body != "" {
			length = "Content-Length: 11\n\n"
		}
		resp, text := test.server.raw(t, "POST /api/json/getNote HTTP/1.1\nHost: x\n"+header+length+test.body)
		if resp.StatusCode != test.status {
			t.Errorf("from %q with %q and %q: got %d %s, want %d", test.origin, test.header, test.body, resp.StatusCode, text, test.status)
		}
	}
	if resp, text := s.raw(t, "POST /api/json/getNote/upload/cover HTTP/1.1\nHost: x\nOrigin: https://evil.example\nContent-Length: 2\n\n{}"); resp.StatusCode != 415 {
		t.Errorf("an upload: got %d %s, want 415", resp.StatusCode, text)
	}
}
