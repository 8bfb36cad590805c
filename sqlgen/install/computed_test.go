package install_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// kept is a schema with columns of all kinds that are computed.
func kept() string {
	return billed("net Decimal @computed(SUM(invoice.lines.total)) dearest Decimal? @computed(MAX(invoice.lines.total)) "+
		"open Boolean @computed(invoice.net > invoice.paid)", priced, "sold Number @computed(SUM(product.lines.quantity))")
}

// asksKept tells what is computed of the rows.
const asksKept = "select coalesce(string_agg(name || ' ' || trim_scale(net) || ' ' || coalesce(trim_scale(dearest)::text, '-') || ' ' || open, ', ' order by id), '') from app.invoice"

// checkComputed compares what is computed.
func checkComputed(t *testing.T, conn *pgx.Conn, want string) {
	t.Helper()
	var got string
	if err := conn.QueryRow(t.Context(), asksKept).Scan(&got); err != nil || got != want {
		t.Errorf("computed is %q, %v, want %q", got, err, want)
	}
}

// What is computed is right after every statement, and nothing else writes it.
func TestComputedColumnsAreKept(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, kept())
	mustExec(t, conn, bills)
	checkComputed(t, conn, "a 9.5 6 true, b 2 2 true")

	for _, c := range []struct{ name, statement, want string }{
		{"a value given to a new row counts for nothing", "insert into app.invoice (id, name, net, dearest) values ('i3', 'c', 5, 5)", "a 9.5 6 true, b 2 2 true, c 0 - false"},
		{"a price", "update app.product set price = 10 where id = 'p1'", "a 33.5 30 true, b 10 10 true, c 0 - false"},
		{"a line that moves", "update app.line set invoice_id = 'i3' where id = 'l1'", "a 3.5 3.5 true, b 10 10 true, c 30 30 true"},
		{"an id that changes with what points to it",
			"with moved as (update app.line set invoice_id = 'i4' where invoice_id = 'i3') update app.invoice set id = 'i4' where id = 'i3'",
			"a 3.5 3.5 true, b 10 10 true, c 30 30 true"},
		{"what a delete cascades to", "delete from app.product where id = 'p1'", "a 3.5 3.5 true, b 0 - false, c 0 - false"},
		{"a table that is emptied", "truncate app.line", "a 0 - false, b 0 - false, c 0 - false"},
	} {
		if _, err := conn.Exec(t.Context(), c.statement); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got string
		if err := conn.QueryRow(t.Context(), asksKept).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, statement := range []string{"update app.invoice set net = 5", "update app.invoice set dearest = null, net = net + 1", "update app.invoice set open = true"} {
		if _, err := conn.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "428C9") {
			t.Errorf("%s: got %v, want an error that it is computed", statement, err)
		}
	}
}

// updated_at tells when somebody changed a row, not when something was computed.
func TestComputingIsNoUpdate(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, kept())
	mustExec(t, conn, bills)
	when := func() (at string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "select updated_at::text from app.invoice where id = 'i1'").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := when()
	mustExec(t, conn, "select pg_sleep(0.01); update app.line set quantity = 7 where invoice_id = 'i1'")
	if after := when(); after != before {
		t.Errorf("updated_at moved from %s to %s with what is computed", before, after)
	}
	mustExec(t, conn, "update app.invoice set paid = 1 where id = 'i1'")
	if when() == before {
		t.Error("updated_at stays when somebody writes the row")
	}
}

// A dump holds what was computed, and the triggers go on from there.
func TestComputedIsRestored(t *testing.T) {
	t.Parallel()
	psql, ok := findPsql()
	if !ok {
		t.Skip("there is no pg_dump beside psql")
	}
	from, to := pgtest.New(t, pgtest.Options{Empty: true}), pgtest.New(t, pgtest.Options{Empty: true})
	conn := from.Owner(t)
	mustInstall(t, conn, kept())
	mustExec(t, conn, bills)
	dump, err := exec.CommandContext(t.Context(), "pg_dump", from.SuperuserURL()).Output()
	if err != nil {
		t.Fatal(err)
	}
	restore := exec.CommandContext(t.Context(), psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", to.SuperuserURL())
	restore.Stdin = bytes.NewReader(dump)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	restored := to.Superuser(t)
	checkComputed(t, restored, "a 9.5 6 true, b 2 2 true")
	mustExec(t, restored, "update app.product set price = 4 where id = 'p1'; insert into app.line (invoice_id, product_id, quantity) values ('i2', 'p2', 2)")
	checkComputed(t, restored, "a 15.5 12 true, b 11 7 true")
}
