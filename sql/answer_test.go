package sql_test

import (
	"fmt"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const claim = `select coalesce(platform.answer_claim($1, $2), 'claimed')`

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
	exec(t, server, "select platform.answer_keep('id', 'the answer')")
	exec(t, server, "commit")
	exec(t, server, "select platform.answer_keep('id', 'another')") // the kept answer stays
	for _, function := range []string{"claim", "find"} {
		if got := value[string](t, server, "select platform.answer_"+function+"($1, $2)", id, asks); got != "the answer" {
			t.Errorf("answer_%s: got %s", function, got)
		}
		_, err := server.Exec(t.Context(), "select platform.answer_"+function+"($1, $2)", id, []byte("else"))
		if r := refused(t, err); r.Code != "SP422" {
			t.Errorf("answer_%s of another request: got %s", function, r.Code)
		}
	}

	exec(t, owner, "update platform.answer set expires_at = now()")
	if got := value[string](t, server, "select coalesce(platform.answer_find($1, $2), 'none')", id, asks); got != "none" {
		t.Errorf("answer_find after a day: got %s", got)
	}
	if got := value[string](t, server, claim, id, []byte("else")); got != "claimed" {
		t.Errorf("answer_claim after a day: got %s", got)
	}
	if got := value[string](t, owner, "select date_trunc('hour', max(expires_at) - now() + interval '1 minute')::text from platform.answer"); got != "24:00:00" {
		t.Errorf("an answer is kept for %s", got)
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
		for _, function := range []string{"answer_claim(bytea, bytea)", "answer_find(bytea, bytea)", "answer_keep(bytea, text)", "answer_sweep(integer)"} {
			may := value[bool](t, owner, "select has_function_privilege($1, $2, 'execute')", role, "platform."+function)
			if may != (role == "sternpost_server") {
				t.Errorf("%s may execute %s: %t", role, function, may)
			}
		}
	}
}
