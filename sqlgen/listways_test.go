package sqlgen_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// wayRules are rules that admit rows by a value that they share with the caller.
var wayRules = []struct{ name, rule string }{
	{"Owned", `@permission(expression: task.owner == ctx.identity)`},
	{"OwnedOpen", `@permission(expression: task.owner == ctx.identity && task.isOpen)`},
	{"OwnedNotHigh", `@permission(expression: task.owner == ctx.identity && task.rank != 1000)`},
	{"Kept", `@permission(expression: task.keeper == ctx.identity)`},
	{"OwnedOrKept", `@permission(expression: task.owner == ctx.identity || task.keeper == ctx.identity)`},
	{"OwnedAndKept", `@permission(expression: task.isOpen && (task.owner == ctx.identity || task.keeper == ctx.identity))`},
	{"TwoRules", "@permission(expression: task.owner == ctx.identity)\n@permission(expression: task.keeper == ctx.identity)"},
	{"OwnedOrRole", "@permission(expression: task.owner == ctx.identity)\n@permission(roles: [Auditor])"},
	{"OwnedOrRoleSome", "@permission(expression: task.owner == ctx.identity)\n@permission(roles: [Auditor], expression: task.isOpen)"},
	{"Team", `@permission(expression: task.team.members.identity == ctx.identity)`},
	{"TeamIn", `@permission(expression: ctx.identity in task.team.members.identity)`},
	{"TeamWorker", `@permission(expression: task.team.members.worker.identity == ctx.identity)`},
	{"TeamOfCaller", `@permission(expression: task.team in ctx.identity.worker.memberships.team)`},
	{"OwnedOrTeam", `@permission(expression: task.owner == ctx.identity || task.team.members.identity == ctx.identity)`},
	{"Division", `@permission(expression: task.division == ctx.identity.worker.division)`},
	{"DivisionLead", `@permission(expression: task.division.lead == ctx.identity)`},
	{"RegionIn", `@permission(expression: task.region in ctx.identity.worker.regions)`},
	{"MailOf", `@permission(expression: task.mail == ctx.identity.email)`},
	{"OpenOrOwned", `@permission(expression: task.isRare || task.owner == ctx.identity)`},
	{"InputOf", `@permission(expression: task.owner == ctx.identity && task.code == code)`},
}

var wayOrders = []struct{ name, order string }{
	{"ByTime", `@orderBy(at: desc)`},
	{"ByRank", `@orderBy(rank: asc)`},
	{"ByDue", `@orderBy(due: asc, rank: desc)`},
}

// waysSchema is a schema with a list for each rule and order.
func waysSchema() string {
	var lists strings.Builder
	for _, r := range wayRules {
		inputs := "isDone?"
		if strings.Contains(r.rule, "== code") {
			inputs += ", code: Text"
		}
		for _, o := range wayOrders {
			fmt.Fprintf(&lists, "list list%s%s(%s) {\n%s\n%s\n}\n", r.name, o.name, inputs, o.order, r.rule)
		}
	}
	lists.WriteString(crewLists)
	return waysModels(lists.String())
}

// crewLists are lists of rows that admit who belongs to their crew, which has few rows.
const crewLists = `
	list listCrewByTime(isDone?, title?, rank?) {
		@orderBy(at: desc)
		@permission(expression: task.crew.members.identity == ctx.identity)
	}
	list listCrewOfCallerByTime(isDone?, title?, rank?) {
		@orderBy(at: desc)
		@permission(expression: task.crew in ctx.identity.worker.memberships.team)
	}
	list listOwnedOrCrewByTime(isDone?, title?, rank?) {
		@orderBy(at: desc)
		@permission(expression: task.owner == ctx.identity || task.crew.members.identity == ctx.identity)
	}
	list listCrewByDue(isDone?, title?, rank?) {
		@orderBy(due: asc, rank: desc)
		@permission(expression: task.crew.members.identity == ctx.identity)
	}
`

// waysModels is the models of that schema, with these lists of tasks.
func waysModels(lists string) string {
	return `
model Division { fields { name Text  lead Identity  workers Worker[] } }
model Worker { fields { identity Identity @unique  division Division  regions Text[]  memberships Member[] } }
model Team { fields { name Text  members Member[] } }
model Member { fields { team Team  identity Identity  worker Worker } }
model Task {
  fields {
    owner Identity
    keeper Identity?
    team Team
    crew Team
    division Division
    region Text
    mail Text
    code Text
    isOpen Boolean
    isRare Boolean
    isDone Boolean
    title Text
    rank Number
    at Timestamp
    due Date?
  }
  actions {
` + lists + `
  }
}
role Auditor { emails { "auditor@x" } }
`
}

// wayRows are 100,000 tasks: many has all but a few, who has about 50, and none has none. There are
// 5,000 crews, of about 20 tasks each: in400 is a member of 400 of them.
const wayRows = `
	set session_replication_role = replica; -- the references hold by construction
	insert into app.identity (id, email, email_verified) values
		('many', 'many@x', true), ('few', 'few@x', true), ('none', 'none@x', true), ('auditor', 'auditor@x', true);
	insert into app.identity (id) select 'in' || size from unnest('{1,20,50,100,200,400,1200,5000}'::int[]) as size;
	insert into app.division (id, name, lead_id) values ('many', 'many', 'many'), ('few', 'few', 'few'), ('none', 'none', 'none');
	insert into app.worker (id, identity_id, division_id, regions) values
		('many', 'many', 'many', '{many,north}'), ('few', 'few', 'few', '{few,north}'), ('none', 'none', 'none', '{}');
	insert into app.worker (id, identity_id, division_id, regions) select id, id, 'none', '{}' from app.identity where id like 'in%';
	insert into app.team (id, name) select 't' || n, 'team' from generate_series(0, 4999) as n;
	insert into app.member (team_id, identity_id, worker_id)
	select team, who, who
	from (
		select 't' || n, 'many' from generate_series(0, 3) as n
		union all select 't999', 'few'
		union all
		select 't' || n * 7919 % 5000, 'in' || size
		from unnest('{1,20,50,100,200,400,1200,5000}'::int[]) as size
		cross join generate_series(0, size - 1) as n
	) as member (team, who);
	-- An index is built in a third of the time that its entries take one by one.
	create temporary table index_of_task as
	select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
	from pg_index where indrelid = 'app.task'::regclass and not indisunique;
	do $$ begin execute (select 'drop index ' || string_agg(name, ', ') from index_of_task); end $$;
	insert into app.task (id, owner_id, keeper_id, team_id, crew_id, division_id, region, mail, code, is_open, is_rare, is_done, title, rank, at, due)
	select
		't' || n, who.id, nullif(who.id, case when n % 7 = 0 then who.id end),
		case who.id when 'few' then 't999' else 't' || n % 4 end,
		't' || (hashint4(n) & 2147483647) % 5000, who.id, who.id, who.id || '@x', 'code', n % 2 = 0, n % 4000 = 1, n % 3 = 0,
		'title ' || n % 1000, n % 500, '2026-01-01Z'::timestamptz + n * interval '1 minute', nullif('2026-01-01'::date + n % 300, '2026-01-08')
	from generate_series(0, 99999) as n
	cross join lateral (select case when n % 2000 = 77 then 'few' else 'many' end as id) as who;
	do $$ begin execute (select string_agg(definition, '; ') from index_of_task); end $$;
	analyze;
	reset session_replication_role;
`

// mostRows is the number of rows that a page of 20 may touch, for every caller.
const mostRows = 200

// crewRows is how many rows a page of 20 may touch for a caller in so many crews of 20 rows or
// so each: all rows of these crews, and what it takes to know the crews and to admit the page. A
// rare value in more than 100 crews may be looked for in the whole table, if Postgres expects to
// be sooner done with that.
func crewRows(crews int, isRare bool) int {
	if isRare && crews > 100 {
		return 500 + 100_000 + 6*crews
	}
	return 500 + 25*crews
}

// TestRowsTouched counts the rows that Postgres reads for a page of 20 of 100,000 rows
// under a rule by row: few, whether the caller may see all of them, some or none.
func TestRowsTouched(t *testing.T) {
	t.Parallel()
	a := newApp(t, "ways", waysSchema())
	conn := a.db.Superuser(t)
	if _, err := conn.Exec(t.Context(), wayRows); err != nil {
		t.Fatal(err)
	}
	for _, r := range wayRules {
		for _, o := range wayOrders {
			name := "list" + r.name + o.name
			action := a.action(t, name)
			where := ""
			if strings.Contains(r.rule, "== code") {
				where = `"code":"code"`
			}
			for _, caller := range []string{"many", "few", "none"} {
				cursor := ""
				for _, paging := range []string{`"first":20`, `"last":20`, `"first":20,"after":%q`, `"last":20,"before":%q`} {
					if strings.Contains(paging, "%q") {
						if cursor == "" {
							continue
						}
						paging = fmt.Sprintf(paging, cursor)
					}
					in, err := a.readers[name].Read([]byte(`{"where":{` + where + `},` + paging + `}`))
					if err != nil {
						t.Fatal(err)
					}
					for _, function := range functionsFor(action, in) {
						rows, answer := rowsReadBy(t, conn, function, string(in.JSON), caller)
						if rows > mostRows {
							t.Errorf("%d rows touched by api.%s by %s with {%s}", rows, function, caller, paging)
						}
						if answer == "SP403" {
							continue
						}
						if got := readPage(t, answer); cursor == "" && strings.HasPrefix(paging, `"first":20`) && len(got.ids) > 10 {
							cursor = got.endCursor
						}
					}
				}
			}
		}
	}
	t.Run("bounds", func(t *testing.T) { boundRows(t, a, conn) })
	t.Run("crews", func(t *testing.T) { countRowsOfCrews(t, a, conn) })
	t.Run("pages of crews", func(t *testing.T) { walkCrews(t, a, conn) })
	t.Run("the page about lists", func(t *testing.T) { compareListsPage(t, a, conn) })
}

// lateRows gives the last 150 tasks crews of their own, and a caller who is a member of those.
const lateRows = `
	set session_replication_role = replica;
	insert into app.identity (id) values ('late');
	insert into app.worker (id, identity_id, division_id, regions) values ('late', 'late', 'none', '{}');
	insert into app.team (id, name) select 'late' || n, 'team' from generate_series(0, 149) as n;
	insert into app.member (team_id, identity_id, worker_id) select 'late' || n, 'late', 'late' from generate_series(0, 149) as n;
	update app.task set crew_id = 'late' || substr(id, 2) where id in (select 't' || n from generate_series(0, 149) as n);
	analyze;
	reset session_replication_role;
`

// compareListsPage compares the figures on the page about lists with the rows that Postgres touches. They are those of one
// major version; another one may touch half as many or twice as many.
func compareListsPage(t *testing.T, a *app, conn *pgx.Conn) {
	const page = "../integration/guide/how-to/lists.md"
	if _, err := conn.Exec(t.Context(), lateRows); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, page)
	near := 2.0
	if conn.PgConn().ParameterStatus("server_version")[:2] == "15" {
		near = 1.1
	}
	action := a.action(t, "listCrewByTime")
	compared := 0
	row := regexp.MustCompile(`(?m)^\| ([\d,]+ teams\b[^|]*) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$`)
	now := row.ReplaceAllStringFunc(text, func(line string) string {
		cells := row.FindStringSubmatch(line)
		teams, _, _ := strings.Cut(strings.ReplaceAll(cells[1], ",", ""), " ")
		caller := "in" + teams
		if strings.Contains(cells[1], "last") {
			caller = "late"
		}
		rewritten := "| " + cells[1] + " |"
		for i, where := range []string{``, `"isDone":{"equals":true}`, `"title":{"equals":"title 7"}`} {
			in, err := a.readers[action.Name].Read([]byte(`{"where":{` + where + `},"first":20}`))
			if err != nil {
				t.Fatal(err)
			}
			functions := functionsFor(action, in)
			got, _ := rowsReadBy(t, conn, functions[len(functions)-1], string(in.JSON), caller)
			said, err := strconv.Atoi(strings.ReplaceAll(cells[2+i], ",", ""))
			if ratio := float64(got) / float64(said); err != nil || ratio > near || ratio < 1/near {
				rewritten += fmt.Sprintf(" %s |", thousands(got))
			} else {
				rewritten += " " + cells[2+i] + " |"
			}
			compared++
		}
		return rewritten
	})
	if compared != 18 {
		t.Errorf("%s has %d figures", page, compared)
	}
	casetest.File(t, page, now)
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// functionsFor are the functions that answer a request: that for any filter, and the form that
// foresees it.
func functionsFor(action *release.Action, in input.Input) []string {
	functions := []string{action.Function}
	if form, ok := calls.Form(action, in.OperatorSet(), in.PlainPage(), in.Page().HasCursor); ok {
		functions = append(functions, form)
	}
	return functions
}

// boundRows checks that a page costs at most what its caller may see, whatever the request: with n rows that the list shows
// the caller without a filter, 10 n + 500 rows for a page from an end or behind a row of the caller, and 25 n + 1,000 for
// a page behind any other row.
func boundRows(t *testing.T, a *app, conn *pgx.Conn) {
	callers := map[string][]string{
		"Owned": {"many", "few", "none"}, "Team": {"many", "few", "none", "in1", "in100"},
		"Crew": {"many", "none", "in1", "in20", "in100", "in400", "in1200", "in5000"},
	}
	checked := 0
	for _, action := range a.manifest.Actions {
		kind := ""
		for of := range callers {
			if strings.HasPrefix(action.Name, "list"+of) {
				kind = of
			}
		}
		if kind == "" || strings.Contains(action.Name, "Role") {
			continue
		}
		read := func(body, caller string) page {
			in, err := a.readers[action.Name].Read([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			_, answer := rowsReadBy(t, conn, action.Function, string(in.JSON), caller)
			if answer == "SP403" {
				return page{totalCount: -1}
			}
			return readPage(t, answer)
		}
		other := read(`{"limit":1,"offset":2000}`, callers[kind][len(callers[kind])-1]).endCursor
		if other == "" {
			other = read(`{"limit":1,"offset":2000}`, "many").endCursor
		}
		for _, caller := range callers[kind] {
			first := read(`{"first":20,"totalCount":true}`, caller)
			if first.totalCount < 0 {
				continue // refused
			}
			near, far := 10*first.totalCount+500, 25*first.totalCount+1000
			bounds := map[string]int{
				`{"first":20}`: near, `{"last":20}`: near, `{"first":20,"totalCount":true}`: near,
				`{"first":20,"where":{"isDone":{"equals":true}}}`:               near,
				`{"first":20,"where":{"isDone":{"notEquals":true}}}`:            near,
				fmt.Sprintf(`{"first":20,"after":%q}`, other):                   far,
				fmt.Sprintf(`{"last":20,"before":%q}`, other):                   far,
				fmt.Sprintf(`{"first":20,"after":%q}`, first.endCursor):         near,
				`{"first":20,"where":{"title":{"equals":"title 7"}}}`:           near,
				`{"first":20,"where":{"rank":{"lessThan":2}}}`:                  near,
				`{"limit":20,"offset":10}`:                                      near,
				`{"last":20,"where":{"isDone":{"equals":true}}}`:                near,
				`{"first":5,"where":{"rank":{"equals":499}},"totalCount":true}`: near,
			}
			for body, most := range bounds {
				if strings.Contains(body, `:""`) || kind != "Crew" && (strings.Contains(body, "title") || strings.Contains(body, "rank")) {
					continue
				}
				in, err := a.readers[action.Name].Read([]byte(body))
				if err != nil {
					t.Fatal(err)
				}
				for _, function := range functionsFor(action, in) {
					rows, _ := rowsReadBy(t, conn, function, string(in.JSON), caller)
					if checked++; rows > most {
						t.Errorf("%d rows touched by api.%s by %s with %s, more than %d", rows, function, caller, body, most)
					}
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d pages were read", checked)
	}
}

// countRowsOfCrews counts the rows for callers in few and in many thin crews, with and without
// a filter.
func countRowsOfCrews(t *testing.T, a *app, conn *pgx.Conn) {
	for _, name := range []string{"listCrewByTime", "listCrewOfCallerByTime", "listOwnedOrCrewByTime", "listCrewByDue"} {
		action := a.action(t, name)
		for _, body := range []string{
			`{"first":20}`,
			`{"last":20}`,
			`{"where":{"isDone":{"equals":true}},"first":20}`,
			`{"where":{"title":{"equals":"title 7"}},"first":20}`,
			`{"where":{"rank":{"lessThan":2}},"first":20}`,
		} {
			in, err := a.readers[name].Read([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			for _, crews := range []int{1, 20, 50, 100, 200, 400, 1200, 5000} {
				for _, function := range functionsFor(action, in) {
					rows, _ := rowsReadBy(t, conn, function, string(in.JSON), fmt.Sprintf("in%d", crews))
					if rows > crewRows(crews, strings.Contains(body, "title")) {
						t.Errorf("%d rows touched by api.%s in %d crews with %s", rows, function, crews, body)
					}
				}
			}
		}
	}
}

// walkCrews goes through lists page by page as callers in few and in many crews.
func walkCrews(t *testing.T, a *app, conn *pgx.Conn) {
	for _, c := range []struct {
		crews, size   int
		where, filter string
	}{
		{50, 400, ``, `true`},
		{200, 900, ``, `true`},
		{200, 900, `"isDone":{"equals":true}`, `is_done`},
		{1200, 7, `"title":{"equals":"title 7"}`, `title = 'title 7'`},
		{1200, 30, `"rank":{"lessThan":2}`, `rank < 2`},
	} {
		caller := fmt.Sprintf("in%d", c.crews)
		var want []string
		err := conn.QueryRow(t.Context(), `
			select array_agg(id order by at desc, id desc)
			from app.task
			where crew_id in (select team_id from app.member where identity_id = $1) and `+c.filter, caller).Scan(&want)
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range []string{"listCrewByTime", "listOwnedOrCrewByTime"} {
			walkAs(t, a, action, c.where, caller, c.size, want, false)
			walkAs(t, a, action, c.where, caller, c.size, want, true)
		}
	}
}
