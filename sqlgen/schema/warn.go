package schema

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// warnIndexes warns of each @index whose columns already lead another index: the
// primary key, a unique constraint, or another @index.
func (c *checker) warnIndexes() {
	for _, m := range c.models {
		for i, index := range m.Indexes {
			columns := columnsOf(index.Fields)
			other := leading(m.Model, i, columns)
			if other == nil {
				continue
			}
			var notes []syntax.Note
			if other.span.File != nil {
				notes = append(notes, note(other.span, indexHere()))
			}
			c.warn(RedundantIndex, index.Span, redundantIndex(columns), notes...)
		}
	}
}

// leading returns an index of a model that begins with the columns, other than
// its i-th @index, or nil. Of two equal ones, the first is not led by the second.
func leading(m *Model, i int, columns []string) *namedPlace {
	begins := func(other []string) bool {
		return len(other) >= len(columns) && slices.Equal(other[:len(columns)], columns)
	}
	for _, f := range m.Fields {
		if f.Unique && f.FK == nil && begins([]string{f.Column}) {
			span := f.Span
			if f.BuiltIn {
				span = syntax.Span{}
			}
			return &namedPlace{span: span}
		}
	}
	for _, u := range m.Uniques {
		if begins(columnsOf(u.Fields)) {
			return &namedPlace{span: u.Span}
		}
	}
	for j, index := range m.Indexes {
		other := columnsOf(index.Fields)
		if j != i && begins(other) && (j < i || len(other) > len(columns)) {
			return &namedPlace{span: index.Span}
		}
	}
	return nil
}

func columnsOf(fields []*Field) []string {
	var columns []string
	for _, f := range fields {
		columns = append(columns, f.Column)
	}
	return columns
}

// warnAccess warns where an action has no rule, and where its rule lets callers
// reach rows that the rules of those rows' own models do not vouch for.
func (c *checker) warnAccess() {
	for _, a := range c.actions {
		c.warnNoRule(a)
	}
	if c.errs.HasErrors() {
		return // a rule in error may be the one that vouches
	}
	for _, a := range c.actions {
		if a.union != nil {
			continue
		}
		for _, e := range a.embedSpans {
			if target := e.path[len(e.path)-1].Target; widens(a, target, Get, List) {
				c.warn(EmbedWidens, e.span, embedWidens(a.Name, pathName(e.path), target.Name), ruleNotes(target, Get, List)...)
			}
		}
		if !a.Custom && a.root != nil {
			c.warnLevels(a, a.root)
		}
		if !a.Custom && a.Kind == Update {
			for _, in := range a.Writes {
				if f := linkedBy(in); f != nil {
					c.warnLink(a, f, in)
				}
			}
		}
	}
	for _, u := range c.unions {
		for _, arm := range u.Arms {
			c.warnArm(u, arm)
		}
	}
}

func (c *checker) warnNoRule(a *actionDecl) {
	isOwn := slices.ContainsFunc(a.tree.Attrs, func(at *syntax.Attribute) bool { return at.Name.Name == "permission" })
	covered := false
	if a.union != nil {
		covered = a.union.ruleCount[a.Kind] || a.union.tree.Incomplete()
	} else {
		covered = a.model.ruleCount[a.Kind] || a.model.tree.Incomplete()
	}
	if !isOwn && !covered && !a.tree.Incomplete() {
		c.warn(NoRule, a.Span, noRule(a.Name, a.owner(), a.Kind))
	}
}

// linkedBy returns the to-one by which an input links a row, or nil.
func linkedBy(in *Input) *Field {
	if in.Explicit || len(in.Path) == 0 {
		return nil
	}
	last := in.Path[len(in.Path)-1]
	switch {
	case last.FKOf != nil:
		return last.FKOf
	case len(in.Path) > 1 && last.Name == "id":
		return in.Path[len(in.Path)-2]
	}
	return nil
}

// warnLevels warns of the rows that a create inserts and links below its root.
func (c *checker) warnLevels(a *actionDecl, l *level) {
	for _, in := range l.inputs {
		if last := in.Path[len(in.Path)-1]; last.FKOf != nil {
			c.warnLink(a, last.FKOf, in)
		}
	}
	for _, child := range l.children {
		switch {
		case child.isLink():
			c.warnLink(a, child.field, child.first)
			continue
		case widens(a, child.model, Create):
			c.warn(NestedWidens, child.first.Span, nestedWidens(a.Name, child.model.Name), ruleNotes(child.model, Create)...)
		}
		c.warnLevels(a, child)
	}
}

func (c *checker) warnLink(a *actionDecl, f *Field, in *Input) {
	if widens(a, f.Target, Get, List) {
		c.warn(LinkWidens, in.Span, linkWidens(a.Name, f.Target.Name), ruleNotes(f.Target, Get, List)...)
	}
}

// warnArm warns of an arm whose rows are shown by the union's rules, once, for
// the first action for which that widens access.
func (c *checker) warnArm(u *unionDecl, arm *Arm) {
	for _, a := range c.actions {
		if a.union == u && widens(a, arm.Model, Get, List) {
			c.warn(UnionWidens, arm.Span, unionWidens(u.Name, arm.Model.Name), ruleNotes(arm.Model, Get, List)...)
			return
		}
	}
}

// widens tells whether a model has rules of its own for any of the kinds, none of
// which admits everybody or equals a rule of the action that mentions no row.
func widens(a *actionDecl, m *Model, kinds ...Kind) bool {
	rules := rulesFor(m, kinds)
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(own *Rule) bool {
		return own.admitsEverybody() || slices.ContainsFunc(a.Rules, func(r *Rule) bool {
			return !r.mentionsRow() && r.condition == own.condition && sameRoles(r.Roles, own.Roles)
		})
	})
}

// rulesFor returns the model's own rules for any of the kinds.
func rulesFor(m *Model, kinds []Kind) []*Rule {
	var rules []*Rule
	for _, r := range m.Rules {
		if slices.ContainsFunc(kinds, func(k Kind) bool { return slices.Contains(r.Kinds, k) }) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ruleNotes points to the model's own rules for any of the kinds.
func ruleNotes(m *Model, kinds ...Kind) []syntax.Note {
	var notes []syntax.Note
	for _, r := range rulesFor(m, kinds) {
		notes = append(notes, note(r.Span, ruleHere()))
	}
	return notes
}

// admitsEverybody tells whether the rule is expression: true, for any role.
func (r *Rule) admitsEverybody() bool {
	l, ok := r.Expression.(*expr.Literal)
	return ok && l.Value == true && len(r.Roles) == 0
}

// sameRoles tells whether two rules ask for the same roles, in any order.
func sameRoles(a, b []*Role) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r *Role) bool { return !slices.Contains(b, r) })
}
