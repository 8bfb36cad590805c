package mcp

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// modern is the _meta of a message of the newest revision.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// TestHandle sends messages, with and without headers, and compares status and response.
func TestHandle(t *testing.T) {
	t.Parallel()
	lost := errors.New("the database is away")
	host := &Host{
		Name: "Books", Version: "7", Instructions: "Be \"kind\".",
		List: func() ([][]byte, error) { return [][]byte{[]byte(`{"name":"a"}`), []byte(`{"name":"b"}`)}, nil },
		Call: func(c Call) (Result, error) {
			switch c.Name {
			case "echo":
				return Result{JSON: c.Arguments}, nil
			case "nothing":
				return Result{JSON: []byte("null")}, nil
			case "refuse":
				return Result{[]byte(`{"code":"ERR_PERMISSION_DENIED"}`), true}, nil
			case "key":
				return Result{JSON: []byte(`"` + *c.Key + `"`)}, nil
			case "lose":
				return Result{}, lost
			}
			return Result{}, Invalid("Unknown tool: ", c.Name)
		},
		Resources: func() ([]Resource, error) {
			return []Resource{{"file:///a.stern", "a.stern", "text/plain", "model A"}, {"file:///ö", "ö", "text/plain", "ä"}}, nil
		},
	}
	const info = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Books","version":"7"}}}}`
	const kept = `"ttlMs":0,"cacheScope":"private",` + info
	old, now := &Header{Version: "2025-11-25"}, &Header{Version: "2026-07-28"}
	with := func(method, name string) *Header { return &Header{"2026-07-28", method, name} }
	for name, c := range map[string]struct {
		text   string
		header *Header
		status int
		want   string // all of the response, or its part behind …
	}{
		// What is not a message.
		"empty":             {``, old, 400, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not valid JSON"}}`},
		"cut":               {`{"jsonrpc":"2.0","id":1,"method":"pi`, old, 400, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not valid JSON"}}`},
		"two":               {`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, old, 400, `…"error":{"code":-32700,"message":"the message is not valid JSON"}}`},
		"not UTF-8":         {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", old, 400, `…-32700,"message":"the message is not valid JSON"}}`},
		"a name twice":      {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, old, 400, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not valid JSON"}}`},
		"batch":             {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, old, 400, `…{"code":-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"null":              {`null`, old, 400, `…-32600,"message":"the message must have \"jsonrpc\": \"2.0\" and a method"}}`},
		"text":              {`"ping"`, old, 400, `…-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"no version":        {`{"id":1,"method":"ping"}`, old, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the message must have \"jsonrpc\": \"2.0\" and a method"}}`},
		"version 1":         {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, old, 400, `…"id":1,"error":{"code":-32600,"message":"the message must have \"jsonrpc\": \"2.0\" and a method"}}`},
		"a response":        {`{"jsonrpc":"2.0","id":1,"result":{}}`, old, 400, `…"id":1,"error":{"code":-32600,"message":"the message must have \"jsonrpc\": \"2.0\" and a method"}}`},
		"method 7":          {`{"jsonrpc":"2.0","id":1,"method":7}`, old, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"id null":           {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, old, 400, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"id 1.5":            {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, old, 400, `…-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"id object":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, old, 400, `…-32600,"message":"the message must be one request or notification, whose id is a string or a whole number"}}`},
		"params array":      {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, old, 400, `…"id":1,"error":{"code":-32602,"message":"the params must be an object of the form of the method"}}`},
		"params null":       {`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, old, 400, `…-32602,"message":"the params must be an object of the form of the method"}}`},
		"name 7":            {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, old, 400, `…"id":1,"error":{"code":-32602,"message":"the params must be an object of the form of the method"}}`},
		"call without id":   {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, old, 400, `…-32600,"message":"the request has no id"}}`},
		"notification":      {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, old, 202, ``},
		"any notification":  {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil, 202, ``},
		"an id with quotes": {`{"jsonrpc":"2.0","id":"a\"b","method":"ping"}`, old, 200, `{"jsonrpc":"2.0","id":"a\"b","result":{}}`},

		// The former revision.
		"initialize": {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, &Header{}, 200,
			`{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{},"resources":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"Books","version":"7"},"instructions":"Be \"kind\"."}}`},
		"initialize an older one": {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`, &Header{Version: "2024-11-05"}, 200, `…,"protocolVersion":"2025-11-25","serverInfo":{"name":"Books","version":"7"},"instructions":"Be \"kind\"."}}`},
		"ping":                    {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, old, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"list":                    {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, old, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b"}]}}`},
		"a page of a list":        {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, old, 200, `…-32602,"message":"this is not a cursor of a list"}}`},
		"unknown method":          {`{"jsonrpc":"2.0","id":1,"method":"tools/drop"}`, old, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`},
		"discover too early":      {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, old, 200, `…-32601,"message":"Method not found"}}`},
		"a long method":           {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 999) + `"}`, old, 200, `…-32601,"message":"Method not found"}}`},
		"no header":               {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &Header{}, 400, `…-32020,"message":"Header mismatch: Mcp-Protocol-Version is missing, or not the version of the message"}}`},
		"an older header":         {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, &Header{Version: "2025-06-18"}, 400, `…-32022,"message":"Unsupported protocol version","data":{"requested":"2025-06-18","supported":["2026-07-28","2025-11-25"]}}}`},
		"by standard input":       {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},

		// Tools.
		"call": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"ö\n"}}}`, old, 200,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":\"ö\\n\"}"}],"structuredContent":{"a":"ö\n"},"isError":false}}`},
		"without arguments": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, old, 200, `…"structuredContent":{},"isError":false}}`},
		"null for none":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":null}}`, old, 200, `…"structuredContent":{},"isError":false}}`},
		"no object":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`, old, 200, `…"text":"{\"result\":null}"}],"structuredContent":{"result":null},"isError":false}}`},
		"a refusal":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refuse"}}`, old, 200, `…"structuredContent":{"code":"ERR_PERMISSION_DENIED"},"isError":true}}`},
		"a key":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"key","_meta":{"idempotencyKey":"k1"}}}`, old, 200, `…"structuredContent":{"result":"k1"},"isError":false}}`},
		"no key":            {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"key","_meta":{"idempotencyKey":1}}}`, old, 400, `…-32602,"message":"the params must be an object of the form of the method"}}`},
		"unknown tool":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, old, 200, `…-32602,"message":"Unknown tool: x"}}`},
		"arguments array":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1]}}`, old, 200, `…-32602,"message":"the arguments must be an object"}}`},

		// Resources.
		"resources": {`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, old, 200, `…"result":{"resources":[{"uri":"file:///a.stern","name":"a.stern","mimeType":"text/plain"},{"uri":"file:///ö","name":"ö","mimeType":"text/plain"}]}}`},
		"a resource": {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a.stern"}}`, old, 200,
			`…"result":{"contents":[{"uri":"file:///a.stern","mimeType":"text/plain","text":"model A"}]}}`},
		"unknown resource": {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, old, 200, `…-32602,"message":"Resource not found: file:///etc/passwd"}}`},
		"templates":        {`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`, old, 200, `…"result":{"resourceTemplates":[]}}`},

		// The newest revision.
		"discover":              {`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modern + `}}`, with("server/discover", ""), 200, `…"result":{"capabilities":{"tools":{},"resources":{}},"supportedVersions":["2026-07-28","2025-11-25"],"instructions":"Be \"kind\".",` + kept},
		"list now":              {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`, with("tools/list", ""), 200, `…"result":{"tools":[{"name":"a"},{"name":"b"}],` + kept},
		"call now":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing",` + modern + `}}`, with("tools/call", "nothing"), 200, `…"structuredContent":{"result":null},"isError":false,` + info},
		"a name in base64":      {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///ö",` + modern + `}}`, with("resources/read", "=?base64?ZmlsZTovLy/Dtg==?="), 200, `…"text":"ä"}],` + kept},
		"by standard input now": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`, nil, 200, `…"name":"b"}],` + kept},
		"another method":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + modern + `}}`, with("tools/list", "echo"), 400, `…-32020,"message":"Header mismatch: Mcp-Method or Mcp-Name is not that of the message"}}`},
		"another tool":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + modern + `}}`, with("tools/call", "nothing"), 400, `…-32020,"message":"Header mismatch: Mcp-Method or Mcp-Name is not that of the message"}}`},
		"no name":               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + modern + `}}`, with("tools/call", ""), 400, `…-32020,"message":"Header mismatch: Mcp-Method or Mcp-Name is not that of the message"}}`},
		"another version":       {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`, old, 400, `…-32020,"message":"Header mismatch: Mcp-Protocol-Version is missing, or not the version of the message"}}`},
		"no version in it":      {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, now, 400, `…-32602,"message":"_meta has no io.modelcontextprotocol/protocolVersion"}}`},
		"no capabilities":       {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, with("tools/list", ""), 400, `…-32602,"message":"_meta has no io.modelcontextprotocol/clientCapabilities"}}`},
		"a future version": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, &Header{"2030-01-01", "tools/list", ""}, 400,
			`…-32022,"message":"Unsupported protocol version","data":{"requested":"2030-01-01","supported":["2026-07-28","2025-11-25"]}}}`},
		"unknown method now": {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + modern + `}}`, with("subscriptions/listen", ""), 404, `…-32601,"message":"Method not found"}}`},
		"a handshake now":    {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modern + `}}`, with("initialize", ""), 404, `…-32601,"message":"Method not found"}}`},
		"ping now":           {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + modern + `}}`, with("ping", ""), 404, `…-32601,"message":"Method not found"}}`},
	} {
		status, response, err := host.Handle([]byte(c.text), c.header)
		tail, isTail := strings.CutPrefix(c.want, "…")
		got := string(response)
		if err != nil || status != c.status || !isTail && got != c.want || isTail && !strings.HasSuffix(got, tail) {
			t.Errorf("%s\n%s\ngot  %d %s, %v\nwant %d %s", name, c.text, status, got, err, c.status, c.want)
		}
	}
	if _, _, err := host.Handle([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lose"}}`), old); err != lost {
		t.Errorf("an error of the host: got %v", err)
	}
}

// TestCost holds what a message costs above its call to 30 µs: to read a call of a tool and to write its answer of 1 kB.
func TestCost(t *testing.T) {
	call := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getBook","arguments":{"id":"0199"},` + modern + `}}`)
	answer := []byte(`{"text":"` + strings.Repeat("a line of a page\\n", 55) + `"}`)
	host := &Host{Name: "Books", Version: "7", Call: func(Call) (Result, error) { return Result{JSON: answer}, nil }}
	header := &Header{"2026-07-28", "tools/call", "getBook"}
	best := time.Duration(math.MaxInt64) // the machine may be busy with something else
	for range 50 {
		const calls = 100
		started := time.Now()
		for range calls {
			if _, _, err := host.Handle(call, header); err != nil {
				t.Fatal(err)
			}
		}
		best = min(best, time.Since(started)/calls)
	}
	t.Logf("a message costs %s", best)
	if best > 30*time.Microsecond {
		t.Errorf("a message costs %s", best)
	}
}
