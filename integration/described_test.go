package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// described counts the responses, in all tests, that were compared with the description
// of their API.
var described atomic.Int64

// describedTransport compares every response of an action with the description of its
// API: the status is declared, and the body fits its schema. A response that does not fit
// becomes an error, which ends the request.
type describedTransport struct {
	inner http.RoundTripper
	base  string // the address of the service

	mu        sync.Mutex
	documents map[string][]*apiDocument // by the API's path, the newest last
}

func newDescribedTransport(inner http.RoundTripper, base string) *describedTransport {
	return &describedTransport{inner: inner, base: base, documents: map[string][]*apiDocument{}}
}

// CloseIdleConnections closes those of the inner transport.
func (d *describedTransport) CloseIdleConnections() {
	if c, ok := d.inner.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends a request and checks the response.
func (d *describedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := d.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	api, rest, ok := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/json/")
	if strings.HasPrefix(request.URL.Path, "/auth/") { // every API describes it
		api, rest, ok = "api", "", true
	}
	if !ok || rest == "openapi.json" || strings.Contains(api, "/") || !strings.HasPrefix(request.URL.String(), d.base+"/") {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err := d.check(request, api, response, body); err != nil {
		return nil, fmt.Errorf("%s %s: %d %s\nis not as described: %w", request.Method, request.URL.Path, response.StatusCode, body, err)
	}
	return response, nil
}

// errUndescribed is for the response to a request that no document describes.
var errUndescribed = errors.New("not described")

// check compares a response with the newest document, and, since a release may have
// replaced it meanwhile, with the earlier ones.
func (d *describedTransport) check(request *http.Request, api string, response *http.Response, body []byte) error {
	documents, err := d.refresh(request, api)
	if err != nil {
		return err
	}
	var first error
	for _, document := range slices.Backward(documents) {
		err := document.check(describedPath(request.URL.Path), response, body)
		if err == nil {
			described.Add(1)
			return nil
		}
		if errors.Is(err, errUndescribed) && response.StatusCode == http.StatusNotFound {
			return nil // by that release, which does not have the action
		}
		if first == nil {
			first = err
		}
	}
	if first == nil || errors.Is(first, errUndescribed) {
		return nil
	}
	return first
}

// describedPath is the path of a request as a document writes it.
func describedPath(path string) string {
	for _, endpoint := range []string{"/auth/authorize/", "/auth/callback/"} {
		if strings.HasPrefix(path, endpoint) {
			return endpoint + "{name}"
		}
	}
	return path
}

// refresh asks for the document of an API unless it is known, and returns all documents
// so far.
func (d *describedTransport) refresh(cause *http.Request, api string) ([]*apiDocument, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.documents[api]
	request, err := http.NewRequestWithContext(cause.Context(), "GET", d.base+"/"+api+"/json/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	if len(known) > 0 {
		request.Header.Set("If-None-Match", known[len(known)-1].etag)
	}
	response, err := d.inner.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask for the description: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		document, err := readDocument(response.Body, response.Header.Get("ETag"))
		if err != nil {
			return nil, err
		}
		d.documents[api] = append(known, document)
	}
	return d.documents[api], nil
}

// apiDocument is an OpenAPI document with schemas to compare with.
type apiDocument struct {
	etag     string
	tree     map[string]any
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by pointer
}

const documentURL = "https://sternpost.test/openapi.json"

func readDocument(text io.Reader, etag string) (*apiDocument, error) {
	tree, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the description is not an object")
	}
	assertFiles(tree)
	compiler := newSchemaCompiler()
	if err := compiler.AddResource(documentURL, tree); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	return &apiDocument{etag: etag, tree: object, compiler: compiler, schemas: map[string]*jsonschema.Schema{}}, nil
}

// assertFiles turns the rule of file inputs beyond their schema into a format: a text
// that begins as a data URL must be one.
func assertFiles(value any) {
	switch v := value.(type) {
	case map[string]any:
		if v["x-format"] == "file" {
			v["format"] = "file"
		}
		for _, member := range v {
			assertFiles(member)
		}
	case []any:
		for _, element := range v {
			assertFiles(element)
		}
	}
}

// schema compiles the schema at a JSON pointer.
func (d *apiDocument) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", pointer, err)
	}
	d.schemas[pointer] = s
	return s, nil
}

// at follows names from the root of the document.
func (d *apiDocument) at(names ...string) any {
	var value any = d.tree
	for _, name := range names {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

// pointer is a JSON pointer (RFC 6901).
func pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return b.String()
}

// check compares a response with the declaration of its path.
func (d *apiDocument) check(path string, response *http.Response, body []byte) error {
	if d.at("paths", path) == nil {
		return errUndescribed
	}
	status := strconv.Itoa(response.StatusCode)
	method := strings.ToLower(response.Request.Method)
	if d.at("paths", path, method) == nil { // that of an action by GET, or one that is not allowed
		method = "post"
	}
	if d.at("paths", path, method) == nil {
		method = "get"
	}
	place := []string{"paths", path, method, "responses", status}
	declared, ok := d.at(place...).(map[string]any)
	if !ok {
		if response.StatusCode == http.StatusNoContent && response.Request.Method == http.MethodOptions {
			return nil // of CORS, which is not part of an operation
		}
		return fmt.Errorf("the status %s is not declared", status)
	}
	if ref, ok := declared["$ref"].(string); ok {
		place = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		if declared, ok = d.at(place...).(map[string]any); !ok {
			return fmt.Errorf("%s leads nowhere", ref)
		}
	}
	headers, _ := declared["headers"].(map[string]any)
	for name, described := range headers {
		header, _ := described.(map[string]any)
		if header["required"] == true && response.Header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if response.Request.Method == http.MethodHead || declared["content"] == nil {
		return nil
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("Content-Type: %w", err)
	}
	if d.at(append(place, "content", media)...) == nil {
		return fmt.Errorf("the content type %s is not declared", media)
	}
	schema, err := d.schema(pointer(append(place, "content", media, "schema")...))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	return schema.Validate(value)
}

// TestResponsesAreCompared gives the comparison responses that do not fit.
func TestResponsesAreCompared(t *testing.T) {
	t.Parallel()
	document, err := readDocument(strings.NewReader(`{"paths":{"/api/json/getNote":{"post":{"responses":{
		"200":{"content":{"application/json":{"schema":{"oneOf":[{"$ref":"#/components/schemas/Note"},{"type":"null"}]}}}},
		"400":{"$ref":"#/components/responses/BadRequest"},
		"401":{"$ref":"#/components/responses/Gone"},
		"503":{"headers":{"Retry-After":{"required":true},"Idempotent-Replayed":{}},"content":{"application/json":{"schema":{}}}}}}}},
		"components":{"schemas":{"Note":{"type":"object","properties":{"at":{"type":"string","format":"date-time"}},"required":["at"]}},
		"responses":{"BadRequest":{"content":{"application/json":{"schema":{"type":"object","required":["code"]}}}}}}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	const known = "/api/json/getNote"
	for _, test := range []struct {
		path, kind string
		status     int
		body       string
		want       string // of the error
	}{
		{known, "application/json", 200, `{"at":"2026-03-31T09:00:00.000Z"}`, ""},
		{known, "application/json", 200, `null`, ""},
		{known, "application/json", 200, `{"at":"2026-03-31"}`, "date-time"},
		{known, "application/json", 200, `{}`, "at"},
		{known, "application/json", 200, ``, "read the body"},
		{known, "text/plain", 200, `null`, "the content type text/plain is not declared"},
		{known, "", 200, `null`, "Content-Type"},
		{known, "application/json", 400, `{"code":"ERR"}`, ""},
		{known, "application/json", 400, `{}`, "code"},
		{known, "application/json", 401, `{}`, "leads nowhere"},
		{known, "application/json", 404, `{}`, "the status 404 is not declared"},
		{known, "application/json", 503, `{}`, "the header Retry-After is missing"},
		{"/api/json/getNotes", "application/json", 404, `{}`, "not described"},
	} {
		response := &http.Response{
			StatusCode: test.status,
			Header:     http.Header{"Content-Type": {test.kind}},
			Request:    &http.Request{Method: http.MethodPost},
		}
		err := document.check(test.path, response, []byte(test.body))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d %s %s\n got %v\nwant %s", test.path, test.status, test.kind, test.body, err, test.want)
		}
	}
}

// TestAuthIsDescribed sends requests to the endpoints under /auth and compares the answers with
// the description of an API.
func TestAuthIsDescribed(t *testing.T) {
	t.Parallel()
	a := serveApp(t, appDir("ledger"))
	_, text := a.send(t, "GET", "/portal/json/openapi.json", nil, "")
	document, err := readDocument(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	const form = "application/x-www-form-urlencoded"
	for _, test := range []struct {
		method, path, contentType, body string
		status                          int
	}{
		{"POST", "/auth/token", form, "grant_type=password&username=described%40example.com&password=horse+canary+1", 200},
		{"POST", "/auth/token", "application/json", `{"grant_type":"password","username":"described@example.com","password":"wrong canary 1","create_if_not_exists":false}`, 400},
		{"POST", "/auth/token", form, "grant_type=magic", 400},
		{"POST", "/auth/token", form, "grant_type=token_exchange&subject_token=x&requested_token_type=saml", 400},
		{"POST", "/auth/token", "text/plain", "x", 400},
		{"GET", "/auth/token", "", "", 405},
		{"POST", "/auth/token", form, strings.Repeat("a=b&", 20000), 413},
		{"POST", "/auth/revoke", form, "token=unknown", 200},
		{"POST", "/auth/revoke", form, "", 400},
		{"GET", "/auth/providers", "", "", 200},
		{"POST", "/auth/providers", "", "", 405},
		{"GET", "/auth/authorize/nobody", "", "", 400},
		{"POST", "/auth/authorize/nobody", "", "", 405},
		{"GET", "/auth/callback/nobody?state=x", "", "", 400},
		{"POST", "/auth/callback/nobody", form, "state=x", 400},
	} {
		response, answer := a.send(t, test.method, test.path, http.Header{"Content-Type": {test.contentType}}, test.body)
		if response.StatusCode != test.status {
			t.Errorf("%s %s %.60s: got %d %s, want %d", test.method, test.path, test.body, response.StatusCode, answer, test.status)
		}
		path, _, _ := strings.Cut(test.path, "?")
		if err := document.check(describedPath(path), response, []byte(answer)); err != nil {
			t.Errorf("%s %s %.60s: %d %s\n is not as described: %v", test.method, test.path, test.body, response.StatusCode, answer, err)
		}
	}
}
