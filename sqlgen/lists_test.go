package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/server/input"
)

const cards = `
model Card {
  fields { suit Text  number Number? }
  actions {
    list listCards(suit?, number?)
    list otherCards()
  }
  @permission(expression: true, actions: [list])
}
`

// page is an answer of a list: the compared parts.
type page struct {
	ids                    []string
	startCursor, endCursor string
	hasNext, hasPrevious   bool
	count                  int
	totalCount, pageNumber int // -1 means absent
}

func readPage(t testing.TB, answer string) page {
	t.Helper()
	var read struct {
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
		PageInfo struct {
			StartCursor     *string `json:"startCursor"`
			EndCursor       *string `json:"endCursor"`
			HasNextPage     *bool   `json:"hasNextPage"`
			HasPreviousPage *bool   `json:"hasPreviousPage"`
			Count           *int    `json:"count"`
			TotalCount      *int    `json:"totalCount"`
			PageNumber      *int    `json:"pageNumber"`
		} `json:"pageInfo"`
	}
	decoder := json.NewDecoder(strings.NewReader(answer))
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("read the page %s: %v", answer, err)
	}
	i := read.PageInfo
	if i.StartCursor == nil || i.EndCursor == nil || i.HasNextPage == nil || i.HasPreviousPage == nil || i.Count == nil {
		t.Fatalf("the page info of %s lacks a member", answer)
	}
	p := page{
		startCursor: *i.StartCursor, endCursor: *i.EndCursor, hasNext: *i.HasNextPage, hasPrevious: *i.HasPreviousPage,
		count: *i.Count, totalCount: -1, pageNumber: -1,
	}
	if i.TotalCount != nil {
		p.totalCount = *i.TotalCount
	}
	if i.PageNumber != nil {
		p.pageNumber = *i.PageNumber
	}
	for _, r := range read.Results {
		p.ids = append(p.ids, r.ID)
	}
	return p
}

// list calls a list in three ways: by its general function with the operators that a server names,
// without them, and by the form that serves the request, if there is one. All must answer the same,
// byte for byte.
func (a *app) list(t testing.TB, name, body string) string {
	t.Helper()
	return a.listAs(t, name, body, "")
}

// listAs is list by a caller.
func (a *app) listAs(t testing.TB, name, body, caller string) string {
	t.Helper()
	in, err := a.readers[name].Read([]byte(body))
	if err != nil {
		t.Fatalf("action %s does not take %s: %v", name, body, err)
	}
	action := a.action(t, name)
	answer := a.callFunction(t, action.Function, string(in.JSON), caller)
	named := in.WithMember("operators", input.AppendText(nil, []byte(in.OperatorSet())))
	if got := a.callFunction(t, action.Function, string(named.JSON), caller); got != answer {
		t.Errorf("%s\napi.%s answers\n%s\nand to %s\n%s", body, action.Function, answer, named.JSON, got)
	}
	if form, ok := calls.Form(action, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
		if got := a.callFunction(t, form, string(in.JSON), caller); got != answer {
			t.Errorf("%s %s\napi.%s answers\n%s\napi.%s\n%s", name, body, action.Function, answer, form, got)
		}
	}
	return answer
}

// TestPages asks for pages in every way and compares each with its slice of the whole list.
func TestPages(t *testing.T) {
	t.Parallel()
	names := []string{"B", "a", "A", "_", "é", "z", "10", "9", "a b", "~", "Z", "aa", "", "b", "ü", "00"}
	for _, size := range []int{0, 1, 2, 15} {
		t.Run(fmt.Sprint(size, " rows"), func(t *testing.T) {
			t.Parallel()
			a := newApp(t, "cards", cards)
			rows := map[string][]string{} // ids by suit; all of them by ""
			for i := range size {
				id, suit := "id "+names[i], []string{"hearts", "spades"}[i%3%2]
				a.exec(t, "insert into app.card (id, suit, number) values ($1, $2, nullif($3::bigint, 0))", id, suit, i%4)
				rows[""] = append(rows[""], id)
				rows[suit] = append(rows[suit], id)
			}
			for suit := range rows {
				slices.Sort(rows[suit]) // by code point
			}
			cursors := cursorsOf(t, a, rows[""])

			random := rand.New(rand.NewPCG(1, uint64(size)))
			for range 300 {
				r := randomRequest(random, rows, cursors)
				got := readPage(t, a.list(t, "listCards", r.body))
				checkPage(t, r, got, cursors)
			}
			for _, suit := range []string{"", "hearts", "spades"} {
				for size := 1; size <= len(rows[suit])+1; size++ {
					walk(t, a, suit, size, rows[suit], false)
					walk(t, a, suit, size, rows[suit], true)
				}
			}
		})
	}
}

// cursorsOf returns the cursor of each row. A page of one row has it at both ends.
func cursorsOf(t *testing.T, a *app, ids []string) map[string]string {
	t.Helper()
	cursors := map[string]string{}
	for i, id := range ids {
		p := readPage(t, a.list(t, "listCards", fmt.Sprintf(`{"limit":1,"offset":%d}`, i)))
		if !slices.Equal(p.ids, []string{id}) || p.startCursor == "" || p.startCursor != p.endCursor {
			t.Fatalf("the page of row %d is %+v, want %s", i, p, id)
		}
		cursors[id] = p.startCursor
	}
	return cursors
}

// request is a request of a page, with the rows that it should have.
type request struct {
	body       string
	all        []string // of the filter
	start, end int
	total      bool
	pageNumber int
}

func randomRequest(random *rand.Rand, rows map[string][]string, cursors map[string]string) request {
	suit := []string{"", "", "hearts", "spades"}[random.IntN(4)]
	r := request{all: rows[suit], pageNumber: -1}
	n, size := len(r.all), 1+random.IntN(6)
	members := []string{}
	add := func(format string, args ...any) { members = append(members, fmt.Sprintf(format, args...)) }
	if suit != "" {
		add(`"where":{"suit":{"equals":%q}}`, suit)
	}
	// A cursor is a position, so its row may be one that the filter leaves out.
	place := func() (cursor string, before, after int) {
		id := rows[""][random.IntN(len(rows[""]))]
		before, found := slices.BinarySearch(r.all, id)
		after = before
		if found {
			after++
		}
		return cursors[id], before, after
	}
	mode := random.IntN(7)
	if len(rows[""]) == 0 && mode > 3 {
		mode = random.IntN(4)
	}
	switch mode {
	case 0:
		r.end = min(50, n)
	case 1:
		add(`"first":%d`, size)
		r.end = min(size, n)
	case 2:
		add(`"last":%d`, size)
		r.start, r.end = max(0, n-size), n
	case 3:
		offset := random.IntN(n + 4)
		add(`"limit":%d,"offset":%d`, size, offset)
		r.start, r.end = min(offset, n), min(offset+size, n)
		r.pageNumber = offset/size + 1
	case 4, 5:
		cursor, _, after := place()
		add(`"after":%q`, cursor)
		if mode == 4 {
			add(`"first":%d`, size)
		} else {
			size = 50
		}
		r.start, r.end = after, min(after+size, n)
	case 6:
		cursor, before, _ := place()
		add(`"before":%q`, cursor)
		if random.IntN(3) > 0 {
			add(`"last":%d`, size)
		} else {
			size = 50
		}
		r.start, r.end = max(0, before-size), before
	}
	if random.IntN(4) == 0 {
		add(`"totalCount":true`)
		r.total = true
	}
	r.body = "{" + strings.Join(members, ",") + "}"
	return r
}

func checkPage(t *testing.T, r request, got page, cursors map[string]string) {
	t.Helper()
	want := page{
		ids: r.all[r.start:r.end], count: r.end - r.start, hasNext: r.end < len(r.all), hasPrevious: r.start > 0,
		totalCount: -1, pageNumber: r.pageNumber,
	}
	if r.total {
		want.totalCount = len(r.all)
	}
	if want.count > 0 {
		want.startCursor, want.endCursor = cursors[want.ids[0]], cursors[want.ids[want.count-1]]
	}
	gotIDs, wantIDs := got.ids, want.ids
	got.ids, want.ids = nil, nil
	if !slices.Equal(gotIDs, wantIDs) || !reflect.DeepEqual(got, want) {
		t.Errorf("listCards %s of %q\ngot  %q %+v\nwant %q %+v", r.body, r.all, gotIDs, got, wantIDs, want)
	}
}

// walk goes through a list page by page: every row comes once, in order.
func walk(t *testing.T, a *app, suit string, size int, want []string, backwards bool) {
	t.Helper()
	where := ""
	if suit != "" {
		where = fmt.Sprintf(`"where":{"suit":{"equals":%q}},`, suit)
	}
	var met []string
	body := fmt.Sprintf(`{%s"first":%d}`, where, size)
	if backwards {
		body = fmt.Sprintf(`{%s"last":%d}`, where, size)
	}
	for pages := 0; ; pages++ {
		if pages > len(want) {
			t.Errorf("the walk through %q by %d does not end", want, size)
			return
		}
		p := readPage(t, a.list(t, "listCards", body))
		if backwards {
			met = append(slices.Clone(p.ids), met...)
			body = fmt.Sprintf(`{%s"last":%d,"before":%q}`, where, size, p.startCursor)
			if !p.hasPrevious {
				break
			}
		} else {
			met = append(met, p.ids...)
			body = fmt.Sprintf(`{%s"first":%d,"after":%q}`, where, size, p.endCursor)
			if !p.hasNext {
				break
			}
		}
	}
	if !slices.Equal(met, want) {
		t.Errorf("a walk by pages of %d, backwards %t, meets\n%q\nwant\n%q", size, backwards, met, want)
	}
}

func TestCursorOutlivesItsRow(t *testing.T) {
	t.Parallel()
	a := newApp(t, "cards", cards)
	a.exec(t, "insert into app.card (id, suit) values ('a', 's'), ('b', 's'), ('c', 's')")
	cursor := readPage(t, a.list(t, "listCards", `{"limit":1,"offset":1}`)).startCursor
	a.exec(t, "delete from app.card where id = 'b'")
	for body, want := range map[string][]string{
		fmt.Sprintf(`{"after":%q}`, cursor):  {"c"},
		fmt.Sprintf(`{"before":%q}`, cursor): {"a"},
	} {
		p := readPage(t, a.list(t, "listCards", body))
		if !slices.Equal(p.ids, want) || p.hasNext == p.hasPrevious {
			t.Errorf("%s: %+v, want %q", body, p, want)
		}
	}
}

func TestCursorsThatAreNone(t *testing.T) {
	t.Parallel()
	a := newApp(t, "cards", cards)
	a.exec(t, "insert into app.card (id, suit) values ('a', 's'), ('b', 's')")
	other := readPage(t, a.list(t, "otherCards", `{}`)).startCursor
	own := readPage(t, a.list(t, "listCards", `{}`)).startCursor
	if got := readPage(t, a.list(t, "listCards", fmt.Sprintf(`{"after":%q}`, own))); !slices.Equal(got.ids, []string{"b"}) {
		t.Errorf("after the first: %q", got.ids)
	}
	for _, cursor := range []string{"", "x", "%%%", other, own + "A", own[:len(own)-2], "W10", "bnVsbA"} {
		for _, name := range []string{"after", "before"} {
			body := fmt.Sprintf(`{%q:%q}`, name, cursor)
			if got := a.list(t, "listCards", body); got != "SP400" {
				t.Errorf("listCards %s answers %s, want SP400", body, got)
			}
		}
	}
}
