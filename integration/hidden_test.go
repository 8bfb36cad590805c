package integration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// parcels has a hidden field of each sort, on the model of the actions and on others around it.
// The hidden values have the word canary in them, which no response and no log may have.
const parcels = `
model Parcel {
  fields {
    number Text @unique
    token Text @hidden @unique @maxLength(60)
    marks Text[] @hidden @default(["canary-mark"])
    slip File? @hidden
    cover File?
    weight Number @default(1)
    owner Person @hidden @relation(owned)
    carrier Person?
    items Item[]
    stamp Stamp?
  }
  actions {
    get getParcel(id)
    get byToken(token)
    get embedded(id) { @embed(carrier.identity, carrier.owned, items.parcel, stamp) }
    get selected(id) { @select(cover, carrier, items.parcel.carrier.name, stamp.note, number) }
    get coded(id) @function
    get own(number) { @permission(expression: parcel.owner.identity == ctx.identity) }
    list parcels(number?, carrier.name?) { @orderBy(weight: desc) @sortable(number) @facet(number) }
    list ownParcels() { @where(parcel.owner.identity == ctx.identity) @select(number, items) }
    list named(q: Text?) { @where(parcel.token == q) @embed(items) }
    list codedParcels() @function
    create send() with (number, token, slip?, cover?, owner.id, carrier.id?, items.what, items.remark, items.price)
    create sendSelected() with (number, token, slip?, cover?, owner.id, items.what, items.remark, items.price) { @select(cover, items) }
    create sendJudged() with (number, token, owner.id) { @permission(expression: parcel.token != "canary-refused" && parcel.owner.name != "x") }
    create sendCoded() with (number, token, owner.id) @function
    update change(id) with (token?, weight?, slip?)
    update changeSelected(token) with (weight) { @select(weight, items.what) }
    update changeOwn(number) with (weight, token?) { @permission(expression: parcel.owner.identity == ctx.identity) }
    update changeCoded(id) with (weight) @function
    delete dropByToken(token)
  }
  @validate(parcel.token != "canary-bad", message: "a bad token")
  @permission(expression: true, actions: [get, list, create, update, delete])
}
model Item {
  fields { parcel Parcel  what Text  remark Text @hidden  price Number @hidden }
  @validate(item.price < 100)
}
model Stamp { fields { parcel Parcel @unique  note Text  code Text @hidden @default("canary-code") } }
model Person {
  fields { name Text  phone Text @hidden  identity Identity? @unique  owned Parcel[]  carried Parcel[] }
  @permission(expression: person.identity == ctx.identity, actions: [get, list])
}
union Thing {
  fields { number Text  weight Number? }
  arms {
    parcel Parcel { @where(parcel.token != "none") }
    item Item { @set(thing.number = item.what) }
  }
  actions { list things(number?) { @sortable(number) }  get thing(id) }
  @permission(expression: true, actions: [get, list])
}
`

func parcelFiles() map[string]string {
	code := func(name, arguments, returns, volatility, body string) string {
		return fmt.Sprintf("create function functions.%s(%s) returns %s\nlanguage sql\n%s\nsecurity invoker\nas $$\n  %s;\n$$;\n", name, arguments, returns, volatility, body)
	}
	return map[string]string{
		"schema.stern":               parcels,
		"functions/coded.sql":        code("coded", "id text", "app.parcel", "stable", "select * from app.parcel where parcel.id = coded.id"),
		"functions/codedParcels.sql": code("coded_parcels", "", "setof app.parcel", "stable", "select * from app.parcel"),
		"functions/sendCoded.sql": code("send_coded", "number text, token text, owner_id text", "app.parcel", "volatile",
			"insert into app.parcel (number, token, owner_id) values (send_coded.number, send_coded.token, send_coded.owner_id) returning *"),
		"functions/changeCoded.sql": code("change_coded", "id text, weight bigint", "app.parcel", "volatile",
			"update app.parcel set weight = change_coded.weight where parcel.id = change_coded.id returning *"),
	}
}

var cursors = regexp.MustCompile(`"(?:start|end)Cursor":"([^"]*)"`)

// TestHidden calls every sort of action as several callers, also in ways that fail: no
// response and no log shows a hidden value, and callers still get the rest.
func TestHidden(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, parcelFiles())
	db := installApp(t, dir)
	a := serveWith(t, db, dir, db.ServerURL(), serving{debug: true})
	if _, err := db.Superuser(t).Exec(t.Context(), `
		insert into app.identity (id, email, issuer) values ('ada', 'ada@example.com', 'https://x'), ('bob', 'bob@example.com', 'https://x');
		insert into app.person (id, name, phone, identity_id) values ('a', 'Ada', 'canary-1', 'ada'), ('canary-owner', 'Bob', 'canary-2', 'bob');
		insert into app.parcel (id, number, token, owner_id, carrier_id, weight) values
			('p', 'P', 'canary-p', 'canary-owner', 'a', 2), ('q', 'Q', 'canary-q', 'canary-owner', null, 1);
		insert into app.item (id, parcel_id, what, remark, price) values ('i', 'p', 'Pen', 'canary-3', 5);
		insert into app.stamp (id, parcel_id, note) values ('s', 'p', 'nice')`); err != nil {
		t.Fatal(err)
	}
	file := "data:text/plain;name=canary.txt;base64,YQ=="
	cover := "data:text/plain;name=a.txt;base64,YQ=="
	items := `"items":[{"what":"Ink","remark":"canary-4","price":1}]`
	for _, test := range []struct {
		action, input               string
		anonymous, someone, whoOwns int    // statuses; 0 means that the call is made once, by the owner
		holds                       string // each answer that is a 200
	}{
		{"getParcel", `{"id":"p"}`, 200, 200, 200, `"number":"P","cover":null,"weight":2,"carrierId":"a","createdAt"`},
		{"byToken", `{"token":"canary-p"}`, 200, 200, 200, `"id":"p"`},
		{"byToken", `{"token":"canary-none"}`, 200, 200, 200, `null`},
		{"embedded", `{"id":"p"}`, 200, 200, 200, `"items":[{"id":"i","parcel":{"id":"p","number":"P"`},
		{"selected", `{"id":"p"}`, 200, 200, 200, `"stamp":{"id":"s","note":"nice"},"number":"P"}`},
		{"selected", `{"id":"q"}`, 200, 200, 200, `{"id":"q","cover":null,"carrier":null,"items":[],"stamp":null,"number":"Q"}`},
		{"coded", `{"id":"p"}`, 200, 200, 200, `"number":"P"`},
		{"own", `{"number":"P"}`, 403, 403, 200, `"number":"P"`},
		{"parcels", `{"orderBy":[{"number":"asc"}],"first":1,"totalCount":true}`, 200, 200, 200, `"totalCount":2`},
		{"parcels", `{"where":{"carrier":{"name":{"equals":"Ada"}}}}`, 200, 200, 200, `"count":1`},
		{"parcels", `{"where":{"token":{"equals":"canary-p"}}}`, 400, 400, 400, ``},
		{"parcels", `{"where":{"ownerId":{"startsWith":"canary"}}}`, 400, 400, 400, ``},
		{"parcels", `{"orderBy":[{"token":"asc"}]}`, 400, 400, 400, ``},
		{"ownParcels", `{"first":1}`, 200, 200, 200, `"results":[`},
		{"named", `{"where":{"q":"canary-q"}}`, 200, 200, 200, `"number":"Q"`},
		{"codedParcels", `{"last":2}`, 200, 200, 200, `"number":"P"`},
		{"things", `{"orderBy":[{"number":"asc"}]}`, 200, 200, 200, `"sourceArm":"item","number":"Pen"`},
		{"thing", `{"id":"p"}`, 200, 200, 200, `"number":"P"`},
		{"change", `{"where":{"id":"p"},"values":{"weight":3}}`, 200, 200, 200, `"weight":3`},
		{"changeSelected", `{"where":{"token":"canary-p"},"values":{"weight":4}}`, 200, 200, 200, `{"id":"p","weight":4,"items":[{"id":"i","what":"Pen"}]}`},
		{"changeSelected", `{"where":{"token":"canary-none"},"values":{"weight":4}}`, 404, 404, 404, ``},
		{"changeOwn", `{"where":{"number":"P"},"values":{"weight":5,"token":"canary-p"}}`, 403, 403, 200, `"weight":5`},
		{"changeCoded", `{"where":{"id":"p"},"values":{"weight":6}}`, 200, 200, 200, `"weight":6`},

		{"send", `{"number":"N1","token":"canary-n1","slip":"` + file + `","cover":"` + cover + `","owner":{"id":"a"},"carrier":{"id":"a"},` + items + `}`, 0, 0, 200, `"url":"data:text/plain;name=a.txt`},
		{"sendSelected", `{"number":"N2","token":"canary-n2","slip":"` + file + `","cover":"` + cover + `","owner":{"id":"a"},` + items + `}`, 0, 0, 200, `"url":"data:text/plain;name=a.txt`},
		{"sendJudged", `{"number":"N3","token":"canary-n3","owner":{"id":"a"}}`, 0, 0, 200, `"number":"N3"`},
		{"sendJudged", `{"number":"N4","token":"canary-refused","owner":{"id":"a"}}`, 403, 403, 403, ``},
		{"sendCoded", `{"number":"N5","token":"canary-n5","owner":{"id":"a"}}`, 0, 0, 200, `"number":"N5"`},

		// A value that is taken, too long, not valid, of another type, or points nowhere.
		{"send", `{"number":"N6","token":"canary-p","owner":{"id":"a"},"items":[]}`, 400, 400, 400, ``},
		{"change", `{"where":{"id":"p"},"values":{"token":"canary-q"}}`, 400, 400, 400, ``},
		{"change", `{"where":{"id":"p"},"values":{"token":"canary-bad"}}`, 409, 409, 409, ``},
		{"change", `{"where":{"id":"p"},"values":{"token":"canary-` + strings.Repeat("x", 60) + `"}}`, 400, 400, 400, ``},
		{"change", `{"where":{"id":"p"},"values":{"token":["canary"]}}`, 400, 400, 400, ``},
		{"change", `{"where":{"id":"p"},"values":{"slip":"canary"}}`, 400, 400, 400, ``},
		{"sendCoded", `{"number":"N7","token":"canary-p","owner":{"id":"a"}}`, 400, 400, 400, ``},
		{"sendCoded", `{"number":"N8","token":"canary-n8","owner":{"id":"canary-nobody"}}`, 400, 400, 400, ``},
		{"send", `{"number":"N9","token":"canary-n9","owner":{"id":"canary-nobody"},"items":[]}`, 400, 400, 400, ``},
		{"send", `{"number":"N9","token":"canary-n9","owner":{"id":"a"},"items":[{"what":"x","remark":"canary","price":100}]}`, 409, 409, 409, ``},

		{"dropByToken", `{"token":"canary-none"}`, 404, 404, 404, ``},
		{"dropByToken", `{"token":"canary-q"}`, 0, 0, 200, `"q"`},
	} {
		for identity, status := range map[string]int{"": test.anonymous, "ada": test.someone, "bob": test.whoOwns} {
			if status == 0 {
				continue
			}
			header := http.Header{}
			if identity != "" {
				header.Set("Authorization", "Bearer "+a.token(t, identity))
			}
			response, got := a.send(t, "POST", "/api/json/"+test.action, header, test.input)
			if response.StatusCode != status || status == 200 && !strings.Contains(got, test.holds) {
				t.Errorf("%s %s as %q\ngot  %d %s\nwant %d %s", test.action, test.input, identity, response.StatusCode, got, status, test.holds)
			}
			for _, c := range cursors.FindAllStringSubmatch(got, -1) {
				position, err := base64.RawURLEncoding.DecodeString(c[1])
				if err != nil {
					t.Fatal(err)
				}
				got += string(position)
			}
			if strings.Contains(strings.ToLower(got), "canary") {
				t.Errorf("%s %s as %q shows a hidden value: %s", test.action, test.input, identity, got)
			}
		}
	}
	log := a.log.String()
	if at := strings.Index(strings.ToLower(log), "canary"); at >= 0 {
		t.Errorf("the log shows a hidden value: %.400s", log[max(0, at-300):])
	}
	if !strings.Contains(log, "changeSelected") {
		t.Error("the log does not have the requests in it")
	}
}

// TestHiddenInDescription looks for hidden fields in the description of the API: they are
// inputs of the actions that write them, and members of nothing.
func TestHiddenInDescription(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, parcelFiles()))
	_, text := a.send(t, "GET", "/api/json/openapi.json", nil, "")
	var description struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &description); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for name, schema := range description.Components.Schemas {
		if name == "ResetPasswordInput" || name == "VerifyEmailInput" || name == "ConfirmAuthenticatorInput" || name == "Error" { // they are not part of the schema
			continue
		}
		var nested strings.Builder
		for property, value := range schema.Properties {
			nested.WriteString(property + " ")
			nested.Write(value)
		}
		for _, hidden := range []string{"token", "marks", "slip", "owner", "ownerId", "remark", "price", "phone", "code"} {
			if regexp.MustCompile(`\b` + hidden + `\b`).MatchString(nested.String()) {
				found[name+"."+hidden] = true
			}
		}
	}
	want := map[string]bool{}
	for _, input := range []string{
		"ByTokenInput.token", "SendInput.token", "SendInput.slip", "SendInput.owner", "SendItemsInput.remark", "SendItemsInput.price",
		"SendSelectedInput.token", "SendSelectedInput.slip", "SendSelectedInput.owner", "SendSelectedItemsInput.remark", "SendSelectedItemsInput.price",
		"SendJudgedInput.token", "SendJudgedInput.owner", "SendCodedInput.token", "SendCodedInput.owner", "ChangeValues.token", "ChangeValues.slip",
		"ChangeSelectedWhere.token", "ChangeOwnValues.token", "DropByTokenInput.token",
	} {
		want[input] = true
	}
	for name := range found {
		if !want[name] {
			t.Errorf("the description has the hidden field %s", name)
		}
	}
	for name := range want {
		if !found[name] {
			t.Errorf("the description lacks the input %s", name)
		}
	}
}
