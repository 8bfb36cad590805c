package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const claim = `select case when is_kept then body else 'claimed' end from platform.answer_claim($1, $2, null, null, '203.0.113.7')`

// A claim that is not kept leaves nothing; one that is gives its answer to the same
// request, until it has had its time.
func TestAnswers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	server, owner := db.Server(t), db.Owner(t)
	id, asks := []byte("id"), []byte("asks")

	exec(t, server, "begin")
	if got := value[string](t, server, claim, id, asks); got != "claimed" {
		t.Errorf("the first: got %s", got)
	}
	exec(t, server, "rollback; begin")
	if got := value[string](t, server, claim, id, asks); got != "claimed" {
		t.Errorf("after a rollback: got %s", got)
	}
	exec(t, server, "select platform.answer_keep('id', 'the answer', null, null)")
	exec(t, server, "commit")
	exec(t, server, "select platform.answer_keep('id', 'another', null, null)") // the kept answer stays
	const find = `select coalesce(body, 'none') from platform.answer_find($1, $2, null, null)`
	for _, call := range []string{claim, find} {
		if got := value[string](t, server, call, id, asks); got != "the answer" {
			t.Errorf("%s: got %s", call, got)
		}
		_, err := server.Exec(t.Context(), call, id, []byte("else"))
		if r := refused(t, err); r.Code != "SP422" {
			t.Errorf("%s of another request: got %s", call, r.Code)
		}
	}

	exec(t, owner, "update platform.answer set expires_at = now()")
	if got := value[string](t, server, find, id, asks); got != "none" {
		t.Errorf("answer_find after a day: got %s", got)
	}
	if got := value[string](t, server, claim, id, []byte("else")); got != "claimed" {
		t.Errorf("answer_claim after a day: got %s", got)
	}
	if got := value[string](t, owner, "select date_trunc('hour', max(expires_at) - now() + interval '1 minute')::text from platform.answer"); got != "24:00:00" {
		t.Errorf("an answer is kept for %s", got)
	}
}

// A caller has 10,000 keys and 16 MiB within 24 hours. Whoever has them is refused until one expires, but gets the
// answers that are kept.
func TestAnswerBounds(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	server, owner := db.Server(t), db.Owner(t)
	const kept = `insert into platform.answer (id, asks, caller, body, expires_at)
		select sha256(n::text::bytea), 'asks', '%s', repeat('x', %d), now() + interval '1 hour' from generate_series(1, %d) as n`
	for _, test := range []struct {
		what        string
		caller      string
		bytes, keys int
		isRefused   bool
	}{
		{"one key less", "address 203.0.113.7", 10, 9999, false},
		{"all keys", "address 203.0.113.7", 10, 10000, true},
		{"one byte less", "address 203.0.113.7", 16<<20 - 1, 1, false},
		{"all bytes", "address 203.0.113.7", 4 << 20, 4, true},
		{"of another address", "address 203.0.113.8", 16 << 20, 1, false},
		{"of an identity", "identity 203.0.113.7", 16 << 20, 1, false},
		{"less than its network of 56 bits has", "address 2001:db8:1:2::/64", 16 << 20, 3, false},
		{"all of its network of 56 bits", "address 2001:db8:1:2::/64", 16 << 20, 4, true},
		{"less than its network of 48 bits has", "address 2001:db8:1:200::/64", 16 << 20, 15, false},
		{"all of its network of 48 bits", "address 2001:db8:1:200::/64", 16 << 20, 16, true},
		{"all of another network of 48 bits", "address 2001:db8:2:2::/64", 16 << 20, 16, false},
	} {
		exec(t, owner, fmt.Sprintf(kept, test.caller, test.bytes, test.keys))
		exec(t, server, "begin")
		address := "203.0.113.7"
		if strings.Contains(test.caller, "2001:") {
			address = "2001:db8:1:1::/64"
		}
		_, err := server.Exec(t.Context(), "select platform.answer_claim('new', 'asks', null, null, $1)", address)
		exec(t, server, "rollback")
		switch {
		case !test.isRefused && err != nil:
			t.Errorf("%s: got %v", test.what, err)
		case test.isRefused:
			if r := refused(t, err); r.Code != "SP429" || !strings.Contains(r.Detail, "36") && !strings.Contains(r.Detail, "35") {
				t.Errorf("%s: got %s %s", test.what, r.Code, r.Detail)
			}
			if got := value[string](t, server, "select left(body, 1) from platform.answer_claim(sha256('1'), 'asks', null, null, '203.0.113.7')"); got != "x" {
				t.Errorf("%s: a repetition got %s", test.what, got)
			}
		}
		exec(t, owner, "update platform.answer set expires_at = now()")
		exec(t, server, "begin")
		if got := value[string](t, server, claim, []byte("new"), []byte("asks")); got != "claimed" {
			t.Errorf("%s, a day later: got %s", test.what, got)
		}
		exec(t, server, "rollback")
		exec(t, owner, "truncate platform.answer")
	}
}

func TestAnswerSweep(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	server, owner := db.Server(t), db.Owner(t)
	exec(t, owner, `insert into platform.answer (id, asks, expires_at)
		select sha256(n::text::bytea), '', now() + interval '1 hour' * (n - 25) from generate_series(1, 50) as n`)
	got := ""
	for range 4 {
		got += fmt.Sprint(value[bool](t, server, "select platform.answer_sweep(10)"), " ")
	}
	if got != "true true false false " {
		t.Errorf("sweeps by ten of 25: got %s", got)
	}
	if n := value[int](t, owner, "select count(*) from platform.answer"); n != 25 {
		t.Errorf("%d answers are left, want 25", n)
	}
}

// Only the owner reads or writes answers without the functions, and only servers call
// these.
func TestAnswerRights(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, role := range []string{"sternpost_server", "sternpost_caller", "sternpost_code", "public"} {
		for _, privilege := range []string{"select", "insert", "update"} {
			if role != "public" && value[bool](t, owner, "select has_any_column_privilege($1, 'platform.answer', $2)", role, privilege) {
				t.Errorf("%s may %s platform.answer", role, privilege)
			}
		}
		for _, function := range []string{"answer_claim(bytea, bytea, text, text, text)", "answer_find(bytea, bytea, text, text)", "answer_keep(bytea, text, text, bytea)", "answer_sweep(integer)"} {
			may := value[bool](t, owner, "select has_function_privilege($1, $2, 'execute')", role, "platform."+function)
			if may != (role == "sternpost_server") {
				t.Errorf("%s may execute %s: %t", role, function, may)
			}
		}
	}
}
