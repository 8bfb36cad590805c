package sqlgen_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
)

// numberedBills is an application whose bills are numbered per practice, and whose lines per bill.
const numberedBills = `
model Practice {
  fields { name Text bills Bill[] count Number @computed(COUNT(practice.bills)) }
  actions {
    create openPractice() with (name, bills.note, bills.lines.text)
    delete closePractice(id)
  }
}
model Bill {
  fields {
    practice Practice @onDelete(cascade)
    number Text @sequence("B-", 8, per: practice)
    note Text
    lines Line[]
    label Text @computed(bill.practice.name + bill.number)
  }
  actions {
    create writeBill() with (practice.id, note, lines.text) {
      @permission(expression: bill.note != "refused" && bill.number != "B-0666")
    }
    get findBill(practice.id, number) { @embed(lines) }
    update noteBill(id) with (note)
    delete dropBill(id)
    write choose(statement: Text) returns (Any)
  }
  @validate(bill.note != "wrong")
}
model Line {
  fields { bill Bill number Text @sequence("", per: bill) text Text }
  @validate(line.text != "wrong")
}
union Entry {
  fields { text Text }
  arms { bill Bill { @set(entry.text = bill.number) } line Line { @set(entry.text = line.number) } }
  actions { list entries(text?) { @orderBy(text: asc) } }
}
`

func newNumberedPer(t *testing.T) *app {
	t.Helper()
	text := strings.NewReplacer(
		"closePractice(id)\n  }\n", "closePractice(id)\n  }\n  @permission(expression: true, actions: [create, delete])\n",
		`"wrong")`+"\n}\nmodel Line", `"wrong")`+"\n  @permission(expression: true, actions: [get, create, update, delete, write])\n}\nmodel Line",
		"asc) } }\n", "asc) } }\n  @permission(expression: true, actions: [list])\n",
	).Replace(numberedBills) + `-- functions/choose.sql --
create function functions.choose(statement text) returns jsonb language plpgsql volatile as $$
begin
  execute statement;
  return 'true';
end;
$$;
`
	a := installApp(t, "numbered bills", compileProject(t, projectFrom(text)))
	a.exec(t, "insert into app.practice (id, name) values ('p1', 'one'), ('p2', 'two'), ('p3', 'three')")
	return a
}

func (a *app) text(t *testing.T, query string) string {
	t.Helper()
	var text *string
	if err := a.owner.QueryRow(t.Context(), query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if text == nil {
		return ""
	}
	return *text
}

const numbersOfPractices = "select string_agg(practice.name || ' ' || (select string_agg(bill.number, ' ' order by bill.number) from app.bill where bill.practice_id = practice.id), ', ' order by practice.id) from app.practice"

// TestSequencesPer numbers rows that are created in each possible way, and refuses some: there is no gap.
func TestSequencesPer(t *testing.T) {
	t.Parallel()
	a := newNumberedPer(t)
	bill := func(practice, note, lines string) string {
		t.Helper()
		return a.call(t, "writeBill", fmt.Sprintf(`{"practice":{"id":%q},"note":%q,"lines":[%s]}`, practice, note, lines), "")
	}
	number := func(answer string) string { t.Helper(); return fmt.Sprint(object(t, answer)["number"]) }

	for _, c := range []struct{ practice, note, lines, want string }{
		{"p1", "a", `{"text":"x"},{"text":"y"}`, "B-0008"},
		{"p2", "a", "", "B-0008"},
		{"p1", "refused", "", "42501"},
		{"p1", "wrong", "", "23514 bill_validate_01"},
		{"p1", "a", `{"text":"x"},{"text":"wrong"}`, "23514 line_validate_01"},
		{"none", "a", "", "23503 bill_practice_id_fkey"},
		{"p1", "b", `{"text":"z"}`, "B-0009"},
		{"p2", "b", "", "B-0009"},
	} {
		got := bill(c.practice, c.note, c.lines)
		if strings.HasPrefix(got, "{") {
			got = number(got)
		}
		if got != c.want {
			t.Errorf("a bill of %s with %s is %s, want %s", c.practice, c.note, got, c.want)
		}
	}
	if got := a.text(t, "select string_agg(bill.number || '/' || line.number || line.text, ' ' order by bill.number, line.number) from app.line join app.bill on bill.id = line.bill_id"); got != "B-0008/0001x B-0008/0002y B-0009/0001z" {
		t.Errorf("lines are %s", got)
	}

	// The practice, its bills and their lines are written by one statement.
	opened := fmt.Sprint(object(t, a.call(t, "openPractice", `{"name":"new","bills":[{"note":"a","lines":[{"text":"x"}]},{"note":"b","lines":[{"text":"x"},{"text":"y"}]}]}`, ""))["id"])
	if got := a.text(t, "select string_agg(bill.note || bill.number || bill.label || line.number, ' ' order by bill.number, line.number) from app.bill join app.line on line.bill_id = bill.id where practice_id = '"+opened+"'"); got != "aB-0008newB-00080001 bB-0009newB-00090001 bB-0009newB-00090002" {
		t.Errorf("bills of the new practice are %s", got)
	}
	if got := number(bill(opened, "c", "")); got != "B-0010" {
		t.Errorf("the next one there is %s", got)
	}

	found := object(t, a.call(t, "findBill", `{"practiceId":"p1","number":"B-0009"}`, ""))
	if found["note"] != "b" || found["label"] != "oneB-0009" {
		t.Errorf("found %v", found)
	}
	if got := object(t, a.call(t, "noteBill", fmt.Sprintf(`{"where":{"id":%q},"values":{"note":"noted"}}`, found["id"]), "")); got["number"] != "B-0009" {
		t.Errorf("noted %v", got)
	}
	if got := strings.Count(a.call(t, "entries", `{"where":{"text":{"equals":"B-0009"}}}`, ""), "B-0009"); got != 3 {
		t.Errorf("the union has %d bills of that number", got)
	}
	a.call(t, "dropBill", fmt.Sprintf(`{"id":%q}`, found["id"]), "")
	if got := number(bill("p1", "c", "")); got != "B-0010" {
		t.Errorf("a number was given twice: %s", got)
	}

	// What is deleted takes its counters along.
	a.call(t, "closePractice", `{"id":"`+opened+`"}`, "")
	if got := a.text(t, "select string_agg(sequence || ' ' || last, ', ' order by sequence, last) from platform.counter where per not in (select id from app.practice) and per not in (select id from app.bill)"); got != "" {
		t.Errorf("counters of what is gone: %s", got)
	}

	// The owner's own numbers stay, and the next ones come after them, also where a row is moved by hand.
	a.exec(t, `insert into app.bill (practice_id, number, note) values ('p3', 'B-9999', 'own'), ('p3', 'old', 'own'), ('p3', 'B-0100', 'own');
		update app.bill set practice_id = 'p2' where number = 'B-0010' and practice_id = 'p1'`)
	bill("p3", "d", "")
	bill("p2", "d", "")
	if got := a.text(t, numbersOfPractices); got != "one B-0008, two B-0008 B-0009 B-0010 B-0011, three B-0100 B-10000 B-9999 old" {
		t.Errorf("numbers are %s", got)
	}
}

// TestSequencesPerAreNotWritten lets custom code try to do the work of the platform.
func TestSequencesPerAreNotWritten(t *testing.T) {
	t.Parallel()
	a := newNumberedPer(t)
	a.call(t, "writeBill", `{"practice":{"id":"p1"},"note":"a","lines":[]}`, "")
	for _, c := range []struct{ statement, want string }{
		{"insert into app.bill (practice_id, note) values ('p1', 'b'), ('p2', 'b'), ('p1', 'c')", "true"},
		{"update app.bill set note = note || '!'", "true"},
		{"insert into app.bill (practice_id, note, number) values ('p1', 'b', 'B-0099')", "42501"},
		{"update app.bill set number = 'B-0099'", "42501"},
		{"update app.bill set practice_id = 'p2'", "42501"},
		{"select from platform.counter", "42501"},
		{"update platform.counter set last = 1", "42501"},
		{"insert into platform.counter values ('bill_number_seq', 'p1', 5)", "42501"},
		{"delete from platform.counter", "42501"},
		{"alter table app.bill disable trigger all", "42501"},
		{"set session_replication_role = replica", "42501"},
	} {
		if got := a.call(t, "choose", fmt.Sprintf(`{"statement":%q}`, c.statement), ""); got != c.want {
			t.Errorf("%s: got %s, want %s", c.statement, got, c.want)
		}
	}
	if got := a.text(t, numbersOfPractices); got != "one B-0008 B-0009 B-0010, two B-0008" {
		t.Errorf("numbers are %s", got)
	}
	for _, role := range []string{"sternpost_server", "sternpost_open", "sternpost_caller", "sternpost_code"} {
		if got := a.text(t, "select has_table_privilege('"+role+"', 'platform.counter', 'select, insert, update, delete, truncate')::text"); got != "false" {
			t.Errorf("%s has rights on the counters", role)
		}
	}
}

// TestSequencesPerAtOnce creates bills on 16 connections at once, some of which are refused.
func TestSequencesPerAtOnce(t *testing.T) {
	t.Parallel()
	a := newNumberedPer(t)
	const connections, each = 16, 12
	var group sync.WaitGroup
	for i := range connections {
		conn := a.db.Server(t)
		group.Go(func() {
			for j := range each {
				note := "fine"
				if (i+j)%3 == 0 {
					note = "refused"
				}
				body := fmt.Sprintf(`{"practice":{"id":"p%d"},"note":%q,"lines":[{"text":"a"},{"text":"b"}]}`, (i+j)%2+1, note)
				if _, err := calls.JSON(t.Context(), conn, "write_bill", body, "{}"); (err != nil) != (note == "refused") {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	gaps := "select count(*) || ' ' || string_agg(distinct (1 + substr(number, 3)::int - 8 - place)::text, ' ') from (select number, row_number() over (partition by practice_id order by number) as place from app.bill) as numbered"
	if got, want := a.text(t, gaps), fmt.Sprintf("%d 0", connections*each*2/3); got != want {
		t.Errorf("bills and their distances from a gapless count: %s, want %s", got, want)
	}
}
