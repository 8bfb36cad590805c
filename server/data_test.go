package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/sql/release"
)

// echo answers each question with itself.
type echo struct{}

func (echo) Ask(_ context.Context, question string, input []byte) ([]byte, error) {
	if question == "wrong" {
		return nil, &docs.WrongError{Message: "that is wrong", Field: "title"}
	}
	return fmt.Appendf(nil, `{"question":%q,"input":%q}`, question, input), nil
}

func (echo) Models() []release.Model {
	return []release.Model{{Name: "Note", Table: "note"}, {Name: "Draft", Table: "draft"}}
}

func (echo) Trouble() string { return "note.stern:1: of two lines\nthe second" }

// dataPaths are what pages ask for data.
var dataPaths = []string{
	"/docs/data/state", "/docs/data/token", "/docs/data/file", "/docs/data/models", "/docs/data/rows",
	"/docs/data/change", "/docs/data/explain", "/docs/data/mend",
}

// Rows are for the pages in development, and for no other page, machine or mode.
func attackOnRows(t *testing.T) {
	development := func(c *config.Config) {
		c.Docs, c.Mode, c.BaseURL, c.CORSOrigins = true, config.Development, "http://books.test:8080", []string{"*"}
	}
	own, d := startReady(t, development)
	other := func(change func(*config.Config)) *testServer {
		s := start(t, d.ServerURL(), func(c *config.Config) { development(c); change(c) })
		s.waitReady(t, "")
		return s
	}
	production := other(func(c *config.Config) { c.Mode, c.BaseURL = config.Production, "https://books.test" })
	undocumented := other(func(c *config.Config) { c.Docs = false })
	const json = "Content-Type: application/json\n"
	for _, test := range []struct {
		server               *testServer
		method, host, header string
		status               int
	}{
		{own, "POST", "localhost:8080", json, 200},
		{own, "POST", "localhost:8080", json + "Origin: http://localhost:8080\nSec-Fetch-Site: same-origin\n", 200},
		{own, "POST", "books.test:8080", json + "Origin: http://books.test:8080\n", 200},

		// Another name for this address, as after DNS rebinding.
		{own, "POST", "evil.example:8080", json, 403},
		{own, "POST", "evil.example:8080", json + "Origin: http://evil.example:8080\nSec-Fetch-Site: same-origin\n", 403},
		{own, "POST", "localhost.evil.example", json, 403},
		// A page of another origin, even another port of this machine, and even one in cors.origins.
		{own, "POST", "localhost:8080", json + "Origin: https://evil.example\n", 403},
		{own, "POST", "localhost:8080", json + "Origin: null\n", 403},
		{own, "POST", "localhost:8080", json + "Origin: http://localhost:3000\n", 403},
		{own, "POST", "localhost:8080", json + "Origin: http://127.0.0.1:8080\n", 403},
		{own, "POST", "localhost:8080", json + "Sec-Fetch-Site: same-site\n", 403},
		{own, "POST", "localhost:8080", json + "Sec-Fetch-Site: cross-site\n", 403},
		{own, "POST", "localhost:8080", json + "Sec-Fetch-Site: none\n", 403},
		// Requests that a browser sends for a form or without a preflight.
		{own, "POST", "localhost:8080", "", 415},
		{own, "POST", "localhost:8080", "Content-Type: text/plain\n", 415},
		{own, "POST", "localhost:8080", "Content-Type: application/x-www-form-urlencoded\n", 415},
		{own, "GET", "localhost:8080", json, 405},
		{own, "OPTIONS", "localhost:8080", "Origin: http://localhost:3000\nAccess-Control-Request-Method: POST\n", 405},
		{own, "OPTIONS", "localhost:8080", "Origin: https://evil.example\nAccess-Control-Request-Method: POST\n", 403},
		{own, "OPTIONS", "localhost:8080", "Origin: http://localhost:8080\nAccess-Control-Request-Method: POST\n", 405},
		// Another machine, through a proxy.
		{own, "POST", "localhost:8080", json + "X-Forwarded-For: 203.0.113.7\n", 403},
		{own, "POST", "localhost:8080", json + "Forwarded: for=203.0.113.7\n", 403},

		{production, "POST", "localhost:8080", json, 404},
		{production, "POST", "books.test", json + "Origin: https://books.test\n", 404},
		{undocumented, "POST", "localhost:8080", json, 404},
	} {
		for _, path := range dataPaths {
			const body = `{"identity":"i1","key":"none"}`
			resp, text := test.server.raw(t, fmt.Sprintf("%s %s HTTP/1.1\nHost: %s\n%sContent-Length: %d\n\n%s", test.method, path, test.host, test.header, len(body), body))
			want := test.status
			if path == "/docs/data/file" && want == 200 {
				want = 404 // the file does not exist
			}
			if resp.StatusCode != want {
				t.Errorf("%s %s for %s with %q: got %d %.200s, want %d", test.method, path, test.host, test.header, resp.StatusCode, text, want)
			}
			if allowed := resp.Header.Get("Access-Control-Allow-Headers"); allowed != "" {
				t.Errorf("%s %s for %s with %q: a preflight admits %s", test.method, path, test.host, test.header, allowed)
			}
			if want != 200 && (strings.Contains(text, "question") || strings.Contains(text, "token")) {
				t.Errorf("%s %s for %s with %q tells %s", test.method, path, test.host, test.header, text)
			}
		}
	}
	if resp, body := production.do(t, "GET", "/docs/rows/Note", "", nil); resp.StatusCode != 404 {
		t.Errorf("the page of rows in production: got %d %.100s", resp.StatusCode, body)
	}
}

// TestEventsOfPages shows the events of a webhook with payload and answer, and mends them as the buttons of the page do.
func TestEventsOfPages(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.Docs, c.Mode, c.BaseURL = true, config.Development, "http://localhost:8080" })
	conn := d.Superuser(t)
	if _, err := conn.Exec(t.Context(), `
		insert into platform.consumer (name, events, seen, fence, floor, stopped_at) values ('tell', '{}', pg_current_snapshot(), pg_current_xact_id(), 0, now());
		insert into platform.task (kind, name, key, payload, attempts, failed_at, failure) values
			('delivery', 'tell', 'a', '{"event": {"id": "1", "eventName": "note.created", "target": {"id": "a"}}, "depth": 0}', 12, now(), 'answered 500: <closed>'),
			('delivery', 'tell', 'b', '{"event": {"id": "2", "eventName": "note.updated", "target": {"id": "b"}}, "depth": 0}', 12, now(), 'answered 503:')`); err != nil {
		t.Fatal(err)
	}
	page := func() string {
		t.Helper()
		resp, body := s.do(t, "GET", "/events", "", nil)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d %s", resp.StatusCode, body)
		}
		return body
	}
	for _, part := range []string{"stopped: its address wants no more", "2 given up", "note.created", "answered 500: &lt;closed&gt;", "&#34;eventName&#34;: &#34;note.updated&#34;", `data-do="retry" data-named="1"`} {
		if got := page(); !strings.Contains(got, part) {
			t.Errorf("the page lacks %s:\n%s", part, got)
		}
	}
	for _, input := range []string{`{"do":"retry","named":"1"}`, `{"do":"skip","named":"2"}`, `{"do":"resume","named":"tell"}`} {
		if resp, body := s.do(t, "POST", "/docs/data/mend", input, map[string]string{"Content-Type": "application/json"}); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d %s", input, resp.StatusCode, body)
		}
	}
	if got := page(); strings.Contains(got, "stopped:") || !strings.Contains(got, "1 waiting · 0 given up") || !strings.Contains(got, "· skipped") {
		t.Errorf("after they were mended:\n%s", got)
	}
}

// TestJobsOfPages shows schedules and runs with inputs, result and failure, and starts, retries and cancels as the buttons
// of the page do.
func TestJobsOfPages(t *testing.T) {
	t.Parallel()
	s, d := startReady(t, func(c *config.Config) { c.Docs, c.Mode, c.BaseURL = true, config.Development, "http://localhost:8080" })
	if _, err := d.Superuser(t).Exec(t.Context(), `
		insert into platform.schedule (job, text, time_zone) values ('Close', 'every day at 9am', 'Europe/Berlin');
		insert into platform.task (kind, name, key, payload, attempts, failed_at, done_at, result, failure, due_at) values
			('job', 'Close', 'r1', '{"inputs": {"month": "2026-11"}}', 4, now(), null, null, 'P0001 <too late>', now()),
			('job', 'Close', 'r2', '{"inputs": {}}', 1, null, now(), '{"closed": 7}', null, now()),
			('job', 'Close', 'r3', '{"inputs": {}}', 0, null, null, null, null, now() + interval '1 hour')`); err != nil {
		t.Fatal(err)
	}
	page := func() string {
		t.Helper()
		resp, body := s.do(t, "GET", "/jobs", "", nil)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("got %d %s", resp.StatusCode, body)
		}
		return body
	}
	for _, part := range []string{"failed · attempts 4", "P0001 &lt;too late&gt;", "2026-11", "succeeded", "&#34;closed&#34;: 7", "· waiting · due", `data-do="rerun" data-named="r1"`, `data-do="cancel" data-named="r3"`} {
		if got := page(); !strings.Contains(got, part) {
			t.Errorf("the page lacks %s:\n%s", part, got)
		}
	}
	for input, want := range map[string]int{
		`{"do":"rerun","named":"r1"}`: http.StatusOK, `{"do":"cancel","named":"r3"}`: http.StatusOK, `{"do":"run","named":"Clos","inputs":"{}"}`: http.StatusBadRequest,
	} {
		if resp, body := s.do(t, "POST", "/docs/data/mend", input, map[string]string{"Content-Type": "application/json"}); resp.StatusCode != want {
			t.Errorf("%s: got %d %s", input, resp.StatusCode, body)
		}
	}
	if got := page(); strings.Contains(got, "too late") || !strings.Contains(got, "cancelled") {
		t.Errorf("after they were mended:\n%s", got)
	}
}

// TestData sends the requests of the pages.
func TestData(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.Docs, c.Mode, c.BaseURL = true, config.Development, "http://localhost:8080" })
	ask := func(question, input string, status int) string {
		resp, body := s.do(t, "POST", "/docs/data/"+question, input, map[string]string{"Content-Type": "application/json"})
		if resp.StatusCode != status || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %v %s, want %d", question, resp.StatusCode, resp.Header, body, status)
		}
		return body
	}
	for _, test := range []struct {
		question, input string
		status          int
		want            string
	}{
		{"rows", `{"model":"Note"}`, http.StatusOK, `{"question":"rows","input":"{\"model\":\"Note\"}"}`},
		{"state", `{}`, http.StatusOK, `{"release":1,"trouble":"note.stern:1: of two lines\nthe second"}`},
		{"wrong", `{}`, http.StatusBadRequest, `{"code":"ERR_INVALID_INPUT","message":"that is wrong","data":{"errors":[{"field":"title","code":"incorrect","error":"that is wrong"}]}}`},
		{"token", `{}`, http.StatusBadRequest, `{"code":"ERR_INPUT_MALFORMED","message":"the body must have an identity"}`},
		{"token", `identity`, http.StatusBadRequest, `{"code":"ERR_INPUT_MALFORMED","message":"the body must have an identity"}`},
		{"file", `{"key":"../x"}`, http.StatusNotFound, `{"code":"ERR_RECORD_NOT_FOUND","message":"record not found"}`},
	} {
		if got := ask(test.question, test.input, test.status); got != test.want {
			t.Errorf("%s %s: got %s, want %s", test.question, test.input, got, test.want)
		}
	}

	// The service itself accepts the token.
	var made struct {
		Token   string
		Expires int64
	}
	if err := json.Unmarshal([]byte(ask("token", `{"identity":"i1"}`, http.StatusOK)), &made); err != nil {
		t.Fatal(err)
	}
	who, err := s.signIn.Tokens.Identify(t.Context(), []string{"Bearer " + made.Token})
	if err != nil || who.ID != "i1" || who.Family != "" {
		t.Errorf("the token is of %+v, %v, want i1", who, err)
	}
}
