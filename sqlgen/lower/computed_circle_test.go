package lower

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// circle is a set of statements that would wait for each other in a circle if keepers locked rows in
// the order in which they meet them. A transaction holds rows. Each statement begins when the one
// before waits or has ended. At last the transaction releases the rows.
type circle struct {
	schema     string
	rows       string
	held       string
	statements []string
	want       string // a query that is true at the end
}

var circles = map[string]circle{
	"two ways to one row": {
		schema: "model Line { fields { invoice Invoice product Product amount Number } }\n" +
			"model Invoice { fields { customer Customer lines Line[] net Number @computed(SUM(invoice.lines.amount)) } }\n" +
			"model Product { fields { maker Customer bonus Number @default(0) lines Line[] sold Number @computed(SUM(product.lines.amount)) } }\n" +
			"model Customer { fields { invoices Invoice[] products Product[] bought Number @computed(SUM(customer.invoices.net)) " +
			"made Number @computed(SUM(customer.products.sold) + SUM(customer.products.bonus)) } }\n",
		rows: "insert into app.customer (id) values ('k'); insert into app.invoice (id, customer_id) values ('i', 'k'); " +
			"insert into app.product (id, maker_id) values ('p1', 'k'), ('p2', 'k')",
		held: "select from app.product where id = 'p2' for no key update",
		statements: []string{
			"update app.product set bonus = 5 where id in ('p1', 'p2')",
			"insert into app.line (invoice_id, product_id, amount) values ('i', 'p1', 3)",
		},
		want: "select bought = 3 and made = 13 from app.customer",
	},
	"two keys to one table": transfers("amount Number } }\n"),
	"two keys to one table, with a create that inserts rows beside its own": transfers("amount Number part Transfer? @relation(parts) parts Transfer[] } " +
		"actions { create transfer() with (from.id, to.id, amount, parts.from.id, parts.to.id, parts.amount) } " +
		"@permission(expression: true, actions: [create]) }\n"),
	"a row that reads two others": {
		schema: "model Line { fields { invoice Invoice product Product shop Shop total Number @computed(line.product.price + line.shop.fee) } }\n" +
			"model Invoice { fields { lines Line[] net Number @computed(SUM(invoice.lines.total)) } }\n" +
			"model Product { fields { price Number lines Line[] } }\n" +
			"model Shop { fields { fee Number lines Line[] } }\n",
		rows: "insert into app.invoice (id) values ('i'); insert into app.product (id, price) values ('p', 1); " +
			"insert into app.shop (id, fee) values ('s1', 10), ('s2', 10); " +
			"insert into app.line (id, invoice_id, product_id, shop_id) values ('l', 'i', 'p', 's1')",
		held: "select from app.shop where id = 's2' for no key update",
		statements: []string{
			"update app.shop set fee = 20 where id in ('s1', 's2')",
			"insert into app.line (id, invoice_id, product_id, shop_id) values ('m', 'i', 'p', 's1')",
		},
		want: "select net = 42 from app.invoice",
	},
	"a key that moves to a changed row": {
		schema: "model Sale { fields { ware Ware price Number @computed(sale.ware.price) } }\n" +
			"model Ware { fields { price Number sales Sale[] } }\n",
		rows: "insert into app.ware (id, price) values ('w1', 1), ('w2', 2); insert into app.sale (id, ware_id) values ('s', 'w1')",
		held: "select from app.ware where id = 'w2' for update",
		statements: []string{
			"update app.ware set price = price + 10 where id in ('w1', 'w2')",
			"update app.sale set ware_id = 'w2' where id = 's'",
		},
		want: "select price = 12 from app.sale",
	},
	"an action that moves a key to a changed row": {
		schema: moves,
		rows:   "insert into app.ware (id, price) values ('w1', 1), ('w2', 2); insert into app.sale (id, ware_id, note) values ('s', 'w1', '')",
		held:   "select from app.ware where id = 'w2' for update",
		statements: []string{
			"update app.ware set price = price + 10 where id in ('w1', 'w2')",
			moveSale("s", "w2"),
		},
		want: "select price = 12 from app.sale",
	},
	"a computed key that moves to a changed row": {
		schema: "model Line { fields { invoice Invoice payer Payer @computed(line.invoice.payer) payerName Text @computed(line.payer.name) } }\n" +
			"model Invoice { fields { payer Payer lines Line[] } }\n" +
			"model Payer { fields { name Text invoices Invoice[] } }\n",
		rows: "insert into app.payer (id, name) values ('p1', 'a'), ('p2', 'b'); insert into app.invoice (id, payer_id) values ('i', 'p1'); " +
			"insert into app.line (id, invoice_id) values ('l', 'i')",
		held: "select from app.payer where id = 'p2' for no key update",
		statements: []string{
			"update app.payer set name = name || name where id in ('p1', 'p2')",
			"update app.invoice set payer_id = 'p2' where id = 'i'",
		},
		want: "select payer_name = 'bb' from app.line",
	},
	"a row that reads those beside it": {
		schema: "model Line { fields { invoice Invoice due Number " +
			"late Number @computed(SUMIF(line.invoice.payments.amount, line.invoice.payments.day > line.due)) } }\n" +
			"model Invoice { fields { payments Payment[] lines Line[] } }\n" +
			"model Payment { fields { invoice Invoice amount Number day Number } }\n",
		rows: "insert into app.invoice (id) values ('i'); insert into app.line (id, invoice_id, due) values ('l0', 'i', 1), ('l1', 'i', 1); " +
			"insert into app.payment (id, invoice_id, amount, day) values ('p', 'i', 10, 5)",
		held: "select from app.line where id = 'l0' for no key update",
		statements: []string{
			"update app.payment set amount = 20 where id = 'p'",
			"update app.line set due = 7 where id = 'l1'",
		},
		want: "select array_agg(late order by id) = '{20,0}' from app.line",
	},
	"a create whose rows lead two ways": {
		schema: sells,
		rows: "insert into app.customer (id) values ('c'); insert into app.product (id, price) values ('p', 1); " +
			"insert into app.invoice (id, customer_id) values ('i', 'c'); insert into app.line (id, invoice_id, product_id, pieces) values ('l', 'i', 'p', 1)",
		held: "select from app.line where id = 'l' for no key update",
		statements: []string{
			"update app.product set price = 10 where id = 'p'",
			`select api.create_invoice('{"customer": {"id": "c"}, "lines": [{"product": {"id": "p"}, "pieces": 3}]}', '{}')`,
		},
		want: "select balance = 40 and invoice_count = 2 from app.customer",
	},
	"a create that leads two ways only by its children": {
		schema: travels,
		rows:   travelled,
		held:   "select from app.person where id = 'p2' for no key update",
		statements: []string{
			"update app.person set bonus = 5 where id in ('p', 'p2')",
			`select api.create_trip('{"stops": [{"town": {"id": "t"}}], "riders": [{"person": {"id": "p"}}]}', '{}')`,
		},
		want: "select stop_count = 1 and trip_count = 1 and bonus = 10 from app.land",
	},
	"a create that leads two ways only by its children, the other way round": {
		schema: travels,
		rows:   travelled,
		held:   "select from app.town where id = 't2' for no key update",
		statements: []string{
			"update app.town set bonus = 5 where id in ('t', 't2')",
			`select api.create_trip('{"stops": [{"town": {"id": "t"}}], "riders": [{"person": {"id": "p"}}]}', '{}')`,
		},
		want: "select stop_count = 1 and trip_count = 1 and bonus = 10 from app.land",
	},
	"a delete action that cascades to a changed row": {
		schema: sells,
		rows: "insert into app.customer (id) values ('c'); insert into app.product (id, price) values ('p', 1); " +
			"insert into app.invoice (id, customer_id) values ('i', 'c'); " +
			"insert into app.line (id, invoice_id, product_id, pieces) values ('l0', 'i', 'p', 1), ('l1', 'i', 'p', 1)",
		held: "select from app.line where id = 'l0' for no key update",
		statements: []string{
			"select api.delete_invoice('i', null, null)",
			"update app.line set pieces = 2 where id = 'l1'",
		},
		want: "select balance = 0 and invoice_count = 0 from app.customer",
	},
	"an action whose @set moves a key to a row that its own row names": {
		schema: follows,
		rows:   followed,
		held:   "select from app.ware where id = 'w2' for update",
		statements: []string{
			"update app.ware set price = price + 10 where id in ('w1', 'w2')",
			"select api.follow('s', null, null)",
		},
		want: "select price = 12 from app.sale",
	},
	"an action whose @set moves a key to a row that an input names": {
		schema: follows,
		rows:   followed,
		held:   "select from app.ware where id = 'w2' for update",
		statements: []string{
			"update app.ware set price = price + 10 where id in ('w1', 'w2')",
			"select api.choose('s', 'w2', null, null)",
		},
		want: "select price = 12 from app.sale",
	},
	"values that go two ways, and meet behind a row that was changed": {
		schema: "model Item { fields { box Box rack Rack weight Number } }\n" +
			"model Box { fields { hall Hall items Item[] weight Number @computed(SUM(box.items.weight)) } }\n" +
			"model Rack { fields { hall Hall label Text items Item[] weight Number @computed(SUM(rack.items.weight)) extra Number @default(0) } }\n" +
			"model Hall { fields { site Site boxes Box[] racks Rack[] weight Number @computed(SUM(hall.boxes.weight)) " +
			"load Number @computed(SUM(hall.racks.weight) + SUM(hall.racks.extra)) } }\n" +
			"model Site { fields { halls Hall[] weight Number @computed(SUM(site.halls.weight) + SUM(site.halls.load)) } }\n",
		rows: "insert into app.site (id) values ('s'); insert into app.hall (id, site_id) values ('h', 's'); insert into app.box (id, hall_id) values ('b', 'h'); " +
			"insert into app.rack (id, hall_id, label) values ('r1', 'h', ''), ('r2', 'h', '')",
		held: "select from app.rack where id = 'r2' for no key update",
		statements: []string{
			"update app.rack set extra = 1 where id in ('r1', 'r2')",
			"insert into app.item (box_id, rack_id, weight) values ('b', 'r1', 100)",
		},
		want: "select weight = 202 from app.site",
	},
}

// transfers are statements about two accounts each. The rest is what follows in the model of a transfer.
func transfers(rest string) circle {
	return circle{
		schema: "model Account { fields { paid Transfer[] got Transfer[] " +
			"balance Number @computed(SUM(account.got.amount) - SUM(account.paid.amount)) } }\n" +
			"model Transfer { fields { from Account @relation(paid) to Account @relation(got) " + rest,
		rows: "insert into app.account (id) values ('a0'), ('a1'), ('a2'), ('a4')",
		held: "select from app.account where id = 'a0' for no key update",
		statements: []string{
			"insert into app.transfer (from_id, to_id, amount) values ('a0', 'a1', 1), ('a2', 'a4', 2)",
			"insert into app.transfer (from_id, to_id, amount) values ('a1', 'a2', 4)",
		},
		want: "select array_agg(balance order by id) = '{-1,-3,2,2}' from app.account",
	}
}

// sells is a schema with a create that writes rows of several tables.
const sells = "model Customer { fields { invoices Invoice[] invoiceCount Number @computed(COUNT(customer.invoices)) " +
	"balance Number @computed(SUM(customer.invoices.net)) } }\n" +
	"model Invoice { fields { customer Customer lines Line[] net Number @computed(SUM(invoice.lines.total)) } " +
	"actions { create createInvoice() with (customer.id, lines.product.id, lines.pieces) delete deleteInvoice(id) } " +
	"@permission(expression: true, actions: [create, delete]) }\n" +
	"model Line { fields { invoice Invoice product Product pieces Number total Number @computed(line.pieces * line.product.price) } }\n" +
	"model Product { fields { price Number lines Line[] } }\n"

// travels is a schema with a create whose own row leads nowhere.
const travels = "model Trip { fields { stops Stop[] riders Rider[] } actions { create createTrip() with (stops.town.id, riders.person.id) } " +
	"@permission(expression: true, actions: [create]) }\n" +
	"model Stop { fields { trip Trip town Town } }\n" +
	"model Rider { fields { trip Trip person Person } }\n" +
	"model Town { fields { land Land stops Stop[] stopCount Number @computed(COUNT(town.stops)) bonus Number @default(0) } }\n" +
	"model Person { fields { land Land riders Rider[] tripCount Number @computed(COUNT(person.riders)) bonus Number @default(0) } }\n" +
	"model Land { fields { towns Town[] people Person[] stopCount Number @computed(SUM(land.towns.stopCount)) " +
	"tripCount Number @computed(SUM(land.people.tripCount)) bonus Number @computed(SUM(land.towns.bonus) + SUM(land.people.bonus)) } }\n"

const travelled = "insert into app.land (id) values ('x'); insert into app.town (id, land_id) values ('t', 'x'), ('t2', 'x'); " +
	"insert into app.person (id, land_id) values ('p', 'x'), ('p2', 'x')"

// follows is a schema with actions whose @set moves a key.
const follows = "model Sale { fields { ware Ware @relation(sales) next Ware? price Number @computed(sale.ware.price) } " +
	"actions { update follow(id) { @set(sale.ware = sale.next) } update choose(id, to: ID) { @set(sale.ware.id = to) } } " +
	"@permission(expression: true, actions: [update]) }\n" +
	"model Ware { fields { price Number sales Sale[] } }\n"

const followed = "insert into app.ware (id, price) values ('w1', 1), ('w2', 2); " +
	"insert into app.sale (id, ware_id, next_id) values ('s', 'w1', 'w2')"

// moves is a schema with an action that may move a key along which a computed field leads.
const moves = "model Sale { fields { ware Ware note Text price Number @computed(sale.ware.price) } " +
	"actions { update updateSale(id) with (ware.id?, note?) } @permission(expression: true, actions: [update]) }\n" +
	"model Ware { fields { price Number sales Sale[] } }\n"

// moveSale calls the action.
func moveSale(id, ware string) string {
	return fmt.Sprintf("select api.update_sale('%s', '%s', null, null, null)", id, ware)
}

// TestTurns lets a statement that changes a copied value wait. Statements about other rows run beside
// it, except one that moves a key and is not an action.
func TestTurns(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, mustCheck(t, moves), moves)
	owner := db.Owner(t)
	if _, err := owner.Exec(t.Context(), "insert into app.ware (id, price) values ('w1', 1), ('w2', 2), ('w3', 3); "+
		"insert into app.sale (id, ware_id, note) values ('s1', 'w1', ''), ('s2', 'w1', '')"); err != nil {
		t.Fatal(err)
	}
	holder, err := db.Superuser(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec(t.Context(), "select from app.ware where id = 'w3' for update"); err != nil {
		t.Fatal(err)
	}
	changes, pid := begin(t, db, "update app.ware set price = 30 where id = 'w3'")
	waitsOrEnds(t, owner, pid, changes)
	for _, beside := range []string{
		"update app.ware set price = 20 where id = 'w2'",
		"update app.sale set note = 'plain' where id = 's1'",
		"insert into app.sale (id, ware_id, note) values ('s3', 'w2', '')",
		"delete from app.sale where id = 's3'",
		moveSale("s1", "w2"),
		"select api.update_sale('s1', null, 'called', null, null)",
	} {
		ended, pid := begin(t, db, beside)
		waitsOrEnds(t, owner, pid, ended)
		if len(ended) == 0 {
			t.Errorf("%s: waits", beside)
		} else if err := <-ended; err != nil {
			t.Errorf("%s: %v", beside, err)
		}
	}
	moved, pid := begin(t, db, "update app.sale set ware_id = 'w2' where id = 's2'")
	waitsOrEnds(t, owner, pid, moved)
	if len(moved) > 0 {
		t.Error("the key moves while a copied value changes")
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ended := range []chan error{changes, moved} {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	var prices []int
	if err := owner.QueryRow(t.Context(), "select array_agg(price order by id) from app.sale").Scan(&prices); err != nil || !slices.Equal(prices, []int{20, 20}) {
		t.Errorf("prices %v (%v), want 20 and 20", prices, err)
	}
}

// begin runs a statement on a connection of its own, as a driver does that binds parameters, and returns the
// connection's process.
func begin(t *testing.T, db *pgtest.DB, statement string) (ended chan error, pid uint32) {
	t.Helper()
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set deadlock_timeout = '20ms'"); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() {
		ended <- conn.PgConn().ExecParams(t.Context(), statement, nil, nil, nil, nil).Read().Err
	}()
	return ended, conn.PgConn().PID()
}

// TestNoCircle provokes circles of statements that wait for each other. None fails.
func TestNoCircle(t *testing.T) {
	t.Parallel()
	for name, c := range circles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t, pgtest.Options{})
			mustInstall(t, db, mustCheck(t, c.schema), c.schema)
			owner := db.Owner(t)
			if _, err := owner.Exec(t.Context(), c.rows); err != nil {
				t.Fatal(err)
			}
			holder, err := db.Superuser(t).Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := holder.Exec(t.Context(), c.held); err != nil {
				t.Fatal(err)
			}
			ended := make([]chan error, len(c.statements))
			for i, s := range c.statements {
				var pid uint32
				ended[i], pid = begin(t, db, s)
				waitsOrEnds(t, owner, pid, ended[i])
			}
			if err := holder.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, s := range c.statements {
				if err := <-ended[i]; err != nil {
					t.Errorf("%s: %v", s, err)
				}
			}
			var isRight bool
			if err := owner.QueryRow(t.Context(), c.want).Scan(&isRight); err != nil || !isRight {
				t.Errorf("%s: %v, %v", c.want, isRight, err)
			}
		})
	}
}

// waitsOrEnds returns when a statement of a connection waits for a lock, or has ended.
func waitsOrEnds(t *testing.T, conn *pgx.Conn, pid uint32, ended chan error) {
	t.Helper()
	until := time.Now().Add(time.Minute)
	for waits := false; !waits && len(ended) == 0; {
		if time.Now().After(until) {
			t.Fatal("a statement neither waits nor ends")
		}
		err := conn.QueryRow(t.Context(), "select count(*) > 0 from pg_locks where pid = $1 and not granted", pid).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
}
