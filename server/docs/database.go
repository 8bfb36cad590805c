package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// The pages read the database's catalog on demand, so they show its current state. The
// server's role may read the catalog, and neither rows nor tables.

// tablesQuery lists the tables of the application with their columns.
const tablesQuery = `
	select coalesce(json_agg(row_to_json(t) order by t.name), '[]')::text
	from (
		select
			c.relname as name,
			coalesce(obj_description(c.oid, 'pg_class'), '') as doc,
			(
				select json_agg(json_build_object(
					'name', a.attname,
					'type', format_type(a.atttypid, a.atttypmod),
					'required', a.attnotnull,
					'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''),
					'doc', coalesce(col_description(c.oid, a.attnum), '')
				) order by a.attnum)
				from pg_catalog.pg_attribute as a
				left join pg_catalog.pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
				where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
			) as columns,
			(
				select json_agg(json_build_object(
					'name', k.conname,
					'kind', k.contype,
					'text', pg_get_constraintdef(k.oid, true),
					'columns', (
						select json_agg(a.attname order by u.place)
						from unnest(k.conkey) with ordinality as u(attnum, place)
						join pg_catalog.pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.attnum
					),
					'target', coalesce((select t.relname from pg_catalog.pg_class as t where t.oid = k.confrelid), ''),
					'onDelete', case k.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else '' end
				) order by k.contype = 'p' desc, k.conname)
				from pg_catalog.pg_constraint as k
				where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')
			) as constraints
		from pg_catalog.pg_class as c
		join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		where n.nspname = 'app' and c.relkind = 'r'
	) as t`

// tableColumn is a column as the page shows it.
type tableColumn struct {
	Name, Type, Default, Doc string
	Required                 bool
}

// databaseTable is a table as the page shows it.
type databaseTable struct {
	Name, Doc   string
	Columns     []tableColumn
	Constraints []tableConstraint
}

// tableConstraint is a constraint as the pages show it.
type tableConstraint struct {
	Name, Kind, Text string // kind p, u, f or c, as in the catalog
	Columns          []string
	Target, OnDelete string // of a foreign key: the other table, and what the deletion of its row does here
}

func (s *Pages) databaseTables() ([]databaseTable, error) {
	var text string
	if err := s.DB.QueryRow(tablesQuery, nil, &text); err != nil {
		return nil, refuseCatalog("list the tables", err)
	}
	var tables []databaseTable
	if err := json.Unmarshal([]byte(text), &tables); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	return tables, nil
}

// refuseCatalog converts an error of a query in this file to the answer.
func refuseCatalog(doing string, err error) error {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return refusal.OfCall(fmt.Errorf("%s: %w", doing, err), &release.Action{}, nil, nil)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// functionsQuery writes, by name, the functions of actions: the main one, those of the
// operator sets and the early decision, and the project's own code.
const functionsQuery = `
	select coalesce(json_object_agg(action.function, (
		select coalesce(string_agg(
			rtrim(pg_get_functiondef(p.oid), E'\n') || ';',
			E'\n\n' order by n.nspname, length(p.proname), p.proname
		), '')
		from pg_catalog.pg_proc as p
		join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
		where n.nspname = 'api' and (p.proname = action.function or starts_with(p.proname, action.function || '__'))
			or n.nspname = 'functions' and p.proname = action.function
	)), '{}')::text
	from unnest($1::text[]) as action(function)`

// functionsSQL returns the SQL of the functions of actions, by the actions' names. Account actions have none.
func (s *Pages) functionsSQL(actions ...*release.Action) (map[string]string, error) {
	var names []string
	for _, a := range actions {
		if !account.Is(a) {
			names = append(names, a.Function)
		}
	}
	var text string
	if err := s.DB.QueryRow(functionsQuery, []any{names}, &text); err != nil {
		return nil, refuseCatalog("read the functions", err)
	}
	var byFunction map[string]string
	if err := json.Unmarshal([]byte(text), &byFunction); err != nil {
		return nil, fmt.Errorf("read the functions: %w", err)
	}
	byAction := map[string]string{}
	for _, a := range actions {
		if !account.Is(a) {
			byAction[a.Name] = byFunction[a.Function]
		}
	}
	return byAction, nil
}

// actionSQL answers with the SQL of an action.
func (s *Pages) actionSQL(c *fiber.Ctx) error {
	_, m := s.Release()
	if m == nil {
		return &refusal.Unavailable
	}
	a := m.Action(c.Params("action"))
	if a == nil {
		return &refusal.ActionNotFound
	}
	functions, err := s.functionsSQL(a)
	if err != nil {
		return err
	}
	return sendSQL(c, functions[a.Name])
}

// allSQL answers with the SQL of all actions, for a search in it.
func (s *Pages) allSQL(c *fiber.Ctx) error {
	_, m := s.Release()
	if m == nil {
		return &refusal.Unavailable
	}
	functions, err := s.functionsSQL(m.Actions...)
	if err != nil {
		return err
	}
	text, err := answer.Encode(functions)
	if err != nil {
		return fmt.Errorf("write the functions: %w", err)
	}
	c.Set("Content-Type", request.JSONType)
	c.Response().SetBodyRaw(text)
	return nil
}

// tableQuery writes a table as statements: its columns and constraints, its other
// indexes, row security and triggers.
const tableQuery = `
	with t as (
		select c.oid, format('app.%I', c.relname) as name, c.relname, c.relrowsecurity
		from pg_catalog.pg_class as c
		join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
		where n.nspname = 'app' and c.relkind = 'r' and c.relname = $1
	),
	parts as (
		select 1 as part, (a.attnum)::text as place, format('  %I %s', a.attname, format_type(a.atttypid, a.atttypmod))
			|| case when a.attcollation <> 0 and l.collname <> 'default' then format(' collate %I', l.collname) else '' end
			|| case when a.attnotnull then ' not null' else '' end
			|| coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line, a.attnum as ordinal
		from t
		join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
		left join pg_catalog.pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
		left join pg_catalog.pg_collation as l on l.oid = a.attcollation
		union all
		select 2, k.conname, format('  constraint %I %s', k.conname, pg_get_constraintdef(k.oid, true)), 0
		from t
		join pg_catalog.pg_constraint as k on k.conrelid = t.oid and k.contype in ('p', 'u', 'f', 'c')
	)
	select coalesce((
		select format(E'create table %s (\n%s\n);\n', t.name,
				(select string_agg(line, E',\n' order by part, ordinal, place) from parts))
			|| coalesce((
				select E'\n' || string_agg(pg_get_indexdef(i.indexrelid) || ';', E'\n' order by i.indexrelid::regclass::text)
				from pg_catalog.pg_index as i
				where i.indrelid = t.oid and not exists (
					select from pg_catalog.pg_constraint as k where k.conindid = i.indexrelid and k.conrelid = t.oid
				)
			) || E'\n', '')
			|| case when t.relrowsecurity then format(E'\nalter table %s enable row level security;\n', t.name) else '' end
			|| coalesce((
				select string_agg(
					format(E'\ncreate policy %I on %s for %s to %s', p.policyname, t.name, lower(p.cmd), array_to_string(p.roles, ', '))
						|| coalesce(' using (' || p.qual || ')', '')
						|| coalesce(' with check (' || p.with_check || ')', '') || E';\n',
					'' order by p.policyname)
				from pg_catalog.pg_policies as p
				where p.schemaname = 'app' and p.tablename = t.relname
			), '')
			|| coalesce((
				select E'\n' || string_agg(pg_get_triggerdef(g.oid, true) || ';', E'\n' order by g.tgname)
				from pg_catalog.pg_trigger as g
				where g.tgrelid = t.oid and not g.tgisinternal
			) || E'\n', '')
		from t
	), '')`

// tableSQL answers with the SQL of a table.
func (s *Pages) tableSQL(c *fiber.Ctx) error {
	var text string
	if err := s.DB.QueryRow(tableQuery, []any{c.Params("table")}, &text); err != nil {
		return refuseCatalog("read the table", err)
	}
	return sendSQL(c, text)
}

// sendSQL answers with SQL, or refuses if there is none.
func sendSQL(c *fiber.Ctx, text string) error {
	if text == "" {
		return &refusal.ActionNotFound
	}
	c.Set("Content-Type", "text/plain; charset=utf-8")
	c.Response().SetBodyString(text)
	return nil
}

// findTable returns the table of that name, or nil.
func findTable(tables []databaseTable, name string) *databaseTable {
	i := slices.IndexFunc(tables, func(t databaseTable) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &tables[i]
}
