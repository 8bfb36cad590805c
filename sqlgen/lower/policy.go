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
	for _, command := range commands {
		if len(p[command]) > 0 {
			t.Policies = append(t.Policies, &pg.Policy{
				Name:     policyName(m.Table, "_"+string(command)),
				Command:  command,
				Role:     callerRole,
				Branches: p.branches(command),
			})
		}
	}
	t.Grants = l.grants(m, p)
	if l.hasCustomCode() {
		admitCustomCode(t, m)
	}
}

var commands = []pg.Command{pg.ForSelect, pg.ForInsert, pg.ForUpdate, pg.ForDelete}

// isClosed tells whether the rules of an action refuse every call before any row is
// read. Rules that only admit no row do not: its lists are empty then.
func isClosed(a *schema.Action) bool {
	return pg.IsTrue(decideOf(a).fails)
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
func policyName(table, suffix string) string {
	return table[:min(len(table), pg.MaxIdent-len(suffix))] + suffix
}

// grants returns what the caller role needs on the table, and no more: rows are
// read by every action, written columns are named.
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
		grants = append(grants, &pg.Grant{Privilege: "insert", Columns: l.writtenColumns(m, schema.Create), Role: callerRole})
	}
	if len(p[pg.ForUpdate]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "update", Columns: l.writtenColumns(m, schema.Update), Role: callerRole})
	}
	if len(p[pg.ForDelete]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "delete", Role: callerRole})
	}
	return grants
}

// readableOfIdentity returns the columns of Identity that may be read: all but the
// password's hash.
func readableOfIdentity(m *schema.Model) []string {
	var columns []string
	for _, f := range m.Stored() {
		if !f.StepWriteOnly() {
			columns = append(columns, f.Column)
		}
	}
	return columns
}

// writtenColumns returns the columns that the model's actions of a kind write, in
// table order.
func (l *lowering) writtenColumns(m *schema.Model, kind schema.Kind) []string {
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
	for _, f := range m.Stored() {
		if written[f.Column] {
			columns = append(columns, f.Column)
		}
	}
	return columns
}
