package lsp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// An action leads to its file of custom code and to its generated functions, a model to
// its table and a field to its column.
func TestImplementation(t *testing.T) {
	t.Parallel()
	dir := appDir("workshop")
	tests := []struct {
		at   string // in workshop.stern
		want []string
	}{
		{"read ¦bill(", []string{"file: functions.bill(", "sternpost: create function api.bill("}},
		{"update ¦fetchOrder(", []string{"file: functions.fetch_order(", "sternpost: create function api.fetch_order("}},
		{"get ¦getBicycle(", []string{"sternpost: create function api.get_bicycle("}},
		{"model ¦Bicycle {", []string{"sternpost: create table app.bicycle ("}},
		{"¦frameNumber Text", []string{"sternpost:   frame_number text not null"}},
		{"¦owner Customer", []string{"sternpost:   owner_id text"}},
		{"enum ¦OrderState", nil},
		{"api ¦Tablet", nil},
	}
	for _, opens := range []bool{true, false} {
		c := connect(t)
		var result initializeResult
		c.call("initialize", map[string]any{"capabilities": map[string]any{}, "initializationOptions": map[string]any{"generatedDocuments": opens}}, &result)
		c.notify("initialized", struct{}{})
		uri, text := c.openFile(dir, "workshop.stern")
		for _, test := range tests {
			before, after, _ := strings.Cut(test.at, "¦")
			offset := strings.Index(text, before+after)
			if offset < 0 {
				t.Fatalf("%s is not in the app", test.at)
			}
			var got []location
			c.call("textDocument/implementation", at(uri, newLines([]byte(text), utf16Units).position(offset+len(before))), &got)
			var lines []string
			for _, l := range got {
				lines = append(lines, c.lineAt(l))
			}
			var want []string
			for _, w := range test.want {
				if opens || strings.HasPrefix(w, "file: ") {
					want = append(want, w)
				}
			}
			if len(lines) != len(want) {
				t.Errorf("%s, opens %v: got %q, want %q", test.at, opens, lines, want)
				continue
			}
			for i := range want {
				scheme, part, _ := strings.Cut(want[i], ": ")
				if !strings.HasPrefix(lines[i], scheme+": ") || !strings.Contains(lines[i], part) {
					t.Errorf("%s: got %q, want %q in it", test.at, lines[i], want[i])
				}
			}
		}
	}
}

// lineAt returns the scheme of a place and its line, as the editor would show it.
func (c *client) lineAt(l location) string {
	c.t.Helper()
	scheme, _, _ := strings.Cut(l.URI, ":")
	text := ""
	if scheme == generatedScheme {
		var d generatedDocument
		c.call("sternpost/generated", documentID{l.URI}, &d)
		text = d.Text
	} else {
		path, _ := pathOf(l.URI)
		text = readText(c.t, path)
	}
	return scheme + ": " + strings.Split(text, "\n")[l.Range.Start.Line]
}

// built returns an app, compiled, and what sternpost build prints of it.
func built(t *testing.T, app string) (*sqlgen.Compiled, string) {
	t.Helper()
	p, err := sqlgen.ReadProject(appDir(app))
	if err != nil {
		t.Fatal(err)
	}
	compiled, _ := sqlgen.Compile(p)
	return compiled, install.Script(compiled.Release())
}

// The server shows as generated the same as build prints.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, app := range apps {
		dir := appDir(app)
		compiled, script := built(t, app)
		c := start(t)
		c.openFile(dir, app+".stern")
		var names []string
		for _, m := range compiled.Schema.Models {
			names = append(names, m.Name)
		}
		for _, a := range compiled.Schema.Actions {
			names = append(names, a.Name)
		}
		for _, name := range names {
			var d generatedDocument
			c.call("sternpost/generated", documentID{(&project{dir: dir}).generatedURI(name)}, &d)
			paragraphs := 0
			for _, paragraph := range strings.Split(d.Text, "\n\n") {
				if strings.HasPrefix(paragraph, "create ") || strings.HasPrefix(paragraph, "-- action") {
					paragraphs++
					if !strings.Contains(script, strings.TrimSpace(paragraph)) {
						t.Errorf("%s: build does not print\n%s", name, paragraph)
					}
				}
			}
			if paragraphs == 0 || d.LanguageID != "sql" {
				t.Errorf("%s: got %q, %s", name, d.LanguageID, d.Text)
			}
		}
	}
}

func TestGeneratedRefuses(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.stern": "model Note { fields { text Text } }\n"})
	c := start(t)
	p := &project{dir: dir}
	refused := func(uri, want string) {
		t.Helper()
		if m := c.request("sternpost/generated", documentID{uri}); m.Error == nil || !strings.Contains(m.Error.Message, want) {
			t.Errorf("%s: got %s, %v, want %q", uri, m.Result, m.Error, want)
		}
	}
	refused(p.generatedURI("Note"), "no file of the project")
	uri, text := c.openFile(dir, "a.stern")
	refused(p.generatedURI("Nothing"), "neither model nor action Nothing")
	refused(uri, "is not a document of the scheme sternpost")
	var d generatedDocument
	c.call("sternpost/generated", documentID{p.generatedURI("Note")}, &d)
	if strings.Contains(d.Text, "has errors") || !strings.Contains(d.Text, "create table app.note (") {
		t.Errorf("got %s", d.Text)
	}
	// The last compilation stays in view while the schema is in error, and says so.
	c.change(uri, contentChange{Text: strings.Replace(text, "Text", "Txet", 1)})
	c.call("sternpost/generated", documentID{p.generatedURI("Note")}, &d)
	if !strings.HasPrefix(d.Text, "-- The project has errors") || !strings.Contains(d.Text, "create table app.note (") {
		t.Errorf("got %s", d.Text)
	}
	other := start(t)
	other.open(uri, "model Note { fields { text Txet } }\n")
	if m := other.request("sternpost/generated", documentID{p.generatedURI("Note")}); m.Error == nil || !strings.Contains(m.Error.Message, "has errors") {
		t.Errorf("got %s, %v", m.Result, m.Error)
	}
}

// From the name of an action with custom code, a definition is the code.
func TestDefinitionOfCustomCode(t *testing.T) {
	t.Parallel()
	dir := appDir("workshop")
	c := start(t)
	uri, text := c.openFile(dir, "workshop.stern")
	var l location
	c.call("textDocument/definition", at(uri, newLines([]byte(text), utf16Units).position(strings.Index(text, "bill(id)"))), &l)
	if got := c.lineAt(l); filepath.Base(l.URI) != "bill.sql" || !strings.Contains(got, "functions.bill(") {
		t.Errorf("got %v: %s", l, got)
	}
	c.call("textDocument/definition", at(uri, newLines([]byte(text), utf16Units).position(strings.Index(text, "getBicycle(id)"))), &l)
	if l.URI != uri {
		t.Errorf("built-in action: got %v", l)
	}
}
