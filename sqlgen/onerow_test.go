package sqlgen_test

import (
	"strings"
	"testing"
)

// TestOneRowIsFoundByItself counts the rows that Postgres reads to find one row under a rule that
// walks a relation. This caller leads to 2,000 rows there, and other callers lead to one. So reading
// those first would seem cheap to Postgres.
func TestOneRowIsFoundByItself(t *testing.T) {
	t.Parallel()
	a := newApp(t, "one", `
model Post {
  fields {
    title Text
    shares Share[]
  }
  actions {
    get getShared(id)
    update updateShared(id) with (title)
    delete deleteShared(id)
    list listShared()
  }
  @permission(expression: post.shares.person == ctx.identity, actions: [get, update, delete, list])
}
model Share { fields { post Post  person Identity } }
`)
	conn := a.db.Superuser(t)
	for _, sql := range []string{
		"set session_replication_role = replica", // the references hold by construction
		"insert into app.post (id, title) select 'p' || n, 'title' from generate_series(1, 20000) as n",
		"insert into app.share (post_id, person_id) select 'p' || n, 'other' || n from generate_series(1, 20000) as n",
		"insert into app.share (post_id, person_id) select 'p' || n, 'me' from generate_series(1, 2000) as n",
		"reset session_replication_role",
		"analyze",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, test := range []struct{ name, body string }{
		{"getShared", `{"id":"p7"}`},
		{"updateShared", `{"where":{"id":"p7"},"values":{"title":"new"}}`},
		{"deleteShared", `{"id":"p7"}`},
	} {
		for range 7 { // by then Postgres has chosen the plan that it keeps
			rows, answer := rowsReadBy(t, conn, a.action(t, test.name).Function, test.body, "me")
			if rows > 20 || !strings.Contains(answer, `"p7"`) {
				t.Errorf("%s reads %d rows and answers %s", test.name, rows, answer)
			}
		}
		if rows, answer := rowsReadBy(t, conn, a.action(t, test.name).Function, strings.ReplaceAll(test.body, "p7", "p7000"), "me"); answer != "SP403" {
			t.Errorf("%s of a row that is not shared: got %s after %d rows, want SP403", test.name, answer, rows)
		}
	}
}
