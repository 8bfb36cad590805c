package lower

import (
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// Complete is manifest.Complete, which these tests cannot name: manifest imports lower.
var Complete func(*release.Manifest, *model.Schema)

// mustInstall installs a schema in a new database and returns the manifest.
func mustInstall(t testing.TB, db *pgtest.DB, s *model.Schema, text string) *release.Manifest {
	t.Helper()
	lowered, manifest := Schema(s, "test.stern")
	emit.Render(lowered)
	Complete(manifest, s)
	if _, err := install.Install(t.Context(), db.Owner(t), &emit.Release{Database: lowered, Manifest: manifest.Text()}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return manifest
}
