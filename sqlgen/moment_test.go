package sqlgen_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPriceOfTheMoment creates random invoices whose lines, and the steps below these, get values of the service that each
// of them links, and compares what is stored with an independent calculation. A later change of the services leaves it.
func TestPriceOfTheMoment(t *testing.T) {
	t.Parallel()
	a := newApp(t, "moment", `
		model Invoice {
		  fields { customer Customer  lines Line[]  total Decimal @computed(SUM(invoice.lines.total)) }
		  actions {
		    create writeInvoice() with (id, customer.id, lines.number, lines.service.id, lines.quantity, lines.steps.service.id?, lines.steps.number, rate: Decimal) {
		      @set(invoice.lines.price = ROUND(invoice.lines.service.price * rate - invoice.customer.discount, 2))
		      @set(invoice.lines.label = COALESCE(invoice.lines.service.label, invoice.customer.name))
		      @set(invoice.lines.steps.cost = -invoice.lines.steps.service.price)
		    }
		  }
		  @permission(expression: true, actions: [create])
		}
		model Customer { fields { name Text  discount Decimal } }
		model Line {
		  fields { invoice Invoice  number Number  service Service  quantity Number  price Decimal  label Text  steps Step[]
		    total Decimal @computed(line.quantity * line.price) }
		}
		model Step { fields { line Line  number Number  service Service?  cost Decimal? } }
		model Service { fields { price Decimal  label Text? } }`)
	a.exec(t, `insert into app.customer (id, name, discount) values ('c', 'Cleo', 0.125);
		insert into app.service (id, price, label) select 's' || n, n * 1.115 - 2, case when n % 2 = 0 then 'label ' || n end from generate_series(0, 9) as n`)
	r := rand.New(rand.NewPCG(1, 2))
	rat := func(text string) *big.Rat { v, _ := new(big.Rat).SetString(text); return v }
	price := func(n int) *big.Rat {
		return new(big.Rat).Sub(new(big.Rat).Mul(rat("1.115"), big.NewRat(int64(n), 1)), rat("2"))
	}
	want := map[string]string{}
	for i := range 25 {
		rate := fmt.Sprintf("1.%02d5", r.IntN(100))
		var lines, stored []string
		total := new(big.Rat)
		for n := range r.IntN(6) {
			service, quantity := r.IntN(10), 1+r.IntN(9)
			exact := new(big.Rat).Mul(price(service), rat(rate))
			rounded := rat(exact.Sub(exact, rat("0.125")).FloatString(2)) // half away from zero
			total.Add(total, new(big.Rat).Mul(rounded, big.NewRat(int64(quantity), 1)))
			label := "Cleo"
			if service%2 == 0 {
				label = fmt.Sprint("label ", service)
			}
			line := fmt.Sprintf("%s %s", rounded.FloatString(3), label)
			var steps []string
			for m := range r.IntN(3) {
				below := r.IntN(11)
				if below == 10 { // links nothing
					steps = append(steps, fmt.Sprintf(`{"number":%d}`, m))
					line += " -"
					continue
				}
				steps = append(steps, fmt.Sprintf(`{"number":%d,"service":{"id":"s%d"}}`, m, below))
				line += " " + new(big.Rat).Neg(price(below)).FloatString(3)
			}
			lines = append(lines, fmt.Sprintf(`{"number":%d,"quantity":%d,"service":{"id":"s%d"},"steps":[%s]}`, n, quantity, service, strings.Join(steps, ",")))
			stored = append(stored, line)
		}
		id := fmt.Sprint("i", i)
		a.call(t, "writeInvoice", fmt.Sprintf(`{"id":%q,"customer":{"id":"c"},"rate":%s,"lines":[%s]}`, id, rate, strings.Join(lines, ",")), "")
		want[id] = strings.Join(append(stored, total.FloatString(3)), "; ")
	}
	a.exec(t, "update app.service set price = 0, label = 'new'; update app.customer set discount = 9, name = 'New'")
	for id, want := range want {
		var got string
		err := a.owner.QueryRow(t.Context(), `select concat_ws('; ', (
			select string_agg(round(price, 3) || ' ' || label || coalesce(
				(select string_agg(coalesce(' ' || round(cost, 3), ' -'), '' order by step.number) from app.step where line_id = line.id), ''), '; ' order by line.number)
			from app.line where invoice_id = $1), (select round(total, 3)::text from app.invoice where id = $1))`, id).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: got  %s\nwant %s", id, got, want)
		}
	}
	if got := a.call(t, "writeInvoice", `{"id":"x","customer":{"id":"c"},"rate":1,"lines":[{"number":1,"quantity":1,"service":{"id":"nothing"},"steps":[]}]}`, ""); got != "23502 line.price" {
		t.Errorf("a line of no service: got %s", got)
	}
}
