package server

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/server/request"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.Docs = true })
	html, js, css, text, problem := "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8", "text/plain; charset=utf-8", request.JSONType
	for _, test := range []struct {
		method, path string
		status       int
		kind         string
		want         string // is in the body
	}{
		{"GET", "/", 200, html, `<a href="docs/action/getNote">getNote</a>`},
		{"GET", "/docs/action/getNote", 200, html, `data-path="api/json/getNote"`},
		{"GET", "/docs/action/get_note", 404, html, "This page does not exist"},
		{"GET", "/docs/model/Note", 200, html, `<h2>Note`},
		{"GET", "/docs/model/None", 404, html, "This page does not exist"},
		{"GET", "/docs/access", 200, html, "Permissions"},
		{"POST", "/docs/access", 405, problem, methodNotAllowedBody},
		{"GET", "/docs/rows/Note", 200, html, `<div id="data" data-model="Note">`},
		{"GET", "/", 200, html, `<a class="rows" href="docs/rows/Draft"`}, // it has no actions
		{"GET", "/docs/rows/Draft", 200, html, `<div id="data" data-model="Draft">`},
		{"GET", "/docs/rows/None", 404, html, "This page does not exist"},
		{"GET", "/docs/index", 200, request.JSONType, `{"kind":"get","name":"getNote","path":"docs/action/getNote"`},
		{"GET", "/docs/samples", 200, request.JSONType, `"getNote":{"id":"…"}`},
		{"HEAD", "/", 200, html, ""},
		{"POST", "/", 405, problem, methodNotAllowedBody},
		{"GET", "/docs", 200, html, `data-description="api/json/openapi.json"`},
		{"GET", "/docs?api=small", 200, html, `data-description="small/json/openapi.json"`},
		{"GET", "/docs?api=none", 404, html, "This page does not exist"},
		{"GET", "/docs/", 404, problem, actionNotFoundBody},
		{"GET", "/docs/pages.css", 200, css, "header"},
		{"GET", "/docs/caller.js", 200, js, "token"},
		{"GET", "/docs/swagger-ui-bundle.js", 200, js, "SwaggerUIBundle"},
		{"GET", "/docs/swagger-ui.css", 200, css, ".swagger-ui"},
		{"GET", "/docs/application.html", 404, problem, actionNotFoundBody},
		{"GET", "/docs/..%2fdocs.go", 404, problem, actionNotFoundBody},
		{"GET", "/docs/sql/getNote", 200, text, "FUNCTION api.get_note("},
		{"GET", "/docs/sql/listNotes", 200, text, "FUNCTION api.list_notes__foreseen("},
		{"GET", "/docs/sql", 200, request.JSONType, `"getNote":"CREATE OR REPLACE FUNCTION api.get_note(`},
		{"GET", "/docs/sql/get_note", 404, problem, actionNotFoundBody},
		{"GET", "/docs/sql/%25", 404, problem, actionNotFoundBody},
		{"GET", "/docs/table/note", 200, text, "create table app.note ("},
		{"GET", "/docs/table/note", 200, text, "create policy "},
		{"GET", "/docs/table/release", 404, problem, actionNotFoundBody},
		{"GET", "/docs/table/note'%20or%20true--", 404, problem, actionNotFoundBody},
	} {
		resp, body := s.do(t, test.method, test.path, "", nil)
		if resp.StatusCode != test.status || resp.Header.Get("Content-Type") != test.kind || !strings.Contains(body, test.want) {
			t.Errorf("%s %s\n got %d %s %.200s\nwant %d %s with %s", test.method, test.path,
				resp.StatusCode, resp.Header.Get("Content-Type"), body, test.status, test.kind, test.want)
		}
		policy := "default-src 'none'; frame-ancestors 'none'"
		if test.kind == html {
			policy = docs.PagePolicy
		}
		if got := resp.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s %s: policy: got %s, want %s", test.method, test.path, got, policy)
		}
	}

	// Inline code and styles would be blocked.
	for _, path := range []string{"/", "/docs", "/docs/action/getNote", "/docs/model/Note", "/docs/access"} {
		_, body := s.do(t, "GET", path, "", nil)
		for _, inline := range []string{"<script>", "style=", "onclick=", "<style", "javascript:", "http:", "//"} {
			if strings.Contains(strings.ReplaceAll(body, "http://localhost", ""), inline) {
				t.Errorf("%s has %s:\n%s", path, inline, body)
			}
		}
	}
}

// TestDocsAssets requests a file again, and one that is stored compressed.
func TestDocsAssets(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) { c.Docs = true })
	for _, path := range []string{"/docs/pages.css", "/docs/swagger-ui.css"} {
		resp, _ := s.do(t, "GET", path, "", nil)
		etag := resp.Header.Get("ETag")
		if resp.Header.Get("Cache-Control") != "no-cache" || etag == "" {
			t.Errorf("%s: Cache-Control %q, ETag %q", path, resp.Header.Get("Cache-Control"), etag)
		}
		resp, body := s.do(t, "GET", path, "", map[string]string{"If-None-Match": etag})
		if resp.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s again: got %d with %d bytes", path, resp.StatusCode, len(body))
		}
	}
	_, plain := s.do(t, "GET", "/docs/swagger-ui.css", "", map[string]string{"Accept-Encoding": "identity"})
	resp, zipped := s.do(t, "GET", "/docs/swagger-ui.css", "", map[string]string{"Accept-Encoding": "br, gzip"})
	if resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Vary") != "Accept-Encoding" || len(zipped) >= len(plain) {
		t.Errorf("Content-Encoding %q, Vary %q, %d of %d bytes", resp.Header.Get("Content-Encoding"), resp.Header.Get("Vary"), len(zipped), len(plain))
	}
	unzipped, err := gzip.NewReader(strings.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unzipped); err != nil || string(text) != plain {
		t.Errorf("unzipped: %d bytes, %v, want %d", len(text), err, len(plain))
	}
}

// TestDocsOff has no pages, as in production, and no description to show.
func TestDocsOff(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for _, path := range []string{"/", "/docs", "/docs/pages.css", "/docs/sql/getNote", "/docs/table/note", "/docs/action/getNote", "/docs/model/Note", "/docs/rows/Note", "/docs/index", "/docs/samples"} {
		if resp, body := s.do(t, "GET", path, "", nil); resp.StatusCode != 404 || body != actionNotFoundBody {
			t.Errorf("%s: got %d %.100s", path, resp.StatusCode, body)
		}
	}
	undescribed, _ := startReady(t, func(c *config.Config) { c.Docs, c.OpenAPI = true, config.OpenAPIOff })
	if resp, body := undescribed.do(t, "GET", "/docs", "", nil); resp.StatusCode != 200 || !strings.Contains(body, "<code>openapi</code> is off") {
		t.Errorf("without a description: got %d %s", resp.StatusCode, body)
	}
}
