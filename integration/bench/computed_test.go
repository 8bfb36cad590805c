package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// invoices is two models of invoices with lines. One of them has computed fields.
func invoices() string {
	model := func(invoice, computed, line string) string {
		return strings.NewReplacer("Invoice", invoice, "invoice", strings.ToLower(invoice), "Line", line, "line", strings.ToLower(line)).Replace(`
model Invoice {
  fields {
    title Text
    lines Line[]
` + computed + `
  }
  actions {
    create createInvoice() with (title, lines.text, lines.amount)
  }
  @permission(expression: true, actions: [create])
}
model Line {
  fields {
    invoice Invoice
    text Text
    amount Decimal
  }
  actions {
    create createLine() with (invoice.id, text, amount)
  }
  @permission(expression: true, actions: [create])
}
`)
	}
	return model("Plain", "", "Row") +
		model("Invoice", "    net Decimal @computed(SUM(invoice.lines.amount))\n    count Number @computed(COUNT(invoice.lines))", "Line")
}

const (
	shortInvoices = 5_000
	shortInvoice  = 10 // lines
	manyLines     = 1_000
)

// BenchmarkComputed compares the cost of a write whose rows feed computed fields with the same write without them:
// beside few rows and beside many, and of many rows at once.
func BenchmarkComputed(b *testing.B) {
	longInvoice, rounds := 1_000_000, 3
	if *quick {
		longInvoice, rounds = 50_000, 1
	}
	ctx := context.Background()
	database, err := postgres.Start(ctx, postgres.Options{Temporary: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { database.Stop() })
	fillInvoices(b, database.URL(), longInvoice)
	key, err := auth.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	server, backends := startSelf(b, "sternpost", database.URL(), string(key), usualPool, call{action: "createPlain", body: `{"title":"first","rows":[]}`}), postmaster(b)

	line := func(action, parent, kind string) func(int64) call {
		return func(n int64) call {
			id := kind
			if kind == "short" {
				id = fmt.Sprintf("short%d", n%shortInvoices)
			}
			return call{action: action, body: fmt.Sprintf(`{%q:{"id":%q},"text":"a screw","amount":%d.25}`, parent, id, n%100)}
		}
	}
	nested := func(action, children string) func(int64) call {
		body := fmt.Sprintf(`{"title":"all","%s":[%s]}`, children, strings.TrimSuffix(strings.Repeat(`{"text":"a screw","amount":1.25},`, manyLines), ","))
		return func(int64) call { return call{action: action, body: body} }
	}
	long := fmt.Sprintf("a line beside %d", longInvoice)
	rows := []struct {
		name     string
		requests int
		request  func(int64) call
		of, goal float64
		base     string
	}{
		{name: "a line beside 10, nothing computed", requests: requests, request: line("createRow", "plain", "short")},
		{name: long + ", nothing computed", requests: requests, request: line("createRow", "plain", "long")},
		{name: "a line beside 10, SUM and COUNT", requests: requests, request: line("createLine", "invoice", "short"), base: "a line beside 10, nothing computed", goal: 2},
		{name: long + ", SUM and COUNT", requests: requests, request: line("createLine", "invoice", "long"), base: long + ", nothing computed", goal: 2},
		{name: long + ", against 10", requests: requests, request: line("createLine", "invoice", "long"), base: "a line beside 10, SUM and COUNT", goal: 1.3},
		{name: "1,000 lines in one create, nothing computed", requests: 50, request: nested("createPlain", "rows")},
		{name: "1,000 lines in one create, SUM and COUNT", requests: 50, request: nested("createInvoice", "lines"), base: "1,000 lines in one create, nothing computed", goal: 1.5},
	}
	costs := map[string][]cost{}
	for range rounds {
		for _, r := range rows {
			costs[r.name] = append(costs[r.name], server.loadWith(b, backends, 1, r.requests, r.request, `"id"`))
		}
	}
	fmt.Printf("\nComputed fields: CPU µs of server and Postgres per request, one client, the median of %d rounds; the ratio to the row that it is compared with.\n%-50s %8s %8s %8s %7s\n",
		rounds, "", "server", "Postgres", "ratio", "goal")
	for _, r := range rows {
		ratio := ""
		if r.base != "" {
			ratios := make([]float64, rounds)
			for i := range ratios {
				ratios[i] = costs[r.name][i].total() / costs[r.base][i].total()
			}
			slices.Sort(ratios)
			ratio = fmt.Sprintf("%8.2f ≤ %.1f", ratios[rounds/2], r.goal)
		}
		fmt.Printf("%-50s %8.0f %8.0f %s\n", r.name, median(costs[r.name], func(c cost) float64 { return c.server }), median(costs[r.name], func(c cost) float64 { return c.database }), ratio)
	}
}

// fillInvoices installs the models and fills their tables.
func fillInvoices(b testing.TB, databaseURL string, long int) {
	b.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.stern"), []byte(invoices()), 0o600); err != nil {
		b.Fatal(err)
	}
	p, err := sqlgen.ReadProject(dir)
	if err != nil {
		b.Fatal(err)
	}
	compiled, errs := sqlgen.Compile(p)
	if errs.HasErrors() {
		b.Fatal(errs)
	}
	if _, err := install.Install(ctx, conn, compiled.Release()); err != nil {
		b.Fatal(err)
	}
	for _, pair := range [][2]string{{"plain", "row"}, {"invoice", "line"}} {
		for _, statement := range []string{
			fmt.Sprintf("insert into app.%s (id, title) select 'short' || n, 'short' from generate_series(0, %d) as n union all select 'long', 'long'", pair[0], shortInvoices-1),
			fmt.Sprintf("insert into app.%s (%s_id, text, amount) select 'short' || n %% %d, 'a screw', n from generate_series(1, %d) as n",
				pgx.Identifier{pair[1]}.Sanitize(), pair[0], shortInvoices, shortInvoice*shortInvoices),
			fmt.Sprintf("insert into app.%s (%s_id, text, amount) select 'long', 'a screw', n %% 100 from generate_series(1, %d) as n",
				pgx.Identifier{pair[1]}.Sanitize(), pair[0], long),
		} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				b.Fatalf("%s: %v", statement, err)
			}
		}
	}
	if _, err := conn.Exec(ctx, "vacuum (analyze, freeze)"); err != nil {
		b.Fatal(err)
	}
}
