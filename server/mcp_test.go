package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

// openTools lets agents call all actions of the API.
func openTools(c *config.Config) { c.MCP = config.MCP{APIs: []string{"Api"}, Writes: []string{"Api"}} }

// message sends a message of the former revision.
func (s *testServer) message(t *testing.T, method, params string, header map[string]string) (*http.Response, string) {
	t.Helper()
	all := map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2025-11-25"}
	for name, value := range header {
		all[name] = value
	}
	return s.do(t, "POST", "/api/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), all)
}

// tool calls a tool. It returns its answer: the object, and also the text, which must be the same.
func (s *testServer) tool(t *testing.T, action, input string, header map[string]string) (isError bool, answer string) {
	t.Helper()
	resp, body := s.message(t, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, action, input), header)
	var got struct {
		Result struct {
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != 200 || len(got.Result.Content) != 1 {
		t.Fatalf("%s %s: got %d %s", action, input, resp.StatusCode, body)
	}
	if r := got.Result; r.Content[0].Type != "text" || r.Content[0].Text != string(r.StructuredContent) {
		t.Errorf("%s: the text is not the object: %s", action, body)
	}
	return got.Result.IsError, string(got.Result.StructuredContent)
}

// TestToolCalls makes the same calls as tools and as requests. The answers are the same, refusals too.
func TestToolCalls(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, openTools)
	bad := 0
	for _, c := range [][2]string{
		{"getNote", `{"id":"n1"}`},
		{"getNote", `{"id":"nothing"}`}, // null
		{"getNote", `{}`},
		{"getNote", `{"id":7,"more":1}`},
		{"getNote", `{"id":"n1","id2":"\u0000"}`},
		{"getNote", `{"id":"` + strings.Repeat("n", 300) + `"}`},
		{"listNotes", `{"first":2}`},
		{"listNotes", `{"first":2,"limit":3}`},
		{"listNotes", `{"after":"x"}`},
		{"listNotes", `{"where":{"title":{"equals":"a"}}}`},
		{"listNotes", `{"where":` + strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40) + `}`},
		{"nap", `{"seconds":1e999}`},
		{"updateNote", `{"where":{"id":"nothing"},"values":{"title":"b"}}`},
		{"deleteAuthor", `{"id":"nothing"}`},
		{"fail", `{"code":"SP403"}`},
		{"fail", `{"code":"SP409","message":"no"}`},
		{"fail", `{"code":"23505","message":"duplicate key value violates unique constraint \"secret\""}`},
		{"fail", `{"code":"42P01","message":"relation app.secret does not exist"}`},
		{"fail", `{"code":"XX000","message":"select * from secret"}`},
		{"failReading", `{"code":"57014"}`},
	} {
		action, input := c[0], c[1]
		status, want := s.post(t, action, input)
		if !strings.HasPrefix(want, "{") {
			want = `{"result":` + want + `}`
		}
		isError, got := s.tool(t, action, input, nil)
		if got != want || isError != (status != 200) {
			t.Errorf("%s %s: got %s (error: %t), a request gets %d %s", action, input, got, isError, status, want)
		}
		if bad += status / 400; strings.Contains(got, "secret") || strings.Contains(got, "select") {
			t.Errorf("%s %s tells of the database: %s", action, input, got)
		}
	}
	if bad < 12 {
		t.Errorf("%d calls are refused", bad)
	}
	s.waitLog(t, "select * from secret") // the log has it all
	s.waitLog(t, `"status":500`)
}

// TestToolKeys carries a write out once, by the key of a header and by that of a message.
func TestToolKeys(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, openTools)
	create := func(key, title string) (*http.Response, string) {
		return s.message(t, "tools/call", fmt.Sprintf(`{"name":"createNote","arguments":{"title":%q,"slug":%q},"_meta":{"idempotencyKey":%q}}`, title, title, key), nil)
	}
	_, first := create("k", "once")
	resp, again := create("k", "once")
	if first != again || !strings.Contains(first, `\"once\"`) || resp.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a repetition: got %s, first %s, %v", again, first, resp.Header)
	}
	if _, got := create("k", "twice"); !strings.Contains(got, "ERR_IDEMPOTENCY_KEY_REUSED") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("another call under the key: got %s", got)
	}
	if _, got := create("k\r\nX: y", "twice"); !strings.Contains(got, "invalid Idempotency-Key header") {
		t.Errorf("a key of two lines: got %s", got)
	}
	if isError, got := s.tool(t, "createNote", `{"title":"once","slug":"once"}`, map[string]string{"Idempotency-Key": "k"}); isError || !strings.Contains(got, `"once"`) {
		t.Errorf("the key in the header: got %s", got)
	}
}

// TestToolEndpoint compares what the endpoint refuses before it reads a message, and its headers.
func TestToolEndpoint(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, func(c *config.Config) {
		c.MCP.APIs, c.CORSOrigins, c.BodyLimit = []string{"Api"}, []string{"https://app.example"}, 4096
	})
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct {
		method, path, body, header string // Name: value
		status                     int
		want                       string
	}{
		"a closed api":          {"POST", "/small/mcp", ping, "", 404, `{"code":"ERR_ACTION_NOT_FOUND","message":"action not found"}`},
		"no api":                {"POST", "/none/mcp", ping, "", 404, `{"code":"ERR_ACTION_NOT_FOUND","message":"action not found"}`},
		"GET":                   {"GET", "/api/mcp", "", "", 405, `{"code":"ERR_HTTP_METHOD_NOT_ALLOWED","message":"method not allowed"}`},
		"DELETE":                {"DELETE", "/api/mcp", "", "", 405, `{"code":"ERR_HTTP_METHOD_NOT_ALLOWED","message":"method not allowed"}`},
		"a bad token":           {"POST", "/api/mcp", ping, "Authorization: Bearer bad", 401, `{"code":"ERR_AUTHENTICATION_FAILED","message":"the access token is not valid"}`},
		"a bad zone":            {"POST", "/api/mcp", ping, "Time-Zone: Mars", 400, `{"code":"ERR_INPUT_MALFORMED","message":"invalid Time-Zone header: unknown time zone Mars"}`},
		"a foreign page":        {"POST", "/api/mcp", ping, "Origin: https://evil.example", 403, `{"code":"ERR_PERMISSION_DENIED","message":"tools are not available to pages of \"https://evil.example\""}`},
		"an admitted page":      {"POST", "/api/mcp", ping, "Origin: https://app.example", 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a form":                {"POST", "/api/mcp", ping, "Content-Type: text/plain", 415, `{"code":"ERR_UNSUPPORTED_MEDIA_TYPE","message":"the request body must be application/json"}`},
		"too long":              {"POST", "/api/mcp", strings.Repeat(" ", 5000) + ping, "", 413, `{"code":"ERR_REQUEST_TOO_LARGE","message":"the request body is too large"}`},
		"a session":             {"POST", "/api/mcp", ping, "Mcp-Session-Id: 1", 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a notification":        {"POST", "/api/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", 202, ``},
		"a write that is off":   {"POST", "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"createNote","arguments":{"title":"a"}}}`, "", 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: createNote"}}`},
		"who issues tokens":     {"GET", "/.well-known/oauth-protected-resource/api/mcp", "", "", 200, `{"authorization_servers":["http://localhost"],"bearer_methods_supported":["header"],"resource":"http://localhost/api/mcp"}`},
		"of a closed api":       {"GET", "/.well-known/oauth-protected-resource/small/mcp", "", "", 404, `{"code":"ERR_ACTION_NOT_FOUND","message":"action not found"}`},
		"a panic of identities": {"POST", "/api/mcp", ping, "Authorization: Bearer panic", 500, `{"code":"ERR_INTERNAL","message":"an internal error occurred"}`},
	} {
		header := map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Content-Type": "application/json"}
		if key, value, found := strings.Cut(c.header, ": "); found {
			header[key] = value
		}
		resp, body := s.do(t, c.method, c.path, c.body, header)
		if resp.StatusCode != c.status || body != c.want {
			t.Errorf("%s: got %d %s, want %d %s", name, resp.StatusCode, body, c.status, c.want)
		}
		if allow := resp.Header.Get("Allow"); c.status == 405 && allow != "POST" {
			t.Errorf("%s: Allow: %s", name, allow)
		}
		const challenge = `Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource/api/mcp", error="invalid_token"`
		if got := resp.Header.Get("WWW-Authenticate"); c.status == 401 && got != challenge {
			t.Errorf("%s: WWW-Authenticate: %s", name, got)
		}
		if resp.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: a session began", name)
		}
	}
	resp, _ := s.do(t, "OPTIONS", "/api/mcp", "", map[string]string{"Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
	if allowed := resp.Header.Get("Access-Control-Allow-Headers"); resp.StatusCode != 204 || !strings.HasSuffix(allowed, ", Mcp-Protocol-Version, Mcp-Method, Mcp-Name") {
		t.Errorf("a preflight: got %d, %s", resp.StatusCode, allowed)
	}
	off, _ := startReady(t, nil)
	if resp, body := off.message(t, "ping", "{}", nil); resp.StatusCode != 404 {
		t.Errorf("by default: got %d %s", resp.StatusCode, body)
	}
}

// TestUnknownToolAPI is about an api in the configuration that the release does not have.
func TestUnknownToolAPI(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.install(t, app())
	s, err := New(testConfig(d.ServerURL(), func(c *config.Config) { c.MCP.APIs = []string{"api"} }), Options{Identifier: tokens{}, Listener: listenLocal(t), AdminListener: listenLocal(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "mcp.apis: there is no api api") {
		t.Errorf("Run: got %v", err)
	}
}
