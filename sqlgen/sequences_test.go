package sqlgen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
)

// numberedOrders is an application whose orders and their lines are numbered. Custom code writes
// orders too.
const numberedOrders = `
model Customer { fields { identity Identity @unique orders Order[] } }
model Order {
  fields {
    number Text @sequence("O-")
    note Text @default
    customer Customer?
    lines Line[]
    label Text @computed(order.number + "!")
  }
  actions {
    create placeOrder() with (note?, lines.text)
    create placeOwn() with (note) {
      @set(order.customer = ctx.identity.customer)
      @permission(expression: order.customer.identity == ctx.identity && order.note != "refused")
    }
    get findOrder(number) { @embed(lines) }
    get lastByCode() { @function }
    update noteOrder(number) with (note)
    delete dropOrder(number)
    list orders(number?, lines.number?) { @sortable(number) @orderBy(number: asc) }
    write placeByCode() returns (Any)
    write choose(statement: Text) returns (Any)
  }
  @validate(order.note != order.number, message: "a note says more")
  @permission(expression: true, actions: [get, list, create, update, delete, read, write])
}
model Line { fields { order Order number Text @sequence("", 100) text Text } }
union Entry {
  fields { text Text }
  arms { order Order { @set(entry.text = order.number) } line Line { @set(entry.text = line.number) } }
  actions { list entries(text?) { @orderBy(text: asc) } }
  @permission(expression: true, actions: [list])
}
-- functions/lastByCode.sql --
create function functions.last_by_code() returns app.order language sql stable as $$
  select "order".* from app.order order by number desc limit 1;
$$;
-- functions/placeByCode.sql --
create function functions.place_by_code() returns jsonb language sql volatile as $$
  with placed as (insert into app.order (note) select 'by code' from generate_series(1, 3) returning number)
  select jsonb_agg(number order by number) from placed;
$$;
-- functions/choose.sql --
create function functions.choose(statement text) returns jsonb language plpgsql volatile as $$
begin
  execute statement;
  return 'true';
end;
$$;
`

func newNumbered(t *testing.T) *app {
	t.Helper()
	a := installApp(t, "numbered orders", compileProject(t, projectFrom(numberedOrders)))
	a.exec(t, "insert into app.customer (identity_id) values ('me')")
	return a
}

// TestSequences numbers rows that are created in each possible way.
func TestSequences(t *testing.T) {
	t.Parallel()
	a := newNumbered(t)
	number := func(answer string) string { t.Helper(); return fmt.Sprint(object(t, answer)["number"]) }

	if got := number(a.call(t, "placeOrder", `{"lines":[{"text":"a"},{"text":"b"},{"text":"c"}]}`, "")); got != "O-0001" {
		t.Errorf("the first order is %s", got)
	}
	var lines string
	if err := a.owner.QueryRow(t.Context(), "select string_agg(text || number, ' ' order by id) from app.line").Scan(&lines); err != nil || lines != "a0100 b0101 c0102" {
		t.Errorf("its lines are %s, %v", lines, err)
	}
	if got := number(a.call(t, "placeOwn", `{"note":"mine"}`, "me")); got != "O-0002" {
		t.Errorf("an order under a rule of the row is %s", got)
	}
	if got := a.call(t, "placeByCode", `{}`, ""); got != `["O-0003", "O-0004", "O-0005"]` {
		t.Errorf("orders by code are %s", got)
	}
	if got := number(a.call(t, "lastByCode", `{}`, "")); got != "O-0005" {
		t.Errorf("the last order is %s", got)
	}

	// A write that fails leaves a gap.
	if got := a.call(t, "placeOwn", `{"note":"refused"}`, "me"); got != "42501" {
		t.Errorf("got %s", got)
	}
	if got := a.call(t, "placeOrder", `{"note":"O-0007","lines":[]}`, ""); got != "23514 order_validate_01" {
		t.Errorf("got %s", got)
	}
	if got := number(a.call(t, "placeOrder", `{"lines":[]}`, "")); got != "O-0008" {
		t.Errorf("the order behind two that failed is %s", got)
	}

	found := object(t, a.call(t, "findOrder", `{"number":"O-0001"}`, ""))
	if found["label"] != "O-0001!" || len(found["lines"].([]any)) != 3 {
		t.Errorf("found %v", found)
	}
	if got := object(t, a.call(t, "noteOrder", `{"where":{"number":"O-0002"},"values":{"note":"noted"}}`, "")); got["note"] != "noted" || got["number"] != "O-0002" {
		t.Errorf("noted %v", got)
	}
	for body, want := range map[string]int{
		`{"where":{"number":{"startsWith":"O-000"}},"orderBy":[{"number":"desc"}]}`: 6,
		`{"where":{"number":{"oneOf":["O-0003","O-0006"]}}}`:                        1,
		`{"where":{"lines":{"number":{"equals":"0102"}}}}`:                          1,
	} {
		if got := strings.Count(a.call(t, "orders", body, ""), `"note"`); got != want {
			t.Errorf("%s finds %d orders, want %d", body, got, want)
		}
	}
	if got := strings.Count(a.call(t, "entries", `{"where":{"text":{"startsWith":"O-000"}}}`, ""), "O-000"); got != 6 {
		t.Errorf("the union has %d orders", got)
	}
	a.call(t, "dropOrder", `{"number":"O-0008"}`, "")
	if got := number(a.call(t, "placeOrder", `{"lines":[]}`, "")); got != "O-0009" {
		t.Errorf("the order behind one that was deleted is %s", got)
	}
	a.exec(t, "select setval('app.order_number_seq', 9999)")
	if got := number(a.call(t, "placeOrder", `{"lines":[]}`, "")); got != "O-10000" {
		t.Errorf("the order behind 9999 is %s", got)
	}
}

// TestSequencesAreNotWritten lets custom code try to do the work of the sequence.
func TestSequencesAreNotWritten(t *testing.T) {
	t.Parallel()
	a := newNumbered(t)
	a.call(t, "placeOrder", `{"lines":[{"text":"a"}]}`, "")
	for statement, want := range map[string]string{
		"insert into app.order (note) values ('a')":                           "true",
		"update app.order set note = 'b'":                                     "true",
		"insert into app.order (number) values ('O-0099')":                    "42501",
		"update app.order set number = 'O-0099'":                              "42501",
		"select setval('app.order_number_seq', 99)":                           "42501",
		"alter sequence app.order_number_seq restart":                         "42501",
		"alter table app.order alter column number set default 'x'":           "42501",
		"insert into app.line (order_id, text) select id, 'a' from app.order": "42501", // it does not have rights on lines
		"select nextval('app.line_number_seq')":                               "42501",
	} {
		if got := a.call(t, "choose", fmt.Sprintf(`{"statement":%q}`, statement), ""); got != want {
			t.Errorf("%s: got %s, want %s", statement, got, want)
		}
	}
	_, err := a.server.Exec(t.Context(), "select nextval('app.order_number_seq')")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("the server takes a number by itself: %v", err)
	}
}

// TestSequencesAtOnce creates rows on several connections at once: no number is given twice.
func TestSequencesAtOnce(t *testing.T) {
	t.Parallel()
	a := newNumbered(t)
	const connections, each = 4, 25
	var group sync.WaitGroup
	for range connections {
		conn := a.db.Server(t)
		group.Go(func() {
			for range each {
				if _, err := calls.JSON(t.Context(), conn, "place_order", `{"lines":[{"text":"a"},{"text":"b"}]}`, "{}"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for table, want := range map[string]int{"order": connections * each, "line": 2 * connections * each} {
		rows, err := a.owner.Query(t.Context(), "select right(number, 4) from app."+table+" order by 1")
		if err != nil {
			t.Fatal(err)
		}
		var numbers []string
		for rows.Next() {
			var n string
			if err := rows.Scan(&n); err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		if len(slices.Compact(numbers)) != want {
			t.Errorf("%ss have %d numbers, want %d", table, len(slices.Compact(numbers)), want)
		}
	}
}
