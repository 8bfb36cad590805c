package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *Config) { c.Docs = true })
	html, js, css, text, problem := "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8", "text/plain; charset=utf-8", jsonType
	for _, test := range []struct {
		method, path string
		status       int
		kind         string
		want         string // stands in the body
	}{
		{"GET", "/", 200, html, `<form data-path="api/json/getNote">`},
		{"HEAD", "/", 200, html, ""},
		{"POST", "/", 405, problem, methodNotAllowedBody},
		{"GET", "/docs", 200, html, `data-description="api/json/openapi.json"`},
		{"GET", "/docs?api=small", 200, html, `data-description="small/json/openapi.json"`},
		{"GET", "/docs?api=none", 404, problem, actionNotFoundBody},
		{"GET", "/docs/", 404, problem, actionNotFoundBody},
		{"GET", "/docs/pages.css", 200, css, "header"},
		{"GET", "/docs/application.js", 200, js, "token"},
		{"GET", "/docs/swagger-ui-bundle.js", 200, js, "SwaggerUIBundle"},
		{"GET", "/docs/swagger-ui.css", 200, css, ".swagger-ui"},
		{"GET", "/docs/application.html", 404, problem, actionNotFoundBody},
		{"GET", "/docs/..%2fdocs.go", 404, problem, actionNotFoundBody},
		{"GET", "/docs/sql/getNote", 200, text, "FUNCTION api.get_note("},
		{"GET", "/docs/sql/listNotes", 200, text, "FUNCTION api.list_notes__title_equals("},
		{"GET", "/docs/sql", 200, jsonType, `"getNote":"CREATE OR REPLACE FUNCTION api.get_note(`},
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
			policy = pagePolicy
		}
		if got := resp.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s %s: policy: got %s, want %s", test.method, test.path, got, policy)
		}
	}

	// Whatever is inline would be blocked.
	for _, path := range []string{"/", "/docs"} {
		_, body := s.do(t, "GET", path, "", nil)
		for _, inline := range []string{"<script>", "style=", "onclick=", "<style", "javascript:", "http:", "//"} {
			if strings.Contains(strings.ReplaceAll(body, "http://localhost", ""), inline) {
				t.Errorf("%s has %s:\n%s", path, inline, body)
			}
		}
	}
}

// TestDocsAssets asks for a file again, and for one that is kept compressed.
func TestDocsAssets(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *Config) { c.Docs = true })
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
	if text, err := unzip([]byte(zipped)); err != nil || string(text) != plain {
		t.Errorf("unzipped: %d bytes, %v, want %d", len(text), err, len(plain))
	}
}

// TestDocsOff has no pages, as in production, and no description to show.
func TestDocsOff(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	for _, path := range []string{"/", "/docs", "/docs/pages.css", "/docs/sql/getNote", "/docs/table/note"} {
		if resp, body := s.do(t, "GET", path, "", nil); resp.StatusCode != 404 || body != actionNotFoundBody {
			t.Errorf("%s: got %d %.100s", path, resp.StatusCode, body)
		}
	}
	undescribed, _ := startReady(t, func(c *Config) { c.Docs, c.OpenAPI = true, OpenAPIOff })
	if resp, body := undescribed.do(t, "GET", "/docs", "", nil); resp.StatusCode != 200 || !strings.Contains(body, "<code>openapi</code> is off") {
		t.Errorf("without a description: got %d %s", resp.StatusCode, body)
	}
}

// TestDocsSamples writes samples that fit their schemas.
func TestDocsSamples(t *testing.T) {
	t.Parallel()
	const query = `{"type":"object","properties":{"equals":{"$ref":"#/components/schemas/Kind"},"notEquals":{"$ref":"#/components/schemas/Kind"}},"minProperties":1,"additionalProperties":false}`
	list := string(app().Schemas.Get("ListNotesInput"))
	for _, test := range []struct{ schema, least, full string }{
		{`{"type":"object","properties":{"name":{"type":"string"},"at":{"type":["string","null"],"format":"date-time"}},"required":["name"],"additionalProperties":false}`,
			`{"name":"name"}`, `{"name":"name","at":"2026-03-31T09:00:00Z"}`},
		{`{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":255},"kind":{"anyOf":[{"$ref":"#/components/schemas/Kind"},{"type":"null"}]}},"additionalProperties":false}`,
			`{}`, `{"id":"…","kind":"Rye"}`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"required":["a"]}],"additionalProperties":false}`,
			`{"b":"b"}`, `{"a":"a","b":"b"}`},
		{`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/components/schemas/X"},"minItems":1}},"required":[],"additionalProperties":false}`,
			`{}`, `{"kids":[{"kids":[{"kids":[{}]}]}]}`},
		{`{"type":"object","properties":{"days":{"type":"array","items":{"type":"string","format":"date"}},"sum":{"type":"number","format":"decimal"},"is":{"type":"boolean"},"long":{"type":"string","format":"duration"}},"required":["days"],"additionalProperties":false}`,
			`{"days":[]}`, `{"days":["2026-03-31"],"sum":1.5,"is":true,"long":"PT1H30M"}`},
		{`{"type":"object","properties":{"where":{"type":"object","properties":{"kind":{"$ref":"#/components/schemas/KindQueryInput"}},"required":["kind"],"additionalProperties":false}},"required":["where"],"additionalProperties":false}`,
			`{"where":{"kind":{"equals":"Rye"}}}`, `{"where":{"kind":{"equals":"Rye"}}}`},
		{`{"type":"object","properties":{"image":{"type":"string","x-format":"file"}},"required":["image"],"additionalProperties":false}`,
			`{"image":"data:text/plain;name=hello.txt;base64,aGVsbG8="}`, `{"image":"data:text/plain;name=hello.txt;base64,aGVsbG8="}`},
		{list, `{}`, `{"where":{"title":{"equals":"equals","contains":"contains"}},"first":10,"totalCount":true}`},
		{`{}`, `{}`, `{}`},
	} {
		schemas := release.Schemas{
			{Name: "X", JSON: json.RawMessage(test.schema)},
			{Name: "Kind", JSON: json.RawMessage(`{"type":"string","enum":["Rye","Oat"]}`)},
			{Name: "KindQueryInput", JSON: json.RawMessage(query)},
		}
		reader, err := input.Compile(schemas, "X")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			all  bool
			want string
		}{{false, test.least}, {true, test.full}} {
			got := schemaReader{schemas}.sample("X", s.all)
			if compact := strings.Join(strings.Fields(got), ""); compact != s.want {
				t.Errorf("%s (all: %t)\n got %s\nwant %s", test.schema, s.all, compact, s.want)
			}
			if _, err := reader.Read([]byte(got)); err != nil {
				t.Errorf("%s (all: %t)\n got %s, which is refused: %v", test.schema, s.all, got, err)
			}
		}
	}
}

func TestDocsInputs(t *testing.T) {
	t.Parallel()
	schemas := release.Schemas{
		{Name: "X", JSON: json.RawMessage(`{"type":"object","properties":{
			"where":{"$ref":"#/components/schemas/Where"},
			"id":{"type":"string","minLength":1,"maxLength":255,"description":"which one"},
			"kinds":{"type":"array","items":{"$ref":"#/components/schemas/Kind"}},
			"price":{"type":["number","null"],"format":"decimal"},
			"note":{"$ref":"#/components/schemas/Kind","description":"a kind"},
			"lines":{"type":"array","items":{"$ref":"#/components/schemas/Line"},"description":"in order"},
			"any":{}},"required":["id"]}`)},
		{Name: "Line", JSON: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"below":{"type":"array","items":{"$ref":"#/components/schemas/Line"}}},"required":["text"]}`)},
		{Name: "Where", JSON: json.RawMessage(`{"type":"object","properties":{"text":{"$ref":"#/components/schemas/TextQueryInput"}},"required":["text"]}`)},
		{Name: "TextQueryInput", JSON: json.RawMessage(`{"type":"object","minProperties":1,"properties":{"equals":{"type":"string"},"oneOf":{"type":"array"}}}`)},
		{Name: "Kind", JSON: json.RawMessage(`{"type":"string","enum":["Rye","Oat"],"description":"what it is"}`)},
	}
	got := schemaReader{schemas}.rows(schemas.Get("X"), "", "X")
	want := []memberRow{
		{Path: "where.text", Type: "filter: equals, oneOf", Required: true},
		{Path: "id", Type: "id", Doc: "which one", Required: true},
		{Path: "kinds", Type: "list of Rye | Oat"},
		{Path: "price", Type: "decimal or null"},
		{Path: "note", Type: "Rye | Oat", Doc: "a kind"},
		{Path: "lines[].text", Type: "text", Required: true},
		{Path: "lines[].below", Type: "list of object"},
		{Path: "any", Type: "any JSON"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
