package install_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestBodiesAreChecked checks that wrong names in bodies are found at their place when code is installed. In SQL they
// always are; in PL/pgSQL if the database has plpgsql_check or the owner may make it, and nothing of it stays.
func TestBodiesAreChecked(t *testing.T) {
	t.Parallel()
	superuser := pgtest.New(t, pgtest.Options{Empty: true}).Superuser(t)
	if !has(t, superuser, "select exists (select from pg_available_extensions where name = 'plpgsql_check')") {
		t.Skip("Postgres has no extension plpgsql_check (Debian: postgresql-15-plpgsql-check)")
	}
	withExtension := pgtest.New(t, pgtest.Options{Empty: true})
	mustExec(t, withExtension.Superuser(t), "create schema checks; create extension plpgsql_check with schema checks; grant usage on schema checks to public")
	without := pgtest.New(t, pgtest.Options{Empty: true})

	body := func(text string) string {
		return "-- é\n" + strings.Replace(strings.Replace(goodCode, "sql", "plpgsql", 1), "  select '1'::jsonb;", "declare\n  v app.order;\n  r record;\nbegin\n"+text+"\n  return null;\nend;", 1)
	}
	for _, c := range []struct {
		what, code, want string
		plain            bool // Postgres finds it by itself
	}{
		{"right", body("  select * into v from app.order; v.number := 'x'; perform v.number; for r in select id as key from app.order loop perform r.key; end loop;"), "", true},
		{"dynamic", body("  execute 'select 1 as a' into r; return to_jsonb(r.a);"), "", true},
		{"a column", body("  select 'é' into v.number from app.order\n  where \"order\".nmber = 'x';"), `functions/code.sql:11:9: column order.nmber does not exist [42703]`, false},
		{"a column of a variable", body("  v.nmber := 'x';"), `functions/code.sql:10:3: record "v" has no field "nmber" [42703]`, false},
		{"a condition", body("  if exists (select from app.order where nmber = 'é') then null; end if;"), `functions/code.sql:10:42: column "nmber" does not exist [42703]`, false},
		{"a table", body("  delete from app.orders;"), `functions/code.sql:10:15: relation "app.orders" does not exist [42P01]`, false},
		{"no schema", body("  perform 1 from \"order\";"), `functions/code.sql:10:18: relation "order" does not exist [42P01]`, false},
		{"a function", body("  perform functions.nothing(1);"), `functions/code.sql:10:11: function functions.nothing(integer) does not exist [42883]`, false},
		{"a column in SQL", strings.Replace(goodCode, "'1'::jsonb", "to_jsonb(o.nmber) from app.order as o", 1), `functions/code.sql:5:19: column o.nmber does not exist [42703]`, true},
	} {
		for where, conn := range map[string]*pgx.Conn{
			"the extension": withExtension.Owner(t), "a superuser": superuser, "neither": without.Owner(t),
		} {
			want := c.want
			if where == "neither" && !c.plain {
				want = ""
			}
			got := refusalOf(t, conn, coded(c.code))
			if (want == "") != (got == "") || !strings.Contains(got, want) {
				t.Errorf("%s, with %s\n%s\ngot\n%s\nwant\n%s", c.what, where, c.code, got, want)
			}
			if where != "the extension" && has(t, conn, "select exists (select from pg_extension where extname = 'plpgsql_check') or to_regnamespace('sternpost_body_check') is not null") {
				t.Errorf("%s, with %s: the extension stays", c.what, where)
			}
		}
	}
	if _, err := install.Install(t.Context(), superuser, compileProject(t, coded(body("")))); err != nil {
		t.Error(err)
	}
}

func has(t *testing.T, conn *pgx.Conn, query string) bool {
	t.Helper()
	var yes bool
	if err := conn.QueryRow(t.Context(), query).Scan(&yes); err != nil {
		t.Fatal(err)
	}
	return yes
}
