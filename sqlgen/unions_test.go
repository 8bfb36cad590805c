package sqlgen_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/calls"
)

const unionSchema = `
model Clinic { fields { name Text } }
model Visit { fields { clinic Clinic  startsAt Timestamp  state State  reason Text  fee Number? } }
model Invoice { fields { visit Visit?  number Text  total Decimal  tags Text[] @default  paidAt Timestamp? } }
model Remark { fields { at Timestamp  title Text } }
union Event {
  fields { clinicId ID?  title Text  at Timestamp  amount Decimal?  tags Text[]?  state State? }
  arms {
    done Visit {
      @where(visit.state == State.Done)
      @set(event.title = visit.reason)
      @set(event.at = visit.startsAt)
      @set(event.amount = visit.fee)
    }
    visit Visit { @set(event.title = "a visit")  @set(event.at = visit.startsAt) }
    invoice Invoice {
      @where(invoice.total > 0)
      @set(event.clinicId = invoice.visit.clinicId)
      @set(event.title = invoice.number)
      @set(event.at = invoice.createdAt)
      @set(event.amount = invoice.total)
    }
    remark Remark
  }
  actions {
    get getEvent(id)
    get armEvent(id, sourceArm) { @where(event.amount > 3 || event.sourceArm == "remark") }
    list listEvents(at?, sourceArm?, sourceModel?, title?, amount?, tags?, clinicId?, state?, id?, least: Decimal?) {
      @where(event.amount >= least)
      @orderBy(at: desc)
      @sortable(at, title, amount, state, id, sourceArm)
    }
    list plainEvents()
    list ofClinic() { @permission(expression: event.clinicId == ctx.headers.clinic) }
    get mineOrNone(id) { @permission(expression: event.amount == null || event.sourceArm == "invoice" && ctx.isAuthenticated) }
    get nobody(id) { @permission(expression: event.amount == ctx.identity.zoneInfo || event.clinicId == ctx.identity.id) }
  }
  @permission(expression: true, actions: [get, list])
}
enum State { Planned Done Missed }
`

// event is a row of the union as this test makes it.
type event struct {
	arm, id, title, at string
	amount             *int
	state              *string
}

var unionArms = []string{"done", "visit", "invoice", "remark"}

// unionApp installs the union with random rows. Many are equal in the fields by which lists are
// ordered, and ids occur in several arms.
func unionApp(t *testing.T) (*app, []event) {
	t.Helper()
	a := newApp(t, "unions", strings.Replace(unionSchema, "event.amount == ctx.identity.zoneInfo || ", "", 1))
	r := rand.New(rand.NewPCG(3, 4))
	a.exec(t, "insert into app.clinic (id, name) values ('c1', 'one'), ('c2', 'two')")
	var events []event
	for i := range 60 {
		id, at := fmt.Sprintf("x%02d", i), fmt.Sprintf("2026-01-%02dT00:00:00.000Z", 1+r.IntN(4))
		state, number := []string{"Planned", "Done", "Missed"}[r.IntN(3)], r.IntN(4)
		fee := &number
		if r.IntN(3) == 0 {
			fee = nil
		}
		reason := string(rune('a' + r.IntN(3)))
		a.exec(t, "insert into app.visit (id, clinic_id, starts_at, state, reason, fee) values ($1, $2, $3, $4, $5, $6)",
			id, []string{"c1", "c2"}[i%2], at, state, reason, fee)
		if state == "Done" {
			events = append(events, event{"done", id, reason, at, fee, &state})
		} else {
			events = append(events, event{"visit", id, "a visit", at, nil, &state})
		}
		at = fmt.Sprintf("2026-01-%02dT00:00:00.000Z", 1+r.IntN(4))
		total := r.IntN(5)
		a.exec(t, "insert into app.invoice (id, visit_id, number, total, created_at) values ($1, $2, $3, $4, $5)", id, id, reason, total, at)
		if total > 0 {
			events = append(events, event{"invoice", id, reason, at, &total, nil})
		}
		if i%3 == 0 {
			a.exec(t, "insert into app.remark (id, at, title) values ($1, $2, 'r')", id, at)
			events = append(events, event{"remark", id, "r", at, nil, nil})
		}
	}
	return a, events
}

// nullsLast compares values, with null as the greatest.
func nullsLast[T cmp.Ordered](a, b *T) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

func sortEvents(events []event, order []string) {
	slices.SortStableFunc(events, func(a, b event) int {
		for _, key := range order {
			name, descending := strings.CutPrefix(key, "-")
			c := 0
			switch name {
			case "at":
				c = cmp.Compare(a.at, b.at)
			case "title":
				c = cmp.Compare(a.title, b.title)
			case "amount":
				c = nullsLast(a.amount, b.amount)
			case "state":
				c = nullsLast(a.state, b.state)
			case "id":
				c = cmp.Compare(a.id, b.id)
			case "sourceArm":
				c = cmp.Compare(a.arm, b.arm)
			}
			if descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Compare(slices.Index(unionArms, a.arm), slices.Index(unionArms, b.arm))
	})
}

type unionPage struct {
	Results []struct {
		ID, SourceArm, SourceModel, Title, At string
		Amount                                *json.Number
	}
	PageInfo struct {
		StartCursor, EndCursor       string
		HasNextPage, HasPreviousPage bool
		Count, TotalCount            int
	}
}

func (p *unionPage) keys() []string {
	var keys []string
	for _, r := range p.Results {
		keys = append(keys, r.SourceArm+" "+r.ID)
	}
	return keys
}

func (a *app) events(t *testing.T, action, body string) *unionPage {
	t.Helper()
	answer := a.call(t, action, body, "")
	p := &unionPage{}
	if err := json.Unmarshal([]byte(answer), p); err != nil {
		t.Fatalf("%s %s: %v in %s", action, body, err, answer)
	}
	return p
}

// TestUnionWalks walks a union's list forward and backward in pages of several sizes,
// in every order, and by offset.
func TestUnionWalks(t *testing.T) {
	t.Parallel()
	a, events := unionApp(t)
	for _, order := range [][]string{
		{"-at", "id"}, {"at", "id"}, {"title", "-at", "id"}, {"-amount", "-at", "id"}, {"amount", "title", "-at", "id"},
		{"state", "-amount", "-at", "id"}, {"-id", "-at"}, {"sourceArm", "-at", "id"}, {"-title", "-at"},
	} {
		var orderBy []string
		for _, key := range order {
			direction := "asc"
			name, descending := strings.CutPrefix(key, "-")
			if descending {
				direction = "desc"
			}
			orderBy = append(orderBy, fmt.Sprintf(`{%q:%q}`, name, direction))
		}
		by := `"orderBy":[` + strings.Join(orderBy, ",") + `]`
		if last := order[len(order)-1]; !slices.Contains(order, "id") && !slices.Contains(order, "-id") {
			order = append(order, strings.TrimSuffix(last, "at")+"id") // ordered in its direction
		}
		sortEvents(events, order)
		var want []string
		for _, e := range events {
			want = append(want, e.arm+" "+e.id)
		}
		for _, size := range []int{1, 7, 50, 200} {
			var forward, backward []string
			cursor := ""
			for {
				after := ""
				if cursor != "" {
					after = fmt.Sprintf(`,"after":%q`, cursor)
				}
				p := a.events(t, "listEvents", fmt.Sprintf(`{%s,"first":%d%s}`, by, size, after))
				if p.PageInfo.HasPreviousPage != (cursor != "") || p.PageInfo.Count != len(p.Results) {
					t.Fatalf("%v by %d: page info %+v", order, size, p.PageInfo)
				}
				forward = append(forward, p.keys()...)
				if cursor = p.PageInfo.EndCursor; !p.PageInfo.HasNextPage {
					break
				}
			}
			if !slices.Equal(forward, want) {
				t.Fatalf("%v forward by %d:\ngot  %v\nwant %v", order, size, forward, want)
			}
			if size == 1 {
				continue // the same, but slow
			}
			cursor = ""
			for {
				before := ""
				if cursor != "" {
					before = fmt.Sprintf(`,"before":%q`, cursor)
				}
				p := a.events(t, "listEvents", fmt.Sprintf(`{%s,"last":%d%s}`, by, size, before))
				backward = append(p.keys(), backward...)
				if cursor = p.PageInfo.StartCursor; !p.PageInfo.HasPreviousPage {
					break
				}
			}
			if !slices.Equal(backward, want) {
				t.Fatalf("%v backward by %d:\ngot  %v\nwant %v", order, size, backward, want)
			}
			p := a.events(t, "listEvents", fmt.Sprintf(`{%s,"limit":%d,"offset":5,"totalCount":true}`, by, size))
			if got := p.keys(); !slices.Equal(got, want[5:min(len(want), 5+size)]) || p.PageInfo.TotalCount != len(want) || !p.PageInfo.HasPreviousPage {
				t.Fatalf("%v by offset, %d: got %v, %+v", order, size, got, p.PageInfo)
			}
		}
	}
}

func TestUnionFilters(t *testing.T) {
	t.Parallel()
	a, events := unionApp(t)
	sortEvents(events, []string{"-at", "-id"})
	for _, test := range []struct {
		where string
		holds func(event) bool
	}{
		{`{}`, func(event) bool { return true }},
		{`{"sourceArm":{"equals":"invoice"}}`, func(e event) bool { return e.arm == "invoice" }},
		{`{"sourceArm":{"oneOf":["invoice","remark"]}}`, func(e event) bool { return e.arm == "invoice" || e.arm == "remark" }},
		{`{"sourceModel":{"notEquals":"Visit"}}`, func(e event) bool { return e.arm == "invoice" || e.arm == "remark" }},
		{`{"title":{"contains":"VISIT"}}`, func(e event) bool { return e.arm == "visit" }},
		{`{"title":{"equals":"a"},"amount":{"notEquals":null}}`, func(e event) bool { return e.title == "a" && e.amount != nil }},
		{`{"amount":{"equals":null}}`, func(e event) bool { return e.amount == nil }},
		{`{"amount":{"notEquals":2}}`, func(e event) bool { return e.amount == nil || *e.amount != 2 }},
		{`{"amount":{"greaterThan":1.5}}`, func(e event) bool { return e.amount != nil && *e.amount > 1 }},
		{`{"least":3}`, func(e event) bool { return e.amount != nil && *e.amount >= 3 }},
		{`{"least":0}`, func(e event) bool { return e.amount != nil }},
		{`{"state":{"equals":"Missed"}}`, func(e event) bool { return e.state != nil && *e.state == "Missed" }},
		{`{"tags":{"equals":null}}`, func(e event) bool { return e.arm != "invoice" }},
		{`{"tags":{"all":{"equals":"x"}}}`, func(e event) bool { return e.arm == "invoice" }},
		{`{"tags":{"any":{"startsWith":"x"}}}`, func(e event) bool { return false }},
		{`{"clinicId":{"equals":"c1"}}`, func(e event) bool { return e.arm != "remark" && (e.id[2]-'0')%2 == 0 }},
		{`{"clinicId":{"equals":null}}`, func(e event) bool { return e.arm == "remark" }},
		{`{"id":{"oneOf":["x00","x03"]}}`, func(e event) bool { return e.id == "x00" || e.id == "x03" }},
		{`{"at":{"before":"2026-01-02T00:00:00Z"}}`, func(e event) bool { return e.at < "2026-01-02" }},
	} {
		var want []string
		for _, e := range events {
			if test.holds(e) {
				want = append(want, e.arm+" "+e.id)
			}
		}
		p := a.events(t, "listEvents", `{"where":`+test.where+`,"first":500,"totalCount":true}`)
		if got := p.keys(); !slices.Equal(got, want) || p.PageInfo.TotalCount != len(want) {
			t.Errorf("%s:\ngot  %v\nwant %v", test.where, got, want)
		}
	}
}

// TestUnionRows reads single rows of a union: the arm declared first answers, and a row
// is of the first arm that takes it.
func TestUnionRows(t *testing.T) {
	t.Parallel()
	a := newApp(t, "unions", strings.Replace(unionSchema, "event.amount == ctx.identity.zoneInfo || ", "", 1))
	a.exec(t, `
		insert into app.clinic (id, name) values ('c1', 'one');
		insert into app.visit (id, clinic_id, starts_at, state, reason, fee) values
			('v1', 'c1', '2026-01-01Z', 'Done', 'knee', 7), ('v2', 'c1', '2026-01-02Z', 'Planned', 'hip', 8);
		insert into app.invoice (id, visit_id, number, total, tags, created_at) values
			('v1', 'v1', 'n1', 1.50, '{a,b}', '2026-01-03Z'), ('i2', null, 'n2', 4, '{}', '2026-01-03Z'), ('i3', 'v2', 'n3', 0, '{}', '2026-01-03Z');
		insert into app.remark (id, at, title) values ('r1', '2026-01-04Z', 'well');
	`)
	const done = `{"id":"v1","sourceModel":"Visit","sourceArm":"done","clinicId":"c1","title":"knee","at":"2026-01-01T00:00:00.000Z","amount":7,"tags":null,"state":"Done"}`
	const planned = `{"id":"v2","sourceModel":"Visit","sourceArm":"visit","clinicId":"c1","title":"a visit","at":"2026-01-02T00:00:00.000Z","amount":null,"tags":null,"state":"Planned"}`
	const invoice = `{"id":"v1","sourceModel":"Invoice","sourceArm":"invoice","clinicId":"c1","title":"n1","at":"2026-01-03T00:00:00.000Z","amount":1.5,"tags":["a","b"],"state":null}`
	const paid = `{"id":"i2","sourceModel":"Invoice","sourceArm":"invoice","clinicId":null,"title":"n2","at":"2026-01-03T00:00:00.000Z","amount":4,"tags":[],"state":null}`
	const remark = `{"id":"r1","sourceModel":"Remark","sourceArm":"remark","clinicId":null,"title":"well","at":"2026-01-04T00:00:00.000Z","amount":null,"tags":null,"state":null}`
	for _, test := range []struct{ action, body, caller, want string }{
		{"getEvent", `{"id":"v1"}`, "", done},
		{"getEvent", `{"id":"v2"}`, "", planned},
		{"getEvent", `{"id":"i2"}`, "", paid},
		{"getEvent", `{"id":"i3"}`, "", "null"},
		{"getEvent", `{"id":"r1"}`, "", remark},
		{"armEvent", `{"id":"v1","sourceArm":"invoice"}`, "", "null"},
		{"armEvent", `{"id":"v1","sourceArm":"done"}`, "", done},
		{"armEvent", `{"id":"i2","sourceArm":"invoice"}`, "", paid},
		{"armEvent", `{"id":"r1","sourceArm":"remark"}`, "", remark},
		{"mineOrNone", `{"id":"v2"}`, "", planned},
		{"mineOrNone", `{"id":"v1"}`, "", "SP403"},
		{"mineOrNone", `{"id":"v1"}`, "me", invoice},
		{"mineOrNone", `{"id":"none"}`, "", "null"},
		{"nobody", `{"id":"r1"}`, "", "SP403"},
		{"nobody", `{"id":"r1"}`, "me", "SP403"},
		{"nobody", `{"id":"none"}`, "me", "null"},
	} {
		if got := a.call(t, test.action, test.body, test.caller); got != test.want {
			t.Errorf("%s %s by %q:\ngot  %s\nwant %s", test.action, test.body, test.caller, got, test.want)
		}
	}
	var page map[string]any
	answer, err := callInside(t.Context(), a.server, "of_clinic", `{}`, map[string]any{"headers": map[string]string{"clinic": "c1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatal(err)
	}
	if rows := page["results"].([]any); len(rows) != 3 {
		t.Errorf("the rule admits %d rows, want 3: %s", len(rows), answer)
	}
}

// TestUnionReadsPages reads pages of a union of 200,000 rows, and counts the rows that
// Postgres touches for one.
func TestUnionReadsPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, "unions of many", `
		model Visit { fields { owner Identity  startsAt Timestamp  reason Text @index } }
		model Invoice { fields { visit Visit  number Text @index } }
		union Event {
		  fields { owner ID  title Text  at Timestamp }
		  arms {
		    visit Visit { @set(event.owner = visit.ownerId)  @set(event.title = visit.reason)  @set(event.at = visit.startsAt) }
		    invoice Invoice { @set(event.owner = invoice.visit.ownerId)  @set(event.title = invoice.number)  @set(event.at = invoice.createdAt) }
		  }
		  actions {
		    list listEvents(at?, title?, sourceArm?) { @orderBy(at: desc)  @sortable(at, title) }
		    list publicEvents(at?, title?, sourceArm?) { @orderBy(at: desc)  @sortable(at, title)  @permission(expression: true) }
		  }
		  @permission(expression: event.owner == ctx.identity.id, actions: [list])
		}`)
	a.exec(t, `
		insert into app.identity (id) select 'i' || n from generate_series(1, 4) n;
		insert into app.visit (id, owner_id, starts_at, reason)
		select 'v' || n, 'i' || 1 + n % 4, '2026-01-01Z'::timestamptz + n * interval '1 minute', 'r' || n % 1000 from generate_series(1, 100000) n;
		insert into app.invoice (id, visit_id, number, created_at)
		select 'n' || n, 'v' || n, 'x' || n % 1000, '2026-01-01Z'::timestamptz + n * interval '1 minute' from generate_series(1, 100000) n;
		analyze;
	`)
	touched := func(function, body string) (answer string, rows int) {
		t.Helper()
		tx, err := a.db.Superuser(t).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if answer, err = calls.JSON(t.Context(), tx.Conn(), function, body, callContext("i2")); err != nil {
			t.Fatal(err)
		}
		err = tx.QueryRow(t.Context(), `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables where schemaname = 'app'`).Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		return answer, rows
	}
	for _, action := range []string{"list_events", "public_events"} { // the first sees a quarter of the rows
		first, _ := touched(action, `{"first":20}`)
		var page unionPage
		if err := json.Unmarshal([]byte(first), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Results) != 20 {
			t.Errorf("%s: the first page has %d rows", action, len(page.Results))
		}
		for _, body := range []string{
			`{"first":20}`,
			`{"last":20}`,
			fmt.Sprintf(`{"first":20,"after":%q}`, page.PageInfo.EndCursor),
			fmt.Sprintf(`{"last":20,"before":%q}`, page.PageInfo.EndCursor),
			`{"limit":20,"offset":100}`,
			`{"first":20,"orderBy":[{"at":"asc"}]}`,
			`{"last":20,"orderBy":[{"at":"asc"}]}`,
			`{"first":20,"orderBy":[{"title":"asc"}]}`,
			`{"first":20,"orderBy":[{"title":"desc"}]}`,
			`{"last":20,"orderBy":[{"title":"asc"}]}`,
			`{"first":20,"where":{"title":{"equals":"r5"}}}`,
			`{"first":20,"where":{"sourceArm":{"equals":"visit"}}}`,
			`{"first":20,"where":{"sourceArm":{"notEquals":"visit"}}}`,
			`{"first":20,"where":{"at":{"before":"2026-02-01T00:00:00Z"}}}`,
			`{"first":20,"where":{"at":{"before":"2026-02-01T00:00:00Z"}},"orderBy":[{"at":"asc"}]}`,
			`{"first":20,"where":{"at":{"before":"2026-02-01T00:00:00Z","after":"2026-01-20T00:00:00Z"}}}`,
			`{"last":20,"where":{"at":{"after":"2026-01-20T00:00:00Z"}}}`,
		} {
			// A title is that of a hundred rows, which are read before they are ordered by id. Of the caller's rows, as
			// many are counted as of the order are looked at then: sqrt(2 · 21 · 200,000) = 2,898, see pick_page.
			if _, rows := touched(action, body); rows > 6000 {
				t.Errorf("%s: %d rows were touched for %s", action, rows, body)
			}
		}
	}
}

// TestUnionWheresShareChild checks that several @wheres of a union's list ask for one and the same child of the caller.
func TestUnionWheresShareChild(t *testing.T) {
	t.Parallel()
	a := newApp(t, "unions with one child", `
		model Worker { fields { identity Identity @unique  jobs Job[] } }
		model Job { fields { worker Worker  town Text  level Number } }
		model Shift { fields { town Text  level Number } }
		union Task {
		  fields { town Text  level Number }
		  arms { shift Shift { @set(task.town = shift.town)  @set(task.level = shift.level) } }
		  actions {
		    list listTasks() {
		      @where(task.town == ctx.identity.worker.jobs.town)
		      @where(task.level == ctx.identity.worker.jobs.level)
		    }
		  }
		  @permission(expression: ctx.isAuthenticated, actions: [list])
		}`)
	a.exec(t, `
		insert into app.identity (id) values ('i');
		insert into app.worker (id, identity_id) values ('w', 'i');
		insert into app.job (worker_id, town, level) values ('w', 'a', 1), ('w', 'b', 2);
		insert into app.shift (id, town, level) values ('a1', 'a', 1), ('a2', 'a', 2), ('b2', 'b', 2);`)
	if got := readPage(t, a.listAs(t, "listTasks", `{}`, "i")).ids; !slices.Equal(got, []string{"a1", "b2"}) {
		t.Errorf("the list shows %q: no job is in a at level 2", got)
	}
}
