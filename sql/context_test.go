package sql_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// withIdentity makes the view that generated SQL defines, with one identity.
func withIdentity(t *testing.T, owner *pgx.Conn) {
	t.Helper()
	exec(t, owner, `
		create table app.identity (id text collate "C" primary key);
		create view related.identity as select * from app.identity;
		insert into app.identity values ('ada');
	`)
}

func TestEnter(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	withIdentity(t, owner)

	const readers = `
		select array[
			coalesce(platform.action(), 'null'), coalesce(platform.identity_id(), 'null'), platform.time_zone(),
			coalesce(platform.request_id(), 'null'), coalesce(platform.header('x_tenant'), 'null'), platform.environment('REGION'), platform.secret('KEY')
		]`
	// Planned again each time: the action in a kept plan does not matter here.
	const anew = pgx.QueryExecModeExec
	for _, test := range []struct {
		name    string
		context string
		want    [7]string
	}{
		{"nothing known", `{}`, [7]string{"listPosts", "null", "UTC", "null", "null", "", ""}},
		{"everything", `{
			"identityId": "ada", "timeZone": "Europe/Berlin", "requestId": "r1",
			"headers": {"x_tenant": "acme, inc"}, "env": {"REGION": "eu"}, "secrets": {"KEY": "s3cret"}
		}`, [7]string{"listPosts", "ada", "Europe/Berlin", "r1", "acme, inc", "eu", "s3cret"}},
		{"nulls", `{"identityId": null, "timeZone": null, "requestId": null, "headers": {"x_tenant": null}}`,
			[7]string{"listPosts", "null", "UTC", "null", "null", "", ""}},
		{"empty header", `{"headers": {"x_tenant": ""}}`, [7]string{"listPosts", "null", "UTC", "null", "", "", ""}},
		{"empty zone", `{"timeZone": ""}`, [7]string{"listPosts", "null", "UTC", "null", "null", "", ""}},
		{"quotes", `{"requestId": "a'b\"c\\", "headers": {"x_tenant": "a'b\"c\\"}}`,
			[7]string{"listPosts", "null", "UTC", `a'b"c\`, `a'b"c\`, "", ""}},
	} {
		tx, err := owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "select platform.enter('listPosts', $1)", test.context); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := [7]string(value[[]string](t, owner, readers, anew)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The settings of a call end with the transaction.
		if got, want := [7]string(value[[]string](t, owner, readers, anew)), [7]string{"null", "null", "UTC", "null", "null", "", ""}; got != want {
			t.Errorf("%s: after the transaction: got %q, want %q", test.name, got, want)
		}
	}
}

// A permission never depends on settings that an earlier call of the same transaction has left.
func TestEnterLeavesNobodyOfTheCallBefore(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	withIdentity(t, owner)
	exec(t, owner, `
		set sternpost.identity_id = 'forged';
		begin;
		select platform.enter('one', '{"identityId": "ada", "timeZone": "Europe/Berlin", "requestId": "r1"}');
		select platform.enter('two', '{}');
	`)
	got := value[[]string](t, owner, "select array[platform.action(), coalesce(platform.identity_id(), 'null')]")
	if want := [2]string{"two", "null"}; [2]string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	withIdentity(t, owner)

	for _, test := range []struct {
		statement string
		code      string // "" means that it returns
		message   string
		detail    string
	}{
		{`select platform.enter('get', '{"identityId": "ada"}')`, "", "", ""},
		{`select platform.enter('get', '{"identityId": "bob"}')`, "SP401", "the identity does not exist", ""},
		{`select platform.enter('get', '{"identityId": ""}')`, "SP401", "the identity does not exist", ""},
		{`select platform.refuse_caller()`, "SP401", "the identity does not exist", ""},
		{`select set_config('sternpost.identity_id', null, true), platform.require_caller()`, "", "", ""},
		{`select set_config('sternpost.identity_id', 'ada', true), platform.require_caller()`, "", "", ""},
		{`select set_config('sternpost.identity_id', 'bob', true), platform.require_caller()`, "SP401", "the identity does not exist", ""},
		{`select set_config('sternpost.identity_id', 'bob', true), platform.refuse()`, "SP401", "the identity does not exist", ""},
		{`select set_config('sternpost.identity_id', 'bob', true), platform.refuse_or_miss(false)`, "SP401", "the identity does not exist", ""},
		{`select set_config('sternpost.identity_id', 'bob', true), platform.refuse_or_nothing(false)`, "SP401", "the identity does not exist", ""},
		{`select set_config('sternpost.identity_id', 'bob', true), platform.require_valid('{a}')`, "SP401", "the identity does not exist", ""},
		{`select platform.refuse()`, "SP403", "not authorized to access", ""},
		{`select platform.refuse_or_miss(true)`, "SP403", "not authorized to access", ""},
		{`select platform.refuse_or_miss(false)`, "SP404", "record not found", ""},
		{`select platform.miss()`, "SP404", "record not found", ""},
		{`select platform.refuse_or_miss(null)`, "SP404", "record not found", ""},
		{`select platform.refuse_or_nothing(true)`, "SP403", "not authorized to access", ""},
		{`select platform.refuse_or_nothing(false)`, "", "", ""},
		{`select platform.refuse_or_nothing(null)`, "", "", ""},
		{`select set_config('sternpost.identity_id', 'ada', true), platform.refuse_or_nothing(false)`, "", "", ""},
		{`select platform.require_valid('{}')`, "", "", ""},
		{`select platform.require_valid(null)`, "", "", ""},
		{`select platform.require_valid(array[null, null]::text[])`, "", "", ""},
		{
			`select platform.require_valid(array[null, 'b "quoted"', null, 'a'])`, "SP400", "one or more validation rules failed",
			`{"errors" : [{"code":"validate","error":"b \"quoted\""}, {"code":"validate","error":"a"}]}`,
		},
	} {
		_, err := owner.Exec(t.Context(), test.statement)
		var pgErr *pgconn.PgError
		switch {
		case test.code == "":
			if err != nil {
				t.Errorf("%s: %v", test.statement, err)
			}
		case !errors.As(err, &pgErr):
			t.Errorf("%s: %v, want SQLSTATE %s", test.statement, err, test.code)
		case pgErr.Code != test.code || pgErr.Message != test.message || pgErr.Detail != test.detail:
			t.Errorf("%s: got %s %q %s, want %s %q %s",
				test.statement, pgErr.Code, pgErr.Message, pgErr.Detail, test.code, test.message, test.detail)
		}
	}
}
