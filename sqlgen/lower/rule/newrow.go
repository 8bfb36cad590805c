package rule

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The new row of a create is judged by the insert policy, which Postgres asks before all constraints: a caller whom the
// rules refuse learns nothing of other rows, such as whether a number is taken. The policy does not see what the same
// call writes beside the row. The parts of a rule that need it wait for the select policy, until all is written.

// JudgesInsert tells whether the insert policy decides all that the rules of a create say of its new row.
func JudgesInsert(a *model.Action) bool {
	return !slices.ContainsFunc(value.ExpressionsOfRules(a.Rules), func(n expr.Node) bool { return needsWritten(a, n) })
}

// insertRule lowers the rules of a create, as far as the insert policy decides them.
func insertRule(a *model.Action) pg.Expr {
	x := policyExpression(a.Model, nil)
	conditions := make([]pg.Expr, len(a.Rules))
	for i, r := range a.Rules {
		if r.Expression == nil || !needsWritten(a, r.Expression) {
			conditions[i] = pg.AllOf(rule(x, r), linksHold(x, r))
			continue
		}
		var alternatives []pg.Expr
		for _, conjuncts := range expr.Alternatives(r.Expression) {
			decided := slices.DeleteFunc(slices.Clone(conjuncts), func(n expr.Node) bool { return needsWritten(a, n) })
			alternatives = append(alternatives, x.AllHold(decided))
		}
		conditions[i] = pg.AnyOf(alternatives...)
		if len(r.Roles) > 0 {
			conditions[i] = pg.AllOf(conditions[i], HasRole(r.Roles))
		}
	}
	return pg.AnyOf(conditions...)
}

// linksHold tells whether the rows are there to which links of the new row lead, as far as a missing one could satisfy a
// rule, as by !=. The reference itself is checked later, and its refusal would tell that the row is missing.
func linksHold(x value.Expression, r *model.Rule) pg.Expr {
	var conditions []pg.Expr
	checked := map[*model.Field]bool{}
	check := func(n expr.Node) {
		for _, p := range expr.Paths(n) {
			if p.Root != expr.RootRow || value.IsOwnPath(p) {
				continue
			}
			if f := value.Field(p.Steps[0]); f.FK != nil && f.Computed == nil && !checked[f] {
				checked[f] = true
				conditions = append(conditions, x.LeadsSomewhere(f))
			}
		}
	}
	if r.Expression != nil {
		expr.Inspect(r.Expression, func(n expr.Node) bool {
			switch n := n.(type) {
			case *expr.Not:
				check(n)
			case *expr.Compare:
				if n.Op == syntax.NotEqual || expr.NullTested(n) != nil {
					check(n)
				}
			}
			return true
		})
	}
	return pg.AllOf(conditions...)
}

// needsWritten tells whether an expression reads rows that a create writes beside its own, or values that count them.
func needsWritten(a *model.Action, n expr.Node) bool {
	below := value.Levels(a).Inserted()[1:]
	isBelow := func(m *model.Model) bool {
		return slices.ContainsFunc(below, func(l *value.Level) bool { return l.Model == m })
	}
	var needs func(n expr.Node) bool
	needs = func(n expr.Node) bool {
		found := false
		expr.Inspect(n, func(n expr.Node) bool {
			switch n := n.(type) {
			case *expr.Aggregate:
				found = true
			case *expr.Path:
				for _, s := range n.Steps {
					f := value.Field(s)
					refers := f.IsRelation() && f.FK == nil // leads to rows that refer to this one
					switch {
					case f.Computed != nil:
						found = found || needs(f.Computed.Expression)
					case n.Root == expr.RootRow && f.IsRelation():
						found = found || isBelow(f.Target) || refers && f.Target == a.Model
					}
				}
			}
			return !found
		})
		return found
	}
	return needs(n)
}
