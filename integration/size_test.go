package integration

import (
	"path/filepath"
	"regexp"
	"slices"
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
		{"ledger", 4150}, // a history, a subscriber and a job among them; lists under rules by values of the caller have functions for their forms, and for the arms of a union
		{"workshop", 2500},
	} {
		project, err := sqlgen.ReadProject(filepath.Join("apps", c.app))
		if err != nil {
			t.Fatal(err)
		}
		checkLists(t, install.Script(compiletest.Project(t, project).Release()))
		added := lines(project) - platform
		t.Logf("the %s adds %d lines to the platform's %d", c.app, added, platform)
		if added > c.most {
			t.Errorf("the %s adds %d lines to the platform, more than %d: find what its SQL says twice (compare `sternpost build integration/apps/%[1]s` with that of the commit before), and say it once, in a platform function or in what prints it; longer lines are no help", c.app, added, c.most)
		}
	}
}

// checkLists checks that each function of a list is short enough to read at once.
func checkLists(t *testing.T, script string) {
	t.Helper()
	functions := regexp.MustCompile(`(?ms)^create function (api\.list_\w+)\(.*?^\$\$;$`).FindAllStringSubmatch(script, -1)
	if len(functions) == 0 {
		t.Error("the application has no list")
	}
	for _, f := range functions {
		lines := strings.Split(f[0], "\n")
		if len(lines) > 120 {
			t.Errorf("%s has %d lines, more than 120", f[1], len(lines))
		}
		if long := slices.IndexFunc(lines, func(line string) bool { return len(line) > 120 }); long >= 0 {
			t.Errorf("line %d of %s is longer than 120 bytes", long+1, f[1])
		}
	}
}
