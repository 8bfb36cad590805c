package sqlgen_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const shop = `
model Customer {
  fields {
    name Text
    email Text? @unique
    rating Number @default(5)
    tags Text[] @default
    friend Customer?
    friends Customer[]
    home Town?
    born Date?
    limit Decimal?
    lastSeen Timestamp?
    stay Duration?
    notes Text[]?
  }
  actions {
    create createCustomer() with (id?, name, email?, rating?, tags?, friend.id?, home.id?, born?, limit?, lastSeen?, stay?, notes?)
    get getCustomer(id)
    get getCustomerByEmail(email)
    update updateCustomer(id) with (name?, email?, rating?, tags?, friend.id?, homeId?, born?, limit?, notes?)
    update renameCustomer(email) with (name)
    update moveCustomer(id) with (home.id)
    delete deleteCustomer(id)
    list listCustomers(name?)
  }
  @permission(expression: true, actions: [create, get, update, delete, list])
}
model Town {}
model Address {
  fields { street Text  owner Customer? @unique @onDelete(restrict) }
  actions {
    create createAddress() with (street, ownerId?) { @permission(expression: true) }
    create secretAddress() with (street) { @permission(expression: ctx.isAuthenticated) }
    get getAddress(id)
    update updateAddress(id) with (street)
    delete deleteAddress(id)
    list listAddresses()
  }
  @permission(expression: ctx.isAuthenticated, actions: [get, update, delete, list])
}
model Safe {
  fields { code Text }
  actions {
    get getSafe(id)
    create createSafe() with (code)
    update updateSafe(id) with (code)
    delete deleteSafe(id)
    list listSafes(code?)
  }
}
model Book {
  fields { title Text  context Text?  input Text?  found Boolean?  record Text? }
  actions { create book() with (title, context?, input?, found?, record?) }
  @permission(expression: true, actions: [create])
}
`

// TestAnswers calls actions one after the other, each case in a database of its
// own. An answer is compared member by member, as far as it is written out.
func TestAnswers(t *testing.T) {
	t.Parallel()
	type step struct {
		action, body, caller string
		want                 string
	}
	anna := step{action: "createCustomer", body: `{"id":"anna","name":"Anna","email":"a@x"}`, want: `{"id":"anna"}`}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"create with defaults", []step{
			{action: "createCustomer", body: `{"name":"Anna"}`, want: `{"name":"Anna","email":null,"rating":5,"tags":[],"friendId":null,"homeId":null,
				"born":null,"limit":null,"lastSeen":null,"stay":null,"notes":null}`},
		}},
		{"create with everything", []step{
			anna,
			{action: "createCustomer", body: `{"id":"b","name":"","email":"b@x","rating":-9007199254740991,"tags":["a","","a"],"friend":{"id":"anna"},
				"home":null,"born":"2001-02-28","limit":1.50,"lastSeen":"2026-03-31T23:40:10.1239+02:00","stay":"PT90M","notes":[]}`,
				want: `{"id":"b","name":"","email":"b@x","rating":-9007199254740991,"tags":["a","","a"],"friendId":"anna","homeId":null,"born":"2001-02-28",
				"limit":1.5,"lastSeen":"2026-03-31T21:40:10.123Z","stay":"PT1H30M","notes":[]}`},
		}},
		{"create with null and with nothing", []step{
			{action: "createCustomer", body: `{"name":"A","email":null,"friend":null,"home":{"id":null},"born":null,"notes":null}`, want: `400`},
			{action: "createCustomer", body: `{"name":"A","email":null,"friend":null,"born":null,"notes":null}`,
				want: `{"email":null,"friendId":null,"born":null,"notes":null}`},
			{action: "createCustomer", body: `{"name":"A","friend":{}}`, want: `{"friendId":null}`},
		}},
		{"what create refuses", []step{
			anna,
			{action: "createCustomer", body: `{"name":"B","email":"a@x"}`, want: `23505 customer_email_key`},
			{action: "createCustomer", body: `{"id":"anna","name":"B"}`, want: `23505 customer_pkey`},
			{action: "createCustomer", body: `{"name":"B","friend":{"id":"nobody"}}`, want: `23503 customer_friend_id_fkey`},
		}},
		{"get", []step{
			anna,
			{action: "getCustomer", body: `{"id":"anna"}`, want: `{"name":"Anna"}`},
			{action: "getCustomer", body: `{"id":"ANNA"}`, want: `null`},
			{action: "getCustomerByEmail", body: `{"email":"a@x"}`, want: `{"id":"anna"}`},
			{action: "getCustomerByEmail", body: `{"email":"'; drop table app.customer; --"}`, want: `null`},
		}},
		{"update what is given", []step{
			anna,
			{action: "updateCustomer", body: `{"where":{"id":"anna"},"values":{"rating":1,"tags":["x"]}}`, want: `{"name":"Anna","email":"a@x","rating":1,"tags":["x"]}`},
			{action: "updateCustomer", body: `{"where":{"id":"anna"},"values":{"email":null}}`, want: `{"name":"Anna","email":null,"rating":1,"tags":["x"]}`},
			{action: "updateCustomer", body: `{"where":{"id":"anna"},"values":{"limit":3,"notes":["n"]}}`, want: `{"limit":3,"notes":["n"]}`},
			{action: "updateCustomer", body: `{"where":{"id":"anna"},"values":{"limit":null,"notes":null,"tags":[]}}`, want: `{"limit":null,"notes":null,"tags":[]}`},
			{action: "renameCustomer", body: `{"where":{"email":"a@x"},"values":{"name":"B"}}`, want: `SP404`},
		}},
		{"link and unlink", []step{
			anna,
			{action: "createAddress", body: `{"street":"s","ownerId":"anna"}`, want: `{"ownerId":"anna"}`},
			{action: "createAddress", body: `{"street":"s","ownerId":"anna"}`, want: `23505 address_owner_id_key`},
			{action: "createCustomer", body: `{"id":"b","name":"B","friend":{"id":"anna"}}`, want: `{"friendId":"anna"}`},
			{action: "updateCustomer", body: `{"where":{"id":"b"},"values":{"name":"C"}}`, want: `{"name":"C","friendId":"anna"}`},
			{action: "updateCustomer", body: `{"where":{"id":"b"},"values":{"friend":{}}}`, want: `{"friendId":"anna"}`},
			{action: "updateCustomer", body: `{"where":{"id":"b"},"values":{"friend":null}}`, want: `{"friendId":null}`},
			{action: "updateCustomer", body: `{"where":{"id":"b"},"values":{"friend":{"id":"b"}}}`, want: `{"friendId":"b"}`},
			{action: "updateCustomer", body: `{"where":{"id":"b"},"values":{"homeId":"nowhere"}}`, want: `23503 customer_home_id_fkey`},
			{action: "moveCustomer", body: `{"where":{"id":"b"},"values":{"home":null}}`, want: `{"homeId":null}`},
			{action: "deleteCustomer", body: `{"id":"anna"}`, want: restricted + ` address_owner_id_fkey`},
			{action: "deleteCustomer", body: `{"id":"b"}`, want: `"b"`},
		}},
		{"delete sets null", []step{
			anna,
			{action: "createCustomer", body: `{"id":"b","name":"B","friend":{"id":"anna"}}`, want: `{"friendId":"anna"}`},
			{action: "deleteCustomer", body: `{"id":"anna"}`, want: `"anna"`},
			{action: "getCustomer", body: `{"id":"b"}`, want: `{"friendId":null}`},
			{action: "deleteCustomer", body: `{"id":"anna"}`, want: `SP404`},
		}},
		{"missing", []step{
			{action: "getCustomer", body: `{"id":"x"}`, want: `null`},
			{action: "updateCustomer", body: `{"where":{"id":"x"},"values":{"name":"B"}}`, want: `SP404`},
			{action: "updateCustomer", body: `{"where":{"id":"x"}}`, want: `SP404`},
			{action: "deleteCustomer", body: `{"id":"x"}`, want: `SP404`},
		}},
		{"refused to nobody", []step{
			{action: "getAddress", body: `{"id":"x"}`, want: `SP403`},
			{action: "updateAddress", body: `{"where":{"id":"x"},"values":{"street":"s"}}`, want: `SP403`},
			{action: "deleteAddress", body: `{"id":"x"}`, want: `SP403`},
			{action: "listAddresses", body: `{}`, want: `SP403`},
			{action: "secretAddress", body: `{"street":"s"}`, want: `SP403`},
			{action: "secretAddress", body: `{"street":"s"}`, caller: "me", want: `{"street":"s"}`},
			{action: "getAddress", body: `{"id":"x"}`, caller: "me", want: `null`},
			{action: "updateAddress", body: `{"where":{"id":"x"},"values":{"street":"s"}}`, caller: "me", want: `SP404`},
			{action: "deleteAddress", body: `{"id":"x"}`, caller: "me", want: `SP404`},
			{action: "listAddresses", body: `{}`, caller: "me", want: `{"pageInfo":{"startCursor":"*","endCursor":"*","hasNextPage":false,"hasPreviousPage":false,"count":1}}`},
		}},
		{"refused to an identity that does not exist", []step{
			{action: "getCustomer", body: `{"id":"x"}`, caller: "ghost", want: `SP401`},
			{action: "createCustomer", body: `{"name":"x"}`, caller: "ghost", want: `SP401`},
			{action: "getSafe", body: `{"id":"x"}`, caller: "ghost", want: `SP401`},
			{action: "listCustomers", body: `{}`, caller: "ghost", want: `SP401`},
			{action: "listCustomers", body: `{}`, want: `{"results":[]}`},
		}},
		{"refused to everybody", []step{
			{action: "getSafe", body: `{"id":"x"}`, caller: "me", want: `SP403`},
			{action: "createSafe", body: `{"code":"x"}`, caller: "me", want: `SP403`},
			{action: "updateSafe", body: `{"where":{"id":"x"},"values":{"code":"y"}}`, caller: "me", want: `SP403`},
			{action: "deleteSafe", body: `{"id":"x"}`, caller: "me", want: `SP403`},
			{action: "listSafes", body: `{}`, caller: "me", want: `SP403`},
		}},
		{"columns called like parameters of a function called like their table", []step{
			{action: "book", body: `{"title":"t"}`, caller: "me", want: `{"title":"t","context":null,"input":null,"found":null,"record":null}`},
			{action: "book", body: `{"title":"t","context":"c","input":"i","found":true,"record":"r"}`, caller: "me",
				want: `{"title":"t","context":"c","input":"i","found":true,"record":"r"}`},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "shop", shop)
			for _, s := range c.steps {
				if s.want == "400" {
					if _, err := a.readers[s.action].Read([]byte(s.body)); err == nil {
						t.Errorf("%s takes %s, want a 400", s.action, s.body)
					}
					continue
				}
				want := strings.Replace(s.want, restricted, a.restrictCode(t), 1)
				if got := a.call(t, s.action, s.body, s.caller); !answers(t, got, want) {
					t.Errorf("%s %s as %q\ngot  %s\nwant %s", s.action, s.body, s.caller, got, want)
				}
			}
		})
	}
}

// restricted is the SQLSTATE of a delete that a restrict reference refuses.
const restricted = "restricted"

// restrictCode is that SQLSTATE, which is a separate code from PostgreSQL 18 on.
func (a *app) restrictCode(t testing.TB) string {
	t.Helper()
	var version int
	if err := a.owner.QueryRow(t.Context(), "select current_setting('server_version_num')::int").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version >= 180000 {
		return "23001"
	}
	return "23503"
}

// answers tells whether an answer is as wanted: in objects, only the wanted members
// count. "*" means any text.
func answers(t *testing.T, got, want string) bool {
	t.Helper()
	if !strings.HasPrefix(want, "{") {
		return got == want
	}
	if !strings.HasPrefix(got, "{") {
		return false
	}
	var match func(got, want any) bool
	match = func(got, want any) bool {
		w, ok := want.(map[string]any)
		if !ok {
			_, isText := got.(string)
			return reflect.DeepEqual(got, want) || want == "*" && isText
		}
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, value := range w {
			there, ok := g[name]
			if !ok || !match(there, value) {
				return false
			}
		}
		return true
	}
	return match(object(t, got), object(t, want))
}

// TestRecord tests the order of a record's members, and that no white space is sent.
func TestRecord(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shop", shop)
	answer := a.call(t, "createCustomer", `{"id":"anna","name":"A \"b\" \\ ü\u2028","tags":["a","b"]}`, "")
	if strings.Contains(answer, `": `) || strings.Contains(answer, ", \"") {
		t.Errorf("white space in %s", answer)
	}
	decoder := json.NewDecoder(strings.NewReader(answer))
	var names []string
	for depth, expectsName := 0, false; ; {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'):
			depth++
			expectsName = true
			continue
		case json.Delim('['):
			depth++
			continue
		case json.Delim(']'), json.Delim('}'):
			depth--
			expectsName = depth == 1
			continue
		}
		if depth == 1 && expectsName {
			names = append(names, token.(string))
			expectsName = false
		} else if depth == 1 {
			expectsName = true
		}
	}
	want := []string{"id", "name", "email", "rating", "tags", "friendId", "homeId", "born", "limit", "lastSeen", "stay", "notes", "createdAt", "updatedAt"}
	if !slices.Equal(names, want) {
		t.Errorf("members %v, want %v", names, want)
	}
	if got := object(t, answer)["name"]; got != "A \"b\" \\ ü\u2028" {
		t.Errorf("name %q", got)
	}
}

// TestUpdatedAt tests when updatedAt changes: with the row, not with a request.
func TestUpdatedAt(t *testing.T) {
	t.Parallel()
	a := newApp(t, "shop", shop)
	a.exec(t, "insert into app.customer (id, name, tags, created_at, updated_at) values ('a', 'A', '{x}', '2020-01-01Z', '2020-01-02Z')")
	const unchanged = "2020-01-02T00:00:00.000Z"
	for _, c := range []struct {
		values  string
		touches bool
	}{
		{`,"values":{}`, false},
		{``, false},
		{`,"values":{"name":"A"}`, false},
		{`,"values":{"tags":["x"],"email":null}`, false},
		{`,"values":{"friend":{}}`, false},
		{`,"values":{"name":"B"}`, true},
	} {
		got := object(t, a.call(t, "updateCustomer", `{"where":{"id":"a"}`+c.values+`}`, ""))
		if touched := got["updatedAt"] != unchanged; touched != c.touches {
			t.Errorf("an update with %q: updatedAt is %v, want it to change: %t", c.values, got["updatedAt"], c.touches)
		}
		if got["createdAt"] != "2020-01-01T00:00:00.000Z" {
			t.Errorf("an update changes createdAt to %v", got["createdAt"])
		}
	}
}
