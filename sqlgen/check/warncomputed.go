package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
)

// warnBothWays warns of each two models whose computed fields read each other's rows: writers
// of the two then lock rows both ways. It names the first such field of each.
func (c *checker) warnBothWays() {
	if c.errs.HasErrors() {
		return // a field may be computed from itself
	}
	for i, m := range c.models {
		for _, other := range c.models[:i] {
			f, back := c.computedFrom(m.Model, other.Model), c.computedFrom(other.Model, m.Model)
			if f == nil || back == nil {
				continue
			}
			if w := slices.Concat(c.fields[f].allowances, c.fields[back].allowances).allows(ComputedBothWays); w != nil {
				w.used = true
			} else {
				c.warn(ComputedBothWays, back.Computed.Span, computedBothWays(back, f), note(f.Computed.Span, computedHere(f.Name)))
			}
		}
	}
}

// computedFrom returns the first field of a model that is computed from rows of another one, or nil. A
// hidden copy of what no update changes is none: it is written with its own row only.
func (c *checker) computedFrom(m, other *model.Model) *model.Field {
	for _, f := range m.Fields {
		if slices.Contains(f.Sources(), other) && !c.isFixed(f) {
			return f
		}
	}
	return nil
}

// isFixed tells whether a field is a hidden copy of what no update changes.
func (c *checker) isFixed(f *model.Field) bool {
	copies := f.CopiedFrom()
	return f.Hidden && len(copies) > 0 && !slices.ContainsFunc(copies, c.isChanged)
}

// isChanged tells whether an update writes a field of another row that a path from a row leads through.
func (c *checker) isChanged(path []*model.Field) bool {
	return slices.ContainsFunc(c.actions, func(a *actionDecl) bool {
		if a.Kind != model.Update {
			return false
		}
		is := func(written []*model.Field) bool {
			return len(written) > 0 && slices.ContainsFunc(path[1:], func(f *model.Field) bool { return model.Declared(f) == model.Declared(written[0]) })
		}
		return slices.ContainsFunc(a.Writes, func(in *model.Input) bool { return is(in.Path) }) ||
			slices.ContainsFunc(a.Sets, func(s *model.Set) bool { return is(s.Target) })
	})
}

// copyUse is the use of a computed field that has a value of another row unchanged.
type copyUse struct {
	path   []*model.Field // from the action's row to the computed field
	source []*model.Field // from the action's row to the field of the other row
	shown  bool           // in records or facets; otherwise callers find it out by trial
}

// of is the field whose value is copied.
func (u copyUse) of() *model.Field { return u.source[len(u.source)-1] }

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
			case !asksCaller(a, u.source[:len(u.source)-1], u.shown) && !u.isVouched(c, a):
				same = append(same, u)
			}
		}
		uses = others
		if len(same) > 0 && widens(a, m, model.Get, model.List) {
			c.warnCopies(a, m, same)
		}
	}
}

// isVouched tells whether the rules of an action imply those of the row that a copy is read from.
func (u copyUse) isVouched(c *checker, a *actionDecl) bool {
	to := u.source[:len(u.source)-1]
	if u.shown {
		return len(to) > 0 && vouchesShown(a, u.of().Model, to)
	}
	return c.hidesRefused(a) && vouches(a, u.of().Model, to, model.Get, model.List)
}

// warnCopies warns of copies from one model. If the action shows any, the warning is about these.
func (c *checker) warnCopies(a *actionDecl, m *model.Model, uses []copyUse) {
	isShown := slices.ContainsFunc(uses, func(u copyUse) bool { return u.shown })
	var names []string
	notes := ruleNotes(m, model.Get, model.List)
	for _, u := range uses {
		name := model.PathName(u.path)
		if u.shown != isShown || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		f := model.Declared(u.path[len(u.path)-1])
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
	use := func(shown bool, path ...*model.Field) {
		for _, source := range path[len(path)-1].CopiedFrom() {
			uses = append(uses, copyUse{path, slices.Concat(path[:len(path)-1], source), shown})
		}
	}
	switch a.Kind {
	case model.Get, model.List, model.Create, model.Update:
		a.Shape().Visit(nil, func(path []*model.Field) { use(true, path...) })
	}
	for _, f := range a.Facets {
		use(true, f.Field)
	}
	for _, in := range a.Reads {
		if len(in.Path) > 0 && (!a.Custom || a.Kind == model.List) {
			use(false, in.Path...)
		}
	}
	for _, p := range comparedWithChosen(a) {
		if path := model.FieldsOf(p); len(path) > 0 { // else it is the row itself
			use(false, path...)
		}
	}
	for _, f := range a.Orderable() {
		use(false, f)
	}
	return uses
}
