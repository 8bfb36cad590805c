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
		decided := rule(a.Rules, inQuery)
		if pg.IsFalse(decided) {
			continue // an action without branch is refused
		}
		switch a.Kind {
		case schema.Get, schema.List:
			p.judge(pg.ForSelect, a, decided)
		case schema.Create:
			p.judge(pg.ForSelect, a, decided)
			p.open(pg.ForInsert, a, "a create is judged by the select policy, once all its rows are written")
		case schema.Update:
			p.open(pg.ForSelect, a, "an update is judged by the update policy")
			p.judge(pg.ForUpdate, a, decided)
		case schema.Delete:
			p.open(pg.ForSelect, a, "a delete is judged by the delete policy")
			p.judge(pg.ForDelete, a, decided)
		}
	}
	for _, command := range []pg.Command{pg.ForSelect, pg.ForInsert, pg.ForUpdate, pg.ForDelete} {
		if len(p[command]) > 0 {
			t.Policies = append(t.Policies, &pg.Policy{
				Name:     policyName(m.Table, command),
				Command:  command,
				Role:     callerRole,
				Branches: p.branches(command),
			})
		}
	}
	t.Grants = grants(m, p)
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
	d := p.add(command, a, ruleText(a.Rules), decided)
	if kind := string(a.Kind); !slices.Contains(d.kinds, kind) {
		d.kinds = append(d.kinds, kind)
	}
}

// open lets an action through a command's policy, for the reason given.
func (p policies) open(command pg.Command, a *schema.Action, reason string) {
	p.add(command, a, reason, pg.True())
}

// add puts an action beside those of which the same is demanded.
func (p policies) add(command pg.Command, a *schema.Action, reason string, condition pg.Expr) *demand {
	for _, d := range p[command] {
		if d.reason == reason {
			d.actions = append(d.actions, a.Name)
			return d
		}
	}
	d := &demand{reason: reason, actions: []string{a.Name}, condition: condition}
	p[command] = append(p[command], d)
	return d
}

func (p policies) branches(command pg.Command) []*pg.Branch {
	var branches []*pg.Branch
	for _, d := range p[command] {
		comment := d.reason
		if len(d.kinds) > 0 {
			comment = strings.Join(d.kinds, ", ") + ": " + d.reason
		}
		branches = append(branches, &pg.Branch{Actions: d.actions, Comment: comment, Condition: d.condition})
	}
	return branches
}

// policyName names a policy; policies of one table need differ from each other
// only, so a long table name is cut.
func policyName(table string, command pg.Command) string {
	suffix := "_" + string(command)
	return table[:min(len(table), pg.MaxIdent-len(suffix))] + suffix
}

// grants returns what the caller role needs on the table, and no more: rows are
// read by every action, written columns are named.
func grants(m *schema.Model, p policies) []*pg.Grant {
	var grants []*pg.Grant
	if len(p[pg.ForSelect]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "select", Role: callerRole})
	}
	if len(p[pg.ForInsert]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "insert", Columns: writtenColumns(m, schema.Create), Role: callerRole})
	}
	if len(p[pg.ForUpdate]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "update", Columns: writtenColumns(m, schema.Update), Role: callerRole})
	}
	if len(p[pg.ForDelete]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "delete", Role: callerRole})
	}
	return grants
}

// writtenColumns returns the columns that the model's actions of a kind write,
// in table order.
func writtenColumns(m *schema.Model, kind schema.Kind) []string {
	written := map[string]bool{"id": kind == schema.Create}
	for _, a := range m.Actions {
		if a.Kind != kind {
			continue
		}
		for _, w := range writes(a) {
			written[w.field.Column] = true
		}
	}
	var columns []string
	for _, f := range storedFields(m) {
		if written[f.Column] {
			columns = append(columns, f.Column)
		}
	}
	return columns
}
