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

// Header are the headers of a request that repeat its message: Mcp-Protocol-Version, Mcp-Method and Mcp-Name.
type Header struct{ Version, Method, Name string }

// message is a request or a notification of JSON-RPC 2.0.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"` // nil for a notification
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`

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
	status  int    // of HTTP
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

// The codes of JSON-RPC and of the protocol.
const (
	parseError         = -32700
	invalidRequest     = -32600
	methodNotFound     = -32601
	invalidParams      = -32602
	internalError      = -32603
	headerMismatch     = -32020
	unsupportedVersion = -32022
)

func malformed(code int, why string) *fault { return &fault{http.StatusBadRequest, code, why, nil} }

// Invalid is the error for a call that names no tool, or has arguments of another form. The subject may be long.
func Invalid(why, subject string) error {
	if letters := []rune(subject); len(letters) > 64 {
		subject = string(letters[:64]) + "…"
	}
	return &fault{http.StatusOK, invalidParams, why + subject, nil}
}

// readMessage reads a message and its parameters. The message of a fault has the id, if that was read.
func readMessage(text []byte) (*message, error) {
	m := &message{}
	err := json.Unmarshal(text, m)
	var wrong *json.SemanticError
	switch isWrong := errors.As(err, &wrong); {
	case err != nil && !isWrong:
		return &message{}, malformed(parseError, "the message is not valid JSON")
	case isWrong, m.ID != nil && m.ID.Kind() != '"' && (m.ID.Kind() != '0' || strings.ContainsAny(string(m.ID), ".eE")):
		return &message{}, malformed(invalidRequest, "the message must be one request or notification, whose id is a string or a whole number")
	case m.JSONRPC != "2.0" || m.Method == "":
		return m, malformed(invalidRequest, `the message must have "jsonrpc": "2.0" and a method`)
	case m.ID == nil && !strings.HasPrefix(m.Method, "notifications/"):
		return m, malformed(invalidRequest, "the request has no id")
	case m.Params != nil && (m.Params.Kind() != '{' || json.Unmarshal(m.Params, &m.params) != nil):
		return m, malformed(invalidParams, "the params must be an object of the form of the method")
	}
	return m, nil
}

// check finds the revision of a request, and compares the message with its headers. Without headers, a request that does
// not name a revision is of the former one.
func (m *message) check(h *Header) error {
	version := m.params.Meta.Version
	if h != nil {
		switch {
		case m.Method == "initialize" && h.Version != newest:
			return nil
		case version == "" && h.Version == newest:
			return malformed(invalidParams, "_meta has no io.modelcontextprotocol/protocolVersion")
		case h.Version == "" || version != "" && version != h.Version:
			return malformed(headerMismatch, "Header mismatch: Mcp-Protocol-Version is missing, or not the version of the message")
		}
		version = h.Version
	}
	switch m.isNewest = version == newest; {
	case version == Former, version == "":
	case !m.isNewest:
		f := malformed(unsupportedVersion, "Unsupported protocol version")
		f.Data = map[string]any{"supported": []string{newest, Former}, "requested": version}
		return f
	case m.params.Meta.Capabilities.Kind() != '{':
		return malformed(invalidParams, "_meta has no io.modelcontextprotocol/clientCapabilities")
	case h != nil && (h.Method != m.Method || decoded(h.Name) != m.params.Name+m.params.URI):
		return malformed(headerMismatch, "Header mismatch: Mcp-Method or Mcp-Name is not that of the message")
	}
	return nil
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

// response writes the response to the message, with a result or an error.
func (m *message) response(member string, text []byte) []byte {
	b := append(make([]byte, 0, len(text)+len(m.ID)+64), `{"jsonrpc":"2.0",`...)
	if m.ID != nil {
		b = append(append(append(b, `"id":`...), m.ID...), ',')
	}
	return append(append(append(append(b, '"'), member+`":`...), text...), '}')
}

// failed writes the response for a fault.
func (m *message) failed(f *fault) []byte {
	text, err := answer.Encode(f)
	if err != nil {
		panic(err) // texts and lists of them
	}
	return m.response("error", text)
}
