package sqlgen_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWalksAmongWriters walks lists in every declared order while rows come and go between the pages:
// each row that stays comes once, in order.
func TestWalksAmongWriters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 2))
	a := newApp(t, "books", books)
	insert := func(id string) {
		a.exec(t, `
			insert into app.book (id, title, pages, price, read, bought, lent, shelf)
			select
				$1, (array['', 'a', 'B', 'é'])[1 + n % 4], n % 3, nullif(n % 4, 0) * 0.5, n % 2 = 0,
				'2027-03-01'::date + nullif(n % 5, 2), '2027-03-01Z'::timestamptz + n % 3 * interval '1 ms', 'Top'
			from (select $2::int) as drawn (n)`, id, random.IntN(60))
	}
	for i := range 25 {
		insert(fmt.Sprintf("keep %02d", i))
	}
	for action, order := range declared {
		var want []string
		if err := a.owner.QueryRow(t.Context(), `select array_agg(id order by `+order+`) from app.book where id like 'keep%'`).Scan(&want); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 2, 3, 7} {
			for _, backwards := range []bool{false, true} {
				got := walkAmongWriters(t, a, action, size, backwards, func() {
					a.exec(t, `delete from app.book where id not like 'keep%' and hashtext(id || $1) % 2 = 0`, fmt.Sprint(random.IntN(9)))
					for range random.IntN(4) {
						insert(fmt.Sprintf("%c%d", 'a'+random.IntN(26), random.Uint64()))
					}
				})
				if !slices.Equal(got, want) {
					t.Errorf("%s by %d, backwards %t, meets\n%q\nwant\n%q", action, size, backwards, got, want)
				}
			}
		}
	}
}

// walkAmongWriters walks a list and returns the ids met that stay, in list order.
func walkAmongWriters(t *testing.T, a *app, action string, size int, backwards bool, between func()) []string {
	t.Helper()
	var met []string
	cursor := ""
	for range 500 {
		body := fmt.Sprintf(`{"first":%d%s}`, size, cursor)
		if backwards {
			body = fmt.Sprintf(`{"last":%d%s}`, size, cursor)
		}
		p := readPage(t, a.list(t, action, body))
		kept := slices.DeleteFunc(slices.Clone(p.ids), func(id string) bool { return !strings.HasPrefix(id, "keep") })
		isLast := !p.hasNext
		if backwards {
			met, isLast = append(kept, met...), !p.hasPrevious
			cursor = fmt.Sprintf(`,"before":%q`, p.startCursor)
		} else {
			met = append(met, kept...)
			cursor = fmt.Sprintf(`,"after":%q`, p.endCursor)
		}
		if isLast {
			return met
		}
		between()
	}
	t.Errorf("the walk through %s by %d does not end", action, size)
	return met
}

// TestPositionsBetweenRows requests the rows around positions without a row, right before and after
// each row of every declared order, also those of null: each row is on the right side.
func TestPositionsBetweenRows(t *testing.T) {
	t.Parallel()
	a := newApp(t, "books", books)
	a.exec(t, `
		insert into app.book (id, title, pages, price, read, bought, lent, took, shelf)
		select
			'b' || n, 'x', n % 2, nullif(n % 3, 0) * 0.5, n % 2 = 0, '2027-03-01'::date + nullif(n % 3, 1), '2027-03-01Z', nullif(n % 2, 0) * interval '1 h',
			'Top'
		from generate_series(1, 9) as n`)
	for action, order := range declared {
		least, behind := "b", 1
		if strings.HasSuffix(order, "id desc") {
			least, behind = "bz", 0
		}
		all := readPage(t, a.list(t, action, `{}`)).ids
		for i, id := range all {
			cursor := readPage(t, a.call(t, action, fmt.Sprintf(`{"limit":1,"offset":%d}`, i), "")).startCursor
			text, err := base64.RawURLEncoding.DecodeString(cursor)
			if err != nil {
				t.Fatal(err)
			}
			for other, before := range map[string]int{least: i, id + "x": i + behind} {
				moved := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(text), `"`+id+`"`, `"`+other+`"`, 1)))
				// Of equal rows, a position with the least id comes first. One with the row's id and more text comes
				// right after the row, or right before it if ids descend.
				if other == least {
					before = firstEqual(t, a, action, all, i)
				}
				after := readPage(t, a.list(t, action, fmt.Sprintf(`{"first":2,"after":%q}`, moved)))
				want := all[before:min(before+2, len(all))]
				if !slices.Equal(after.ids, want) || after.hasPrevious != (before > 0) || after.hasNext != (before+2 < len(all)) {
					t.Errorf("%s after %s of %q: got %+v, want %q", action, other, all, after, want)
				}
				page := readPage(t, a.list(t, action, fmt.Sprintf(`{"last":2,"before":%q}`, moved)))
				want = all[max(0, before-2):before]
				if !slices.Equal(page.ids, want) || page.hasNext != (before < len(all)) || page.hasPrevious != (before > 2) {
					t.Errorf("%s before %s of %q: got %+v, want %q", action, other, all, page, want)
				}
			}
		}
	}
}

// firstEqual is the place of the first row that equals the row at a place by all keys of the list's
// order except the id.
func firstEqual(t *testing.T, a *app, action string, all []string, place int) int {
	t.Helper()
	order, least := declared[action], "min(id)"
	if above, descends := strings.CutSuffix(order, "id desc"); descends {
		order, least = above+"id", "max(id)"
	}
	keys := strings.TrimSuffix(strings.TrimSuffix(order, "id"), ", ")
	if keys == "" {
		return 0
	}
	for _, direction := range []string{" desc", " asc"} {
		keys = strings.ReplaceAll(keys, direction, "")
	}
	var first string
	if err := a.owner.QueryRow(t.Context(), `
		select `+least+` from app.book
		where row(`+keys+`) is not distinct from (select row(`+keys+`) from app.book where id = $1)`, all[place]).Scan(&first); err != nil {
		t.Fatal(err)
	}
	return slices.Index(all, first)
}

// TestForgedCursors puts other values into the cursors of every declared order. Such a cursor is
// refused or is a position; it never causes an error of the database.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 8))
	a := newApp(t, "books", books)
	a.exec(t, `
		insert into app.book (id, title, pages, price, read, bought, lent, shelf) values
			('a', 'x', 1, 1.5, true, '2027-03-01', '2027-03-01T00:00:00Z', 'Top'),
			('b', 'x', 2, null, false, null, '2027-03-02T00:00:00Z', 'Bottom')`)
	values := []string{
		`null`, `""`, `"x"`, `"a\"; drop table app.book"`, `"infinity"`, `"-infinity"`, `"now"`, `"2027-03-01"`, `"2027-02-30"`,
		`"2027-03-01T00:00:00.000Z"`, `"0000-01-01T00:00:00.000Z"`, `"294277-01-01T00:00:00.000Z"`, `"P1D"`, `"P99999999999Y"`,
		`0`, `-1`, `1e400`, `1.5`, `9223372036854775808`, `123456789012345678901234567890.5`, `true`, `"t"`, `[]`, `{}`, `[[["a"]]]`, `"Top"`, `"\u0001"`,
	}
	refused, taken := 0, 0
	for action := range declared {
		own := readPage(t, a.list(t, action, `{"first":1}`)).endCursor
		text, err := base64.RawURLEncoding.DecodeString(own)
		if err != nil {
			t.Fatal(err)
		}
		var parts []json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			t.Fatal(err)
		}
		for range 150 {
			forged := slices.Clone(parts)
			for range 1 + random.IntN(2) {
				forged[random.IntN(len(forged))] = json.RawMessage(values[random.IntN(len(values))])
			}
			switch random.IntN(8) {
			case 0:
				forged = forged[:len(forged)-1]
			case 1:
				forged = append(forged, json.RawMessage(`"more"`))
			}
			var texts []string
			for _, p := range forged {
				texts = append(texts, string(p))
			}
			cursor := base64.RawURLEncoding.EncodeToString([]byte("[" + strings.Join(texts, ",") + "]"))
			for _, name := range []string{"after", "before"} {
				switch got := a.list(t, action, fmt.Sprintf(`{%q:%q}`, name, cursor)); {
				case got == "SP400":
					refused++
				case strings.HasPrefix(got, `{"results":[`):
					taken++
				default:
					t.Errorf("%s %s [%s]: %s", action, name, strings.Join(texts, ","), got)
				}
			}
		}
	}
	if refused < 100 || taken < 100 {
		t.Errorf("%d cursors were refused and %d taken: this shows little", refused, taken)
	}
}
