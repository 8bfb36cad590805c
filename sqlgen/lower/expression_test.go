package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
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
func conditionOf(t testing.TB, l value.Logic, at value.Site, text string) pg.Expr {
	t.Helper()
	attribute := map[value.Logic]string{
		value.WhereLogic: "@where(%s)", value.RuleLogic: "@permission(expression: %s)", value.ValidateLogic: "@validate(%s)",
	}[l]
	s, a := clinic(t, fmt.Sprintf(attribute, text))
	row := value.RowOf(modelNamed(s, "Visit"))
	x := value.NewExpression(l, at, &row, variableOf)
	switch l {
	case value.RuleLogic:
		return x.Holds(a.Rules[len(a.Rules)-1].Expression)
	case value.ValidateLogic:
		return x.Holds(a.Validations[len(a.Validations)-1].Expression)
	}
	return x.Holds(a.Wheres[0].Expression)
}

func TestExpressionSQL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		logic value.Logic
		site  value.Site
		text  string
		want  string
	}{
		{value.WhereLogic, value.InQuery, `visit.items.price > 5`, `exists (select from related.item where item.visit_id = visit.id and item.price > 5)`},
		{value.WhereLogic, value.InQuery, `visit.items.price > 5 && visit.items.what == "lamp"`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5
			and item.what = 'lamp')`},
		{value.WhereLogic, value.InQuery, `visit.items.price > 5 && !(visit.items.what == "lamp")`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5)
			and not exists (select from related.item where item.visit_id = visit.id and item.what = 'lamp')`},
		{value.WhereLogic, value.InQuery, `visit.items.price != 5`, `exists (select from related.item where item.visit_id = visit.id and item.price <> 5)`},
		{value.WhereLogic, value.InQuery, `!(visit.items.price == 5)`, `not exists (select from related.item where item.visit_id = visit.id and item.price = 5)`},
		{value.WhereLogic, value.InQuery, `!(visit.items.price != 5)`, `not exists (select from related.item where item.visit_id = visit.id and item.price <> 5)`},
		{value.WhereLogic, value.InQuery, `visit.items == null || visit.rush`, `not exists (select from related.item where item.visit_id = visit.id) or visit.rush`},
		{value.WhereLogic, value.InQuery, `visit.items.price > 5 && visit.items.parts.weight > 1 && visit.state == State.Done`, `
			exists (select from related.item where item.visit_id = visit.id and item.price > 5
			and exists (select from related.part where part.item_id = item.id and part.weight > 1))
			and visit.state = 'Done'`},
		{value.WhereLogic, value.InQuery, `(visit.items.price > 5 || visit.rush) && visit.items.what == "lamp"`, `
			exists (select from related.item where item.visit_id = visit.id and (item.price > 5 or visit.rush)
			and item.what = 'lamp')`},
		{value.WhereLogic, value.InQuery, `(visit.items.price > 5 || visit.rush) && (visit.items.what == "lamp" || visit.rush)`, `
			exists (select from related.item where item.visit_id = visit.id and (item.price > 5 or visit.rush)
			and (item.what = 'lamp' or visit.rush)) or visit.rush and visit.rush`},
		{value.WhereLogic, value.InQuery, `(visit.items.price > 5 || visit.children.rush) && visit.items.what == "lamp" && visit.children.rush`, `
			exists (select from related.item where item.visit_id = visit.id
			and exists (select from related.visit as visit_2 where visit_2.parent_id = visit.id
			and (item.price > 5 or visit_2.rush) and visit_2.rush) and item.what = 'lamp')`},
		{value.WhereLogic, value.InQuery, `visit.children.items.price > 5`, `
			exists (select from related.visit as visit_2 where visit_2.parent_id = visit.id and exists (select
			from related.item where item.visit_id = visit_2.id and item.price > 5))`},
		{value.WhereLogic, value.InQuery, `visit.parent.children.state == State.Done`, `
			exists (select from related.visit as visit_2 where visit_2.parent_id = visit.parent_id
			and visit_2.state = 'Done')`},

		{value.RuleLogic, value.InQuery, `ctx.identity in visit.patient.clinic.members.identity`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id()))`},
		{value.RuleLogic, value.InFunction, `ctx.identity in visit.patient.clinic.members.identity`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id()))`},
		{value.RuleLogic, value.InQuery, `visit.patient.clinic.members.identity == ctx.identity && visit.patient.clinic.members.isChief`, `
			exists (select from related.patient join related.member on member.clinic_id = patient.clinic_id
			where patient.id = visit.patient_id and member.identity_id = (select platform.identity_id())
			and member.is_chief)`},
		{value.RuleLogic, value.InQuery, `visit.patient.identity == ctx.identity`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.identity_id = (select platform.identity_id()))`},
		{value.RuleLogic, value.InQuery, `visit.patient == ctx.identity.patient`, `
			visit.patient_id = (select patient.id from related.patient
			where patient.identity_id = (select platform.identity_id()))`},
		{value.RuleLogic, value.InQuery, `visit.patientId == ctx.identity.patient.id`, `
			visit.patient_id = (select patient.id from related.patient
			where patient.identity_id = (select platform.identity_id()))`},
		{value.RuleLogic, value.InQuery, `visit.patient.doctor.clinic == visit.patient.clinic`, `
			exists (select from related.patient join related.member on member.id = patient.doctor_id
			where patient.id = visit.patient_id and member.clinic_id = (select patient.clinic_id
			from related.patient where patient.id = visit.patient_id))`},
		{value.RuleLogic, value.InQuery, `visit.patient.clinic.id == "x1"`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.clinic_id = 'x1')`},
		{value.RuleLogic, value.InQuery, `visit in ctx.identity.patient.visits`, `
			exists (select from related.patient join related.visit as visit_2 on visit_2.patient_id = patient.id
			where patient.identity_id = (select platform.identity_id()) and visit_2.id = visit.id)`},
		{value.RuleLogic, value.InQuery, `ctx.identity.emailVerified && ctx.isAuthenticated`, `
			(select identity.email_verified from related.identity
			where identity.id = (select platform.identity_id())) and (select platform.identity_id()) is not null`},
		{value.RuleLogic, value.InFunction, `ctx.identity.emailVerified && ctx.isAuthenticated`, `
			(select identity.email_verified from related.identity
			where identity.id = (select platform.identity_id())) and platform.identity_id() is not null`},
		{value.RuleLogic, value.InQuery, `ctx.identity != visit.patient.identity`, `
			(select platform.identity_id()) is distinct from (select patient.identity_id from related.patient
			where patient.id = visit.patient_id) and (select platform.identity_id()) is not null`},
		{value.RuleLogic, value.InQuery, `visit.patient.name == text || visit.patient.name == maybe`, `
			exists (select from related.patient where patient.id = visit.patient_id and patient.name = v_text)
			or exists (select from related.patient where patient.id = visit.patient_id
			and patient.name = v_maybe)`},
		{value.RuleLogic, value.InQuery, `ctx.headers.XTeam == ctx.env.REGION || ctx.secrets.KEY != ""`, `
			(select platform.header('x_team')) = (select platform.environment('REGION'))
			or (select platform.secret('KEY')) <> ''`},
		{value.RuleLogic, value.InFunction, `ctx.headers.XTeam == ctx.env.REGION`, `platform.header('x_team') = platform.environment('REGION')`},

		{value.WhereLogic, value.InQuery, `visit.seats == null`, `visit.seats is null`},
		{value.WhereLogic, value.InQuery, `null != visit.patient.doctor.identity`, `
			(select member.identity_id from related.patient join related.member on member.id = patient.doctor_id
			where patient.id = visit.patient_id) is not null`},
		{value.WhereLogic, value.InQuery, `visit.parent == null && visit.bill != null`, `
			visit.parent_id is null and exists (select from related.bill where bill.visit_id = visit.id)`},
		{value.WhereLogic, value.InQuery, `visit.patient.visits != null`, `exists (select from related.visit as visit_2 where visit_2.patient_id = visit.patient_id)`},
		{value.WhereLogic, value.InQuery, `ctx.identity == null`, `(select platform.identity_id()) is null`},
		{value.WhereLogic, value.InQuery, `maybe == null`, `v_maybe is null`},

		{value.WhereLogic, value.InQuery, `visit.seats == 3`, `visit.seats = 3`},
		{value.WhereLogic, value.InQuery, `visit.seats != 3`, `visit.seats is distinct from 3`},
		{value.WhereLogic, value.InQuery, `visit.seats == seats`, `visit.seats is not distinct from v_seats`},
		{value.WhereLogic, value.InQuery, `visit.bill.total >= 10`, `exists (select from related.bill where bill.visit_id = visit.id and bill.total >= 10)`},
		{value.WhereLogic, value.InQuery, `visit.bill.total != 10`, `(select bill.total from related.bill where bill.visit_id = visit.id) is distinct from 10`},
		{value.WhereLogic, value.InQuery, `!visit.rush`, `visit.rush is not true`},
		{value.WhereLogic, value.InQuery, `!(visit.seats < 3)`, `visit.seats < 3 is not true`},
		{value.WhereLogic, value.InQuery, `!(visit.state == State.Done && visit.rush == null)`, `(visit.state = 'Done' and visit.rush is null) is not true`},
		{value.WhereLogic, value.InQuery, `!!(visit.state == State.Done)`, `visit.state = 'Done' is true`},
		{value.ValidateLogic, value.InFunction, `!(maybe == text) || seats > 3`, `not v_maybe = v_text or v_seats > 3`},
		{value.ValidateLogic, value.InFunction, `ctx.identity.patient.visits.seats > 3`, `
			true = any ((select visit_2.seats > 3 from related.patient
			join related.visit as visit_2 on visit_2.patient_id = patient.id
			where patient.identity_id = (select platform.identity_id())))`},

		{value.WhereLogic, value.InQuery, `visit.state in [State.Planned, State.Done]`, `visit.state in ('Planned', 'Done')`},
		{value.WhereLogic, value.InQuery, `visit.patient.name in [text, maybe, ctx.identity.email]`, `
			exists (select from related.patient where patient.id = visit.patient_id
			and patient.name in (v_text, v_maybe, (select identity.email from related.identity
			where identity.id = (select platform.identity_id()))))`},
		{value.WhereLogic, value.InQuery, `visit.state in []`, `false`},
		{value.WhereLogic, value.InQuery, `"a" in visit.tags`, `'a' = any (visit.tags)`},
		{value.WhereLogic, value.InQuery, `visit.tags == ["a", text]`, `visit.tags = array['a', v_text]::text[]`},
		{value.WhereLogic, value.InQuery, `visit.labels != ["a", ctx.identity.email]`, `
			visit.labels is distinct from array['a', (select identity.email from related.identity
			where identity.id = (select platform.identity_id()))]::text[] and (select identity.email
			from related.identity where identity.id = (select platform.identity_id())) is not null`},
		{value.WhereLogic, value.InQuery, `visit.labels == []`, `visit.labels = array[]::text[]`},
		{value.WhereLogic, value.InQuery, `visit.remindAt <= visit.day || visit.remindAt > ctx.now`, `visit.remind_at <= platform.midnight(visit.day) or visit.remind_at > now()::timestamptz(3)`},
		{value.WhereLogic, value.InQuery, `visit.remindAt in days`, `visit.remind_at = any (platform.midnight(v_days))`},
		{value.WhereLogic, value.InQuery, `visit.day in ["2027-03-01", ctx.now]`, `
			platform.midnight(visit.day) in (platform.midnight('2027-03-01'::date), now()::timestamptz(3))`},
		{value.WhereLogic, value.InQuery, `true || visit.rush`, `true`},
		{value.WhereLogic, value.InQuery, `false && visit.rush`, `false`},
	}
	for _, test := range tests {
		got := emit.Expr(conditionOf(t, test.logic, test.site, test.text))
		if got != strings.Join(strings.Fields(test.want), " ") {
			t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}
