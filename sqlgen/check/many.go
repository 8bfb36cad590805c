package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// checkMany checks that the rows of an action with @many can be written together.
func (c *checker) checkMany(a *actionDecl) {
	takesPrepared := func(in *model.Input) bool { return isPrepared(in.Type.Kind) }
	setsPrepared := func(s *model.Set) bool { return isPrepared(s.Target[len(s.Target)-1].Type.Kind) }
	readsInput := func(r *model.Rule) bool { return r.Expression != nil && len(expr.Mentions(r.Expression).Inputs) > 0 }
	switch {
	case a.Kind != model.Create && a.Kind != model.Update && a.Kind != model.Delete:
		c.report(BadMany, a.manyAt, manyOfOtherKind(actionBearer(a)))
	case a.Custom:
		c.report(BadMany, a.manyAt, manyOfCode())
	case a.Invitation != nil:
		c.report(BadMany, a.manyAt, manyInvitations())
	case slices.ContainsFunc(a.Reads, takesPrepared), slices.ContainsFunc(a.Writes, takesPrepared), slices.ContainsFunc(a.Sets, setsPrepared):
		c.report(BadMany, a.manyAt, manyPrepared())
	case slices.ContainsFunc(a.Rules, readsInput):
		c.report(BadMany, a.manyAt, manyRuleInputs())
	default:
		return
	}
	a.Many = false
}

// isPrepared tells whether the server makes values of a kind from what a request gives.
func isPrepared(k expr.Kind) bool { return k == expr.File || k == expr.Password || k == expr.Secret }
