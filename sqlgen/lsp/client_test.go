package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client is an editor, as far as tests need one. It talks to a server over
// pipes.
type client struct {
	t       *testing.T
	to      io.WriteCloser
	in      chan message
	waiting []message // read, but not yet asked for
	served  chan error
	ids     int
	version int
}

// message is any message of JSON-RPC.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// patience is the time that a test waits for a message.
const patience = 30 * time.Second

// connect starts a server and does not initialize it.
func connect(t *testing.T) *client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	c := &client{t: t, to: toServer, in: make(chan message), served: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c.served <- Serve(ctx, fromClient, toClient, Options{Version: "test", Log: testLog{t}})
		toClient.Close()
	}()
	go c.receive(fromServer)
	t.Cleanup(func() {
		toServer.Close()
		cancel()
		for range c.in {
		}
	})
	return c
}

// testLog fails a test when the server logs an internal error.
type testLog struct{ t *testing.T }

func (l testLog) Write(text []byte) (int, error) {
	l.t.Errorf("the server's log: %s", text)
	return len(text), nil
}

// start starts a server and initializes it.
func start(t *testing.T) *client {
	t.Helper()
	c := connect(t)
	c.initialize(nil)
	return c
}

// initializeResult is what tests read of the answer to initialize.
type initializeResult struct {
	Capabilities struct {
		PositionEncoding encoding `json:"positionEncoding"`
	} `json:"capabilities"`
}

// initialize sends initialize and initialized.
func (c *client) initialize(capabilities any) initializeResult {
	c.t.Helper()
	var result initializeResult
	c.call("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": capabilities}, &result)
	c.notify("initialized", struct{}{})
	return result
}

func (c *client) receive(from io.Reader) {
	defer close(c.in)
	r := bufio.NewReader(from)
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			c.t.Errorf("header %v: %v", header, err)
			return
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Errorf("message %s: %v", body, err)
			return
		}
		c.in <- m
	}
}

// wait returns the first message that fits, the oldest first.
func (c *client) wait(what string, fits func(message) bool) message {
	c.t.Helper()
	for i, m := range c.waiting {
		if fits(m) {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return m
		}
	}
	timeout := time.After(patience)
	for {
		select {
		case m, open := <-c.in:
			if !open {
				c.t.Fatalf("the server ended before %s", what)
			}
			if fits(m) {
				return m
			}
			c.waiting = append(c.waiting, m)
		case <-timeout:
			c.t.Fatalf("no %s came", what)
		}
	}
}

// sendText sends a message as it is.
func (c *client) sendText(text string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		c.t.Fatalf("send %s: %v", text, err)
	}
}

func (c *client) send(m map[string]any) {
	c.t.Helper()
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	c.sendText(string(text))
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(map[string]any{"method": method, "params": params})
}

// request sends a request and returns the answer, which may be an error.
func (c *client) request(method string, params any) message {
	c.t.Helper()
	c.ids++
	id := strconv.Itoa(c.ids)
	m := map[string]any{"id": c.ids, "method": method}
	if params != nil {
		m["params"] = params
	}
	c.send(m)
	return c.answer(id)
}

func (c *client) answer(id string) message {
	c.t.Helper()
	return c.wait("answer to "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// call sends a request and reads its result.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	m := c.request(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: error %d: %s", method, m.Error.Code, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		c.t.Fatalf("%s: result %s: %v", method, m.Result, err)
	}
}

// end ends the session in good order, and returns the result of Serve.
func (c *client) end() error {
	c.t.Helper()
	var result any
	c.call("shutdown", nil, &result)
	c.notify("exit", nil)
	return <-c.served
}

func (c *client) open(uri, text string) {
	c.t.Helper()
	c.version++
	c.notify("textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": "stern", "version": c.version, "text": text},
	})
}

// change replaces the text of an open document, or stretches of it.
func (c *client) change(uri string, changes ...contentChange) {
	c.t.Helper()
	c.version++
	list := []map[string]any{}
	for _, ch := range changes {
		one := map[string]any{"text": ch.Text}
		if ch.Range != nil {
			one["range"] = ch.Range
		}
		list = append(list, one)
	}
	c.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": c.version},
		"contentChanges": list,
	})
}

func (c *client) close(uri string) {
	c.t.Helper()
	c.notify("textDocument/didClose", documentParams{documentID{uri}})
}

// diagnostics returns the next diagnostics of a file.
func (c *client) diagnostics(uri string) publishParams {
	c.t.Helper()
	var p publishParams
	c.wait("diagnostics of "+uri, func(m message) bool {
		p = publishParams{}
		return m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(m.Params, &p) == nil && p.URI == uri
	})
	return p
}

// current returns the diagnostics of an open file in the version sent last.
func (c *client) current(uri string) []diagnostic {
	c.t.Helper()
	for {
		if p := c.diagnostics(uri); p.Version != nil && *p.Version == c.version {
			return p.Diagnostics
		}
	}
}

// shown returns diagnostics in a line each.
func shown(list []diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %d\n", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, d.Code, d.Severity)
	}
	return b.String()
}

// at returns the parameters of a request about a position.
func at(uri string, p position) positionParams {
	return positionParams{documentParams{documentID{uri}}, p}
}

// unmark returns a text without its mark, and the position of the mark.
func unmark(t *testing.T, text string) (string, position) {
	t.Helper()
	before, after, found := strings.Cut(text, "¦")
	if !found {
		t.Fatalf("no ¦ in %s", text)
	}
	return before + after, newLines([]byte(before), utf16Units).position(len(before))
}

// apply makes edits in a text, as an editor does.
func apply(text string, edits []textEdit) string {
	d := &document{text: []byte(text)}
	for _, e := range edits {
		d = d.change(0, []contentChange{{&e.Range, e.NewText}}, utf16Units)
	}
	return string(d.text)
}

// folder makes a folder with files, given by name and text, and returns it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.TrimLeft([]byte(text), "\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
