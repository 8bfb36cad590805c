package sqlgen_test

import (
	"fmt"
	"slices"
	"testing"
)

const wards = `
model Clinic { fields { name Text  members Member[]  patients Patient[] } }
model Member { fields { clinic Clinic  identity Identity @unique  isChief Boolean } }
model Patient {
  fields { clinic Clinic  name Text  weight Decimal  isOpen Boolean  keeper Identity?  visits Visit[] }
  actions {
    list listPatients(name?, weight?, clinic.id?) { @orderBy(name: asc) }
    list openPatients(name?) {
      @permission(expression: patient.isOpen || patient.keeper == ctx.identity)
    }
    list chiefPatients(name?) {
      @permission(expression: ctx.identity.member.isChief || patient.isOpen)
      @permission(roles: [Auditor], expression: patient.weight > 5)
    }
    list namedPatients(weight?, word: Text?) {
      @permission(expression: patient.name == word)
      @permission(expression: ctx.identity.member.isChief)
    }
    list anyPatients(weight?) { @permission(expression: ctx.isAuthenticated) }
  }
  @permission(expression: ctx.identity in patient.clinic.members.identity, actions: [list])
  @permission(roles: [Auditor], actions: [list])
}
model Visit { fields { patient Patient } }
role Auditor { domains { "audit.example" } }
`

// TestListsUnderRules lists as several callers: each sees exactly the rows that some
// rule admits, on pages, in counts and by cursors, or is refused.
func TestListsUnderRules(t *testing.T) {
	t.Parallel()
	a := newApp(t, "wards", wards)
	a.exec(t, `
		insert into app.identity (id, email, email_verified) values
			('m1', 'm1@x', true), ('m2', null, false), ('chief', 'c@x', true), ('auditor', 'a@Audit.example', true), ('liar', 'b@audit.example', false);
		insert into app.clinic (id, name) values ('c1', 'one'), ('c2', 'two');
		insert into app.member (clinic_id, identity_id, is_chief) values ('c1', 'm1', false), ('c2', 'm2', false), ('c1', 'chief', true);
		insert into app.patient (id, clinic_id, name, weight, is_open, keeper_id)
		select 'p' || to_char(n, 'FM00'), 'c' || 1 + n % 2, (array['a', 'b', 'c'])[1 + n % 3], n % 10 + 0.5, n % 5 = 0,
			(array['m1', null, 'me'])[1 + n % 4 % 3]
		from generate_series(0, 39) as n`)

	const isMember = `exists (select from app.member where member.clinic_id = patient.clinic_id and member.identity_id = $1)`
	for _, c := range []struct {
		action, where, filter string
		admits                map[string]string // by caller: the rows as SQL gives them; "" means refused
	}{
		{"listPatients", "", "true", map[string]string{"": "", "me": isMember, "m1": isMember, "m2": isMember, "auditor": "true", "liar": isMember}},
		{"listPatients", `"name":{"equals":"a"}`, "name = 'a'", map[string]string{"": "", "me": isMember, "m1": isMember, "auditor": "true"}},
		{"listPatients", `"weight":{"equals":3.5}`, "weight = 3.5", map[string]string{"": "", "m1": isMember, "auditor": "true"}},
		{"listPatients", `"weight":{"lessThan":5},"clinic":{"id":{"equals":"c1"}}`, "weight < 5 and clinic_id = 'c1'", map[string]string{"": "", "m1": isMember, "m2": isMember, "auditor": "true"}},
		{"openPatients", "", "true", map[string]string{"": "is_open", "me": "is_open or keeper_id = $1", "m1": "is_open or keeper_id = $1"}},
		{"openPatients", `"name":{"equals":"b"}`, "name = 'b'", map[string]string{"": "is_open", "me": "is_open or keeper_id = $1"}},
		{"chiefPatients", "", "true", map[string]string{"": "is_open", "m1": "is_open", "chief": "true", "auditor": "is_open or weight > 5", "liar": "is_open"}},
		{"chiefPatients", `"name":{"notEquals":"b"}`, "name <> 'b'", map[string]string{"": "is_open", "chief": "true", "auditor": "is_open or weight > 5"}},
		{"namedPatients", "", "true", map[string]string{"": "", "m1": "", "chief": "true"}},
		{"namedPatients", `"word":"a"`, "true", map[string]string{"": "name = 'a'", "m1": "name = 'a'", "chief": "true"}},
		{"namedPatients", `"word":"a","weight":{"equals":0.5}`, "weight = 0.5", map[string]string{"": "name = 'a'", "chief": "true"}},
		{"anyPatients", "", "true", map[string]string{"": "", "me": "true"}},
		{"anyPatients", `"weight":{"equals":0.5}`, "weight = 0.5", map[string]string{"": "", "me": "true"}},
	} {
		for caller, rule := range c.admits {
			t.Run(fmt.Sprintf("%s {%s} by %q", c.action, c.where, caller), func(t *testing.T) {
				if rule == "" {
					if got := a.listAs(t, c.action, `{"where":{`+c.where+`}}`, caller); got != "SP403" {
						t.Errorf("got %s, want SP403", got)
					}
					return
				}
				order := "id"
				if c.action == "listPatients" {
					order = "name, id"
				}
				var want []string
				err := a.owner.QueryRow(t.Context(), fmt.Sprintf(
					"select coalesce(array_agg(id order by %s), '{}') from app.patient where ($1::text is null or true) and (%s) and (%s)",
					order, c.filter, rule), caller).Scan(&want)
				if err != nil {
					t.Fatal(err)
				}
				for _, size := range []int{1, 3, 100} {
					walkAs(t, a, c.action, c.where, caller, size, want, false)
					walkAs(t, a, c.action, c.where, caller, size, want, true)
				}
				counted := readPage(t, a.listAs(t, c.action, `{"totalCount":true,"limit":2,"offset":1,"where":{`+c.where+`}}`, caller))
				if counted.totalCount != len(want) || !slices.Equal(counted.ids, want[min(1, len(want)):min(3, len(want))]) {
					t.Errorf("counted %d rows and showed %q of %q", counted.totalCount, counted.ids, want)
				}
			})
		}
	}
}

// walkAs goes through a list page by page. Every row that the caller may see comes once, in order, and
// each page is right about its neighbours.
func walkAs(t *testing.T, a *app, action, where, caller string, size int, want []string, backwards bool) {
	t.Helper()
	paging := fmt.Sprintf(`"first":%d`, size)
	if backwards {
		paging = fmt.Sprintf(`"last":%d`, size)
	}
	var met []string
	cursor := ""
	for pages := 0; pages <= len(want)+1; pages++ {
		p := readPage(t, a.listAs(t, action, fmt.Sprintf(`{"where":{%s},%s%s}`, where, paging, cursor), caller))
		onward, behind := p.hasNext, p.hasPrevious
		if backwards {
			onward, behind = behind, onward
			met = append(slices.Clone(p.ids), met...)
			cursor = fmt.Sprintf(`,"before":%q`, p.startCursor)
		} else {
			met = append(met, p.ids...)
			cursor = fmt.Sprintf(`,"after":%q`, p.endCursor)
		}
		if behind != (pages > 0) {
			t.Errorf("page %d by %d says of rows behind it %t", pages, size, behind)
		}
		if !onward {
			break
		}
	}
	if !slices.Equal(met, want) {
		t.Errorf("pages of %d, backwards %t, meet\n%q\nwant\n%q", size, backwards, met, want)
	}
}
