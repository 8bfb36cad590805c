package main_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDiff runs the command; package contract tests its findings.
func TestDiff(t *testing.T) {
	t.Parallel()
	old := files(t, map[string]string{"schema.stern": noteSchema})
	without := files(t, map[string]string{"schema.stern": strings.Replace(noteSchema, "    list listNotes()\n", "", 1)})
	open := files(t, map[string]string{"schema.stern": strings.Replace(noteSchema, "list listNotes()", "list listNotes()\n    get getNote(id) @permission(expression: true)", 1)})
	broken := files(t, map[string]string{"schema.stern": "model Note {\n  fields {\n    text Txet\n  }\n}\n"})
	tests := []struct {
		name   string
		args   []string
		code   int
		out    string // a part of standard output
		stderr string // a part of standard error
	}{
		{"nothing", []string{old, old}, 0, "nothing changes for clients and callers\n", ""},
		{"breaking", []string{old, without}, exitInput, "  listNotes: removed\n", "sternpost: 1 breaking\n"},
		{"breaking, allowed by class", []string{old, without, "--allow", "breaking"}, 0, "listNotes: removed (allowed)", ""},
		{"breaking, allowed by name", []string{old, without, "--allow", "listNotes"}, 0, "listNotes: removed (allowed)", ""},
		{"breaking, where widening is allowed", []string{old, without, "--allow", "widening"}, exitInput, "removed\n", "1 breaking beyond what is allowed"},
		{"allowed and not there", []string{old, without, "--allow", "lisNotes"}, exitInput, "", "nothing changes about lisNotes"},
		{"widening", []string{old, open}, exitInput, "  getNote: anonymous, authenticated: always, was never\n", "1 widening"},
		{"as JSON", []string{old, open, "--format", "json"}, exitInput, `"class": "widening"`, "1 widening"},
		{"of files", []string{filepath.Join(old, "schema.stern"), filepath.Join(without, "schema.stern")}, exitInput, "listNotes: removed", "1 breaking"},
		{"of a schema with errors", []string{old, broken}, exitInput, "", "schema.stern:3:10"},
		{"of nothing there", []string{old, filepath.Join(old, "none")}, exitEnvironment, "", "none"},
		{"of one", []string{old}, exitUsage, "", "an argument is missing"},
		{"of another format", []string{old, old, "--format", "xml"}, exitUsage, "", `not "xml"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := command{args: append([]string{"diff"}, test.args...)}.expect(t, test.code, test.stderr)
			if !strings.Contains(out, test.out) {
				t.Errorf("got\n%s\nwithout %q", out, test.out)
			}
		})
	}
}
