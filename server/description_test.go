package server

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

// TestOpenAPIRoute asks for documents of one release and the next.
func TestOpenAPIRoute(t *testing.T) {
	t.Parallel()
	const path = "/api/json/openapi.json"
	s, d := startReady(t, func(c *config.Config) { c.CORSOrigins = []string{"https://a.example"} })

	resp, body := s.do(t, "GET", path, "", nil)
	etag := resp.Header.Get("ETag")
	if resp.StatusCode != 200 || !strings.Contains(body, `"version":"1"`) || !strings.HasPrefix(etag, `"`) || len(etag) < 20 {
		t.Fatalf("got %d, ETag %s, %.80s", resp.StatusCode, etag, body)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control: got %q", got)
	}
	if resp, other := s.do(t, "GET", "/small/json/openapi.json", "", nil); resp.Header.Get("ETag") == etag || other == body {
		t.Error("two APIs have one document")
	}
	if resp, body := s.do(t, "HEAD", path, "", nil); resp.StatusCode != 200 || body != "" || resp.Header.Get("ETag") != etag {
		t.Errorf("HEAD: got %d %q, ETag %s", resp.StatusCode, body, resp.Header.Get("ETag"))
	}
	for _, test := range []struct {
		known  string
		status int
	}{
		{etag, 304}, {"W/" + etag, 304}, {`"other", ` + etag, 304}, {"*", 304},
		{`"other"`, 200}, {strings.Trim(etag, `"`), 200}, {"", 200},
	} {
		resp, body := s.do(t, "GET", path, "", map[string]string{"If-None-Match": test.known})
		if resp.StatusCode != test.status || (body == "") != (test.status == 304) {
			t.Errorf("If-None-Match %s: got %d with %d bytes, want %d", test.known, resp.StatusCode, len(body), test.status)
		}
		if resp.Header.Get("ETag") != etag || resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("If-None-Match %s: ETag %s, Cache-Control %s", test.known, resp.Header.Get("ETag"), resp.Header.Get("Cache-Control"))
		}
	}
	preflight := map[string]string{"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}
	if resp, _ := s.do(t, "OPTIONS", path, "", preflight); resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "https://a.example" {
		t.Errorf("preflight: got %d", resp.StatusCode)
	}
	if resp, _ := s.do(t, "GET", path, "", map[string]string{"Authorization": "Bearer bad"}); resp.StatusCode != 200 {
		t.Errorf("a bad token where none is asked for: got %d", resp.StatusCode)
	}

	d.install(t, app())
	s.waitLog(t, `"serving release","release":2`)
	resp, body = s.do(t, "GET", path, "", map[string]string{"If-None-Match": etag})
	if resp.StatusCode != 200 || !strings.Contains(body, `"version":"2"`) {
		t.Errorf("after the next release: got %d %.80s", resp.StatusCode, body)
	}
}

func TestOpenAPIAccess(t *testing.T) {
	t.Parallel()
	header := func(authorization string) map[string]string {
		if authorization == "" {
			return nil
		}
		return map[string]string{"Authorization": authorization}
	}
	tests := []struct {
		access        config.OpenAPIAccess
		method        string
		authorization string
		status        int
		authenticate  string
	}{
		{config.OpenAPIAuthenticated, "GET", "", 401, "Bearer"},
		{config.OpenAPIAuthenticated, "GET", "Basic YTpi", 401, "Bearer"},
		{config.OpenAPIAuthenticated, "GET", "Bearer bad", 401, `Bearer error="invalid_token"`},
		{config.OpenAPIAuthenticated, "PUT", "", 401, "Bearer"},
		{config.OpenAPIAuthenticated, "PUT", "Bearer ada", 405, ""},
		{config.OpenAPIAuthenticated, "GET", "Bearer ada", 200, ""},
		{config.OpenAPIOff, "GET", "Bearer ada", 404, ""},
		{config.OpenAPIOff, "PUT", "", 404, ""},
		{config.OpenAPIPublic, "GET", "", 200, ""},
	}
	for _, access := range []config.OpenAPIAccess{config.OpenAPIAuthenticated, config.OpenAPIOff, config.OpenAPIPublic} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			s, _ := startReady(t, func(c *config.Config) { c.OpenAPI = access })
			for _, test := range tests {
				if test.access != access {
					continue
				}
				resp, body := s.do(t, test.method, "/api/json/openapi.json", "", header(test.authorization))
				if resp.StatusCode != test.status || resp.Header.Get("WWW-Authenticate") != test.authenticate {
					t.Errorf("%s with %q: got %d %q %.80s, want %d %q", test.method, test.authorization,
						resp.StatusCode, resp.Header.Get("WWW-Authenticate"), body, test.status, test.authenticate)
				}
			}
		})
	}
}
