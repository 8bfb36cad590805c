package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/access"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestGolden prints the matrices of the projects in testdata.
func TestGolden(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/*.txtar", func(t *testing.T, c *casetest.Case) {
		checked, errs := check(t, c.Archive)
		matrix := access.Of(checked)
		warnings := access.Warnings(checked, matrix, errs)
		for i, section := range c.Files {
			switch section.Name {
			case "want/text":
				c.Want(t, i, access.Text(matrix, warnings))
			case "want/json":
				c.Want(t, i, string(access.JSON(matrix, warnings)))
			}
		}
	})
}

// check checks the project of an archive.
func check(t *testing.T, archive *txtar.Archive) (*model.Schema, syntax.Errors) {
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
