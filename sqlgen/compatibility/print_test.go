package compatibility_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/compatibility"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func someChanges() []compatibility.Change {
	return []compatibility.Change{
		{Class: compatibility.Breaking, Area: compatibility.OfAction, Actions: []string{"dropOrder"}, Text: "removed", Reason: "calls of it answer 404"},
		{Class: compatibility.Breaking, Area: compatibility.OfResult, Subject: "Order.title", Actions: []string{"getOrder", "listOrders"}, Text: "removed", Reason: "clients that read it find nothing"},
		{Class: compatibility.Widening, Area: compatibility.OfPermission, Subject: "role Chief", Text: "gains a.example", Reason: "more callers get the rights of the role"},
		{Class: compatibility.Compatible, Area: compatibility.OfInput, Subject: "note", Actions: []string{"createOrder"}, Text: "added", Reason: "it may be left out"},
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	want := `breaking
  dropOrder: removed (allowed)
      calls of it answer 404
  getOrder, listOrders: result Order.title: removed
      clients that read it find nothing

widening
  role Chief: gains a.example (allowed)
      more callers get the rights of the role

compatible
  createOrder: input note: added
      it may be left out

2 breaking, 1 widening, 1 compatible
`
	if got := compatibility.Text(someChanges(), []string{"dropOrder", "getOrder", "role Chief"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := compatibility.Text(nil, nil), "nothing changes for clients and callers\n"; got != want {
		t.Errorf("of no changes: got %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Changes []map[string]any
		Counts  map[string]int
	}
	if err := json.Unmarshal(compatibility.JSON(someChanges(), []string{"widening"}), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Changes) != 4 || got.Counts["breaking"] != 2 || got.Counts["widening"] != 1 || got.Counts["compatible"] != 1 {
		t.Errorf("got %v", got)
	}
	if c := got.Changes[2]; c["allowed"] != true || c["class"] != "widening" || c["subject"] != "role Chief" || len(c["actions"].([]any)) != 0 {
		t.Errorf("got %v", c)
	}
	if got.Changes[0]["allowed"] != false {
		t.Errorf("got %v, want it not allowed", got.Changes[0])
	}
}

func TestIsAllowed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		allowed string
		want    string // of the changes in order, y or n
	}{
		{"", "nnny"},
		{"breaking", "yyny"},
		{"widening", "nnyy"},
		{"breaking widening", "yyyy"},
		{"dropOrder", "ynny"},
		{"getOrder", "nnny"},
		{"getOrder listOrders", "nyny"},
		{"Order.title", "nyny"},
		{"Chief", "nnny"},
		{"compatible", "nnny"},
	}
	for _, test := range tests {
		got := ""
		for _, c := range someChanges() {
			if c.IsAllowed(strings.Fields(test.allowed)) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != test.want {
			t.Errorf("--allow %q: got %s, want %s", test.allowed, got, test.want)
		}
	}
}

// TestSame compares an application that uses most of the language with itself, and with
// nothing.
func TestSame(t *testing.T) {
	t.Parallel()
	workshop, err := sqlgen.ReadProject(filepath.Join("..", "..", "integration", "apps", "workshop"))
	if err != nil {
		t.Fatal(err)
	}
	load := func(project *sqlgen.Project) *compatibility.Release {
		t.Helper()
		compiled, errs := sqlgen.Compile(project)
		if compiled == nil {
			t.Fatalf("%s: %v", project.Files[0].Name, errs)
		}
		return compatibility.NewRelease(compiled.Schema, compiled.Warnings, compiled.Manifest)
	}
	whole := load(workshop)
	nothing := load(&sqlgen.Project{Files: []*syntax.Source{{Name: "nothing.stern", Text: []byte("enum Nothing { None }")}}})
	if changes := compatibility.Compare(whole, load(workshop)); len(changes) > 0 {
		t.Errorf("of the same: got %v", changes)
	}
	for _, c := range compatibility.Compare(nothing, whole) {
		if c.Class == compatibility.Breaking {
			t.Errorf("from nothing: got %v", c)
		}
	}
	removed := 0
	for _, c := range compatibility.Compare(whole, nothing) {
		if c.Class != compatibility.Breaking {
			t.Errorf("to nothing: got %v", c)
		}
		if c.Area == compatibility.OfAction {
			removed++
		}
	}
	if want := len(whole.Schema.Actions); removed != want {
		t.Errorf("to nothing: %d actions are removed, want %d", removed, want)
	}
}
