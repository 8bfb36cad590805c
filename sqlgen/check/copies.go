package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// useCopies lets lists read copies: a rule, @where or value of an arm that follows a path from the row to a value of
// which the row has a copy asks for the copy instead. They are equal at all times, and an index can have the copy.
func (c *checker) useCopies() {
	for _, a := range c.actions {
		if a.Kind != model.List || a.Custom || a.Union != nil {
			continue
		}
		a.Rules = slices.Clone(a.Rules)
		for i, r := range a.Rules {
			if r.Expression != nil {
				copied := *r
				copied.Expression = alongCopies(a.Model, r.Expression)
				a.Rules[i] = &copied
			}
		}
		for _, w := range a.Wheres {
			w.Expression = alongCopies(a.Model, w.Expression)
		}
	}
	for _, u := range c.unions {
		for _, arm := range u.Arms {
			for _, w := range arm.Wheres {
				w.Expression = alongCopies(arm.Model, w.Expression)
			}
			for _, v := range arm.Values {
				if v.Value != nil {
					v.Value = alongCopies(arm.Model, v.Value)
				}
			}
		}
	}
}

// alongCopies returns an expression over rows of a model with copies in place of the paths that lead to their sources.
func alongCopies(m *model.Model, n expr.Node) expr.Node {
	return expr.Substitute(n, func(p *expr.Path) expr.Node {
		steps := model.AlongCopy(m, model.FieldsOf(p))
		if len(steps) == len(p.Steps) {
			return p
		}
		path := make([]expr.Step, len(steps))
		for i, f := range steps {
			path[i] = f
		}
		return expr.RowPath(m.Name, path, p.Span())
	})
}

// warnSlow warns of a list whose rules follow to-ones from the row to what they compare with the caller, if a copy of
// the value in the row would do: once, with all paths.
func (c *checker) warnSlow(a *actionDecl) {
	if a.Kind != model.List || a.Custom {
		return
	}
	var fields []string
	var notes []syntax.Note
	for _, r := range a.Rules {
		if r.Expression == nil {
			continue
		}
		for _, p := range comparedWithCaller(r.Expression) {
			for _, w := range walked(a, p) {
				if text := w.field(); !slices.Contains(fields, text) {
					fields = append(fields, text)
					notes = append(notes, note(p.Span(), slowHere(w.model, w.path)))
				}
			}
		}
	}
	if len(fields) > 0 {
		c.warnAction(a, SlowRule, a.tree.Name.Span(), slowRule(a.Name, fields), notes...)
	}
}

// comparedWithCaller are the paths from the row that an expression compares with the caller.
func comparedWithCaller(n expr.Node) []*expr.Path {
	var paths []*expr.Path
	expr.Inspect(n, func(n expr.Node) bool {
		if compare, ok := n.(*expr.Compare); ok {
			all := expr.Paths(compare)
			if slices.ContainsFunc(all, func(p *expr.Path) bool { return p.Root == expr.RootIdentity }) {
				paths = append(paths, slices.DeleteFunc(all, func(p *expr.Path) bool { return p.Root != expr.RootRow || p.ThroughToMany() })...)
			}
		}
		return true
	})
	return paths
}

// walk is a path from a row of a model to a value in another row.
type walk struct {
	model *model.Model
	path  []*model.Field
}

// walked are the paths through other rows that a rule of a list follows, of a union in each arm.
func walked(a *actionDecl, p *expr.Path) []walk {
	var walks []walk
	add := func(m *model.Model, path []*model.Field) {
		path = model.AlongCopy(m, path)
		last := len(path) - 1
		if last > 1 && !model.ReadsRelated(path[last-1], path[last]) {
			path, last = path[:last], last-1 // the id of a referenced row is the key that refers to it
		}
		if last > 0 && model.ReadsRelated(path[last-1], path[last]) && path[0].FK != nil {
			walks = append(walks, walk{m, path})
		}
	}
	if a.union == nil {
		add(a.Model, model.FieldsOf(p))
		return walks
	}
	for _, arm := range a.union.Arms {
		for _, v := range arm.Values {
			if path, ok := v.Value.(*expr.Path); ok && v.Field == p.Steps[0].(*model.UnionField) && path.Root == expr.RootRow && !path.ThroughToMany() {
				add(arm.Model, model.FieldsOf(path))
			}
		}
	}
	return walks
}

// field is the field that would hold a copy, as a schema has it.
func (w walk) field() string {
	last := model.Declared(w.path[len(w.path)-1])
	typ := last.Type.String()
	if last.Target != nil {
		typ = last.Target.Name
	}
	optional := ""
	if slices.ContainsFunc(w.path, func(f *model.Field) bool { return model.Declared(f).Optional }) {
		optional = "?"
	}
	path := append([]string{w.model.Variable}, strings.Split(model.PathName(w.path[:len(w.path)-1]), ".")...)
	return fmt.Sprintf("%s %s%s @hidden @computed(%s.%s) in %s", last.Name, typ, optional, strings.Join(path, "."), last.Name, w.model.Name)
}
