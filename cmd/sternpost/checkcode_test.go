package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sql/postgres"
)

// TestCheckCode has custom code that compiles and that Postgres refuses.
func TestCheckCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("schema.stern", "model Note {\n  fields { title Text }\n  actions { read countNotes() returns (Any) { @permission(expression: true) } }\n"+
		"  @permission(expression: true, actions: [list])\n}\n")
	const right = "create function functions.count_notes() returns jsonb\nlanguage sql\nstable\nas $$\n  select to_jsonb(count(*)) from app.note;\n$$;\n"

	var out, diagnostics strings.Builder
	run := func(r *checkReport, code string) (string, error) {
		t.Helper()
		write("functions/countNotes.sql", code)
		out.Reset()
		diagnostics.Reset()
		r.out, r.diagnostics = &out, &diagnostics
		err := checkProject(t.Context(), r, dir)
		return out.String() + diagnostics.String(), err
	}
	with := &checkReport{code: codeCheck{start: postgres.Start}}
	t.Cleanup(with.code.stop)
	for _, c := range []struct{ code, want string }{
		{strings.Replace(right, "app.note", "app.notes", 1), "functions/countNotes.sql:5:34: relation \"app.notes\" does not exist [42P01]"},
		{right, "no errors\n"}, // in a database of its own again
		{strings.Replace(right, "count_notes", "count", 1), "[FunctionSignature]"},
		{right + "drop table app.note;", "[FunctionStatement]"},
	} {
		got, err := run(with, c.code)
		if !strings.Contains(got, c.want) || (err == nil) != (c.want == "no errors\n") {
			t.Errorf("%s\ngot\n%s%v\nwant\n%s", c.code, got, err, c.want)
		}
	}

	without := &checkReport{code: codeCheck{start: func(context.Context, postgres.Options) (*postgres.Server, error) {
		return nil, &postgres.NotFoundError{}
	}}}
	got, err := run(without, strings.Replace(right, "app.note", "app.notes", 1))
	if err != nil || !strings.HasPrefix(got, "no errors\nsternpost: Postgres has not checked the custom code: ") {
		t.Errorf("without Postgres: got\n%s%v", got, err)
	}
}
