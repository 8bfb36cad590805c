package check

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkHidden reads a @hidden. With a to-one its FK field is hidden.
func (c *checker) checkHidden(f *fieldDecl, a *syntax.Attribute) {
	switch {
	case !c.noArgument(a) || f.doubtful:
	case f.Column == "":
		c.report(MisplacedAttribute, a.Name.Span(), misplacedAttribute("hidden", onBack), inverseNotes(f.Field)...)
	default:
		f.Hidden = true
		if f.FK != nil {
			f.FK.Hidden = true
		}
	}
}

// isHidden tells whether a field is hidden. If so, it reports that span would let callers see
// or ask for its values.
func (c *checker) isHidden(f *model.Field, span syntax.Span) bool {
	if !f.Hidden {
		return false
	}
	c.report(HiddenInput, span, hiddenInput(f.Name), note(model.Declared(f).Span, hiddenHere(model.Declared(f).Name)))
	return true
}

// showsHidden tells whether a union would show values of hidden fields, and reports it.
func (c *checker) showsHidden(value expr.Node) bool {
	for _, p := range expr.Paths(value) {
		for _, f := range model.FieldsOf(p) {
			if c.isHidden(f, p.Span()) {
				return true
			}
		}
	}
	return false
}

// warnHidden warns of hidden values that callers can find out by trial: by look-ups, and by conditions and rules that
// compare them with a value that the caller chooses. It does not warn of equality with a text or an id: a code is
// checked like that, and there are too many to try.
func (c *checker) warnHidden(a *actionDecl) {
	if a.union != nil {
		return // its fields are those of records
	}
	for _, in := range a.Reads {
		if !a.Custom && !in.Explicit && !isSecretive(in.Type.Kind) {
			c.warnHiddenPath(a, in.Path, in.Span)
		}
	}
	var conditions []expr.Node
	for _, w := range a.Wheres {
		conditions = append(conditions, w.Expression)
	}
	for _, r := range a.Rules {
		if r.Expression != nil {
			conditions = append(conditions, r.Expression)
		}
	}
	for _, v := range a.Validations {
		conditions = append(conditions, v.Expression)
	}
	for _, condition := range conditions {
		expr.Inspect(condition, func(n expr.Node) bool {
			if compare, ok := n.(*expr.Compare); ok && isTrial(compare) {
				for _, p := range expr.Paths(compare) {
					c.warnHiddenPath(a, model.FieldsOf(p), p.Span())
				}
			}
			return true
		})
	}
}

// isTrial tells whether the caller chooses one side of a comparison and finds out the other by few trials.
func isTrial(compare *expr.Compare) bool {
	m := expr.Mentions(compare)
	if len(m.Inputs) == 0 && len(m.Headers) == 0 {
		return false
	}
	isEquality := compare.Op == syntax.Equal || compare.Op == syntax.NotEqual || compare.Op == syntax.In
	return !isEquality || !isSecretive(compare.Left.Type().Kind)
}

// isSecretive tells whether a kind has too many values to try them all.
func isSecretive(k expr.Kind) bool {
	return k == expr.ID || k == expr.Text || k == expr.Markdown || k == expr.Model
}

// warnHiddenPath warns if a path passes a hidden field. The own fields of a row just created are not secret.
func (c *checker) warnHiddenPath(a *actionDecl, path []*model.Field, span syntax.Span) {
	for i, f := range path {
		if isNew := i == 0 && a.Kind == model.Create && (len(path) == 1 || f.FK == nil); f.Hidden && !isNew {
			c.warnAction(a, HiddenCompared, span, hiddenCompared(a.Name, model.PathName(path)), note(model.Declared(f).Span, hiddenHere(model.Declared(f).Name)))
			return
		}
	}
}
