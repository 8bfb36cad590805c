package access_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/schema"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata; review them like code")

// TestGolden prints the matrices of the projects in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no cases in testdata: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checked, errs := check(t, archive)
			matrix := access.Of(checked)
			warnings := access.Warnings(checked, matrix, errs)
			for i, section := range archive.Files {
				var got string
				switch section.Name {
				case "want/text":
					got = access.Text(matrix, warnings)
				case "want/json":
					got = string(access.JSON(matrix, warnings))
				default:
					continue
				}
				if *update {
					archive.Files[i].Data = []byte(got)
				} else if want := string(section.Data); got != want {
					t.Errorf("%s of %s\ngot\n%s\nwant\n%s", section.Name, path, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// check checks the project of an archive.
func check(t *testing.T, archive *txtar.Archive) (*schema.Schema, syntax.Errors) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	project, err := sqlgen.ReadProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	checked, errs := sqlgen.Check(project)
	if checked == nil {
		var b strings.Builder
		if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("the project has errors:\n%s", b.String())
	}
	return checked, errs
}
