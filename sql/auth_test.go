package sql_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// identityTable is the table that the compiler makes, with a claim of the project.
const identityTable = `
	create table app.identity (
		id text collate "C" not null default platform.new_id(),
		email text,
		external_id text,
		issuer text,
		name text,
		department text,
		email_verified boolean not null default false,
		password text,
		created_at timestamptz(3) not null default now(),
		updated_at timestamptz(3) not null default now(),
		constraint identity_pkey primary key (id),
		constraint identity_email_issuer_key unique (email, issuer),
		constraint identity_issuer_external_id_key unique (issuer, external_id)
	);
	create unique index identity_email_key on app.identity (email) where password is not null;
	alter table app.identity enable row level security;
	insert into app.identity (id, email, issuer, password) values
		('ada', 'ada@example.com', 'https://api', 'hash of ada'),
		('imported', 'imported@example.com', 'https://elsewhere', 'hash of imported'),
		('provided', 'provided@example.com', 'https://api', null);
`

// newAuthDatabase makes a database with identities.
func newAuthDatabase(t *testing.T) *pgtest.DB {
	t.Helper()
	return pgtest.New(t, pgtest.Options{Template: pgtest.Template{
		Name: "auth",
		Build: func(ctx context.Context, owner *pgx.Conn) error {
			_, err := owner.Exec(ctx, identityTable)
			return err
		},
	}})
}

// key is a family's key in tests.
var key = strings.Repeat("k", 32)

// hash returns the hash of a token, a code or another secret.
func hash(name string) []byte {
	h := sha256.Sum256([]byte(name))
	return h[:]
}

// startFamily begins a family whose first token is `name 0`.
func startFamily(t *testing.T, conn *pgx.Conn, identity, name string) {
	t.Helper()
	if !value[bool](t, conn, `select platform.auth_start($1, $2, $3, '90 days')`, identity, hash(name+" 0"), []byte(key)) {
		t.Fatalf("the family %s of %s was not started", name, identity)
	}
}

// refreshed is the answer of platform.auth_refresh in one line.
func refreshed(t *testing.T, conn *pgx.Conn, token, successor, grace string) string {
	t.Helper()
	var next []byte
	if successor != "" {
		next = hash(successor)
	}
	return value[string](t, conn, `
		select concat_ws(' ', outcome, case when outcome = 'ok' then identity_id end, steps)
		from platform.auth_refresh($1, $2, $3, $4::text::interval)`, hash(token), next, markOf(token), grace)
}

// markOf is the hash of what tokens of a family begin with, which is its name.
func markOf(token string) []byte {
	family, _, _ := strings.Cut(token, " ")
	return hash("mark of " + family)
}

// refreshStep is a statement of a server, or a change to its world.
type refreshStep struct {
	does string // a note
	sql  string // run by the owner; empty means that a token is presented
	with [3]string
	want string
}

// TestRefresh walks through the life of families, row by row.
func TestRefresh(t *testing.T) {
	t.Parallel()
	present := func(does, token, successor, want string) refreshStep {
		return refreshStep{does: does, with: [3]string{token, successor, "60 seconds"}, want: want}
	}
	const later = `update platform.auth_refresh_token set superseded_at = superseded_at - interval '61 seconds'`
	kept := func(want string) string {
		return `do $$ begin assert (select string_agg(position::text, ', ' order by position desc) from platform.auth_refresh_token
			where family_id = 1) = '` + want + `', 'other tokens are kept'; end $$`
	}
	for _, test := range []struct {
		name  string
		steps []refreshStep
	}{
		{"rotation", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			present("superseded just now", "f 0", "f 1", "ok ada 1"),
			present("its successor", "f 1", "f 2", "ok ada 1"),
			present("superseded twice, within the grace", "f 0", "f 1", "ok ada 2"),
			present("the newest", "f 2", "f 3", "ok ada 1"),
		}},
		{"reuse after the grace", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{does: "time passes", sql: later},
			present("the newest goes on", "f 1", "f 2", "ok ada 1"),
			present("reuse", "f 0", "f 1", "reused"),
			present("again", "f 0", "f 1", "refused"),
			present("the newest is revoked, too", "f 2", "f 3", "refused"),
		}},
		{"reuse of a token that is no longer kept", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{does: "time passes", sql: later},
			present("newest", "f 1", "f 2", "ok ada 1"),
			{does: "the first is kept, since the successor of its successor was not used", sql: kept("2, 1, 0")},
			{does: "time passes", sql: later},
			present("newest", "f 2", "f 3", "ok ada 1"),
			{does: "the first is gone", sql: kept("3, 2, 1")},
			present("reuse", "f 0", "f 1", "reused"),
			present("the newest is revoked, too", "f 3", "f 4", "refused"),
			present("the other's is not", "other 0", "other 1", "ok ada 1"),
		}},
		{"what begins like tokens of a family", []refreshStep{
			present("a family that never superseded one", "f 9", "f 10", "refused"),
			present("newest", "f 0", "f 1", "ok ada 1"),
			present("one that was never given out", "f 9", "f 10", "reused"),
			present("newest", "f 1", "f 2", "refused"),
		}},
		{"revoked by one that is no longer kept", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{does: "it goes", sql: `delete from platform.auth_refresh_token where hash = sha256('f 0')`},
			{sql: `select platform.auth_revoke(sha256('f 0'), sha256('mark of f'))`},
			present("newest", "f 1", "f 2", "refused"),
		}},
		{"a family from before marks", []refreshStep{
			{does: "three tokens, each random", sql: `update platform.auth_refresh_token set superseded_at = now() - interval '1 day' where hash = sha256('f 0');
				insert into platform.auth_refresh_token select sha256('a 1'), family_id, 1, now() - interval '1 day' from platform.auth_refresh_token where hash = sha256('f 0');
				insert into platform.auth_refresh_token select sha256('b 2'), family_id, 2 from platform.auth_refresh_token where hash = sha256('f 0')`},
			present("newest", "b 2", "b 3", "ok ada 1"),
			present("newest", "b 3", "b 4", "ok ada 1"),
			{does: "time passes", sql: later},
			present("newest", "b 4", "b 5", "ok ada 1"),
			{does: "time passes", sql: later},
			present("newest", "b 5", "b 6", "ok ada 1"),
			{does: "those that the mark does not tell of stay", sql: kept("6, 5, 4, 1, 0")},
			present("reuse", "f 0", "f 1", "reused"),
		}},
		{"no grace", []refreshStep{
			{does: "newest", with: [3]string{"f 0", "f 1", "0"}, want: "ok ada 1"},
			{does: "reuse", with: [3]string{"f 0", "f 1", "0"}, want: "reused"},
		}},
		{"no rotation", []refreshStep{
			present("newest", "f 0", "", "ok ada 0"),
			present("the same", "f 0", "", "ok ada 0"),
			{sql: `select platform.auth_revoke(sha256('f 0'), sha256('mark of f'))`},
			present("revoked", "f 0", "", "refused"),
			present("unknown", "none", "", "refused"),
			present("of the other", "other 0", "", "ok ada 0"),
			{does: "its end comes", sql: `update platform.auth_family set ends_at = now()`},
			present("of the other", "other 0", "", "refused"),
		}},
		{"rotation switched off", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			present("superseded just now", "f 0", "", "ok ada 1"),
			present("newest", "f 1", "", "ok ada 0"),
			{does: "time passes", sql: later},
			present("reuse", "f 0", "", "reused"),
		}},
		{"unknown", []refreshStep{present("", "none", "none 1", "refused")}},
		{"end of the family", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{does: "its end comes, rotation or not", sql: `update platform.auth_family set ends_at = now()`},
			present("newest", "f 1", "f 2", "refused"),
			present("superseded", "f 0", "f 1", "refused"),
		}},
		{"revoked by the newest", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{sql: `select platform.auth_revoke(sha256('f 1'), sha256('mark of f'))`},
			present("newest", "f 1", "f 2", "refused"),
		}},
		{"revoked by a superseded one", []refreshStep{
			present("newest", "f 0", "f 1", "ok ada 1"),
			{sql: `select platform.auth_revoke(sha256('f 0'), sha256('mark of f'))`},
			present("newest", "f 1", "f 2", "refused"),
		}},
		{"something else revoked", []refreshStep{
			{sql: `select platform.auth_revoke(sha256('other 0'), sha256('mark of other')), platform.auth_revoke(sha256('nothing'), sha256('mark of nothing'))`},
			present("newest", "f 0", "f 1", "ok ada 1"),
			present("of the other", "other 0", "other 1", "refused"),
		}},
		{"identity deleted", []refreshStep{
			{sql: `delete from app.identity where id = 'ada'`},
			present("newest", "f 0", "f 1", "refused"),
			{does: "somebody of the same id is somebody else", sql: `insert into app.identity (id) values ('ada')`},
			present("newest", "f 0", "f 1", "refused"),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := newAuthDatabase(t)
			server, owner := db.Server(t), db.Owner(t)
			startFamily(t, server, "ada", "f")
			startFamily(t, server, "ada", "other")
			for _, s := range test.steps {
				if s.sql != "" {
					exec(t, owner, s.sql)
					continue
				}
				if got := refreshed(t, server, s.with[0], s.with[1], s.with[2]); got != s.want {
					t.Fatalf("%s (%s): got %q, want %q", s.does, s.with[0], got, s.want)
				}
			}
		})
	}
}

// A client that replaces one token after the other keeps a bounded number of rows, and is
// still served.
func TestRefreshFlood(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	startFamily(t, conn, "ada", "f")
	rows := func() int { return value[int](t, owner, `select count(*) from platform.auth_refresh_token`) }
	position := 0
	for range 100 {
		token, next := fmt.Sprint("f ", position), fmt.Sprint("f ", position+1)
		switch got := refreshed(t, conn, token, next, "60 seconds"); got {
		case "ok ada 1":
			position++
		case "ok ada 0":
		default:
			t.Fatalf("%s: got %s", token, got)
		}
	}
	if position != 30 || rows() != 31 {
		t.Errorf("got %d successors and %d rows, want 30 and 31", position, rows())
	}
	if got := refreshed(t, conn, "f 0", "f 1", "60 seconds"); got != "ok ada 30" {
		t.Errorf("within the grace: got %s, want ok ada 30", got)
	}
	exec(t, owner, `update platform.auth_refresh_token set superseded_at = superseded_at - interval '61 seconds'`)
	if got := refreshed(t, conn, "f 30", "f 31", "60 seconds"); got != "ok ada 1" || rows() != 3 {
		t.Errorf("after the grace: got %s and %d rows, want ok ada 1 and 3", got, rows())
	}
}

// An identity has a hundred families at most, also if many begin at once, and none of
// them lasts longer than a year.
func TestStartMost(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	for i := range 99 {
		startFamily(t, conn, "ada", fmt.Sprint("f", i))
	}
	startFamily(t, conn, "provided", "other")
	exec(t, owner, `update platform.auth_family set revoked_at = now() where id = 50`)
	startFamily(t, conn, "ada", "f99") // in all a hundred
	startFamily(t, conn, "ada", "f100")
	ids := `select string_agg(id::text, ' ' order by id) from platform.auth_family where identity_id = 'ada' and id < 60 and id not between 3 and 48`
	if got := value[string](t, owner, ids); got != "1 2 49 51 52 53 54 55 56 57 58 59" {
		t.Errorf("got %s, want all but the one that was revoked", got)
	}
	pool := newPool(t, db, 20)
	together(t, 40, func(i int) (string, error) {
		_, err := pool.Exec(t.Context(), `select platform.auth_start('ada', $1, $2, '1000 years')`, hash(fmt.Sprint("g", i)), []byte(key))
		return "", err
	})
	if got := value[string](t, owner, `select concat_ws(' ', count(*), min(id), (select count(*) from platform.auth_refresh_token))
		from platform.auth_family where identity_id = 'ada'`); got != "100 41 101" {
		t.Errorf("got families, oldest and tokens %s, want 100 41 101", got)
	}
	if got := value[string](t, owner, `select max(ends_at - created_at)::text from platform.auth_family`); got != "365 days" {
		t.Errorf("the longest family: got %s, want 365 days", got)
	}
	if got := refreshed(t, conn, "f0 0", "f0 1", "60 seconds"); got != "refused" {
		t.Errorf("the oldest: got %s, want refused", got)
	}
}

// newPool connects many times as a server.
func newPool(t *testing.T, db *pgtest.DB, size int) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(db.ServerURL())
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = int32(size)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// together runs something many times at once and returns the results, sorted.
func together(t *testing.T, times int, do func(i int) (string, error)) []string {
	t.Helper()
	results, errs := make([]string, times), make([]error, times)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			<-begin
			results[i], errs[i] = do(i)
		})
	}
	close(begin)
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(results)
	return results
}

// All of a hundred requests that present one token at once get the same successor,
// and one has made it.
func TestRefreshTogether(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn := db.Server(t)
	startFamily(t, conn, "ada", "f")
	pool := newPool(t, db, 20)
	got := together(t, 100, func(int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select concat_ws(' ', outcome, identity_id, steps) from platform.auth_refresh($1, $2, $3, '60 seconds')`,
			hash("f 0"), hash("f 1"), markOf("f 0")).Scan(&answer)
		return answer, err
	})
	if got[0] != "ok ada 1" || got[99] != "ok ada 1" {
		t.Errorf("got %q to %q, want ok ada 1", got[0], got[99])
	}
	if n := value[int](t, db.Owner(t), `select count(*) from platform.auth_refresh_token`); n != 2 {
		t.Errorf("tokens: got %d, want 2", n)
	}
}

// limits of the throttle in tests.
const (
	limits        = `3, 5, 7, '15 minutes'`
	limitsOfTries = `3, 5, 7, 10, '15 minutes'`
)

func TestThrottle(t *testing.T) {
	t.Parallel()
	const waits, passes, counts = "waits", "passes", "counts"
	type attempt struct {
		account, address string
		want             string
	}
	known := func(account, address, ago string) string {
		return fmt.Sprintf(`insert into platform.auth_known_address values (platform.auth_address_hash('%s', '%s'), 'ada', now() - interval '%s');`, account, address, ago)
	}
	fails := func(account, address string, times int) (list []attempt) {
		for range times {
			list = append(list, attempt{account, address, counts})
		}
		return list
	}
	for _, test := range []struct {
		name     string
		attempts []attempt
		between  string
		then     []attempt
	}{
		{"nothing happened", nil, "", []attempt{{"ada", "10.0.0.1", passes}, {"", "10.0.0.1", passes}}},
		{"account and address", fails("ada", "10.0.0.1", 3), "",
			[]attempt{{"ada", "10.0.0.1", waits}, {"ada", "10.0.0.2", passes}, {"bo", "10.0.0.1", passes}, {"", "10.0.0.1", passes}}},
		{"one below", fails("ada", "10.0.0.1", 2), "", []attempt{{"ada", "10.0.0.1", passes}}},
		{"account", slices.Concat(fails("ada", "10.0.0.1", 2), fails("ada", "10.0.0.2", 2), fails("ada", "10.0.0.3", 1)), "",
			[]attempt{{"ada", "10.0.0.4", waits}, {"bo", "10.0.0.1", passes}}},
		{"account, which was signed in to there", slices.Concat(fails("ada", "10.0.0.1", 2), fails("ada", "10.0.0.2", 3)),
			known("ada", "10.0.0.4", "29 days") + known("ada", "10.0.0.5", "30 days") + known("bo", "10.0.0.6", "0") + known("ada", "10.0.0.2", "0"),
			[]attempt{{"ada", "10.0.0.4", passes}, {"ada", "10.0.0.5", waits}, {"ada", "10.0.0.6", waits}, {"ada", "10.0.0.2", waits}}},
		{"address", slices.Concat(fails("ada", "10.0.0.1", 3), fails("bo", "10.0.0.1", 2), fails("dy", "10.0.0.1", 2)), "",
			[]attempt{{"", "10.0.0.1", passes}, {"cy", "10.0.0.1", waits}, {"cy", "10.0.0.2", passes}}},
		{"address, what names no account", fails("", "10.0.0.1", 7), "",
			[]attempt{{"", "10.0.0.1", waits}, {"ada", "10.0.0.1", passes}, {"", "10.0.0.2", passes}}},
		{"the window passes", fails("ada", "10.0.0.1", 3), `update platform.auth_failure set failed_at = failed_at - interval '15 minutes'`,
			[]attempt{{"ada", "10.0.0.1", passes}}},
		{"the oldest leaves the window", fails("ada", "10.0.0.1", 3),
			`update platform.auth_failure set failed_at = failed_at - interval '15 minutes' where id = (select min(id) from platform.auth_failure)`,
			[]attempt{{"ada", "10.0.0.1", counts}, {"ada", "10.0.0.1", waits}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			db := newAuthDatabase(t)
			conn := db.Server(t)
			run := func(list []attempt) {
				t.Helper()
				for i, a := range list {
					function := "auth_wait"
					if a.want == counts {
						function = "auth_fail"
					}
					wait := value[int](t, conn, `select platform.`+function+`(nullif($1, ''), $2, `+limits+`)`, a.account, a.address)
					if (wait > 0) != (a.want == waits) || wait > 15*60 {
						t.Errorf("attempt %d, %s at %s: got a wait of %d s, want it to be one that %s", i, a.account, a.address, wait, a.want)
					}
				}
			}
			run(test.attempts)
			if test.between != "" {
				exec(t, db.Owner(t), test.between)
			}
			run(test.then)
		})
	}
}

// A client is told when the failure leaves the window that fills the limit.
func TestThrottleWait(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	for _, age := range []int{800, 500, 200} {
		exec(t, owner, fmt.Sprintf(`insert into platform.auth_failure (account, address, kind, failed_at) values ('ada', '10.0.0.1', 'password', now() - interval '%d seconds')`, age))
	}
	for _, test := range []struct {
		perPair, want int
	}{{3, 100}, {2, 400}, {1, 700}, {4, 0}} {
		got := value[int](t, conn, `select platform.auth_wait('ada', '10.0.0.1', $1, 100, 100, '15 minutes')`, test.perPair)
		if got < test.want-2 || got > test.want {
			t.Errorf("at a limit of %d: got %d s, want %d", test.perPair, got, test.want)
		}
	}
}

// A client that changes its IPv6 network within the one that it was given does not pass the limit of an address.
func TestThrottleOfNetworks(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	for _, kind := range []string{"password", "identity"} {
		for _, size := range []struct {
			name, network string // with a number, a network of 64 bits
			limit         int
		}{
			{"56 bits", "2001:db8:0:%x::/64", 8},
			{"48 bits", "2001:db8:1:%x00::/64", 32},
			{"apart", "2001:db8:%x::/64", 200},
		} {
			exec(t, owner, `truncate platform.auth_failure`)
			waits := 0
			for i := range 40 {
				at := fmt.Sprintf(size.network, 16+i)
				statement := `select platform.auth_fail($2, $1, 100, 100, 2, '15 minutes')`
				account := fmt.Sprintf("%d@example.com", i)
				if kind == "identity" {
					statement = `select wait from platform.auth_identity('https://provider', $2, '{}', true, $1, 2, '15 minutes')`
					account = size.name + account
				}
				if value[int](t, conn, statement, at, account) > 0 {
					waits++
				}
			}
			if want := max(0, 40-size.limit); waits != want {
				t.Errorf("%s, %s: %d of 40 wait, want %d", kind, size.name, waits, want)
			}
		}
	}
}

// Requests that are sent at once cannot pass a limit together.
func TestFailTogether(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	pool := newPool(t, db, 20)
	got := together(t, 60, func(i int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select case when platform.auth_fail('ada', $1, 3, 5, 7, '15 minutes') = 0 then 'counted' else 'waits' end`,
			fmt.Sprintf("10.0.0.%d", i%3)).Scan(&answer)
		return answer, err
	})
	counted := 0
	for _, answer := range got {
		if answer == "counted" {
			counted++
		}
	}
	if n := value[int](t, db.Owner(t), `select count(*) from platform.auth_failure`); counted != 5 || n != 5 {
		t.Errorf("got %d that counted and %d rows, want 5", counted, n)
	}
}

func TestPasswordLookUp(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn := db.Server(t)
	for _, test := range []struct{ email, issuer, want string }{
		{"ada@example.com", "https://api", "0 ada hash of ada"},
		{"Ada@example.com", "https://api", "0"},                   // the server lowers it
		{"ada@example.com", "https://other", "0 ada hash of ada"}, // the address of the service has changed
		{"imported@example.com", "https://api", "0 imported hash of imported"},
		{"provided@example.com", "https://api", "0"}, // without password
		{"nobody@example.com", "https://api", "0"},
	} {
		got := value[string](t, conn, `select concat_ws(' ', wait, identity_id, password) from platform.auth_password($1, $2, '10.0.0.1', `+limitsOfTries+`)`,
			test.email, test.issuer)
		if got != test.want {
			t.Errorf("%s of %s: got %q, want %q", test.email, test.issuer, got, test.want)
		}
	}

	// A caller that must wait learns nothing.
	for range 3 {
		value[int](t, conn, `select platform.auth_fail('ada@example.com', '10.0.0.1', `+limits+`)`)
	}
	if known := value[bool](t, conn, `select wait = 0 or identity_id is not null or password is not null
		from platform.auth_password('ada@example.com', 'https://api', '10.0.0.1', `+limitsOfTries+`)`); known {
		t.Error("behind the limit: got an answer, want a wait alone")
	}
}

// All tries of an account at an address are counted, also if many come at once.
func TestTries(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	pool := newPool(t, db, 20)
	got := together(t, 40, func(i int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select case when wait = 0 then 'may try' when wait <= 900 then 'waits' end
			from platform.auth_password($1, 'https://api', $2, `+limitsOfTries+`)`, []string{"ada@example.com", "bo@example.com"}[i%2], "10.0.0.1").Scan(&answer)
		return answer, err
	})
	if got[19] != "may try" || got[20] != "waits" {
		t.Errorf("got %v, want 20 that may try", got)
	}
	if n := value[int](t, db.Owner(t), `select count(*) from platform.auth_try`); n != 20 {
		t.Errorf("got %d rows, want 20", n)
	}
	for address, want := range map[string]bool{"10.0.0.1": true, "10.0.0.2": false} {
		if got := value[bool](t, db.Server(t), `select wait > 0 from platform.auth_password('ada@example.com', 'https://api', $1, `+limitsOfTries+`)`, address); got != want {
			t.Errorf("%s: waits: got %t, want %t", address, got, want)
		}
	}
}

func TestAcceptPassword(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	accept := func(identity, password string, newPassword any, token string) string {
		t.Helper()
		return value[string](t, conn, `select concat_ws(' ', wait > 0, is_accepted) from platform.auth_password_accept(
			$1, $2, $3, $4, $5, '1 day', 'ada@example.com', '10.0.0.1', `+limits+`)`, identity, password, newPassword, hash(token), []byte(key))
	}
	fail := func(address string) {
		value[int](t, conn, `select platform.auth_fail('ada@example.com', $1, `+limits+`)`, address)
	}

	fail("10.0.0.1")
	fail("10.0.0.1")
	fail("10.0.0.2")
	if got := accept("ada", "another hash", nil, "a 0"); got != "f f" {
		t.Errorf("another hash: got %s, want f f", got)
	}
	if got := accept("nobody", "hash of ada", nil, "a 0"); got != "f f" {
		t.Errorf("another identity: got %s, want f f", got)
	}
	if n := value[int](t, owner, `select count(*) from platform.auth_family`); n != 0 {
		t.Errorf("families: got %d, want none", n)
	}
	if got := accept("ada", "hash of ada", "newer hash", "a 0"); got != "f t" {
		t.Errorf("matches: got %s, want f t", got)
	}
	if got := value[string](t, owner, `select password from app.identity where id = 'ada'`); got != "newer hash" {
		t.Errorf("password: got %s, want newer hash", got)
	}
	if got := refreshed(t, conn, "a 0", "a 1", "60 seconds"); got != "ok ada 1" {
		t.Errorf("its refresh token: got %s", got)
	}
	// The count of account and address is cleared, the others are not.
	if got := value[string](t, owner, `select string_agg(address || ' ' || is_cleared, ', ' order by id) from platform.auth_failure`); got !=
		"10.0.0.1 true, 10.0.0.1 true, 10.0.0.2 false" {
		t.Errorf("failures: got %s", got)
	}

	// The address is remembered, one row however often; of others only the latest are.
	if got := value[int](t, owner, `select count(*) from platform.auth_known_address
		where identity_id = 'ada' and hash = platform.auth_address_hash('ada@example.com', '10.0.0.1')`); got != 1 {
		t.Errorf("known addresses: got %d, want 1", got)
	}
	exec(t, owner, `insert into platform.auth_known_address
		select platform.auth_address_hash('ada@example.com', '10.0.1.' || i), 'ada', now() - interval '1 hour' * i from generate_series(1, 30) as i`)
	if got := accept("ada", "newer hash", nil, "c 0"); got != "f t" {
		t.Errorf("matches: got %s, want f t", got)
	}
	if got := value[string](t, owner, `select concat_ws(' ', count(*), min(signed_in_at) > now() - interval '20 hours') from platform.auth_known_address`); got != "20 t" {
		t.Errorf("known addresses: got %s, want the latest 20", got)
	}

	// Behind the limit a right password is not accepted either.
	for range 3 {
		fail("10.0.0.1")
	}
	if got := accept("ada", "newer hash", nil, "b 0"); got != "t f" {
		t.Errorf("behind the limit of account and address: got %s, want t f", got)
	}
}

func TestCreatePassword(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	create := func(email, address, token string) string {
		t.Helper()
		return value[string](t, conn, `select concat_ws(' ', wait > 0, is_created, identity_id is not null) from platform.auth_password_create(
			$1, 'https://api', 'a hash', $2, $3, '1 day', $4, `+limits+`, null, null, null)`, email, hash(token), []byte(key), address)
	}
	for _, test := range []struct{ email, want string }{
		{"ada@example.com", "f f f"},
		{"provided@example.com", "f f f"}, // no password, but taken
		{"imported@example.com", "f f f"},
		{"bo@example.com", "f t t"},
		{"bo@example.com", "f f f"},
	} {
		if got := create(test.email, "10.0.0.1", "t "+test.email); got != test.want {
			t.Errorf("%s: got %s, want %s", test.email, got, test.want)
		}
	}
	if got := value[string](t, owner, `select concat_ws(' ', issuer, password, email_verified) from app.identity where email = 'bo@example.com'`); got != "https://api a hash f" {
		t.Errorf("identity: got %s", got)
	}
	if got := refreshed(t, conn, "t bo@example.com", "next", "60 seconds"); !strings.HasPrefix(got, "ok ") {
		t.Errorf("its refresh token: got %s", got)
	}
	for i := range 6 {
		if got := create(fmt.Sprintf("p%d@example.com", i), "10.0.0.1", fmt.Sprint("p ", i)); got != "f t t" {
			t.Errorf("identity %d: got %s, want f t t", i, got)
		}
	}
	if got := create("one@example.com", "10.0.0.1", "one"); got != "t f f" {
		t.Errorf("one too many: got %s, want t f f", got)
	}
	if got := create("one@example.com", "10.0.0.2", "one"); got != "f t t" {
		t.Errorf("elsewhere: got %s, want f t t", got)
	}
}

// One of many who sign up with one address at once succeeds.
func TestCreatePasswordTogether(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	pool := newPool(t, db, 20)
	got := together(t, 40, func(i int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select is_created::text from platform.auth_password_create('bo@example.com', 'https://api', 'a hash', $1, $2,
			'1 day', $3, 1000, 1000, 1000, '15 minutes', null, null, null)`, hash(fmt.Sprint(i)), []byte(key), fmt.Sprint("10.0.0.", i)).Scan(&answer)
		return answer, err
	})
	if got[38] != "false" || got[39] != "true" {
		t.Errorf("got %v, want one true", got)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	type call struct {
		issuer, subject string
		fields          string
		mayCreate       bool
		want            string
		row             string // of the identity, afterwards
	}
	for i, c := range []call{
		{"https://p", "1", `{"email":"bo@p.example","name":"Bo","email_verified":true,"department":"sails"}`, false, "missing", ""},
		{"https://p", "1", `{"email":"bo@p.example","name":"Bo","email_verified":true,"department":"sails"}`, true, "created", "bo@p.example,Bo,t,sails,"},
		{"https://p", "1", `{"email":"bo@p.example","name":null,"email_verified":false,"department":"hulls"}`, true, "found", "bo@p.example,,f,hulls,"},
		{"https://p", "1", `{"email":"bo@p.example"}`, false, "found", "bo@p.example,,f,hulls,"},
		{"https://p", "1", `{}`, false, "found", "bo@p.example,,f,hulls,"},
		// Names that are not a column, or not of a claim, are ignored.
		{"https://p", "1", `{"no_such":"x","id":"x","password":"x","issuer":"x","external_id":"x","created_at":"x","ctid":"x"}`, false, "found", "bo@p.example,,f,hulls,"},
		{"https://p", "1", `{"name":"'; drop table app.identity; --"}`, false, "found", "bo@p.example,'; drop table app.identity; --,f,hulls,"},
		{"https://q", "1", `{"email":"bo@p.example","email_verified":false}`, true, "created", "bo@p.example,,f,,"}, // not linked by e-mail
		{"https://p", "2", `{"email":"bo@p.example","email_verified":false}`, true, "refused", ""},
		{"https://p", "2", `{"email":"cy@p.example","email_verified":false}`, true, "created", "cy@p.example,,f,,"},
		{"https://p", "2", `{"email":"bo@p.example","email_verified":false}`, true, "refused", "cy@p.example,,f,,"},
		{"https://p", "3", `{}`, true, "created", ",,f,,"},
		{"https://p", "4", `{}`, true, "created", ",,f,,"},
	} {
		got := value[string](t, conn, `select outcome from platform.auth_identity($1, $2, $3::text::jsonb, $4, '10.0.0.1', 7, '15 minutes')`,
			c.issuer, c.subject, c.fields, c.mayCreate)
		if got != c.want {
			t.Errorf("call %d: got %s, want %s", i, got, c.want)
		}
		row := strings.Join(values[string](t, owner, `select concat_ws(',', coalesce(email, ''), coalesce(name, ''), email_verified, coalesce(department, ''), password) || ','
			from app.identity where issuer = $1 and external_id = $2`, c.issuer, c.subject), "; ")
		if row != c.row {
			t.Errorf("call %d: got %q, want %q", i, row, c.row)
		}
	}

	// Five were created at this address. Failures do not count.
	exec(t, owner, `insert into platform.auth_failure (account, address, kind)
		select 'ada', '10.0.0.1', kind from unnest('{password,token}'::text[]) as kind, generate_series(1, 10)`)
	for i, want := range []string{"created", "created", "wait"} {
		got := value[string](t, conn, `select outcome from platform.auth_identity('https://r', $1, '{}', true, '10.0.0.1', 7, '15 minutes')`, fmt.Sprint(i))
		if got != want {
			t.Errorf("identity %d more: got %s, want %s", i, got, want)
		}
	}
	if got := value[string](t, conn, `select outcome from platform.auth_identity('https://r', 'x', '{}', true, null, 7, '15 minutes')`); got != "created" {
		t.Errorf("uncounted: got %s, want created", got)
	}
}

// One identity is created for many first sign-ins from a provider at once.
func TestIdentityTogether(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	pool := newPool(t, db, 20)
	got := together(t, 40, func(int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select outcome from platform.auth_identity('https://p', '1', '{"email":"bo@p.example"}', true, null, 7, '15 minutes')`).Scan(&answer)
		return answer, err
	})
	if got[0] != "created" || got[1] != "found" || got[39] != "found" {
		t.Errorf("got %v, want one created and the others found", got)
	}
}

// Expired rows go, others stay, and at most as many as requested go at once.
func TestSweep(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	exec(t, owner, `
		insert into platform.auth_failure (account, address, kind, failed_at)
		select 'ada', 'a', 'password', now() - interval '1 minute' * i from generate_series(1, 30) as i;
		insert into platform.auth_try (account, address, tried_at)
		select 'ada', 'a', now() - interval '1 minute' * i from generate_series(1, 30) as i;
		insert into platform.auth_known_address (hash, identity_id, signed_in_at)
		select sha256(i::text::bytea), 'ada', now() - interval '1 day' * i from generate_series(1, 50) as i;
		insert into platform.auth_return (hash, ends_at)
		select sha256(i::text::bytea), now() + interval '1 minute' * i from generate_series(-2, 3) as i;
		insert into platform.auth_family (identity_id, key, ends_at, revoked_at) values
			('ada', sha256('k'), now() + interval '1 day', null),
			('ada', sha256('k'), now() - interval '1 day', null),
			('ada', sha256('k'), now() + interval '1 day', now()),
			('ada', sha256('k'), now() + interval '1 day', now() - interval '2 days'),
			('gone', sha256('k'), now() + interval '1 day', null);
		insert into platform.auth_refresh_token (hash, family_id, position)
		select sha256(('token ' || id)::bytea), id, 0 from platform.auth_family;
		insert into platform.auth_code (hash, identity_id, is_identity_new, target, is_dynamic, expires_at, consumed_at, family_id) values
			(sha256('fresh'), 'ada', false, 't', false, now() + interval '1 minute', null, null),
			(sha256('late'), 'ada', false, 't', false, now() - interval '2 hours', null, null),
			(sha256('failed'), 'ada', false, 't', false, now() - interval '2 hours', now(), null),
			(sha256('used'), 'ada', false, 't', false, now() - interval '2 hours', now(), 1),
			(sha256('ended'), 'ada', false, 't', false, now() - interval '2 hours', now(), 2);
	`)
	const rest = `select concat_ws(' ',
		(select count(*) from platform.auth_failure),
		(select count(*) from platform.auth_try),
		(select count(*) from platform.auth_known_address),
		(select count(*) from platform.auth_return),
		(select string_agg(identity_id || id, ',' order by id) from platform.auth_family),
		(select count(*) from platform.auth_refresh_token),
		(select count(*) from platform.auth_code))`

	// Failures older than 15 minutes are 15.
	for sweeps := 1; ; sweeps++ {
		if isMore := value[bool](t, conn, `select platform.auth_sweep('15 minutes', 10)`); !isMore {
			if sweeps < 3 || sweeps > 5 {
				t.Errorf("got %d sweeps until none is left, want 3 for the addresses, and more for each old family", sweeps)
			}
			break
		}
	}
	for range 200 { // where it looks for those whose identity is gone is left to chance
		value[bool](t, conn, `select platform.auth_sweep('15 minutes', 10)`)
		if value[int](t, owner, `select count(*) from platform.auth_family`) == 2 {
			break
		}
	}
	if got, want := value[string](t, owner, rest), "14 14 29 3 ada1,ada3 2 2"; got != want {
		t.Errorf("rest: got %s, want %s", got, want)
	}

	// Without a release there are no identities to compare with.
	exec(t, owner, `drop table app.identity`)
	value[bool](t, conn, `select platform.auth_sweep('15 minutes', 10)`)
	if got, want := value[string](t, owner, rest), "14 14 29 3 ada1,ada3 2 2"; got != want {
		t.Errorf("without identities: got %s, want %s", got, want)
	}
}

// A server reaches the tables through the functions alone, and the callers of
// actions not at all.
func TestAuthRights(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	owner := db.Owner(t)
	internal := []string{
		"auth_lock", "auth_family_id", "auth_address_hash", "auth_remember", "auth_wait_for", "auth_filled_at",
		"auth_clear", "auth_end", "auth_take_proof", "auth_key_create", "auth_raise", "auth_factors",
		"auth_recovery_set", "auth_forget_factors", "mail_queue", "mail_allowed",
	}
	if got := values[string](t, owner, `
		select relname from pg_class
		where relnamespace = 'platform'::regnamespace and (relname like 'auth\_%' or relname = 'mail') and relkind = 'r'
			and (has_table_privilege('sternpost_server', oid, 'select, insert, update, delete')
				or has_any_column_privilege('sternpost_server', oid, 'select, insert, update')
				or exists (select from unnest(platform.owners()) as owner where has_table_privilege(owner, pg_class.oid, 'select, insert, update, delete')))`); len(got) > 0 {
		t.Errorf("granted tables: got %v, want none", got)
	}
	if got := values[string](t, owner, `
		select proname from pg_proc
		where pronamespace = 'platform'::regnamespace and (proname like 'auth\_%' or proname like 'mail\_%')
			and (exists (select from unnest(platform.owners()) as owner where has_function_privilege(owner, pg_proc.oid, 'execute'))
				or has_function_privilege('sternpost_server', oid, 'execute') <> (proname <> all ($1))
				or prosecdef <> (proname <> all ($1))
				or proconfig is null)`, internal); len(got) > 0 {
		t.Errorf("functions with other rights: got %v, want none", got)
	}
	if got := values[string](t, db.Server(t), `select * from platform.serving_faults()`); len(got) > 0 {
		t.Errorf("faults: got %v, want none", got)
	}
}
