package migrate_test

import (
	"path/filepath"
	"testing"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

// TestExampleApps checks that tern leaves the example apps, custom code included, as Install does.
func TestExampleApps(t *testing.T) {
	t.Parallel()
	apps, err := filepath.Glob("../../integration/apps/*")
	if err != nil || len(apps) == 0 {
		t.Fatalf("found %d apps (%v)", len(apps), err)
	}
	for _, app := range apps {
		t.Run(filepath.Base(app), func(t *testing.T) {
			t.Parallel()
			source, err := sqlgen.ReadProject(app)
			if err != nil {
				t.Fatal(err)
			}
			compiled := compiletest.Project(t, source)
			project := t.TempDir()
			mustNew(t, project, "first", compiled.Release())
			db := pgtest.New(t, pgtest.Options{Empty: true})
			mustTern(t, db.OwnerURL(), filepath.Join(project, migrate.DirName))
			fresh := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
			if _, err := install.Install(t.Context(), fresh, compiled.Release()); err != nil {
				t.Fatal(err)
			}
			checkSame(t, app, catalog(t, db.Owner(t)), catalog(t, fresh))
			letServerIn(t, db)
			if got := value[int](t, db.Server(t), "select count(*) from platform.serving_faults()"); got > 0 {
				t.Errorf("%s: the database has faults", app)
			}
		})
	}
}
