package sqlgen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
)

const orders = `
model Order {
  fields {
    number Text @unique
    customer Customer
    seat Number
    day Date?
    items Item[]
    bill Bill?
  }
  actions {
    get getOrder(id?, number?)
    get getBilled(bill.number)
    get getOrderOf(items.id, items.what?, day?)
    get getOrderWith(id, what: Text?, least: Decimal?) {
      @where(order.items.what == what)
      @where(order.items.price >= least)
    }
    get getOrderIn(id, days: Date[]) { @where(order.day in days || order.bill != null) }
    get getPlace(customer.name?, customer.id?, seat)
    get myOrder() { @where(order.customer.identity == ctx.identity && order.seat == 1) }
    update setDay(id?, number?) with (day?) { @where(order.day == null || order.day < day) }
    delete dropOrder(code: Text) { @where(order.number == code) @where(order.items == null) }
  }
  @unique([customer, seat])
  @permission(expression: true, actions: [get, update, delete])
}
model Item { fields { order Order  what Text  price Decimal } }
model Customer { fields { name Text @unique  identity Identity? @unique } }
model Bill { fields { order Order @unique  number Text @unique } }
`

// TestLookUps looks rows up by every kind of path, with inputs given and absent.
func TestLookUps(t *testing.T) {
	t.Parallel()
	rows := `
		insert into app.customer (id, name, identity_id) values ('c1', 'one', 'me'), ('c2', 'two', null);
		insert into app."order" (id, number, customer_id, seat, day) values
			('o1', '1', 'c1', 1, '2027-03-01'), ('o2', '2', 'c1', 2, null), ('o3', '3', 'c2', 1, null);
		insert into app.item (id, order_id, what, price) values
			('i1', 'o1', 'lamp', 5), ('i2', 'o1', 'chair', 50), ('i3', 'o2', 'lamp', 50);
		insert into app.bill (order_id, number) values ('o1', 'b1');
	`
	shared := newApp(t, "orders", orders) // by the cases that only read
	shared.exec(t, rows)
	for _, c := range []struct {
		action, body, caller string
		want                 string // the id of the row, null, or the code of an error
	}{
		{action: "getOrder", body: `{"id":"o1"}`, want: "o1"},
		{action: "getOrder", body: `{"number":"2"}`, want: "o2"},
		{action: "getOrder", body: `{"id":"o1","number":"1"}`, want: "o1"},
		{action: "getOrder", body: `{"id":"o1","number":"2"}`, want: "null"},

		{action: "getBilled", body: `{"billNumber":"b1"}`, want: "o1"},
		{action: "getBilled", body: `{"billNumber":"b2"}`, want: "null"},

		{action: "getOrderOf", body: `{"itemsId":"i1"}`, want: "o1"},
		{action: "getOrderOf", body: `{"itemsId":"i1","itemsWhat":"lamp"}`, want: "o1"},
		// Both conditions are about the same item.
		{action: "getOrderOf", body: `{"itemsId":"i1","itemsWhat":"chair"}`, want: "null"},
		{action: "getOrderOf", body: `{"itemsId":"i3","day":null}`, want: "o2"},
		{action: "getOrderOf", body: `{"itemsId":"i1","day":null}`, want: "null"},
		{action: "getOrderOf", body: `{"itemsId":"i1","day":"2027-03-01"}`, want: "o1"},

		{action: "getOrderWith", body: `{"id":"o3"}`, want: "o3"},
		{action: "getOrderWith", body: `{"id":"o1","what":"lamp"}`, want: "o1"},
		{action: "getOrderWith", body: `{"id":"o1","least":10}`, want: "o1"},
		{action: "getOrderWith", body: `{"id":"o1","what":"lamp","least":10}`, want: "null"},
		{action: "getOrderWith", body: `{"id":"o2","what":"lamp","least":10}`, want: "o2"},
		{action: "getOrderWith", body: `{"id":"o3","what":"lamp"}`, want: "null"},

		{action: "getOrderIn", body: `{"id":"o1","days":[]}`, want: "o1"},
		{action: "getOrderIn", body: `{"id":"o2","days":["2027-03-01"]}`, want: "null"},

		{action: "getPlace", body: `{"customerName":"two","seat":1}`, want: "o3"},
		{action: "getPlace", body: `{"customerId":"c1","seat":2}`, want: "o2"},
		{action: "getPlace", body: `{"customerId":"c1","customerName":"two","seat":1}`, want: "null"},

		{action: "myOrder", body: `{}`, caller: "me", want: "o1"},
		{action: "myOrder", body: `{}`, want: "null"},

		{action: "setDay", body: `{"where":{"id":"o1"},"values":{"day":"2027-03-02"}}`, want: "o1"},
		{action: "setDay", body: `{"where":{"number":"1"},"values":{"day":"2027-02-28"}}`, want: "SP404"},
		{action: "setDay", body: `{"where":{"number":"1"},"values":{}}`, want: "o1"},
		{action: "setDay", body: `{"where":{"number":"1"}}`, want: "o1"},
		{action: "setDay", body: `{"where":{"id":"o2"},"values":{"day":"2027-02-28"}}`, want: "o2"},
		{action: "setDay", body: `{"where":{"id":"o2"},"values":{"day":null}}`, want: "o2"},
		{action: "setDay", body: `{"where":{"id":"o1"},"values":{"day":null}}`, want: "SP404"},
		{action: "setDay", body: `{"where":{"id":"o2","number":"1"},"values":{}}`, want: "SP404"},

		{action: "dropOrder", body: `{"code":"3"}`, want: "o3"},
		{action: "dropOrder", body: `{"code":"1"}`, want: "SP404"},
		{action: "dropOrder", body: `{"code":"4"}`, want: "SP404"},
	} {
		t.Run(c.action+" "+c.body, func(t *testing.T) {
			a := shared
			if !strings.HasPrefix(c.action, "get") {
				t.Parallel()
				a = newApp(t, "orders", orders)
				a.exec(t, rows)
			}
			got := a.call(t, c.action, c.body, c.caller)
			switch {
			case strings.HasPrefix(got, "{"):
				got = fmt.Sprint(object(t, got)["id"])
			case strings.HasPrefix(got, `"`):
				got = strings.Trim(got, `"`)
			}
			if got != c.want {
				t.Errorf("%s %s by %q\ngot  %s\nwant %s", c.action, c.body, c.caller, got, c.want)
			}
		})
	}
}

// TestPinsAreRequired sends look-ups that do not pin a row: the error asks for the first input of the
// first set that would pin one.
func TestPinsAreRequired(t *testing.T) {
	t.Parallel()
	a := newApp(t, "orders", orders)
	for _, c := range []struct{ action, body, input string }{
		{"getOrder", `{}`, "id"},
		{"getPlace", `{"seat":1}`, "customerName"},
		{"getPlace", `{"customerId":"c"}`, "seat"},
		{"setDay", `{"where":{},"values":{}}`, "where.id"},
		{"setDay", `{}`, "where"},
	} {
		_, err := a.readers[c.action].Read([]byte(c.body))
		want := []problem.Problem{problem.Required(c.input[strings.LastIndexByte(c.input, '.')+1:]).At(c.input)}
		var invalid *input.Invalid
		if !errors.As(err, &invalid) || !slices.Equal(invalid.Problems, want) {
			t.Errorf("%s %s: got %v, want %v", c.action, c.body, err, want)
		}
	}
}
