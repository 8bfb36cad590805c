package sql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// TestRulesThatWereChanged is the table of attacks on the objects that permissions depend on: if one
// was changed by hand since a release was installed, servers do not serve.
func TestRulesThatWereChanged(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner, server := db.Owner(t), db.Server(t)
	exec(t, owner, servable)
	exec(t, owner, "select platform.install_release('a.stern', '{}', '{}')")
	for _, c := range []struct {
		change, undo string
		want         []string
	}{
		{"select", "select", nil},
		{"alter policy post_select on app.post using (id is not null)", "alter policy post_select on app.post using (true)",
			[]string{"policy post_select on app.post was changed by hand"}},
		{"alter policy post_select on app.post to public", "alter policy post_select on app.post to sternpost_caller",
			[]string{"policy post_select on app.post was changed by hand"}},
		{"create policy opened on app.post using (true)", "drop policy opened on app.post",
			[]string{"policy opened on app.post was made by hand"}},
		{"drop policy post_select on app.post", "create policy post_select on app.post for select to sternpost_caller using (true)",
			[]string{"policy post_select on app.post is gone"}},
		{`
			create or replace function platform.identity_id() returns text language sql stable as 'select ''ann''';
		`, `
			create or replace function platform.identity_id() returns text language sql stable
			as $$` + value[string](t, owner, "select prosrc from pg_proc where oid = 'platform.identity_id()'::regprocedure") + `$$;
		`, []string{"function platform.identity_id() was changed by hand"}},
		{"alter function platform.identity_id() immutable", "alter function platform.identity_id() stable",
			[]string{"function platform.identity_id() was changed by hand"}},
		{"grant execute on function platform.keep_rules(text[]) to sternpost_server", "revoke execute on function platform.keep_rules(text[]) from sternpost_server",
			[]string{"function platform.keep_rules(text[]) was changed by hand"}},
		{"alter function api.list_posts(jsonb, jsonb) volatile set work_mem = '1MB'", "alter function api.list_posts(jsonb, jsonb) reset work_mem",
			[]string{"function api.list_posts(jsonb,jsonb) was changed by hand"}},
		{ownedBy("sternpost_caller_8"), ownedBy("sternpost_caller"), []string{"function api.list_posts(jsonb,jsonb) was changed by hand"}},
		{ownedBy("sternpost_open"), ownedBy("sternpost_caller"), []string{"function api.list_posts(jsonb,jsonb) was changed by hand"}},
		{ownedBy("sternpost_code"), ownedBy("sternpost_caller"), []string{"function api.list_posts(jsonb,jsonb) was changed by hand"}},
	} {
		exec(t, owner, "set role none; "+c.change)
		if got := values[string](t, server, "select platform.serving_faults()"); !slices.Equal(got, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.change, got, c.want)
		}
		exec(t, owner, c.undo)
		if got := values[string](t, server, "select platform.serving_faults()"); len(got) > 0 {
			t.Errorf("%s\nleaves %q", c.undo, got)
		}
	}
}

// ownedBy gives a function to another role that runs actions.
func ownedBy(role string) string {
	return strings.ReplaceAll(`
		grant create on schema api to $role;
		alter function api.list_posts(jsonb, jsonb) owner to $role;
		revoke create on schema api from $role;
	`, "$role", role)
}

// TestCatalogIsNotCompiled checks that Postgres does not compile (JIT) the queries that read its whole
// catalog. With hundreds of models the estimated costs are high enough for that, and compiling takes
// longer than reading.
func TestCatalogIsNotCompiled(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner := db.Owner(t)
	for _, function := range []string{"catalog", "rules"} {
		settings := values[string](t, owner, "select unnest(proconfig) from pg_proc where oid = 'platform."+function+"()'::regprocedure")
		if !slices.Contains(settings, "jit=off") {
			t.Errorf("platform.%s is called with the settings %q, want jit=off among them", function, settings)
		}
	}
}
