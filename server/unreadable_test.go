package server

import (
	"strings"
	"testing"
)

// Unreadable requests may contain tokens like all others: no part of them is logged, at
// any level.
func TestUnreadableIsNotLogged(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const fill = 17000
	requests := []string{
		"GET /auth/callback/x?code=canary HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer canary\r\nBad Header\r\n\r\n",
		"GET /auth/callback/x?code=canary HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer canary\r\nX-Fill: " + strings.Repeat("a", fill) + "\r\n\r\n",
		"GET /auth/callback/x?code=canary" + strings.Repeat("a", fill) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /auth/callback/x?code=canary HTTP/9\r\nHost: x\r\n\r\n",
		"GET /auth/callback/x?code=canary\r\nHost: x\r\n\r\n",
		"GET /auth/callback/x?code=c canary HTTP/1.1\r\nHost: x\r\n\r\n",
		"canary\r\n\r\n",
		"POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: canary\r\n\r\n",
		"POST /auth/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: canary\r\n\r\n",
		"POST /auth/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\ncanary\r\n",
		"POST /auth/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabccanary\r\n",
		"POST http://[canary/auth/token HTTP/1.1\r\nHost: x\r\n\r\n",
	}
	for _, request := range requests {
		c := s.dial(t)
		c.write(t, request)
		if resp, body := c.response(t, "POST"); resp.StatusCode < 400 {
			t.Errorf("%.60q: got %d %s, want that it cannot be read", request, resp.StatusCode, body)
		}
	}
	for _, line := range strings.Split(s.log.String(), "\n") {
		if strings.Contains(line, "canary") {
			t.Errorf("the log holds what was sent: %s", line)
		}
	}
	for _, reason := range []string{"its header is too long", "it is malformed"} {
		if !strings.Contains(s.log.String(), reason) {
			t.Errorf("the log does not say that %s", reason)
		}
	}
}

// The answer to a header that is too long has the form of the endpoint.
func TestHeaderLimitOfEndpoints(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	const oauth = `{"error":"invalid_request","error_description":"the request header is too large"}`
	const other = `{"code":"ERR_REQUEST_TOO_LARGE","message":"the request header is too large"}`
	long := strings.Repeat("a", 17000)
	for path, want := range map[string]string{
		"/auth/token": oauth, "/auth/revoke": oauth, "/auth/authorize/google": oauth, "/auth/callback/google": oauth,
		"/auth/providers": other, "/api/json/getNote": other, "/auth/authorize/": other, "/auth/authorize/" + long[:400]: oauth,
	} {
		for _, request := range []string{
			"GET " + path + " HTTP/1.1\r\nHost: x\r\nX-Fill: " + long + "\r\n\r\n",
			"POST " + path + "?x=" + long + " HTTP/1.1\r\nHost: x\r\n\r\n",
			"POST " + path + " HTTP/1.1\r\nX-Fill: " + long, // it never ends
		} {
			for _, before := range []string{"", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"} {
				c := s.dial(t)
				if before != "" {
					c.write(t, before)
					if resp, body := c.response(t, "GET"); resp.StatusCode != 200 {
						t.Fatalf("%s: got %d %s", before, resp.StatusCode, body)
					}
				}
				c.write(t, request)
				if resp, body := c.response(t, "POST"); resp.StatusCode != 431 || body != want {
					t.Errorf("%.60q after %q: got %d %s, want 431 %s", request, before, resp.StatusCode, body, want)
				}
			}
		}
	}
}
