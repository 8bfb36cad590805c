package compatibility

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// rows compares which rows an action finds, and in which order a list shows them.
func (c *comparison) rows() {
	if old, new := c.old.Schema.Config.HideRefusedRows, c.new.Schema.Config.HideRefusedRows; old != new {
		if new {
			c.found.add(Change{Breaking, OfRows, "hideRefusedRows", nil, "set", "a refused row is answered as if it did not exist, and not with 403"})
		} else {
			c.found.add(Change{Widening, OfRows, "hideRefusedRows", nil, "not set any more", "callers learn that rows exist that they may not see"})
		}
	}
	for _, p := range c.pairs() {
		c.wheres([]string{p.name}, "", p.old.Wheres, p.new.Wheres)
		if old, new := orderOf(p.old), orderOf(p.new); old != new {
			c.found.add(Change{Breaking, OfRows, "order", []string{p.name}, "was " + old + ", is " + new,
				"rows come in another order, and cursors that clients hold are refused"})
		}
	}
	for _, u := range c.new.Schema.Unions {
		if old := unionNamed(c.old.Schema, u.Name); old != nil {
			c.arms(old, u)
		}
	}
}

// wheres compares the conditions that rows must fulfil.
func (c *comparison) wheres(actions []string, subject string, old, new []*model.Where) {
	var before, kept, added []string
	for _, w := range old {
		before = append(before, w.Text)
	}
	for _, w := range new {
		was := c.asBefore(w.Text, w.Expression)
		if kept = append(kept, was); !slices.Contains(before, was) {
			added = append(added, w.Text)
		}
	}
	for _, text := range missing(before, kept) {
		c.found.add(Change{Widening, OfRows, subject, actions, "without the condition " + text, "callers reach rows that it left out"})
	}
	for _, text := range added {
		c.found.add(Change{Breaking, OfRows, subject, actions, "with the condition " + text, "rows that it leaves out are not found any more"})
	}
}

// missing returns the entries of one list that another lacks.
func missing(of, in []string) []string {
	var list []string
	for _, text := range of {
		if !slices.Contains(in, text) {
			list = append(list, text)
		}
	}
	return list
}

// orderOf words the order of a list.
func orderOf(a *model.Action) string {
	var keys []string
	for _, k := range a.OrderBy {
		name := ""
		if k.Field != nil {
			name = k.Field.Name
		} else {
			name = k.UnionField.Name
		}
		if k.Descending {
			name += " desc"
		}
		keys = append(keys, name)
	}
	return strings.Join(append(keys, "id"), ", ")
}

func unionNamed(s *model.Schema, name string) *model.Union {
	for _, u := range s.Unions {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// arms compares the rows that make up a union. The permissions report for whom a new
// arm widens access.
func (c *comparison) arms(old, new *model.Union) {
	var actions []string
	for _, p := range c.pairs() {
		if p.new.Union == new {
			actions = append(actions, p.name)
		}
	}
	if len(actions) == 0 {
		return
	}
	for _, arm := range old.Arms {
		if armNamed(new, arm.Name) == nil {
			c.found.add(Change{Breaking, OfRows, "arm " + arm.Name, actions, "removed", "rows of " + arm.Model.Name + " are not found any more"})
		}
	}
	for _, arm := range new.Arms {
		before := armNamed(old, arm.Name)
		switch {
		case before == nil:
			c.found.add(Change{Compatible, OfRows, "arm " + arm.Name, actions, "added", "clients ignore records of sources that they do not know"})
		case before.Model != modelNamed(c.old.Schema, arm.Model):
			c.found.add(Change{Breaking, OfRows, "arm " + arm.Name, actions, "is of " + arm.Model.Name + ", was of " + before.Model.Name,
				"rows of " + before.Model.Name + " are not found any more"})
		default:
			c.wheres(actions, "arm "+arm.Name, before.Wheres, arm.Wheres)
			c.mapping(actions, new, before, arm)
		}
	}
	c.precedence(actions, old, new)
}

// mapping compares the values that an arm gives to the fields of its union. Rules of the
// union read these fields, so another value there is another decision.
func (c *comparison) mapping(actions []string, u *model.Union, before, arm *model.Arm) {
	for _, v := range arm.Values {
		i := slices.IndexFunc(before.Values, func(old *model.ArmValue) bool { return old.Field.Name == v.Field.Name })
		if i < 0 || isSameValue(before.Values[i].Value, v.Value) {
			continue
		}
		text := v.Field.Name + " is " + valueText(v.Value) + ", was " + valueText(before.Values[i].Value)
		c.found.add(Change{Breaking, OfRows, "arm " + arm.Name, actions, text, "records hold another value there"})
		if isRuled(u, v.Field) {
			c.found.add(Change{Widening, OfRows, "arm " + arm.Name, actions, text, "rules read it, and may admit calls that they refused"})
		}
	}
}

// isRuled tells whether a rule that applies to an action of a union reads a field.
func isRuled(u *model.Union, f *model.UnionField) bool {
	for _, a := range u.Actions {
		for _, r := range a.Rules {
			if r.Expression == nil {
				continue
			}
			for _, p := range expr.Paths(r.Expression) {
				if p.Root == expr.RootRow && len(p.Steps) > 0 && p.Steps[0].StepName() == f.Name {
					return true
				}
			}
		}
	}
	return false
}

// isSameValue tells whether two arms give the same value to a field, apart from renamed
// fields.
func isSameValue(old, new expr.Node) bool {
	from, isPath := old.(*expr.Path)
	to, isPath2 := new.(*expr.Path)
	if !isPath || !isPath2 || len(from.Steps) != len(to.Steps) {
		return valueText(old) == valueText(new)
	}
	for i, s := range to.Steps {
		before := from.Steps[i].StepName()
		if f, ok := s.(*model.Field); s.StepName() != before && (!ok || f.RenamedFrom != before) {
			return false
		}
	}
	return true
}

// valueText words the value that an arm gives to a field.
func valueText(n expr.Node) string {
	switch n := n.(type) {
	case *expr.Path:
		var names []string
		for _, s := range n.Steps {
			names = append(names, s.StepName())
		}
		return strings.Join(names, ".")
	case *expr.Literal:
		return fmt.Sprint(n.Value)
	case *expr.Arithmetic, *expr.Negative, *expr.Function:
		return syntax.SourceOf(n.Span())
	}
	return "null"
}

// precedence compares which of two arms of one model comes first: that one has the rows
// that both of them take.
func (c *comparison) precedence(actions []string, old, new *model.Union) {
	place := func(u *model.Union, name string) int {
		return slices.IndexFunc(u.Arms, func(arm *model.Arm) bool { return arm.Name == name })
	}
	for i, first := range new.Arms {
		for _, second := range new.Arms[i+1:] {
			was, wasSecond := place(old, first.Name), place(old, second.Name)
			if first.Model == second.Model && wasSecond >= 0 && was > wasSecond {
				c.found.add(Change{Breaking, OfRows, "arm " + first.Name, actions, "comes before " + second.Name, "it now has the rows that both arms take"})
			}
		}
	}
}

func armNamed(u *model.Union, name string) *model.Arm {
	for _, arm := range u.Arms {
		if arm.Name == name {
			return arm
		}
	}
	return nil
}
