package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

const clinicText = `
enum State {
  Planned
  Done
}
model Clinic {
  fields {
    name Text
    members Member[]
    patients Patient[]
  }
}
model Member {
  fields {
    clinic Clinic
    identity Identity?
    isChief Boolean
  }
}
model Patient {
  fields {
    name Text
    clinic Clinic
    doctor Member?
    identity Identity? @unique
    visits Visit[]
  }
}
model Visit {
  fields {
    patient Patient
    state State
    day Date
    remindAt Timestamp?
    rush Boolean?
    seats Number?
    tags Text[]
    labels Text[]?
    parent Visit? @relation(children)
    children Visit[]
    items Item[]
    bill Bill?
  }
  actions {
    update changeVisit(id, text: Text, maybe: Text?, days: Date[]) with (seats?) {
      @permission(expression: true)
      @validate(text != null || maybe != null || days != null)
      %s
    }
  }
}
model Item {
  fields {
    visit Visit
    what Text
    price Decimal
    parts Part[]
  }
}
model Part {
  fields {
    item Item
    weight Number?
  }
}
model Bill {
  fields {
    visit Visit @unique
    total Decimal
  }
}
`

// clinic returns a schema in which the attributes are on an update of Visit.
func clinic(t testing.TB, attributes string) (*model.Schema, *model.Action) {
	t.Helper()
	s := mustCheck(t, fmt.Sprintf(clinicText, attributes))
	return s, s.Actions[0]
}

// variableOf represents an input as a variable of a function does.
func variableOf(in expr.Input) pg.Expr { return &pg.Variable{Name: "v_" + in.InputName()} }

// conditionOf lowers an expression over a visit.
func conditionOf(t testing.TB, l logic, at site, text string) pg.Expr {
	t.Helper()
	attribute := map[logic]string{
		whereLogic: "@where(%s)", ruleLogic: "@permission(expression: %s)", validateLogic: "@validate(%s)",
	}[l]
	s, a := clinic(t, fmt.Sprintf(attribute, text))
	row := rowOf(modelNamed(s, "Visit"))
	x := newExpression(l, at, &row, variableOf)
	switch l {
	case ruleLogic:
		return x.holds(a.Rules[len(a.Rules)-1].Expression)
	case validateLogic:
		return x.holds(a.Validations[len(a.Validations)-1].Expression)
	}
	return x.holds(a.Wheres[0].Expression)
}

func TestExpressionSQL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		logic logic
		site  site
		text  string
		want  string
	}{
		{whereLogic, inQuery, `visit.items.price > 5`, `exists (select from related.item where item.visit_id = visit.id and item.price > 5)`},
		{whereLogic, inQuery, `visit.items.price > 5 && visit.items.what == "lamp"`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5
			and item.what = 'lamp')`},
		{whereLogic, inQuery, `visit.items.price > 5 && !(visit.items.what == "lamp")`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5)
			and not exists (select from related.item where item.visit_id = visit.id and item.what = 'lamp')`},
		{whereLogic, inQuery, `visit.items.price != 5`, `exists (select from related.item where item.visit_id = visit.id and item.price <> 5)`},
		{whereLogic, inQuery, `!(visit.items.price == 5)`, `not exists (select from related.item where item.visit_id = visit.id and item.price = 5)`},
		{whereLogic, inQuery, `!(visit.items.price != 5)`, `not exists (select from related.item where item.visit_id = visit.id and item.price <> 5)`},
		{whereLogic, inQuery, `visit.items == null || visit.rush`, `not exists (select from related.item where item.visit_id = visit.id) or visit.rush`},
		{whereLogic, inQuery, `visit.items.price > 5 && visit.items.parts.weight > 1 && visit.state == State.Done`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5
			and exists (select from related.part where part.item_id = item.id and part.weight > 1))
			and visit.state = 'Done'`},
		{whereLogic, inQuery, `(visit.items.price > 5 || visit.rush) && visit.items.what == "lamp"`, `
			exists (select from related.item where item.visit_id = visit.id and (item.price > 5 or visit.rush)
			and item.what = 'lamp')`},
		{whereLogic, inQuery, `(visit.items.price > 5 || visit.rush) && (visit.items.what == "lamp" || visit.rush)`, `
			exists (select from related.item where item.visit_id = visit.id and (item.price > 5 or visit.rush)
			and (item.what = 'lamp' or visit.rush)) or visit.rush and visit.rush`},
		{whereLogic, inQuery, `(visit.items.price > 5 || visit.children.rush) && visit.items.what == "lamp" && visit.children.rush`, `
			exists (select from related.item where item.visit_id = visit.id
			and exists (select from related.visit as visit_2 where visit_2.parent_id = visit.id
			and (item.price > 5 or visit_2.rush) and visit_2.rush) and item.what = 'lamp')`},
		{whereLogic, inQuery, `visit.children.items.price > 5`, `
			exists (select from related.visit as visit_2 where visit_2.parent_id = visit.id and exists (select
			from related.item where item.visit_id = visit_2.id and item.price > 5))`},
		{whereLogic, inQuery, `visit.parent.children.state == State.Done`, `
			exists (select from related.visit as visit_2 where visit_2.parent_id = visit.parent_id
			and visit_2.state = 'Done')`},

		{ruleLogic, inQuery, `ctx.identity in visit.patient.clinic.members.identity`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id()))`},
		{ruleLogic, inFunction, `ctx.identity in visit.patient.clinic.members.identity`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id()))`},
		{ruleLogic, inQuery, `visit.patient.clinic.members.identity == ctx.identity && visit.patient.clinic.members.isChief`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id())
			and member.is_chief)`},
		{ruleLogic, inQuery, `visit.patient.identity == ctx.identity`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.identity_id = (select platform.identity_id()))`},
		{ruleLogic, inQuery, `visit.patient == ctx.identity.patient`, `
			visit.patient_id = (select patient.id from related.patient
			where patient.identity_id = (select platform.identity_id()))`},
		{ruleLogic, inQuery, `visit.patientId == ctx.identity.patient.id`, `
			visit.patient_id = (select patient.id from related.patient
			where patient.identity_id = (select platform.identity_id()))`},
		{ruleLogic, inQuery, `visit.patient.doctor.clinic == visit.patient.clinic`, `
			exists (select from related.patient join related.member on member.id = patient.doctor_id
			where patient.id = visit.patient_id and member.clinic_id = (select patient.clinic_id
			from related.patient where patient.id = visit.patient_id))`},
		{ruleLogic, inQuery, `visit.patient.clinic.id == "x1"`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.clinic_id = 'x1')`},
		{ruleLogic, inQuery, `visit in ctx.identity.patient.visits`, `
			exists (select from related.patient join related.visit as visit_2 on visit_2.patient_id = patient.id
			where patient.identity_id = (select platform.identity_id()) and visit_2.id = visit.id)`},
		{ruleLogic, inQuery, `ctx.identity.emailVerified && ctx.isAuthenticated`, `
			(select identity.email_verified from related.identity
			where identity.id = (select platform.identity_id())) and (select platform.identity_id()) is not null`},
		{ruleLogic, inFunction, `ctx.identity.emailVerified && ctx.isAuthenticated`, `
			(select identity.email_verified from related.identity
			where identity.id = (select platform.identity_id())) and platform.identity_id() is not null`},
		{ruleLogic, inQuery, `ctx.identity != visit.patient.identity`, `
			(select platform.identity_id()) is distinct from (select patient.identity_id from related.patient
			where patient.id = visit.patient_id) and (select platform.identity_id()) is not null`},
		{ruleLogic, inQuery, `visit.patient.name == text || visit.patient.name == maybe`, `
			exists (select from related.patient where patient.id = visit.patient_id and patient.name = v_text)
			or exists (select from related.patient where patient.id = visit.patient_id
			and patient.name = v_maybe)`},
		{ruleLogic, inQuery, `ctx.headers.XTeam == ctx.env.REGION || ctx.secrets.KEY != ""`, `
			(select platform.header('x_team')) = (select platform.environment('REGION'))
			or (select platform.secret('KEY')) <> ''`},
		{ruleLogic, inFunction, `ctx.headers.XTeam == ctx.env.REGION`, `platform.header('x_team') = platform.environment('REGION')`},

		{whereLogic, inQuery, `visit.seats == null`, `visit.seats is null`},
		{whereLogic, inQuery, `null != visit.patient.doctor.identity`, `
			(select member.identity_id from related.patient join related.member on member.id = patient.doctor_id
			where patient.id = visit.patient_id) is not null`},
		{whereLogic, inQuery, `visit.parent == null && visit.bill != null`, `
			visit.parent_id is null and exists (select from related.bill where bill.visit_id = visit.id)`},
		{whereLogic, inQuery, `visit.patient.visits != null`, `exists (select from related.visit as visit_2 where visit_2.patient_id = visit.patient_id)`},
		{whereLogic, inQuery, `ctx.identity == null`, `(select platform.identity_id()) is null`},
		{whereLogic, inQuery, `maybe == null`, `v_maybe is null`},

		{whereLogic, inQuery, `visit.seats == 3`, `visit.seats = 3`},
		{whereLogic, inQuery, `visit.seats != 3`, `visit.seats is distinct from 3`},
		{whereLogic, inQuery, `visit.seats == seats`, `visit.seats is not distinct from v_seats`},
		{whereLogic, inQuery, `visit.bill.total >= 10`, `exists (select from related.bill where bill.visit_id = visit.id and bill.total >= 10)`},
		{whereLogic, inQuery, `visit.bill.total != 10`, `(select bill.total from related.bill where bill.visit_id = visit.id) is distinct from 10`},
		{whereLogic, inQuery, `!visit.rush`, `visit.rush is not true`},
		{whereLogic, inQuery, `!(visit.seats < 3)`, `visit.seats < 3 is not true`},
		{whereLogic, inQuery, `!(visit.state == State.Done && visit.rush == null)`, `(visit.state = 'Done' and visit.rush is null) is not true`},
		{whereLogic, inQuery, `!!(visit.state == State.Done)`, `visit.state = 'Done' is true`},
		{validateLogic, inFunction, `!(maybe == text) || seats > 3`, `not v_maybe = v_text or v_seats > 3`},
		{validateLogic, inFunction, `ctx.identity.patient.visits.seats > 3`, `
			true = any ((select visit_2.seats > 3 from related.patient
			join related.visit as visit_2 on visit_2.patient_id = patient.id
			where patient.identity_id = (select platform.identity_id())))`},

		{whereLogic, inQuery, `visit.state in [State.Planned, State.Done]`, `visit.state in ('Planned', 'Done')`},
		{whereLogic, inQuery, `visit.patient.name in [text, maybe, ctx.identity.email]`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.name in (v_text, v_maybe, (select identity.email from related.identity
			where identity.id = (select platform.identity_id()))))`},
		{whereLogic, inQuery, `visit.state in []`, `false`},
		{whereLogic, inQuery, `"a" in visit.tags`, `'a' = any (visit.tags)`},
		{whereLogic, inQuery, `visit.tags == ["a", text]`, `visit.tags = array['a', v_text]::text[]`},
		{whereLogic, inQuery, `visit.labels != ["a", ctx.identity.email]`, `
			visit.labels is distinct from array['a', (select identity.email from related.identity
			where identity.id = (select platform.identity_id()))]::text[] and (select identity.email
			from related.identity where identity.id = (select platform.identity_id())) is not null`},
		{whereLogic, inQuery, `visit.labels == []`, `visit.labels = array[]::text[]`},
		{whereLogic, inQuery, `visit.remindAt <= visit.day || visit.remindAt > ctx.now`, `visit.remind_at <= platform.midnight(visit.day) or visit.remind_at > now()::timestamptz(3)`},
		{whereLogic, inQuery, `visit.remindAt in days`, `visit.remind_at = any (platform.midnight(v_days))`},
		{whereLogic, inQuery, `visit.day in ["2027-03-01", ctx.now]`, `
			platform.midnight(visit.day) in (platform.midnight('2027-03-01'::date), now()::timestamptz(3))`},
		{whereLogic, inQuery, `true || visit.rush`, `true`},
		{whereLogic, inQuery, `false && visit.rush`, `false`},
	}
	for _, test := range tests {
		got := emit.Expr(conditionOf(t, test.logic, test.site, test.text))
		if got != strings.Join(strings.Fields(test.want), " ") {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}
