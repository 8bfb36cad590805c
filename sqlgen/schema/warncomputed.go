package schema

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// copyUse is the use of a computed field that has a value of another row unchanged.
type copyUse struct {
	path   []*Field // from the action's row to the computed field
	source *Field   // the field of the other row
	shown  bool     // in records or facets; otherwise callers find it out by trial
}

// warnComputed warns of values of other rows that an action shows or compares as copies, by
// the rules of the row with the copy: once for each model whose own rules are narrower. A
// value that is made from others, such as a sum, is not a copy: it is a fact about its row.
func (c *checker) warnComputed(a *actionDecl) {
	uses := copyUses(a)
	for len(uses) > 0 {
		m := uses[0].source.Model
		var same, others []copyUse
		for _, u := range uses {
			if u.source.Model == m {
				same = append(same, u)
			} else {
				others = append(others, u)
			}
		}
		uses = others
		if widens(a, m, Get, List) {
			c.warnCopies(a, m, same)
		}
	}
}

// warnCopies warns of copies from one model. If the action shows any, the warning is about these.
func (c *checker) warnCopies(a *actionDecl, m *Model, uses []copyUse) {
	isShown := slices.ContainsFunc(uses, func(u copyUse) bool { return u.shown })
	var names []string
	notes := ruleNotes(m, Get, List)
	for _, u := range uses {
		name := pathName(u.path)
		if u.shown != isShown || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		f := declared(u.path[len(u.path)-1])
		if n := note(f.Span, copiesHere(f.Name, u.source)); !slices.Contains(notes, n) {
			notes = append(notes, n)
		}
	}
	c.warnAction(a, ComputedWidens, a.tree.Name.Span(), computedWidens(a.Name, names, m.Name, isShown), notes...)
}

// copyUses lists the copies of values of other rows that an action of a model shows or
// compares with what callers send.
func copyUses(a *actionDecl) []copyUse {
	var uses []copyUse
	use := func(shown bool, path ...*Field) {
		for _, source := range path[len(path)-1].copiedFrom() {
			uses = append(uses, copyUse{path, source, shown})
		}
	}
	switch a.Kind {
	case Get, List, Create, Update:
		a.Shape().visit(nil, func(path []*Field) { use(true, path...) })
	}
	for _, f := range a.Facets {
		use(true, f.Field)
	}
	for _, in := range a.Reads {
		if len(in.Path) > 0 && (!a.Custom || a.Kind == List) {
			use(false, in.Path...)
		}
	}
	for _, p := range comparedWithChosen(a) {
		if path := fieldsOf(p); len(path) > 0 { // else it is the row itself
			use(false, path...)
		}
	}
	for _, k := range a.OrderBy {
		use(false, k.Field)
	}
	for _, f := range a.Sortable {
		use(false, f)
	}
	return uses
}

// visit calls see with the path to each stored field that a record shows.
func (s Shape) visit(before []*Field, see func(path []*Field)) {
	for _, m := range s {
		path := append(before[:len(before):len(before)], m.Field)
		if m.Shape == nil {
			see(path)
		} else {
			m.Shape.visit(path, see)
		}
	}
}

// copiedFrom returns the fields of other rows whose value a computed field has unchanged: the
// one that it names, and those that this one is a copy of.
func (f *Field) copiedFrom() []*Field {
	if f.Computed == nil {
		return nil
	}
	p, ok := f.Computed.Expression.(*expr.Path)
	if !ok || p.Root != expr.RootRow {
		return nil
	}
	steps := fieldsOf(p)
	last := steps[len(steps)-1]
	if len(steps) > 1 && !readsRelated(steps[len(steps)-2], last) {
		steps = steps[:len(steps)-1] // the id of a referenced row is the key that refers to it
		last = steps[len(steps)-1]
	}
	switch {
	case last.IsRelation() && last.FK == nil: // the id of the row behind
		at := slices.IndexFunc(last.Target.Fields, func(f *Field) bool { return f.Name == "id" })
		return []*Field{last.Target.Fields[at]}
	case len(steps) > 1:
		return append([]*Field{last}, last.copiedFrom()...)
	}
	return last.copiedFrom()
}
