package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// secure gives a model's table its policies and grants: one policy per command,
// with a branch for each action that runs the command there.
//
// What an action's rule decides stands where Postgres asks last: for get, list
// and create in the select policy (a create is judged once all its rows are
// written, so its inserts are open), for update and delete in their command's
// own, whose select branch is open, since Postgres requires both.
func (l *lowering) secure(t *pg.Table, m *schema.Model) {
	p := policies{}
	for _, a := range m.Actions {
		if a.Custom {
			continue
		}
		if isClosed(a) {
			continue // an action without branch is refused
		}
		decided := policyRule(m, a.Rules)
		switch a.Kind {
		case schema.Get, schema.List:
			p.judge(pg.ForSelect, a, decided)
		case schema.Create:
			if written := writtenBy(a); written != nil {
				p.add(pg.ForSelect, a.Name, ruleText(a.Rules)+" of "+a.Name+", where the caller is as before it wrote",
					policyRuleBefore(m, a.Rules, written)).cover(a.Kind)
			} else {
				p.judge(pg.ForSelect, a, decided)
			}
			p.open(pg.ForInsert, a, "a create is judged by the select policy, once all its rows are written")
		case schema.Update:
			p.open(pg.ForSelect, a, "an update is judged by the update policy")
			p.judge(pg.ForUpdate, a, decided)
		case schema.Delete:
			p.open(pg.ForSelect, a, "a delete is judged by the delete policy")
			p.judge(pg.ForDelete, a, decided)
		}
	}
	for _, n := range l.nested[m] {
		if !p.knows(pg.ForInsert, n.action) && !isClosed(n.action) {
			p.open(pg.ForInsert, n.action, "the rule of an action vouches for the rows that it inserts beside its own")
		}
	}
	l.admitUnions(p, m)
	if l.hasCustomCode() {
		p.admitCustomCode(m)
	}
	for _, command := range []pg.Command{pg.ForSelect, pg.ForInsert, pg.ForUpdate, pg.ForDelete} {
		if len(p[command]) > 0 {
			policy := &pg.Policy{
				Name:     policyName(m.Table, command),
				Command:  command,
				Role:     callerRole,
				Branches: p.branches(command),
			}
			if command == pg.ForUpdate {
				policy.Check = p.sight()
			}
			t.Policies = append(t.Policies, policy)
		}
	}
	t.Grants = l.grants(m, p)
}

// isClosed tells whether the rules of an action refuse every call before any row is
// read. Rules that only admit no row do not: its lists are empty then.
func isClosed(a *schema.Action) bool {
	return pg.IsTrue(decideOf(a).fails)
}

// customCode is the one name under which all custom code runs: the plans of its
// helpers are shared between actions.
const customCode = "custom code"

func (l *lowering) hasCustomCode() bool {
	return slices.ContainsFunc(l.schema.Actions, func(a *schema.Action) bool { return a.Custom })
}

// admitCustomCode lets custom code do to a model's rows what the rules of the model
// itself allow callers. Of Identity they see their own row.
func (p policies) admitCustomCode(m *schema.Model) {
	if m.IsIdentity {
		p[pg.ForSelect] = append(p[pg.ForSelect], &demand{
			reason:    "of Identity, callers see their own row",
			actions:   []string{customCode},
			condition: pg.Eq(pg.Col(m.Table, "id"), identityID(inQuery)),
		})
		return
	}
	for _, c := range []struct {
		command pg.Command
		kinds   []schema.Kind
	}{
		{pg.ForSelect, []schema.Kind{schema.Get, schema.List}},
		{pg.ForInsert, []schema.Kind{schema.Create}},
		{pg.ForUpdate, []schema.Kind{schema.Update}},
		{pg.ForDelete, []schema.Kind{schema.Delete}},
	} {
		rules := rulesFor(m, c.kinds...)
		condition := policyRule(m, rules)
		if pg.IsFalse(condition) {
			continue
		}
		d := p.add(c.command, customCode, ruleText(rules), condition)
		for _, k := range c.kinds {
			if len(rulesFor(m, k)) > 0 {
				d.cover(k)
			}
		}
	}
}

// sight keeps what custom code updates within the caller's sight.
func (p policies) sight() []*pg.Branch {
	isCustom := func(d *demand) bool { return slices.Contains(d.actions, customCode) }
	if !slices.ContainsFunc(p[pg.ForUpdate], isCustom) {
		return nil
	}
	seen := &pg.Branch{Actions: []string{customCode}, Comment: "no rule lets callers see such rows", Condition: pg.False()}
	for _, d := range p[pg.ForSelect] {
		if isCustom(d) {
			seen.Comment, seen.Condition = d.comment(), d.condition
		}
	}
	return []*pg.Branch{seen}
}

// rulesFor returns the rules of a model itself for some kinds.
func rulesFor(m *schema.Model, kinds ...schema.Kind) []*schema.Rule {
	var rules []*schema.Rule
	for _, r := range m.Rules {
		if slices.ContainsFunc(r.Kinds, func(k schema.Kind) bool { return slices.Contains(kinds, k) }) {
			rules = append(rules, r)
		}
	}
	return rules
}

// policies gathers what each command's policy demands of which actions.
type policies map[pg.Command][]*demand

// demand is what some actions share.
type demand struct {
	kinds     []string // of the actions; none where the reason says it all
	reason    string   // the rule in the schema's words, or why there is none
	actions   []string
	condition pg.Expr
}

// judge lets a command's policy decide by an action's rule.
func (p policies) judge(command pg.Command, a *schema.Action, decided pg.Expr) {
	reason := ruleText(a.Rules)
	if len(ruleInputs(a.Rules)) > 0 {
		reason += " of " + a.Name // inputs of one name may differ between actions
	}
	p.add(command, a.Name, reason, decided).cover(a.Kind)
}

// open lets an action through a command's policy, for the reason given.
func (p policies) open(command pg.Command, a *schema.Action, reason string) {
	p.add(command, a.Name, reason, pg.True())
}

// knows tells whether a command's policy has a branch for an action.
func (p policies) knows(command pg.Command, a *schema.Action) bool {
	return slices.ContainsFunc(p[command], func(d *demand) bool { return slices.Contains(d.actions, a.Name) })
}

// add puts an action beside those of which the same is demanded.
func (p policies) add(command pg.Command, action, reason string, condition pg.Expr) *demand {
	for _, d := range p[command] {
		if d.reason == reason {
			d.actions = append(d.actions, action)
			return d
		}
	}
	d := &demand{reason: reason, actions: []string{action}, condition: condition}
	p[command] = append(p[command], d)
	return d
}

// cover notes a kind of action of which a rule is demanded.
func (d *demand) cover(k schema.Kind) {
	if !slices.Contains(d.kinds, string(k)) {
		d.kinds = append(d.kinds, string(k))
	}
}

func (p policies) branches(command pg.Command) []*pg.Branch {
	var branches []*pg.Branch
	for _, d := range p[command] {
		branches = append(branches, &pg.Branch{Actions: d.actions, Comment: d.comment(), Condition: d.condition})
	}
	return branches
}

// comment is what the policy says above a demand.
func (d *demand) comment() string {
	if len(d.kinds) == 0 {
		return d.reason
	}
	return strings.Join(d.kinds, ", ") + ": " + d.reason
}

// policyName names a policy; policies of one table need differ from each other
// only, so a long table name is cut.
func policyName(table string, command pg.Command) string {
	suffix := "_" + string(command)
	return table[:min(len(table), pg.MaxIdent-len(suffix))] + suffix
}

// grants returns what the caller role needs on the table, and no more: rows are
// read by every action, written columns are named. Custom code may read and write
// what callers may, but for what the database keeps itself.
func (l *lowering) grants(m *schema.Model, p policies) []*pg.Grant {
	var grants []*pg.Grant
	if len(p[pg.ForSelect]) > 0 {
		g := &pg.Grant{Privilege: "select", Role: callerRole}
		if m.IsIdentity {
			g.Columns = readableOfIdentity(m)
		}
		grants = append(grants, g)
	}
	if len(p[pg.ForInsert]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "insert", Columns: l.writtenColumns(m, p, pg.ForInsert, schema.Create), Role: callerRole})
	}
	if len(p[pg.ForUpdate]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "update", Columns: l.writtenColumns(m, p, pg.ForUpdate, schema.Update), Role: callerRole})
	}
	if len(p[pg.ForDelete]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "delete", Role: callerRole})
	}
	return grants
}

// readableOfIdentity returns the columns of Identity that custom code may read: all
// but the password's hash.
func readableOfIdentity(m *schema.Model) []string {
	var columns []string
	for _, f := range storedFields(m) {
		if !f.StepWriteOnly() {
			columns = append(columns, f.Column)
		}
	}
	return columns
}

// writtenColumns returns the columns that a command writes for the model's actions
// of a kind and for custom code, in table order.
func (l *lowering) writtenColumns(m *schema.Model, p policies, command pg.Command, kind schema.Kind) []string {
	byCustomCode := slices.ContainsFunc(p[command], func(d *demand) bool { return slices.Contains(d.actions, customCode) })
	written := map[string]bool{"id": kind == schema.Create}
	note := func(at *level) {
		for _, f := range at.columns() {
			written[f.Column] = true
		}
	}
	for _, a := range m.Actions {
		if a.Kind == kind && !a.Custom {
			note(levels(a))
		}
	}
	if kind == schema.Create {
		for _, n := range l.nested[m] {
			note(n.level)
		}
	}
	var columns []string
	for _, f := range storedFields(m) {
		if written[f.Column] || byCustomCode && !f.BuiltIn {
			columns = append(columns, f.Column)
		}
	}
	return columns
}
