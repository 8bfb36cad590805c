package sql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sql/role"
)

// A small application in order: one table, its view, custom code, one action.
const servable = `
	create table app.post (id text collate "C" primary key, title text);
	alter table app.post enable row level security;
	create policy post_select on app.post for select to sternpost_caller using (true);
	grant select, delete on app.post to sternpost_caller;
	grant insert (id, title), update (title) on app.post to sternpost_caller;
	create view related.post as select * from app.post;
	grant select on related.post to sternpost_caller;
	create function functions.count_posts() returns bigint language sql as 'select count(*) from app.post';
	grant execute on function functions.count_posts() to sternpost_code;
	create policy post_select_code on app.post for select to sternpost_code using (true);
	grant select on app.post, related.post to sternpost_code;
	create function api.count_posts(input jsonb, context jsonb) returns text
	language sql security definer set search_path = pg_catalog, pg_temp as 'select functions.count_posts()::text';
	grant execute on function api.count_posts(jsonb, jsonb) to sternpost_server;
	create function api.list_posts(input jsonb, context jsonb) returns text
	language sql security definer set search_path = pg_catalog, pg_temp as 'select 1::text';
	grant execute on function api.list_posts(jsonb, jsonb) to sternpost_server;
	grant create on schema api to sternpost_caller, sternpost_code;
	alter function api.list_posts(jsonb, jsonb) owner to sternpost_caller;
	alter function api.count_posts(jsonb, jsonb) owner to sternpost_code;
	revoke create on schema api from sternpost_caller, sternpost_code;
`

// Each fault is provoked by itself. Roles belong to the whole server, so it all
// happens in transactions that are rolled back.
func TestServingFaults(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	exec(t, db.Owner(t), servable)
	login := value[string](t, db.Server(t), "select session_user::text")
	owner := value[string](t, db.Owner(t), "select session_user::text")
	superuser := db.Superuser(t)
	exec(t, superuser, "create role "+login+"_other")
	t.Cleanup(func() {
		if _, err := superuser.Exec(context.Background(), "rollback; drop role "+login+"_other"); err != nil {
			t.Error(err)
		}
	})

	tests := []struct {
		fault string
		want  []string
	}{
		{"", nil},

		// The login.
		{"alter role $login superuser", []string{"role $login is a superuser"}},
		{"alter role $login bypassrls", []string{"role $login bypasses row security"}},
		{"alter role $login createrole", []string{"role $login may create roles"}},
		{"alter role $login createdb", []string{"role $login may create databases"}},
		{"alter role $login replication", []string{"role $login may replicate the cluster"}},
		{"create schema authorization $login", []string{
			"role $login may create in schema $login",
		}},
		{"alter table app.post owner to $login", []string{
			"role $login may select, insert, update, delete, truncate, references, trigger app.post",
			"role $login owns table app.post",
		}},
		{`
			create table app.a (); create table app.b (); create table app.c (); create table app.d ();
			alter table app.a owner to $login; alter table app.b owner to $login;
			alter table app.c owner to $login; alter table app.d owner to $login;
			alter table app.a enable row level security; alter table app.b enable row level security;
			alter table app.c enable row level security; alter table app.d enable row level security;
		`, []string{
			"role $login may select, insert, update, delete, truncate, references, trigger app.a",
			"role $login may select, insert, update, delete, truncate, references, trigger app.b",
			"role $login may select, insert, update, delete, truncate, references, trigger app.c",
			"role $login may select, insert, update, delete, truncate, references, trigger app.d",
			"role $login owns table app.a, table app.b, table app.c and 1 more",
		}},
		{"grant create on schema public to $login", []string{"role $login may create in schema public"}},
		{"grant create on database $database to $login", []string{"role $login may create schemas in database $database"}},
		{"grant temporary on database $database to $login", []string{"role $login may create temporary tables in database $database"}},
		{"grant usage on schema app to $login", []string{"role $login may use schema app"}},
		{"grant usage on schema related to sternpost_server", []string{
			"role $login may use schema related",
			"role sternpost_server ($login is a member of it) may use schema related",
		}},
		{"grant usage on schema functions to $login", []string{"role $login may use schema functions"}},
		{"grant select on app.post to $login", []string{"role $login may select app.post"}},
		{"grant update (title) on app.post to $login", []string{"role $login may update app.post"}},
		{"grant delete, truncate on related.post to $login", []string{"role $login may delete, truncate related.post"}},
		{"create table functions.cache (); grant insert on functions.cache to $login", []string{"role $login may insert functions.cache"}},

		// The login, by membership.
		{"grant sternpost_caller to $login", []string{
			"role $login may select related.post",
			"role $login may select, insert, update, delete app.post",
			"role $login may use schema app",
			"role $login may use schema related",
			"role sternpost_caller ($login is a member of it) may run anything that an action may",
		}},
		// A membership that is not inherited counts too.
		{`
			alter role $login noinherit;
			grant $other to $login;
			alter role $other bypassrls;
			grant usage on schema platform to $login;
			grant execute on function platform.serving_faults(), platform.rules(), platform.owners() to $login;
			grant select on platform.kept_rule to $login;
		`, []string{
			"role $other ($login is a member of it) bypasses row security",
		}},
		{"grant $other to $login; create schema authorization $other", []string{
			"role $login may create in schema $other",
			"role $other ($login is a member of it) may create in schema $other",
		}},
		{"grant pg_read_all_data to $login", []string{
			"role $login may select app.post",
			"role $login may select related.post",
			"role $login may use schema app",
			"role $login may use schema functions",
			"role $login may use schema related",
			"role pg_read_all_data ($login is a member of it) may select app.post",
			"role pg_read_all_data ($login is a member of it) may select related.post",
			"role pg_read_all_data ($login is a member of it) may use schema app",
			"role pg_read_all_data ($login is a member of it) may use schema functions",
			"role pg_read_all_data ($login is a member of it) may use schema related",
		}},

		{"grant pg_write_all_data to $login", []string{
			"role $login may insert, update, delete app.post",
			"role $login may insert, update, delete related.post",
			"role $login may use schema app",
			"role $login may use schema functions",
			"role $login may use schema related",
			"role pg_write_all_data ($login is a member of it) may insert, update, delete app.post",
			"role pg_write_all_data ($login is a member of it) may insert, update, delete related.post",
			"role pg_write_all_data ($login is a member of it) may use schema app",
			"role pg_write_all_data ($login is a member of it) may use schema functions",
			"role pg_write_all_data ($login is a member of it) may use schema related",
		}},
		{"grant $other to $login; grant references (title) on app.post to $other", []string{
			"role $login may references app.post",
			"role $other ($login is a member of it) may references app.post",
		}},
		{"grant $other to $login; alter view related.post owner to $other", []string{
			"role $login may select, insert, update, delete, truncate, references, trigger related.post",
			"role $other ($login is a member of it) may select, insert, update, delete, truncate, references, trigger related.post",
			"role $other ($login is a member of it) owns view related.post",
		}},
		{"grant trigger on app.post to pg_database_owner; alter database $database owner to $login", []string{
			"role $login may create in schema public",
			"role $login may create schemas in database $database",
			"role $login may create temporary tables in database $database",
			"role $login may trigger app.post",
			"role $login owns database $database",
		}},

		// The roles that functions run as.
		{"grant sternpost_code to $login", []string{
			"role $login may select app.post",
			"role $login may select related.post",
			"role $login may use schema app",
			"role $login may use schema functions",
			"role $login may use schema related",
			"role sternpost_code ($login is a member of it) may run anything that an action may",
		}},
		{"grant $caller to sternpost_code", []string{
			"role $caller (sternpost_code is a member of it) adds rights to actions that no schema gives",
		}},
		{"grant sternpost_code to $caller", []string{
			"role sternpost_code ($caller is a member of it) adds rights to actions that no schema gives",
		}},
		{"grant sternpost_caller_4 to sternpost_open", []string{
			"role sternpost_caller_4 (sternpost_open is a member of it) adds rights to actions that no schema gives",
		}},
		{"alter role sternpost_code superuser", []string{"role sternpost_code is a superuser"}},
		{"alter role sternpost_code bypassrls", []string{"role sternpost_code bypasses row security"}},
		{"alter role sternpost_code login", []string{"role sternpost_code may log in"}},
		{"alter table app.post owner to sternpost_code", []string{
			"role sternpost_code may truncate, references, trigger app.post",
			"role sternpost_code owns table app.post",
		}},
		{"grant create on schema api to sternpost_code", []string{"role sternpost_code may create in schema api"}},
		{"grant truncate on app.post to sternpost_code", []string{"role sternpost_code may truncate app.post"}},
		{"grant $other to sternpost_code", []string{"role $other (sternpost_code is a member of it) adds rights to actions that no schema gives"}},
		{"alter role $caller superuser", []string{"role $caller is a superuser"}},
		{"alter role $caller bypassrls", []string{"role $caller bypasses row security"}},
		{"alter role $caller login", []string{"role $caller may log in"}},
		{"alter view related.post owner to $caller", []string{
			"role $caller may insert, update, delete, truncate, references, trigger related.post",
			"role $caller owns view related.post",
		}},
		{"alter table app.post owner to $caller", []string{
			"role $caller may truncate, references, trigger app.post",
			"role $caller owns table app.post",
		}},
		{"grant create on schema api to $caller", []string{"role $caller may create in schema api"}},
		{"grant create on database $database to $caller", []string{"role $caller may create schemas in database $database"}},
		{"grant temporary on database $database to $caller", []string{"role $caller may create temporary tables in database $database"}},
		{"grant truncate on app.post to $caller", []string{"role $caller may truncate app.post"}},
		{"grant update on related.post to $caller", []string{"role $caller may update related.post"}},
		{"grant references (title) on app.post to $caller", []string{"role $caller may references app.post"}},
		{"grant insert (title) on related.post to $caller", []string{"role $caller may insert related.post"}},
		{"create table functions.cache (); grant select on functions.cache to $caller", []string{"role $caller may select functions.cache"}},
		{"grant $other to $caller; grant truncate on app.post to $other", []string{
			"role $caller may truncate app.post",
			"role $other ($caller is a member of it) adds rights to actions that no schema gives",
			"role $other ($caller is a member of it) may truncate app.post",
		}},
		{"grant pg_read_all_data to $caller; create table functions.cache ()", []string{
			"role $caller may select functions.cache",
			"role pg_read_all_data ($caller is a member of it) adds rights to actions that no schema gives",
			"role pg_read_all_data ($caller is a member of it) may select functions.cache",
		}},
		{"grant $other to $caller", []string{"role $other ($caller is a member of it) adds rights to actions that no schema gives"}},

		// The served objects.
		{"alter table app.post disable row level security", []string{"table app.post has no row security"}},
		{"alter table app.post disable row level security, force row level security", []string{"table app.post has no row security"}},
		{"create table app.draft (id text)", []string{"table app.draft has no row security"}},
		{"alter function api.list_posts(jsonb, jsonb) security invoker", []string{"function api.list_posts(jsonb,jsonb) is not security definer"}},
		{"alter function api.list_posts(jsonb, jsonb) owner to $owner", []string{
			"function api.list_posts(jsonb,jsonb) belongs to $owner, which is not a role that actions run as",
		}},
		{"alter function api.list_posts(jsonb, jsonb) reset search_path", []string{
			"function api.list_posts(jsonb,jsonb) does not pin its search path to pg_catalog, pg_temp",
		}},
		{"alter function api.list_posts(jsonb, jsonb) set search_path = app, pg_catalog, pg_temp", []string{
			"function api.list_posts(jsonb,jsonb) does not pin its search path to pg_catalog, pg_temp",
		}},
		{"grant execute on function api.list_posts(jsonb, jsonb) to $other", []string{"function api.list_posts(jsonb,jsonb) may be executed by $other"}},
		{"grant execute on function api.list_posts(jsonb, jsonb) to public", []string{"function api.list_posts(jsonb,jsonb) may be executed by everybody"}},

		// Rights of everybody.
		{"grant usage on schema api to public", []string{"schema api is granted to everybody (usage)"}},
		{"grant execute on function functions.count_posts() to public", []string{
			"function functions.count_posts() is granted to everybody (execute)",
		}},
		{"create function functions.fresh() returns int language sql as 'select 1'", []string{
			"function functions.fresh() is granted to everybody (execute)", // not the owner made it, so no default protects it
		}},
		{"grant execute on function platform.enter(text, jsonb) to public", []string{
			"function platform.enter(text,jsonb) is granted to everybody (execute)",
		}},
		{"grant select (title) on app.post to public", []string{
			"column app.post.title is granted to everybody (select)",
			"role $login may select app.post",
		}},
		{"grant trigger on related.post to public", append(
			ofEach("role %s may trigger related.post", append(role.Owners(), "$login")),
			"table related.post is granted to everybody (trigger)",
		)},
		{"create sequence app.s; grant usage on sequence app.s to public", []string{"sequence app.s is granted to everybody (usage)"}},
	}
	for _, caller := range role.OfActions() {
		names := strings.NewReplacer("$caller", caller, "$login", login, "$owner", owner, "$other", login+"_other", "$database", db.Name())
		for _, test := range tests {
			if !strings.Contains(test.fault, "$caller") && caller != role.Caller {
				continue // it is about no role that actions run as
			}
			exec(t, superuser, names.Replace("begin; "+test.fault+"; set local role $login"))
			got := values[string](t, superuser, "select * from platform.serving_faults()")
			exec(t, superuser, "rollback")

			var want []string
			for _, sentence := range test.want {
				want = append(want, names.Replace(sentence))
			}
			// A right that a role shares with others is reported for each of them, which only clutters the table.
			// A fault of the member itself stays.
			got = slices.DeleteFunc(got, func(sentence string) bool {
				return strings.Contains(sentence, "role sternpost_server (") && !slices.Contains(want, sentence) ||
					strings.Contains(sentence, "role "+login+"_other (") && !slices.Contains(want, sentence)
			})
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s\n got %s\nwant %s", names.Replace(test.fault), strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		}
	}
}

// ofEach writes a sentence of each of some roles.
func ofEach(sentence string, roles []string) []string {
	var list []string
	for _, name := range roles {
		list = append(list, fmt.Sprintf(sentence, name))
	}
	return list
}
