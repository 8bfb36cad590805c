package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each hint is the type that build prints for the column.
func TestInlayHints(t *testing.T) {
	t.Parallel()
	for _, app := range apps {
		compiled, script := built(t, app)
		c := start(t)
		uri, text := c.openFile(appDir(app), app+".stern")
		var hints []inlayHint
		whole := textRange{position{}, position{9999, 0}}
		c.call("textDocument/inlayHint", rangeParams{documentParams{documentID{uri}}, whole}, &hints)
		want := 0
		for _, m := range compiled.Schema.Models {
			for _, f := range m.Fields {
				if !m.IsIdentity && !f.BuiltIn && f.FKOf == nil && f.Column != "" {
					want++
				}
			}
		}
		if len(hints) != want || want < 20 {
			t.Errorf("%s: got %d hints, want %d", app, len(hints), want)
		}
		for _, h := range hints {
			_, column, _ := strings.Cut(strings.TrimPrefix(h.Tooltip, "Column "), ".")
			table, column, _ := strings.Cut(column, ".")
			_, definition, _ := strings.Cut(script, "create table app."+table+" (\n")
			definition, _, _ = strings.Cut(definition, "\n);")
			if !strings.Contains("\n"+definition, "\n  "+column+" "+h.Label) {
				t.Errorf("%s: %s %s is not what build prints:\n%s", app, h.Tooltip, h.Label, definition)
			}
			line := strings.Split(text, "\n")[h.Position.Line]
			if before := line[:h.Position.Character]; len(strings.Fields(before)) != 2 {
				t.Errorf("%s: a hint behind %q", app, before)
			}
		}
	}
}

// While the schema is in error, the earlier fields keep their hints.
func TestInlayHintsInError(t *testing.T) {
	t.Parallel()
	const sound = "model A {\n  fields {\n    price Decimal?\n    bs B[]\n  }\n}\nmodel B { fields { a A } }\n"
	uri := uriOf(filepath.Join(t.TempDir(), "a.stern"))
	c := start(t)
	c.open(uri, "model A {")
	ask := func(from, to int) []inlayHint {
		t.Helper()
		var hints []inlayHint
		c.call("textDocument/inlayHint", rangeParams{documentParams{documentID{uri}}, textRange{position{from, 0}, position{to, 0}}}, &hints)
		return hints
	}
	if got := ask(0, 9); len(got) != 0 {
		t.Errorf("before it compiled: got %v", got)
	}
	c.change(uri, contentChange{Text: sound})
	if got := ask(0, 6); len(got) != 1 || !strings.HasPrefix(got[0].Label, "numeric") || got[0].Position != (position{2, 18}) || got[0].Tooltip != "Column app.a.price" {
		t.Errorf("got %+v", got)
	}
	if got := ask(6, 9); len(got) != 1 || got[0].Tooltip != "Column app.b.a_id" {
		t.Errorf("the other lines: got %+v", got)
	}
	c.change(uri, contentChange{Text: strings.Replace(sound, "    bs", "    broken\n    bs", 1)})
	if got := ask(0, 6); len(got) != 1 || got[0].Tooltip != "Column app.a.price" {
		t.Errorf("in error: got %+v", got)
	}
}
