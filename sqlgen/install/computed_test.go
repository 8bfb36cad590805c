package install_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/pgtest"
)

// kept is a schema with computed columns of all kinds.
func kept() string {
	return billed("net Decimal @computed(SUM(invoice.lines.total)) dearest Decimal? @computed(MAX(invoice.lines.total)) "+
		"open Boolean @computed(invoice.net > invoice.paid)", priced+" maker Maker? @computed(line.product.maker)", "maker Maker? sold Number @computed(SUM(product.lines.quantity))") +
		"model Maker { fields { name Text } }\n"
}

// asksKept reads the computed values of the rows.
const asksKept = "select coalesce(string_agg(name || ' ' || trim_scale(net) || ' ' || coalesce(trim_scale(dearest)::text, '-') || ' ' || open, ', ' order by id), '') from app.invoice"

// checkComputed compares the computed values.
func checkComputed(t *testing.T, conn *pgx.Conn, want string) {
	t.Helper()
	var got string
	if err := conn.QueryRow(t.Context(), asksKept).Scan(&got); err != nil || got != want {
		t.Errorf("computed is %q, %v, want %q", got, err, want)
	}
}

// TestComputedColumnsAreKept checks that computed values are right after every statement, and only triggers write them.
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

// TestOneKeeperForAllEvents checks the function that a table has if all events write alike: of rows with and without a
// key, of statements that concern several rows and none, and of those that leave the sums as they are.
func TestOneKeeperForAllEvents(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, `
		model Shelf {
			fields {
				books Book[]
				pages Number @computed(SUM(shelf.books.pages))
				thick Number @computed(COUNTIF(shelf.books, shelf.books.pages > 100))
			}
		}
		model Book { fields { shelf Shelf? pages Number title Text @default("") } }
	`)
	var keepers string
	if err := conn.QueryRow(t.Context(), "select string_agg(distinct proname, ', ') from pg_proc where proname like 'tg_book\\_\\_keep%'").Scan(&keepers); err != nil || keepers != "tg_book__keep" {
		t.Errorf("the keepers of books are %q, %v, want one", keepers, err)
	}
	mustExec(t, conn, "insert into app.shelf (id) values ('a'), ('b')")
	for _, c := range []struct{ name, statement, want string }{
		{"a row", "insert into app.book (id, shelf_id, pages) values ('1', 'a', 50)", "a 50 0, b 0 0"},
		{"rows of several keys and of none", "insert into app.book (id, shelf_id, pages) values ('2', 'a', 200), ('3', 'b', 300), ('4', null, 400)", "a 250 1, b 300 1"},
		{"no row", "insert into app.book (id, shelf_id, pages) select '5', 'a', 1 where false", "a 250 1, b 300 1"},
		{"another column", "update app.book set title = 'x'", "a 250 1, b 300 1"},
		{"rows that change places", "update app.book set shelf_id = case shelf_id when 'a' then 'b' when 'b' then 'a' end", "a 300 1, b 250 1"},
		{"a value", "update app.book set pages = 150 where id = '1'", "a 300 1, b 350 2"},
		{"values whose changes add up to nothing", "update app.book set pages = case id when '1' then 200 else 150 end where id in ('1', '2')", "a 300 1, b 350 2"},
		{"a row that gets a key", "update app.book set shelf_id = 'a' where id = '4'", "a 700 2, b 350 2"},
		{"a row that loses its key", "update app.book set shelf_id = null where id = '3'", "a 400 1, b 350 2"},
		{"rows that go", "delete from app.book where id in ('1', '3')", "a 400 1, b 150 1"},
		{"no row that goes", "delete from app.book where false", "a 400 1, b 150 1"},
		{"a table that is emptied", "truncate app.book", "a 0 0, b 0 0"},
	} {
		mustExec(t, conn, c.statement)
		var got string
		if err := conn.QueryRow(t.Context(), "select string_agg(concat_ws(' ', id, pages, thick), ', ' order by id) from app.shelf").Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestComputingIsNoUpdate checks that updated_at tells when a row was changed, not when it was computed.
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

// TestComputedToOnesFollow checks that a computed to-one has the same target as the row that it is read from after each
// statement, also when that target is deleted, under any foreign key action. Several new ones may be unique.
func TestComputedToOnesFollow(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, `
		model Owner { fields { city Text } }
		model House { fields { owner Owner? keeper Owner? @onDelete(cascade) agent Owner? @onDelete(restrict) flats Flat[] } }
		model Flat {
			fields {
				house House? @onDelete(setNull)
				owner Owner? @computed(flat.house.owner)
				keeper Owner? @computed(flat.house.keeper)
				agent Owner? @computed(flat.house.agent)
				city Text? @computed(flat.owner.city)
				key Key?
				lock Lock? @computed(flat.key.lock)
				make Text? @computed(flat.lock.make)
			}
		}
		model Key { fields { flat Flat @unique lock Lock @unique code Lock @unique @computed(key.lock) seal Seal @unique @computed(key.lock.seal) } }
		model Lock { fields { make Text seal Seal } }
		model Seal { fields { text Text } }
	`)
	for _, c := range []struct{ name, statement, want string }{
		{"rows", `
			insert into app.owner (id, city) values ('a', 'A'), ('b', 'B'), ('c', 'C');
			insert into app.house (id, owner_id, keeper_id, agent_id) values ('h1', 'a', 'b', 'c'), ('h2', 'b', 'a', null);
			insert into app.flat (id, house_id) values ('f1', 'h1'), ('f2', 'h2'), ('f3', null);
			insert into app.seal (id, text) values ('s1', 'x'), ('s2', 'y');
			insert into app.lock (id, make, seal_id) values ('l1', 'X', 's1'), ('l2', 'Y', 's2')`, "f1 a b c A, f2 b a B, f3"},
		{"several at once that are unique", "insert into app.key (id, flat_id, lock_id) values ('k1', 'f1', 'l1'), ('k2', 'f2', 'l2')", "f1 a b c A l1 X, f2 b a B l2 Y, f3"},
		{"two of one that is unique", "update app.lock set seal_id = 's1'", "23505"},
		{"a row between leads elsewhere", "update app.house set owner_id = 'c' where id = 'h1'", "f1 c b c C l1 X, f2 b a B l2 Y, f3"},
		{"the first row leads elsewhere", "update app.flat set house_id = 'h2' where id = 'f3'", "f1 c b c C l1 X, f2 b a B l2 Y, f3 b a B"},
		{"a row that a key restricts", "delete from app.owner where id = 'c'", "restricted"},
		{"the id of what is behind it", "with moved as (update app.house set keeper_id = 'a2' where keeper_id = 'a') update app.owner set id = 'a2' where id = 'a'",
			"f1 c b c C l1 X, f2 b a2 B l2 Y, f3 b a2 B"},
		{"a row that a key lets go, and one that goes with it", "delete from app.owner where id = 'a2'", "f1 c b c C l1 X, f2 l2 Y, f3"},
		{"both of one row", "delete from app.owner where id = 'b'", "f1 l1 X, f2 l2 Y, f3"},
		{"a row on the other side", "delete from app.key where id = 'k1'", "f1, f2 l2 Y, f3"},
		{"a row behind the other side", "delete from app.lock", "f1, f2, f3"},
		{"anew", "insert into app.key (id, flat_id, lock_id) select 'k', 'f3', new.id from (values ('l3')) as new (id); insert into app.lock (id, make, seal_id) values ('l3', 'Z', 's1')", "23503"},
		{"with what it leads to, in one statement", "with lock as (insert into app.lock (id, make, seal_id) values ('l3', 'Z', 's1')) insert into app.key (id, flat_id, lock_id) values ('k', 'f3', 'l3')", "f1, f2, f3 l3 Z"},
		{"a table that is emptied", "truncate app.lock cascade", "f1, f2, f3"},
	} {
		if c.want == "restricted" { // which has a code of its own from PostgreSQL 18 on
			err := conn.QueryRow(t.Context(), "select case when current_setting('server_version_num')::int < 180000 then '23503' else '23001' end").Scan(&c.want)
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := conn.Exec(t.Context(), c.statement)
		got := ""
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			got = refused.Code
		} else if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		} else if err := conn.QueryRow(t.Context(), `select string_agg(concat_ws(' ', id, owner_id, keeper_id, agent_id, city, lock_id, make), ', ' order by id)
			from app.flat`).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q (%v)", c.name, got, c.want, err)
		}
	}
	for _, statement := range []string{"update app.flat set owner_id = 'c'", "update app.key set code_id = 'l1'", "update app.flat set city = 'x'"} {
		mustExec(t, conn, "insert into app.lock (id, make, seal_id) values ('l1', 'X', 's1') on conflict do nothing; insert into app.key (id, flat_id, lock_id) values ('k', 'f3', 'l1') on conflict do nothing")
		if _, err := conn.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "428C9") {
			t.Errorf("%s: got %v, want an error that it is computed", statement, err)
		}
	}
}

// TestComputedIsRestored checks that a dump holds the computed values, and the triggers go on from there.
func TestComputedIsRestored(t *testing.T) {
	t.Parallel()
	from, to := pgtest.New(t, pgtest.Options{Empty: true}), pgtest.New(t, pgtest.Options{Empty: true})
	conn := from.Owner(t)
	mustInstall(t, conn, kept())
	mustExec(t, conn, bills)
	restore(t, from, to)
	restored := to.Superuser(t)
	checkComputed(t, restored, "a 9.5 6 true, b 2 2 true")
	mustExec(t, restored, "update app.product set price = 4 where id = 'p1'; insert into app.line (invoice_id, product_id, quantity) values ('i2', 'p2', 2)")
	checkComputed(t, restored, "a 15.5 12 true, b 11 7 true")
	mustExec(t, restored, "insert into app.maker (id, name) values ('m', 'M'); update app.product set maker_id = 'm' where id = 'p2'")
	var made string
	if err := restored.QueryRow(t.Context(), "select string_agg(product_id || ' ' || coalesce(maker_id, '-'), ', ' order by product_id, maker_id) from app.line").Scan(&made); err != nil ||
		made != "p1 -, p1 -, p2 m, p2 m" {
		t.Errorf("the makers of lines are %q, %v", made, err)
	}
}

// TestLateRules checks that a rule over values computed from other rows is tested when a transaction ends, after any
// cause of the change, and by then it may hold again.
func TestLateRules(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	conn := db.Owner(t)
	mustInstall(t, conn, ruledBills(`@validate(invoice.paid <= invoice.net, message: "paid twice") @validate(invoice.name != "") @validate(!(invoice.dearest > 50))`,
		"net Decimal @computed(SUM(invoice.lines.total)) dearest Decimal? @computed(MAX(invoice.lines.total))", priced, ""))
	mustExec(t, conn, bills) // invoices of 9.5 and of 2
	for _, c := range []struct{ name, statement, broken string }{
		{"a column of the row", "update app.invoice set paid = 9.6 where id = 'i1'", "invoice_validate_01"},
		{"a row that is new", "insert into app.invoice (id, name, paid) values ('i3', 'c', 1)", "invoice_validate_01"},
		{"a row that is new, with those that it is computed from", "insert into app.invoice (id, name, paid) values ('i3', 'c', 1); insert into app.line (invoice_id, product_id, quantity) values ('i3', 'p1', 1)", ""},
		{"all that it may be", "update app.invoice set paid = 9.5 where id = 'i1'", ""},
		{"another row", "delete from app.line where id = 'l2'", "invoice_validate_01"},
		{"a row behind another row", "update app.product set price = 0 where id = 'p1'", "invoice_validate_01"},
		{"rows that go with another one", "delete from app.product where id = 'p1'", "invoice_validate_01"},
		{"a table that is emptied", "truncate app.line", "invoice_validate_01"},
		{"a line that moves away", "update app.line set invoice_id = 'i2' where invoice_id = 'i1'", "invoice_validate_01"},
		{"one for another", "delete from app.line where id = 'l2'; insert into app.line (invoice_id, product_id, quantity) values ('i1', 'p2', 1)", ""},
		{"a rule that was broken and is not", "update app.invoice set paid = 100; update app.invoice set paid = 0", ""},
		{"a row that breaks it and goes", "insert into app.invoice (id, name, paid) values ('i4', 'd', 1); delete from app.invoice where id = 'i4'", ""},
		{"what is read anew", "update app.line set quantity = 100 where id = 'l1'", "invoice_validate_03"},
		{"two rules: the first", "update app.invoice set paid = 9999; update app.line set quantity = 100 where id = 'l1'", "invoice_validate_01"},
		{"a rule over own fields: at once", "update app.invoice set name = '' where id = 'i1'; update app.invoice set name = 'a' where id = 'i1'", "invoice_validate_02"},
	} {
		_, err := conn.Exec(t.Context(), "begin; "+c.statement+"; commit")
		var refused *pgconn.PgError
		switch isRefused := errors.As(err, &refused); {
		case isRefused && (refused.ConstraintName != c.broken || refused.TableName != "invoice" || refused.Code != "23514"):
			t.Errorf("%s: got %v of %s, want %q", c.name, err, refused.ConstraintName, c.broken)
		case !isRefused && (err != nil || c.broken != ""):
			t.Errorf("%s: got %v, want %q", c.name, err, c.broken)
		}
		if err != nil {
			mustExec(t, conn, "rollback")
		}
	}

	// Two allowed transactions write one row at once: the second sees the change of the first.
	mustExec(t, conn, "truncate app.invoice cascade;"+strings.ReplaceAll(bills, "insert into app.product (id, title, price) values ('p1', 'x', 2), ('p2', 'y', 3.5);", ""))
	other := db.Owner(t)
	mustExec(t, conn, "begin; delete from app.line where id = 'l2'") // 3.5 less
	done := make(chan error)
	go func() {
		_, err := other.Exec(t.Context(), "update app.invoice set paid = 7 where id = 'i1'")
		done <- err
	}()
	for waits := false; !waits; {
		select {
		case err := <-done:
			t.Fatalf("the second of two writers did not wait: %v", err)
		default:
		}
		if err := conn.QueryRow(t.Context(), "select exists (select from pg_locks where not granted and pid = $1)", other.PgConn().PID()).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	mustExec(t, conn, "commit")
	if err := <-done; err == nil || !strings.Contains(err.Error(), "invoice_validate_01") {
		t.Errorf("the second of two writers: got %v, want a broken rule", err)
	}
}

// TestComputedOfAwkwardNames checks that models may have names used in triggers, and fields those of their variables.
func TestComputedOfAwkwardNames(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, `
		model New {
			fields {
				olds Old[] vIds Number @default limit Number @default sum Number @computed(SUM(new.olds.vIds)) last Number? @computed(MAX(new.olds.vIds))
				costs Number @computed(COUNTIF(new.olds, new.olds.text == "$$"))
			}
			@validate(new.sum <= new.limit, message: "$$")
		}
		model Old { fields { new New text Text vIds Number seen Number @computed(old.new.vIds) } }
		model Source { fields { moves Moved[] last Number? @computed(MAX(source.moves.sum)) } }
		model Moved { fields { source Source changes Changed[] sum Number @computed(SUM(moved.changes.n)) } }
		model Changed { fields { moved Moved n Number } }
	`)
	mustExec(t, conn, `
		insert into app.new (id, v_ids, "limit") values ('n', 3, 10);
		insert into app.old (id, new_id, text, v_ids) values ('o1', 'n', '$$', 4), ('o2', 'n', '', 5);
		update app.old set v_ids = 6 where id = 'o2';
		insert into app.source (id) values ('s');
		insert into app.moved (id, source_id) values ('m', 's');
		insert into app.changed (moved_id, n) values ('m', 1), ('m', 2);
		update app.changed set n = n + 1;
	`)
	var got string
	if err := conn.QueryRow(t.Context(), `
		select concat_ws(' ', sum, new.last, costs, (select string_agg(seen::text, ' ') from app.old), (select last from app.source), (select sum from app.moved)) from app.new
	`).Scan(&got); err != nil || got != "10 6 1 3 3 5 5" {
		t.Errorf("computed is %q, %v", got, err)
	}
	if _, err := conn.Exec(t.Context(), "update app.old set v_ids = 7 where id = 'o2'"); err == nil || !strings.Contains(err.Error(), "new_validate_01") {
		t.Errorf("got %v, want a broken rule", err)
	}
}

// TestExtremesReadFewRows checks that an index over a key and a value finds the greatest and least value of any number
// of lines without reading the others. This also holds in a session that has written all lines at once before, whose
// plans were made for that. Without such an index each line of the invoices concerned is read once, and no other one.
func TestExtremesReadFewRows(t *testing.T) {
	t.Parallel()
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	mustInstall(t, conn, billed("dearest Decimal? @computed(MAX(invoice.lines.worth)) least Decimal @computed(MIN(invoice.lines.worth)) "+
		"lineCount Number @computed(COUNT(invoice.lines))", "worth Decimal", ""))
	const lines = 3000
	mustExec(t, conn, "create index by_worth on app.line (invoice_id, worth)")
	mustExec(t, conn, fmt.Sprintf(`
		insert into app.invoice (id, name) values ('few', 'a'), ('many', 'b');
		insert into app.invoice (id, name) select 'o' || n, 'c' from generate_series(1, %d) n;
		insert into app.product (id, title, price) values ('p', 'x', 1);
		insert into app.line (id, invoice_id, product_id, quantity, worth) values ('first', 'few', 'p', 1, 1);
		analyze;
		insert into app.line (id, invoice_id, product_id, quantity, worth) select 'f' || n, 'few', 'p', 1, n from generate_series(1, 10) n;
		insert into app.line (id, invoice_id, product_id, quantity, worth) select 'm' || n, 'many', 'p', 1, n from generate_series(1, %[1]d) n;
		analyze;
	`, lines))
	mustExec(t, conn, fmt.Sprintf(`
		insert into app.line (id, invoice_id, product_id, quantity, worth) select 'o' || n, 'o' || n, 'p', 1, n from generate_series(1, %d) n;
		update app.line set worth = worth + 1 where invoice_id like 'o%%';
	`, lines))
	for _, c := range []struct {
		name, statement string
		want            string // of the invoice with many lines
	}{
		{"a line between", "insert into app.line (id, invoice_id, product_id, quantity, worth) values ('x', '%s', 'p', 1, 5)", "3000 1"},
		{"a greater one", "insert into app.line (id, invoice_id, product_id, quantity, worth) values ('y', '%s', 'p', 1, 9000)", "9000 1"},
		{"two at once", "insert into app.line (id, invoice_id, product_id, quantity, worth) values ('z', '%s', 'p', 1, -1), ('w', '%[1]s', 'p', 1, 8000)", "9000 -1"},
		{"one that rises", "update app.line set worth = 9500 where id = 'x' and invoice_id = '%s'", "9500 -1"},
		{"the greatest rises", "update app.line set worth = 9600 where id = 'x' and invoice_id = '%s'", "9600 -1"},
		{"one that is neither", "update app.line set worth = 7 where id = 'w' and invoice_id = '%s'", "9600 -1"},
		{"one that is neither goes", "delete from app.line where id = 'w' and invoice_id = '%s'", "9600 -1"},
		{"the greatest falls", "update app.line set worth = 8 where id = 'x' and invoice_id = '%s'", "9000 -1"},
		{"the greatest goes", "delete from app.line where id = 'y' and invoice_id = '%s'", "3000 -1"},
		{"the least goes", "delete from app.line where id = 'z' and invoice_id = '%s'", "3000 1"},
		{"one moves in", "insert into app.line (id, invoice_id, product_id, quantity, worth) values ('v', 'few', 'p', 1, 9999); update app.line set invoice_id = '%s' where id = 'v'", "9999 1"},
		{"a line between, without the index", "insert into app.line (id, invoice_id, product_id, quantity, worth) values ('u', '%s', 'p', 1, 5)", "9999 1"},
	} {
		if strings.HasSuffix(c.name, "without the index") {
			mustExec(t, conn, "drop index app.by_worth")
		}
		for _, invoice := range []string{"few", "many"} {
			var before, after int
			const read = "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables where relid in ('app.line'::regclass, 'app.invoice'::regclass)"
			mustExec(t, conn, "begin")
			if err := conn.QueryRow(t.Context(), read).Scan(&before); err != nil {
				t.Fatal(err)
			}
			mustExec(t, conn, fmt.Sprintf(c.statement, invoice))
			if err := conn.QueryRow(t.Context(), read).Scan(&after); err != nil {
				t.Fatal(err)
			}
			end := "rollback"
			if invoice == "many" {
				end = "commit"
			}
			mustExec(t, conn, end)
			most := 60
			if strings.HasSuffix(c.name, "without the index") && invoice == "many" {
				most = 2*lines + 60 // for each of two fields
			}
			if got := after - before; got > most {
				t.Errorf("%s, %s lines: %d rows were read", c.name, invoice, got)
			} else {
				t.Logf("%s, %s lines: %d rows were read", c.name, invoice, got)
			}
		}
		var got string
		if err := conn.QueryRow(t.Context(), "select trim_scale(dearest) || ' ' || trim_scale(least) from app.invoice where id = 'many'").Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: the greatest and least are %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// visits is a schema whose rule compares to-ones of several rows, and visitRows has rows that it admits.
const (
	visits = `model Practice { fields { name Text } }
model Patient { fields { practice Practice  name Text } }
model Room { fields { practice Practice? } }
model Visit { fields { practice Practice  patient Patient  room Room? } ` + visitRules + ` }
`
	visitRules = `@validate(visit.practice == visit.patient.practice, message: "of another practice") @validate(visit.room.practice == visit.patient.practice)`
	visitRows  = `insert into app.practice (id, name) values ('a', 'A'), ('b', 'B');
		insert into app.patient (id, practice_id, name) values ('pa', 'a', 'x'), ('pb', 'b', 'y');
		insert into app.room (id, practice_id) values ('ra', 'a'), ('rb', 'b'), ('none', null);
		insert into app.visit (id, practice_id, patient_id, room_id) values ('va', 'a', 'pa', 'ra'), ('vb', 'b', 'pb', null)`
)

// TestComparedToOnes checks that a rule that compares to-ones of several rows is tested whoever changes one of them, or a
// way to one of them, and by the end of the transaction it may hold again.
func TestComparedToOnes(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	conn := db.Owner(t)
	mustInstall(t, conn, visits)
	mustExec(t, conn, visitRows)
	for _, c := range []struct{ name, statement, broken string }{
		{"a new row", "insert into app.visit (practice_id, patient_id) values ('a', 'pb')", "visit_validate_01"},
		{"a new row that fits", "insert into app.visit (practice_id, patient_id, room_id) values ('b', 'pb', 'rb')", ""},
		{"a new row with the second value of another", "insert into app.visit (practice_id, patient_id, room_id) values ('b', 'pb', 'ra')", "visit_validate_02"},
		{"a value that is null", "insert into app.visit (practice_id, patient_id, room_id) values ('b', 'pb', 'none')", ""},
		{"the own value", "update app.visit set practice_id = 'b' where id = 'va'", "visit_validate_01"},
		{"the way", "update app.visit set patient_id = 'pb' where id = 'va'", "visit_validate_01"},
		{"both", "update app.visit set patient_id = 'pb', practice_id = 'b', room_id = null where id = 'va'; update app.visit set patient_id = 'pa', practice_id = 'a', room_id = 'ra' where id = 'va'", ""},
		{"the other value", "update app.patient set practice_id = 'b' where id = 'pa'", "visit_validate_01"},
		{"the third value", "update app.room set practice_id = 'b' where id = 'ra'", "visit_validate_02"},
		{"the third value, where it was null", "update app.visit set room_id = 'none' where id = 'vb'; update app.room set practice_id = 'a' where id = 'none'", "visit_validate_02"},
		{"all of them, one after the other", "update app.patient set practice_id = 'b' where id = 'pa'; update app.room set practice_id = 'b' where id = 'ra'; update app.visit set practice_id = 'b' where id = 'va'", ""},
		{"a cascade", "delete from app.practice where id = 'b'", ""},
	} {
		_, err := conn.Exec(t.Context(), "begin; "+c.statement+"; commit")
		var refused *pgconn.PgError
		switch isRefused := errors.As(err, &refused); {
		case isRefused && (refused.ConstraintName != c.broken || refused.TableName != "visit" || refused.Code != "23514"):
			t.Errorf("%s: got %v of %s, want %q", c.name, err, refused.ConstraintName, c.broken)
		case !isRefused && (err != nil || c.broken != ""):
			t.Errorf("%s: got %v, want %q", c.name, err, c.broken)
		}
		if err != nil {
			mustExec(t, conn, "rollback")
		}
	}

	// The patient moves while a visit of theirs is written: the second of the two sees the change of the first.
	for name, of := range map[string][2]string{
		"the visit waits":   {"update app.patient set practice_id = 'd' where id = 'pc'", "insert into app.visit (practice_id, patient_id) values ('c', 'pc')"},
		"the patient waits": {"insert into app.visit (practice_id, patient_id) values ('c', 'pc')", "update app.patient set practice_id = 'd' where id = 'pc'"},
	} {
		mustExec(t, conn, "truncate app.practice cascade; insert into app.practice (id, name) values ('c', 'C'), ('d', 'D'); insert into app.patient (id, practice_id, name) values ('pc', 'c', 'z')")
		other := db.Owner(t)
		mustExec(t, conn, "begin; "+of[0])
		done := make(chan error)
		go func() {
			_, err := other.Exec(t.Context(), of[1])
			done <- err
		}()
		for waits := false; !waits; {
			select {
			case err := <-done:
				t.Fatalf("%s: it did not: %v", name, err)
			default:
			}
			if err := conn.QueryRow(t.Context(), "select exists (select from pg_locks where not granted and pid = $1)", other.PgConn().PID()).Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		mustExec(t, conn, "commit")
		if err := <-done; err == nil || !strings.Contains(err.Error(), "visit_validate_01") {
			t.Errorf("%s: got %v, want a broken rule", name, err)
		}
	}
}
