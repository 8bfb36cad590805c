package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
)

// shelf is a manifest with an action of each kind.
func shelf() *release.Manifest {
	m := &release.Manifest{
		Callers: []string{"anonymous", "authenticated", "Staff"},
		Schemas: release.Schemas{
			{Name: "Any", JSON: []byte(`{}`)},
			{Name: "Id", JSON: []byte(`{"type":"string","description":"an id"}`)},
			{Name: "GetBookInput", JSON: []byte(`{"type":"object","properties":{"id":{"$ref":"#/components/schemas/Id","description":"of the book"},"no":false},"required":["id"],"additionalProperties":false}`)},
			{Name: "SortInput", JSON: []byte(`{"type":"object","properties":{"tree":{"$ref":"#/components/schemas/Tree"},"by":{"oneOf":[{"$ref":"#/components/schemas/Id"},{"type":"null"}]}}}`)},
			{Name: "Tree", JSON: []byte(`{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}},"id":{"$ref":"#/components/schemas/Id"}}}`)},
		},
	}
	for i, kind := range []release.Kind{release.Get, release.List, release.Create, release.Update, release.Delete, release.Read, release.Write} {
		name := string(kind) + "Book"
		a := &release.Action{Name: name, Kind: kind, Model: "Book", Input: "GetBookInput", Access: []string{"never", "never", "depends"}}
		switch kind {
		case release.Get:
			a.Access, a.Doc = []string{"always", "always", "always"}, "Finds a \"book\".\nIt has <pages>."
		case release.Write:
			a.Input, a.Access = "SortInput", []string{"never", "depends", "depends"}
		case release.Read:
			a.Input, a.Access = "Any", nil
		}
		if m.Actions = append(m.Actions, a); i == 0 {
			m.APIs = []release.API{{Name: "Api"}}
		}
		m.APIs[0].Actions = append(m.APIs[0].Actions, name)
	}
	return m
}

func toolsOf(t *testing.T, m *release.Manifest, writes bool) *Tools {
	t.Helper()
	tools, err := NewTools(m, &m.APIs[0], writes)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func texts(list [][]byte) (texts []string) {
	for _, text := range list {
		texts = append(texts, string(text))
	}
	return texts
}

// TestTools compares the tools of a caller who may call everything. A component within itself is among the definitions.
func TestTools(t *testing.T) {
	t.Parallel()
	const book = `{"type":"object","properties":{"id":{"description":"of the book","type":"string"},"no":{"not":{}}},"required":["id"],"additionalProperties":false}`
	want := []string{
		`{"name":"getBook","description":"Finds a \"book\".\nIt has <pages>.","inputSchema":` + book + `,"annotations":{"readOnlyHint":true}}`,
		`{"name":"listBook","description":"List book","inputSchema":` + book + `,"annotations":{"readOnlyHint":true}}`,
		`{"name":"createBook","description":"Create book","inputSchema":` + book + `,"annotations":{"destructiveHint":false,"idempotentHint":false,"readOnlyHint":false}}`,
		`{"name":"updateBook","description":"Update book","inputSchema":` + book + `,"annotations":{"destructiveHint":true,"idempotentHint":false,"readOnlyHint":false}}`,
		`{"name":"deleteBook","description":"Delete book","inputSchema":` + book + `,"annotations":{"destructiveHint":true,"idempotentHint":true,"readOnlyHint":false}}`,
		`{"name":"readBook","description":"Read book","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		`{"name":"writeBook","description":"Write book","inputSchema":{"type":"object","properties":{` +
			`"tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"id":{"type":"string","description":"an id"}}},` +
			`"by":{"oneOf":[{"type":"string","description":"an id"},{"type":"null"}]}},` +
			`"$defs":{"Tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"id":{"type":"string","description":"an id"}}}}},` +
			`"annotations":{"destructiveHint":true,"idempotentHint":false,"readOnlyHint":false}}`,
	}
	m := shelf()
	if got := texts(toolsOf(t, m, true).List([]string{"authenticated", "Staff"})); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for classes, want := range map[string][]string{
		"anonymous":           {want[0], want[5]},
		"authenticated":       {want[0], want[5], want[6]},
		"authenticated Staff": want,
		"":                    {want[5]}, // nothing is known of its rules
	} {
		if got := texts(toolsOf(t, m, true).List(strings.Fields(classes))); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", classes, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := texts(toolsOf(t, m, false).List([]string{"Staff"})); !slices.Equal(got, []string{want[0], want[1], want[5]}) {
		t.Errorf("without writes: got\n%s", strings.Join(got, "\n"))
	}
	m.Actions[0].Input = "Lost"
	if _, err := NewTools(m, &m.APIs[0], false); err == nil || !strings.Contains(err.Error(), "there is no component Lost") {
		t.Errorf("an input without a schema: got %v", err)
	}
}

// TestManyTools finds the actions of an API that has too many for a list.
func TestManyTools(t *testing.T) {
	t.Parallel()
	m := shelf()
	for i := range mostTools {
		a := *m.Actions[0]
		a.Name = fmt.Sprintf("findShelf%02d", i)
		m.Actions = append(m.Actions, &a)
		m.APIs[0].Actions = append(m.APIs[0].Actions, a.Name)
	}
	tools := toolsOf(t, m, true)
	list := texts(tools.List([]string{"anonymous"}))
	if len(list) != 2 || !strings.Contains(list[0], `"name":"find_action"`) || !strings.Contains(list[1], `"name":"call_action"`) || !strings.Contains(list[1], `"destructiveHint":true`) {
		t.Errorf("got %q", list)
	}
	open := func(name, arguments, class string) (action, input, found string, err error) {
		c := &Call{Name: name, Arguments: []byte(arguments)}
		action, text, err := tools.Open(*c, func() ([]string, error) { return []string{class}, nil })
		return action, string(text), string(text), err
	}
	names := func(found string) (names []string) {
		var result struct {
			Actions []json.RawMessage `json:"actions"`
		}
		if err := json.Unmarshal([]byte(found), &result); err != nil {
			t.Errorf("%s: %v", found, err)
		}
		for _, text := range result.Actions {
			var tool struct{ Name string }
			if err := json.Unmarshal(text, &tool); err != nil {
				t.Error(err)
			}
			names = append(names, tool.Name)
		}
		return names
	}
	for _, c := range []struct{ words, class, want string }{
		{"delete BOOK", "Staff", "deleteBook"},
		{"delete book", "anonymous", "getBook"}, // its rules deny the other
		{"shelf17", "anonymous", "findShelf17"},
	} {
		_, _, found, err := open("find_action", `{"words":"`+c.words+`"}`, c.class)
		got := names(found)
		if err != nil || len(got) == 0 || got[0] != c.want || len(got) > 8 {
			t.Errorf("%q for %s: got %q, %v, want %s first", c.words, c.class, got, err, c.want)
		}
	}
	if _, _, found, err := open("find_action", `{"words":"zebra"}`, "Staff"); err != nil || found != `{"actions":[]}` {
		t.Errorf("nothing: got %s, %v", found, err)
	}
	if action, input, _, err := open("call_action", `{"action":"getBook","input":{"id":"b"}}`, ""); action != "getBook" || input != `{"id":"b"}` || err != nil {
		t.Errorf("call_action: got %s %s, %v", action, input, err)
	}
	if action, input, _, err := open("call_action", `{"action":"getBook"}`, ""); action != "getBook" || input != `{}` || err != nil {
		t.Errorf("call_action without input: got %s %s, %v", action, input, err)
	}
	for _, c := range [][3]string{
		{"getBook", `{}`, "Unknown tool: getBook"},
		{"call_action", `{"action":"drop"}`, "Unknown tool: drop"},
		{"call_action", `{"action":7}`, "the arguments do not fit the schema of call_action"},
		{"call_action", `{"name":"getBook"}`, "the arguments do not fit the schema of call_action"},
	} {
		if _, _, _, err := open(c[0], c[1], "Staff"); err == nil || err.Error() != c[2] {
			t.Errorf("%s %s: got %v, want %s", c[0], c[1], err, c[2])
		}
	}
}
