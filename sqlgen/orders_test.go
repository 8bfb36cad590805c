package sqlgen_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const books = `
model Book {
  fields {
    title Text  subtitle Text?  pages Number  price Decimal?  read Boolean  bought Date?  lent Timestamp
    took Duration?  shelf Shelf  writer Writer?
  }
  actions {
    list byNothing()
    list byTime(shelf?, writer.id?) { @orderBy(lent: desc) }
    list byPrice() { @orderBy(price: desc, read: asc) }
    list byTitle() { @orderBy(title: desc) }
    list byMany() { @orderBy(read: desc, pages: asc, shelf: asc) }
    list byDay(shelf?) { @orderBy(bought: asc) }
    list byDayAndPrice() { @orderBy(bought: desc, price: asc) }
    list byMost() { @orderBy(took: asc, price: desc, bought: asc) }
    list loosely() {
      @orderBy(pages: desc)
      @sortable(title, subtitle, pages, price, read, bought, lent, took, shelf, writerId, id, createdAt)
    }
    list freely(shelf?) {
      @orderBy(pages: desc, id: desc)
      @sortable(title, subtitle, pages, price, read, bought, lent, took, shelf, writerId, id, createdAt)
    }
  }
  @permission(expression: true, actions: [list])
}

model Writer { fields { name Text } }

enum Shelf { Top Middle Bottom }
`

// declared are the orders of the actions above, as SQL.
var declared = map[string]string{
	"byNothing":     "id",
	"byTime":        "lent desc, id desc",
	"byPrice":       "price desc, read, id",
	"byTitle":       "title desc, id desc",
	"byMany":        "read desc, pages, shelf, id",
	"byDay":         "bought, id",
	"byDayAndPrice": "bought desc, price, id",
	"byMost":        "took, price desc, bought, id",
	"freely":        "pages desc, id desc",
	"loosely":       "pages desc, id desc",
}

// TestOrders walks lists in every declared order and in random requested ones, forwards and backwards
// in pages of every size, and compares them with Postgres' own order by: every row comes once, in
// order.
func TestOrders(t *testing.T) {
	t.Parallel()
	a := newApp(t, "books", books)
	a.exec(t, `insert into app.writer (id, name) values ('w1', 'Ada'), ('w2', 'Bob')`)
	// Few values, so that many rows are equal by every key but their ids.
	a.exec(t, `
		insert into app.book (title, subtitle, pages, price, read, bought, lent, took, shelf, writer_id)
		select
			(array['', 'a', 'B', 'é', 'a b'])[1 + n % 5],
			(array['x', null, ''])[1 + n % 3],
			(array[0, -9007199254740991, 9007199254740991, 7])[1 + n % 4],
			(array[1.50, null, -3, 0.000000000000000001])[1 + n / 2 % 4],
			n % 2 = 0,
			(array['2024-02-29'::date, null, '0001-01-01', '9999-12-31'])[1 + n / 3 % 4],
			(array['2024-02-29T10:00:00.001Z'::timestamptz, '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])[1 + n % 3],
			(array['P1M'::interval, 'P30D', null, 'PT1H', 'P-1D'])[1 + n % 5],
			(array['Top', 'Middle', 'Bottom'])[1 + n / 2 % 3],
			(array['w1', null, 'w2'])[1 + n / 4 % 3]
		from generate_series(1, 37) as n`)

	for action, order := range declared {
		checkOrder(t, a, action, "", order)
	}
	random, rounds := rand.New(rand.NewPCG(7, 7)), 1
	if *generatedFor > 0 {
		rounds = 40
	}
	for range rounds {
		for action, id := range map[string]string{"freely": "desc", "loosely": ""} {
			requested, order := randomOrder(random, id)
			checkOrder(t, a, action, requested, order)
		}
	}
}

var sortColumns = map[string]string{
	"title": "title", "subtitle": "subtitle", "pages": "pages", "price": "price", "read": "read", "bought": "bought",
	"lent": "lent", "took": "took", "shelf": "shelf", "writerId": "writer_id", "id": "id", "createdAt": "created_at",
}

// randomOrder returns an order as a request names it, also with fields named twice, and as SQL. The id
// has the direction of the key before it, unless the order declares one.
func randomOrder(random *rand.Rand, id string) (requested, order string) {
	var names []string
	for name := range sortColumns {
		names = append(names, name)
	}
	slices.Sort(names)
	var members, clauses []string
	seen := map[string]bool{}
	last := ""
	clause := func(name, direction string) {
		if !seen[name] {
			seen[name], last = true, direction
			clauses = append(clauses, sortColumns[name]+" "+direction)
		}
	}
	for range 1 + random.IntN(4) {
		name, direction := names[random.IntN(len(names))], []string{"asc", "desc"}[random.IntN(2)]
		members = append(members, fmt.Sprintf(`{%q:%q}`, name, direction))
		clause(name, direction)
	}
	clause("pages", "desc")
	if id == "" {
		id = last
	}
	clause("id", id)
	return `"orderBy":[` + strings.Join(members, ",") + `]`, strings.Join(clauses, ", ")
}

func checkOrder(t *testing.T, a *app, action, requested, order string) {
	t.Helper()
	for _, filter := range []struct{ where, sql string }{{"", "true"}, {`"shelf":{"equals":"Top"}`, "shelf = 'Top'"}} {
		if filter.where != "" && !strings.Contains("byTime byDay freely", action) {
			continue
		}
		want := wholeList(t, a, filter.sql, order)
		members := []string{}
		if filter.where != "" {
			members = append(members, `"where":{`+filter.where+`}`)
		}
		if requested != "" {
			members = append(members, requested)
		}
		for _, size := range []int{1, 2, 5, len(want), len(want) + 1} {
			for _, backwards := range []bool{false, true} {
				walkOrdered(t, a, action, members, size, backwards, want)
			}
		}
	}
}

func wholeList(t *testing.T, a *app, condition, order string) []string {
	t.Helper()
	rows, err := a.owner.Query(t.Context(), "select id from app.book where "+condition+" order by "+order)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func walkOrdered(t *testing.T, a *app, action string, members []string, size int, backwards bool, want []string) {
	t.Helper()
	step, cursorName := "first", "after"
	if backwards {
		step, cursorName = "last", "before"
	}
	var met []string
	cursor := ""
	for pages := 0; pages <= len(want); pages++ {
		asked := append(slices.Clone(members), fmt.Sprintf(`%q:%d`, step, size))
		if cursor != "" {
			asked = append(asked, fmt.Sprintf(`%q:%q`, cursorName, cursor))
		}
		p := readPage(t, a.list(t, action, "{"+strings.Join(asked, ",")+"}"))
		onward, behind := p.hasNext, p.hasPrevious
		cursor = p.endCursor
		if backwards {
			onward, behind = behind, onward
			cursor = p.startCursor
			met = append(slices.Clone(p.ids), met...)
		} else {
			met = append(met, p.ids...)
		}
		if behind != (pages > 0) {
			t.Errorf("%s %v: page %d by %d says of rows behind it %t", action, members, pages, size, behind)
		}
		if !onward {
			break
		}
	}
	if !slices.Equal(met, want) {
		t.Errorf("%s %v in pages of %d, backwards %t\nmet  %q\nwant %q", action, members, size, backwards, met, want)
	}
}
