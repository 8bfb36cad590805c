package integration

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
)

// TestLostCursor tests that a page begins behind a row that is deleted, for the caller of the request: the function for
// any request answers it, which takes the whole context where the form took the caller alone.
func TestLostCursor(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": `
model Note {
  fields { text Text  owner Identity }
  actions {
    list ownNotes(text?) { @orderBy(text: asc)  @permission(expression: note.owner == ctx.identity) }
    list someNotes(text?) { @permission(expression: ctx.isAuthenticated) }
  }
}
`}))
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), `
		insert into app.identity (id) values ('ada'), ('bob');
		insert into app.note (id, text, owner_id) select 'n' || n, 'text', case when n % 2 = 0 then 'ada' else 'bob' end from generate_series(0, 9) as n`); err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer " + a.token(t, "ada")}}
	cursor, ids := regexp.MustCompile(`"endCursor":"([^"]*)"`), regexp.MustCompile(`"id":"[^"]*"|"has[A-Za-z]*Page":[a-z]*`)
	found := func(page string) string { return fmt.Sprint(ids.FindAllString(page, -1)) }
	for _, test := range []struct{ action, lost, before, after string }{
		{"ownNotes", "n2", `["id":"n0" "id":"n2" "hasNextPage":true "hasPreviousPage":false]`,
			`["id":"n4" "id":"n6" "hasNextPage":true "hasPreviousPage":true]`},
		{"someNotes", "n1", `["id":"n0" "id":"n1" "hasNextPage":true "hasPreviousPage":false]`,
			`["id":"n3" "id":"n4" "hasNextPage":true "hasPreviousPage":true]`},
	} {
		list := func(after string) string {
			response, got := a.send(t, "POST", "/api/json/"+test.action, header, `{"where":{"text":{"equals":"text"}},"first":2`+after+`}`)
			if response.StatusCode != 200 {
				t.Fatalf("%s: got %d %s", test.action, response.StatusCode, got)
			}
			return got
		}
		page := list("")
		if got := found(page); got != test.before {
			t.Errorf("%s: got %s, want %s", test.action, got, test.before)
		}
		if _, err := conn.Exec(t.Context(), "delete from app.note where id = $1", test.lost); err != nil {
			t.Fatal(err)
		}
		if got := found(list(`,"after":"` + cursor.FindStringSubmatch(page)[1] + `"`)); got != test.after {
			t.Errorf("%s behind a deleted row: got %s, want %s", test.action, got, test.after)
		}
	}
}
