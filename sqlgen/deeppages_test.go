package sqlgen_test

import (
	"fmt"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
)

// deep are lists in orders of every kind: by keys with many or few values, by keys that are
// null in a third of the rows, and by several keys in different directions.
const deep = `
model Item {
  fields {
    state State  kind Text?  name Text  rank Number?  price Decimal?  day Date?  took Duration?  at Timestamp?  isOn Boolean?
    madeAt Timestamp  enteredAt Timestamp
  }
  actions {
    list byId()
    list byState() { @orderBy(state: asc) }
    list byStateDown() { @orderBy(state: desc) }
    list byStateAndTime() { @orderBy(state: asc, at: desc) }
    list byStateAndMaking() { @orderBy(state: desc, madeAt: desc) }
    list byKind() { @orderBy(kind: asc) }
    list byName() { @orderBy(name: asc) }
    list byNameDown() { @orderBy(name: desc) }
    list byRank() { @orderBy(rank: asc) }
    list byPriceDown() { @orderBy(price: desc) }
    list byTime() { @orderBy(at: asc) }
    list byTimeDown() { @orderBy(at: desc) }
    list byLength() { @orderBy(took: asc) }
    list bySwitchAndDay() { @orderBy(isOn: asc, day: desc) }
    list bySwitchAndMore() { @orderBy(isOn: asc, day: desc, rank: asc) }
    list byMaking() { @orderBy(madeAt: desc) }
    list byEntry() { @orderBy(enteredAt: desc) @sortable(name, took) }
  }
  @permission(expression: true, actions: [list])
}
enum State { Draft Live Gone }
`

const deepRows = `
	insert into app.identity (id) values ('i7');
	insert into app.item (id, state, kind, name, rank, price, day, took, at, is_on, made_at, entered_at)
	select
		'p' || n, (array['Draft', 'Live', 'Gone'])[1 + n % 3], case when n % 3 > 0 then 'kind ' || n end, 'name ' || n,
		case when n % 3 > 0 then n end, case when n % 3 > 0 then n * 0.5 end, case when n % 3 > 0 then '2020-01-01'::date + n / 10 end,
		case when n % 3 > 0 then n * interval '1 minute' end, case when n % 3 > 0 then '2020-01-01Z'::timestamptz + n * interval '1 minute' end,
		case when n % 3 > 0 then n % 2 = 0 end, '2020-01-01Z'::timestamptz + n * interval '1 minute', '2026-03-31Z'
	from generate_series(0, 19999) as n;
	analyze;
`

// TestDeepPages counts the rows that are read for pages anywhere in 20,000 rows, to
// either side of a cursor, in every order: as many as for the first page, whether many
// rows are equal by the first key or it is null. Only those that an offset
// skips are read; and a requested order that no index has reads all rows.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, "deep", deep)
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), deepRows); err != nil {
		t.Fatal(err)
	}
	offsetRows := rowsRead(t, conn, a.action(t, "byId").Function, `{"limit":20,"offset":10000}`)
	sortedRows := rowsRead(t, conn, a.action(t, "byEntry").Function, `{"first":20,"orderBy":[{"took":"desc"},{"name":"asc"}]}`)
	if offsetRows < 10_000 || sortedRows < 6000 {
		t.Errorf("an offset of 10,000 reads %d rows, an order without index %d: does this cost less now?", offsetRows, sortedRows)
	}
	for _, action := range a.manifest.Actions {
		for _, offset := range []int{10, 3_000, 10_000, 16_000, 19_980} {
			cursor := readPage(t, a.call(t, action.Name, fmt.Sprintf(`{"limit":1,"offset":%d}`, offset), "")).endCursor
			form, _ := calls.Form(action, "", true, true)
			for _, c := range []struct{ function, body string }{
				{form, fmt.Sprintf(`{"first":20,"after":%q}`, cursor)},
				{action.Function, fmt.Sprintf(`{"first":20,"after":%q}`, cursor)},
				{action.Function, fmt.Sprintf(`{"last":20,"before":%q}`, cursor)},
			} {
				if c.function == "" {
					continue // in such an order all but the first page is left to the general function
				}
				if rows := rowsRead(t, conn, c.function, c.body); rows > 200 {
					t.Errorf("api.%s %s, row %d: reads %d rows for 20", c.function, c.body, offset, rows)
				}
			}
		}
	}
}
