package main_test

import (
	"strings"
	"testing"
)

// TestTypeScriptClient prints clients of projects.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	apis := noteSchema + `
api Reading {
  models {
    Note {
      actions {
        listNotes
      }
    }
  }
}
`
	dir := files(t, map[string]string{"notes.stern": apis})
	whole := command{args: []string{"client", "ts", dir}}.expect(t, 0, "")
	for _, want := range []string{"export interface ApiClient ", "export function createClient(", "  createNote(input: CreateNoteInput, ", "  signOutEverywhere("} {
		if !strings.Contains(whole, want) {
			t.Errorf("the client of the first API has no %q", want)
		}
	}
	if again := (command{args: []string{"client", "ts"}, dir: dir}).expect(t, 0, ""); again != whole {
		t.Error("printed twice, the clients differ")
	}
	small := command{args: []string{"client", "ts", dir, "--api", "reading"}}.expect(t, 0, "")
	if !strings.Contains(small, "export interface ReadingClient ") || !strings.Contains(small, "listNotes: {") || strings.Contains(small, "createNote") {
		t.Errorf("the client of the other API:\n%.2000s", small)
	}

	command{args: []string{"client", "ts", dir, "--api", "Tablet"}}.expect(t, exitInput, "unknown API Tablet; the project has Api, Reading")
	broken := files(t, map[string]string{"notes.stern": "model Note {\n"})
	command{args: []string{"client", "ts", broken}}.expect(t, exitInput, "notes.stern:")
	none := files(t, map[string]string{"sternpost.yaml": "useDefaultApi: false\n", "notes.stern": noteSchema})
	command{args: []string{"client", "ts", none}}.expect(t, exitInput, "the project has no API")
	command{args: []string{"client", "go"}}.expect(t, exitUsage, `unknown command "go"`)
	if help := (command{args: []string{"client"}}).expect(t, 0, ""); !strings.Contains(help, "\n  ts ") {
		t.Errorf("client alone does not say which there are:\n%s", help)
	}
}
