package sql_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql"
)

// From each version on, the text of a migration gives the same platform as Migrate.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	want := dump(t, pgtest.New(t, pgtest.Options{}).Owner(t))
	names, err := fs.Glob(sql.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for from := range len(names) {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) {
			t.Parallel()
			owner := pgtest.New(t, pgtest.Options{Empty: true}).Owner(t)
			if from > 0 {
				exec(t, owner, fmt.Sprintf("create schema platform; create table platform.schema_version (version int4 not null); insert into platform.schema_version values (%d)", from))
			}
			for _, name := range names[:from] {
				text, err := fs.ReadFile(sql.Migrations(), name)
				if err != nil {
					t.Fatal(err)
				}
				exec(t, owner, string(text))
			}
			text, err := sql.Upgrade(sql.State{Version: from})
			if err != nil {
				t.Fatal(err)
			}
			exec(t, owner, "begin;"+text+"commit")
			if got := dump(t, owner); got != want {
				t.Errorf("the platform is another:\n%s", difference(want, got))
			}
			if err := sql.Migrate(t.Context(), owner); err != nil {
				t.Error(err)
			}
			exec(t, owner, "set role sternpost_server")
			if got := values[string](t, owner, "select * from platform.serving_faults()"); len(got) > 0 {
				t.Errorf("faults: %q", got)
			}
			exec(t, owner, "reset role")
			var refused *pgconn.PgError
			if _, err := owner.Exec(t.Context(), "begin;"+text+"commit"); !errors.As(err, &refused) {
				t.Errorf("it runs twice: %v", err)
			}
		})
	}
}

// A text holds exactly the functions that differ.
func TestUpgradeOfFunctions(t *testing.T) {
	t.Parallel()
	current := sql.Current()
	if text, err := sql.Upgrade(current); text != "" || err != nil {
		t.Errorf("there is nothing to do, and it says %q, %v", text, err)
	}
	current.Functions["iso.sql"] = "another"
	text, err := sql.Upgrade(current)
	if err != nil || strings.Count(text, "create or replace function") != 1 || !strings.Contains(text, "function platform.iso(") {
		t.Errorf("of a changed function it makes\n%s\n%v", text, err)
	}
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	exec(t, owner, strings.Replace(text, "select to_char", "select  to_char", 1))
	exec(t, owner, "set role sternpost_server")
	if got := values[string](t, owner, "select * from platform.serving_faults()"); len(got) > 0 {
		t.Errorf("faults: %q", got)
	}
	current.Version++
	if _, err := sql.Upgrade(current); !errors.Is(err, sql.ErrNewerPlatform) {
		t.Errorf("a newer platform: %v", err)
	}
}
