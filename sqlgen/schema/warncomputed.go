package schema

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
)

// warnBothWays warns of each two models whose computed fields read each other's rows: writers
// of the two then lock rows both ways. It names the first such field of each.
func (c *checker) warnBothWays() {
	if c.errs.HasErrors() {
		return // a field may be computed from itself
	}
	for i, m := range c.models {
		for _, other := range c.models[:i] {
			if f, back := c.computedFrom(m.Model, other.Model), c.computedFrom(other.Model, m.Model); f != nil && back != nil {
				c.warn(ComputedBothWays, back.Computed.Span, computedBothWays(back, f), note(f.Computed.Span, computedHere(f.Name)))
			}
		}
	}
}

// computedFrom returns the first field of a model that is computed from rows of another one, or nil. A
// hidden copy of what no update changes is none: it is written with its own row only.
func (c *checker) computedFrom(m, other *Model) *Field {
	for _, f := range m.Fields {
		if slices.Contains(f.Sources(), other) && !c.isFixed(f) {
			return f
		}
	}
	return nil
}

// isFixed tells whether a field is a hidden copy of what no update changes.
func (c *checker) isFixed(f *Field) bool {
	copies := f.copiedFrom()
	return f.Hidden && len(copies) > 0 && !slices.ContainsFunc(copies, c.isChanged)
}

// isChanged tells whether an update writes a field of another row that a path from a row leads through.
func (c *checker) isChanged(path []*Field) bool {
	return slices.ContainsFunc(c.actions, func(a *actionDecl) bool {
		if a.Kind != Update {
			return false
		}
		is := func(written []*Field) bool {
			return len(written) > 0 && slices.ContainsFunc(path[1:], func(f *Field) bool { return declared(f) == declared(written[0]) })
		}
		return slices.ContainsFunc(a.Writes, func(in *Input) bool { return is(in.Path) }) ||
			slices.ContainsFunc(a.Sets, func(s *Set) bool { return is(s.Target) })
	})
}

// copyUse is the use of a computed field that has a value of another row unchanged.
type copyUse struct {
	path   []*Field // from the action's row to the computed field
	source []*Field // from the action's row to the field of the other row
	shown  bool     // in records or facets; otherwise callers find it out by trial
}

// of is the field whose value is copied.
func (u copyUse) of() *Field { return u.source[len(u.source)-1] }

// warnComputed warns of values of other rows that an action shows or compares as copies, by
// the rules of the row with the copy: once for each model whose own rules are narrower. A
// value that is made from others, such as a sum, is not a copy: it is a fact about its row.
func (c *checker) warnComputed(a *actionDecl) {
	uses := copyUses(a)
	for len(uses) > 0 {
		m := uses[0].of().Model
		var same, others []copyUse
		for _, u := range uses {
			switch {
			case u.of().Model != m:
				others = append(others, u)
			case !asksCaller(a, u.source[:len(u.source)-1], u.shown):
				same = append(same, u)
			}
		}
		uses = others
		if len(same) > 0 && widens(a, m, Get, List) {
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
		if n := note(f.Span, copiesHere(f.Name, u.of())); !slices.Contains(notes, n) {
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
			uses = append(uses, copyUse{path, slices.Concat(path[:len(path)-1], source), shown})
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
	for _, f := range a.orderable() {
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

// copiedFrom returns the paths to the fields of other rows whose value a computed field has
// unchanged: the one that it names, and those that this one is a copy of.
func (f *Field) copiedFrom() [][]*Field {
	if f.Computed == nil {
		return nil
	}
	p, ok := f.Computed.Expression.(*expr.Path)
	if !ok || p.Root != expr.RootRow {
		return nil
	}
	steps := fieldsOf(p)
	if len(steps) > 1 && !readsRelated(steps[len(steps)-2], steps[len(steps)-1]) {
		steps = steps[:len(steps)-1] // the id of a referenced row is the key that refers to it
	}
	before, last := steps[:len(steps)-1], steps[len(steps)-1]
	if last.IsRelation() && last.FK == nil { // the id of the row behind
		return [][]*Field{slices.Concat(steps, []*Field{last.Target.Field("id")})}
	}
	var sources [][]*Field
	if len(before) > 0 {
		sources = append(sources, steps)
	}
	for _, source := range last.copiedFrom() {
		sources = append(sources, slices.Concat(before, source))
	}
	return sources
}
