package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// rawAction is a code action, with its raw edit.
type rawAction struct {
	Title       string
	Kind        string
	IsPreferred bool
	Diagnostics []diagnostic
	Edit        json.RawMessage
}

// actionsAt returns the offered actions at a mark in schema.stern, and the folder.
func actionsAt(t *testing.T, files map[string]string) (dir string, list []rawAction) {
	t.Helper()
	marked := strings.TrimLeft(files["schema.stern"], "\n")
	text, p := unmark(t, marked)
	files["schema.stern"] = text
	dir = folder(t, files)
	c := connect(t)
	c.initialize(renamesFiles)
	uri, _ := c.openFile(dir, "schema.stern")
	c.call("textDocument/codeAction", map[string]any{"textDocument": documentID{uri}, "range": textRange{p, p},
		"context": map[string]any{"diagnostics": c.current(uri)}}, &list)
	return dir, list
}

// Each name that a message suggests can be applied, which fixes the error.
func TestSuggestedNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, title string }{
		{"model A { fields { x Te¦xxt } }", "Write Text"},
		{"model A { fields { x Str¦ing } }", "Write Text"},
		{"model A { fields { x Text @uniqeu¦ } }", "Write unique"},
		{"model A { fields { x Text } actions { get a(id) { @where(a.¦y == \"\") @where(a.xx == \"\") } } }", ""},
		{"model A { fields { title Text } actions { get a(id) { @where(a.ti¦tel == \"\") } } @permission(expression: true, actions: [get]) }", "Write title"},
		{"model A { fields { title Text } actions { get a(id) { @where(ti¦tle == \"\") } } @permission(expression: true, actions: [get]) }", "Write a.title"},
		{"model A { fields { title Text } actions { lits¦ a() } @permission(expression: true, actions: [list]) }", "Write list"},
		{"model A { fields { title Text @permision¦ } }", "Write permission"},
		{"model A { fields { s State } actions { get a(id) { @where(a.s == State.Opne¦) } } }\nenum State { Open Shut }", "Write Open"},
		{"model A { fields { s State } actions { update a(id) { @set(a.s = Ope¦n) } } }\nenum State { Open Shut }", "Write State.Open"},
		{"role Staff { emials¦ { \"a@b.example\" } }", ""},
		{"role Staff { email¦ { \"a@b.example\" } }", "Write emails"},
		{"model A { fields { x Text } @permission(roles: [Saff¦], actions: [get]) }\nrole Staff { emails { \"a@b.example\" } }", "Write Staff"},
		{"model A { fields { x Text @maxLenght¦(3) } }", "Write maxLength"},
		{"model A { fields { ¦Title Text } }", "Write title"},
		{"model A { fields { x Boolean y Boolean } @validate(a.x an¦d a.y) }", "Write &&"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			dir, list := actionsAt(t, map[string]string{"schema.stern": test.text})
			if test.title == "" {
				for _, a := range list {
					if strings.HasPrefix(a.Title, "Write ") {
						t.Errorf("offered %q", a.Title)
					}
				}
				return
			}
			if len(list) == 0 || list[0].Title != test.title || list[0].Kind != "quickfix" || !list[0].IsPreferred || len(list[0].Diagnostics) != 1 {
				t.Fatalf("got %+v, want %q", list, test.title)
			}
			_, errs := sqlgen.Check(changed(t, dir, list[0].Edit))
			for _, e := range errs {
				if string(e.Code) == list[0].Diagnostics[0].Code {
					t.Errorf("still %s: %s", e.Code, e.Message)
				}
			}
		})
	}
}

// The editor reads the suggested names from the message.
func TestMeant(t *testing.T) {
	t.Parallel()
	tests := []struct{ message, want string }{
		{`there is no type "Txet" (did you mean "Text"?)`, "Text"},
		{`there is no attribute @uniqe (did you mean "@unique"?)`, "@unique"},
		{`unexpected "'" (did you mean "\""?)`, `"`},
		{`there is no type "(did you mean x?)"`, ""},
		{"nothing", ""},
	}
	for _, test := range tests {
		if got := (&syntax.Diagnostic{Message: test.message}).Meant(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.message, got, test.want)
		}
	}
}

func TestMissingRule(t *testing.T) {
	t.Parallel()
	const onLines = "model Note {\n  fields {\n    text Text\n  }\n  actions {\n    get get¦Note(id)\n    list notes() {\n      @sortable(text)\n    }\n  }\n}\n"
	tests := []struct {
		text string
		want []string // the titles, with the text in the schema afterwards
	}{
		{onLines, []string{
			"Add a rule to Note: who is signed in may get", "  }\n  @permission(expression: ctx.isAuthenticated, actions: [get])\n}\n",
			"Add a rule to getNote: who is signed in may call it", "get getNote(id) @permission(expression: ctx.isAuthenticated)\n",
			"Add a rule to getNote: everyone may call it", "get getNote(id) @permission(expression: true)\n",
			"Say that it is meant: @allow(NoRule)", "get getNote(id) @allow(NoRule)\n",
		}},
		{strings.Replace(strings.Replace(onLines, "¦", "", 1), "notes", "no¦tes", 1), []string{
			"Add a rule to Note: who is signed in may list", "  }\n  @permission(expression: ctx.isAuthenticated, actions: [list])\n}\n",
			"Add a rule to notes: who is signed in may call it", "{\n      @permission(expression: ctx.isAuthenticated)\n      @sortable(text)\n",
			"Add a rule to notes: everyone may call it", "{\n      @permission(expression: true)\n      @sortable(text)\n",
			"Say that it is meant: @allow(NoRule)", "{\n      @allow(NoRule)\n      @sortable(text)\n",
		}},
		{"model Note { fields { text Text } actions { delete rem¦ove(id) @allow(MissingIndex) } }\n", []string{
			"Add a rule to Note: who is signed in may delete", "} @permission(expression: ctx.isAuthenticated, actions: [delete]) }\n",
			"Add a rule to remove: who is signed in may call it", "remove(id) @permission(expression: ctx.isAuthenticated) @allow(MissingIndex)",
			"Add a rule to remove: everyone may call it", "remove(id) @permission(expression: true) @allow(MissingIndex)",
			"Say that it is meant: @allow(NoRule)", "@allow(MissingIndex, NoRule)",
		}},
		{"union Both { fields { text Text } arms { note Note } actions { list b¦oth() } }\nmodel Note { fields { text Text } }\n", []string{
			"Add a rule to Both: who is signed in may list", "list both() } @permission(expression: ctx.isAuthenticated, actions: [list]) }\n",
			"Add a rule to both: who is signed in may call it", "list both() @permission(expression: ctx.isAuthenticated) }",
			"Add a rule to both: everyone may call it", "list both() @permission(expression: true) }",
			"Say that it is meant: @allow(NoRule)", "list both() @allow(NoRule) }",
		}},
	}
	for _, test := range tests {
		dir, list := actionsAt(t, map[string]string{"schema.stern": test.text})
		if len(list) != len(test.want)/2 {
			t.Errorf("%s: got %+v", test.text, list)
			continue
		}
		for i, a := range list {
			p := changed(t, dir, a.Edit)
			if a.Title != test.want[2*i] || !strings.Contains(string(p.Files[0].Text), test.want[2*i+1]) {
				t.Errorf("%s: got %s\n%s\nwant %s\n%s", test.text, a.Title, p.Files[0].Text, test.want[2*i], test.want[2*i+1])
			}
			_, errs := sqlgen.Check(p)
			at := strings.TrimSuffix(strings.SplitAfterN(test.text, "¦", 2)[0], "¦")
			for _, e := range errs {
				if e.Code == check.NoRule && e.Span.Start.Offset <= len(at) && len(at) <= e.Span.End.Offset {
					t.Errorf("%s: still %s", a.Title, e.Message)
				}
			}
		}
	}
}

// The file that custom code lacks is made as the compiler expects it.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	const text = "model Note {\n  fields { text Text }\n  actions { write arch¦ive(before: Date, ids: ID[]) returns (Any) }\n  @permission(expression: true, actions: [write])\n}\n"
	dir, list := actionsAt(t, map[string]string{"schema.stern": text})
	if len(list) != 1 || list[0].Title != "Make functions/archive.sql" {
		t.Fatalf("got %+v", list)
	}
	var edit struct {
		DocumentChanges []struct {
			Kind, URI    string
			TextDocument versionedID
			Edits        []textEdit
		}
	}
	if err := json.Unmarshal(list[0].Edit, &edit); err != nil || len(edit.DocumentChanges) != 2 {
		t.Fatalf("got %s, %v", list[0].Edit, err)
	}
	made, filled := edit.DocumentChanges[0], edit.DocumentChanges[1]
	if want := uriOf(dir) + "/functions/archive.sql"; made.Kind != "create" || made.URI != want || filled.TextDocument.URI != want {
		t.Errorf("got %s of %s, want it of %s", made.Kind, made.URI, want)
	}
	if want := "create function functions.archive(before date, ids text[]) returns jsonb\n"; !strings.Contains(filled.Edits[0].NewText, want) {
		t.Errorf("got %s, want %s in it", filled.Edits[0].NewText, want)
	}
	p, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = append(p.Functions, &syntax.Source{Name: "functions/archive.sql", Text: []byte(filled.Edits[0].NewText)})
	if _, errs := sqlgen.Compile(p); errs.HasErrors() {
		t.Errorf("it does not compile: %s", errs[0].Message)
	}

	// An editor that cannot make files does not get that action.
	c := start(t)
	uri, _ := c.openFile(dir, "schema.stern")
	var none []codeAction
	c.call("textDocument/codeAction", map[string]any{"textDocument": documentID{uri}, "range": textRange{position{}, position{99, 0}},
		"context": map[string]any{"diagnostics": []any{}}}, &none)
	if len(none) != 0 {
		t.Errorf("got %+v", none)
	}
}
