package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// A create is judged by its new row, once that row and all beside it are stored. The rules ask about the caller as it
// was before: a row that the call itself has written, such as the membership that it makes, admits no caller and
// refuses none. So a path from the caller skips the rows that the action has inserted. They are found by the relations
// that the inputs lead through, from the new row on. The rows that custom code writes are not known; there, the parts
// of the rules that are about the caller alone are evaluated before it runs.

// writtenBy returns the rows that an action has inserted when its row is judged, as far as a path from the caller in
// its rules may reach them; it returns nil if none does. For custom code only the returned row is known to be new.
func writtenBy(a *model.Action) *level {
	if a.Kind != model.Create || a.Model == nil {
		return nil
	}
	root := &level{model: a.Model}
	if !a.Custom {
		root = levels(a)
	}
	for _, s := range referringSteps(a) {
		if slices.ContainsFunc(root.inserted(), func(l *level) bool { return l.model == s.Target }) {
			return root
		}
	}
	return nil
}

// referringSteps returns the steps by which paths from the caller, in the rules of an action, pass from a row to those
// that refer to it. Other steps lead to no new row: only rows written with a new row refer to it.
func referringSteps(a *model.Action) []*model.Field {
	var steps []*model.Field
	for _, p := range expr.Paths(expressionsOfRules(a.Rules)...) {
		if p.Root != expr.RootIdentity {
			continue
		}
		for _, s := range p.Steps {
			if f := field(s); f.IsRelation() && f.FK == nil {
				steps = append(steps, f)
			}
		}
	}
	return steps
}

// judgesAfterCode tells whether an action with custom code is judged by the row that the code returns. By then the code
// may have written anything.
func judgesAfterCode(a *model.Action) bool {
	return a.Custom && needRow(a.Rules) && (a.Kind == model.Create || a.Kind == model.Update && len(a.Pins) == 0)
}

// askOfCaller evaluates, before custom code runs, the parts of the rules that are about the caller and not the row.
// Parts that share a witness with other parts wait until the row is judged.
func (b *builder) askOfCaller() {
	if !judgesAfterCode(b.action) || !b.judgesRows() {
		return
	}
	b.asked = map[expr.Node]pg.Expr{}
	var statements []pg.Statement
	x := newExpression(ruleLogic, inFunction, nil, b.inputValue)
	for _, rule := range expressionsOfRules(b.action.Rules) {
		expr.Inspect(rule, func(n expr.Node) bool {
			if l, ok := n.(*expr.Logic); ok && l.Op == syntax.And {
				return true
			}
			if asksCaller(n) && !expr.Mentions(n).Row && len(expr.Prefixes(n)) == 0 {
				asked := b.variable("v_asked", "boolean", nil)
				b.asked[n] = asked
				statements = append(statements, &pg.Assign{Variable: asked, Value: x.holds(n)})
				return false
			}
			_, isCompare := n.(*expr.Compare)
			return !isCompare
		})
	}
	if len(statements) > 0 {
		b.step("So is what the rules ask of the caller beside the row.", statements...)
	}
}

// joinsFrom returns the joins for a path from a root.
func (x expression) joinsFrom(root expr.Root) *joins {
	j := newJoins(x.aliases)
	if x.written == nil || root != expr.RootIdentity {
		return j
	}
	j.isVisible = func(at tableAlias) pg.Expr {
		var conditions []pg.Expr
		for _, l := range x.written.inserted() {
			if l.model == at.model {
				conditions = append(conditions, x.isOther(at, l, j.aliases))
			}
		}
		return pg.AllOf(conditions...)
	}
	return j
}

// isOther is the condition that a row was not inserted at a level.
func (x expression) isOther(at tableAlias, l *level, aliases map[string]bool) pg.Expr {
	j := newJoins(aliases)
	end := *x.row
	for _, f := range l.path {
		end = j.follow(end, f)
	}
	if len(j.list) == 0 {
		return pg.Op(at.id, "is distinct from", end.id)
	}
	return pg.Negate(&pg.Exists{Query: j.query(nil, pg.Eq(end.id, at.id))})
}
