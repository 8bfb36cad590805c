package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// conditionDecl is a condition of a model with the tree it comes from.
type conditionDecl struct {
	*model.Condition
	owner     *modelDecl
	tree      *syntax.Condition
	isChecked bool
}

// checkConditions checks the conditions of models. One that others name is checked first.
func (c *checker) checkConditions() {
	for _, m := range c.models {
		for _, tree := range syntax.ConditionsOf(m.tree.Members) {
			name := tree.Name.Name
			span := tree.Name.Span()
			if f := m.Field(name); f != nil {
				c.report(DuplicateField, span, duplicateField(m.Name, name), clashNotes(namedPlace{name, f.Span})...)
				continue
			}
			if earlier := c.conditions[conditionName{m.Name, name}]; earlier != nil {
				c.report(DuplicateField, span, duplicateField(m.Name, name), note(earlier.Span, declaredHere(name)))
				continue
			}
			d := &conditionDecl{
				Condition: &model.Condition{Model: m.Model, Name: name, Doc: text(tree.Doc), Text: syntax.FormatExpr(tree.Expression), Span: span},
				owner:     m, tree: tree,
			}
			c.conditions[conditionName{m.Name, name}] = d
			m.Conditions = append(m.Conditions, d.Condition)
		}
	}
	for _, m := range c.models {
		for _, d := range m.Conditions {
			c.checkCondition(c.conditions[conditionName{m.Name, d.Name}])
		}
	}
}

// conditionName is the name of a condition with that of its model.
type conditionName struct {
	model, name string
}

// checkCondition checks a condition, unless that was done, and reports the cycle that it closes.
func (c *checker) checkCondition(d *conditionDecl) {
	if d.isChecked {
		return
	}
	if at := slices.Index(c.checking, d); at >= 0 {
		cycle := append(slices.Clone(c.checking[at:]), d)
		c.report(ConditionCycle, cycle[0].Span, conditionCycle(cycle))
		for _, part := range cycle {
			part.isChecked = true
		}
		return
	}
	c.checking = append(c.checking, d)
	s := &scope{c: c, place: expr.ModelRule, variable: d.owner.Variable, model: d.owner.Name, nameable: true}
	d.Expression = s.check(d.tree.Expression)
	c.checking = c.checking[:len(c.checking)-1]
	d.isChecked = true
}

// Condition returns a condition of a model, checked.
func (s *scope) Condition(model, name string) (expr.Node, bool) {
	d := s.c.conditions[conditionName{model, name}]
	if d == nil {
		return nil, false
	}
	s.c.checkCondition(d)
	return d.Expression, true
}
