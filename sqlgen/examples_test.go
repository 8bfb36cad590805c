package sqlgen_test

import (
	"path/filepath"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
)

// The example apps are free of warnings: a rule avoids each, or an @allow accepts it.
func TestExampleAppsHaveNoWarnings(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../integration/apps/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("found %d apps (%v)", len(dirs), err)
	}
	for _, dir := range dirs {
		project, err := sqlgen.ReadProject(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, errs := sqlgen.Check(project); len(errs) > 0 {
			t.Errorf("%s:\n%s", dir, rendered(t, errs))
		}
	}
}
