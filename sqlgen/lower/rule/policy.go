package rule

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// nested is a level that an action inserts beside its own row.
type nested struct {
	action *model.Action
	level  *value.Level
}

// nestedInserts returns the levels that actions insert beside their own rows, by
// model.
func nestedInserts(s *model.Schema) map[*model.Model][]nested {
	inserts := map[*model.Model][]nested{}
	for _, a := range s.Actions {
		if a.Kind != model.Create || a.Custom {
			continue
		}
		for _, l := range value.Levels(a).Inserted()[1:] {
			inserts[l.Model] = append(inserts[l.Model], nested{a, l})
		}
	}
	return inserts
}

// Demands returns what the policies of a model's table have to demand of the actions that reach it.
//
// The rule of an action decides in one place. For get and list that is the select policy, for the others the policy of
// their command; their select branch is open, since Postgres requires both. Of a create, the select policy decides again
// if the rule needs what the call writes beside the row.
func (l *Lowering) Demands(m *model.Model) Policies {
	p := Policies{}
	for _, a := range m.Actions {
		if a.Custom {
			continue
		}
		if IsClosed(a) {
			continue // an action without branch is refused
		}
		decided := PolicyRule(m, a.Rules)
		if a.Kind != model.List {
			decided = plannedOnce(m.Table, decided)
		}
		switch a.Kind {
		case model.Get, model.List, model.ReadHistory:
			p.judge(pg.ForSelect, a, decided)
		case model.Create:
			inserted := plannedOnce(m.Table, insertRule(a))
			switch written := value.WrittenBy(a); {
			case JudgesInsert(a):
				p.judge(pg.ForInsert, a, inserted)
				p.open(pg.ForSelect, a, "a create is judged by the insert policy, before anything reads its row")
				continue
			case written != nil:
				p.add(pg.ForSelect, demander{a.Name, a.Kind}, ruleText(a.Rules)+" of "+a.Name+", where the caller is as before it wrote",
					plannedOnce(m.Table, policyRuleBefore(m, a.Rules, written)))
			default:
				p.judge(pg.ForSelect, a, decided)
			}
			if pg.IsTrue(inserted) {
				p.open(pg.ForInsert, a, "a create is judged by the select policy, once all its rows are written")
			} else {
				p.add(pg.ForInsert, demander{a.Name, a.Kind}, ruleText(a.Rules)+" of "+a.Name+", as far as it needs nothing that the call writes beside the row", inserted)
			}
		case model.Update:
			p.open(pg.ForSelect, a, judgedAlone)
			p.judge(pg.ForUpdate, a, decided)
		case model.Delete:
			p.open(pg.ForSelect, a, judgedAlone)
			p.judge(pg.ForDelete, a, decided)
		}
	}
	for _, n := range l.Nested[m] {
		if !p.knows(pg.ForInsert, n.action) && !IsClosed(n.action) {
			p.open(pg.ForInsert, n.action, "the rule of an action vouches for the rows that it inserts beside its own")
		}
	}
	l.admitUnions(p, m)
	return p
}

// judgedAlone is why the select policy is open for an action.
const judgedAlone = "an update or a delete is judged by the policy of its command"

// Secure gives a model's table its policies and grants: one policy for each role and
// command, with a branch for each action that runs the command there as that role.
func (l *Lowering) Secure(t *pg.Table, m *model.Model, demanded Policies) {
	for _, owner := range role.OfActions() {
		p := l.ofOwner(demanded, owner)
		for _, command := range commands {
			if len(p[command]) > 0 {
				t.Policies = append(t.Policies, &pg.Policy{
					Name:     policyName(m.Table, command, owner),
					Command:  command,
					Role:     owner,
					Branches: p.branches(command),
				})
			}
		}
		t.Grants = append(t.Grants, l.grants(m, p, owner)...)
	}
	if l.hasCustomCode() {
		l.admitCustomCode(t, m)
	}
}

var commands = []pg.Command{pg.ForSelect, pg.ForInsert, pg.ForUpdate, pg.ForDelete}

// IsClosed tells whether the rules of an action refuse every call before any row is read. Rules that admit no row do
// not: its lists are empty then.
func IsClosed(a *model.Action) bool {
	return pg.IsTrue(DecideOf(a).Fails)
}

// Policies maps each command to the demands of its policy, with their actions.
type Policies map[pg.Command][]*demand

// demand is a condition that some actions share.
type demand struct {
	reason    string // the rule in the schema's words, or why there is none
	actions   []demander
	condition pg.Expr
}

// demander is an action with a demand.
type demander struct {
	name string
	kind model.Kind // empty where the reason is enough
}

// judge makes a command's policy decide by an action's rule.
func (p Policies) judge(command pg.Command, a *model.Action, decided pg.Expr) {
	reason := ruleText(a.Rules)
	if len(value.RuleInputs(a.Rules)) > 0 {
		reason += " of " + a.Name // inputs of one name may differ between actions
	}
	p.add(command, demander{a.Name, a.Kind}, reason, decided)
}

// open lets an action through a command's policy, for the reason given.
func (p Policies) open(command pg.Command, a *model.Action, reason string) {
	p.add(command, demander{name: a.Name}, reason, pg.True())
}

// knows tells whether a command's policy has a branch for an action.
func (p Policies) knows(command pg.Command, a *model.Action) bool {
	return slices.ContainsFunc(p[command], func(d *demand) bool {
		return slices.ContainsFunc(d.actions, func(by demander) bool { return by.name == a.Name })
	})
}

// plannedOnce returns the condition of a policy of a table for an action that finds one row. For an exists that depends
// on the row, Postgres makes two plans: one that is run for each row, and one that reads what holds for all rows first.
// Every call locks and checks the tables of both, and a list profits from the second. To find one row, Postgres may read
// all that leads to the caller there, so these actions do without: an exists with an offset has the first plan only.
func plannedOnce(table string, condition pg.Expr) pg.Expr {
	each := func(list []pg.Expr) []pg.Expr {
		planned := make([]pg.Expr, len(list))
		for i, e := range list {
			planned[i] = plannedOnce(table, e)
		}
		return planned
	}
	switch e := condition.(type) {
	case *pg.And:
		return &pg.And{Operands: each(e.Operands)}
	case *pg.Or:
		return &pg.Or{Operands: each(e.Operands)}
	case *pg.Not:
		return &pg.Not{Operand: plannedOnce(table, e.Operand)}
	case *pg.Is:
		return &pg.Is{Value: plannedOnce(table, e.Value), Test: e.Test}
	case *pg.Exists:
		if pg.Mentions(e).Table(table) {
			query := *e.Query
			query.Offset = pg.Lit("0")
			return &pg.Exists{Query: &query}
		}
	}
	return condition
}

// add puts an action beside those with the same demand.
func (p Policies) add(command pg.Command, by demander, reason string, condition pg.Expr) {
	for _, d := range p[command] {
		if d.reason == reason && reflect.DeepEqual(d.condition, condition) {
			d.actions = append(d.actions, by)
			return
		}
	}
	p[command] = append(p[command], &demand{reason: reason, actions: []demander{by}, condition: condition})
}

// ofOwner returns the demands of the actions that run as a role.
func (l *Lowering) ofOwner(demanded Policies, owner string) Policies {
	p := Policies{}
	for command, demands := range demanded {
		for _, d := range demands {
			for _, by := range d.actions {
				if l.Owners[by.name] == owner {
					p.add(command, by, d.reason, d.condition)
				}
			}
		}
	}
	return p
}

// branches returns the conditions of a policy. A single one needs no case: it holds during its actions only.
func (p Policies) branches(command pg.Command) []*pg.Branch {
	var branches []*pg.Branch
	for _, d := range p[command] {
		var during []pg.Expr
		var kinds []model.Kind
		for _, by := range d.actions {
			during = append(during, pg.Str(by.name))
			if by.kind != "" && !slices.Contains(kinds, by.kind) {
				kinds = append(kinds, by.kind)
			}
		}
		branches = append(branches, &pg.Branch{When: isDuring(during), Comment: demandOf(kinds, d.reason), Condition: d.condition})
	}
	if len(branches) == 1 {
		branches[0].Condition = pg.AllOf(branches[0].When, branches[0].Condition)
		branches[0].When = nil
	}
	return branches
}

// isDuring tells whether the current action is one of these. It calls platform.action bare: the planner evaluates it
// and keeps only the branches of the current action.
func isDuring(actions []pg.Expr) pg.Expr {
	if len(actions) == 1 {
		return pg.Eq(pg.Fn("platform.action"), actions[0])
	}
	return &pg.In{Value: pg.Fn("platform.action"), List: actions}
}

// demandOf is the comment that a policy has above a branch.
func demandOf(kinds []model.Kind, reason string) string {
	if len(kinds) == 0 {
		return reason
	}
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = string(k)
	}
	return strings.Join(texts, ", ") + ": " + reason
}

// policyName names a policy: post_select, and post_select_open, post_select_2 and so on for other roles than
// role.Caller. Policies of one table need differ from each other only, so a long table name is cut.
func policyName(table string, command pg.Command, owner string) string {
	suffix := "_" + string(command) + strings.TrimPrefix(strings.TrimPrefix(owner, "sternpost"), "_caller")
	return table[:min(len(table), pg.MaxIdent-len(suffix))] + suffix
}

// grants returns the privileges that a role needs on the table for the actions that run as it, and no more: every
// action reads rows, and written columns are named.
func (l *Lowering) grants(m *model.Model, p Policies, owner string) []*pg.Grant {
	var grants []*pg.Grant
	if len(p[pg.ForSelect]) > 0 {
		g := &pg.Grant{Privilege: "select", Role: owner}
		if m.IsIdentity {
			g.Columns = readableOfIdentity(m)
		}
		grants = append(grants, g)
	}
	if len(p[pg.ForInsert]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "insert", Columns: l.writtenColumns(m, model.Create, owner), Role: owner})
	}
	if len(p[pg.ForUpdate]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "update", Columns: l.writtenColumns(m, model.Update, owner), Role: owner})
	}
	if len(p[pg.ForDelete]) > 0 {
		grants = append(grants, &pg.Grant{Privilege: "delete", Role: owner})
	}
	return grants
}

// readableOfIdentity returns the columns of Identity that may be read: all but the
// password's hash.
func readableOfIdentity(m *model.Model) []string {
	var columns []string
	for _, f := range m.Stored() {
		if !f.StepWriteOnly() {
			columns = append(columns, f.Column)
		}
	}
	return columns
}

// writtenColumns returns the columns that actions of a kind and a role write, in table order.
func (l *Lowering) writtenColumns(m *model.Model, kind model.Kind, owner string) []string {
	written := map[string]bool{"id": kind == model.Create}
	note := func(at *value.Level) {
		for _, f := range at.Columns() {
			written[f.Column] = true
		}
	}
	for _, a := range m.Actions {
		if a.Kind == kind && l.Owners[a.Name] == owner {
			note(value.Levels(a))
		}
	}
	if kind == model.Create {
		for _, n := range l.Nested[m] {
			if l.Owners[n.action.Name] == owner {
				note(n.level)
			}
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

// admitUnions lets the actions of unions read their rows of a model: each rule is applied per arm.
func (l *Lowering) admitUnions(p Policies, m *model.Model) {
	for _, a := range l.Schema.Actions {
		if a.Union == nil {
			continue
		}
		var names []string
		var conditions []pg.Expr
		arms := value.ArmsOf(a.Union)
		shared := 0
		for _, arm := range arms {
			if arm.Model == m {
				shared++
			}
		}
		for _, arm := range arms {
			if arm.Model != m {
				continue
			}
			condition := PolicyRule(m, arm.Rules(a.Rules))
			if shared > 1 { // the arm of a row decides which form of the rules applies
				condition = pg.AllOf(arm.Row(value.WhereLogic, value.InQuery, value.NoInput).AllHold(arm.Conditions()), condition)
			}
			names = append(names, arm.Name)
			conditions = append(conditions, condition)
		}
		condition := pg.AnyOf(conditions...)
		if len(names) == 0 || IsClosed(a) {
			continue
		}
		what := "arm "
		if len(names) > 1 {
			what = "arms "
		}
		reason := fmt.Sprintf("%s, %s%s: %s", a.Union.Name, what, strings.Join(names, ", "), ruleText(a.Rules))
		if len(value.RuleInputs(a.Rules)) > 0 {
			reason += " of " + a.Name
		}
		p.add(pg.ForSelect, demander{name: a.Name}, reason, condition)
	}
}
