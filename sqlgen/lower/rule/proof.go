package rule

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// ProvesCaller tells whether a row that an action answers or writes proves that its caller exists, so that the function
// need not look before: each way in which the rules admit a row leads by a foreign key to the caller's Identity, or
// reads it. An action that reads e-mail addresses looks: they prove nothing of an access token that was issued before the
// address was proven.
//
// Before the row is found, the outcome has to be as if the function had looked for the caller first: platform.refuse
// and other functions that end a call look then. Custom code, uploads and inserts do not wait for that.
func ProvesCaller(a *model.Action) bool {
	switch a.Kind {
	case model.Get, model.List, model.Update, model.Delete:
	default:
		return false
	}
	if a.Custom || a.Union != nil || IsPrepared(a) || len(a.Rules) == 0 ||
		slices.ContainsFunc(expr.Paths(value.ExpressionsRead(a)...), readsAddress) {
		return false
	}
	return !slices.ContainsFunc(a.Rules, func(r *model.Rule) bool { return !ruleProvesCaller(r) })
}

func ruleProvesCaller(r *model.Rule) bool {
	if len(r.Roles) > 0 {
		return true // they are read from the Identity
	}
	for _, alternative := range expr.Alternatives(r.Expression) {
		if !slices.ContainsFunc(flatten(alternative), comparisonProvesCaller) {
			return false
		}
	}
	return true
}

// comparisonProvesCaller tells whether a comparison holds only if the caller exists.
func comparisonProvesCaller(n expr.Node) bool {
	c, ok := n.(*expr.Compare)
	if !ok || c.Op != syntax.Equal && c.Op != syntax.In || value.IsNullLiteral(c.Left) || value.IsNullLiteral(c.Right) {
		return false
	}
	left, leftOk := c.Left.(*expr.Path)
	right, rightOk := c.Right.(*expr.Path)
	if leftOk && readsIdentity(left) || rightOk && readsIdentity(right) {
		return true
	}
	if !leftOk || !rightOk {
		return false
	}
	return isCallerItself(left) && endsAtIdentity(right) || isCallerItself(right) && endsAtIdentity(left)
}

// isCallerItself tells whether a path is the caller's id, which is known without a look.
func isCallerItself(p *expr.Path) bool {
	return p.Root == expr.RootIdentity && (len(p.Steps) == 0 || len(p.Steps) == 1 && p.Steps[0].StepName() == "id")
}

// readsIdentity tells whether a path reads a value that only an existing caller has.
func readsIdentity(p *expr.Path) bool { return p.Root == expr.RootIdentity && !isCallerItself(p) }

// readsAddress tells whether a path reads the e-mail address of an Identity, or whether it is proven.
func readsAddress(p *expr.Path) bool {
	return slices.ContainsFunc(p.Steps, func(s expr.Step) bool {
		f, ok := s.(*model.Field)
		return ok && f.Model.IsIdentity && (f.Name == "email" || f.Name == "emailVerified")
	})
}

// endsAtIdentity tells whether a path of the row ends at a reference to Identity.
func endsAtIdentity(p *expr.Path) bool {
	if p.Root != expr.RootRow || len(p.Steps) == 0 {
		return false
	}
	last, ok := p.Steps[len(p.Steps)-1].(*model.Field)
	if !ok {
		return false
	}
	if last.Name == "id" && len(p.Steps) > 1 {
		last = value.Field(p.Steps[len(p.Steps)-2])
	}
	if last.FKOf != nil {
		last = last.FKOf
	}
	return last.IsRelation() && last.Target.IsIdentity
}
