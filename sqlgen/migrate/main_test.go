package migrate_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/migrate"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// buildTern returns the path of tern's own command, which go compiles once and keeps in its cache.
var buildTern = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "tool", "-n", "tern").Output()
	return strings.TrimSpace(string(path)), err
})

// tern runs tern's own command line on a folder of migrations.
func tern(t testing.TB, url, dir string, args ...string) (string, error) {
	t.Helper()
	path, err := buildTern()
	if err != nil {
		t.Fatalf("build tern: %v: %s", err, path)
	}
	c := exec.CommandContext(t.Context(), path, append([]string{"migrate", "--conn-string", url, "--migrations", dir}, args...)...)
	c.Dir = t.TempDir() // without a tern.conf
	out, err := c.CombinedOutput()
	return string(out), err
}

func mustTern(t testing.TB, url, dir string, args ...string) {
	t.Helper()
	if out, err := tern(t, url, dir, args...); err != nil {
		t.Fatalf("tern migrate %v: %v\n%s", args, err, tail(out))
	}
}

// tail returns the end of tern's output, which is the whole migration first.
func tail(text string) string { return text[max(0, len(text)-3000):] }

// compile compiles a schema, with files of custom code by name.
func compile(t testing.TB, schema string, functions ...[2]string) *emit.Release {
	return compiletest.Schema(t, schema, functions...)
}

// folder reads the migrations of a project.
func folder(t testing.TB, project string) *migrate.Folder {
	t.Helper()
	f, err := migrate.ReadFolder(project)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustNew writes the next migration.
func mustNew(t testing.TB, project, name string, r *emit.Release, allowed ...string) []*migrate.File {
	t.Helper()
	written, err := migrate.New(folder(t, project), name, r, migrate.PlanOptions{Allow: allowed})
	if err != nil {
		t.Fatalf("migrate new %s: %v", name, err)
	}
	if len(written.Warnings) > 0 {
		t.Errorf("migrate new %s warns: %q", name, written.Warnings)
	}
	return written.Files
}

func value[T any](t testing.TB, conn *pgx.Conn, statement string, args ...any) T {
	t.Helper()
	var got T
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return got
}

func mustExec(t testing.TB, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// catalog returns all installed objects, a line each.
func catalog(t testing.TB, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select object || ': ' || fact from platform.catalog() order by object`)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(facts) < 100 {
		t.Fatalf("the catalog is nearly empty: %q", facts)
	}
	return facts
}

// checkSame reports elements that only one of two lists has.
func checkSame(t testing.TB, what string, got, want []string) {
	t.Helper()
	there := map[string]int{}
	for _, line := range got {
		there[line]++
	}
	for _, line := range want {
		there[line]--
	}
	for line, n := range there {
		if n > 0 {
			t.Errorf("%s: is there and should not be:\n%s", what, line)
		} else if n < 0 {
			t.Errorf("%s: should be there and is not:\n%s", what, line)
		}
	}
}

// newestRelease returns the newest release's manifest and description.
func newestRelease(t testing.TB, conn *pgx.Conn) (texts [2]string) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "select manifest::text, description::text from platform.release order by number desc limit 1").Scan(&texts[0], &texts[1])
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
