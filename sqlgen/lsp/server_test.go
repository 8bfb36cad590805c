package lsp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const shop = `/// Something brought in to be mended.
model Order {
  fields {
    number Text @unique
    customer Customer
  }
  actions {
    list listOrders(customer.id?)
  }
  @permission(expression: true, actions: [list])
}

model Customer {
  fields {
    name Text?
  }
}
`

func TestSession(t *testing.T) {
	t.Parallel()
	uri := uriOf(filepath.Join(t.TempDir(), "shop.stern"))
	c := start(t)

	c.open(uri, strings.Replace(shop, "name Text?", "name Txet?", 1))
	if got, want := shown(c.current(uri)), "14:9-14:13 UnknownType 1\n"; got != want {
		t.Errorf("after opening: got %q, want %q", got, want)
	}
	c.change(uri, contentChange{&textRange{position{14, 9}, position{14, 13}}, "Text"})
	if got := shown(c.current(uri)); got != "" {
		t.Errorf("after mending: got %q, want nothing", got)
	}

	inPath := position{7, strings.Index("    list listOrders(customer.id?)", "customer")}
	behind := func(n int) position { return position{7, inPath.Character + n} }
	var h hover
	c.call("textDocument/hover", at(uri, behind(3)), &h)
	if want := "```stern\ncustomer Customer\n```\n\nColumn `customer_id` of table `app.order`."; h.Contents.Value != want {
		t.Errorf("hover: got %q, want %q", h.Contents.Value, want)
	}
	if want := (textRange{inPath, behind(8)}); h.Range != want {
		t.Errorf("range of hover: got %v, want %v", h.Range, want)
	}
	var l location
	c.call("textDocument/definition", at(uri, inPath), &l)
	if want := (location{uri, textRange{position{4, 4}, position{4, 12}}}); l != want {
		t.Errorf("definition: got %v, want %v", l, want)
	}
	var items []completionItem
	c.call("textDocument/completion", at(uri, behind(10)), &items)
	if got, want := labels(items), "id name createdAt updatedAt"; got != want {
		t.Errorf("completion: got %q, want %q", got, want)
	}
	if got, want := items[1].TextEdit, (textEdit{textRange{behind(9), behind(10)}, "name"}); got != want {
		t.Errorf("edit of completion: got %v, want %v", got, want)
	}
	var symbols []documentSymbol
	c.call("textDocument/documentSymbol", documentParams{documentID{uri}}, &symbols)
	if got, want := outline(symbols), "Order(number customer listOrders) Customer(name)"; got != want {
		t.Errorf("symbols: got %q, want %q", got, want)
	}

	untidy := strings.Replace(shop, "    name Text?", "  name   Text ?", 1)
	c.change(uri, contentChange{Text: untidy})
	var edits []textEdit
	c.call("textDocument/formatting", documentParams{documentID{uri}}, &edits)
	if got := apply(untidy, edits); got != shop {
		t.Errorf("formatting: got %s, want %s", got, shop)
	}
	if len(edits) != 1 || edits[0].Range != (textRange{position{14, 0}, position{15, 0}}) {
		t.Errorf("formatting: got %v, want an edit of line 14 alone", edits)
	}
	if err := c.end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

// labels returns the labels of completion items, in a line.
func labels(items []completionItem) string {
	var list []string
	for _, item := range items {
		list = append(list, item.Label)
	}
	return strings.Join(list, " ")
}

// outline returns symbols in a line.
func outline(symbols []documentSymbol) string {
	var list []string
	for _, s := range symbols {
		text := s.Name
		if len(s.Children) > 0 {
			text += "(" + outline(s.Children) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestDiagnosticsOfProject(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"order.stern":            "model Order { fields { customer Customer } }\n",
		"schemas/customer.stern": "model Customer { fields { name Txet } }\n",
		"sternpost.yaml":         "useDefaultApi: maybe\n",
	})
	order, customer := uriOf(filepath.Join(dir, "order.stern")), uriOf(filepath.Join(dir, "schemas", "customer.stern"))
	config := uriOf(filepath.Join(dir, "sternpost.yaml"))
	c := start(t)

	// A file that is not open is checked as it is on disk.
	c.open(order, "model Order { fields { customer Customer } }\n")
	if p := c.diagnostics(customer); shown(p.Diagnostics) != "0:31-0:35 UnknownType 1\n" || p.Version != nil {
		t.Errorf("customer.stern on disk: got %q, version %v", shown(p.Diagnostics), p.Version)
	}
	if p := c.diagnostics(config); shown(p.Diagnostics) != "0:15-0:20 BadConfig 1\n" {
		t.Errorf("sternpost.yaml on disk: got %q", shown(p.Diagnostics))
	}
	// An open document takes precedence over the file on disk.
	c.open(customer, "model Customer { fields { name Text } }\n")
	if got := shown(c.current(customer)); got != "" {
		t.Errorf("customer.stern as opened: got %q, want nothing", got)
	}
	c.open(config, "useDefaultApi: false\n")
	if got := shown(c.current(config)); got != "" {
		t.Errorf("sternpost.yaml as opened: got %q, want nothing", got)
	}
	// Closing it brings back the file on disk.
	c.waiting = nil
	c.close(customer)
	if p := c.diagnostics(customer); shown(p.Diagnostics) != "0:31-0:35 UnknownType 1\n" {
		t.Errorf("customer.stern after closing: got %q", shown(p.Diagnostics))
	}
	// A change on disk is seen when the client tells of it.
	c.waiting = nil
	c.notify("textDocument/didSave", documentParams{documentID{order}})
	if p := c.diagnostics(order); len(p.Diagnostics) != 0 {
		t.Errorf("order.stern after saving: got %q, want nothing", shown(p.Diagnostics))
	}
	c.diagnostics(customer) // files that are not open come last
	c.waiting = nil
	if err := os.Remove(filepath.Join(dir, "schemas", "customer.stern")); err != nil {
		t.Fatal(err)
	}
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	if p := c.diagnostics(customer); len(p.Diagnostics) != 0 {
		t.Errorf("customer.stern after its removal: got %q, want nothing", shown(p.Diagnostics))
	}
	if p := c.diagnostics(order); shown(p.Diagnostics) != "0:32-0:40 UnknownType 1\n" {
		t.Errorf("order.stern without its type: got %q", shown(p.Diagnostics))
	}
}

func TestDiagnosticsGoWithTheProject(t *testing.T) {
	t.Parallel()
	uri := uriOf(filepath.Join(t.TempDir(), "a.stern"))
	c := start(t)
	c.open(uri, "model A { fields { x Y } }")
	if got := shown(c.current(uri)); got == "" {
		t.Error("got nothing, want an error")
	}
	c.close(uri)
	if p := c.diagnostics(uri); len(p.Diagnostics) != 0 || p.Version != nil {
		t.Errorf("after closing: got %q, want nothing", shown(p.Diagnostics))
	}
}

// A note is shown at its own place if the client can do that, else in the
// message.
func TestNotes(t *testing.T) {
	t.Parallel()
	const twice = "model A { fields { x Text } }\nmodel A { fields { x Text } }\n"
	for _, withRelated := range []bool{true, false} {
		c := connect(t)
		c.initialize(map[string]any{"textDocument": map[string]any{"publishDiagnostics": map[string]any{"relatedInformation": withRelated}}})
		uri := "untitled:Untitled-1"
		c.open(uri, twice)
		list := c.current(uri)
		i := 0
		for i < len(list) && list[i].Code != "DuplicateType" {
			i++
		}
		if i == len(list) {
			t.Fatalf("got %q, want DuplicateType", shown(list))
		}
		if got := len(list[i].Related) == 1; got != withRelated {
			t.Errorf("related information %v: got %v", withRelated, list[i].Related)
		}
		if withRelated && list[i].Related[0].Location != (location{uri, textRange{position{0, 6}, position{0, 7}}}) {
			t.Errorf("place of the note: got %v", list[i].Related[0].Location)
		}
		if got := strings.Contains(list[i].Message, "\n"); got == withRelated {
			t.Errorf("related information %v: got message %q", withRelated, list[i].Message)
		}
	}
}

func TestPositionEncodings(t *testing.T) {
	t.Parallel()
	// Before the error are a character of two UTF-16 units and four bytes, and
	// one of one unit and two bytes.
	const text = "model A { fields { /* 😀é */ x Y } }\n"
	tests := []struct {
		offered []string
		want    string
		start   int
	}{
		{nil, "utf-16", 31},
		{[]string{"utf-16"}, "utf-16", 31},
		{[]string{"utf-8", "utf-16"}, "utf-8", 34},
		{[]string{"utf-32", "utf-8"}, "utf-32", 30},
		{[]string{"utf-7"}, "utf-16", 31},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.offered, " "), func(t *testing.T) {
			t.Parallel()
			c := connect(t)
			r := c.initialize(map[string]any{"general": map[string]any{"positionEncodings": test.offered}})
			if string(r.Capabilities.PositionEncoding) != test.want {
				t.Errorf("encoding: got %s, want %s", r.Capabilities.PositionEncoding, test.want)
			}
			c.open("untitled:a", text)
			list := c.current("untitled:a")
			if len(list) == 0 || list[0].Range.Start != (position{0, test.start}) {
				t.Fatalf("diagnostic: got %q, want it at 0:%d", shown(list), test.start)
			}
			c.change("untitled:a", contentChange{&list[0].Range, "A?"})
			if got := shown(c.current("untitled:a")); strings.Contains(got, "UnknownType") {
				t.Errorf("after a change at the same place: got %q", got)
			}
			var l location
			c.call("textDocument/definition", at("untitled:a", position{0, test.start}), &l)
			if want := (textRange{position{0, 6}, position{0, 7}}); l.Range != want {
				t.Errorf("definition: got %v, want %v", l.Range, want)
			}
		})
	}
}

func TestMistakesOfClients(t *testing.T) {
	t.Parallel()
	c := connect(t)
	code := func(m message, want int, what string) {
		t.Helper()
		if m.Error == nil || m.Error.Code != want {
			t.Errorf("%s: got %+v, want error %d", what, m.Error, want)
		}
	}
	code(c.request("textDocument/hover", at("file:///a.stern", position{})), -32002, "hover before initialize")
	code(c.request("no/such", nil), -32002, "unknown method before initialize")
	c.notify("textDocument/didOpen", nil)
	c.initialize(nil)
	code(c.request("initialize", nil), -32600, "initialize twice")
	code(c.request("no/such", nil), -32601, "unknown method")
	code(c.request("textDocument/hover", []int{1}), -32602, "parameters of another shape")
	c.notify("$/setTrace", map[string]any{"value": "off"})
	c.notify("no/such", nil)
	c.notify("textDocument/didChange", map[string]any{"contentChanges": "x"})
	c.change("file:///never/opened.stern", contentChange{Text: "x"})
	c.close("file:///never/opened.stern")
	c.open("file:///README.md", "# no schema")

	c.sendText(`{"jsonrpc": "2.0", "id": 99, "method": `)
	code(c.answer("null"), -32700, "broken JSON")
	c.sendText(`[]`)
	code(c.answer("null"), -32600, "empty batch")
	c.sendText(`{"id": 98, "method": "textDocument/hover"}`)
	code(c.answer("98"), -32600, "no JSON-RPC 2.0")

	// A position outside the text counts as its end.
	c.open("untitled:a", "model A { fields { x Text } }")
	for _, p := range []position{{99, 0}, {0, 999}, {-1, -1}} {
		if m := c.request("textDocument/completion", at("untitled:a", p)); m.Error != nil {
			t.Errorf("completion at %v: got error %v", p, m.Error)
		}
	}
	c.change("untitled:a", contentChange{&textRange{position{5, 5}, position{0, 0}}, "!"})
	for _, uri := range []string{"untitled:other", "file:///README.md", "%zz", ""} {
		for _, method := range []string{"textDocument/hover", "textDocument/definition", "textDocument/formatting"} {
			if m := c.request(method, at(uri, position{})); m.Error != nil || string(m.Result) != "null" {
				t.Errorf("%s of %q: got %s, %v, want null", method, uri, m.Result, m.Error)
			}
		}
	}

	var result any
	c.call("shutdown", nil, &result)
	code(c.request("textDocument/hover", nil), -32600, "hover after shutdown")
	c.notify("exit", nil)
	if err := <-c.served; err != nil {
		t.Errorf("exit after shutdown: got %v, want no error", err)
	}
}

// A request is answered once, also if it is cancelled.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.open("untitled:a", "model A { fields { x Text } }")
	for range 20 {
		c.ids++
		c.send(map[string]any{"id": c.ids, "method": "textDocument/documentSymbol", "params": documentParams{documentID{"untitled:a"}}})
		c.notify("$/cancelRequest", map[string]any{"id": c.ids})
		if m := c.answer(strconv.Itoa(c.ids)); m.Error != nil {
			t.Errorf("cancelled request: got error %v", m.Error)
		}
	}
	c.notify("$/cancelRequest", map[string]any{"id": "never sent"})
	if err := c.end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(c *client)
		want string // in the error; "" means none
	}{
		{"exit without shutdown", func(c *client) { c.notify("exit", nil) }, ErrAbandoned.Error()},
		{"end of input", func(c *client) { c.to.Close() }, ErrAbandoned.Error()},
		{"no frame", func(c *client) { c.to.Write([]byte("hello\r\n\r\n")) }, "read from the editor"},
		{"end of input after shutdown", func(c *client) { c.request("shutdown", nil); c.to.Close() }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			test.run(c)
			err := <-c.served
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if test.want == ErrAbandoned.Error() && !errors.Is(err, ErrAbandoned) {
				t.Errorf("got %v, want ErrAbandoned", err)
			}
		})
	}
}

// A client that can watch files is asked to.
func TestWatchedFiles(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.initialize(map[string]any{"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}}})
	m := c.wait("registration", func(m message) bool { return m.Method == "client/registerCapability" })
	var p struct {
		Registrations []struct {
			Method          string
			RegisterOptions struct {
				Watchers []struct{ GlobPattern string }
			}
		}
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || len(p.Registrations) != 1 || len(p.Registrations[0].RegisterOptions.Watchers) != 3 {
		t.Errorf("registration: got %s, %v", m.Params, err)
	}
	c.send(map[string]any{"id": m.ID, "result": nil})
	if err := c.end(); err != nil {
		t.Errorf("end: %v", err)
	}
}

func TestFormattingLeavesWhatDoesNotParse(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.open("untitled:a", "model A {fields{ x }")
	var edits []textEdit
	c.call("textDocument/formatting", documentParams{documentID{"untitled:a"}}, &edits)
	if len(edits) != 0 {
		t.Errorf("got %v, want no edits", edits)
	}
}

func TestFormattingMakesOneEdit(t *testing.T) {
	t.Parallel()
	tests := []string{
		"", "\n\n", "enum A { B }", "enum A { B }\n\n\n", "enum A { B }\r\nenum C { D }\r\n", "\n\nenum A { B }\n",
		"enum A { B }\n\n\n\nenum C { D }\n", "enum A { B }   \nenum C { D }", "// 😀\nenum A {B}\nenum C { D }\n",
	}
	for _, text := range tests {
		c := start(t)
		c.open("untitled:a", text)
		var edits []textEdit
		c.call("textDocument/formatting", documentParams{documentID{"untitled:a"}}, &edits)
		got := apply(text, edits)
		c.change("untitled:a", contentChange{Text: got})
		c.call("textDocument/formatting", documentParams{documentID{"untitled:a"}}, &edits)
		if len(edits) != 0 || strings.TrimSpace(got) == "" != (strings.TrimSpace(text) == "") {
			t.Errorf("formatting of %q: got %q, and then %v", text, got, edits)
		}
	}
}
