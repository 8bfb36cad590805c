package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"
)

const workbench = `
model Customer {
  fields { identity Identity? @unique  name Text  team Team?  orders Order[]  address Address? @unique }
}
model Team { fields { name Text } }
model Address { fields { street Text @default("nowhere")  city Text  customer Customer? } }
model Order {
  fields {
    number Text
    state State @default(State.Received)
    customer Customer?
    team Team?
    day Date?
    at Timestamp?
    weight Decimal @default(2.5)
    tags Text[] @default(["new"])
    note Text?
    length Duration?
    author Text?
    isKnown Boolean?
    best Item?
    replaces Order? @relation(replacedBy)
    replacedBy Order[]
    items Item[]
    invoice Invoice?
  }
  actions {
    get getOrder(id)
    create setOrder() with (number, customer.id?, tag: Text?, pieces: Number?, when: Timestamp?, on: Date?, words: Text[]?) {
      @set(order.note = tag)
      @set(order.weight = pieces)
      @set(order.day = when)
      @set(order.at = on)
      @set(order.tags = words)
      @set(order.team = order.customer.team)
      @set(order.state = State.Placed)
      @set(order.length = "P1DT2H")
    }
    create myOrder() with (number) {
      @set(order.id = ctx.identity.customer.name)
      @set(order.customer = ctx.identity.customer)
      @set(order.teamId = ctx.identity.customer.team.id)
      @set(order.author = ctx.headers.UserAgent)
      @set(order.isKnown = ctx.isAuthenticated)
      @set(order.tags = [])
      @set(order.weight = -1)
    }
    create named() with (name: Text?) { @set(order.number = "x") @set(order.state = State.Placed) @set(order.note = name) }
    update changeOrder(id) with (note?, customer.id?, weight?, tag: Text?, more: Text[]?) {
      @set(order.author = tag)
      @set(order.tags = more)
    }
    update swapOrder(id) with (number) {
      @set(order.note = order.number)
      @set(order.team = order.customer.team)
      @set(order.at = order.day)
      @set(order.customerId = null)
    }
    create nest() with (number, customer.name?, customer.address.street?, customer.address.city?, items.what, items.price?, items.parts.name, items.parts.maker.name, items.parts.checks.text?, invoice.total?) {
      @set(order.items.hint = number)
      @set(order.items.parts.maker.country = "NL")
      @set(order.invoice.id = "bill")
    }
    create nestOne() with (id?, number, items.what, items.price)
    create choose() with (id, number, best.id, items.what, items.price, items.twin.id, items.twin.what, items.twin.price, items.twin.order.id)
    create chain() with (number, replaces.id?, replaces.number, replaces.items.what, replaces.items.price, replacedBy.number?)
  }
  @permission(expression: true, actions: [get, create, update])
}
model Item {
  fields { order Order @relation(items)  what Text  price Decimal  hint Text?  parts Part[]  twin Item? @unique }
  @validate(item.price >= 0, message: "a price cannot be negative")
}
model Part { fields { item Item  name Text  maker Maker  checks Check[] } }
model Maker { fields { name Text  country Text? } }
model Check { fields { part Part  text Text @default("none") } }
model Invoice { fields { order Order @unique  total Decimal? } }
enum State { Received Placed }
`

// TestWrites calls actions, each in a database of its own, and compares the stored rows.
func TestWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		action, body string
		caller       string
		want         string // the answer as far as written out, or the code of an error
		look         string // a query for one text
		stored       string
	}{
		{
			name: "set from inputs", action: "setOrder",
			body:   `{"number":"1","customer":{"id":"ada"},"tag":"red","pieces":3,"when":"2027-03-01T23:30:00-05:00","on":"2027-03-05","words":["a","b"]}`,
			want:   `{"note":"red","weight":3,"day":"2027-03-02","at":"2027-03-05T00:00:00.000Z","tags":["a","b"],"teamId":"blue","state":"Placed","length":"P1DT2H"}`,
			look:   "select count(*)::text from app.order",
			stored: "2",
		},
		{
			name: "absent inputs skip a set on create", action: "setOrder", body: `{"number":"1"}`,
			want: `{"note":null,"weight":2.5,"day":null,"at":null,"tags":["new"],"teamId":null,"customerId":null,"state":"Placed"}`,
		},
		{
			name: "set from the caller", action: "myOrder", body: `{"number":"1"}`, caller: "me",
			want: `{"id":"Ada","customerId":"ada","teamId":"blue","isKnown":true,"tags":[],"weight":-1,"author":null}`,
		},
		{
			name: "set from nobody", action: "myOrder", body: `{"number":"1"}`,
			want: "23502 order.id",
		},
		{
			name: "absent inputs skip a set on update", action: "changeOrder", body: `{"where":{"id":"old"},"values":{"note":"n"}}`,
			want: `{"note":"n","author":"me","tags":["kept"],"customerId":"ada","weight":7}`,
		},
		{
			name: "null clears, a set writes", action: "changeOrder",
			body: `{"where":{"id":"old"},"values":{"customer":null,"weight":1.50,"tag":"you","more":[]}}`,
			want: `{"note":"was","author":"you","tags":[],"customerId":null,"weight":1.5}`,
		},
		{
			name: "nothing given leaves the row", action: "changeOrder", body: `{"where":{"id":"old"}}`,
			want: `{"note":"was","author":"me","updatedAt":"2027-01-01T00:00:00.000Z"}`,
		},
		{
			name: "a set equal to what is there leaves updatedAt", action: "changeOrder", body: `{"where":{"id":"old"},"values":{"tag":"me"}}`,
			want: `{"author":"me","updatedAt":"2027-01-01T00:00:00.000Z"}`,
		},
		{
			name: "paths read the row as it was", action: "swapOrder", body: `{"where":{"id":"old"},"values":{"number":"new"}}`,
			want: `{"number":"new","note":"o1","teamId":"blue","at":"2027-05-06T00:00:00.000Z","customerId":null}`,
		},
		{
			name: "rows on all sides", action: "nest",
			body: `{"number":"1","customer":{"name":"Eve","address":{"city":"Delft"}},"items":[` +
				`{"what":"a","price":1,"parts":[{"name":"p","maker":{"name":"M1"},"checks":[{"text":"c"},{}]},{"name":"q","maker":{"name":"M2"}}]},` +
				`{"what":"b","price":2,"parts":[]},` +
				`{"what":"c","price":3,"parts":[{"name":"r","maker":{"name":"M3"},"checks":[]}]}],"invoice":{"total":null}}`,
			want: `{"number":"1"}`,
			look: `select concat_ws(' ',
				(select string_agg(item.what || item.price || item.hint || '=' || coalesce((select string_agg(
					part.name || maker.name || maker.country || coalesce((select string_agg(text, '+' order by "check".id) from app.check where part_id = part.id), ''), ',' order by part.id)
					from app.part join app.maker on maker.id = maker_id where item_id = item.id), ''), ' ' order by item.id) from app.item where order_id = "order".id),
				customer.name, address.street, address.city, invoice.id)
				from app.order join app.customer on customer.id = customer_id join app.address on address.id = address_id
				join app.invoice on invoice.order_id = "order".id where number = '1'`,
			stored: "a11=pM1NLc+none,qM2NL b21= c31=rM3NL Eve nowhere Delft bill",
		},
		{
			name: "nothing given inserts nothing", action: "nest", body: `{"number":"1","customer":{},"items":[],"invoice":{}}`,
			want:   `{"customerId":null}`,
			look:   "select (select count(*) from app.customer) || ' ' || (select count(*) from app.invoice)",
			stored: "1 0",
		},
		{
			name: "null links nothing", action: "nest", body: `{"number":"1","customer":null,"items":[],"invoice":null}`,
			want:   `{"customerId":null}`,
			look:   "select (select count(*) from app.customer) || ' ' || (select count(*) from app.invoice)",
			stored: "1 0",
		},
		{
			name: "what is given at all needs what is required", action: "nest", body: `{"number":"1","customer":{"address":{"street":"s","city":"c"}},"items":[]}`,
			want: "23502 customer.name",
		},
		{
			name: "a level without its own required value", action: "nest", body: `{"number":"1","customer":{"name":"E","address":{"street":"s"}},"items":[]}`,
			want: "23502 address.city",
		},
		{
			name: "an inner level that nothing is given for", action: "nest", body: `{"number":"1","customer":{"name":"E","address":{}},"items":[]}`,
			want:   `{"number":"1"}`,
			look:   "select count(*) || ' ' || coalesce(max(address_id), '-') from app.customer where name = 'E'",
			stored: "1 -",
		},
		{
			name: "an id from the client", action: "nestOne", body: `{"id":"mine","number":"1","items":[{"what":"a","price":1}]}`,
			want:   `{"id":"mine"}`,
			look:   "select order_id from app.item",
			stored: "mine",
		},
		{
			name: "a rule of the model stops all", action: "nestOne", body: `{"number":"1","items":[{"what":"a","price":1},{"what":"b","price":-1}]}`,
			want:   "23514 item_validate_01",
			look:   "select count(*)::text from app.order where number = '1'",
			stored: "0",
		},
		{
			name: "references among the new rows, whatever their order", action: "choose",
			body:   `{"id":"root","number":"1","best":{"id":"second"},"items":[{"what":"a","price":1,"twin":{"id":"second","what":"b","price":2,"order":{"id":"root"}}}]}`,
			want:   `{"id":"root","bestId":"second"}`,
			look:   "select string_agg(what || order_id || coalesce(twin_id, ''), ' ' order by what) from app.item",
			stored: "arootsecond broot",
		},
		{
			name: "a reference to nothing", action: "choose",
			body: `{"id":"root","number":"1","best":{"id":"third"},"items":[]}`,
			want: "23503 order_best_id_fkey",
		},
		{
			name: "a model that refers to itself", action: "chain",
			body: `{"number":"2","replaces":{"id":"one","number":"1","items":[{"what":"a","price":1}]},"replacedBy":[{"number":"3"},{"number":"4"}]}`,
			want: `{"number":"2","replacesId":"one"}`,
			look: `select string_agg(o.number || coalesce('<' || r.number, ''), ' ' order by o.number) || (select ' ' || order_id from app.item)
				from app.order as o left join app.order as r on r.id = o.replaces_id where o.id <> 'old'`,
			stored: "1 2<1 3<2 4<2 one",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "workbench", workbench)
			a.exec(t, `insert into app.team (id, name) values ('blue', 'Blue')`)
			a.exec(t, `insert into app.customer (id, identity_id, name, team_id) values ('ada', 'me', 'Ada', 'blue')`)
			a.exec(t, `insert into app.order (id, number, customer_id, weight, tags, note, author, day, updated_at)
				values ('old', 'o1', 'ada', 7, '{kept}', 'was', 'me', '2027-05-06', '2027-01-01T00:00:00Z')`)
			got := a.call(t, c.action, c.body, c.caller)
			if got != c.want && !(strings.HasPrefix(c.want, "{") && strings.HasPrefix(got, "{") && answers(t, got, c.want)) {
				t.Errorf("%s of %s\ngot  %s\nwant %s", c.action, c.body, got, c.want)
			}
			if c.look == "" {
				return
			}
			var stored string
			if err := a.owner.QueryRow(t.Context(), c.look).Scan(&stored); err != nil {
				t.Fatal(err)
			}
			if stored != c.stored {
				t.Errorf("%s of %s stores\n%s, want\n%s", c.action, c.body, stored, c.stored)
			}
		})
	}
}

// TestManyElements makes as many rows as an array may hold, by one statement, with ids in the order of
// the array.
func TestManyElements(t *testing.T) {
	t.Parallel()
	a := newApp(t, "workbench", workbench)
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"what":"%04d","price":%d}`, i, i))
	}
	a.call(t, "nestOne", `{"id":"many","number":"1","items":[`+strings.Join(items, ",")+`]}`, "")
	var count, inOrder int
	err := a.owner.QueryRow(t.Context(), `
		select count(*), count(*) filter (where what::int = place - 1 and price = place - 1)
		from (select what, price, row_number() over (order by id) as place from app.item where order_id = 'many') as numbered`,
	).Scan(&count, &inOrder)
	if err != nil || count != 1000 || inOrder != 1000 {
		t.Errorf("1000 elements make %d rows, %d of them in order, error %v", count, inOrder, err)
	}
}

// TestCreateJudged creates rows under rules over the new row, which see all rows of the call.
func TestCreateJudged(t *testing.T) {
	t.Parallel()
	a := newApp(t, "create_judged", `
model Club {
  fields { name Text @unique  members Member[]  town Town? }
  actions {
    create found() with (id?, name, members.name, town.name?) { @set(club.members.identity = ctx.identity) }
  }
  @permission(expression: ctx.identity in club.members.identity && club.town.name != "Nowhere", actions: [create])
}
model Member { fields { club Club  identity Identity  name Text } }
model Town { fields { name Text } }
`)
	for _, c := range []struct{ body, caller, want string }{
		{`{"id":"a","name":"A","members":[{"name":"x"}]}`, "me", `{"id":"a"}`},
		{`{"name":"B","members":[{"name":"x"}],"town":{"name":"Delft"}}`, "me", `{"name":"B"}`},
		{`{"name":"C","members":[{"name":"x"}],"town":{"name":"Nowhere"}}`, "me", "SP403"},
		{`{"name":"D","members":[]}`, "me", "SP403"},
		{`{"name":"E","members":[]}`, "", "SP403"},
		{`{"name":"A","members":[]}`, "me", "23505 club_name_key"},
	} {
		if got := a.call(t, "found", c.body, c.caller); !answers(t, got, c.want) {
			t.Errorf("found %s as %q\ngot  %s\nwant %s", c.body, c.caller, got, c.want)
		}
	}
	var stored string
	if err := a.owner.QueryRow(t.Context(), `select string_agg(name, ' ' order by name) || (select count(*) from app.town) from app.club`).Scan(&stored); err != nil || stored != "A B1" {
		t.Errorf("stored are %q, error %v, want A B1", stored, err)
	}
}
