package sqlgen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
)

// clinics is an application of two clinics. The rules of its models bind its custom code,
// or, if that is security definer, only those of its actions.
const clinics = `
model Clinic {
  fields { name Text @unique  members Member[]  visits Visit[] }
  @permission(expression: ctx.identity in clinic.members.identity, actions: [get, list])
}

model Member { fields { identity Identity @unique  clinic Clinic  role MemberRole } }

model Visit {
  fields {
    clinic Clinic
    startsAt Timestamp
    reason Text @default("check")
    state VisitState @default(VisitState.Planned)
    cost Decimal @default
    notes Note[]
  }
  actions {
    get nextVisit(clinic.id) { @function }
    get anyVisit(id) { @function @embed(notes) }
    list visits(state?, reason?, startsAt?, notes.text?) { @sortable(startsAt, reason)  @orderBy(startsAt: desc) }
    list visitsByCode(state?, reason?, startsAt?, notes.text?) { @function @sortable(startsAt, reason)  @orderBy(startsAt: desc) }
    list maskedVisits(reason?, mask: Text) { @function }
    create bookVisit() with (clinic.id, startsAt) { @function }
    create bookAnywhere() with (clinic.id, startsAt, notes.text) { @function }
    create bookNothing() { @function @permission(expression: true) }
    update closeVisit(id, total: Decimal) { @function @validate(total >= 0, message: "an invoice cannot be negative") }
    update closeLast() with (cost) { @function }
    update renumber(id) with (id, reason?) { @function }
    delete dropVisit(id) { @function }
    delete dropNothing(id) { @function @permission(expression: true) }
    read countVisits() returns (Any)
    read identities() returns (Any)
    read members() returns (Any)
    read writes() returns (Any)
    get getWrites(id) { @function }
    list listWrites() { @function }
    write refuse(code: Text, text: Text) returns (Any)
    write addClinic(name: Text) returns (Any)
    write leave() returns (Any)
    write noAnswer() returns (Answer)
    read nothing() returns (Any)
    write takesAll(
      text: Text, number: Number, decimal: Decimal, flag: Boolean, day: Date, at: Timestamp, took: Duration, state: VisitState, vector: Vector,
      texts: Text[], numbers: Number[], days: Date[], states: VisitState[], gone: Date?, goneToo: Text[]?
    ) returns (Any)
  }
  @permission(expression: ctx.identity in visit.clinic.members.identity, actions: [get, list, create])
  @permission(
    expression: visit.clinic.members.identity == ctx.identity && visit.clinic.members.role != MemberRole.Office,
    actions: [update, delete]
  )
  @permission(expression: ctx.isAuthenticated, actions: [read, write])
}

model Note {
  fields { visit Visit  text Text }
  @permission(expression: true, actions: [get])
}

message Answer { ok Boolean }
enum MemberRole { Doctor Office }
enum VisitState { Planned Done }
-- functions/nextVisit.sql --
create function functions.next_visit(clinic_id text) returns app.visit language sql stable as $$
  select visit.* from app.visit where visit.clinic_id = next_visit.clinic_id order by visit.starts_at limit 1;
$$;
-- functions/anyVisit.sql --
create function functions.any_visit(id text) returns app.visit
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select visit.* from app.visit where visit.id = any_visit.id;
$$;
-- functions/visitsByCode.sql --
create function functions.visits_by_code() returns setof app.visit
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select visit.* from app.visit;
$$;
-- functions/maskedVisits.sql --
create function functions.masked_visits(mask text) returns setof app.visit language plpgsql stable as $$
declare
  v_visit app.visit;
begin
  for v_visit in select visit.* from app.visit loop
    v_visit.reason := mask;
    return next v_visit;
  end loop;
end;
$$;
-- functions/bookVisit.sql --
create function functions.book_visit(clinic_id text, starts_at timestamptz) returns app.visit language sql volatile as $$
  insert into app.visit (id, clinic_id, starts_at) values ('new', book_visit.clinic_id, book_visit.starts_at) returning *;
$$;
-- functions/bookAnywhere.sql --
create function functions.book_anywhere(clinic_id text, starts_at timestamptz, notes jsonb) returns app.visit
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_visit app.visit;
begin
  insert into app.visit (id, clinic_id, starts_at) values ('new', clinic_id, starts_at) returning * into v_visit;
  insert into app.note (visit_id, text) select 'new', note->>'text' from jsonb_array_elements(notes) as note;
  return v_visit;
end;
$$;
-- functions/bookNothing.sql --
create function functions.book_nothing() returns app.visit language sql volatile as 'select null::app.visit';
-- functions/closeVisit.sql --
create function functions.close_visit(id text, total numeric) returns app.visit
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_visit app.visit;
begin
  update app.visit set state = 'Done', cost = total where visit.id = close_visit.id and state = 'Planned' returning * into v_visit;
  if not found then
    raise exception 'the visit is not planned any more' using errcode = 'SP409';
  end if;
  return v_visit;
end;
$$;
-- functions/closeLast.sql --
create function functions.close_last(cost numeric) returns app.visit
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  update app.visit set state = 'Done', cost = close_last.cost
  where visit.id = (select max(visit.id) from app.visit where visit.state = 'Planned')
  returning *;
$$;
-- functions/renumber.sql --
create function functions.renumber(id text, new_id text, reason text) returns app.visit language sql volatile as $$
  select visit.id || '>' || new_id, clinic_id, starts_at, coalesce(renumber.reason, 'none'), state, cost, created_at, updated_at
  from app.visit where visit.id = renumber.id;
$$;
-- functions/dropVisit.sql --
create function functions.drop_visit(id text) returns text language sql volatile as $$
  delete from app.visit where visit.id = drop_visit.id returning visit.id;
$$;
-- functions/dropNothing.sql --
create function functions.drop_nothing(id text) returns text language sql volatile as 'select null::text';
-- functions/countVisits.sql --
create function functions.count_visits() returns jsonb language sql stable as 'select to_jsonb(count(*)) from app.visit';
-- functions/identities.sql --
create function functions.identities() returns jsonb language sql stable as 'select jsonb_agg(identity.id) from app.identity';
-- functions/members.sql --
create function functions.members() returns jsonb language sql stable as 'select to_jsonb(count(*)) from app.member';
-- functions/writes.sql --
create function functions.writes() returns jsonb language sql volatile as $$
  delete from app.visit returning null::jsonb;
$$;
-- functions/getWrites.sql --
create function functions.get_writes(id text) returns app.visit
language sql volatile security definer set search_path = pg_catalog, pg_temp as 'delete from app.visit returning *';
-- functions/listWrites.sql --
create function functions.list_writes() returns setof app.visit language plpgsql volatile as $$
begin
  perform set_config('transaction_read_only', 'off', true);
  return query delete from app.visit returning *;
end;
$$;
-- functions/refuse.sql --
create function functions.refuse(code text, text text) returns jsonb language plpgsql volatile as $$
begin
  update app.visit set reason = 'touched';
  raise exception '%', text using errcode = code;
end;
$$;
-- functions/addClinic.sql --
create function functions.add_clinic(name text) returns jsonb
language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  insert into app.clinic (name) values (add_clinic.name) returning to_jsonb(clinic.name);
$$;
-- functions/leave.sql --
create function functions.leave() returns jsonb language plpgsql volatile as $$
begin
  execute format('select set_%1$s(%2$L, %3$L, false), set_%1$s(%4$L, %5$L, false), set_%1$s(%6$L, %7$L, false)',
    'config', 'stern' || 'post.identity_id', 'doc', 'stern' || 'post.action', 'visits', 'stern' || 'post.inputs.mask', '=x');
  return to_jsonb(platform.identity_id());
end;
$$;
-- functions/noAnswer.sql --
create function functions.no_answer() returns jsonb language sql volatile as 'select null::jsonb';
-- functions/nothing.sql --
create function functions.nothing() returns jsonb language sql volatile as 'select null::jsonb';
-- functions/takesAll.sql --
create function functions.takes_all(
  text text, number bigint, "decimal" numeric, flag boolean, day date, at timestamptz, took interval, state text, vector real[],
  texts text[], numbers bigint[], days date[], states text[], gone date, gone_too text[]
) returns jsonb language sql volatile as $$
  select jsonb_build_array(text, number, "decimal", flag, day, at at time zone 'UTC', took, state, vector, texts, numbers, days, states, gone, gone_too);
$$;
`

// resetClinics puts the rows back: c1 with a doctor and an office, c2 with a doctor.
const resetClinics = `
truncate app.clinic, app.member, app.visit, app.note;
delete from app.identity;
insert into app.identity (id, email) values ('doc', 'doc@example.com'), ('office', null), ('other', null), ('stranger', null);
insert into app.clinic (id, name) values ('c1', 'One'), ('c2', 'Two');
insert into app.member (identity_id, clinic_id, role) values ('doc', 'c1', 'Doctor'), ('office', 'c1', 'Office'), ('other', 'c2', 'Doctor');
insert into app.visit (id, clinic_id, starts_at, reason, state, cost) values
  ('v1', 'c1', '2027-03-01T09:00Z', 'tooth', 'Planned', 1.50),
  ('v2', 'c1', '2027-03-02T09:00Z', 'ear', 'Done', 2),
  ('v3', 'c1', '2027-03-03T09:00Z', 'ear', 'Planned', 0),
  ('w1', 'c2', '2027-03-01T09:00Z', 'eye', 'Planned', 0);
insert into app.note (id, visit_id, text) values ('n1', 'v1', 'a'), ('n2', 'v1', 'b'), ('n3', 'w1', 'a');
`

func newClinics(t *testing.T, name, more string) *app {
	t.Helper()
	return installApp(t, name, compileProject(t, projectFrom(clinics+more)))
}

// tell calls an action. It returns the answer, or the code and text of an error.
func (a *app) tell(t *testing.T, name, body, caller string) string {
	t.Helper()
	in, err := a.readers[name].Read([]byte(body))
	if err != nil {
		t.Fatalf("action %s does not take %s: %v", name, body, err)
	}
	answer, err := calls.JSON(t.Context(), a.server, a.action(t, name).Function, string(in.JSON), callContext(caller))
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised):
		return strings.TrimSpace(raised.Code + " " + raised.Message)
	case err != nil:
		t.Fatalf("call %s with %s: %v", name, body, err)
	}
	return answer
}

// TestCustomCodeIsBound calls each kind of action with custom code as several callers:
// allowed calls and refused ones.
func TestCustomCodeIsBound(t *testing.T) {
	t.Parallel()
	a := newClinics(t, "clinics", "")
	const (
		refused = "SP403 not authorized to access"
		missing = "SP404 record not found"
		barred  = `42501 new row violates row-level security policy for table "visit"`
	)
	for _, c := range []struct{ action, body, caller, want string }{
		// The code sees the rows that the rules of the model for get or list admit.
		{"nextVisit", `{"clinicId":"c1"}`, "doc", `id=v1`},
		{"nextVisit", `{"clinicId":"c1"}`, "office", `id=v1`},
		{"nextVisit", `{"clinicId":"c1"}`, "other", `null`},
		{"nextVisit", `{"clinicId":"c1"}`, "stranger", `null`},
		{"nextVisit", `{"clinicId":"c1"}`, "", refused},
		{"nextVisit", `{"clinicId":"c9"}`, "doc", `null`},
		{"countVisits", `{}`, "doc", `3`},
		{"countVisits", `{}`, "other", `1`},
		{"countVisits", `{}`, "stranger", `0`},
		{"countVisits", `{}`, "", refused},
		// It sees its own row of Identity, and none of a model without rule.
		{"identities", `{}`, "doc", `["doc"]`},
		{"identities", `{}`, "office", `["office"]`},
		{"members", `{}`, "doc", `42501 permission denied for table member`},
		// The row that code beyond row security returns is judged.
		{"anyVisit", `{"id":"v1"}`, "doc", `id=v1 notes=2`},
		{"anyVisit", `{"id":"w1"}`, "doc", refused},
		{"anyVisit", `{"id":"w1"}`, "other", `id=w1 notes=1`},
		{"anyVisit", `{"id":"v1"}`, "stranger", refused},
		{"anyVisit", `{"id":"v9"}`, "stranger", `null`},
		{"visitsByCode", `{"totalCount":true}`, "doc", `results=[v3 v2 v1] total=3`},
		{"visitsByCode", `{"totalCount":true}`, "other", `results=[w1] total=1`},
		{"visitsByCode", `{"totalCount":true}`, "stranger", `results=[] total=0`},
		{"visitsByCode", `{}`, "", refused},
		// A create.
		{"bookVisit", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z"}`, "doc", `id=new`},
		{"bookVisit", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z"}`, "office", `id=new`},
		{"bookVisit", `{"clinic":{"id":"c2"},"startsAt":"2027-04-01T09:00:00Z"}`, "doc", barred},
		{"bookVisit", `{"clinic":{"id":"c9"},"startsAt":"2027-04-01T09:00:00Z"}`, "doc", barred},
		{"bookVisit", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z"}`, "stranger", barred},
		{"bookVisit", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z"}`, "", refused},
		{"bookAnywhere", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z","notes":[{"text":"x"},{"text":"y"}]}`, "doc", `id=new`},
		{"bookAnywhere", `{"clinic":{"id":"c2"},"startsAt":"2027-04-01T09:00:00Z","notes":[]}`, "doc", refused},
		{"bookAnywhere", `{"clinic":{"id":"c2"},"startsAt":"2027-04-01T09:00:00Z","notes":[]}`, "stranger", refused},
		{"bookNothing", `{}`, "", `P0001 functions.book_nothing returned null`},
		// An update is judged on the row as it was, before the code runs.
		{"closeVisit", `{"where":{"id":"v1","total":7.50}}`, "doc", `id=v1 state=Done`},
		{"closeVisit", `{"where":{"id":"v1","total":7.50}}`, "office", refused},
		{"closeVisit", `{"where":{"id":"v1","total":7.50}}`, "other", refused},
		{"closeVisit", `{"where":{"id":"v1","total":7.50}}`, "", refused},
		{"closeVisit", `{"where":{"id":"v9","total":7.50}}`, "other", missing},
		{"closeVisit", `{"where":{"id":"v2","total":7.50}}`, "doc", `SP409 the visit is not planned any more`},
		{"closeVisit", `{"where":{"id":"v2","total":7.50}}`, "office", refused},
		{"closeVisit", `{"where":{"id":"v1","total":-1}}`, "doc", `SP400 one or more validation rules failed`},
		{"closeVisit", `{"where":{"id":"v1","total":-1}}`, "", refused},
		// If no input pins the row, on the returned row.
		{"closeLast", `{"values":{"cost":1}}`, "other", `id=w1 state=Done`},
		{"closeLast", `{"values":{"cost":1}}`, "doc", refused},
		{"renumber", `{"where":{"id":"v1"},"values":{"id":"x"}}`, "doc", `id=v1>x`},
		{"renumber", `{"where":{"id":"v9"},"values":{"id":"x","reason":"y"}}`, "doc", missing},
		// A delete.
		{"dropVisit", `{"id":"v1"}`, "doc", `"v1"`},
		{"dropVisit", `{"id":"v1"}`, "office", refused},
		{"dropVisit", `{"id":"v1"}`, "other", refused},
		{"dropVisit", `{"id":"v9"}`, "doc", missing},
		{"dropVisit", `{"id":"v1"}`, "", refused},
		{"dropNothing", `{"id":"v1"}`, "", missing},
		// Reading kinds write nothing, regardless of their code and its owner.
		{"writes", `{}`, "doc", `25006 cannot execute DELETE in a read-only transaction`},
		{"getWrites", `{"id":"v1"}`, "doc", `25006 cannot execute DELETE in a read-only transaction`},
		{"listWrites", `{}`, "doc", `25001 transaction read-write mode must be set before any query`},
		// Refusals of the code's own.
		{"refuse", `{"code":"SP400","text":"why"}`, "doc", `SP400 why`},
		{"refuse", `{"code":"P0001","text":"why"}`, "doc", `P0001 why`},
		{"addClinic", `{"name":"Three"}`, "stranger", `"Three"`},
		{"addClinic", `{"name":"One"}`, "stranger", `23505 duplicate key value violates unique constraint "clinic_name_key"`},
		{"noAnswer", `{}`, "doc", `P0001 functions.no_answer returned null`},
		{"nothing", `{}`, "doc", `null`},
	} {
		a.exec(t, resetClinics)
		before := a.allRows(t)
		answer := a.tell(t, c.action, c.body, c.caller)
		if got := shortened(t, answer); got != c.want {
			t.Errorf("%s %s as %q\ngot  %s\nwant %s", c.action, c.body, c.caller, got, c.want)
		}
		if isError := len(answer) > 5 && answer[5] == ' '; isError && a.allRows(t) != before {
			t.Errorf("%s %s as %q was refused and has changed rows", c.action, c.body, c.caller)
		}
	}
}

// allRows is the whole content of the clinics.
func (a *app) allRows(t *testing.T) string {
	t.Helper()
	var rows string
	if err := a.owner.QueryRow(t.Context(), `
		select concat(
			(select json_agg(clinic order by id) from app.clinic), (select json_agg(visit order by id) from app.visit),
			(select json_agg(note order by id) from app.note))`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// shortened returns the part of an answer that the cases are about.
func shortened(t *testing.T, answer string) string {
	t.Helper()
	if !strings.HasPrefix(answer, "{") {
		return answer
	}
	o := object(t, answer)
	if results, ok := o["results"].([]any); ok {
		var ids []string
		for _, r := range results {
			ids = append(ids, r.(map[string]any)["id"].(string))
		}
		text := fmt.Sprintf("results=%v", ids)
		if total := o["pageInfo"].(map[string]any)["totalCount"]; total != nil {
			text += fmt.Sprintf(" total=%v", total)
		}
		return text
	}
	text := fmt.Sprintf("id=%v", o["id"])
	if o["state"] != "Planned" {
		text += fmt.Sprintf(" state=%v", o["state"])
	}
	if notes, ok := o["notes"].([]any); ok {
		text += fmt.Sprintf(" notes=%d", len(notes))
	}
	return text
}

// TestCustomCodeHidesRefusedRows tests that refused rows seem missing if the configuration
// says so.
func TestCustomCodeHidesRefusedRows(t *testing.T) {
	t.Parallel()
	a := newClinics(t, "clinics that hide", "-- sternpost.yaml --\nhideRefusedRows: true\n")
	a.exec(t, resetClinics)
	for _, c := range []struct{ action, body, caller, want string }{
		{"anyVisit", `{"id":"w1"}`, "doc", `null`},
		{"closeVisit", `{"where":{"id":"v1","total":7.50}}`, "office", `SP404 record not found`},
		{"closeLast", `{"values":{"cost":1}}`, "doc", `SP404 record not found`},
		{"dropVisit", `{"id":"v1"}`, "other", `SP404 record not found`},
		{"bookAnywhere", `{"clinic":{"id":"c2"},"startsAt":"2027-04-01T09:00:00Z","notes":[]}`, "doc", `SP403 not authorized to access`},
		{"anyVisit", `{"id":"v1"}`, "", `SP403 not authorized to access`},
	} {
		if got := a.tell(t, c.action, c.body, c.caller); got != c.want {
			t.Errorf("%s %s as %q\ngot  %s\nwant %s", c.action, c.body, c.caller, got, c.want)
		}
	}
}

// TestRecordsOfCustomCode looks at whole answers: rows come in the form of the wire,
// as the code returned them.
func TestRecordsOfCustomCode(t *testing.T) {
	t.Parallel()
	a := newClinics(t, "clinics", "")
	a.exec(t, resetClinics)
	a.exec(t, "alter table app.visit disable trigger user; alter table app.note disable trigger user; update app.visit set created_at = '2027-01-01', updated_at = '2027-01-01'; update app.note set created_at = '2027-01-01', updated_at = '2027-01-01'")
	const built = `"createdAt":"2027-01-01T00:00:00.000Z","updatedAt":"2027-01-01T00:00:00.000Z"}`
	for _, c := range []struct{ action, body, want string }{
		{"anyVisit", `{"id":"v1"}`, `{"id":"v1","clinicId":"c1","startsAt":"2027-03-01T09:00:00.000Z","reason":"tooth","state":"Planned","cost":1.5,` +
			`"notes":[{"id":"n1","visitId":"v1","text":"a",` + built + `,{"id":"n2","visitId":"v1","text":"b",` + built + `],` + built},
		{"maskedVisits", `{"where":{"mask":"***","reason":{"equals":"***"}},"first":1}`,
			`{"results":[{"id":"v1","clinicId":"c1","startsAt":"2027-03-01T09:00:00.000Z","reason":"***","state":"Planned","cost":1.5,` + built +
				`],"pageInfo":{"startCursor":"{}","endCursor":"{}","hasNextPage":true,"hasPreviousPage":false,"count":1}}`},
		{"maskedVisits", `{"where":{"mask":"***","reason":{"equals":"tooth"}},"totalCount":true}`,
			`{"results":[],"pageInfo":{"startCursor":"","endCursor":"","hasNextPage":false,"hasPreviousPage":false,"count":0,"totalCount":0}}`},
		{"renumber", `{"where":{"id":"v1"},"values":{"id":"x","reason":"y"}}`,
			`{"id":"v1>x","clinicId":"c1","startsAt":"2027-03-01T09:00:00.000Z","reason":"y","state":"Planned","cost":1.5,` + built},
		{"takesAll", `{"text":"t","number":7,"decimal":1.50,"flag":true,"day":"2027-03-01","at":"2027-03-01T10:00:00+01:00","took":"PT90M","state":"Done",` +
			`"vector":[1,2.5],"texts":["a","b"],"numbers":[],"days":["2027-03-01"],"states":["Done"]}`,
			`["t", 7, 1.5, true, "2027-03-01", "2027-03-01T09:00:00", "01:30:00", "Done", [1, 2.5], ["a", "b"], [], ["2027-03-01"], ["Done"], null, null]`},
	} {
		got := a.tell(t, c.action, c.body, "doc")
		if strings.Contains(c.want, `{}`) {
			info := object(t, got)["pageInfo"].(map[string]any)
			got = strings.ReplaceAll(got, info["endCursor"].(string), "{}")
		}
		if got != c.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", c.action, c.body, got, c.want)
		}
	}
}

// TestListsByCode tests that the rows that code returns are filtered, ordered, paged and
// counted like those of a built-in list.
func TestListsByCode(t *testing.T) {
	t.Parallel()
	a := newClinics(t, "clinics", "")
	a.exec(t, resetClinics)
	a.exec(t, `insert into app.visit (id, clinic_id, starts_at, reason, state)
		select 'g' || n, case when n % 5 = 0 then 'c2' else 'c1' end, timestamptz '2027-03-01' + n % 7 * interval '1 day', chr(97 + n % 3), 'Done'
		from generate_series(10, 40) as n`)
	a.exec(t, "insert into app.note (visit_id, text) select id, reason from app.visit where id like 'g%'")
	for _, where := range []string{
		`{}`, `{"state":{"equals":"Done"}}`, `{"reason":{"startsWith":"A"}}`, `{"startsAt":{"after":"2027-03-03T00:00:00Z"},"reason":{"oneOf":["a","ear"]}}`,
		`{"notes":{"text":{"equals":"a"}}}`, `{"notes":{"text":{"notEquals":"a","contains":"B"}},"state":{"notEquals":"Planned"}}`, `{"reason":{"equals":"none"}}`,
	} {
		for _, order := range []string{``, `,"orderBy":[{"reason":"asc"}]`, `,"orderBy":[{"reason":"desc"},{"startsAt":"asc"}]`} {
			for _, paging := range []string{`"first":4`, `"last":4`, `"limit":5,"offset":3`, `"limit":2,"totalCount":true`, `"first":1000`} {
				a.comparePages(t, `{"where":`+where+order+`,`+paging, strings.HasPrefix(paging, `"last"`))
			}
		}
	}
}

// comparePages reads pages of the built-in list and the one by code, one after the other,
// and compares their rows.
func (a *app) comparePages(t *testing.T, request string, backwards bool) {
	t.Helper()
	cursors := map[string]string{}
	for range 20 {
		pages := map[string]map[string]any{}
		for _, action := range []string{"visits", "visitsByCode"} {
			pages[action] = object(t, a.call(t, action, request+cursors[action]+"}", "doc"))
		}
		built, coded := pages["visits"], pages["visitsByCode"]
		next := false
		for action, page := range pages {
			info := page["pageInfo"].(map[string]any)
			if backwards {
				cursors[action] = fmt.Sprintf(`,"before":%q`, info["startCursor"])
				next = info["hasPreviousPage"].(bool)
			} else {
				cursors[action] = fmt.Sprintf(`,"after":%q`, info["endCursor"])
				next = info["hasNextPage"].(bool)
			}
			delete(info, "startCursor")
			delete(info, "endCursor")
		}
		if got, want := jsonText(t, coded), jsonText(t, built); got != want {
			t.Fatalf("%s\ngot  %s\nwant %s", request, got, want)
		}
		if !next || strings.Contains(request, "limit") {
			return
		}
	}
	t.Fatalf("%s: the pages have no end", request)
}

func jsonText(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCustomCodeLeavesNothingBehind tests that settings that code leaves in its session
// reveal nothing to the next call there.
func TestCustomCodeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	a := newClinics(t, "clinics", "")
	a.exec(t, resetClinics)
	want := map[string]string{}
	calls := map[string][2]string{
		"nobody":   {"countVisits", ""},
		"stranger": {"identities", "stranger"},
		"lists":    {"visits", "stranger"},
		"other":    {"countVisits", "other"},
	}
	for name, c := range calls {
		want[name] = a.tell(t, c[0], `{}`, c[1])
	}
	if got := a.tell(t, "leave", `{}`, "stranger"); got != `"doc"` {
		t.Fatalf("the code set no identity: %s", got)
	}
	var left string
	if err := a.server.QueryRow(t.Context(), "select current_setting('sternpost.identity_id')").Scan(&left); err != nil || left != "doc" {
		t.Fatalf("the session was left with %q (%v), want doc", left, err)
	}
	got := map[string]string{}
	for name, c := range calls {
		got[name] = a.tell(t, c[0], `{}`, c[1])
	}
	if !maps.Equal(got, want) {
		t.Errorf("after code that leaves settings\ngot  %v\nwant %v", got, want)
	}
	a.tell(t, "countVisits", `{}`, "doc")
	if got := a.tell(t, "bookVisit", `{"clinic":{"id":"c1"},"startsAt":"2027-04-01T09:00:00Z"}`, "doc"); !strings.HasPrefix(got, `{"id":"new"`) {
		t.Errorf("a write after a read: got %s", got)
	}
}
