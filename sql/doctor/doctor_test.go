package doctor_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/doctor"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// examine returns the points that do not work, each with its verdict and detail, and fails
// if anything is left in the database.
func examine(t *testing.T, db *pgtest.DB, url string) map[string]string {
	t.Helper()
	findings, err := doctor.Examine(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) < 25 {
		t.Errorf("%d findings are too few", len(findings))
	}
	found := map[string]string{}
	for _, f := range findings {
		if f.Verdict != doctor.Works && f.Point != "plpgsql_check" { // not every machine has it
			found[f.Point] = string(f.Verdict) + ": " + f.Detail
		}
	}
	isClean(t, db)
	return found
}

func isClean(t *testing.T, db *pgtest.DB) {
	t.Helper()
	var left int
	err := db.Superuser(t).QueryRow(t.Context(), `
		select (select count(*) from pg_namespace where nspname like 'sternpost\_doctor\_%')
			+ (select count(*) from pg_roles join pg_shdepend on refobjid = pg_roles.oid and refclassid = 'pg_authid'::regclass
				where rolname like 'sternpost\_doctor\_%' and dbid = (select oid from pg_database where datname = current_database()))`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("the doctor left %d objects (%v)", left, err)
	}
}

func TestWell(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	for _, url := range []string{db.OwnerURL(), db.SuperuserURL(), pgtest.NewProxy(t, db.OwnerURL()).URL()} {
		for point, found := range examine(t, db, url) {
			t.Errorf("%s: %s", point, found)
		}
	}
}

// TestPoolers visits a database through PgBouncer in transaction mode: the features of a session
// fall back, and none is missing.
func TestPoolers(t *testing.T) {
	t.Parallel()
	for _, prepared := range []bool{false, true} {
		t.Run(fmt.Sprintf("prepared statements %t", prepared), func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			pooler := pgtest.NewPooler(t, pgtest.PoolerOptions{Prepared: prepared, Size: 4})
			found := examine(t, db, pooler.Of(db.OwnerURL()))
			wanted := []string{"a session of its own", "notifications", "settings of a connection"}
			if !prepared {
				wanted = append(wanted, "named prepared statements")
			}
			for _, point := range wanted {
				if !strings.HasPrefix(found[point], "falls back: ") {
					t.Errorf("%s: got %q, want that it falls back", point, found[point])
				}
			}
			for point, got := range found {
				if !strings.HasPrefix(got, "falls back: ") {
					t.Errorf("%s: %s", point, got)
				}
			}
		})
	}
}

// TestWithout takes one feature away at a time, and finds that one missing and those that
// take it.
func TestWithout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		refused string // statements that fail
		super   string // a statement by a superuser before the test
		want    map[string]string
	}{
		{refused: `create schema`, want: map[string]string{"schemas, tables and constraints": "missing", "functions in PL/pgSQL": "not tried", "row security, with rules that walk relations": "not tried"}},
		{refused: `check \(`, want: map[string]string{"defaults and checks that call functions": "missing"}},
		{refused: `unique index`, want: map[string]string{"unique constraints, partial ones included": "missing"}},
		{refused: `on delete cascade`, want: map[string]string{"foreign keys that cascade and restrict": "missing"}},
		{refused: `lower\(a\)`, want: map[string]string{"indexes over functions, ordered by code point": "missing"}},
		{refused: `concurrently`, want: map[string]string{"indexes that are made concurrently": "falls back"}},
		{refused: `returns setof .*plpgsql stable as`, want: map[string]string{"functions in PL/pgSQL": "missing", "triggers for each row": "not tried"}},
		{refused: `for each row`, want: map[string]string{"triggers for each row": "missing"}},
		{refused: `owner to`, want: map[string]string{"roles, and functions owned by them": "missing", "row security, with rules that walk relations": "not tried"}},
		{refused: `create policy`, want: map[string]string{"row security, with rules that walk relations": "missing"}},
		{refused: `default privileges`, want: map[string]string{"default privileges": "missing"}},
		{refused: `set_config`, want: map[string]string{"settings of a transaction": "missing"}},
		{refused: `transaction_read_only = on`, want: map[string]string{"read-only transactions": "falls back"}},
		{refused: `undone`, want: map[string]string{"changes of tables that are rolled back": "missing"}},
		{refused: `skip locked`, want: map[string]string{"locks of rows, and skipping them": "missing"}},
		{refused: `lock table`, want: map[string]string{"locks of tables": "missing"}},
		{refused: `pg_snapshot`, want: map[string]string{"snapshots of transactions": "missing"}},
		{super: `revoke execute on function pg_control_system() from public`, want: map[string]string{"the identifier of the cluster": "falls back"}},
		{refused: `pg_get_expr`, want: map[string]string{"the catalog": "missing"}},
		{super: `revoke execute on function pg_advisory_xact_lock(bigint) from public`, want: map[string]string{"advisory locks": "missing"}},
		{super: `revoke execute on function pg_try_advisory_lock(bigint) from public`, want: map[string]string{"advisory locks": "missing"}},
		{super: `revoke execute on function pg_notify(text, text) from public`, want: map[string]string{"notifications": "falls back"}},
		{refused: `^listen`, want: map[string]string{"notifications": "falls back"}},
		{refused: `1 \+ \$1`, want: map[string]string{"named prepared statements": "falls back"}},
		{refused: `pg_sleep`, want: map[string]string{"cancelling a statement": "falls back"}},
		{refused: `at time zone`, want: map[string]string{"names of time zones": "falls back"}},
		{refused: `server_encoding`, want: map[string]string{"the encoding UTF8": "missing"}},
		{super: `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`, want: map[string]string{"a primary that takes writes": "missing", "schemas, tables and constraints": "not tried"}},
	} {
		t.Run(test.refused+test.super, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{Empty: true})
			if test.super != "" {
				if _, err := db.Superuser(t).Exec(t.Context(), test.super); err != nil {
					t.Fatal(err)
				}
			}
			proxy := pgtest.NewProxy(t, db.OwnerURL())
			if test.refused != "" {
				proxy.Refuse(test.refused)
			}
			found := examine(t, db, proxy.URL())
			for point, want := range test.want {
				if !strings.HasPrefix(found[point], want+": ") {
					t.Errorf("%s: got %q, want %s", point, found[point], want)
				}
			}
			for point, got := range found {
				if _, isWanted := test.want[point]; !isWanted && !strings.HasPrefix(got, "not tried") {
					t.Errorf("%s: %s", point, got)
				}
			}
		})
	}
}

// TestRemoves ends the doctor in the middle, and takes its connection away: nothing is left
// in either case.
func TestRemoves(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{Empty: true})
	proxy := pgtest.NewProxy(t, db.OwnerURL())
	ctx, cancel := context.WithCancel(t.Context())
	proxy.Decide(func(statement string) pgtest.Fate {
		if strings.Contains(statement, "create policy") {
			cancel()
		}
		return pgtest.Pass
	})
	if _, err := doctor.Examine(ctx, proxy.URL()); err == nil {
		t.Error("an examination that was ended has findings")
	}
	isClean(t, db)

	cut := false
	proxy.Decide(func(statement string) pgtest.Fate {
		if strings.Contains(statement, "create policy") && !cut {
			cut = true
			return pgtest.CutUnanswered
		}
		return pgtest.Pass
	})
	found := examine(t, db, proxy.URL())
	if got := found["row security, with rules that walk relations"]; !strings.HasPrefix(got, "missing") || len(found) != 1 {
		t.Errorf("after a cut: got %v", found)
	}
}
