package sqlgen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/explain"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestGolden compiles the cases of testdata. A case is a project, then those of
// its outcomes that it is there to show:
//
//	want/tables.sql     the sections Tables, References and Indexes of the script
//	want/triggers.sql   Triggers
//	want/views.sql      Related views
//	want/policies.sql   Policies
//	want/functions.sql  Actions
//	want/manifest.json
//	want/live           what explain --live says of each live action
//	want/errors         the diagnostics; nothing else then
//
// What every schema has, the model Identity, is shown only where the case has a
// configuration. The whole script of each case is run, and a server has to find
// nothing to object to.
func TestGolden(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/*.txtar", func(t *testing.T, c *casetest.Case) {
		project := projectOf(c.Archive)
		compiled, errs := sqlgen.Compile(project)
		script := ""
		if compiled != nil {
			script = install.Script(compiled.Release())
		}

		shown := 0
		for i, section := range c.Files {
			name, ok := strings.CutPrefix(section.Name, "want/")
			if !ok {
				continue
			}
			shown++
			if compiled == nil && name != "errors" {
				t.Fatalf("%s does not compile:\n%s", c.Path, rendered(t, errs))
			}
			var got string
			switch name {
			case "tables.sql":
				got = part(script, project.Config != nil, "Tables", "References", "Indexes")
			case "triggers.sql":
				got = part(script, project.Config != nil, "Triggers")
			case "views.sql":
				got = part(script, project.Config != nil, "Related views")
			case "policies.sql":
				got = part(script, project.Config != nil, "Policies")
			case "functions.sql":
				got = part(script, project.Config != nil, "Actions")
			case "manifest.json":
				got = string(compiled.Manifest.Text()) + "\n"
			case "live":
				for _, a := range compiled.Manifest.Actions {
					if a.Live != nil {
						got += explain.Live(a) + "\n"
					}
				}
			case "errors":
				got = rendered(t, errs)
			default:
				t.Fatalf("%s: there is no section %s", c.Path, section.Name)
			}
			c.Want(t, i, got)
		}
		if shown == 0 {
			t.Errorf("%s shows nothing", c.Path)
		}
		if compiled != nil {
			installed := runScript(t, script)
			callEverything(t, installed, compiled.Manifest)
			explainEverything(t, installed, compiled)
			checkManifest(t, installed.Owner(t), compiled.Manifest)
			checkFunctions(t, installed)
		}
	})
}

// cases returns the paths of all cases.
func cases(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("there are no cases in testdata")
	}
	return paths
}

// projectOf takes the project out of a case.
func projectOf(archive *txtar.Archive) *sqlgen.Project {
	p := &sqlgen.Project{}
	for _, f := range archive.Files {
		source := &syntax.Source{Name: f.Name, Text: f.Data}
		switch {
		case f.Name == sqlgen.ConfigName:
			p.Config = source
		case strings.HasSuffix(f.Name, ".stern"):
			p.Files = append(p.Files, source)
		case strings.HasPrefix(f.Name, "functions/"):
			p.Functions = append(p.Functions, source)
		}
	}
	return p
}

// compile compiles a schema without errors.
func compile(t testing.TB, schema string) *emit.Release { return compiletest.Schema(t, schema) }

// compileProject compiles a project without errors.
func compileProject(t testing.TB, p *sqlgen.Project) *emit.Release {
	return compiletest.Project(t, p).Release()
}

func rendered(t testing.TB, errs syntax.Errors) string { return compiletest.Rendered(t, errs) }

// part returns the sections of a script whose titles begin so, without the parts about
// Identity unless withIdentity is set.
func part(script string, withIdentity bool, titles ...string) string {
	var kept []string
	inside, skipping := false, false
	for _, paragraph := range strings.Split(strings.TrimSuffix(script, "\n"), "\n\n") {
		if title, ok := sectionTitle(paragraph); ok {
			inside, skipping = false, false
			for _, wanted := range titles {
				inside = inside || strings.HasPrefix(title, wanted)
			}
		}
		if !inside {
			continue
		}
		if !withIdentity {
			if isAboutIdentity(paragraph) {
				skipping = true
			} else if skipping && !strings.HasPrefix(paragraph, " ") {
				skipping = false
			}
			if skipping {
				continue
			}
			paragraph = withoutIdentityIndex(paragraph)
			if paragraph == "" {
				continue
			}
		}
		if _, ok := sectionTitle(paragraph); ok && len(kept) > 0 {
			if _, ok := sectionTitle(kept[len(kept)-1]); ok {
				kept = kept[:len(kept)-1] // nothing of that section is left
			}
		}
		kept = append(kept, paragraph)
	}
	if _, ok := sectionTitle(kept[len(kept)-1]); ok {
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, "\n\n") + "\n"
}

// sectionTitle returns the title of a ruled line.
func sectionTitle(paragraph string) (string, bool) {
	title, ok := strings.CutSuffix(strings.TrimRight(paragraph, "-"), " ")
	if !ok || !strings.HasPrefix(title, "-- ") || strings.Contains(title, "\n") || !strings.HasSuffix(paragraph, "---") {
		return "", false
	}
	return strings.TrimPrefix(title, "-- "), true
}

func isAboutIdentity(paragraph string) bool {
	for _, head := range []string{
		"-- model Identity",
		"comment on table app.identity ",
		"create view related.identity ",
		"alter table app.identity enable",
	} {
		if strings.HasPrefix(paragraph, head) {
			return true
		}
	}
	return false
}

func withoutIdentityIndex(paragraph string) string {
	var lines []string
	for _, line := range strings.Split(paragraph, "\n") {
		if !strings.HasPrefix(line, "create unique index identity_email_key ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// runScript runs a script in an empty database and checks as a server whether the result
// may be served.
func runScript(t *testing.T, script string) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	owner := db.Owner(t)
	if err := pgx.BeginFunc(t.Context(), owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), script)
		return err
	}); err != nil {
		t.Fatalf("run the script: %v\n%s", err, script)
	}
	checkServing(t, owner)
	return db
}

// checkServing fails if a server would refuse to serve the database.
func checkServing(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), "set role sternpost_server"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "select * from platform.serving_faults()")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		t.Errorf("a server would refuse to serve the outcome:\n%s", strings.Join(faults, "\n"))
	}
	if _, err := conn.Exec(t.Context(), "reset role"); err != nil {
		t.Fatal(err)
	}
}
