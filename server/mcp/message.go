package mcp

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/server/answer"
)

// The revisions of the protocol.
const (
	newest = "2026-07-28"
	Former = "2025-11-25"
)

// Header are the headers of a request that repeat its message; none of them is repeated itself.
type Header struct {
	Version string // Mcp-Protocol-Version
	Method  string // Mcp-Method
	Name    string // Mcp-Name
}

// message is a request or a notification of JSON-RPC 2.0.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"` // nil for a notification
	Method  string         `json:"method"`
	Text    jsontext.Value `json:"params"`

	params   params
	isNewest bool // of the revisions
}

// params are the parameters of all methods together.
type params struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	URI       string         `json:"uri"`
	Cursor    string         `json:"cursor"`
	Meta      struct {
		Version      string         `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities jsontext.Value `json:"io.modelcontextprotocol/clientCapabilities"`
		Key          *string        `json:"idempotencyKey"`
	} `json:"_meta"`
}

// fault is an error of the protocol, as opposed to one of a tool.
type fault struct {
	status  int // of HTTP
	code    int
	message string
	data    any // nil for none
}

// The codes of JSON-RPC and of the protocol.
const (
	parseError       = -32700
	invalidRequest   = -32600
	methodNotFound   = -32601
	invalidParams    = -32602
	internalError    = -32603
	headerMismatch   = -32020
	unsupportedError = -32022
)

func (f *fault) Error() string { return f.message }

// UnknownTool is the error for the name of a tool that does not exist.
func UnknownTool(name string) error {
	return &fault{http.StatusOK, invalidParams, "Unknown tool: " + cut(name), nil}
}

// BadArguments is the error for arguments of a tool that are not an object of its form.
func BadArguments(why string) error { return &fault{http.StatusOK, invalidParams, why, nil} }

// cut shortens a text that an error repeats.
func cut(text string) string {
	const most = 64
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// readMessage reads a message and its parameters. What it read before a fault is in the message.
func readMessage(text []byte) (*message, error) {
	m := &message{}
	err := json.Unmarshal(text, m)
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &wrong):
		m.ID = nil
		return m, &fault{http.StatusBadRequest, invalidRequest, "the message must be one request or notification of JSON-RPC 2.0", nil}
	case err != nil:
		m.ID = nil
		return m, &fault{http.StatusBadRequest, parseError, "the message is not valid JSON", nil}
	case !isID(m.ID):
		m.ID = nil
		return m, &fault{http.StatusBadRequest, invalidRequest, "the id must be a string or a whole number", nil}
	case m.JSONRPC != "2.0" || m.Method == "":
		return m, &fault{http.StatusBadRequest, invalidRequest, `the message must have "jsonrpc": "2.0" and a method`, nil}
	case m.Text == nil:
		return m, nil
	}
	if err := json.Unmarshal(m.Text, &m.params); err != nil || m.Text.Kind() != '{' {
		return m, &fault{http.StatusBadRequest, invalidParams, "the params must be an object of the form of the method", nil}
	}
	return m, nil
}

// isID tells whether an id is absent, a string, or a whole number.
func isID(id jsontext.Value) bool {
	return id == nil || id.Kind() == '"' || id.Kind() == '0' && !strings.ContainsAny(string(id), ".eE")
}

// checkVersion finds the revision of a request, and compares its message with its headers. Without headers, a request that
// does not name a revision is of the former one.
func (m *message) checkVersion(h *Header) error {
	version := m.params.Meta.Version
	switch isFirst := m.Method == "initialize"; {
	case h == nil && version == "", h != nil && isFirst && h.Version != newest:
		return nil
	case h == nil:
	case h.Version == "":
		return mismatch("the header Mcp-Protocol-Version is missing")
	case version != "" && h.Version != version:
		return mismatch("the header Mcp-Protocol-Version is not the protocolVersion of the message")
	case version == "" && h.Version == newest:
		return malformed("_meta has no io.modelcontextprotocol/protocolVersion")
	default:
		version = h.Version
	}
	if version != newest && version != Former {
		return &fault{http.StatusBadRequest, unsupportedError, "Unsupported protocol version", map[string]any{
			"supported": []string{newest, Former}, "requested": cut(version),
		}}
	}
	if m.isNewest = version == newest; !m.isNewest {
		return nil
	}
	if m.params.Meta.Capabilities.Kind() != '{' {
		return malformed("_meta has no io.modelcontextprotocol/clientCapabilities")
	}
	return m.checkHeader(h)
}

// checkHeader compares a message of the newest revision with its headers.
func (m *message) checkHeader(h *Header) error {
	if h == nil {
		return nil
	}
	name := ""
	switch m.Method {
	case "tools/call":
		name = m.params.Name
	case "resources/read":
		name = m.params.URI
	}
	switch {
	case h.Method != m.Method:
		return mismatch("the header Mcp-Method is not the method of the message")
	case name != "" && decoded(h.Name) != name:
		return mismatch("the header Mcp-Name is not the name in the message")
	}
	return nil
}

func mismatch(why string) error {
	return &fault{http.StatusBadRequest, headerMismatch, "Header mismatch: " + why, nil}
}

func malformed(why string) error {
	return &fault{http.StatusBadRequest, invalidParams, why, nil}
}

// decoded returns the value of a header, which is in base64 if it is no plain text.
func decoded(value string) string {
	inner, found := strings.CutPrefix(value, "=?base64?")
	inner, ends := strings.CutSuffix(inner, "?=")
	if text, err := base64.StdEncoding.DecodeString(inner); found && ends && err == nil {
		return string(text)
	}
	return value
}

// begin begins a response to the message: everything before its result or error.
func (m *message) begin(size int) []byte {
	b := append(make([]byte, 0, size+len(m.ID)+64), `{"jsonrpc":"2.0",`...)
	if m.ID == nil {
		return b
	}
	return append(append(append(b, `"id":`...), m.ID...), ',')
}

// failed writes the response for a fault.
func (m *message) failed(f *fault) []byte {
	text, err := answer.Encode(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{f.code, f.message, f.data})
	if err != nil {
		panic(err) // texts and lists of them
	}
	return append(append(append(m.begin(len(text)), `"error":`...), text...), '}')
}
