package access

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// AdmitsUploads tells whether rules, joined by or, can admit an anonymous caller who
// sends a file ahead of the call. Rows and inputs are not known then, and a rule about them
// admits no caller; but a header, a setting of the server or the time may.
func AdmitsUploads(rules []*model.Rule) bool {
	e := evaluator{class: Anonymous(), on: map[Subject]bool{}}
	return slices.ContainsFunc(rules, func(r *model.Rule) bool {
		return len(r.Roles) == 0 && e.atUpload(r.Expression).mayHold
	})
}

// outcomes are the decided values that an expression can have at an upload. An expression
// about the row or an input may have neither.
type outcomes struct {
	mayHold, mayFail bool
}

// atUpload returns the outcomes of a Boolean expression.
func (e *evaluator) atUpload(n expr.Node) outcomes {
	switch n := n.(type) {
	case *expr.Logic:
		left, right := e.atUpload(n.Left), e.atUpload(n.Right)
		if n.Op == syntax.And {
			return outcomes{left.mayHold && right.mayHold, left.mayFail || right.mayFail}
		}
		return outcomes{left.mayHold || right.mayHold, left.mayFail && right.mayFail}
	case *expr.Not:
		operand := e.atUpload(n.Operand)
		return outcomes{operand.mayFail, operand.mayHold}
	case *expr.Compare:
		// A test for an input does not decide before the input is known.
		if expr.NullTested(n) != nil && looksAtCall(n) {
			return outcomes{}
		}
	}
	switch truth := e.truth(n); {
	case truth == expr.False:
		return outcomes{mayFail: true}
	case looksAtCall(n):
		return outcomes{}
	case truth == expr.True:
		return outcomes{mayHold: true}
	}
	return outcomes{mayHold: true, mayFail: true}
}

// looksAtCall tells whether an expression looks at the row or an input.
func looksAtCall(n expr.Node) bool {
	m := expr.Mentions(n)
	return m.Row || len(m.Inputs) > 0
}
