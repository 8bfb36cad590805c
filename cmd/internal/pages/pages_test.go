package pages_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/cmd/internal/pages"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// testData is the data of a database with a schema that has a field of each type.
type testData struct {
	*pages.Data
	db *pgtest.DB
}

func newData(t *testing.T) *testData {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "shop.stern"))
	if err != nil {
		t.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "shop.stern", Text: text}}})
	if compiled == nil {
		var b strings.Builder
		if err := syntax.Render(&b, errs, syntax.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Fatal(b.String())
	}
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), compiled.Release()); err != nil {
		t.Fatal(err)
	}
	b := &testData{pages.New(db.OwnerURL(), nil), db}
	b.Installed(compiled, errs)
	return b
}

// ask asks a question that must not be refused.
func (b *testData) ask(t *testing.T, question, input string) string {
	t.Helper()
	found, err := b.Ask(t.Context(), question, []byte(input))
	if err != nil {
		t.Fatalf("%s %s: %v", question, input, err)
	}
	return strings.TrimSpace(string(found))
}

// refused asks a question that must be refused, and returns the reason.
func (b *testData) refused(t *testing.T, question, input string) string {
	t.Helper()
	found, err := b.Ask(t.Context(), question, []byte(input))
	var wrong *docs.WrongError
	if !errors.As(err, &wrong) {
		t.Fatalf("%s %s: got %s, %v, want it refused", question, input, found, err)
	}
	return strings.TrimPrefix(wrong.Field+": "+wrong.Message, ": ")
}

// make inserts a row and returns its id.
func (b *testData) make(t *testing.T, model, values string) string {
	t.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(b.ask(t, "change", `{"model":"`+model+`","values":`+values+`}`)), &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// TestChanges makes a row with a value of each type, reads it as it was written, changes
// and deletes it.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := newData(t)
	owner := b.make(t, "Owner", `{"name":"Ada"}`)
	id := b.make(t, "Thing", `{"ownerId":"`+owner+`","title":"It's \"so\"","count":"9007199254740991","price":"12.50","isNew":true,
		"day":"2026-03-31","at":"2026-03-31T09:00:00.5Z","length":"P1DT2H","size":"Large","tags":["a","b,\"c"],"sizes":["Small"],"prices":["0.10","2"],"place":["1","0.5"]}`)
	var one struct {
		Values map[string]any
		Labels map[string]string
	}
	byID := `","where":{"id":{"equals":"`
	read := func(model, id string) {
		t.Helper()
		var page struct {
			Rows   []map[string]any
			Labels map[string]string
		}
		if err := json.Unmarshal([]byte(b.ask(t, "rows", `{"model":"`+model+byID+id+`"}}}`)), &page); err != nil || len(page.Rows) != 1 {
			t.Fatalf("%s %s: got %v, %v, want one row", model, id, page.Rows, err)
		}
		one.Values, one.Labels = page.Rows[0], page.Labels
	}
	read("Thing", id)
	want := map[string]any{"title": `It's "so"`, "count": "9007199254740991", "price": "12.50", "isNew": true, "day": "2026-03-31",
		"at": "2026-03-31T09:00:00.500Z", "length": "P1DT2H", "size": "Large", "tags": []any{"a", `b,"c`}, "sizes": []any{"Small"},
		"prices": []any{"0.10", "2"}, "place": []any{"1", "0.5"}, "ownerId": owner, "note": nil, "secret": nil, "photo": nil, "photos": []any{}}
	for name, value := range want {
		if fmt.Sprint(one.Values[name]) != fmt.Sprint(value) {
			t.Errorf("%s: got %v, want %v", name, one.Values[name], value)
		}
	}
	if one.Labels[owner] != "Ada" {
		t.Errorf("labels: got %v, want Ada for %s", one.Labels, owner)
	}

	b.ask(t, "change", `{"model":"Thing","id":"`+id+`","values":{"count":null,"title":"other","isNew":false,"tags":[]}}`)
	read("Thing", id)
	if one.Values["title"] != "other" || one.Values["count"] != nil || one.Values["isNew"] != false || fmt.Sprint(one.Values["tags"]) != "[]" || one.Values["price"] != "12.50" {
		t.Errorf("changed: got %v", one.Values)
	}
	if _, err := b.db.Superuser(t).Exec(t.Context(), "update app.thing set secret = 'x'"); err != nil {
		t.Fatal(err)
	}
	if read("Thing", id); one.Values["secret"] != true {
		t.Errorf("a secret: got %v, want only that there is one", one.Values["secret"])
	}
	for _, test := range []struct{ question, input, want string }{
		{"change", `{"model":"Owner","values":{}}`, `name: field 'name' cannot be null`},
		{"change", `{"model":"Owner","values":{"name":"Ada"}}`, `name: the value for the unique field 'name' must be unique`},
		{"change", `{"model":"Owner","values":{"nam":"Ada"}}`, "Owner has no field nam"},
		{"change", `{"model":"Owner","values":{"things":[]}}`, "Owner has no field things"},
		{"change", `{"model":"Nobody","values":{}}`, "the schema has no model Nobody"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"day":"soon"}}`, `day: soon is not a value of Date`},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"size":"Huge"}}`, "size: Huge is not a value of Size"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"sizes":["Small","Huge"]}}`, "sizes: Huge is not a value of Size"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"prices":["1","x"]}}`, "prices: [1 x] is not a value of Decimal[]"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"ownerId":"none"}}`, "ownerId: the record referenced in field 'ownerId' does not exist"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"title":["a"]}}`, "title: [a] is not a value of Text"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"tags":"a"}}`, "tags: a is not a value of Text[]"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"secret":"x"}}`, "secret: a Secret cannot be set directly"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"photo":"x"}}`, "photo: a File cannot be set directly"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"total":"1"}}`, "total: total is computed and cannot be set"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"number":"T-9"}}`, "number: number is set by the database and cannot be changed"},
		{"change", `{"model":"Thing","values":{"number":"T-9","title":"x"}}`, "number: number is set by the database and cannot be changed"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{"id":"other"}}`, "id: id is set by the database and cannot be changed"},
		{"change", `{"model":"Thing","id":"` + id + `","values":{}}`, "no value has changed"},
		{"change", `{"model":"Thing","id":"none","values":{"title":"x"}}`, "Thing has no row with the id none"},
		{"change", `{"model":"Thing","id":"x","values":{"title":"x"},"more":1}`, "the question cannot be read"},
		{"change", `{"model":"Thing","id":"none"}`, "Thing has no row with the id none"},
		{"everything", `{}`, `the pages have no question "everything"`},
	} {
		if got := b.refused(t, test.question, test.input); !strings.Contains(got, test.want) {
			t.Errorf("%s %s: got %q, want %q", test.question, test.input, got, test.want)
		}
	}
	b.ask(t, "change", `{"model":"Thing","id":"`+id+`"}`)
	if got := b.ask(t, "rows", `{"model":"Thing`+byID+id+`"}}}`); !strings.Contains(got, `"count":0`) {
		t.Errorf("after its deletion: got %s", got)
	}
}

// TestRows pages through rows in every order, and filters them.
func TestRows(t *testing.T) {
	t.Parallel()
	b := newData(t)
	owner := b.make(t, "Owner", `{"name":"Ada"}`)
	for _, count := range []string{"3", "null", "1", "2", "null", "2"} {
		b.make(t, "Thing", `{"ownerId":"`+owner+`","title":"Thing of `+count+`","count":`+count+`,"tags":["t`+count+`"]}`)
	}
	type page struct {
		Rows  []map[string]any
		Next  json.RawMessage
		Count int
	}
	list := func(input string) page {
		t.Helper()
		var p page
		if err := json.Unmarshal([]byte(b.ask(t, "rows", `{"model":"Thing",`+input+`}`)), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for order, want := range map[string]string{"count": "1 2 2 3 <nil> <nil>", "-count": "3 2 2 1 <nil> <nil>"} {
		for _, size := range []int{1, 2, 4, 6, 7} {
			var got, ids []string
			after := "null"
			for range 10 {
				p := list(fmt.Sprintf(`"order":%q,"size":%d,"after":%s`, order, size, after))
				if p.Count != 6 {
					t.Errorf("order %s: counted %d, want 6", order, p.Count)
				}
				for _, r := range p.Rows {
					got, ids = append(got, fmt.Sprint(r["count"])), append(ids, r["id"].(string))
				}
				if after = string(p.Next); after == "null" {
					break
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("order %s in pages of %d: got %v, want %s", order, size, got, want)
			}
			seen := map[string]bool{}
			for _, id := range ids {
				if seen[id] {
					t.Errorf("order %s in pages of %d: %s comes twice", order, size, id)
				}
				seen[id] = true
			}
		}
	}
	for _, test := range []struct {
		filters string
		want    int
	}{
		{`"count":{"equals":"2"}`, 2},
		{`"count":{"notEquals":"2"}`, 4},
		{`"count":{"greaterThanOrEquals":"2"}`, 3},
		{`"count":{"greaterThan":"2"}`, 1},
		{`"count":{"lessThan":"2"}`, 1},
		{`"count":{"lessThanOrEquals":"2"}`, 3},
		{`"count":{"oneOf":["1","3"]}`, 2},
		{`"count":{"equals":null}`, 2},
		{`"count":{"notEquals":null},"title":{"contains":"OF 3"}`, 1},
		{`"id":{"equals":null}`, 0},
		{`"title":{"contains":"%"}`, 0},
		{`"tags":{"any":{"equals":"t1"}}`, 1},
		{`"tags":{"equals":["t1"]}`, 1},
		{`"createdAt":{"after":"2020-01-01T00:00:00Z"}`, 6},
		{`"ownerId":{"equals":"` + owner + `"}`, 6},
		{`"ownerId":{"equals":"x' or true --"}`, 0},
		{`"photo":{"equals":null}`, 6},
		{`"place":{"notEquals":null}`, 0},
		{`"size":{"equals":null}`, 6},
	} {
		if p := list(`"where":{` + test.filters + `}`); len(p.Rows) != test.want || p.Count != test.want {
			t.Errorf("%s: got %d of %d rows, want %d", test.filters, len(p.Rows), p.Count, test.want)
		}
	}
	for _, test := range []struct{ input, want string }{
		{`"order":"tags"`, "rows cannot be ordered by tags"},
		{`"order":"secret"`, "Thing has no readable field secret"},
		{`"where":{"secret":{"equals":null}}`, "Thing has no readable field secret"},
		{`"where":{"photo":{"equals":"x"}}`, "photo can only be compared with null"},
		{`"where":{"tags":{"contains":"x"}}`, `this list has no operator "tags.contains"`},
		{`"where":{"count":{"is":"x"}}`, `this list has no operator "count.is"`},
		{`"where":{"count":{"any":{"equals":1}}}`, `this list has no operator "count.any.equals"`},
		{`"where":{"count":{"equals":"many"}}`, "count: many is not a value of Number"},
	} {
		if got := b.refused(t, "rows", `{"model":"Thing",`+test.input+`}`); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.input, got, test.want)
		}
	}
}

// TestModels describes the models as the pages need them.
func TestModels(t *testing.T) {
	t.Parallel()
	b := newData(t)
	text := b.ask(t, "models", "{}")
	for _, want := range []string{
		`{"name":"Owner","label":"name","fields":`,
		`"relations":[{"name":"things","model":"Thing","field":"ownerId"},{"name":"desks","model":"Desk","field":"ownerId"}]`,
		`"actions":[{"name":"createOwner","kind":"create"},{"name":"getOwner","kind":"get","idPath":"id","ids":{"id":"Owner"}},{"name":"listOwners","kind":"list"},{"name":"updateOwner","kind":"update","idPath":"where.id","ids":{"where.id":"Owner"}}]`,
		`{"name":"addDesk","kind":"create","ids":{"owner.id":"Owner"}},{"name":"listDesks","kind":"list","ids":{"where.owner.id":"Owner"}}`,
		`{"name":"ownerId","type":"ID","required":true,"model":"Owner","filters":["equals","notEquals"],"sorts":true,"editable":true,"shown":true}`,
		`{"name":"size","type":"Size","values":["Small","Large"],"filters":["equals","notEquals"],"sorts":true,"editable":true,"shown":true}`,
		`{"name":"secret","type":"Secret","shown":false}`,
		`{"name":"code","type":"Text","filters":["equals","notEquals","startsWith","endsWith","contains"],"sorts":true,"editable":true,"shown":true,"hidden":true}`,
		`{"name":"Key","label":"place","fields":`,
		`{"name":"total","type":"Decimal","filters":["equals","notEquals","lessThan","lessThanOrEquals","greaterThan","greaterThanOrEquals"],"sorts":true,"shown":true}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the models lack %s:\n%s", want, text)
		}
	}
}

// TestExplained explains a call with its input, and reports errors in one.
func TestExplained(t *testing.T) {
	t.Parallel()
	b := newData(t)
	owner := b.make(t, "Owner", `{"name":"Ada"}`)
	identity := b.make(t, "Identity", `{"email":"ada@example.com"}`)
	for _, test := range []struct{ input, want string }{
		{`{"action":"updateOwner","input":{"where":{"id":"` + owner + `"},"values":{"name":"B"}}}`, "called by an anonymous caller\\n403"},
		{`{"action":"updateOwner","as":"` + identity + `","input":{"where":{"id":"` + owner + `"},"values":{"name":"B"}}}`, "ada@example.com"},
		{`{"action":"updateOwner","as":"` + identity + `","row":"` + owner + `"}`, `"status":200`},
	} {
		if got := strings.ReplaceAll(b.ask(t, "explain", test.input), ": ", ":"); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.input, got, test.want)
		}
	}
	for _, test := range []struct{ input, want string }{
		{`{"action":"signIn"}`, "the schema has no action signIn"},
		{`{"action":"updateOwner","as":"nobody","row":"x"}`, "nobody"},
		{`{"action":"updateOwner","input":{"where":{}}}`, "the input is not valid: where.id: id is required; values: "},
		{`{"action":"updateOwner","input":[1]}`, "the input"},
	} {
		if got := b.refused(t, "explain", test.input); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.input, got, test.want)
		}
	}
}

// TestSignIns tells the factors and sessions of an identity, and no secret.
func TestSignIns(t *testing.T) {
	t.Parallel()
	b := newData(t)
	identity := b.make(t, "Identity", `{"email":"ada@example.com"}`)
	if got := b.ask(t, "signIns", `{"id":"`+identity+`"}`); strings.ReplaceAll(got, " ", "") != `{"factors":{"factors":[],"recoveryCodes":0},"sessions":[]}` {
		t.Errorf("without any: got %s", got)
	}
	if _, err := b.db.Superuser(t).Exec(t.Context(), `
		select platform.auth_start($1, sha256('t'), sha256('k'), '1 day', null, '10.0.0.1', 'a browser');
		`, identity); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.Superuser(t).Exec(t.Context(),
		`insert into platform.auth_totp (identity_id, secret, confirmed_at) values ($1, 'canary', now())`, identity); err != nil {
		t.Fatal(err)
	}
	got := b.ask(t, "signIns", `{"id":"`+identity+`"}`)
	for _, want := range []string{"totp", "a browser", "10.0.0.1"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if strings.Contains(got, "canary") {
		t.Errorf("it shows a secret: %s", got)
	}
	if got := b.refused(t, "signIns", `{"name":"ada"}`); !strings.Contains(got, "cannot be read") {
		t.Errorf("an unknown member: got %q", got)
	}
}

// TestTrouble reports the trouble until something is installed.
func TestTrouble(t *testing.T) {
	t.Parallel()
	b := pages.New("postgres://nowhere", nil)
	var wrong *docs.WrongError
	if _, err := b.Ask(t.Context(), "models", []byte("{}")); !errors.As(err, &wrong) {
		t.Errorf("before the first installation: got %v, want it refused", err)
	}
	b.Behind("it is broken\n")
	if got := b.Trouble(); got != "it is broken" {
		t.Errorf("got %q", got)
	}
	b.Installed(&sqlgen.Compiled{}, nil)
	if got := b.Trouble(); got != "" {
		t.Errorf("after an installation: got %q", got)
	}
}
