package install_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// catalogSQL describes all installed objects except the platform: one line per fact, sorted. It leaves out the place of
// a column in its table or view, since a column that is added later comes last.
const catalogSQL = `
with relations as (
  select pg_class.*, pg_class.oid::regclass::text as called
  from pg_class
  where pg_class.relnamespace in ('app'::regnamespace, 'related'::regnamespace, 'api'::regnamespace, 'functions'::regnamespace)
    and pg_class.relkind in ('r', 'v', 'i', 'S', 'm')
),
columns as (
  select relations.called, relations.relkind, pg_attribute.*
  from relations
  join pg_attribute on pg_attribute.attrelid = relations.oid
  where pg_attribute.attnum > 0 and not pg_attribute.attisdropped and relations.relkind <> 'i'
),
functions as (
  select pg_proc.*, pg_proc.oid::regprocedure::text as called
  from pg_proc
  where pg_proc.pronamespace in ('api'::regnamespace, 'functions'::regnamespace)
)
select fact from (
  select format('relation %s kind %s owner %s row security %s %s comment %L',
    called, relkind, relowner::regrole, relrowsecurity, relforcerowsecurity, obj_description(oid, 'pg_class')) from relations
  union all
  select format('grant on %s: %s %s to %s by %s', called, entry.privilege_type, entry.is_grantable, entry.grantee::regrole, entry.grantor::regrole)
  from relations cross join aclexplode(coalesce(relacl, acldefault('r', relowner))) as entry where relkind in ('r', 'v')
  union all
  select format('column %s.%I %s collation %s not null %s default %L comment %L',
    columns.called, columns.attname, format_type(columns.atttypid, columns.atttypmod), columns.attcollation::regcollation, columns.attnotnull,
    (select pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid) from pg_attrdef
     where pg_attrdef.adrelid = columns.attrelid and pg_attrdef.adnum = columns.attnum),
    col_description(columns.attrelid, columns.attnum)) from columns
  union all
  select format('grant on column %s.%I: %s to %s', called, attname, entry.privilege_type, entry.grantee::regrole)
  from columns cross join aclexplode(attacl) as entry
  union all
  -- From PostgreSQL 18 on a column that is not null has a constraint, whose name is Postgres' own choice.
  select format('constraint %s on %s %s validated %s comment %L',
    case when pg_constraint.contype = 'n' then '' else quote_ident(pg_constraint.conname) end, relations.called,
    pg_get_constraintdef(pg_constraint.oid), pg_constraint.convalidated, obj_description(pg_constraint.oid, 'pg_constraint'))
  from relations join pg_constraint on pg_constraint.conrelid = relations.oid
  union all
  select format('index %s valid %s', pg_get_indexdef(oid), (select indisvalid from pg_index where indexrelid = relations.oid))
  from relations where relkind = 'i'
  union all
  select format('view %s %s', called, (
      select string_agg(btrim(part, E' \n;'), ', ' order by btrim(part, E' \n;') collate "C")
      from regexp_split_to_table(pg_get_viewdef(oid), E',\n|SELECT|FROM') as part
    )) from relations where relkind = 'v'
  union all
  select format('trigger %s %s', pg_get_triggerdef(pg_trigger.oid), pg_trigger.tgenabled)
  from relations join pg_trigger on pg_trigger.tgrelid = relations.oid where not pg_trigger.tgisinternal
  union all
  select format('policy %s on %I.%I %s to %s %s using %s check %s', policyname, schemaname, tablename, permissive, roles, cmd, qual, with_check)
  from pg_policies
  union all
  select format('function %s owner %s comment %L %s', called, proowner::regrole, obj_description(oid, 'pg_proc'), pg_get_functiondef(oid)) from functions
  union all
  select format('grant on function %s: %s to %s', called, entry.privilege_type, entry.grantee::regrole)
  from functions cross join aclexplode(coalesce(proacl, acldefault('f', proowner))) as entry
  union all
  select format('schema %I owner %s grants %s', nspname, nspowner::regrole, (select string_agg(format('%s to %s', entry.privilege_type, entry.grantee::regrole), ', ' order by 1)
    from aclexplode(nspacl) as entry))
  from pg_namespace where nspname in ('app', 'related', 'api', 'functions', 'platform')
) as facts (fact)
order by fact collate "C"
`

// catalog returns the facts.
func catalog(t testing.TB, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), catalogSQL)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// checkCatalog reports the facts in which two catalogs differ.
func checkCatalog(t testing.TB, got, want []string) {
	t.Helper()
	for _, fact := range got {
		if !slices.Contains(want, fact) {
			t.Errorf("is there and should not:\n%s", fact)
		}
	}
	for _, fact := range want {
		if !slices.Contains(got, fact) {
			t.Errorf("should be there and is not:\n%s", fact)
		}
	}
	if len(got) < 20 {
		t.Errorf("the catalog is nearly empty:\n%s", strings.Join(got, "\n"))
	}
}

// contents returns all rows of schema app, by table and id.
func contents(t testing.TB, conn *pgx.Conn) map[string]map[string]any {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select relname::text from pg_class where relnamespace = 'app'::regnamespace and relkind = 'r'")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), "select to_jsonb(t) from "+pgx.Identifier{"app", table}.Sanitize()+" as t")
		if err != nil {
			t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			row := map[string]any{}
			if err := json.Unmarshal(text, &row); err != nil {
				t.Fatal(err)
			}
			all[table+" "+row["id"].(string)] = row
		}
	}
	return all
}

// checkKept reports rows and values that are gone or different.
func checkKept(t testing.TB, before, after map[string]map[string]any) {
	t.Helper()
	if len(after) != len(before) {
		t.Errorf("there are %d rows, before there were %d", len(after), len(before))
	}
	for key, row := range before {
		for column, value := range row {
			got, ok := after[key][column]
			if !ok && value == nil && after[key] != nil {
				continue // the column is gone, and held nothing here
			}
			if !ok || !reflect.DeepEqual(got, value) {
				t.Errorf("row %s: %s is %v, before it was %v", key, column, got, value)
			}
		}
	}
}
