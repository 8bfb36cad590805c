package mcp

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/sternpost/sternpost/server/answer"
)

// Host is what agents can use.
type Host struct {
	Name         string // of the server, and its version
	Version      string
	Instructions string // how to use it; empty means none

	// List returns the descriptions of the tools, each a JSON object.
	List func() ([][]byte, error)

	// Call calls a tool. What it refuses is a Result; its errors are those of Handle.
	Call func(Call) (Result, error)

	// Resources are the texts that agents can read; nil means that there are none.
	Resources func() ([]Resource, error)
}

// Call is the call of a tool.
type Call struct {
	Name      string
	Arguments []byte  // a JSON object
	Key       *string // the key of _meta.idempotencyKey; nil means none
}

// Result is what a tool answers: JSON.
type Result struct {
	JSON    []byte
	IsError bool
}

// Resource is a text that agents can read.
type Resource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
}

// Handle answers a message. Notifications get no response: the status 202, and no text. Its error is that of the Host.
func (h *Host) Handle(text []byte, header *Header) (status int, response []byte, err error) {
	_, status, response, err = h.handle(text, header)
	return status, response, err
}

func (h *Host) handle(text []byte, header *Header) (m *message, status int, response []byte, err error) {
	m, err = readMessage(text)
	if err == nil && m.ID == nil {
		if strings.HasPrefix(m.Method, "notifications/") {
			return m, http.StatusAccepted, nil, nil
		}
		err = &fault{http.StatusBadRequest, invalidRequest, "the request has no id", nil}
	}
	if err == nil {
		err = m.checkVersion(header)
	}
	if err == nil {
		response, err = h.answer(m)
	}
	var f *fault
	if errors.As(err, &f) {
		return m, f.status, m.failed(f), nil
	}
	return m, http.StatusOK, response, err
}

// answer does what a request asks.
func (h *Host) answer(m *message) ([]byte, error) {
	if m.params.Cursor != "" {
		return nil, &fault{http.StatusOK, invalidParams, "this is not a cursor of a list", nil}
	}
	switch {
	case m.Method == "initialize" && !m.isNewest:
		return h.describe(m, `"protocolVersion":"`+Former+`","serverInfo":`+string(h.info())), nil
	case m.Method == "server/discover" && m.isNewest:
		return h.describe(m, `"supportedVersions":["`+newest+`","`+Former+`"]`), nil
	case m.Method == "ping" && !m.isNewest:
		return h.result(m, false, nil), nil
	case m.Method == "tools/list":
		tools, err := h.List()
		return h.result(m, true, []byte(`"tools":[`), bytes.Join(tools, []byte(",")), []byte("]")), err
	case m.Method == "tools/call":
		return h.call(m)
	case h.Resources == nil:
	case m.Method == "resources/list", m.Method == "resources/read":
		return h.resources(m)
	case m.Method == "resources/templates/list":
		return h.result(m, true, []byte(`"resourceTemplates":[]`)), nil
	}
	f := &fault{http.StatusOK, methodNotFound, "Method not found: " + cut(m.Method), nil}
	if m.isNewest {
		f.status = http.StatusNotFound
	}
	return nil, f
}

// info describes the server itself.
func (h *Host) info() []byte {
	b := answer.Quote([]byte(`{"name":`), h.Name)
	return append(answer.Quote(append(b, `,"version":`...), h.Version), '}')
}

// describe writes what the server can do, with further members.
func (h *Host) describe(m *message, more string) []byte {
	b := []byte(`"capabilities":{"tools":{}`)
	if h.Resources != nil {
		b = append(b, `,"resources":{}`...)
	}
	b = append(append(b, "},"...), more...)
	if h.Instructions != "" {
		b = answer.Quote(append(b, `,"instructions":`...), h.Instructions)
	}
	return h.result(m, true, b)
}

// result writes a result with these members. In the newest revision each result says that it is complete, and who answers.
// Clients may keep only those that are lists, and ask for them again each time.
func (h *Host) result(m *message, isKept bool, members ...[]byte) []byte {
	size := 256
	for _, part := range members {
		size += len(part)
	}
	b := append(m.begin(size), `"result":{`...)
	empty := len(b)
	for _, part := range members {
		b = append(b, part...)
	}
	if m.isNewest {
		if len(b) > empty {
			b = append(b, ',')
		}
		if isKept {
			b = append(b, `"ttlMs":0,"cacheScope":"private",`...)
		}
		b = append(append(b, `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":`...), h.info()...)
		b = append(b, '}')
	}
	return append(b, "}}"...)
}

// call calls a tool. Its answer is there as an object and, for clients that do not read that, as a text.
func (h *Host) call(m *message) ([]byte, error) {
	arguments := m.params.Arguments
	switch {
	case arguments == nil, arguments.Kind() == 'n': // clients send null for none
		arguments = []byte("{}")
	case arguments.Kind() != '{':
		return nil, BadArguments("the arguments must be an object")
	}
	answered, err := h.Call(Call{m.params.Name, arguments, m.params.Meta.Key})
	if err != nil {
		return nil, err
	}
	object := answered.JSON
	if len(object) == 0 || object[0] != '{' {
		object = append(append([]byte(`{"result":`), object...), '}')
	}
	isError := "false"
	if answered.IsError {
		isError = "true"
	}
	text := answer.Quote(make([]byte, 0, len(object)+len(object)/8+2), object)
	return h.result(m, false, []byte(`"content":[{"type":"text","text":`), text, []byte(`}],"structuredContent":`), object,
		[]byte(`,"isError":`+isError)), nil
}

// resources lists the resources, or reads one.
func (h *Host) resources(m *message) ([]byte, error) {
	all, err := h.Resources()
	if err != nil {
		return nil, err
	}
	listed := []Resource{}
	for _, r := range all {
		if m.Method == "resources/read" && r.URI == m.params.URI {
			text, err := answer.Encode([]any{struct {
				Resource
				Name string `json:"name,omitempty"` // a resource that is read has none
			}{Resource: r}})
			return h.result(m, true, []byte(`"contents":`), text), err
		}
		r.Text = ""
		listed = append(listed, r)
	}
	if m.Method == "resources/read" {
		return nil, &fault{http.StatusOK, invalidParams, "Resource not found: " + cut(m.params.URI), nil}
	}
	text, err := answer.Encode(listed)
	return h.result(m, true, []byte(`"resources":`), text), err
}
