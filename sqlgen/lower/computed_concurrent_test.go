package lower

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// shared is a schema whose computed fields lead from lines to invoices to buyers; with prices,
// also from wares to lines, from invoices to the lines that lead to their buyers, and from line to line.
func shared(priced bool) string {
	total, ware := "total Decimal @computed(line.quantity * 2)", ""
	if priced {
		total, ware = "total Decimal @computed(line.quantity * line.ware.price) buyer Buyer @computed(line.invoice.buyer) "+
			"less Number @computed(COUNTIF(line.invoice.lines, line.invoice.lines.quantity < line.quantity))", "ware Ware"
	}
	text := "model Buyer { fields { name Text invoices Invoice[] balance Decimal @computed(SUM(buyer.invoices.net)) " +
		"pieces Number @computed(SUM(buyer.invoices.lines.quantity)) best Decimal? @computed(MAX(buyer.invoices.net)) } }\n" +
		"model Invoice { fields { buyer Buyer lines Line[] net Decimal @computed(SUM(invoice.lines.total)) mean Decimal? @computed(AVG(invoice.lines.quantity)) " +
		"lineCount Number @computed(COUNT(invoice.lines)) dearest Decimal? @computed(MAX(invoice.lines.total)) } }\n" +
		"model Line { fields { invoice Invoice quantity Number " + ware + " " + total + " } }\n"
	if priced {
		text += "model Ware { fields { price Decimal lines Line[] } }\n"
	}
	return text
}

// meeting is a schema whose computed fields lead one way, from wares, shops, deals and transfers to buyers, but two
// ways from lines to buyers. Lines and deals copy, so statements that move keys lock rows that come before their own.
const meeting = "model Ware { fields { price Number lines Line[] } " +
	"actions { update priceWare(id) with (price) } @permission(expression: true, actions: [update]) }\n" +
	"model Shop { fields { fee Number deals Deal[] } }\n" +
	"model Deal { fields { shop Shop day Number @default(0) lines Line[] rate Number @computed(deal.shop.fee + deal.day) } " +
	"actions { update moveDeal(id) with (shop.id) } @permission(expression: true, actions: [update]) }\n" +
	"model Line { fields { invoice Invoice box Box ware Ware deal Deal? quantity Number " +
	"total Number @computed(line.quantity * line.ware.price) fee Number? @computed(line.deal.rate) } " +
	"actions { update moveLine(id) with (ware.id?, deal.id?, invoice.id?, quantity?) } " +
	"@permission(expression: true, actions: [update]) }\n" +
	"model Invoice { fields { buyer Buyer lines Line[] net Number @computed(SUM(invoice.lines.total)) dearest Number? @computed(MAX(invoice.lines.fee)) } " +
	"actions { create createInvoice() with (id, buyer.id, lines.ware.id, lines.box.id, lines.deal.id?, lines.quantity) delete deleteInvoice(id) } " +
	"@permission(expression: true, actions: [create, delete]) }\n" +
	"model Box { fields { buyer Buyer lines Line[] pieces Number @computed(SUM(box.lines.quantity)) } }\n" +
	"model Transfer { fields { from Buyer @relation(paid) to Buyer @relation(got) amount Number } }\n" +
	"model Buyer { fields { invoices Invoice[] boxes Box[] paid Transfer[] got Transfer[] balance Number @computed(SUM(buyer.invoices.net)) " +
	"pieces Number @computed(SUM(buyer.boxes.pieces)) dearest Number? @computed(MAX(buyer.invoices.dearest)) " +
	"cash Number @computed(SUM(buyer.got.amount) - SUM(buyer.paid.amount)) } }\n"

// meetingStatement is a random statement of a connection, or the call of an action. Like sharedStatement, it changes
// one existing row.
func meetingStatement(r random, worker, n int) string {
	one := func(prefix string, of int) string { return fmt.Sprintf("'%s%d'", prefix, 1+r.IntN(of)) }
	line := fmt.Sprintf("(select id from app.line order by hashtext(id || '%d') limit 1)", r.IntN(1000))
	switch r.IntN(22) {
	case 0:
		return fmt.Sprintf("update app.ware set price = price %% 9 + 1 where id = %s", one("w", 4))
	case 1:
		return fmt.Sprintf("update app.shop set fee = fee %% 9 + 1 where id = %s", one("s", 3))
	case 2:
		return fmt.Sprintf("update app.line set ware_id = %s where id = %s", one("w", 4), line)
	case 3:
		return fmt.Sprintf("update app.line set deal_id = %s where id = %s", one("d", 4), line)
	case 4:
		return fmt.Sprintf("update app.line set invoice_id = %s, ware_id = %s, quantity = %d where id = %s", one("i", 5), one("w", 4), r.IntN(9), line)
	case 5:
		return fmt.Sprintf("update app.line set box_id = %s, deal_id = null where id = %s", one("x", 4), line)
	case 6:
		return fmt.Sprintf("update app.deal set shop_id = %s where id = %s", one("s", 3), one("d", 4))
	case 7:
		return fmt.Sprintf("update app.deal set day = %d where id = %s", r.IntN(5), one("d", 4))
	case 8:
		return fmt.Sprintf("update app.invoice set buyer_id = %s where id = %s", one("b", 3), one("i", 5))
	case 9:
		return fmt.Sprintf("update app.box set buyer_id = %s where id = %s", one("b", 3), one("x", 4))
	case 10:
		return fmt.Sprintf("insert into app.transfer (from_id, to_id, amount) values (%s, %s, 1), (%s, %s, 2)", one("b", 3), one("b", 3), one("b", 3), one("b", 3))
	case 11:
		return fmt.Sprintf("delete from app.line where id = (select id from app.line where id like 'm%%' order by hashtext(id || '%d') limit 1)", r.IntN(1000))
	case 12:
		return fmt.Sprintf("select api.move_line('l%d', %s, %s, true, null, null, null, null)", 1+r.IntN(3), one("w", 4), one("d", 4))
	case 13:
		return fmt.Sprintf("select api.price_ware(%s, %d, null, null)", one("w", 4), r.IntN(9))
	case 14:
		return fmt.Sprintf("select api.move_deal(%s, %s, null, null)", one("d", 4), one("s", 3))
	case 15, 16:
		line := func() string {
			return fmt.Sprintf(`{"ware": {"id": "w%d"}, "box": {"id": "x%d"}, "deal": {"id": "d%d"}, "quantity": %d}`, 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(4), r.IntN(9))
		}
		return fmt.Sprintf(`select api.create_invoice('{"id": "n%d_%d", "buyer": {"id": "b%d"}, "lines": [%s, %s]}', '{}')`, worker, n, 1+r.IntN(3), line(), line())
	case 17, 18:
		return fmt.Sprintf("select api.delete_invoice(id, null, null) from (select id from app.invoice where id like 'n%d\\_%%' limit 1) as own", worker)
	}
	return fmt.Sprintf("insert into app.line (id, invoice_id, box_id, ware_id, deal_id, quantity) values ('l%d_%d', %s, %s, %s, %s, %d), ('m%d_%d', %s, %s, %s, null, %d)",
		worker, n, one("i", 5), one("x", 4), one("w", 4), one("d", 4), r.IntN(9), worker, n, one("i", 5), one("x", 4), one("w", 4), r.IntN(9))
}

// crowd is a schema, rows to begin with, and random statements for them.
type crowd struct {
	schema, start string
	statement     func(r random, worker, n int) string
	mayDeadlock   bool // whether dependencies run both ways
}

const startShared = "insert into app.buyer (id, name) select 'b' || n, '' from generate_series(1, 3) n; " +
	"insert into app.invoice (id, buyer_id) select 'i' || n, 'b' || 1 + n % 3 from generate_series(1, 5) n;"

var crowds = map[string]crowd{
	"one way": {shared(false), startShared, func(r random, worker, n int) string { return sharedStatement(r, worker, n, false) }, false},
	"both ways": {shared(true), startShared + "insert into app.ware (id, price) select 'w' || n, n from generate_series(1, 4) n;",
		func(r random, worker, n int) string { return sharedStatement(r, worker, n, true) }, true},
	"one way, with moved keys and ways that meet": {meeting, "insert into app.buyer (id) select 'b' || n from generate_series(1, 3) n; " +
		"insert into app.invoice (id, buyer_id) select 'i' || n, 'b' || 1 + n % 3 from generate_series(1, 5) n; " +
		"insert into app.box (id, buyer_id) select 'x' || n, 'b' || 1 + n % 3 from generate_series(1, 4) n; " +
		"insert into app.ware (id, price) select 'w' || n, n from generate_series(1, 4) n; " +
		"insert into app.shop (id, fee) select 's' || n, n from generate_series(1, 3) n; " +
		"insert into app.deal (id, shop_id) select 'd' || n, 's' || 1 + n % 3 from generate_series(1, 4) n; " +
		"insert into app.line (id, invoice_id, box_id, ware_id, quantity) select 'l' || n, 'i1', 'x1', 'w1', 1 from generate_series(1, 3) n;", meetingStatement, false},
}

// TestConcurrentDifferential has eight connections write at once to rows that share parents. Then every computed value
// equals the interpreter's. Where all dependencies run one way no statement fails. Otherwise, a statement that Postgres
// ends to resolve a deadlock is repeated, as the server repeats actions. With the flag -differential it goes on for up
// to a minute.
func TestConcurrentDifferential(t *testing.T) {
	t.Parallel()
	for name, c := range crowds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lab := &computedLab{schema: mustCheck(t, c.schema)}
			lab.models = slices.DeleteFunc(slices.Clone(lab.schema.Models), func(m *model.Model) bool { return m.IsIdentity })
			db := pgtest.New(t, pgtest.Options{})
			mustInstall(t, db, lab.schema, c.schema)
			lab.conn = db.Owner(t)
			lab.prepare(t)
			if _, err := lab.conn.Exec(t.Context(), c.start); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(min(*differential, time.Minute))
			var group sync.WaitGroup
			for worker := range 8 {
				conn := db.Superuser(t)
				if _, err := conn.Exec(t.Context(), "set deadlock_timeout = '20ms'"); err != nil { // a deadlock ends soon
					t.Fatal(err)
				}
				group.Go(func() {
					r := random{rand.New(rand.NewPCG(*differentialSeed, uint64(worker)))}
					for n := 0; (n < 60 || time.Now().Before(end)) && !t.Failed(); n++ {
						if err := runAgain(t, conn, c.statement(r, worker, n), c.mayDeadlock); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			if t.Failed() {
				return
			}
			if err := lab.do(t, "select", true); err != nil {
				t.Fatal(err)
			}
			values := 0
			for _, m := range lab.models {
				for _, row := range lab.world.rows[m] {
					for _, f := range m.Stored() {
						if f.Computed == nil {
							continue
						}
						values++
						if want, got := row.Value(f.Name), row.values[f.Name]; !expr.Same(f.Type, want, got) {
							t.Errorf("%s.%s of %s: Postgres has %v, the interpreter %v", m.Name, f.Name, row.id, got, want)
						}
					}
				}
			}
			if values < 50 {
				t.Errorf("only %d values were compared: this shows little", values)
			}
		})
	}
}

// runAgain runs a statement as a driver does that binds parameters, and repeats it after a deadlock if mayDeadlock.
func runAgain(t *testing.T, conn *pgx.Conn, statement string, mayDeadlock bool) error {
	for {
		err := conn.PgConn().ExecParams(t.Context(), statement, nil, nil, nil, nil).Read().Err
		var raised *pgconn.PgError
		if !errors.As(err, &raised) {
			return err
		}
		if !mayDeadlock || raised.Code != "40P01" {
			return fmt.Errorf("%s: %w\n%s\n%s", statement, err, raised.Detail, raised.Where)
		}
	}
}

// sharedStatement is a random statement of a connection. It changes one existing row, so that waits for rows alone
// cannot form a circle.
func sharedStatement(r random, worker, n int, priced bool) string {
	invoice := func() string { return fmt.Sprintf("'i%d'", 1+r.IntN(5)) }
	line := fmt.Sprintf("(select id from app.line order by hashtext(id || '%d') limit 1)", r.IntN(1000))
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("update app.line set quantity = %d where id = %s", r.IntN(9), line)
	case 1:
		return fmt.Sprintf("update app.line set invoice_id = %s where id = %s", invoice(), line)
	case 2:
		return "delete from app.line where id = " + line
	case 3:
		return fmt.Sprintf("update app.invoice set buyer_id = 'b%d' where id = %s", 1+r.IntN(3), invoice())
	case 4:
		if priced {
			return fmt.Sprintf("update app.ware set price = %d where id = 'w%d'", r.IntN(9), 1+r.IntN(4))
		}
	}
	columns, ware := "id, invoice_id, quantity", func() string { return "" }
	if priced {
		columns += ", ware_id"
		ware = func() string { return fmt.Sprintf(", 'w%d'", 1+r.IntN(4)) }
	}
	return fmt.Sprintf("insert into app.line (%s) values ('l%d_%d_1', %s, %d%s), ('l%d_%d_2', %s, %d%s)",
		columns, worker, n, invoice(), r.IntN(9), ware(), worker, n, invoice(), r.IntN(9), ware())
}

// TestSharedRowBothWays has connections add rows that read a row and are counted in it. They wait for each other, and
// none is ended. A connection that only shared the row could not write it while another shares it too.
func TestSharedRowBothWays(t *testing.T) {
	t.Parallel()
	sharedRow{
		schema: "model Line { fields { product Product quantity Number total Number @computed(line.quantity * line.product.price) } }\n" +
			"model Product { fields { price Number lines Line[] sold Number @computed(SUM(product.lines.quantity)) " +
			"revenue Number @computed(SUM(product.lines.total)) } }\n",
		row:    "insert into app.product (id, price) values ('p', 3)",
		insert: "insert into app.line (product_id, quantity) values ('p', 2)",
		want:   "select sold = 2 * $1 and revenue = 6 * $1 from app.product",
	}.insertAtOnce(t)
}

// TestUniqueComputedOfSharedRow has connections add rows that are counted in a row with unique fields of its own
// columns. If these were keys, a write of the row would wait for all others that have added a row to it.
func TestUniqueComputedOfSharedRow(t *testing.T) {
	t.Parallel()
	for name, unique := range map[string]string{
		"a field":      "code Text @unique @computed(product.name + \"!\") } }\n",
		"of two":       "code Text @computed(product.name + \"!\") } @unique([code, price]) }\n",
		"kept by rows": "code Number @unique @computed(SUM(product.lines.quantity)) } }\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sharedRow{
				schema: "model Line { fields { product Product quantity Number } }\n" +
					"model Product { fields { name Text price Number lines Line[] sold Number @computed(SUM(product.lines.quantity)) " + unique,
				row:    "insert into app.product (id, name, price) values ('p', 'p', 3)",
				insert: "insert into app.line (product_id, quantity) values ('p', 2)",
				want:   "select sold = 2 * $1 from app.product",
			}.insertAtOnce(t)
		})
	}
}

// sharedRow is a row to which connections add rows at once.
type sharedRow struct {
	schema, row, insert string
	want                string // a query that is true at the end, with the number of rows
}

func (s sharedRow) insertAtOnce(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, mustCheck(t, s.schema), s.schema)
	owner := db.Owner(t)
	if _, err := owner.Exec(t.Context(), s.row); err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 25
	var group sync.WaitGroup
	for range writers {
		conn := db.Superuser(t)
		if _, err := conn.Exec(t.Context(), "set deadlock_timeout = '20ms'"); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for range each {
				if _, err := conn.Exec(t.Context(), s.insert); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	var isRight bool
	if err := owner.QueryRow(t.Context(), s.want, writers*each).Scan(&isRight); err != nil || !isRight {
		t.Errorf("%s: %v, %v", s.want, isRight, err)
	}
}
