package sqlgen_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/sqlgen"
)

// TestExampleAppsHaveNoWarnings checks that a rule of the example apps avoids each warning, or an @allow accepts it. It
// lists those that are accepted: each is meant, and more of them would be noise.
func TestExampleAppsHaveNoWarnings(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../integration/apps/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("found %d apps (%v)", len(dirs), err)
	}
	var accepted strings.Builder
	for _, dir := range dirs {
		project, err := sqlgen.ReadProject(dir)
		if err != nil {
			t.Fatal(err)
		}
		checked, errs := sqlgen.Check(project)
		if len(errs) > 0 {
			t.Fatalf("%s:\n%s", dir, rendered(t, errs))
		}
		fmt.Fprintf(&accepted, "%s\n", filepath.Base(dir))
		for _, a := range checked.Actions {
			for _, d := range a.Allowed {
				fmt.Fprintf(&accepted, "  %s: %s [%s]\n", a.Name, d.Message, d.Code)
			}
		}
	}
	casetest.File(t, "testdata/accepted_warnings.txt", accepted.String())
}
