package install_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestNoCommandReachesPsql builds projects whose custom code hides commands of psql, and runs the output of the
// compiler. A project is refused, or its commands stay text, for every encoding of psql, and for either reading of a
// backslash by the database.
func TestNoCommandReachesPsql(t *testing.T) {
	t.Parallel()
	psql := program.Postgres(t, "psql", "psql runs no script that hides its commands")
	const touch = "\\! touch reached"
	for _, c := range []struct{ what, code string }{
		{"plain", touch},
		{"behind a carriage return", "--\r" + touch},
		{"behind a dollar in a name", "comment on function functions.code is null; create function functions.b(a$x$ int) returns int language sql return 1;\n" + touch + "\n-- $x$"},
		{"in a comment", "-- " + touch + "\n/* \n" + touch + "\n/* */\n" + touch + " */"},
		{"in texts", "comment on function functions.code is '\n" + touch + "\n';\ncomment on function functions.code is E'\\'\n\\" + touch + "\n';" +
			"comment on function functions.code is $a$\n" + touch + "\n$a$"},
		{"where a backslash may escape a quote", "comment on function functions.code is '\\'; -- '\n;\n-- ';\n" + "comment on function functions.code is '\n" + touch + "\n'"},
		{"where the encoding may swallow a quote", "comment on function functions.code is 'あ'; -- '; " + touch},
		{"at the end", "-- ;"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			compiled, errs := sqlgen.Compile(project(coded(goodCode + c.code)))
			if compiled == nil {
				if !errs.HasErrors() {
					t.Error("the project is refused without an error")
				}
				return
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "app.sql"), []byte(install.Script(compiled.Release())), 0o600); err != nil {
				t.Fatal(err)
			}
			run := exec.CommandContext(t.Context(), psql, "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", "app.sql", pgtest.New(t, pgtest.Options{Empty: true}).OwnerURL())
			run.Dir = dir
			run.Env = append(os.Environ(), "PGCLIENTENCODING=SJIS", "PGOPTIONS=-c standard_conforming_strings=off -c escape_string_warning=off -c backslash_quote=on")
			out, err := run.CombinedOutput()
			if _, reached := os.Stat(filepath.Join(dir, "reached")); reached == nil {
				t.Errorf("psql has run the command:\n%s", out)
			}
			if err != nil {
				t.Errorf("psql: %v\n%s", err, out)
			}
		})
	}
}

// TestNoCommandIsCompiled checks that the compiler refuses those of the projects that have a command, at its place.
func TestNoCommandIsCompiled(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		goodCode + "\\! ls":               "functions/code.sql:7:1: the file is SQL, which has no commands of psql",
		goodCode + "-- é\r\\! ls":         "functions/code.sql:7:6: the file is SQL, which has no commands of psql",
		goodCode + "select 1 \\gexec":     "functions/code.sql:7:10: the file is SQL, which has no commands of psql",
		goodCode + "copy x from stdin;\n": "functions/code.sql:7:1: custom code makes functions",
	} {
		compiled, errs := sqlgen.Compile(project(coded(code)))
		if compiled != nil {
			t.Errorf("%s\ncompiles", code)
			continue
		}
		if got := compiletest.Rendered(t, errs); !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", code, got, want)
		}
	}
}
