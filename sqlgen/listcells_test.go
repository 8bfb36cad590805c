package sqlgen_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/casetest"
)

// cellsSchema has lists under each kind of rule: one value of the caller, a path, the copy of a path's end, many values, and
// unions of these. Payments and receipts have the same rows, those with copies of the ends of their paths.
func cellsSchema() string {
	const copies = "    business Business @hidden @computed(payment.invoice.business)\n    customer Customer @hidden @computed(payment.invoice.customer)\n"
	const paid = `
model Payment {
  fields {
    invoice Invoice  amount Decimal  paidOn Date  method Method
` + copies + `  }
  actions { list listPayments(amount?, method?, paidOn?) { @orderBy(paidOn: desc) } }
  @permission(expression: payment.invoice.business == ctx.identity.business, actions: [list])
  @permission(expression: payment.invoice.customer == ctx.identity.customer, actions: [list])
}
union PaymentEntry {
  fields { businessId ID  customerId ID  day Date  amount Decimal }
  arms {
    creditNote Invoice {
      @where(invoice.state == State.Sent && invoice.isCreditNote)
      @set(paymentEntry.day = invoice.issuedOn)
      @set(paymentEntry.amount = invoice.total)
    }
    invoice Invoice {
      @where(invoice.state == State.Sent)
      @set(paymentEntry.day = invoice.issuedOn)
      @set(paymentEntry.amount = invoice.total)
    }
    payment Payment {
      @set(paymentEntry.businessId = payment.invoice.businessId)
      @set(paymentEntry.customerId = payment.invoice.customerId)
      @set(paymentEntry.day = payment.paidOn)
    }
  }
  actions {
    list listPaymentEntries(amount?) { @orderBy(day: desc)  @sortable(day, amount)  @allow(UnionWidens) }
  }
  @permission(expression: paymentEntry.businessId == ctx.identity.business.id, actions: [list])
  @permission(expression: paymentEntry.customerId == ctx.identity.customer.id, actions: [list])
}
`
	return `
model Business { fields { owner Identity @unique } }
model Customer { fields { identity Identity @unique } }
model Invoice {
  fields { business Business  customer Customer  isCreditNote Boolean  state State  issuedOn Date  dueOn Date  total Decimal  lines Line[] }
  actions { list listInvoices(state?, total?, lines.text?) { @orderBy(dueOn: asc)  @sortable(dueOn, total) } }
  @index(total, dueOn)
  @permission(expression: invoice.business == ctx.identity.business, actions: [list])
  @permission(expression: invoice.customer == ctx.identity.customer && invoice.state == State.Sent, actions: [list])
}
model Line { fields { invoice Invoice  text Text } }
enum State { Draft Sent }
enum Method { Cash Card Transfer }
model Team { fields { members Member[] } }
model Member { fields { team Team  user Identity } }
model Task {
  fields { team Team  status Status  weight Decimal  at Timestamp }
  actions { list listTasks(status?, weight?, at?) { @orderBy(at: desc)  @sortable(at, weight)  @permission(expression: ctx.identity in task.team.members.user) } }
  @index(weight)
}
enum Status { Open Done Dropped }
` + paid + strings.NewReplacer(copies, "", "Payment", "Receipt", "payment", "receipt").Replace(paid)
}

// cellsRows are 30,000 invoices of 200 businesses, of which the first has a sixth, 50,000 payments, and 50,000 tasks of
// 1,000 teams. All rows of the callers old and in20old are at the far end of the order. No business but those has credit
// notes.
const cellsRows = `
	set session_replication_role = replica;
	create function pg_temp.part(n int, seed int) returns float8 language sql as
		$$ select (hashint4(n * 7 + seed) & 1048575) / 1048576.0 $$;
	insert into app.identity (id) select 'own' || n from generate_series(0, 199) n;
	insert into app.identity (id) select 'cus' || n from generate_series(0, 1999) n;
	insert into app.identity (id) values ('old'), ('none'), ('in1'), ('in1big'), ('in20'), ('in200'), ('in800'), ('in20old');
	insert into app.business (id, owner_id) select 'b' || substr(id, 4), id from app.identity where id like 'own%';
	insert into app.business (id, owner_id) values ('bold', 'old'), ('bnone', 'none');
	insert into app.customer (id, identity_id) select id, id from app.identity where id like 'cus%';
	insert into app.invoice (id, business_id, customer_id, is_credit_note, state, issued_on, due_on, total)
	select
		'i' || n, 'b' || b, 'cus' || b * 10 + n % 10, b > 100 and n % 20 = 0, case when n % 10 = 1 then 'Draft' else 'Sent' end,
		date '2023-01-01' + (1095 * pg_temp.part(n, 2))::int, date '2023-02-01' + (1095 * pg_temp.part(n, 3))::int, n % 1000
	from generate_series(1, 30000) n
	cross join lateral (select floor(200 * power(pg_temp.part(n, 1), 3))::int as b) as owner
	union all
	select 'iold' || n, 'bold', 'cus0', false, 'Sent', '2022-01-01', date '2027-01-01' + n % 30, 5 from generate_series(1, 1500) n;
	insert into app.receipt (id, invoice_id, amount, paid_on, method)
	select
		'p' || n, 'i' || 1 + floor(30000 * pg_temp.part(n, 4))::int, n % 5000, date '2023-02-01' + (1095 * pg_temp.part(n, 5))::int,
		case when n % 100 = 0 then 'Cash' when n % 10 = 1 then 'Card' else 'Transfer' end
	from generate_series(1, 50000) n
	union all
	select 'pold' || n, 'iold' || n, 7, date '2022-02-01' + n % 30, 'Card' from generate_series(1, 1500) n;
	insert into app.payment (id, invoice_id, amount, paid_on, method, business_id, customer_id)
	select receipt.id, receipt.invoice_id, receipt.amount, receipt.paid_on, receipt.method, invoice.business_id, invoice.customer_id
	from app.receipt
	join app.invoice on invoice.id = receipt.invoice_id;
	insert into app.line (id, invoice_id, text)
	select 'l' || n, 'i' || n, case when n % 500 = 0 then 'rare' else 'work' end from generate_series(1, 30000) n;
	insert into app.team (id) select 't' || n from generate_series(0, 999) n union all select 'told' || n from generate_series(1, 20) n;
	insert into app.member (id, team_id, user_id)
	select 'm' || who || n, 't' || n * step + least(step - 1, 5), who
	from (values ('in20', 20, 50), ('in200', 200, 5), ('in800', 800, 1)) as caller (who, teams, step)
	cross join lateral generate_series(0, teams - 1) as n
	union all
	values ('m1', 't900', 'in1'), ('m2', 't0', 'in1big')
	union all
	select 'mold' || n, 'told' || n, 'in20old' from generate_series(1, 20) n;
	insert into app.task (id, team_id, status, weight, at)
	select
		'k' || n, 't' || floor(1000 * power(pg_temp.part(n, 6), 3))::int,
		case when n % 200 = 0 then 'Dropped' when n % 10 = 1 then 'Done' else 'Open' end, n % 10000,
		timestamptz '2023-01-01Z' + n * interval '90 seconds'
	from generate_series(1, 50000) n
	union all
	select 'kold' || n, 'told' || 1 + n % 20, 'Open', 3, timestamptz '2022-01-01Z' + n * interval '1 second' from generate_series(1, 1500) n;
	-- All rows are looked at once, and no page becomes visible to all meanwhile, so plans and figures are the same each time.
	set default_statistics_target = 500;
	do $$
	declare
		v_table regclass;
	begin
		for v_table in select oid from pg_class where relnamespace = 'app'::regnamespace and relkind = 'r' loop
			execute format('alter table %s set (autovacuum_enabled = false)', v_table);
		end loop;
	end;
	$$;
	analyze;
	reset all;
`

// cellSource is a table of which a list shows rows, and how the best statements written by hand find those of a caller.
type cellSource struct {
	table, where, order, day, amount string
	isMine                           string // the rule on one row
	mine                             string // the rows of the caller, from the caller outwards
	lateral                          string // the same with a limit behind each value of the caller, if it has many
}

const (
	myInvoices = `(invoice.business_id = (select id from app.business where owner_id = $1) or invoice.customer_id = (select id from app.customer where identity_id = $1))`
	myTasks    = `from app.member join app.task on task.team_id = member.team_id where member.user_id = $1`
)

// cellSources are the sources of each list.
func cellSources() map[string][]cellSource {
	invoices := cellSource{table: "invoice", where: "true", order: "due_on", day: "due_on", amount: "total", isMine: myInvoices, mine: "from app.invoice where " + myInvoices}
	arm := func(where string) cellSource {
		s := invoices
		s.where, s.order, s.day = where, "issued_on desc", "issued_on"
		return s
	}
	receipts := cellSource{table: "receipt", where: "true", order: "paid_on desc", day: "paid_on", amount: "amount",
		isMine: "exists (select from app.invoice where invoice.id = receipt.invoice_id and " + myInvoices + " offset 0)",
		mine:   "from app.invoice join app.receipt on receipt.invoice_id = invoice.id where " + myInvoices}
	payments := receipts
	payments.table, payments.isMine = "payment", strings.ReplaceAll(myInvoices, "invoice.", "payment.")
	payments.mine = "from app.payment where " + payments.isMine
	tasks := cellSource{table: "task", where: "true", order: "at desc", day: "at", amount: "weight",
		isMine: "exists (select from app.member where member.team_id = task.team_id and member.user_id = $1 offset 0)", mine: myTasks,
		lateral: "from app.member cross join lateral (select * from app.task where task.team_id = member.team_id%s) as task where member.user_id = $1"}
	arms := []cellSource{arm("state = 'Sent' and is_credit_note"), arm("state = 'Sent' and not is_credit_note")}
	return map[string][]cellSource{
		"listInvoices": {invoices}, "listReceipts": {receipts}, "listPayments": {payments}, "listTasks": {tasks},
		"listReceiptEntries": append(slices.Clone(arms), receipts), "listPaymentEntries": append(slices.Clone(arms), payments),
	}
}

// statements are the statements by which the best form may find a page, or count.
func (s cellSource) statements(where, order string, counts bool) []string {
	where = s.where + where
	rows := fmt.Sprintf(" where %s order by %s, %s.id", where, order, s.table)
	if strings.HasSuffix(order, "desc") {
		rows += " desc"
	}
	rows += " limit 21"
	if counts {
		rows = " where " + where
	}
	list := []string{
		fmt.Sprintf("select %s.id from (select %s.* %s offset 0) as %s%s", s.table, s.table, s.mine, s.table, rows),
		fmt.Sprintf("select %s.id from (select %s.* %s) as %s%s", s.table, s.table, s.mine, s.table, rows),
		fmt.Sprintf("select %s.id from app.%s%s", s.table, s.table, strings.Replace(rows, " where ", " where "+s.isMine+" and ", 1)),
	}
	if s.lateral != "" && !counts {
		behind := strings.Replace(rows, " where ", " and ", 1)
		list = append(list, "select task.id "+fmt.Sprintf(s.lateral, behind)+" order by "+order+" limit 21")
	}
	return list
}

// cellRequests are the requests of the table, with their conditions as SQL. The columns of a source take the places of day and amount.
var cellRequests = []struct{ name, body, where, order string }{
	{"first page", `{"first":20}`, "", ""},
	{"far page", `{"first":20,"after":%q}`, "far", ""},
	{"common value", `{"first":20,"where":{%s}}`, "common", ""},
	{"rare value", `{"first":20,"where":{%s}}`, "rare", ""},
	{"another order", `{"first":20,"orderBy":[{"%s":"asc"}]}`, "", "amount"},
	{"total count", `{"first":20,"totalCount":true}`, "", ""},
}

// cellFilters are the common and rare values of each list.
var cellFilters = map[string][2][2]string{
	"listInvoices":       {{`"state":{"equals":"Sent"}`, "state = 'Sent'"}, {`"lines":{"text":{"equals":"rare"}}`, "exists (select from app.line where line.invoice_id = invoice.id and line.text = 'rare')"}},
	"listReceipts":       {{`"method":{"equals":"Transfer"}`, "method = 'Transfer'"}, {`"amount":{"equals":77}`, "amount = 77"}},
	"listPayments":       {{`"method":{"equals":"Transfer"}`, "method = 'Transfer'"}, {`"amount":{"equals":77}`, "amount = 77"}},
	"listReceiptEntries": {{}, {`"amount":{"equals":77}`, "amount = 77"}},
	"listPaymentEntries": {{}, {`"amount":{"equals":77}`, "amount = 77"}},
	"listTasks":          {{`"status":{"equals":"Open"}`, "status = 'Open'"}, {`"status":{"equals":"Dropped"}`, "status = 'Dropped'"}},
}

// cellOrders are the fields by which requests may order each list instead.
var cellOrders = map[string]string{"listInvoices": "total", "listReceiptEntries": "amount", "listPaymentEntries": "amount", "listTasks": "weight"}

// TestRowsTouchedByRules holds each kind of rule, request and caller to 2.5 times the rows that the best statement touches, or 100 rows
// per row of the page. A page that sorts or looks through all rows of the caller is held to 10 for each row that the list
// shows the caller. The page about lists has the figures.
func TestRowsTouchedByRules(t *testing.T) {
	t.Parallel()
	a := newApp(t, "cells", cellsSchema())
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), cellsRows); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, list := range []struct{ name, said string }{
		{"listInvoices", "one value: `invoice.business == ctx.identity.business`"},
		{"listReceipts", "a path: `receipt.invoice.business == …`"},
		{"listPayments", "a path, with copies of its end"},
		{"listReceiptEntries", "a union of invoices and receipts"},
		{"listPaymentEntries", "a union of invoices and payments, with copies"},
		{"listTasks", "many values: `ctx.identity in task.team.members.user`"},
	} {
		callers := []string{"none", "cus1500", "own150", "own10", "own0", "old"}
		if list.name == "listTasks" {
			callers = []string{"in1", "in1big", "in20", "in200", "in800", "in20old"}
		}
		for _, caller := range callers {
			c := cell{a: a, conn: conn, list: list.name, caller: caller}
			shown := c.read(t, `{"first":20,"totalCount":true}`).totalCount
			line := fmt.Sprintf("| %s | %s |", list.said, thousands(shown))
			for _, r := range cellRequests {
				line += fmt.Sprintf(" %s |", c.count(t, r.body, r.where, r.order, shown))
			}
			if shown > 0 {
				table.WriteString(line + "\n")
			}
		}
	}
	writeCells(t, conn, table.String())
}

// cell is a list and a caller.
type cell struct {
	a            *app
	conn         *pgx.Conn
	list, caller string
}

func (c cell) read(t *testing.T, body string) page {
	in, err := c.a.readers[c.list].Read([]byte(body))
	if err != nil {
		t.Fatalf("%s %s: %v", c.list, body, err)
	}
	_, answer := rowsReadBy(t, c.conn, c.a.action(t, c.list).Function, string(in.JSON), c.caller)
	if answer == "SP403" {
		return page{}
	}
	return readPage(t, answer)
}

// count counts the rows that a request touches, and compares them with those of the best statement.
func (c cell) count(t *testing.T, body, where, order string, shown int) string {
	t.Helper()
	var position []string
	filter := ""
	switch {
	case where == "far":
		at := c.read(t, fmt.Sprintf(`{"limit":1,"offset":%d}`, shown/2))
		if len(at.ids) == 0 {
			return "–"
		}
		position, body = at.ids, fmt.Sprintf(body, at.endCursor)
	case where != "":
		of := cellFilters[c.list][map[string]int{"common": 0, "rare": 1}[where]]
		if of[0] == "" {
			return "–"
		}
		body, filter = fmt.Sprintf(body, of[0]), of[1]
	case order != "":
		if cellOrders[c.list] == "" {
			return "–"
		}
		body = fmt.Sprintf(body, cellOrders[c.list])
	}
	best := 0
	for _, s := range cellSources()[c.list] {
		condition, by := "", s.order
		if filter != "" {
			condition = " and " + strings.ReplaceAll(filter, "amount", s.amount)
		}
		if position != nil {
			condition = s.beyond(t, c, position[0])
		}
		if order != "" {
			by = s.amount
		}
		best += c.best(t, s.statements(condition, by, false))
		if strings.Contains(body, "totalCount") {
			best += c.best(t, s.statements(condition, by, true))
		}
	}
	in, err := c.a.readers[c.list].Read([]byte(body))
	if err != nil {
		t.Fatalf("%s %s: %v", c.list, body, err)
	}
	most, touched := max(5*best/2, 100*20), 0
	if (where == "" || where == "far") && order == "" && !strings.Contains(body, "totalCount") && c.list != "listReceipts" && c.list != "listReceiptEntries" {
		most = 100 * 20 // an index leads to the page
	}
	if order != "" || where == "rare" || c.list == "listTasks" && where != "" || c.list == "listReceipts" || c.list == "listReceiptEntries" {
		most = max(most, 10*shown+500)
	}
	for _, function := range functionsFor(c.a.action(t, c.list), in) {
		rows, _ := rowsReadBy(t, c.conn, function, string(in.JSON), c.caller)
		if touched = max(touched, rows); rows > most {
			t.Errorf("api.%s by %s, who has %d rows, touches %d rows for %s, more than %d; the best statement touches %d",
				function, c.caller, shown, rows, body, most, best)
		}
	}
	return thousands(touched)
}

// beyond is the condition for the rows behind one of a list.
func (s cellSource) beyond(t *testing.T, c cell, id string) string {
	table := map[byte]string{'i': "invoice", 'p': "receipt", 'k': "task"}[id[0]]
	column := map[string]string{"invoice": "issued_on", "receipt": "paid_on", "task": "at"}[table]
	if c.list == "listInvoices" {
		column = "due_on"
	}
	var at string
	if err := c.conn.QueryRow(t.Context(), fmt.Sprintf("select %s::text from app.%s where id = $1", column, table), id).Scan(&at); err != nil {
		t.Fatal(err)
	}
	sign := "<"
	if !strings.HasSuffix(s.order, "desc") {
		sign = ">"
	}
	return fmt.Sprintf(" and (%s.%s, %s.id) %s ('%s', '%s')", s.table, s.day, s.table, sign, at, id)
}

// best is the number of rows that the best of some statements touches.
func (c cell) best(t *testing.T, statements []string) int {
	t.Helper()
	counts := map[int]bool{}
	for _, statement := range statements {
		tx, err := c.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var before, after int
		const touched = `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0) from pg_stat_xact_user_tables where schemaname = 'app'`
		err = tx.QueryRow(t.Context(), touched).Scan(&before)
		if err == nil {
			_, err = tx.Exec(t.Context(), strings.ReplaceAll(statement, "$1", "'"+c.caller+"'"))
		}
		if err == nil {
			err = tx.QueryRow(t.Context(), touched).Scan(&after)
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		counts[after-before] = true
	}
	return slices.Min(slices.Collect(maps.Keys(counts)))
}

// writeCells compares the table of the page about lists with the rows that Postgres touches.
func writeCells(t *testing.T, conn *pgx.Conn, rows string) {
	const page, head, end = "../integration/guide/how-to/lists.md", "| the rule | rows of the caller |", "\n\n"
	if conn.PgConn().ParameterStatus("server_version")[:2] != "15" {
		return // another version touches some more or less
	}
	text := readFile(t, page)
	before, rest, _ := strings.Cut(text, head)
	said, after, isThere := strings.Cut(rest, end)
	if !isThere {
		t.Fatalf("%s has no table of rules", page)
	}
	if _, said, _ = strings.Cut(said, "---|\n"); isNear(said, rows) {
		return
	}
	names := ""
	for _, r := range cellRequests {
		names += " " + r.name + " |"
	}
	casetest.File(t, page, before+head+names+"\n|---|---|"+strings.Repeat("---|", len(cellRequests))+"\n"+strings.TrimSuffix(rows, "\n")+end+after)
}

// isNear tells whether two tables have figures that differ by 30 rows or a tenth at the most: plans of equal costs differ.
func isNear(said, got string) bool {
	cells, others := strings.Split(strings.TrimSpace(said), "|"), strings.Split(strings.TrimSpace(got), "|")
	return slices.EqualFunc(cells, others, func(a, b string) bool {
		m, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(a), ",", ""))
		n, other := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(b), ",", ""))
		return a == b || err == nil && other == nil && max(m, n) <= max(min(m, n)+30, min(m, n)*11/10)
	})
}
