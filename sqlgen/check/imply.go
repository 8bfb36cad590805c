package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// vouches tells whether the rules of an action imply those of another model: whoever they admit to a row is admitted by a
// rule for one of the kinds to the row at the end of a path from there. Only rules count. It compares them part by part,
// each part in a form that is the same for equal parts, whatever path they are written along.
func vouches(a *actionDecl, m *model.Model, to []*model.Field, kinds ...model.Kind) bool {
	own := rulesFor(m, kinds)
	for _, r := range a.Rules {
		for _, alternative := range alternativesOf(r) {
			have := map[string]bool{}
			for _, part := range alternative {
				have[form(part, nil)] = true
			}
			if !slices.ContainsFunc(own, func(o *model.Rule) bool { return isImplied(o, to, have, r.Roles) }) {
				return false
			}
		}
	}
	return len(a.Rules) > 0 && len(to) > 0
}

// isImplied tells whether a rule of another model admits everybody of whom some parts hold and who has one of some roles.
func isImplied(own *model.Rule, to []*model.Field, have map[string]bool, roles []*model.Role) bool {
	isOther := func(r *model.Role) bool { return !slices.Contains(own.Roles, r) }
	if len(own.Roles) > 0 && (len(roles) == 0 || slices.ContainsFunc(roles, isOther)) {
		return false
	}
	return slices.ContainsFunc(alternativesOf(own), func(parts []expr.Node) bool {
		return !slices.ContainsFunc(parts, func(part expr.Node) bool { return !have[form(part, to)] })
	})
}

func alternativesOf(r *model.Rule) [][]expr.Node {
	if r.Expression == nil {
		return [][]expr.Node{nil}
	}
	return expr.Alternatives(r.Expression)
}

// form is the form of an expression over the row at the end of a path, as one over the row where the path begins.
func form(n expr.Node, to []*model.Field) string {
	of := func(n expr.Node) string { return form(n, to) }
	switch n := n.(type) {
	case *expr.Path:
		return pathForm(n, to)
	case *expr.Literal:
		return fmt.Sprintf("%v %#v", n.Type(), n.Value)
	case *expr.List:
		parts := []string{"["}
		for _, e := range n.Elements {
			parts = append(parts, of(e))
		}
		return strings.Join(parts, ", ")
	case *expr.Compare:
		left, right := of(n.Left), of(n.Right)
		if (n.Op == syntax.Equal || n.Op == syntax.NotEqual) && left > right {
			left, right = right, left
		}
		return "(" + left + " " + string(n.Op) + " " + right + ")"
	case *expr.Logic:
		return "(" + of(n.Left) + " " + string(n.Op) + " " + of(n.Right) + ")"
	case *expr.Not:
		return "!" + of(n.Operand)
	}
	return fmt.Sprintf("%p", n) // like nothing else
}

// pathForm is the form of a path: a copy is what it is copied from, a step and the one that leads back are left out, and
// so is the id behind a to-one.
func pathForm(p *expr.Path, to []*model.Field) string {
	if p.Root != expr.RootRow && p.Root != expr.RootIdentity {
		name := p.Name
		if p.Input != nil {
			name = p.Input.InputName()
		}
		return fmt.Sprint(p.Root, " ", name)
	}
	steps := model.FieldsOf(p)
	if p.Root == expr.RootRow {
		steps = slices.Concat(to, steps)
	}
	type step struct {
		*model.Field
		leadsToMany bool // whether it is a step of the given path to many rows
	}
	var kept []step
	var take func(f *model.Field, isGiven bool)
	take = func(f *model.Field, isGiven bool) {
		if f.FKOf != nil {
			f = f.FKOf
		}
		if f.Computed != nil {
			if source, ok := f.Computed.Expression.(*expr.Path); ok {
				for _, step := range model.FieldsOf(source) {
					take(step, isGiven)
				}
				return
			}
		}
		last := len(kept) - 1
		switch {
		case last >= 0 && f.IsToOne() && kept[last].Inverse == f:
			kept = kept[:last]
		case last >= 0 && f.Name == "id" && kept[last].IsToOne():
		default:
			kept = append(kept, step{f, isGiven && f.IsToMany()})
		}
	}
	for i, f := range steps {
		take(f, p.Root == expr.RootRow && i < len(to))
	}
	if slices.ContainsFunc(kept, func(s step) bool { return s.leadsToMany }) {
		return fmt.Sprintf("%p", p) // of each of many rows, which no rule of one row implies
	}
	text := fmt.Sprint(p.Root)
	for _, f := range kept {
		text += "." + f.Name
	}
	return text
}
