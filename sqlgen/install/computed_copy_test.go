package install_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
)

const paid = `
	model Business { fields { name Text invoices Invoice[] owed Invoice[] } }
	model Invoice {
		fields {
			business Business @relation(invoices)
			payer Business? @relation(owed)
			debtor Business? @computed(invoice.payer)
			payments Payment[]
			paid Decimal @computed(SUM(invoice.payments.amount))
		}
	}
	model Payment {
		fields {
			invoice Invoice
			amount Decimal
			business Business @computed(payment.invoice.business)
			businessName Text @computed(payment.invoice.business.name)
			debtorName Text? @computed(payment.invoice.debtor.name)
		}
	}
`

const pays = "insert into app.business (id, name) values ('b', 'B'), ('c', 'C'), ('', ''); " +
	"insert into app.invoice (id, business_id, payer_id) values ('i', 'b', 'c'), ('j', 'c', null); "

const asksPaid = "select business_id || ' ' || business_name || ' ' || coalesce(debtor_name, '-') from app.payment where id = 'p'"

// TestCopiesAreWrittenWithTheirRow checks copies behind keys of all kinds, and that their rows are written once.
func TestCopiesAreWrittenWithTheirRow(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, paid)
	mustExec(t, conn, pays)
	for _, c := range []struct {
		name, statement, want string
		updates               int // of payments
	}{
		{"a new row", "insert into app.payment (id, invoice_id, amount) values ('p', 'i', 5)", "b B C", 0},
		{"with values that it cannot give", "insert into app.payment (id, invoice_id, amount, business_id, debtor_name) values ('p', 'i', 5, 'x', 'y')", "b B C", 0},
		{"with another key", "insert into app.payment (id, invoice_id, amount) values ('p', 'i', 5); update app.payment set invoice_id = 'j'", "c C -", 1},
		{"with another id", "insert into app.payment (id, invoice_id, amount) values ('q', 'i', 5); update app.payment set id = 'p'", "b B C", 1},
		{"behind which a key moves", "insert into app.payment (id, invoice_id, amount) values ('p', 'i', 5); update app.invoice set payer_id = 'b', business_id = 'c'", "c C B", 1},
		{"before the row that it refers to", "with made as (insert into app.invoice (id, business_id, payer_id) values ('k', 'c', 'b')) " +
			"insert into app.payment (id, invoice_id, amount) values ('p', 'k', 5)", "c C B", 1},
		{"whose values are those of a row without others", "update app.invoice set business_id = '', payer_id = null; insert into app.payment (id, invoice_id, amount) values ('p', 'i', 5)", "  -", 0},
	} {
		mustExec(t, conn, "begin")
		before := updatesOf(t, conn)
		mustExec(t, conn, c.statement)
		var got string
		if err := conn.QueryRow(t.Context(), asksPaid).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
		if updates := updatesOf(t, conn) - before; updates != c.updates {
			t.Errorf("%s: %d updates, want %d", c.name, updates, c.updates)
		}
		mustExec(t, conn, "rollback")
	}
}

// updatesOf counts the updates of payments that the session has made lately.
func updatesOf(t *testing.T, conn *pgx.Conn) (count int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "select n_tup_upd from pg_stat_xact_user_tables where relid = 'app.payment'::regclass").Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// TestCopiesWaitForChanges lets an insert meet a change of the value that it copies.
func TestCopiesWaitForChanges(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	first, second := db.Owner(t), db.Owner(t)
	mustInstall(t, first, paid)
	mustExec(t, first, pays)
	mustExec(t, first, "begin; update app.invoice set business_id = 'c' where id = 'i'")
	ended := make(chan error, 1)
	go func() {
		_, err := second.Exec(t.Context(), "insert into app.payment (id, invoice_id, amount) values ('p', 'i', 5)")
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the insert did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	mustExec(t, first, "commit")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var got string
	if err := first.QueryRow(t.Context(), asksPaid).Scan(&got); err != nil || got != "c C C" {
		t.Errorf("got %q, %v, want c C C", got, err)
	}
}
