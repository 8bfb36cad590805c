package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const shop = `
model Order {
  fields { number Text  state OrderState @default(OrderState.Open)  pin Secret?  customer Customer }
  actions {
    create createOrder() with (number, pin?, customer.id)
    update payOrder(id) { @set(order.state = OrderState.Paid) }
  }
  @on([create], countOrders)
  @on([update], countOrders, fields: [state], where: order.state == OrderState.Paid)
  @permission(expression: ctx.isAuthenticated, actions: [create, update])
}

model Customer {
  fields { name Text  created Number @default  paid Number @default  heard Text? }
  actions { create createCustomer() with (name) }
  @permission(expression: ctx.isAuthenticated, actions: [create])
  @permission(expression: customer.name != "closed", jobs: [countOrders])
}

enum OrderState { Open Paid }
`

const countOrders = `
create function functions.count_orders(event jsonb) returns void
language plpgsql
volatile
security invoker
as $$
begin
  update app.customer
  set
    created = created + (event->>'eventName' = 'order.created')::integer,
    paid = paid + (event->>'eventName' = 'order.updated')::integer,
    heard = event::text
  where customer.id = event #>> '{target,data,customerId}';
  if not found then
    raise exception 'there is no such customer';
  end if;
end;
$$;
`

// TestSubscriber lets code hear of writes, on two servers: once of each, under the rules that name it.
func TestSubscriber(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{
		"schema.stern":              shop,
		"functions/countOrders.sql": countOrders,
	})
	db := installApp(t, dir)
	a, b := serve(t, db, dir, db.ServerURL()), serve(t, db, dir, db.ServerURL())
	call := func(a *app, action, body string) string {
		t.Helper()
		response, answer := a.send(t, "POST", "/api/json/"+action, a.as(t, "ada"), body)
		if response.StatusCode != 200 {
			t.Errorf("%s %s: got %d %s", action, body, response.StatusCode, answer)
		}
		var record struct{ ID string }
		if err := json.Unmarshal([]byte(answer), &record); err != nil {
			t.Errorf("%s answers %s: %v", action, answer, err)
		}
		return record.ID
	}
	create := func(customer string) string {
		t.Helper()
		return call(a, "createOrder", fmt.Sprintf(`{"number":"1","pin":"canary-pin","customer":{"id":%q}}`, customer))
	}
	open, closed := call(a, "createCustomer", `{"name":"open"}`), call(a, "createCustomer", `{"name":"closed"}`)

	conn := db.Superuser(t)
	query := func(statement string, into ...any) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), statement).Scan(into...); err != nil {
			t.Fatal(err)
		}
	}

	const orders = 60
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() {
			id := create(open)
			server := a
			if i%2 == 0 {
				server = b
			}
			call(server, "payOrder", fmt.Sprintf(`{"where":{"id":%q}}`, id))
			call(server, "payOrder", fmt.Sprintf(`{"where":{"id":%q}}`, id)) // no change, so no event
		})
	}
	all.Wait()
	heard := func(customer string) (counts, event string) {
		t.Helper()
		query(`select created || ' ' || paid, coalesce(heard, '') from app.customer where id = '`+customer+`'`, &counts, &event)
		return counts, event
	}
	want := fmt.Sprintf("%d %d", orders, orders)
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		counts, event := heard(open)
		if counts != want && time.Now().Before(deadline) {
			continue
		}
		time.Sleep(200 * time.Millisecond)
		if counts, event = heard(open); counts != want {
			t.Errorf("got %s events, want %s", counts, want)
		}
		for _, part := range []string{`"requestId": "`, `"identityId": "`, `"type": "Order"`, `"customerId": "` + open} {
			if !strings.Contains(event, part) {
				t.Errorf("an event lacks %s: %s", part, event)
			}
		}
		if strings.Contains(event, "canary") || strings.Contains(event, "pin") {
			t.Errorf("an event tells a secret: %s", event)
		}
		break
	}

	// A row that no rule opens to the code does not exist for it: the event fails, and is kept.
	create(closed)
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var failure string
		query(`select coalesce((select failure from platform.task where kind = 'event'), '')`, &failure)
		if strings.Contains(failure, "there is no such customer") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the failure of the code is kept as %q", failure)
		}
	}
	if counts, _ := heard(closed); counts != "0 0" {
		t.Errorf("the code has written a row that no rule opens to it: %s", counts)
	}
}

// TestSubscriberAdded adds a subscriber below a server that runs, and takes it away again. It hears of what is written
// from then on; without it the table has no trigger.
func TestSubscriberAdded(t *testing.T) {
	t.Parallel()
	const heard = "model Heard { fields { text Text } @permission(expression: true, jobs: [hear]) }"
	dir := writeProject(t, map[string]string{"schema.stern": notes})
	db := installApp(t, dir)
	a := serve(t, db, dir, db.ServerURL())
	conn := db.Superuser(t)
	ask := func(query string) (answer string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	triggers := func() string {
		t.Helper()
		return ask(`select count(*)::text from pg_trigger join pg_class on pg_class.oid = tgrelid
			where tgfoid = 'platform.tg_change'::regproc and relnamespace = 'app'::regnamespace`)
	}
	a.await(t, "createNote", `{"text":"before"}`, `"before"`)
	if got := triggers(); got != "0" {
		t.Errorf("without a subscriber there are %s triggers", got)
	}

	edit(t, dir, "  @permission", "  @on([create], hear)\n  @permission")
	edit(t, dir, "model Note", heard+"\nmodel Note")
	if err := os.MkdirAll(filepath.Join(dir, "functions"), 0o755); err != nil {
		t.Fatal(err)
	}
	code := "create function functions.hear(event jsonb) returns void language sql volatile security invoker as $$\n" +
		"  insert into app.heard (text) values (event #>> '{target,data,text}')\n$$;\n"
	if err := os.WriteFile(filepath.Join(dir, "functions", "hear.sql"), []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	reinstall(t, db, dir)
	a.await(t, "createNote", `{"text":"after"}`, `"after"`)
	for deadline := time.Now().Add(15 * time.Second); ask(`select coalesce(string_agg(text, ' '), '') from app.heard`) != "after"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the subscriber heard %q", ask(`select coalesce(string_agg(text, ' '), '') from app.heard`))
		}
	}

	edit(t, dir, "  @on([create], hear)\n", "")
	edit(t, dir, heard+"\n", "model Heard { fields { text Text } }\n")
	if err := os.Remove(filepath.Join(dir, "functions", "hear.sql")); err != nil {
		t.Fatal(err)
	}
	reinstall(t, db, dir)
	if got := triggers() + ask(`select count(*)::text from platform.consumer`); got != "00" {
		t.Errorf("when the subscriber is gone, there are triggers and consumers: %s", got)
	}
}
