package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// unreached are the limits of counts: high enough that nothing waits.
const unreached = `100, 200, 100, '15 minutes'`

// ask asks for a new password, and returns the seconds to wait.
func ask(t *testing.T, conn *pgx.Conn, email, token, limits string) int32 {
	t.Helper()
	return value[int32](t, conn, `select platform.auth_ask_reset($1, 'https://api', '192.0.2.1', `+limits+`, $2, '1 hour', 'mail')`, email, hash(token))
}

// accountStep is a statement of a server, with its answer, or of the world around it.
type accountStep struct {
	does string
	sql  string
	with []any
	want string // empty for a statement without answer
}

func reset(does, token, want string) accountStep {
	return accountStep{does, `select platform.auth_reset($1, 'new hash', '192.0.2.1')::text`, []any{hash(token)}, want}
}

func verify(does, token, want string) accountStep {
	return accountStep{does, `select platform.auth_verify($1, null, null)`, []any{hash(token)}, want}
}

func asked(email, token string) accountStep {
	return accountStep{"ask for a new password", `select platform.auth_ask_reset($1, 'https://api', '192.0.2.1', ` + unreached + `, $2, '1 hour', 'mail')::text`,
		[]any{email, hash(token)}, "0"}
}

func verification(identity, email, token string) accountStep {
	return accountStep{"ask for a verification", `select platform.auth_ask_verification($1, $2, '192.0.2.1', ` + unreached + `, $3, '1 day', 'mail')::text`,
		[]any{identity, email, hash(token)}, "0"}
}

func change(password, email, token, want string) accountStep {
	return accountStep{"ask for another address", `select concat_ws(' ', wait, is_asked)
		from platform.auth_ask_change('ada', 'ada@example.com', $1, $2, '192.0.2.1', ` + unreached + `, $3, '1 day', 'mail', 'notice')`,
		[]any{password, email, hash(token)}, want}
}

func is(does, query, want string) accountStep { return accountStep{does, query, nil, want} }

func do(does, statement string) accountStep { return accountStep{does, statement, nil, ""} }

const (
	ada      = `select concat_ws(', ', email, email_verified, password) from app.identity where id = 'ada'`
	families = `select string_agg(encode(key, 'escape') || case when revoked_at is null then ' holds' else ' ended' end, ', ' order by id) from platform.auth_family`
	waiting  = `select coalesce(string_agg(concat_ws(' ', name, coalesce(key, 'nobody'), encode(content, 'escape')), ', ' order by id), 'none') from platform.task`
	proofs   = `select count(*)::text from platform.auth_proof`

	// over are the tokens that are over of ada's sign-ins a, b and d and of one that is not known, issued so many seconds after now.
	over = `
		select coalesce(string_agg(at || ' ' || name, ', ' order by at, name), 'none')
		from unnest('{-3600,0,30,120}'::integer[]) as at
		cross join unnest('{a,b,d,unknown}'::text[]) as name
		cross join platform.auth_account('ada',
			floor(extract(epoch from now()))::bigint + at || ' ' || translate(encode(sha256(repeat(name, 32)::bytea), 'base64'), '+/=', '-_')) as account
		where account.is_over and (name <> 'd' or exists (select from platform.auth_family where key = repeat('d', 32)::bytea))`
)

// TestAccounts runs through the life of accounts, and through attacks on them.
func TestAccounts(t *testing.T) {
	t.Parallel()
	begin := do("two sign-ins", `select platform.auth_start('ada', sha256('a'), repeat('a', 32)::bytea, '1 day'),
		platform.auth_start('ada', sha256('b'), repeat('b', 32)::bytea, '1 day'), platform.auth_start('imported', sha256('c'), repeat('c', 32)::bytea, '1 day')`)
	const a, b, c = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccccccccccccc"
	for _, test := range []struct {
		name  string
		steps []accountStep
	}{
		{"a new password", []accountStep{
			begin,
			do("a browser is coming back", `insert into platform.auth_code (hash, identity_id, is_identity_new, target, is_dynamic, expires_at)
				values (sha256('code'), 'ada', false, 'https://app', false, now() + interval '1 minute')`),
			asked("ada@example.com", "t"),
			is("a mail waits", waiting, "resetPassword ada@example.com mail"),
			is("the token would do", `select platform.auth_is_proof(sha256('t'))::text`, "true"),
			is("nothing has changed", ada, "ada@example.com, f, hash of ada"),
			reset("the token", "t", "true"),
			is("the password is new, and the address proven", ada, "ada@example.com, t, new hash"),
			is("all of its sign-ins have ended", families, a+" ended, "+b+" ended, "+c+" holds"),
			is("the browser comes too late", `select outcome from platform.auth_signin_redeem(sha256('code'), null, null, null, sha256('r'), repeat('r', 32)::bytea, '1 day')`, "refused"),
			is("the request counts as no password", `select string_agg(kind || coalesce(account, ''), ' ') from platform.auth_failure`, "token"),
			reset("a replay", "t", "false"),
		}},
		{"a new password voids all other tokens", []accountStep{
			asked("ada@example.com", "t"), asked("ada@example.com", "u"),
			verification("ada", "ada@example.com", "v"),
			change("hash of ada", "mallory@example.com", "w", "0 t"),
			reset("the second token", "u", "true"),
			reset("the first", "t", "false"),
			verify("to prove the address", "v", "refused"),
			verify("to change it, which who knew the password asked for", "w", "refused"),
			is("the address stays", ada, "ada@example.com, t, new hash"),
		}},
		{"a new password forgets where somebody was signed in from", []accountStep{
			do("signed in from there", `select platform.auth_remember('ada', 'ada@example.com', '192.0.2.7')`),
			asked("ada@example.com", "t"), reset("the token", "t", "true"),
			is("forgotten", `select count(*)::text from platform.auth_known_address`, "0"),
		}},
		{"nobody's address", []accountStep{
			asked("nobody@example.com", "t"),
			is("a mail for nobody", waiting, "resetPassword nobody mail"),
			is("the token would not do", `select platform.auth_is_proof(sha256('t'))::text`, "false"),
			reset("the token", "t", "false"),
			do("an identity gets the address", `insert into app.identity (id, email, issuer, password) values ('new', 'nobody@example.com', 'https://api', 'h')`),
			reset("the token", "t", "false"),
			is("nobody sends it", `select platform.task_take('mail', null, '1 minute', null, 1)::text`, "[]"),
			do("a day passes", `update platform.task set failed_at = failed_at - interval '25 hours'`),
			is("it is swept", `select platform.task_sweep(10)::text`, "false"),
			is("it is gone", waiting, "none"),
		}},
		{"addresses that sign in in other ways", []accountStep{
			asked("imported@example.com", "t"), asked("provided@example.com", "u"),
			is("signed up at another address of the service, or without password", waiting, "resetPassword imported@example.com mail, resetPassword nobody mail"),
			reset("", "t", "true"), reset("", "u", "false"),
		}},
		{"a provider's identity of the same address is another one", []accountStep{
			do("it signs in", `select platform.auth_identity('https://provider', 'sub', '{"email": "ada@example.com", "email_verified": true}', true, null, 100, '15 minutes')`),
			is("two identities", `select string_agg(concat_ws(' ', issuer, email_verified, password is null), ', ' order by issuer) from app.identity where email = 'ada@example.com'`,
				"https://api f f, https://provider t t"),
			asked("ada@example.com", "t"), reset("the token", "t", "true"),
			is("the other has no password", `select string_agg(concat_ws(' ', issuer, password), ', ' order by issuer) from app.identity where email = 'ada@example.com'`,
				"https://api new hash, https://provider"),
		}},
		{"mails of a kind to one recipient", []accountStep{
			asked("ada@example.com", "t"), asked("ada@example.com", "u"), asked("ada@example.com", "v"), asked("ada@example.com", "w"),
			asked("imported@example.com", "x"),
			verification("ada", "ada@example.com", "a"), verification("ada", "ada@example.com", "b"), verification("ada", "ada@example.com", "c"), verification("ada", "ada@example.com", "d"),
			change("hash of ada", "new@example.com", "e", "0 t"), change("hash of ada", "new@example.com", "f", "0 t"),
			change("hash of ada", "new@example.com", "g", "0 t"), change("hash of ada", "new@example.com", "h", "0 t"),
			is("three of each", `select string_agg(concat_ws(' ', name, recipient, count), ', ' order by name, recipient) from (select name, key as recipient, count(*) from platform.task group by 1, 2) as mails`,
				"changeEmail new@example.com 3, resetPassword ada@example.com 3, resetPassword imported@example.com 1, resetPassword 1, verifyEmail ada@example.com 3"),
			is("no password has failed", `select count(*)::text from platform.auth_failure where kind = 'password' or account is not null`, "0"),
			reset("the fourth token", "w", "false"),
			do("an hour passes", `update platform.task set asked_at = asked_at - interval '1 hour'`),
			asked("ada@example.com", "y"),
			is("another one", `select count(*)::text from platform.task where name = 'resetPassword' and key = 'ada@example.com'`, "4"),
		}},
		{"too old", []accountStep{
			asked("ada@example.com", "t"),
			do("an hour passes", `update platform.auth_proof set ends_at = ends_at - interval '1 hour'`),
			is("the token would not do", `select platform.auth_is_proof(sha256('t'))::text`, "false"),
			reset("the token", "t", "false"),
			is("swept", `select platform.auth_sweep('15 minutes', 10)::text`, "false"),
			is("gone", proofs, "0"),
		}},
		{"for another purpose", []accountStep{
			asked("ada@example.com", "t"), verification("ada", "ada@example.com", "v"),
			change("hash of ada", "new@example.com", "w", "0 t"),
			verify("to set a password", "t", "refused"),
			reset("to prove the address", "v", "false"), reset("to change it", "w", "false"),
			is("none is used up", proofs, "3"),
			verify("an unknown one", "x", "refused"),
		}},
		{"bound to the address", []accountStep{
			asked("ada@example.com", "t"), verification("ada", "ada@example.com", "v"), change("hash of ada", "new@example.com", "w", "0 t"),
			do("the address changes otherwise", `update app.identity set email = 'other@example.com' where id = 'ada'`),
			reset("", "t", "false"), verify("", "v", "refused"), verify("", "w", "refused"),
			is("nothing is proven", ada, "other@example.com, f, hash of ada"),
		}},
		{"proof of the address", []accountStep{
			verification("ada", "ada@example.com", "v"), verification("ada", "ada@example.com", "w"),
			verify("the token", "v", "ok"),
			is("proven", ada, "ada@example.com, t, hash of ada"),
			verify("a replay", "v", "refused"), verify("the other", "w", "refused"),
			verification("ada", "ada@example.com", "x"),
			is("once proven, nothing is sent", `select count(*)::text from platform.task`, "2"),
			verification("imported", "ada@example.com", "y"),
			is("nor to somebody else's address", `select count(*)::text from platform.task`, "2"),
		}},
		{"proof by a password", []accountStep{
			begin,
			verification("ada", "ada@example.com", "v"), verification("ada", "ada@example.com", "w"),
			is("whose account", `select concat_ws(' ', identity_id, email, created_at is not null) from platform.auth_proof_find(sha256('v'))`, "ada ada@example.com t"),
			is("nobody's", `select concat_ws(' ', 'none', identity_id, email) from platform.auth_proof_find(sha256('x'))`, "none"),
			is("one of before", `select platform.auth_verify(sha256('v'), 'another hash', null)`, "refused"),
			is("the right one", `select platform.auth_verify(sha256('w'), 'hash of ada', null)`, "ok"),
			is("all of its sign-ins have ended", families, a+" ended, "+b+" ended, "+c+" holds"),
		}},
		{"somebody else has signed up with an address", []accountStep{
			begin,
			verification("ada", "ada@example.com", "v"), change("hash of ada", "new@example.com", "w", "0 t"),
			is("its owner says so", `select platform.auth_disown(sha256('v'))::text`, "true"),
			is("no address and no password", `select (email is null and password is null)::text from app.identity where id = 'ada'`, "true"),
			is("no sign-in", families, a+" ended, "+b+" ended, "+c+" holds"),
			is("no token", proofs, "0"),
			is("once", `select platform.auth_disown(sha256('v'))::text`, "false"),
			is("the address is free", `select concat_ws(' ', wait, is_created) from platform.auth_password_create('ada@example.com', 'https://api', 'h', null, null, '1 day', '192.0.2.1', `+unreached+`, null, null, null)`, "0 t"),
		}},
		{"somebody else wants an address", []accountStep{
			begin,
			change("hash of ada", "new@example.com", "w", "0 t"),
			is("its owner says so", `select platform.auth_disown(sha256('w'))::text`, "true"),
			is("the account stays", ada, "ada@example.com, f, hash of ada"),
			is("signed in", families, a+" holds, "+b+" holds, "+c+" holds"),
			verify("the token", "w", "refused"),
		}},
		{"access tokens", []accountStep{
			begin,
			is("before any change", over, "none"),
			is("by one of the sign-ins", `select concat_ws(' ', wait, is_changed) from platform.auth_change_password('ada', 'hash of ada', 'new hash', sha256(repeat('b', 32)::bytea), 'ada@example.com', '192.0.2.1', `+unreached+`)`, "0 t"),
			is("all but its own", over, "-3600 a, -3600 unknown, 0 a, 0 unknown, 30 a, 30 unknown"),
			is("all", `select platform.auth_sign_out('ada')::text`, "true"),
			do("another sign-in", `select platform.auth_start('ada', sha256('d'), repeat('d', 32)::bytea, '1 day')`),
			is("but the new one", over, "-3600 a, -3600 b, -3600 unknown, 0 a, 0 b, 0 unknown, 30 a, 30 b, 30 unknown"),
		}},
		{"another address", []accountStep{
			begin,
			asked("ada@example.com", "t"),
			change("another hash", "new@example.com", "w", "0 f"),
			change("hash of ada", "new@example.com", "w", "0 t"), change("hash of ada", "newer@example.com", "x", "0 t"),
			is("it is to be proven first", ada, "ada@example.com, f, hash of ada"),
			is("by one of the sign-ins", `select platform.auth_verify(sha256('w'), null, sha256(repeat('b', 32)::bytea))`, "ok"),
			is("changed, and proven", ada, "new@example.com, t, hash of ada"),
			is("the old address is told", waiting,
				"resetPassword ada@example.com mail, changeEmail new@example.com mail, changeEmail newer@example.com mail, emailChanged ada@example.com notice"),
			verify("a replay", "w", "refused"), verify("the other", "x", "refused"), reset("sent to the old address", "t", "false"),
			is("the other one ends", families, a+" ended, "+b+" holds, "+c+" holds"),
		}},
		{"an address that is taken meanwhile", []accountStep{
			change("hash of ada", "new@example.com", "w", "0 t"),
			do("somebody else signs up", `insert into app.identity (id, email, issuer, password) values ('new', 'new@example.com', 'https://api', 'h')`),
			verify("the token", "w", "taken"),
			is("nothing has changed", ada, "ada@example.com, f, hash of ada"),
			is("nobody is told", `select count(*)::text from platform.task where name = 'emailChanged'`, "0"),
		}},
		{"another password", []accountStep{
			begin,
			asked("ada@example.com", "t"), change("hash of ada", "mallory@example.com", "w", "0 t"), verification("ada", "ada@example.com", "v"),
			is("by one of the sign-ins", `select concat_ws(' ', wait, is_changed) from platform.auth_change_password('ada', 'hash of ada', 'new hash', sha256(repeat('b', 32)::bytea), 'ada@example.com', '192.0.2.1', `+unreached+`)`, "0 t"),
			is("the other one ends", families, a+" ended, "+b+" holds, "+c+" holds"),
			is("with what it knew", `select concat_ws(' ', wait, is_changed) from platform.auth_change_password('ada', 'hash of ada', 'newer hash', null, 'ada@example.com', '192.0.2.1', `+unreached+`)`, "0 f"),
			is("changed once", ada, "ada@example.com, f, new hash"),
			reset("by a token of before", "t", "false"), verify("by another", "w", "refused"),
			verify("the address may still be proven", "v", "ok"),
			is("by something that is of no sign-in", `select concat_ws(' ', wait, is_changed) from platform.auth_change_password('ada', 'new hash', 'newer hash', null, 'ada@example.com', '192.0.2.1', `+unreached+`)`, "0 t"),
			is("all end", families, a+" ended, "+b+" ended, "+c+" holds"),
		}},
		{"too many tries of a password do not tell that one was right", []accountStep{
			do("ten failures", `select platform.auth_fail('ada@example.com', '192.0.2.1', `+unreached+`) from generate_series(1, 10)`),
			is("right, but too late", `select concat_ws(' ', wait > 0, is_changed) from platform.auth_change_password('ada', 'hash of ada', 'new hash', null, 'ada@example.com', '192.0.2.1', 10, 200, 100, '15 minutes')`, "t f"),
			is("nothing has changed", ada, "ada@example.com, f, hash of ada"),
		}},
		{"out everywhere", []accountStep{
			begin,
			is("", `select platform.auth_sign_out('ada')::text`, "true"),
			is("", families, a+" ended, "+b+" ended, "+c+" holds"),
			is("nobody", `select platform.auth_sign_out('nobody')::text`, "false"),
		}},
		{"an identity that is deleted", []accountStep{
			do("as generated", `create trigger _100_sign_out after delete on app.identity for each row execute function platform.tg_sign_out()`),
			asked("ada@example.com", "t"), change("hash of ada", "new@example.com", "w", "0 t"),
			is("a key", `select (id is not null)::text from platform.auth_key_create('ada', sha256('k'), now() + interval '1 day')`, "true"),
			do("deleted", `delete from app.identity where id = 'ada'`),
			do("another of the same id", `insert into app.identity (id, email, issuer, password) values ('ada', 'ada@example.com', 'https://api', 'h')`),
			reset("", "t", "false"), verify("", "w", "refused"),
			is("", `select count(*)::text from platform.auth_key_find(sha256('k')) where identity_id is not null`, "0"),
		}},
		{"sign-up with a proof", []accountStep{
			is("signed in at once", `select concat_ws(' ', wait, is_created) from platform.auth_password_create('new@example.com', 'https://api', 'h', sha256('f'), repeat('f', 32)::bytea, '1 day', '192.0.2.1', `+unreached+`, sha256('v'), '1 day', 'mail')`, "0 t"),
			is("not before it is proven", `select concat_ws(' ', wait, is_created) from platform.auth_password_create('newer@example.com', 'https://api', 'h', null, null, '1 day', '192.0.2.1', `+unreached+`, sha256('w'), '1 day', 'mail')`, "0 t"),
			is("taken", `select concat_ws(' ', wait, is_created) from platform.auth_password_create('newer@example.com', 'https://api', 'h', null, null, '1 day', '192.0.2.1', `+unreached+`, sha256('x'), '1 day', 'mail')`, "0 f"),
			is("two mails", waiting, "verifyEmail new@example.com mail, verifyEmail newer@example.com mail"),
			is("one sign-in", families, strings.Repeat("f", 32)+" holds"),
			verify("", "w", "ok"),
			is("", `select string_agg(email || ' ' || email_verified, ', ' order by email) from app.identity where email like 'new%'`, "new@example.com false, newer@example.com true"),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := newAuthDatabase(t)
			conn := db.Owner(t)
			for i, step := range test.steps {
				if step.want == "" {
					if _, err := conn.Exec(t.Context(), step.sql, step.with...); err != nil {
						t.Fatalf("step %d, %s: %v", i+1, step.does, err)
					}
					continue
				}
				if got := value[string](t, conn, step.sql, step.with...); got != step.want {
					t.Fatalf("step %d, %s:\ngot  %s\nwant %s", i+1, step.does, got, step.want)
				}
			}
		})
	}
}

// TestAskingTellsNothing counts the rows that a request for a new password reads and writes: as many for an
// unknown address.
func TestAskingTellsNothing(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	work := func(email string) (counted []string) {
		conn := db.Owner(t) // a connection counts its own work
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(t.Context()) }()
		if got := ask(t, conn, email, email, unreached); got != 0 {
			t.Fatalf("%s: got a wait of %d s", email, got)
		}
		return values[string](t, conn, `
			select concat_ws(' ', relname, n_tup_ins, n_tup_upd, n_tup_del, seq_scan, idx_scan) from pg_stat_xact_all_tables
			where schemaname in ('platform', 'app') and (n_tup_ins > 0 or seq_scan > 0 or idx_scan > 0) order by 1`)
	}
	known, unknown := work("ada@example.com"), work("eve@example.com")
	if !slices.Equal(known, unknown) {
		t.Errorf("the address of an identity: %q\nan unknown one: %q", known, unknown)
	}
	if !slices.ContainsFunc(known, func(s string) bool { return strings.HasPrefix(s, "task 1 ") }) {
		t.Errorf("no mail was counted: %q", known)
	}
}

// TestAskingIsBounded asks more often than a recipient gets mails in an hour: the answer stays the same, and the password
// can still be tried.
func TestAskingIsBounded(t *testing.T) {
	t.Parallel()
	conn := newAuthDatabase(t).Owner(t)
	for _, email := range []string{"ada@example.com", "eve@example.com"} {
		for i := range 5 {
			if got := ask(t, conn, email, fmt.Sprint(email, i), `3, 200, 100, '15 minutes'`); got != 0 {
				t.Fatalf("%s, request %d: got a wait of %d s", email, i+1, got)
			}
		}
		if got := value[int32](t, conn, `select wait from platform.auth_password($1, 'https://api', '192.0.2.1', 3, 200, 100, 100, '15 minutes')`, email); got != 0 {
			t.Errorf("%s: its password may be tried in %d s", email, got)
		}
	}
	if got := value[string](t, conn, `select string_agg(concat_ws(' ', recipient, number), ', ' order by recipient)
		from (select key as recipient, count(*) as number from platform.task group by key) as counted`); got != "ada@example.com 3, 7" {
		t.Errorf("got mails %s, want 3 to ada@example.com and 7 to nobody", got)
	}
}

// TestRacesOfTokens presents tokens at once, the same one and different ones of one identity: one of them holds.
func TestRacesOfTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, statement string
		tokens          []string
	}{
		{"the same to reset", `select platform.auth_reset($1, 'new hash', 'x')::text`, []string{"t", "t", "t", "t"}},
		{"several to reset", `select platform.auth_reset($1, 'new hash', 'x')::text`, []string{"t", "u", "t", "u"}},
		{"to reset, and to change the address", `select case when platform.auth_reset($1, 'new hash', 'x') or platform.auth_verify($1, null, null) = 'ok' then 'true' end`,
			[]string{"t", "w", "u", "w"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := newAuthDatabase(t)
			conn := db.Owner(t)
			for _, token := range []string{"t", "u"} {
				ask(t, conn, "ada@example.com", token, unreached)
			}
			c := change("hash of ada", "new@example.com", "w", "")
			if _, err := conn.Exec(t.Context(), c.sql, c.with...); err != nil {
				t.Fatal(err)
			}

			got := make([]*string, len(test.tokens))
			conns := make([]*pgx.Conn, len(test.tokens))
			for i := range conns {
				conns[i] = db.Server(t)
			}
			var all sync.WaitGroup
			for i, token := range test.tokens {
				all.Go(func() {
					if err := conns[i].QueryRow(t.Context(), test.statement, hash(token)).Scan(&got[i]); err != nil {
						t.Errorf("%s: %v", token, err)
					}
				})
			}
			all.Wait()
			held := 0
			for _, g := range got {
				if g != nil && *g == "true" {
					held++
				}
			}
			if held != 1 {
				t.Errorf("%d of %v held, want 1", held, test.tokens)
			}
		})
	}
}

// TestMailQueue lets two servers take mails: none twice, until one of them ends without saying that it was sent.
func TestMailQueue(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	owner, first, second := db.Owner(t), db.Server(t), db.Server(t)
	take := func(conn *pgx.Conn) string {
		t.Helper()
		return value[string](t, conn, `select coalesce((
			select concat_ws(' ', task->>'key', task->>'attempts', task->>'isLate') from json_array_elements(platform.task_take('mail', null, '1 minute', null, 1)) as task
		), '')`)
	}
	due := func() {
		t.Helper()
		exec(t, owner, `update platform.task set due_at = due_at - interval '1 minute'`)
	}

	tx, err := owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec(t, owner, `select platform.mail_queue('resetPassword', 'ada@example.com', 'text', '1 hour')`)
	if got := take(first); got != "" {
		t.Fatalf("before the transaction that asked for it has committed, got %q", got)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}

	if got := take(first); got != "ada@example.com 0 false" {
		t.Fatalf("got %q", got)
	}
	exec(t, owner, `update platform.task set holder = (select pid from pg_stat_activity where backend_type = 'checkpointer')`)
	if got := take(second); got != "" {
		t.Errorf("while it is being sent, another server got %q", got)
	}
	exec(t, owner, `update platform.task set holder = 0`) // the connection of the first server has ended
	if got := take(first); got != "ada@example.com 0 false" {
		t.Errorf("when the server that sends it is gone, another server got %q", got)
	}
	due() // the lease expires
	if got := take(second); got != "ada@example.com 0 false" {
		t.Errorf("when the lease has expired, another server got %q", got)
	}
	exec(t, second, `select platform.task_failed(1, 'no answer', '4 seconds')`)
	if got := take(second); got != "" {
		t.Errorf("before it is due again, got %q", got)
	}
	due()
	if got := take(second); got != "ada@example.com 1 false" {
		t.Errorf("when it is due again, got %q", got)
	}
	exec(t, second, `select platform.task_done(1, false)`)
	due()
	if got := take(second); got != "" {
		t.Errorf("after it was sent, got %q", got)
	}
}

// TestKeys makes keys and presents them.
func TestKeys(t *testing.T) {
	t.Parallel()
	conn := newAuthDatabase(t).Owner(t)
	exec(t, conn, `insert into app.identity (id, email, issuer) values ('ada2', 'ada@example.com', 'https://provider')`)
	for _, test := range []struct{ identity, want string }{
		{"ada", "made ada f"}, {"imported@example.com", "made imported f"}, {"Imported@Example.com", "made imported f"},
		{"nobody@example.com", "f"}, {"ada@example.com", "t"},
	} {
		got := value[string](t, conn, `select concat_ws(' ', case when id is not null then 'made' end, identity_id, is_several)
			from platform.auth_key_create($1, $2, now() + interval '1 day')`, test.identity, hash(test.identity))
		if got != test.want {
			t.Errorf("a key of %s: got %q, want %q", test.identity, got, test.want)
		}
	}
	find := func(key string) string {
		return value[string](t, conn, `select coalesce(identity_id || ' ' || left(is_expired::text, 1), 'unknown') from platform.auth_key_find($1)`, hash(key))
	}
	steps := []struct{ does, sql, want string }{
		{"", ``, "ada f"},
		{"it expires", `update platform.auth_key set ends_at = now() where identity_id = 'ada'`, "ada t"},
		{"it is revoked", `update platform.auth_key set revoked_at = now(), ends_at = now() + interval '1 day' where identity_id = 'ada'`, "unknown"},
	}
	for _, s := range steps {
		exec(t, conn, s.sql)
		if got := find("ada"); got != s.want {
			t.Errorf("%s: got %q, want %q", s.does, got, s.want)
		}
	}
	if got := find("nobody@example.com"); got != "unknown" {
		t.Errorf("a key that was not made: got %q", got)
	}
}
