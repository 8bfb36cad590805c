package integration

import (
	"net/http"
	"testing"
)

// TestCallerWithoutProfile tests the error for a caller without the profile that sets a required field.
func TestCallerWithoutProfile(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": `
model Person {
  fields { name Text  identity Identity @unique  posts Post[] }
}
model Post {
  fields { title Text  author Person }
  actions {
    create write() with (title) { @set(post.author = ctx.identity.person) }
    update take(id) { @set(post.author = ctx.identity.person) }
    update hand(id) with (author.id)
  }
  @permission(expression: ctx.isAuthenticated, actions: [create, update])
}
`}))
	if _, err := a.db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id, email, issuer) values ('ada', 'ada@example.com', 'https://x'), ('bob', 'bob@example.com', 'https://x');
		insert into app.person (id, name, identity_id) values ('a', 'Ada', 'ada');
		insert into app.post (id, title, author_id) values ('p', 'Post', 'a')`); err != nil {
		t.Fatal(err)
	}
	const none = `{"code":"ERR_INVALID_INPUT","message":"the caller has no person","data":{"errors":[{"code":"noCaller","params":{"name":"person"},"error":"the caller has no person"}]}}`
	for _, test := range []struct {
		caller, action, input string
		status                int
		want                  string // "" means that it does not matter
	}{
		{"bob", "write", `{"title":"x"}`, 400, none},
		{"bob", "take", `{"where":{"id":"p"}}`, 400, none},
		{"bob", "hand", `{"where":{"id":"p"},"values":{"author":{"id":null}}}`, 400, ""},
		{"ada", "write", `{"title":"x"}`, 200, ""},
		{"ada", "take", `{"where":{"id":"p"}}`, 200, ""},
	} {
		header := http.Header{"Authorization": {"Bearer " + a.token(t, test.caller)}}
		response, got := a.send(t, "POST", "/api/json/"+test.action, header, test.input)
		if response.StatusCode != test.status || test.want != "" && got != test.want {
			t.Errorf("%s as %s: got %d %s, want %d %s", test.action, test.caller, response.StatusCode, got, test.status, test.want)
		}
	}
}
