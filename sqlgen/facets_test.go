package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/answer"
)

const facetKinds = `
model Play {
  fields {
    title Text
    nick Text?
    genre Genre?
    isOpen Boolean?
    house House?
    seats Number?
    price Decimal?
    length Duration?
    opens Date?
    starts Timestamp?
    doubled Number? @computed(play.seats * 2)
    tags Text[] @default
  }
  actions {
    list listPlays(
      title?, nick?, genre?, isOpen?, house.id?, house.name?, seats?, price?, length?, opens?, starts?, tags?, id?,
      above: Number?
    ) {
      @where(play.seats > above)
      @facet(genre, nick, isOpen, houseId, id, seats, price, length, opens, starts, doubled)
      @sortable(title)
    }
    list byHouse(houseId) { @facet(houseId, title) }
  }
  @permission(expression: true, actions: [list])
}
model House { fields { name Text } }
enum Genre { Tragedy Comedy }
`

const facetRows = `
insert into app.house (id, name) values ('h1', 'Globe'), ('h2', 'Rose');
insert into app.play (id, title, nick, genre, is_open, house_id, seats, price, length, opens, starts, tags) values
  ('p1', 'Hamlet', 'é', 'Tragedy', true,  'h1', 1,    1.50, 'PT2H',  '2026-03-01', '2026-03-01 19:30:00.5+01', '{a}'),
  ('p2', 'Lear',   'e', 'Tragedy', false, 'h2', 2,    2,    'PT1H',  '2026-03-02', '2026-03-02 19:30+01',       '{a,b}'),
  ('p3', 'Errors', '"', 'Comedy',  false, 'h1', 4,    0.25, 'P1M',   '2026-03-31', '2026-03-30 22:30Z',         '{}'),
  ('p4', 'Dream',  null, null,     null,  null, null, null, null,    null,         null,                        '{b}');
`

// resultInfo is a list's report on all its rows, or on one field if a name is given.
func resultInfo(t testing.TB, answer, name string) string {
	t.Helper()
	var page struct {
		ResultInfo json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	if name == "" {
		return string(page.ResultInfo)
	}
	var facets map[string]json.RawMessage
	if err := json.Unmarshal(page.ResultInfo, &facets); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	return string(facets[name])
}

// TestFacets asks a list for its facets. Each applies the filters of the other fields, and
// not those of its own.
func TestFacets(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	a.exec(t, facetRows)

	all := `{"genre":[{"value":"Comedy","count":1},{"value":"Tragedy","count":2},{"value":null,"count":1}],` +
		`"nick":[{"value":"\"","count":1},{"value":"e","count":1},{"value":"é","count":1},{"value":null,"count":1}],` +
		`"isOpen":[{"value":false,"count":2},{"value":true,"count":1},{"value":null,"count":1}],` +
		`"houseId":[{"value":"h1","count":2},{"value":"h2","count":1},{"value":null,"count":1}],` +
		`"id":[{"value":"p1","count":1},{"value":"p2","count":1},{"value":"p3","count":1},{"value":"p4","count":1}],` +
		`"seats":{"min":1,"max":4,"avg":2.333333333333333333},"price":{"min":0.25,"max":2,"avg":1.25},` +
		`"length":{"min":"PT1H","max":"P1M","avg":"P10DT1H"},"opens":{"min":"2026-03-01","max":"2026-03-31"},` +
		`"starts":{"min":"2026-03-01T18:30:00.500Z","max":"2026-03-30T22:30:00.000Z"},` +
		`"doubled":{"min":2,"max":8,"avg":4.666666666666666667}}`
	none := `{"genre":[],"nick":[],"isOpen":[],"houseId":[],"id":[],"seats":{"min":null,"max":null,"avg":null},` +
		`"price":{"min":null,"max":null,"avg":null},"length":{"min":null,"max":null,"avg":null},"opens":{"min":null,"max":null},` +
		`"starts":{"min":null,"max":null},"doubled":{"min":null,"max":null,"avg":null}}`

	for _, test := range []struct{ name, body, of, want string }{
		{"all rows", `{}`, "", all},
		{"a page tells of all rows", `{"first":1}`, "", all},
		{"the last page", `{"last":2}`, "", all},
		{"a page in another order", `{"orderBy":[{"title":"desc"}],"first":2,"totalCount":true}`, "", all},
		{"a page behind all rows", `{"limit":3,"offset":30}`, "", all},
		{"no row", `{"where":{"title":{"equals":"none"}}}`, "", none},

		{"own filter", `{"where":{"genre":{"equals":"Comedy"}}}`, "genre",
			`[{"value":"Comedy","count":1},{"value":"Tragedy","count":2},{"value":null,"count":1}]`},
		{"filter of another facet", `{"where":{"genre":{"equals":"Tragedy"}}}`, "seats", `{"min":1,"max":2,"avg":1.5}`},
		{"filter of a field without facet", `{"where":{"title":{"contains":"ea"}}}`, "genre",
			`[{"value":"Tragedy","count":1},{"value":null,"count":1}]`},
		{"both facets filtered, one", `{"where":{"genre":{"equals":"Tragedy"},"seats":{"greaterThan":1}}}`, "genre",
			`[{"value":"Comedy","count":1},{"value":"Tragedy","count":1}]`},
		{"both facets filtered, the other", `{"where":{"genre":{"equals":"Tragedy"},"seats":{"greaterThan":1}}}`, "seats",
			`{"min":1,"max":2,"avg":1.5}`},
		{"both facets filtered, a third", `{"where":{"genre":{"equals":"Tragedy"},"seats":{"greaterThan":1}}}`, "price",
			`{"min":2,"max":2,"avg":2}`},
		{"several operators of one field", `{"where":{"seats":{"greaterThan":1,"lessThan":4}}}`, "seats",
			`{"min":1,"max":4,"avg":2.333333333333333333}`},
		{"several operators, another field", `{"where":{"seats":{"greaterThan":1,"lessThan":4}}}`, "genre",
			`[{"value":"Tragedy","count":1}]`},
		{"null of its own field", `{"where":{"nick":{"equals":null}}}`, "genre", `[{"value":null,"count":1}]`},
		{"null of its own field, itself", `{"where":{"nick":{"equals":null}}}`, "nick",
			`[{"value":"\"","count":1},{"value":"e","count":1},{"value":"é","count":1},{"value":null,"count":1}]`},
		{"only null left", `{"where":{"title":{"equals":"Dream"}}}`, "seats", `{"min":null,"max":null,"avg":null}`},
		{"the id of a to-one is the foreign key", `{"where":{"house":{"id":{"equals":"h1"}}}}`, "houseId",
			`[{"value":"h1","count":2},{"value":"h2","count":1},{"value":null,"count":1}]`},
		{"its other fields are not", `{"where":{"house":{"name":{"equals":"Globe"}}}}`, "houseId", `[{"value":"h1","count":2}]`},
		{"an array", `{"where":{"tags":{"any":{"equals":"a"}}}}`, "houseId", `[{"value":"h1","count":1},{"value":"h2","count":1}]`},
		{"an explicit input binds all", `{"where":{"above":1}}`, "seats", `{"min":2,"max":4,"avg":3}`},
		{"an explicit input beside the own one", `{"where":{"above":1,"seats":{"equals":1}}}`, "seats", `{"min":2,"max":4,"avg":3}`},
	} {
		if got := resultInfo(t, a.call(t, "listPlays", test.body, ""), test.of); got != test.want {
			t.Errorf("%s: the facets %s of %s\ngot  %s\nwant %s", test.name, test.of, test.body, got, test.want)
		}
	}

	// A filter that every request gives is the facet's own as well.
	body := `{"where":{"houseId":{"equals":"h2"}}}`
	want := `{"houseId":[{"value":"h1","count":2},{"value":"h2","count":1},{"value":null,"count":1}],"title":[{"value":"Lear","count":1}]}`
	if got := resultInfo(t, a.call(t, "byHouse", body, ""), ""); got != want {
		t.Errorf("the facets of %s\ngot  %s\nwant %s", body, got, want)
	}
}

// TestFacetsOfPages walks through a list behind cursors: each page has the facets of all
// rows.
func TestFacetsOfPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	a.exec(t, facetRows)
	want := resultInfo(t, a.call(t, "listPlays", `{}`, ""), "")
	after, ids := "", []string{}
	for range 4 {
		answer := a.call(t, "listPlays", fmt.Sprintf(`{"first":1,"orderBy":[{"title":"asc"}]%s}`, after), "")
		p := readPage(t, answer)
		ids = append(ids, p.ids...)
		after = fmt.Sprintf(`,"after":%q`, p.endCursor)
		if got := resultInfo(t, answer, ""); got != want {
			t.Errorf("behind %v the facets are\n%s\nwant\n%s", ids, got, want)
		}
	}
	if got := strings.Join(ids, " "); got != "p4 p3 p1 p2" {
		t.Errorf("the pages are of %s", got)
	}
}

// TestFacetsAreBounded reports on a field with more and longer values than an answer has
// room for.
func TestFacetsAreBounded(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	entries := func(body string) (count int, first, last string) {
		t.Helper()
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(resultInfo(t, a.call(t, "listPlays", body, ""), "nick")), &list); err != nil {
			t.Fatal(err)
		}
		return len(list), string(list[0]), string(list[len(list)-1])
	}
	a.exec(t, `insert into app.play (id, title, nick) select 'a' || n, 'many', to_char(n, 'FM0000') from generate_series(1, 1000) as n`)
	if count, first, last := entries(`{}`); count != 1000 || first != `{"value":"0001","count":1}` || last != `{"value":"1000","count":1}` {
		t.Errorf("of 1000 values there are %d, from %s to %s", count, first, last)
	}
	a.exec(t, `insert into app.play (id, title) values ('n1', 'many'), ('n2', 'many')`)
	if count, first, last := entries(`{}`); count != 1000 || first != `{"value":"0001","count":1}` || last != `{"value":null,"count":2}` {
		t.Errorf("of 1000 values and null there are %d, from %s to %s: null is one of the 1000", count, first, last)
	}
	a.exec(t, `insert into app.play (id, title, nick) select 'l' || n, 'long', n || repeat('x', 300000) from generate_series(1, 5) as n`)
	a.exec(t, `insert into app.play (id, title) values ('n3', 'long')`)
	if count, _, last := entries(`{"where":{"title":{"equals":"long"}}}`); count != 4 || last != `{"value":null,"count":1}` {
		t.Errorf("of five long values and null there are %d, up to %s: there is room for 1 MiB", count, last)
	}
}

// TestFacetsOfFatPages asks for more than a page has room for: the call is repeated with the
// statement that leaves out the surplus, and reports on all rows both times.
func TestFacetsOfFatPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	a.exec(t, `insert into app.play (id, title, genre) select 'p' || n, repeat('x', 1000), 'Comedy' from generate_series(1, 9) as n`)
	plan := answer.NewPlan(a.manifest, a.action(t, "listPlays"), 3000)
	for _, want := range []string{"_any", "_bounded", "_bounded"} {
		into := plan.Begin(answer.Page{Size: 9}, nil)
		if want == "_bounded" && into.Statement().Name == "_any" {
			t.Fatal("a page after a fat one is not asked for by the bounded statement")
		}
		for {
			into.Restart()
			st := into.Statement()
			rows := a.server.PgConn().ExecParams(t.Context(), st.SQL, into.Parameters([]byte(`{"first":9}`), "", "", []byte(`{}`)), nil, nil, st.Formats).Read()
			if rows.Err != nil {
				t.Fatal(rows.Err)
			}
			for _, row := range rows.Rows {
				if !into.Row(row) {
					break
				}
			}
			if !into.Again() {
				break
			}
		}
		text := into.JSON()
		p := readPage(t, string(text))
		if p.count == 0 || p.count == 9 || !p.hasNext {
			t.Errorf("the page has %d rows, next %t", p.count, p.hasNext)
		}
		if got := resultInfo(t, string(text), "genre"); got != `[{"value":"Comedy","count":9}]` {
			t.Errorf("the facet of a fat page is %s", got)
		}
	}
}

// TestFacetsOfDurations has rows whose sum is not a Duration that Postgres can hold.
func TestFacetsOfDurations(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	a.exec(t, `insert into app.play (id, title, length) select 'p' || n, '', 'P99999999Y' from generate_series(1, 3) as n`)
	a.exec(t, `insert into app.play (id, title, length, seats, price) values ('q', '', 'P-1Y', 4503599627370495, 99999999999999999999.999999999999999999)`)
	a.exec(t, `insert into app.play (id, title, seats, price) select 'r' || n, '', 4503599627370495, 99999999999999999999.999999999999999999 from generate_series(1, 3) as n`)
	answer := a.call(t, "listPlays", `{}`, "")
	for of, want := range map[string]string{
		"length": `{"min":"P-1Y","max":"P99999999Y","avg":"P74999999Y"}`,
		"seats":  `{"min":4503599627370495,"max":4503599627370495,"avg":4503599627370495}`,
		"price":  `{"min":99999999999999999999.999999999999999999,"max":99999999999999999999.999999999999999999,"avg":99999999999999999999.999999999999999999}`,
	} {
		if got := resultInfo(t, answer, of); got != want {
			t.Errorf("the facet %s is %s, want %s", of, got, want)
		}
	}
}

// TestFacetsInZones filters by periods, which begin where the caller's day does.
func TestFacetsInZones(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	var now time.Time
	if err := a.owner.QueryRow(t.Context(), "select now()").Scan(&now); err != nil {
		t.Fatal(err)
	}
	// A row at each hour of three days: which of them are today is another matter in each zone.
	a.exec(t, `insert into app.play (id, title, genre, starts)
		select n, '', 'Comedy', date_trunc('hour', now()) + n * interval '1 hour' from generate_series(-36, 36) as n`)
	counted := map[string]bool{}
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/Los_Angeles"} {
		var want int
		if err := a.owner.QueryRow(t.Context(), `select count(*) from app.play where (starts at time zone $1)::date = (now() at time zone $1)::date`, zone).Scan(&want); err != nil {
			t.Fatal(err)
		}
		body := `{"where":{"starts":{"equalsRelative":"today"}},"totalCount":true}`
		answer, err := callInside(t.Context(), a.server, a.action(t, "listPlays").Function, body, map[string]any{"timeZone": zone})
		if err != nil {
			t.Fatal(err)
		}
		got := resultInfo(t, answer, "genre")
		if wanted := fmt.Sprintf(`[{"value":"Comedy","count":%d}]`, want); got != wanted {
			t.Errorf("in %s the facet is %s, want %s", zone, got, wanted)
		}
		if total := readPage(t, answer).totalCount; total != want {
			t.Errorf("in %s the list has %d rows, want %d", zone, total, want)
		}
		var min string
		if err := a.owner.QueryRow(t.Context(), `select id from app.play where (starts at time zone $1)::date = (now() at time zone $1)::date order by starts limit 1`, zone).Scan(&min); err != nil {
			t.Fatal(err)
		}
		counted[min] = true
		if own := resultInfo(t, answer, "starts"); !strings.Contains(own, date(now, -36)) || !strings.Contains(own, date(now, 36)) {
			t.Errorf("in %s the facet of the field itself is %s, want all hours", zone, own)
		}
	}
	if len(counted) < 2 {
		t.Error("today is the same in all zones: this shows nothing")
	}
}

// date is the day of some hours from a time, in UTC.
func date(now time.Time, hours int) string {
	return now.UTC().Truncate(time.Hour).Add(time.Duration(hours) * time.Hour).Format(time.DateOnly)
}

// TestFacetsUnderRowSecurity removes the rows of a list by row security alone: then no facet
// counts them, regardless of the rows that the query picked.
func TestFacetsUnderRowSecurity(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets under row security", `
model Note {
  fields { text Text  owner Identity? }
  actions { list listNotes(text?) { @facet(text) } }
  @permission(expression: note.owner == ctx.identity, actions: [list])
  @permission(expression: note.text == "open", actions: [list])
}
union Paper {
  fields { text Text }
  arms { note Note { @set(paper.text = note.text) } }
  actions { list listPapers(text?) { @facet(text) } }
  @permission(expression: paper.text != "shut", actions: [list])
}`)
	a.exec(t, `insert into app.note (id, text, owner_id) values ('1', 'open', null), ('2', 'mine', 'me'), ('3', 'shut', null)`)
	for _, list := range []string{"listNotes", "listPapers"} {
		want := `{"text":[{"value":"mine","count":1},{"value":"open","count":1}]}`
		if got := resultInfo(t, a.call(t, list, `{}`, "me"), ""); got != want {
			t.Errorf("%s tells %s, want %s", list, got, want)
		}
	}
	a.exec(t, `do $$
		declare
			v_policy record;
		begin
			for v_policy in select policyname from pg_policies where schemaname = 'app' and tablename = 'note' and cmd = 'SELECT' and qual ~ 'list(Notes|Papers)' loop
				execute format('alter policy %I on app.note using (id = ''2'')', v_policy.policyname);
			end loop;
		end
	$$`)
	for _, list := range []string{"listNotes", "listPapers"} {
		if got, want := resultInfo(t, a.call(t, list, `{}`, "me"), ""), `{"text":[{"value":"mine","count":1}]}`; got != want {
			t.Errorf("%s tells %s where row security admits one row, want %s", list, got, want)
		}
	}
}

// TestFacetsSeeThePagesRows reads a list while somebody writes: the page, its count and the
// facets are of one moment.
func TestFacetsSeeThePagesRows(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facets", facetKinds)
	writer, written := a.db.Owner(t), make(chan error)
	const rows = 400
	go func() {
		var err error
		for n := 0; n < rows && err == nil; n++ {
			_, err = writer.Exec(t.Context(), "insert into app.play (id, title, genre) values ($1, '', 'Comedy')", fmt.Sprint(n))
		}
		written <- err
	}()
	for isDone := false; !isDone; {
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			isDone = true
		default:
		}
		answer := a.call(t, "listPlays", `{"first":1000,"totalCount":true}`, "")
		p := readPage(t, answer)
		want := fmt.Sprintf(`[{"value":"Comedy","count":%d}]`, p.count)
		if p.count == 0 {
			want = "[]"
		}
		if got := resultInfo(t, answer, "genre"); got != want || p.count != p.totalCount {
			t.Fatalf("a page of %d rows of %d has the facet %s", p.count, p.totalCount, got)
		}
		if isDone && p.count != rows {
			t.Errorf("in the end there are %d rows", p.count)
		}
	}
}

// TestRowsOfFacets counts the rows that Postgres reads for the facets of a list of 100,000
// rows: in proportion to those that count for some facet if an index finds them, else all.
// Each is read once where row security admits all, and once more to read it under row
// security.
func TestRowsOfFacets(t *testing.T) {
	t.Parallel()
	a := newApp(t, "facet ways", waysModels(`
		list all(ownerId?, rank?) { @facet(region, rank, isOpen) @permission(expression: true) @allow(MissingIndex) }
		list signedIn(ownerId?, rank?) { @facet(region, rank) @permission(expression: ctx.isAuthenticated) @allow(MissingIndex) }
		list owned() { @facet(region, rank) @permission(expression: task.owner == ctx.identity) }
		list ofTeam() { @facet(teamId, rank) @permission(expression: task.team.members.identity == ctx.identity) }
	`))
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), wayRows); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		list, body, caller string
		most               int
	}{
		{"all", `{}`, "", 100_000},
		{"all", `{"where":{"ownerId":{"equals":"few"}}}`, "", 100},
		{"signedIn", `{}`, "many", 200_000},
		{"signedIn", `{"where":{"ownerId":{"equals":"few"}}}`, "many", 100},
		{"owned", `{}`, "many", 200_000},
		{"owned", `{}`, "few", 200_000}, // since there are but two owners, Postgres expects every second row
		{"ofTeam", `{}`, "few", 100},
		{"ofTeam", `{}`, "none", 0},
	} {
		const overhead = 250 // the caller, the page
		function := a.action(t, test.list).Function
		read, answer := rowsReadBy(t, conn, function, test.body, test.caller)
		if read > test.most+overhead {
			t.Errorf("%s %s by %q reads %d rows, want %d at most", test.list, test.body, test.caller, read, test.most+overhead)
		}
		t.Logf("%s %s by %q reads %d rows: %s", test.list, test.body, test.caller, read, resultInfo(t, answer, ""))
	}
}
