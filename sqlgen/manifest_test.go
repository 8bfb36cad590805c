package sqlgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sql/release"
)

// checkManifest compares a server's manifest with the catalog: every constraint and function
// is in both.
func checkManifest(t *testing.T, conn *pgx.Conn, m *release.Manifest) {
	t.Helper()

	var told []string
	for name, c := range m.Constraints {
		fact := string(c.Kind) + " " + c.Table + " " + name
		if c.Kind == release.Required {
			fact = "required " + name
			if !strings.HasPrefix(name, c.Table+".") {
				t.Errorf("the entry %s is about table %s", name, c.Table)
			}
		}
		if len(c.Fields) == 0 && c.Kind != release.Validate {
			t.Errorf("the entry %s is of kind %s and about the fields %v", name, c.Kind, c.Fields)
		}
		if c.Kind == release.Range { // the catalog does not tell which checks of Numbers are about arithmetic
			if len(facts(t, conn, fmt.Sprintf(`select conname from pg_constraint where conname = '%s' and contype = 'c' and conrelid = 'app.%s'::regclass`, name, c.Table))) != 1 {
				t.Errorf("table %s has no check %s", c.Table, name)
			}
			continue
		}
		told = append(told, fact)
	}
	compareFacts(t, "constraints", told, facts(t, conn, `
		select case contype when 'f' then 'reference ' else 'unique ' end || pg_class.relname || ' ' || conname
		from pg_constraint join pg_class on pg_class.oid = conrelid
		where connamespace = 'app'::regnamespace and contype in ('p', 'u', 'f')
		union all
		select 'validate ' || pg_class.relname || ' ' || conname
		from pg_constraint join pg_class on pg_class.oid = conrelid
		where connamespace = 'app'::regnamespace and contype = 'c' and conname ~ '_validate_[0-9]+$'
		union all
		select 'validate ' || pg_class.relname || ' ' || (regexp_matches(prosrc, 'false then\s+''([^'']+_validate_[0-9]+)''', 'g'))[1]
		from pg_trigger join pg_class on pg_class.oid = tgrelid join pg_proc on pg_proc.oid = tgfoid
		where tgname = '_500_validate' and tgdeferrable and tginitdeferred
		union all
		select case
			when pg_get_constraintdef(pg_constraint.oid) ~ 'cardinality.*<=' then 'maxItems '
			when pg_get_constraintdef(pg_constraint.oid) ~ 'cardinality.*>=' then 'minItems '
			when pg_get_constraintdef(pg_constraint.oid) ~ 'char_length.*>=|platform.shortest' then 'minLength '
			when pg_get_constraintdef(pg_constraint.oid) ~ 'char_length|platform.longest' then 'maxLength '
			when conname ~ '_not_blank_check$' then 'notBlank '
			when conname ~ '_format_check$' then 'format '
			else 'pattern '
		end || pg_class.relname || ' ' || conname
		from pg_constraint join pg_class on pg_class.oid = conrelid
		where connamespace = 'app'::regnamespace and contype = 'c' and pg_get_constraintdef(pg_constraint.oid) ~ 'char_length|platform.(longest|shortest|each_matches)|cardinality| ~ '
		union all
		select 'unique ' || table_of.relname || ' ' || pg_class.relname
		from pg_index
		join pg_class on pg_class.oid = indexrelid
		join pg_class as table_of on table_of.oid = indrelid
		where pg_class.relnamespace = 'app'::regnamespace and indisunique
			and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
		union all
		select 'required ' || pg_class.relname || '.' || attname
		from pg_attribute join pg_class on pg_class.oid = attrelid
		where relnamespace = 'app'::regnamespace and relkind = 'r' and attnum > 0 and attnotnull and not attisdropped
			and attname !~ '__' -- what triggers keep for computed fields
	`))

	told = nil
	for _, a := range m.Actions {
		volatility := "s"
		if a.Kind.Writes() {
			volatility = "v"
		}
		told = append(told, fmt.Sprintf("%s(%s) returns %s, volatility %s", a.Function, a.Signature(), resultOf(m, a), volatility))
		for _, f := range a.Foreseen {
			told = append(told, fmt.Sprintf("%s(%s) returns %s, volatility %s", f.Function, f.Signature(), resultOf(m, a), volatility))
		}
		if a.Live != nil && a.Live.Function != "" {
			told = append(told, fmt.Sprintf("%s(%s) returns jsonb, volatility s", a.Live.Function, release.PlainSignature))
		}
		if a.Facets != "" {
			told = append(told, fmt.Sprintf("%s(%s) returns text, volatility s", a.Facets, release.PlainSignature))
		}
		if a.Early != "" {
			told = append(told, a.Early+"(jsonb, jsonb) returns bool, volatility s")
		}
	}
	for _, j := range m.Jobs {
		told = append(told, j.Run+"(jsonb, jsonb) returns jsonb, volatility v")
	}
	for _, s := range m.Subscribers {
		for _, name := range s.Events {
			told = append(told, name+"(text, jsonb, jsonb) returns jsonb, volatility s")
		}
		if s.Run != "" {
			told = append(told, s.Run+"(jsonb, jsonb) returns void, volatility v")
		}
	}
	for _, h := range m.Histories {
		told = append(told, h.Row+"(jsonb) returns jsonb, volatility s")
	}
	compareFacts(t, "functions", told, facts(t, conn, `
		select format('%s(%s) returns %s, volatility %s', proname, oidvectortypes(proargtypes), case when typtype = 'c' then 'app.' || typname else typname end, provolatile)
		from pg_proc join pg_type on pg_type.oid = prorettype where pronamespace = 'api'::regnamespace
			and obj_description(pg_proc.oid) !~ ': the (next rows of the arm|picked rows of all arms)' -- which other functions call
	`))

	s := sampler{t: t, schemas: m.Schemas}
	for _, a := range m.Actions {
		body := s.value(s.component(a.Input), false)
		paths := []string{}
		for _, in := range a.Inputs {
			paths = append(paths, in.Path)
		}
		if a.LookUp != "" {
			paths = append(paths, a.LookUp)
		}
		for _, path := range paths {
			if a.Row != "" { // they are inputs of a row
				path = "rows." + path
			}
			if !hasPath(body, strings.Split(path, ".")) {
				t.Errorf("action %s: the input schema has no room for %s", a.Name, path)
			}
		}
		if a.Result != "" && m.Schemas.Get(a.Result) == nil {
			t.Errorf("action %s: there is no component %s", a.Name, a.Result)
		}
	}
	for _, api := range m.APIs {
		for _, name := range api.Actions {
			if !slices.ContainsFunc(m.Actions, func(a *release.Action) bool { return a.Name == name }) {
				t.Errorf("api %s has an action %s, which does not exist", api.Name, name)
			}
		}
	}
}

// resultOf is the type of the answers of an action's functions.
func resultOf(m *release.Manifest, a *release.Action) string {
	if a.Record == "" {
		return "text"
	}
	isColumnOfItsOwn := func(member release.Member) bool { return member.Embedded || strings.Contains(member.Column, "__") }
	if slices.ContainsFunc(m.Records[a.Record], isColumnOfItsOwn) {
		return "record"
	}
	i := slices.IndexFunc(m.Models, func(model release.Model) bool { return model.Name == a.Model })
	return "app." + m.Models[i].Table
}

func hasPath(value any, path []string) bool {
	for _, name := range path {
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		object, ok := value.(map[string]any)
		if !ok {
			return false
		}
		if value, ok = object[name]; !ok {
			return false
		}
	}
	return true
}

func facts(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func compareFacts(t *testing.T, what string, told, there []string) {
	t.Helper()
	for _, fact := range told {
		if !slices.Contains(there, fact) {
			t.Errorf("%s: the manifest has %q, the catalog not", what, fact)
		}
	}
	for _, fact := range there {
		if !slices.Contains(told, fact) {
			t.Errorf("%s: the catalog has %q, the manifest not", what, fact)
		}
	}
}
