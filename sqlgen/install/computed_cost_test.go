package install_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/pgtest"
)

// TestCostOfAggregates compares the table of the reference with the lines that an insert of one reads, under an invoice
// with more or less of them. With -update it also measures how many lines eight writers add to one invoice in a second.
func TestCostOfAggregates(t *testing.T) {
	t.Parallel()
	const page = "../../integration/guide/reference/language.md"
	row := regexp.MustCompile("(?m)^\\| (nothing|`[A-Z]+`[^|]*) \\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) \\|$")
	compared := 0
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	now := row.ReplaceAllStringFunc(string(text), func(line string) string {
		compared++
		cells := row.FindStringSubmatch(line)
		field := "worth Decimal @default(0)"
		if function := strings.Split(cells[1], "`"); len(function) > 1 {
			field = "worth Decimal? @computed(" + function[1] + "(invoice.lines.worth))"
		}
		db := pgtest.New(t, pgtest.Options{})
		conn := db.Owner(t)
		mustInstall(t, conn, "model Invoice { fields { lines Line[] "+field+" } }\nmodel Line { fields { invoice Invoice worth Decimal } }\n")
		if strings.Contains(cells[1], "with an index") {
			mustExec(t, conn, "create index on app.line (invoice_id, worth)")
		}
		mustExec(t, conn, "insert into app.invoice (id) values ('10'), ('1000'); "+
			"insert into app.line (invoice_id, worth) select '10', n from generate_series(1, 10) n; "+
			"insert into app.line (invoice_id, worth) select '1000', n from generate_series(1, 1000) n; analyze")
		few, many := linesRead(t, conn, "10"), linesRead(t, conn, "1000")
		each := cells[4]
		if casetest.Updating() {
			each = thousands(addedAtOnce(t, db))
		}
		return fmt.Sprintf("| %s | %s | %s | %s |", cells[1], thousands(few), thousands(many), each)
	})
	if compared != 6 {
		t.Fatalf("the page has %d rows of the table, want 6", compared)
	}
	casetest.File(t, page, now)
}

// linesRead counts the lines that the insert of one under an invoice reads.
func linesRead(t *testing.T, conn *pgx.Conn, invoice string) int {
	t.Helper()
	const read = "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relid = 'app.line'::regclass"
	var before, after int
	mustExec(t, conn, "begin")
	if err := conn.QueryRow(t.Context(), read).Scan(&before); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "insert into app.line (invoice_id, worth) values ('"+invoice+"', 5)")
	if err := conn.QueryRow(t.Context(), read).Scan(&after); err != nil {
		t.Fatal(err)
	}
	mustExec(t, conn, "rollback")
	return after - before
}

// addedAtOnce counts the lines that eight writers add in a second to the invoice with a thousand.
func addedAtOnce(t *testing.T, db *pgtest.DB) int {
	var added atomic.Int64
	var group sync.WaitGroup
	const lasts = 3 * time.Second
	end := time.Now().Add(lasts)
	for range 8 {
		conn := db.Superuser(t)
		group.Go(func() {
			for time.Now().Before(end) {
				if _, err := conn.Exec(t.Context(), "insert into app.line (invoice_id, worth) values ('1000', 5)"); err != nil {
					t.Error(err)
					return
				}
				added.Add(1)
			}
		})
	}
	group.Wait()
	return int(added.Load() / int64(lasts/time.Second))
}

// thousands writes a number with a comma before each three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
