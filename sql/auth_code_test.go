package sql_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// newCode keeps a code for ada, by the columns and values that matter beside it.
func newCode(t *testing.T, db *pgtest.DB, name, columns, values string) {
	t.Helper()
	exec(t, db.Owner(t), fmt.Sprintf(`insert into platform.auth_code (hash, identity_id, is_identity_new, target, expires_at, %s)
		values (sha256('%s'), 'ada', true, 'https://app', now() + interval '1 minute', %s)`, columns, name, values))
}

const redeem = `select concat_ws(' ', outcome, identity_id, is_identity_new) from platform.auth_signin_redeem($1, $2, $3, $4, $5, $6, '1 day')`

// TestRedeem presents codes, with what their clients have to prove.
func TestRedeem(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn := db.Server(t)
	const plain = "is_dynamic"
	for i, test := range []struct {
		name            string
		columns, values string
		verifier        string // the test presents its digest and that of its challenge; empty means none
		redirectURI     string
		want            string
	}{
		{"no challenge", plain, "false", "", "", "ok ada t"},
		{"an address that nobody asked for", plain, "false", "", "https://elsewhere", "ok ada t"},
		{"a verifier that nobody asked for", plain, "false", "v", "", "refused"},
		{"dynamic", plain, "true", "", "https://app", "ok ada t"},
		{"dynamic, another address", plain, "true", "", "https://app/", "refused"},
		{"dynamic, no address", plain, "true", "", "", "refused"},
		{"plain", "is_dynamic, challenge, challenge_method", "false, 'v', 'plain'", "v", "", "ok ada t"},
		{"plain, another verifier", "is_dynamic, challenge, challenge_method", "false, 'v', 'plain'", "w", "", "refused"},
		{"plain, no verifier", "is_dynamic, challenge, challenge_method", "false, 'v', 'plain'", "", "", "refused"},
		{"S256", "is_dynamic, challenge, challenge_method", "false, 'challenge of v', 'S256'", "v", "", "ok ada t"},
		{"S256, another verifier", "is_dynamic, challenge, challenge_method", "false, 'challenge of v', 'S256'", "w", "", "refused"},
		{"S256, the challenge as verifier", "is_dynamic, challenge, challenge_method", "false, 'challenge of v', 'S256'", "challenge of v", "", "refused"},
		{"S256, no verifier", "is_dynamic, challenge, challenge_method", "false, 'challenge of v', 'S256'", "", "", "refused"},
	} {
		newCode(t, db, test.name, test.columns, test.values)
		var verifierHash, challengeHash []byte
		if test.verifier != "" {
			verifierHash, challengeHash = hash(test.verifier), hash("challenge of "+test.verifier)
		}
		present := func(token string) string {
			t.Helper()
			return value[string](t, conn, redeem, hash(test.name), verifierHash, challengeHash, []byte(test.redirectURI), hash(fmt.Sprint(token, i)), []byte(key))
		}
		if got := present("first"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		// The code is used up in any case, and its family ends.
		if got := present("second"); got != "replayed ada" {
			t.Errorf("%s, again: got %s, want replayed ada", test.name, got)
		}
		if got := refreshed(t, conn, fmt.Sprint("first", i), "next", "60 seconds"); got != "refused" {
			t.Errorf("%s, the refresh token of a replayed code: got %s, want refused", test.name, got)
		}
	}

	// Too late, unknown, and of an identity that is gone.
	newCode(t, db, "late", plain, "false")
	newCode(t, db, "gone", plain, "false")
	exec(t, db.Owner(t), `update platform.auth_code set expires_at = now() where hash = sha256('late');
		delete from app.identity where id = 'ada'`)
	for _, name := range []string{"late", "unknown", "gone"} {
		if got := value[string](t, conn, redeem, hash(name), nil, nil, []byte{}, hash(name+" token"), []byte(key)); got != "refused" {
			t.Errorf("%s: got %s, want refused", name, got)
		}
	}
}

// A family begins from a consumed code once, and not from one that was replayed.
func TestStartFromCode(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn, owner := db.Server(t), db.Owner(t)
	for _, test := range []struct{ name, columns, values, want string }{
		{"consumed", "consumed_at", "now()", "t f"},
		{"not consumed", "consumed_at", "null", "f f"},
		{"replayed", "consumed_at, replayed_at", "now(), now()", "f f"},
	} {
		exec(t, owner, fmt.Sprintf(`insert into platform.auth_code (hash, identity_id, is_identity_new, target, is_dynamic, expires_at, %s)
			values (sha256('%s'), 'ada', false, 'https://app', false, now() + interval '1 minute', %s)`, test.columns, test.name, test.values))
		start := func(token string) string {
			return value[string](t, conn, `select platform.auth_start('ada', $1, $2, '1 day', $3)::text`, hash(token), []byte(key), hash(test.name))[:1]
		}
		if got := start(test.name+" 0") + " " + start(test.name+" 1"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	if value[bool](t, conn, `select platform.auth_start('nobody', $1, $2, '1 day')`, hash("n"), []byte(key)) {
		t.Error("a family of nobody has begun")
	}
}

// One of a hundred requests that present one code at once gets tokens; and since the
// others are replays, it does not keep them.
func TestRedeemTogether(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	newCode(t, db, "code", "is_dynamic", "false")
	pool := newPool(t, db, 20)
	got := together(t, 100, func(i int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), redeem, pgx.QueryExecModeExec, hash("code"), []byte(nil), []byte(nil), []byte{}, hash(fmt.Sprint("token ", i)), []byte(key)).Scan(&answer)
		return answer, err
	})
	if got[0] != "ok ada t" || got[1] != "replayed ada" || got[99] != "replayed ada" {
		t.Errorf("got %v, want one ok and the others replayed", got)
	}
	if n := value[int](t, db.Owner(t), `select count(*) from platform.auth_family where revoked_at is null`); n != 0 {
		t.Errorf("families that are not revoked: got %d, want none", n)
	}
}

// A browser comes back once, in time, unless it is forgotten.
func TestTake(t *testing.T) {
	t.Parallel()
	db := newAuthDatabase(t)
	conn := db.Server(t)
	take := func(name, end string) bool {
		t.Helper()
		return value[bool](t, conn, `select platform.auth_signin_take($1, now() + $2::text::interval)`, hash(name), end)
	}
	if take("late", "0") || take("later", "-1 second") || !take("in time", "1 second") {
		t.Error("whether a browser is taken does not follow from its end")
	}
	pool := newPool(t, db, 20)
	got := together(t, 60, func(int) (answer string, err error) {
		err = pool.QueryRow(t.Context(), `select platform.auth_signin_take($1, now() + '1 minute')::text`, hash("one")).Scan(&answer)
		return answer, err
	})
	if got[58] != "false" || got[59] != "true" {
		t.Errorf("at once: got %v, want one true", got)
	}
	if _, err := conn.Exec(t.Context(), `select platform.auth_signin_forget($1)`, hash("one")); err != nil {
		t.Fatal(err)
	}
	if !take("one", "1 minute") || take("one", "1 minute") {
		t.Error("one that was forgotten is not taken once more")
	}
}
