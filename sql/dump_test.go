package sql_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The kept dump shows in review how a migration, or a change of a function's head, changes the
// catalog.
func TestDump(t *testing.T) {
	t.Parallel()
	const path = "testdata/platform.dump"
	got := dump(t, pgtest.New(t, pgtest.Options{}).Owner(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the platform is not as in %s (-update rewrites it):\n%s", path, difference(string(want), got))
	}
}

// dump describes the installed objects of a database, as testdata/dump.sql says.
func dump(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	query, err := os.ReadFile("testdata/dump.sql")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(values[string](t, conn, string(query)), "\n") + "\n"
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	var b strings.Builder
	for _, side := range []struct{ sign, text, other string }{{"- ", want, got}, {"+ ", got, want}} {
		others := map[string]bool{}
		for line := range strings.Lines(side.other) {
			others[line] = true
		}
		for line := range strings.Lines(side.text) {
			if !others[line] {
				b.WriteString(side.sign + line)
			}
		}
	}
	return b.String()
}
