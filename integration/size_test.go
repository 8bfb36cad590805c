package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestSizeOfAnApplication checks that the SQL of an application stays short enough to read: the lines that build prints
// for it, beyond those that it prints for a project without models.
func TestSizeOfAnApplication(t *testing.T) {
	t.Parallel()
	lines := func(p *sqlgen.Project) int {
		return strings.Count(install.Script(compiletest.Project(t, p).Release()), "\n")
	}
	platform := lines(&sqlgen.Project{Files: []*syntax.Source{{Name: "empty.stern"}}})
	for _, c := range []struct {
		app  string
		most int
	}{
		{"ledger", 3910}, // lists under rules by values of the caller have functions for their forms, and for the arms of a union
		{"workshop", 2500},
	} {
		project, err := sqlgen.ReadProject(filepath.Join("apps", c.app))
		if err != nil {
			t.Fatal(err)
		}
		added := lines(project) - platform
		t.Logf("the %s adds %d lines to the platform's %d", c.app, added, platform)
		if added > c.most {
			t.Errorf("the %s adds %d lines to the platform, more than %d: find what its SQL says twice (compare `sternpost build integration/apps/%[1]s` with that of the commit before), and say it once, in a platform function or in what prints it; longer lines are no help", c.app, added, c.most)
		}
	}
}
