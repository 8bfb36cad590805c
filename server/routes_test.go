package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

const (
	actionNotFoundBody   = `{"code":"ERR_ACTION_NOT_FOUND","message":"action not found"}`
	methodNotAllowedBody = `{"code":"ERR_HTTP_METHOD_NOT_ALLOWED","message":"method not allowed"}`
	mediaTypeBody        = `{"code":"ERR_UNSUPPORTED_MEDIA_TYPE","message":"the request body must be application/json"}`
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	tests := []struct {
		name, request string
		status        int
		want          string // the body; not compared if it is *
		allow         string
	}{
		{"action by POST", "POST /api/json/getNote HTTP/1.1\nHost: x\nContent-Length: 11\n\n{\"id\":\"n1\"}", 200, "*", ""},
		{"action by GET", "GET /api/json/getNote?id=n1 HTTP/1.1\nHost: x\n\n", 200, `{"id":"n1","title":"Knots","slug":"knots"}`, ""},
		{"absolute form", "GET http://elsewhere/api/json/getNote?id=none HTTP/1.1\nHost: x\n\n", 200, "null", ""},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\n\n", 200, `{"status":"ok"}`, ""},
		{"a second API", "GET /small/json/getNote?id=none HTTP/1.1\nHost: x\n\n", 200, "null", ""},
		{"an action of another API", "GET /small/json/listNotes HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"no such action", "POST /api/json/getNotes HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 404, actionNotFoundBody, ""},
		{"no such API", "POST /other/json/getNote HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 404, actionNotFoundBody, ""},
		{"the API in upper case", "GET /Api/json/getNote?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"the action in another case", "GET /api/json/GetNote?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"json in upper case", "GET /api/JSON/getNote?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"trailing slash", "GET /api/json/getNote/?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"double slash", "GET //api/json/getNote?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"dots", "GET /api/json/./getNote?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"percent-encoding in the path", "GET /api/json/getNot%65?id=n1 HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"no action", "GET /api/json/ HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"below an action", "GET /api/json/getNote/more HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"upload route", "POST /api/json/getNote/upload/cover HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 404, actionNotFoundBody, ""},
		{"description", "GET /api/json/openapi.json HTTP/1.1\nHost: x\n\n", 200, "*", ""},
		{"description by HEAD", "HEAD /api/json/openapi.json HTTP/1.1\nHost: x\n\n", 200, "", ""},
		{"description, wrong method", "PUT /api/json/openapi.json HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "GET, HEAD"},
		{"description of no API", "GET /other/json/openapi.json HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"description, trailing slash", "GET /api/json/openapi.json/ HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"token endpoint, trailing slash", "POST /auth/token/ HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 404, actionNotFoundBody, ""},
		{"callback, longer", "GET /auth/callback/google/more HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"nothing to authorize at", "GET /auth/authorize/ HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"token endpoint, PUT", "PUT /auth/token HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 405,
			`{"error":"invalid_request","error_description":"method not allowed"}`, "POST"},
		{"metrics on the public port", "GET /metrics HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"root", "GET / HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
		{"unknown path, unknown method", "BREW /pot HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},

		{"HEAD on an action", "HEAD /api/json/getNote?id=n1 HTTP/1.1\nHost: x\n\n", 405, "", "GET, POST"},
		{"PUT on an action", "PUT /api/json/getNote HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 405, methodNotAllowedBody, "GET, POST"},
		{"DELETE on an action that is not there", "DELETE /api/json/none HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "GET, POST"},
		{"a method nobody knows", "BREW /api/json/getNote HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "GET, POST"},
		{"a method in lower case", "post /api/json/getNote HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 405, methodNotAllowedBody, "GET, POST"},
		{"OPTIONS without CORS", "OPTIONS /api/json/getNote HTTP/1.1\nHost: x\nOrigin: https://a.example\nAccess-Control-Request-Method: POST\n\n", 405, methodNotAllowedBody, "GET, POST"},
		{"GET on a writing action", "GET /api/json/createNote?title=a HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "POST"},
		{"GET on a writing action, unfit input", "GET /api/json/createNote?titel=a HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "POST"},
		{"GET on an action that takes anything", "GET /api/json/echo HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "POST"},
		{"POST on an action that takes anything", "POST /api/json/echo HTTP/1.1\nHost: x\nContent-Length: 5\n\n[1,2]", 200, "*", ""},
		{"health", "GET /healthz HTTP/1.1\nHost: x\n\n", 200, `{"status":"ok"}`, ""},
		{"health by HEAD", "HEAD /healthz HTTP/1.1\nHost: x\n\n", 200, "", ""},
		{"readiness", "GET /readyz HTTP/1.1\nHost: x\n\n", 200, `{"status":"ok"}`, ""},
		{"POST on health", "POST /healthz HTTP/1.1\nHost: x\nContent-Length: 0\n\n", 405, methodNotAllowedBody, "GET, HEAD"},
		{"OPTIONS on health", "OPTIONS /healthz HTTP/1.1\nHost: x\n\n", 405, methodNotAllowedBody, "GET, HEAD"},
		{"health with a slash", "GET /healthz/ HTTP/1.1\nHost: x\n\n", 404, actionNotFoundBody, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			resp, body := s.raw(t, test.request)
			if resp.StatusCode != test.status || test.want != "*" && body != test.want {
				t.Errorf("%s\n got %d %s\nwant %d %s", test.request, resp.StatusCode, body, test.status, test.want)
			}
			if got := resp.Header.Get("Allow"); got != test.allow {
				t.Errorf("%s: Allow: got %q, want %q", test.request, got, test.allow)
			}
			if got := resp.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type: got %q", test.request, got)
			}
			if len(resp.Header.Get("X-Request-Id")) != 32 {
				t.Errorf("%s: X-Request-Id: got %q", test.request, resp.Header.Get("X-Request-Id"))
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	post := func(header, body string) string {
		return "POST /api/json/listNotes HTTP/1.1\nHost: x\nContent-Length: " + strconv.Itoa(len(body)) + "\n" + header + "\n" + body
	}
	tests := []struct {
		name, request string
		status        int
		want          string
	}{
		{"no content type", post("", "{}"), 200, "*"},
		{"empty body", post("", ""), 200, "*"},
		{"empty body, content type", post("Content-Type: application/json\n", ""), 200, "*"},
		{"application/json", post("Content-Type: application/json\n", "{}"), 200, "*"},
		{"in upper case", post("Content-Type: Application/JSON\n", "{}"), 200, "*"},
		{"charset", post("Content-Type: application/json; charset=utf-8\n", "{}"), 200, "*"},
		{"charset, quoted, upper case", post("Content-Type: application/json;charset=\"UTF-8\"\n", "{}"), 200, "*"},
		{"another parameter", post("Content-Type: application/json; profile=x\n", "{}"), 200, "*"},
		{"+json", post("Content-Type: application/vnd.api+json\n", "{}"), 200, "*"},
		{"any +json", post("Content-Type: text/x+json; charset=utf-8\n", "{}"), 200, "*"},
		{"identity", post("Content-Encoding: identity\n", "{}"), 200, "*"},
		{"other charset", post("Content-Type: application/json; charset=latin1\n", "{}"), 415, mediaTypeBody},
		{"text", post("Content-Type: text/plain\n", "{}"), 415, mediaTypeBody},
		{"text, empty body", post("Content-Type: text/plain\n", ""), 415, mediaTypeBody},
		{"form", post("Content-Type: application/x-www-form-urlencoded\n", "a=b"), 415, mediaTypeBody},
		{"multipart", post("Content-Type: multipart/form-data; boundary=x\n", "--x--"), 415, mediaTypeBody},
		{"json alone", post("Content-Type: json\n", "{}"), 415, mediaTypeBody},
		{"+json without type", post("Content-Type: +json\n", "{}"), 415, mediaTypeBody},
		{"broken content type", post("Content-Type: application/json; charset\n", "{}"), 415, mediaTypeBody},
		{"gzip", post("Content-Encoding: gzip\n", "{}"), 415, mediaTypeBody},
		{"identity and gzip", post("Content-Encoding: identity\nContent-Encoding: gzip\n", "{}"), 415, mediaTypeBody},
		{"not JSON", post("", "{"), 400, `{"code":"ERR_INPUT_MALFORMED","message":"the input could not be read: not valid JSON"}`},
		{"unfit input", post("", `{"where":{"titel":1}}`), 400, `{"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object",` +
			`"data":{"errors":[{"field":"where.titel","code":"additionalProperty","params":{"name":"titel"},"error":"Additional property titel is not allowed"}]}}`},
		{"query string of a POST", "POST /api/json/listNotes?first=x HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}", 200, "*"},
		{"body of a GET", "GET /api/json/listNotes HTTP/1.1\nHost: x\nContent-Type: text/plain\nContent-Length: 1\n\n{", 200, "*"},
		{"chunked", "POST /api/json/listNotes HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", 200, "*"},
		{"repeated parameter", "GET /api/json/getNote?id=a&id=b HTTP/1.1\nHost: x\n\n", 400, `{"code":"ERR_INPUT_MALFORMED","message":"the input could not be read: repeated parameter"}`},
		{"broken percent-encoding", "GET /api/json/getNote?id=%zz HTTP/1.1\nHost: x\n\n", 400, `{"code":"ERR_INPUT_MALFORMED","message":"the input could not be read: broken percent-encoding"}`},
		{"filter in a query string", "GET /api/json/listNotes?where=%7B%22title%22%3A%7B%22equals%22%3A%22a%22%7D%7D HTTP/1.1\nHost: x\n\n", 200, `{"form":"title.equals"}`},
		{"two lengths", "POST /api/json/listNotes HTTP/1.1\nHost: x\nContent-Length: 2\nContent-Length: 2\n\n{}", 400, unreadableBody},
		{"length and chunked", "POST /api/json/listNotes HTTP/1.1\nHost: x\nContent-Length: 2\nTransfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n", 400, unreadableBody},
		{"another transfer encoding", "POST /api/json/listNotes HTTP/1.1\nHost: x\nTransfer-Encoding: gzip, chunked\n\n2\r\n{}\r\n0\r\n\r\n", 400, unreadableBody},
		{"no HTTP", "hello\n\n", 400, unreadableBody},
		{"negative length", "POST /api/json/listNotes HTTP/1.1\nHost: x\nContent-Length: -2\n\n{}", 400, unreadableBody},
		{"a space before the colon", "POST /api/json/listNotes HTTP/1.1\nHost: x\nContent-Length : 2\n\n{}", 400, unreadableBody},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			resp, body := s.raw(t, test.request)
			if resp.StatusCode != test.status || test.want != "*" && body != test.want {
				t.Errorf("%s\n got %d %s\nwant %d %s", test.request, resp.StatusCode, body, test.status, test.want)
			}
			if got := resp.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: Content-Type: got %q", test.request, got)
			}
		})
	}
}

const unreadableBody = `{"code":"ERR_INPUT_MALFORMED","message":"the input could not be read: not a valid HTTP request"}`

// The body of a GET is not read as input, but the next request begins after it.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	c := s.dial(t)
	c.write(t, "GET /api/json/getNote?id=none HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"+
		"POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n{\"id\":\"n1\"}"+
		"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"+
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	for _, want := range []struct{ method, body string }{
		{"GET", "null"}, {"POST", `{"id":"n1","title":"Knots","slug":"knots"}`}, {"HEAD", ""}, {"GET", `{"status":"ok"}`},
	} {
		if resp, body := c.response(t, want.method); resp.StatusCode != 200 || body != want.body {
			t.Errorf("got %d %s, want 200 %s", resp.StatusCode, body, want.body)
		}
	}
}

// The first stage that fails answers.
func TestOrderOfStages(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const (
		badToken  = "Authorization: Bearer bad\n"
		badZone   = "Time-Zone: Mars\n"
		badMethod = "PUT"
		badType   = "Content-Type: text/plain\n"
		badJSON   = "{"
	)
	request := func(method, path, header, body string) string {
		return method + " " + path + " HTTP/1.1\nHost: x\nContent-Length: " + strconv.Itoa(len(body)) + "\n" + header + "\n" + body
	}
	tests := []struct {
		name, request string
		code          string
	}{
		{"route before token", request(badMethod, "/none/json/getNote", badToken+badZone+badType, badJSON), "ERR_ACTION_NOT_FOUND"},
		{"token before time zone", request(badMethod, "/api/json/none", badToken+badZone+badType, badJSON), "ERR_AUTHENTICATION_FAILED"},
		{"time zone before method", request(badMethod, "/api/json/none", badZone+badType, badJSON), "invalid Time-Zone header: unknown time zone Mars"},
		{"method before body", request(badMethod, "/api/json/none", badType, badJSON), "ERR_HTTP_METHOD_NOT_ALLOWED"},
		{"content type before JSON", request("POST", "/api/json/none", badType, badJSON), "ERR_UNSUPPORTED_MEDIA_TYPE"},
		{"JSON before action", request("POST", "/api/json/none", "", badJSON), "not valid JSON"},
		{"query string before action", request("GET", "/api/json/none?a=1&a=2", "", ""), "repeated parameter"},
		{"query string before the method of the action", request("GET", "/api/json/createNote?a=1&a=2", "", ""), "repeated parameter"},
		{"action before schema", request("POST", "/api/json/none", "", `{"any":"thing"}`), "ERR_ACTION_NOT_FOUND"},
		{"schema", request("POST", "/api/json/getNote", "", `{"any":"thing"}`), "ERR_INVALID_INPUT"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if resp, body := s.raw(t, test.request); !strings.Contains(body, test.code) {
				t.Errorf("%s\n got %d %s\nwant %s", test.request, resp.StatusCode, body, test.code)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.BodyLimit = 1000 })
	const (
		bodyTooLarge   = `{"code":"ERR_REQUEST_TOO_LARGE","message":"the request body is too large"}`
		headerTooLarge = `{"code":"ERR_REQUEST_TOO_LARGE","message":"the request header is too large"}`
	)
	// A request line and header of exactly the given number of bytes.
	headerOf := func(size int) string {
		const head, tail = "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Fill: ", "\r\n\r\n"
		return head + strings.Repeat("a", size-len(head)-len(tail)) + tail
	}
	post := "POST /api/json/listNotes HTTP/1.1\r\nHost: x\r\n"
	chunk := "190\r\n" + strings.Repeat(" ", 400) + "\r\n"
	tests := []struct {
		name, request string
		status        int
		want          string
	}{
		{"body at the limit", post + "Content-Length: 1000\r\n\r\n{}" + strings.Repeat(" ", 998), 200, "*"},
		{"body above the limit", post + "Content-Length: 1001\r\n\r\n{}" + strings.Repeat(" ", 999), 413, bodyTooLarge},
		{"declared length alone", post + "Content-Length: 1000000000\r\n\r\n", 413, bodyTooLarge},
		{"declared length, huge body", post + "Content-Length: 8000000\r\n\r\n" + strings.Repeat(" ", 8000000), 413, bodyTooLarge},
		{"chunks above the limit", post + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk + chunk, 413, bodyTooLarge},
		{"endless chunks", post + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 10000), 413, bodyTooLarge},
		{"header at the limit", headerOf(16384), 200, `{"status":"ok"}`},
		{"header above the limit", headerOf(16385), 431, headerTooLarge},
		{"header far above the limit", headerOf(4000000), 431, headerTooLarge},
		{"request line above the limit", "GET /" + strings.Repeat("a", 20000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431, headerTooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			go func() { _, _ = c.Write([]byte(test.request)) }()
			resp, body := c.response(t, "POST")
			if resp.StatusCode != test.status || test.want != "*" && body != test.want {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, body, test.status, test.want)
			}
			if resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the header is incomplete: %v", resp.Header)
			}
			if test.status >= 400 && (!resp.Close || !c.isClosed()) {
				t.Error("the connection is not closed")
			}
		})
	}

	t.Run("expecting to continue", func(t *testing.T) {
		t.Parallel()
		c := s.dial(t)
		c.write(t, post+"Content-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
		resp, body := c.response(t, "POST")
		if resp.StatusCode == 100 {
			resp, body = c.response(t, "POST")
		}
		if resp.StatusCode != 413 || body != bodyTooLarge {
			t.Errorf("got %d %s, want 413 %s", resp.StatusCode, body, bodyTooLarge)
		}
	})
}
