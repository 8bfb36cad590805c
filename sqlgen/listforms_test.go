package sqlgen_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// formsLists are lists under rules of each kind of way: one value of the caller, many values, both, and everything.
const formsLists = `
	list listMine(isDone?, title?, rank?, at?) {
		@orderBy(at: desc)
		@permission(expression: task.owner == ctx.identity)
	}
	list listCrews(isDone?, title?, rank?, at?) {
		@orderBy(at: desc)  @sortable(rank, due)
		@permission(expression: task.crew.members.identity == ctx.identity)
	}
	list listCrewsByRank(isDone?, title?, rank?, at?) {
		@orderBy(rank: asc)
		@permission(expression: task.crew.members.identity == ctx.identity)
	}
	list listMineOrCrews(isDone?, title?, rank?, at?) {
		@orderBy(due: asc, rank: desc)  @sortable(at)
		@permission(expression: task.owner == ctx.identity || task.crew.members.identity == ctx.identity)
	}
	list listTeams(isDone?, title?, rank?, at?) {
		@orderBy(at: desc)  @sortable(rank)
		@permission(expression: task.team.members.identity == ctx.identity)
		@permission(roles: [Auditor])
	}
`

// formsRows are 3,000 tasks of 300 crews and 300 owners. in20 is in 20 crews, and in150 in 150: these are enough to look
// along the order of a list.
const formsRows = `
	set session_replication_role = replica;
	insert into app.identity (id, email, email_verified) values ('auditor', 'auditor@x', true);
	insert into app.identity (id) select 'in' || size from unnest('{0,1,20,150,290}'::int[]) as size;
	insert into app.identity (id) select 'own' || n from generate_series(0, 299) as n;
	insert into app.division (id, name, lead_id) values ('d', 'd', 'own0');
	insert into app.team (id, name) select 't' || n, 'team' from generate_series(0, 299) as n;
	insert into app.worker (id, identity_id, division_id, regions) select id, id, 'd', '{}' from app.identity;
	insert into app.member (team_id, identity_id, worker_id)
	select 't' || n * 7 % 300, 'in' || size, 'in' || size
	from unnest('{1,20,150,290}'::int[]) as size
	cross join generate_series(0, size - 1) as n;
	insert into app.task (id, owner_id, team_id, crew_id, division_id, region, mail, code, is_open, is_rare, is_done, title, rank, at, due)
	select
		't' || n, case when n % 9 = 0 then 'in20' else 'own' || n % 300 end, 't' || n * 31 % 300, 't' || (hashint4(n) & 1023) % 300, 'd',
		'', '', '', true, false, n % 3 = 0, 'title ' || n % 20, n % 50, '2026-01-01Z'::timestamptz + n / 3 * interval '1 minute',
		nullif('2026-01-01'::date + n % 30, '2026-01-08')
	from generate_series(0, 2999) as n;
	analyze;
	reset session_replication_role;
`

// formsTask is a task as the test sees it.
type formsTask struct {
	id, owner, team, crew, title string
	isDone                       bool
	rank                         int
	at                           time.Time
	due                          *time.Time
}

// TestListFormsAgree compares the pages of lists, however they are found, with those of a plain evaluation of rule, filter
// and order: for callers with few and with many values, in each direction, from each kind of position.
func TestListFormsAgree(t *testing.T) {
	t.Parallel()
	a := newApp(t, "forms", waysModels(formsLists))
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), formsRows); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "select id, owner_id, team_id, crew_id, title, is_done, rank, at, due from app.task")
	if err != nil {
		t.Fatal(err)
	}
	var tasks []formsTask
	for rows.Next() {
		var k formsTask
		if err := rows.Scan(&k.id, &k.owner, &k.team, &k.crew, &k.title, &k.isDone, &k.rank, &k.at, &k.due); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, k)
	}
	crews := map[string]map[string]bool{}
	for _, size := range []int{1, 20, 150, 290} {
		in := map[string]bool{}
		for n := range size {
			in[fmt.Sprint("t", n*7%300)] = true
		}
		crews[fmt.Sprint("in", size)] = in
	}
	r := rand.New(rand.NewPCG(1, 2))
	outcomes := map[string]int{}
	for range 600 {
		c := formsCall{list: pickOne(r, "listMine", "listCrews", "listCrews", "listCrewsByRank", "listMineOrCrews", "listTeams")}
		c.caller = pickOne(r, "in0", "in1", "in20", "in150", "in150", "in290", "auditor", "own7")
		c.choose(r)
		var want []formsTask
		for _, k := range tasks {
			isMine, isInCrew := k.owner == c.caller, crews[c.caller][k.crew]
			isShown := map[string]bool{
				"listMine": isMine, "listCrews": isInCrew, "listCrewsByRank": isInCrew, "listMineOrCrews": isMine || isInCrew,
				"listTeams": crews[c.caller][k.team] || c.caller == "auditor",
			}[c.list]
			if isShown && c.matches(k) {
				want = append(want, k)
			}
		}
		slices.SortFunc(want, c.compare)
		outcomes[c.check(t, a, r, want)]++
	}
	t.Log(outcomes)
	for _, outcome := range []string{"empty", "first", "last", "after", "before", "offset"} {
		if outcomes[outcome] < 20 {
			t.Errorf("only %d pages were %s", outcomes[outcome], outcome)
		}
	}
}

func pickOne(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// formsCall is a call of one of the lists.
type formsCall struct {
	list, caller string
	where, order string
	matches      func(formsTask) bool
	compare      func(a, b formsTask) int
}

// choose chooses a filter and an order.
func (c *formsCall) choose(r *rand.Rand) {
	switch rank, title := r.IntN(50), fmt.Sprint("title ", r.IntN(20)); r.IntN(6) {
	case 0:
		c.where, c.matches = `"isDone":{"equals":true}`, func(k formsTask) bool { return k.isDone }
	case 1:
		c.where, c.matches = fmt.Sprintf(`"title":{"equals":%q}`, title), func(k formsTask) bool { return k.title == title }
	case 2:
		c.where, c.matches = fmt.Sprintf(`"rank":{"lessThan":%d}`, rank), func(k formsTask) bool { return k.rank < rank }
	case 3:
		at := time.Date(2026, 1, 1, r.IntN(17), 0, 0, 0, time.UTC)
		c.where, c.matches = fmt.Sprintf(`"at":{"before":%q},"isDone":{"equals":false}`, at.Format(time.RFC3339)),
			func(k formsTask) bool { return k.at.Before(at) && !k.isDone }
	default:
		c.matches = func(formsTask) bool { return true }
	}
	byAt := func(a, b formsTask) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(b.id, a.id)) }
	byRank := func(a, b formsTask) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.id, b.id)) }
	byDue := func(a, b formsTask) int {
		const late = 1 << 40 // null is last
		due := func(k formsTask) int64 {
			if k.due == nil {
				return late
			}
			return k.due.Unix() / 86400
		}
		return cmp.Or(cmp.Compare(due(a), due(b)), cmp.Compare(b.rank, a.rank), strings.Compare(b.id, a.id))
	}
	c.compare = byAt
	switch {
	case c.list == "listCrewsByRank":
		c.compare = byRank
	case c.list == "listMineOrCrews":
		c.compare = byDue
	case (c.list == "listCrews" || c.list == "listTeams") && r.IntN(3) == 0:
		c.order = `,"orderBy":[{"rank":"desc"}]`
		c.compare = func(a, b formsTask) int {
			return cmp.Or(cmp.Compare(b.rank, a.rank), b.at.Compare(a.at), strings.Compare(b.id, a.id))
		}
	}
}

// check compares a page with that of the rows that the list should show, by each function that answers it.
func (c *formsCall) check(t *testing.T, a *app, r *rand.Rand, want []formsTask) (outcome string) {
	t.Helper()
	size, start := 1+r.IntN(12), 0
	call := func(paging string) page {
		return readPage(t, a.listAs(t, c.list, `{"where":{`+c.where+`}`+c.order+`,`+paging+`}`, c.caller))
	}
	outcome = pickOne(r, "first", "last", "after", "before", "offset")
	var got page
	switch {
	case len(want) == 0:
		outcome, got = "empty", call(fmt.Sprintf(`"first":%d`, size))
	case outcome == "last":
		start, got = max(0, len(want)-size), call(fmt.Sprintf(`"last":%d`, size))
	case outcome == "offset":
		start = r.IntN(len(want))
		got = call(fmt.Sprintf(`"limit":%d,"offset":%d`, size, start))
	case outcome == "after" || outcome == "before":
		at := 1 + r.IntN(len(want)) // rows from the front to the position
		cursor := call(fmt.Sprintf(`"first":%d`, min(at, 100))).endCursor
		at = min(at, 100)
		if start = at; outcome == "before" {
			start, size = max(0, at-1-size), min(size, at-1)
			if size == 0 {
				return "first"
			}
			got = call(fmt.Sprintf(`"last":%d,"before":%q`, size, cursor))
		} else {
			got = call(fmt.Sprintf(`"first":%d,"after":%q`, size, cursor))
		}
	default:
		got = call(fmt.Sprintf(`"first":%d,"totalCount":true`, size))
		if outcome == "first" && got.totalCount != len(want) {
			t.Errorf("%s by %s where %s counts %d rows, want %d", c.list, c.caller, c.where, got.totalCount, len(want))
		}
	}
	var ids []string
	for _, k := range want[min(start, len(want)):min(start+size, len(want))] {
		ids = append(ids, k.id)
	}
	if !slices.Equal(got.ids, ids) || got.hasNext != (start+size < len(want)) || got.hasPrevious != (start > 0) {
		t.Errorf("%s by %s where {%s} order {%s}, %s, %d rows from the %dth: got %q, next %t, previous %t\nwant %q of %d",
			c.list, c.caller, c.where, c.order, outcome, size, start, got.ids, got.hasNext, got.hasPrevious, ids, len(want))
	}
	return outcome
}
