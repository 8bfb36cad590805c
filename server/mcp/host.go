// Package mcp speaks the Model Context Protocol with agents: it reads a message, asks a Host, and writes the answer. It
// keeps nothing between messages, so that any server can answer the next one. Tools are the actions of an API as an agent
// sees them.
//
// It speaks two revisions. A message of the newer one carries everything that is known of its client; a client of the
// older one begins with a handshake. Messages come by HTTP or, one a line, over standard input.
package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/sternpost/sternpost/server/answer"
)

// Host is what agents can use.
type Host struct {
	Name, Version string
	Instructions  string // how to use it; empty means none

	// List returns the descriptions of the tools, each a JSON object.
	List func() ([][]byte, error)

	// Call calls a tool. What it refuses is a Result; its errors are those of Handle.
	Call func(Call) (Result, error)

	// Resources returns the texts that agents can read; nil means that there are none.
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
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
}

// Handle answers a message. Notifications get no response: the status 202, and no text. Its error is that of the Host.
func (h *Host) Handle(text []byte, header *Header) (status int, response []byte, err error) {
	m, err := readMessage(text)
	if err == nil && m.ID == nil {
		return http.StatusAccepted, nil, nil
	}
	if err == nil {
		err = m.check(header)
	}
	if err == nil {
		response, err = h.answer(m)
	}
	var f *fault
	if err != nil && header == nil && !errors.As(err, &f) { // nobody else can answer it
		err = &fault{Code: internalError, Message: err.Error()}
	}
	if errors.As(err, &f) {
		return f.status, m.failed(f), nil
	}
	return http.StatusOK, response, err
}

// Serve answers messages, one a line, until there are no more.
func (h *Host) Serve(in io.Reader, out io.Writer) error {
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if _, response, _ := h.Handle(line, nil); response != nil {
				if _, err := out.Write(append(response, '\n')); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer does what a request asks.
func (h *Host) answer(m *message) ([]byte, error) {
	if m.params.Cursor != "" {
		return nil, Invalid("this is not a cursor of a list", "")
	}
	info := append(answer.Quote(append(answer.Quote([]byte(`{"name":`), h.Name), `,"version":`...), h.Version), '}')
	switch {
	case m.Method == "initialize" && !m.isNewest:
		return h.result(m, info, h.capabilities(`"protocolVersion":"`+Former+`","serverInfo":`+string(info))), nil
	case m.Method == "server/discover" && m.isNewest:
		return h.result(m, info, h.capabilities(`"supportedVersions":["`+newest+`","`+Former+`"]`), kept), nil
	case m.Method == "ping" && !m.isNewest:
		return h.result(m, info), nil
	case m.Method == "tools/list":
		tools, err := h.List()
		return h.result(m, info, []byte(`"tools":[`), bytes.Join(tools, []byte(",")), []byte("]"), kept), err
	case m.Method == "tools/call":
		members, err := h.call(m)
		return h.result(m, info, members...), err
	case h.Resources == nil:
	case m.Method == "resources/list", m.Method == "resources/read":
		members, err := h.resources(m)
		return h.result(m, info, members, kept), err
	case m.Method == "resources/templates/list":
		return h.result(m, info, []byte(`"resourceTemplates":[]`), kept), nil
	}
	f := &fault{http.StatusOK, methodNotFound, "Method not found", nil}
	if m.isNewest {
		f.status = http.StatusNotFound
	}
	return nil, f
}

// kept says that a client asks for a list again each time. Only the newest revision has it.
var kept = []byte(`,"ttlMs":0,"cacheScope":"private"`)

// capabilities writes what the server can do, with further members.
func (h *Host) capabilities(more string) []byte {
	b := []byte(`"capabilities":{"tools":{}`)
	if h.Resources != nil {
		b = append(b, `,"resources":{}`...)
	}
	b = append(append(b, "},"...), more...)
	if h.Instructions != "" {
		b = answer.Quote(append(b, `,"instructions":`...), h.Instructions)
	}
	return b
}

// result writes a result. In the newest revision each says that it is complete, and who answers.
func (h *Host) result(m *message, info []byte, members ...[]byte) []byte {
	if n := len(members); m.isNewest {
		members = append(members, []byte(`,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":`), info, []byte("}"))
	} else if n > 0 && &members[n-1][0] == &kept[0] {
		members = members[:n-1]
	}
	return m.response("result", append(append([]byte("{"), bytes.Join(members, nil)...), '}'))
}

// call calls a tool. Its answer is there as an object and, for clients that do not read that, as a text.
func (h *Host) call(m *message) ([][]byte, error) {
	arguments := m.params.Arguments
	switch {
	case arguments == nil, arguments.Kind() == 'n': // clients send null for none
		arguments = []byte("{}")
	case arguments.Kind() != '{':
		return nil, Invalid("the arguments must be an object", "")
	}
	answered, err := h.Call(Call{m.params.Name, arguments, m.params.Meta.Key})
	if err != nil {
		return nil, err
	}
	object, end := answered.JSON, `,"isError":false`
	if len(object) == 0 || object[0] != '{' {
		object = append(append([]byte(`{"result":`), object...), '}')
	}
	if answered.IsError {
		end = `,"isError":true`
	}
	text := answer.Quote(make([]byte, 0, len(object)+len(object)/8+2), object)
	return [][]byte{[]byte(`"content":[{"type":"text","text":`), text, []byte(`}],"structuredContent":`), object, []byte(end)}, nil
}

// resources lists the resources, or reads one.
func (h *Host) resources(m *message) ([]byte, error) {
	all, err := h.Resources()
	if err != nil {
		return nil, err
	}
	name, wanted := `"resources":`, []Resource{}
	for _, r := range all {
		switch {
		case m.Method == "resources/list":
			r.Text = ""
			wanted = append(wanted, r)
		case r.URI == m.params.URI:
			r.Name, name = "", `"contents":`
			wanted = []Resource{r}
		}
	}
	if m.Method == "resources/read" && len(wanted) == 0 {
		return nil, Invalid("Resource not found: ", m.params.URI)
	}
	text, err := answer.Encode(wanted)
	return append([]byte(name), text...), err
}
