package install_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// restore fills an empty database from a dump of another, or skips the test if the programs for it are missing.
func restore(t *testing.T, from, to *pgtest.DB) {
	t.Helper()
	const consequence = "no dump is restored"
	dump, err := exec.CommandContext(t.Context(), pgtest.Dump(t, from.SuperuserURL(), consequence), from.SuperuserURL()).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	psql := exec.CommandContext(t.Context(), program.Postgres(t, "psql", consequence), "-X", "-q", "-v", "ON_ERROR_STOP=1", to.SuperuserURL())
	psql.Stdin = bytes.NewReader(dump)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
}

// TestRestoreIsServed restores a dump into another database: the policies and functions there are the installed ones.
func TestRestoreIsServed(t *testing.T) {
	t.Parallel()
	project, err := sqlgen.ReadProject(filepath.Join("..", "..", "integration", "apps", "workshop"))
	if err != nil {
		t.Fatal(err)
	}
	from, to := pgtest.New(t, pgtest.Options{Empty: true}), pgtest.New(t, pgtest.Options{Empty: true})
	conn := from.Owner(t)
	if _, err := install.Install(t.Context(), conn, compiletest.Project(t, project).Release()); err != nil {
		t.Fatal(err)
	}
	restore(t, from, to)
	// A dump lacks only the rights on the database.
	mustExec(t, to.Superuser(t), "revoke temporary on database "+to.Name()+" from public")
	rows, err := to.Server(t).Query(t.Context(), "select platform.serving_faults() union all select platform.serving_notes()")
	if err != nil {
		t.Fatal(err)
	}
	said, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range said {
		t.Error(line)
	}
}
