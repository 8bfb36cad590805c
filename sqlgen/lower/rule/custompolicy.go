package rule

import (
	"slices"

	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// CustomCode is the name under which all actions with custom code enter.
const CustomCode = "custom code"

func (l *Lowering) hasCustomCode() bool {
	return l.hasJobs() || slices.ContainsFunc(l.Schema.Actions, func(a *model.Action) bool { return a.Custom })
}

// admitCustomCode gives a model's table the policies and grants of custom code. Custom code may do to the rows what the
// rules of the model itself allow callers. It may read and write all columns but those that the database keeps itself.
// Of Identity it sees the caller's own row.
//
// Custom code runs as a role of its own, under policies that do not ask for the action. Postgres keeps the plans of its
// helpers from one call to the next, and makes a plan for the action that is entered at the time. Code that enters
// another action would leave plans behind that admit what that action may.
func (l *Lowering) admitCustomCode(t *pg.Table, m *model.Model) {
	admitted := l.admittedToCode(m)
	for _, command := range commands {
		if admitted[command] == nil {
			continue
		}
		policy := &pg.Policy{
			Name:     policyName(m.Table, command, role.Code),
			Command:  command,
			Role:     role.Code,
			Branches: []*pg.Branch{admitted[command]},
		}
		if command == pg.ForUpdate {
			policy.Check = []*pg.Branch{sight(admitted[pg.ForSelect])}
		}
		t.Policies = append(t.Policies, policy)
		t.Grants = append(t.Grants, &pg.Grant{Privilege: string(command), Columns: columnsOfCode(m, command), Role: role.Code})
	}
}

// admittedToCode is the condition for custom code, by command; it may do nothing else.
func (l *Lowering) admittedToCode(m *model.Model) map[pg.Command]*pg.Branch {
	admitted := map[pg.Command]*pg.Branch{}
	for _, c := range []struct {
		command pg.Command
		kinds   []model.Kind
	}{
		{pg.ForSelect, []model.Kind{model.Get, model.List}},
		{pg.ForInsert, []model.Kind{model.Create}},
		{pg.ForUpdate, []model.Kind{model.Update}},
		{pg.ForDelete, []model.Kind{model.Delete}},
	} {
		b := admittedBy(m, c.kinds...)
		if l.hasJobs() {
			b = admittedJobs(m, b, c.kinds...)
		}
		if !pg.IsFalse(b.Condition) {
			admitted[c.command] = b
		}
	}
	return admitted
}

// admittedBy is the condition that the rules of a model itself set for some kinds.
func admittedBy(m *model.Model, kinds ...model.Kind) *pg.Branch {
	rules := rulesFor(m, kinds...)
	ruled := slices.DeleteFunc(slices.Clone(kinds), func(k model.Kind) bool { return len(rulesFor(m, k)) == 0 })
	return &pg.Branch{Comment: demandOf(ruled, ruleText(rules)), Condition: PolicyRule(m, rules)}
}

// sight keeps the rows that custom code updates within the caller's sight.
func sight(seen *pg.Branch) *pg.Branch {
	if seen == nil {
		return &pg.Branch{Comment: "no rule lets callers see such rows", Condition: pg.False()}
	}
	return seen
}

// columnsOfCode returns the columns that a command of custom code may touch; none means all of them.
func columnsOfCode(m *model.Model, command pg.Command) []string {
	switch {
	case command == pg.ForDelete, command == pg.ForSelect && !m.IsIdentity:
		return nil
	case command == pg.ForSelect:
		return readableOfIdentity(m)
	}
	var columns []string
	for _, f := range m.Stored() {
		isFixed := command == pg.ForUpdate && f.NumberedPer() != nil
		if !f.IsGiven() && !isFixed && (!f.BuiltIn || f.Column == "id") {
			columns = append(columns, f.Column)
		}
	}
	return columns
}

// rulesFor returns the rules of a model itself for some kinds.
func rulesFor(m *model.Model, kinds ...model.Kind) []*model.Rule {
	var rules []*model.Rule
	for _, r := range m.Rules {
		if slices.ContainsFunc(r.Kinds, func(k model.Kind) bool { return slices.Contains(kinds, k) }) {
			rules = append(rules, r)
		}
	}
	return rules
}
