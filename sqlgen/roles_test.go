package sqlgen_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/sql/role"
)

// TestServerMayNothingElse tries, as a server, the things that only the owner or an action may do.
func TestServerMayNothingElse(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shop", shop)
	a.exec(t, "insert into app.customer (id, name) values ('anna', 'Anna')")
	statements := []string{
		"select * from app.customer",
		"select name from app.customer",
		"select * from related.customer",
		"select * from related.identity",
		"insert into app.customer (name) values ('x')",
		"update app.customer set name = 'x'",
		"delete from app.customer",
		"truncate app.customer",
		"select description from platform.release",
		"insert into platform.release values (9, '', '{}', '{}')",
		"select platform.install_release('', '{}', '{}')",
		"select platform.enter('getCustomer', '{}')",
		"create table app.mine ()",
		"create table api.mine ()",
		"create table platform.mine ()",
		"create table public.mine ()",
		"create temporary table mine ()",
		"create schema mine",
		"create function api.mine() returns int language sql as 'select 1'",
		"create role mine",
		"alter table app.customer disable row level security",
		"drop table app.customer",
		"drop function api.get_customer(text, text, text)",
		"alter function api.get_customer(text, text, text) security invoker",
		"create policy mine on app.customer using (true)",
		"grant select on app.customer to public",
		"comment on table app.customer is 'mine'",
	}
	for _, name := range role.Owners() {
		statements = append(statements, "set role "+name)
	}
	for _, statement := range statements {
		_, err := a.server.Exec(t.Context(), statement)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" {
			t.Errorf("%s: %v, want SQLSTATE 42501", statement, err)
		}
	}
	if got := a.call(t, "getCustomer", `{"id":"anna"}`, ""); !strings.HasPrefix(got, "{") {
		t.Errorf("what an action may is answered with %s", got)
	}
}

// TestServerAndCallerOwnNothing reads in the catalog what the roles own, may create and may touch.
func TestServerAndCallerOwnNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shop", shop)
	super := a.db.Superuser(t)
	for what, query := range map[string]string{
		"objects of the server": `
			select pg_describe_object(classid, objid, 0) from pg_shdepend
			where deptype = 'o' and dbid = (select oid from pg_database where datname = current_database())
				and refobjid in (select 'sternpost_server'::regrole union select member from pg_auth_members where roleid = 'sternpost_server'::regrole
					and member not in (select datdba from pg_database))`,
		"objects of the callers but functions of api": `
			select pg_describe_object(classid, objid, 0) from pg_shdepend
			left join pg_proc on classid = 'pg_proc'::regclass and pg_proc.oid = objid
			where deptype = 'o' and dbid = (select oid from pg_database where datname = current_database())
				and refobjid = any (platform.owners()) and pronamespace is distinct from 'api'::regnamespace`,
		"functions of api that run as somebody else": `
			select oid::regprocedure::text from pg_proc
			where pronamespace = 'api'::regnamespace
				and (proowner not in ('sternpost_open'::regrole, 'sternpost_caller'::regrole) or not prosecdef)`,
		"schemas in which they may create": `
			select rolname || ' ' || nspname from pg_namespace cross join pg_roles
			where (pg_roles.oid = any (platform.owners()) or rolname = 'sternpost_server') and has_schema_privilege(pg_roles.oid, pg_namespace.oid, 'create')`,
		"tables of app without row security": `
			select relname::text from pg_class where relnamespace = 'app'::regnamespace and relkind = 'r' and not relrowsecurity`,
		"tables on which two permissive policies meet": `
			select tablename || ' ' || cmd || ' ' || array_to_string(roles, ' ') from pg_policies
			group by 1, tablename, cmd, roles having count(*) > 1 or cardinality(roles) > 1`,
		"tables of app that a caller can write though no action does": `
			select relname::text from pg_class cross join unnest('{INSERT,UPDATE}'::text[]) as privilege cross join unnest(platform.owners()) as owner
			where relnamespace = 'app'::regnamespace and relname in ('town', 'safe', 'identity')
				and has_any_column_privilege(owner, pg_class.oid, privilege)`,
		"columns that a caller can update though no action does": `
			select relname || '.' || attname from pg_attribute join pg_class on pg_class.oid = attrelid cross join unnest(platform.owners()) as owner
			where relnamespace = 'app'::regnamespace and relkind = 'r' and attnum > 0
				and (attname in ('id', 'created_at', 'updated_at') or relname = 'address' and attname = 'owner_id')
				and has_column_privilege(owner, pg_class.oid, attname, 'update')`,
	} {
		if got := facts(t, super, query); len(got) > 0 {
			t.Errorf("%s: %s", what, strings.Join(got, ", "))
		}
	}
}

// TestRowSecurityHasTheLastWord removes a rule from the policies, as if the function had forgotten to
// check it. No row passes, not even on a superuser's connection.
func TestRowSecurityHasTheLastWord(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shop", shop)
	a.exec(t, "insert into app.customer (id, name, email) values ('anna', 'Anna', 'a@x')")

	const open, refused = "1 row", "42501"
	calls := []struct {
		function, body, command string
		closed                  string // the answer without the policy of the command; "" is no row
	}{
		{"get_customer", `{"id":"anna"}`, "select", "null"},
		{"list_customers", `{}`, "select", ""},
		{"list_customers", `{"where":{"name":{"startsWith":"a"}}}`, "select", ""},
		{"list_customers()", `{}`, "select", ""},
		{"list_customers(name.equals)", `{"where":{"name":{"equals":"Anna"}}}`, "select", ""},
		{"create_customer", `{"name":"B"}`, "insert", refused},
		{"create_customer", `{"name":"B"}`, "select", refused},
		{"update_customer", `{"where":{"id":"anna"},"values":{"name":"B"}}`, "update", "SP404"},
		{"delete_customer", `{"id":"anna"}`, "delete", "SP404"},
	}
	for _, super := range []bool{false, true} {
		for _, closing := range []string{
			"drop policy customer_%s_open on app.customer",
			"alter policy customer_%[1]s_open on app.customer %[2]s (platform.action() = 'some other action')",
		} {
			conn := a.owner
			if super {
				conn = a.db.Superuser(t)
			}
			for _, c := range calls {
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := rowsOf(t, tx, c.function, c.body); got != open {
					t.Errorf("api.%s with its policy answers %s", c.function, got)
				}
				clause := "using"
				if c.command == "insert" {
					clause = "with check"
				}
				statement := fmt.Sprintf(closing, c.command)
				if strings.Contains(closing, "[2]") {
					statement = fmt.Sprintf(closing, c.command, clause)
				}
				if _, err := tx.Exec(t.Context(), "insert into app.customer (id, name, email) values ('anna', 'Anna', 'a@x') on conflict (id) do update set name = 'Anna'"); err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
				want := c.closed
				if want == "" {
					want = "no row"
				}
				if got := rowsOf(t, tx, c.function, c.body); got != want {
					t.Errorf("superuser %t, after %s\napi.%s %s\ngot  %s\nwant %s", super, statement, c.function, c.body, got, want)
				}
				if err := tx.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// rowsOf calls a function and returns the result: 1 row, no row, the answer or a SQLSTATE.
func rowsOf(t *testing.T, tx pgx.Tx, function, body string) string {
	t.Helper()
	nested, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer, err := calls.JSON(t.Context(), nested.Conn(), function, body, "{}")
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused):
		if err := nested.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		return refused.Code
	case err != nil:
		t.Fatal(err)
	}
	if err := nested.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	switch {
	case strings.HasPrefix(answer, `{"results":[]`):
		return "no row"
	case strings.HasPrefix(answer, "{"), strings.HasPrefix(answer, `"`):
		return "1 row"
	}
	return answer
}

// TestReadersWriteNothing calls every get and list in a read-only transaction.
func TestReadersWriteNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t, "filters", filterSchema(filterFields()))
	called := 0
	for _, action := range a.manifest.Actions {
		if action.Kind.Writes() {
			continue
		}
		for _, body := range samples(t, a.manifest, action) {
			in, err := a.readers[action.Name].Read([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			functions := []string{action.Function}
			if form, ok := calls.Form(action, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
				functions = append(functions, form)
			}
			for _, function := range functions {
				called++
				err := pgx.BeginTxFunc(t.Context(), a.server, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
					_, err := calls.JSON(t.Context(), tx.Conn(), function, string(in.JSON), "{}")
					return err
				})
				if err != nil {
					t.Errorf("api.%s %s: %v", function, body, err)
				}
			}
		}
	}
	if called < 100 {
		t.Errorf("only %d calls", called)
	}
}
