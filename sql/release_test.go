package sql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const installRelease = `select platform.install_release('a.stern', '{"b": 1, "a": 2, "b": 3}', '{}')`

func TestInstallRelease(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	owner, server := db.Owner(t), db.Server(t)
	exec(t, server, "listen sternpost_release")

	if got := value[int64](t, owner, installRelease); got != 1 {
		t.Errorf("the first release has number %d, want 1", got)
	}
	// A release that is rolled back leaves no gap.
	exec(t, owner, "begin;"+installRelease+"; rollback")
	if got := value[int64](t, owner, installRelease); got != 2 {
		t.Errorf("the second release has number %d, want 2", got)
	}
	for _, want := range []string{"1", "2"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		notification, err := server.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if notification.Payload != want {
			t.Errorf("the server was told of %q, want %q", notification.Payload, want)
		}
	}

	// The order of members is kept, and a server does not see the members that it does not need.
	if got, want := value[string](t, server, "select manifest::text from platform.release where number = 2"), `{"b": 1, "a": 2, "b": 3}`; got != want {
		t.Errorf("manifest = %s, want %s", got, want)
	}
	for _, statement := range []string{
		"select description from platform.release",
		"insert into platform.release values (3, '', '{}', '{}')",
		"delete from platform.release",
		installRelease,
	} {
		_, err := server.Exec(t.Context(), statement)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
			t.Errorf("the server may %s (%v)", statement, err)
		}
	}
}

func TestInstallReleasesAtTheSameTime(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	const installers, each = 4, 10
	results := make(chan error, installers)
	for range installers {
		owner := db.Owner(t)
		go func() {
			var err error
			for range each {
				_, e := owner.Exec(t.Context(), installRelease)
				err = errors.Join(err, e)
			}
			results <- err
		}()
	}
	for range installers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	var want []int64
	for n := range int64(installers * each) {
		want = append(want, n+1)
	}
	if got := values[int64](t, db.Owner(t), "select number from platform.release order by number"); !slices.Equal(got, want) {
		t.Errorf("numbers %v, want 1 to %d", got, installers*each)
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, c := range []struct {
		base, patch, want string
	}{
		{`{}`, `{}`, `{}`},
		{`{"b":1,"a":"x"}`, `{"c":[1],"b":2}`, `{"c":[1],"b":2,"a":"x"}`},
		{`{"a":1,"b":2}`, `{"a":null,"c":null}`, `{"b":2}`},
		{`{"a":1}`, `{"a":null}`, `{}`},
		{`{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":null,"e":{"f":3}}}}`, `{"a":{"b":{"d":2,"e":{"f":3}}}}`},
		{`{"a":[{"name":"x"},{"name":"y","of":1}]}`, `{"a":{"z":{"name":"z"},"y":{"of":2}}}`, `{"a":[{"name":"x"},{"name":"z"},{"name":"y","of":2}]}`},
		{`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{`{"a":1,"b":2,"c":3,"d":4}`, `{"c":3,"a":1,"d":4}`, `{"c":3,"a":1,"b":2,"d":4}`},
		{`{"a":1,"b":[{"name":"x"}]}`, "{\n\"b\":{\n\"y\":{}\n}\n}", "{\n\"a\":1,\n\"b\":[\n{\"name\":\"x\"},\n{}\n]\n}"},
	} {
		if got := value[string](t, owner, "select platform.merged($1, $2)", c.base, c.patch); got != c.want {
			t.Errorf("merged(%s, %s) = %s, want %s", c.base, c.patch, got, c.want)
		}
	}
}

func TestInstallReleaseChange(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	digest := func(manifest, description string) string {
		return value[string](t, owner, "select platform.release_digest($1, $2)", manifest, description)
	}
	const change = "select platform.install_release_change('b.stern', $1, $2, '{\"a\":3}', '{}')"
	before, after := digest(`{"a": 1}`, `{}`), digest(`{"a":3}`, `{}`)

	refused := func(hint string, args ...any) {
		t.Helper()
		_, err := owner.Exec(t.Context(), change, args...)
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != "55000" {
			t.Errorf("%s: %v", hint, err)
		}
	}
	refused("no release", before, after)
	exec(t, owner, `select platform.install_release('a.stern', '{"a": 1}', '{}')`)
	refused("another release before", after, after)
	refused("another release after", before, before)
	if got := value[int64](t, owner, change, before, after); got != 2 {
		t.Errorf("the release has number %d, want 2", got)
	}
	if got := value[string](t, owner, "select source || manifest || description from platform.release where number = 2"); got != `b.stern{"a":3}{}` {
		t.Errorf("the release is %s", got)
	}
	refused("the same again", before, after)
}

func TestDrift(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	drift := func() []string {
		return values[string](t, owner, "select object || ' ' || change from platform.drift()")
	}
	if got := drift(); len(got) > 0 {
		t.Errorf("without a release: %q", got)
	}
	exec(t, owner, `
		create table app.post (id text primary key, title text, gone text);
		alter table app.post enable row level security;
		create policy post_select on app.post for select to sternpost_caller using (title = 'a');
		create index post_title_idx on app.post (title);
	`+installRelease+`;`+installRelease)
	if got := value[int](t, owner, "select count(*) from platform.release where catalog is not null"); got != 1 {
		t.Errorf("%d catalogs are kept, want that of the newest release", got)
	}
	exec(t, owner, "alter table app.post add column more text; grant select on app.post to current_user; alter table app.post drop column more")
	if got := drift(); len(got) > 0 {
		t.Errorf("nothing has changed, and it says %q", got)
	}
	exec(t, owner, `
		alter table app.post rename column title to headline;
		alter table app.post drop column gone;
		drop policy post_select on app.post;
		alter table app.post disable row level security;
		grant select on app.post to public;
		create function api.extra() returns int language sql as 'select 1';
		drop function platform.merged(json, json);
	`)
	got := drift()
	for _, want := range []string{
		"column app.post.title is gone", "column app.post.headline was made by hand", "column app.post.gone is gone",
		"policy post_select on app.post is gone", "table app.post was changed by hand", "index app.post_title_idx was changed by hand",
		"function api.extra() was made by hand", "function platform.merged(json,json) is gone",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("it does not say %q: %q", want, got)
		}
	}
	if len(got) != 8 {
		t.Errorf("it says %q", got)
	}
	exec(t, owner, installRelease)
	if got := drift(); len(got) > 0 {
		t.Errorf("after another release: %q", got)
	}
}

// TestDriftAfterRestore replaces each object by what Postgres reads from a dump of it. Postgres joins conditions that it
// made of one, and has joined no others.
func TestDriftAfterRestore(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	exec(t, owner, `
		create table app.post (id text primary key, a int, b int, at timestamptz default '2026-01-02T03:04:05Z');
		alter table app.post enable row level security;
		create function app.tg_post() returns trigger language plpgsql as 'begin return new; end';
	`)
	objects := []struct{ made, drop, restored, other string }{
		{
			"alter table app.post add constraint c check (a between 1 and 3 and b > 0)", "alter table app.post drop constraint c",
			"alter table app.post add constraint c check (a >= 1 and a <= 3 and b > 0)", "alter table app.post add constraint c check (a >= 1 and (a <= 3 or b > 0))",
		},
		{
			"create policy p on app.post using (row(a, b, id) is distinct from row(b, a, id))", "drop policy p on app.post",
			"create policy p on app.post using ((a is distinct from b) or (b is distinct from a) or (id is distinct from id))",
			"create policy p on app.post using ((a is distinct from b) or (b is distinct from a) and (id is distinct from id))",
		},
		{
			"create index i on app.post (a) where a between 1 and 3 and b > 0", "drop index app.i",
			"create index i on app.post (a) where a >= 1 and a <= 3 and b > 0", "create index i on app.post (a) where a >= 1 and not (a <= 3 and b > 0)",
		},
		{
			"create trigger g before update on app.post for each row when (row(old.id, old.a, old.b) is distinct from row(new.id, new.a, new.b)) execute function app.tg_post()",
			"drop trigger g on app.post",
			"create trigger g before update on app.post for each row when (old.id is distinct from new.id or old.a is distinct from new.a or old.b is distinct from new.b) execute function app.tg_post()",
			"create trigger g before update on app.post for each row when (old.id is distinct from new.id or old.a is distinct from new.a and old.b is distinct from new.b) execute function app.tg_post()",
		},
		{
			"create view related.post as select id, a from app.post where a between 1 and 3 and b > 0", "drop view related.post",
			"create view related.post as select post.id, post.a from app.post where a >= 1 and a <= 3 and b > 0",
			"create view related.post as select id, a from app.post where a >= 1 and (a <= 3 or b > 0)",
		},
		{
			"alter table app.post add column d boolean generated always as (a between 1 and 3 and b > 0) stored", "alter table app.post drop column d",
			"alter table app.post add column d boolean generated always as (a >= 1 and a <= 3 and b > 0) stored",
			"alter table app.post add column d boolean generated always as (a >= 1 and (a <= 3 or b > 0)) stored",
		},
		{
			"create function functions.f(a int, b int) returns boolean language sql begin atomic select a between 1 and 3 and b > 0; end", "drop function functions.f",
			"create function functions.f(a int, b int) returns boolean language sql begin atomic select a >= 1 and a <= 3 and b > 0; end",
			"create function functions.f(a int, b int) returns boolean language sql begin atomic select a >= 1 and a <= 3 or b > 0; end",
		},
	}
	for _, o := range objects {
		exec(t, owner, o.made)
	}
	exec(t, owner, installRelease+`; set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set intervalstyle = 'iso_8601'`)
	drift := func() []string {
		return values[string](t, owner, "select object || ' ' || change from platform.drift() union all select * from platform.serving_faults() where serving_faults ~ 'policy p'")
	}
	for _, o := range objects {
		exec(t, owner, o.drop+"; "+o.restored)
		if got := drift(); len(got) > 0 {
			t.Errorf("%s\nafter a restore: %q", o.made, got)
		}
		exec(t, owner, o.drop+"; "+o.other)
		if got := drift(); len(got) == 0 {
			t.Errorf("%s\nis not a change", o.other)
		}
		exec(t, owner, o.drop+"; "+o.made)
	}
	// PostgreSQL 15 prints the name of the table before the columns, and later versions do not.
	want := "definition , a, app.post\n  WHERE a >= 1 AND a <= 3 AND b > 0, id"
	if got := value[string](t, owner, "select fact from platform.catalog() where object = 'view related.post'"); !strings.Contains(got, want) {
		t.Errorf("the view is %q, want %q", got, want)
	}
}
