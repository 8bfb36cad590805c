package main_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPermissions runs the command; package access tests the matrix.
func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"schema.stern": noteSchema})
	out := command{args: []string{"permissions", dir}}.expect(t, 0, "")
	for _, want := range []string{"anonymous", "  create createNote   always", "can call createNote, listNotes"} {
		if !strings.Contains(out, want) {
			t.Errorf("permissions: got\n%s\nwithout %q", out, want)
		}
	}

	out = command{args: []string{"permissions", "--format", "json"}, dir: dir}.expect(t, 0, "")
	var got struct {
		Actions []struct {
			Action  string
			Callers map[string]struct{ Decision string }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("permissions --format json: %v in\n%s", err, out)
	}
	if len(got.Actions) != 2 || got.Actions[0].Callers["anonymous"].Decision != "always" {
		t.Errorf("permissions --format json: got %+v, want createNote always admitted", got)
	}

	command{args: []string{"permissions", "--format", "xml", dir}}.expect(t, exitUsage, `not "xml"`)
	command{args: []string{"permissions", dir + "/none"}}.expect(t, exitEnvironment, "none")
	broken := files(t, map[string]string{"schema.stern": "model Task {\n  fields {\n    title Txet\n  }\n}\n"})
	command{args: []string{"permissions", broken}}.expect(t, exitInput, "schema.stern:3:11")
}
