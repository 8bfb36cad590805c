package install_test

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestSequenceIsRestored checks that a dump has the position of a sequence, and its owner.
func TestSequenceIsRestored(t *testing.T) {
	t.Parallel()
	from, to := pgtest.New(t, pgtest.Options{Empty: true}), pgtest.New(t, pgtest.Options{Empty: true})
	conn := from.Owner(t)
	mustInstall(t, conn, numbered(`number Text @sequence("INV-")`))
	mustExec(t, conn, oldInvoices+"delete from app.invoice where id = 'i2'")
	restore(t, from, to)
	restored := to.Superuser(t)
	var got string
	if err := restored.QueryRow(t.Context(), asksNumbers).Scan(&got); err != nil || got != "INV-0002 INV-0001 INV-0004" {
		t.Errorf("numbers are %q, %v", got, err)
	}
	checkCatalog(t, catalog(t, restored), catalog(t, conn))
	mustExec(t, restored, "drop table app.invoice cascade")
	if err := restored.QueryRow(t.Context(), "select count(*)::text from pg_class where relkind = 'S' and relnamespace = 'app'::regnamespace").Scan(&got); err != nil || got != "0" {
		t.Errorf("%s sequences are left of no table, %v", got, err)
	}
}

// TestCountersAreRestored checks that a dump has the counters of numbers per row, and that restored rows do not take
// numbers anew, whichever way they are restored.
func TestCountersAreRestored(t *testing.T) {
	t.Parallel()
	from, to := pgtest.New(t, pgtest.Options{Empty: true}), pgtest.New(t, pgtest.Options{Empty: true})
	conn := from.Owner(t)
	mustInstall(t, conn, numberedPer(perPractice))
	mustExec(t, conn, invoicesOfPractice+"delete from app.invoice where id = 'i5'")
	restore(t, from, to)
	restored := to.Superuser(t)
	const want = "INV-0002 INV-0001 INV-0001 INV-0002 | INV-0004 INV-0003 | invoice_number_seq p3 invoice_number_seq q2"
	var got string
	if err := restored.QueryRow(t.Context(), asksPer).Scan(&got); err != nil || got != want {
		t.Errorf("numbers are %q, %v", got, err)
	}
	checkCatalog(t, catalog(t, restored), catalog(t, conn))

	// Rows of schema app alone, with their numbers: the counters follow them.
	anew := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, anew, numberedPer(perPractice))
	mustExec(t, anew, practices+"insert into app.invoice (id, name, practice_id, number) values ('i1', 'a', 'p', 'INV-0003'), ('i2', 'b', 'q', 'INV-0002'), ('i3', 'c', 'p', 'INV-0001')")
	if err := anew.QueryRow(t.Context(), asksPer).Scan(&got); err != nil || got != "INV-0003 INV-0002 INV-0001 | INV-0004 INV-0003 | invoice_number_seq p3 invoice_number_seq q2" {
		t.Errorf("numbers are %q, %v", got, err)
	}
}

// TestDriftOfSequence checks that a change by hand to a sequence is reported with the field that asks for it.
func TestDriftOfSequence(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	schema := numbered(`number Text @sequence("INV-")`)
	mustInstall(t, conn, schema)
	mustExec(t, conn, "revoke usage on sequence app.invoice_number_seq from sternpost_open")
	drift, err := install.ReadDrift(t.Context(), conn, compile(t, schema).Database)
	if err != nil || len(drift) != 1 || !strings.HasPrefix(drift[0].String(), "sequence app.invoice_number_seq was changed by hand (model Invoice, field number") {
		t.Errorf("got %v, %v", drift, err)
	}
}
