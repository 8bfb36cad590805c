package sqlgen_test

import (
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// checkFunctions checks every PL/pgSQL function of a database with the extension plpgsql_check, also
// on paths that no call has taken. Its mere warnings, such as an assignment that converts, are
// intended. If the extension is not installed (Debian's postgresql-15-plpgsql-check), it says so.
func checkFunctions(t *testing.T, db *pgtest.DB) {
	t.Helper()
	conn := db.Superuser(t)
	var isThere bool
	if err := conn.QueryRow(t.Context(), "select exists (select from pg_available_extensions where name = 'plpgsql_check')").Scan(&isThere); err != nil {
		t.Fatal(err)
	}
	if !isThere {
		t.Log("functions are not checked: Postgres has no extension plpgsql_check")
		return
	}
	if _, err := conn.Exec(t.Context(), "create schema plpgsql_check; create extension plpgsql_check with schema plpgsql_check"); err != nil {
		t.Fatal(err)
	}
	for _, found := range facts(t, conn, `
		select format('%s, line %s: %s %s (%s)', pg_proc.oid::regprocedure, found.lineno, found.level, found.message, found.sqlstate)
		from pg_proc
		join pg_language on pg_language.oid = pg_proc.prolang
		cross join plpgsql_check.plpgsql_check_function_tb(
			pg_proc.oid, fatal_errors => false, extra_warnings => false, performance_warnings => false
		) as found
		where pronamespace in ('api'::regnamespace, 'functions'::regnamespace, 'platform'::regnamespace)
			and lanname = 'plpgsql' and prorettype <> 'trigger'::regtype
			and found.level = 'error'
		order by 1`) {
		t.Error(found)
	}
}
