package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
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
			if other.Span.File != nil {
				notes = append(notes, *other)
			}
			c.warn(RedundantIndex, index.Span, redundantIndex(columns), notes...)
		}
	}
}

// leading returns an index of a model that begins with the columns, other than its i-th @index,
// or nil: a declared one, or that of a list's order. Of two equal ones, the first is not led by
// the second.
func leading(m *model.Model, i int, columns []string) *syntax.Note {
	begins := func(other []string) bool {
		return len(other) >= len(columns) && slices.Equal(other[:len(columns)], columns)
	}
	for _, f := range m.Fields {
		if f.Unique && f.FK == nil && begins([]string{f.Column}) {
			span := f.Span
			if f.BuiltIn {
				span = syntax.Span{}
			}
			return &syntax.Note{Span: span, Message: indexHere()}
		}
	}
	for _, u := range m.Uniques {
		if begins(columnsOf(u.Fields)) {
			return &syntax.Note{Span: u.Span, Message: indexHere()}
		}
	}
	for j, index := range m.Indexes {
		other := columnsOf(index.Fields)
		if j != i && begins(other) && (j < i || len(other) > len(columns)) {
			return &syntax.Note{Span: index.Span, Message: indexHere()}
		}
	}
	for _, a := range m.Actions {
		if a.Kind == model.List && !a.Custom && len(a.OrderBy) > 0 && begins(columnsOf(indexFor(a, nil))) {
			return &syntax.Note{Span: a.OrderBy[0].Span, Message: orderIndexHere(a.Name)}
		}
	}
	return nil
}

func columnsOf(fields []*model.Field) []string {
	var columns []string
	for _, f := range fields {
		columns = append(columns, f.Column)
	}
	return columns
}

// warnAccess warns of an action without rule, and of a rule that lets callers reach
// rows that the rules of those rows' own models do not allow, or store files that the
// fields do not allow.
func (c *checker) warnAccess() {
	for _, a := range c.actions {
		c.warnNoRule(a)
		c.warnHidden(a)
	}
	if c.errs.HasErrors() {
		return // a rule in error may be the one that vouches
	}
	for _, a := range c.actions {
		c.warnSlow(a)
		if a.union != nil {
			continue
		}
		for _, e := range a.embedSpans {
			if target := e.path[len(e.path)-1].Target; widens(a, target, model.Get, model.List) && !asksCaller(a, e.path, true) && !vouchesShown(a, target, e.path) {
				c.warnAction(a, EmbedWidens, e.span, embedWidens(a.Name, model.PathName(e.path), target.Name), ruleNotes(target, model.Get, model.List)...)
			}
		}
		c.warnFilters(a)
		c.warnComputed(a)
		c.warnCursor(a)
		c.warnInline(a)
		if !a.Custom && a.root != nil {
			c.warnLevels(a, a.root)
		}
		if !a.Custom && a.Kind == model.Update {
			for _, in := range a.Writes {
				if f := linkedBy(in); f != nil {
					c.warnLink(a, f, in.Span)
				}
			}
		}
		c.warnSets(a)
	}
	for _, u := range c.unions {
		for _, arm := range u.Arms {
			c.warnArm(u, arm)
		}
	}
	c.checkAllowances()
}

func (c *checker) warnNoRule(a *actionDecl) {
	isOwn := slices.ContainsFunc(a.tree.Attrs, func(at *syntax.Attribute) bool { return at.Name.Name == "permission" })
	covered := false
	if a.union != nil {
		covered = a.union.ruleCount[a.Kind] || a.union.tree.Incomplete()
	} else {
		covered = a.model.ruleCount[a.Kind.RuleKind()] || a.model.tree.Incomplete()
	}
	if !isOwn && !covered && !a.tree.Incomplete() {
		c.warnAction(a, NoRule, a.Span, noRule(a.Name, a.owner(), a.Kind.RuleKind()))
	}
}

// linkedBy returns the to-one by which an input links a row, or nil.
func linkedBy(in *model.Input) *model.Field {
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

// warnFilters warns of values of related rows that callers can find out by trial: by
// implicit inputs that look a row up or filter, and by conditions that compare a related
// row with a value that the caller chooses. The use of inputs in custom code is not
// known, except the filters of its list.
func (c *checker) warnFilters(a *actionDecl) {
	for _, in := range a.Reads {
		if len(in.Path) > 1 && (!a.Custom || a.Kind == model.List) {
			c.warnFilter(a, in.Path, in.Span)
		}
	}
	for _, p := range comparedWithChosen(a) {
		c.warnFilter(a, model.FieldsOf(p), p.Span())
	}
}

// comparedWithChosen returns the paths of the row that conditions of an action compare with
// a value that the caller chooses.
func comparedWithChosen(a *actionDecl) []*expr.Path {
	var paths []*expr.Path
	add := func(n, with expr.Node) {
		if !isChosen(with) {
			return
		}
		for _, p := range expr.Paths(n) {
			if p.Root == expr.RootRow {
				paths = append(paths, p)
			}
		}
	}
	for _, w := range a.Wheres {
		expr.Inspect(w.Expression, func(n expr.Node) bool {
			if compare, ok := n.(*expr.Compare); ok {
				add(compare.Left, compare.Right)
				add(compare.Right, compare.Left)
			}
			return true
		})
	}
	return paths
}

// warnFilter warns of each model that a path from the action's row reads.
func (c *checker) warnFilter(a *actionDecl, path []*model.Field, span syntax.Span) {
	eachRelated(path, func(to []*model.Field, m *model.Model) {
		isVouched := c.hidesRefused(a) && vouches(a, m, to, model.Get, model.List)
		if widens(a, m, model.Get, model.List) && !asksCaller(a, to, false) && !isVouched {
			c.warnAction(a, FilterWidens, span, filterWidens(a.Name, model.PathName(path), m.Name), ruleNotes(m, model.Get, model.List)...)
		}
	})
}

// hidesRefused tells whether an action does not tell of rows that its rules refuse.
func (c *checker) hidesRefused(a *actionDecl) bool {
	return a.Kind == model.List || c.options.Config.HideRefusedRows
}

// eachRelated calls a function once for each other model whose rows a path reads, with the path to its row.
func eachRelated(path []*model.Field, do func(to []*model.Field, m *model.Model)) {
	var seen []*model.Model
	for i, f := range path {
		if i > 0 && model.ReadsRelated(path[i-1], f) && !slices.Contains(seen, f.Model) {
			seen = append(seen, f.Model)
			do(path[:i], f.Model)
		}
	}
}

// eachCopied is eachRelated for the values of an expression over a row, and for the copies among them.
func eachCopied(value expr.Node, do func(path, to []*model.Field, m *model.Model)) {
	for _, p := range expr.Paths(value) {
		path := model.FieldsOf(p)
		if p.Root != expr.RootRow || len(path) == 0 {
			continue
		}
		for _, source := range append(path[len(path)-1].CopiedFrom(), nil) {
			read := path
			if source != nil {
				read = slices.Concat(path[:len(path)-1], source)
			}
			eachRelated(read, func(to []*model.Field, m *model.Model) { do(path, to, m) })
		}
	}
}

// warnCursor warns of fields that the cursors of a list hold and its records do not show.
func (c *checker) warnCursor(a *actionDecl) {
	var names []string
	for _, f := range a.Orderable() {
		isShown := func(m *model.Member) bool { return m.Field == f || f.FKOf != nil && m.Field == f.FKOf }
		if a.Selected != nil && !slices.ContainsFunc(a.Selected, isShown) {
			names = append(names, f.Name)
		}
	}
	if len(names) > 0 {
		c.warnAction(a, CursorWidens, a.tree.Name.Span(), cursorWidens(a.Name, names))
	}
}

// warnInline warns of the files that an action takes inline, past the bounds of the fields
// that store them.
func (c *checker) warnInline(a *actionDecl) {
	if c.options.Config.ChecksInline {
		return
	}
	for _, in := range a.Writes {
		for _, f := range a.StoredIn(in) {
			if bounds := c.fileBounds(f); len(bounds) > 0 {
				c.warnAction(a, UncheckedInline, in.Span, uncheckedInline(a.Name, in.Written(), f.Name, bounds), note(f.Span, declaredHere(f.Name)))
			}
		}
	}
}

// fileBounds names the attributes of a field that bound its files.
func (c *checker) fileBounds(f *model.Field) []string {
	if f.Type.Kind != expr.File {
		return nil
	}
	var names []string
	for _, at := range c.fields[f].attrs {
		if at.Name.Name == "accepts" || at.Name.Name == "maxSize" {
			names = append(names, "@"+at.Name.Name)
		}
	}
	return names
}

// warnLevels warns of the rows that a create inserts and links below its root.
func (c *checker) warnLevels(a *actionDecl, l *model.Level) {
	for _, in := range l.Inputs {
		if last := in.Path[len(in.Path)-1]; last.FKOf != nil && !asksLinked(a, slices.Concat(l.Path, []*model.Field{last.FKOf}), last.FKOf.Target) {
			c.warnLink(a, last.FKOf, in.Span)
		}
	}
	for _, child := range l.Children {
		switch {
		case child.IsLink():
			if !asksLinked(a, child.Path, child.Model) {
				c.warnLink(a, child.Field, child.First.Span)
			}
			continue
		case widens(a, child.Model, model.Create) && !vouches(a, child.Model, child.Path, model.Create):
			c.warnAction(a, NestedWidens, child.First.Span, nestedWidens(a.Name, child.Model.Name), ruleNotes(child.Model, model.Create)...)
		}
		c.warnLevels(a, child)
	}
}

// warnSets warns of the rows that callers choose and a @set links, and of the values of other rows that it stores.
func (c *checker) warnSets(a *actionDecl) {
	for _, key := range a.setKeys {
		eachCopied(key.set.Value, func(path, to []*model.Field, m *model.Model) {
			if widens(a, m, model.Get, model.List) && !demandsCaller(a, to) && !vouches(a, m, to, model.Get, model.List) {
				c.warnAction(a, ComputedWidens, key.set.Span, setWidens(a.Name, key.field.Name, model.PathName(path), m.Name), ruleNotes(m, model.Get, model.List)...)
			}
		})
		if !key.field.IsRelation() || !isChosen(key.set.Value) {
			continue
		}
		if a.Kind == model.Create && asksLinked(a, slices.Concat(key.level, []*model.Field{key.field}), key.field.Target) {
			continue
		}
		c.warnLink(a, key.field, key.set.Span)
	}
}

// isChosen tells whether callers have a say in a value: by an input or a header.
func isChosen(value expr.Node) bool {
	m := expr.Mentions(value)
	return len(m.Inputs) > 0 || len(m.Headers) > 0
}

func (c *checker) warnLink(a *actionDecl, f *model.Field, span syntax.Span) {
	if widens(a, f.Target, model.Get, model.List) {
		c.warnAction(a, LinkWidens, span, linkWidens(a.Name, f.Target.Name), ruleNotes(f.Target, model.Get, model.List)...)
	}
}

// asksLinked tells whether the rules of a create imply those of the row that is linked at a path, or each tests that row,
// as review.booking.guest == ctx.identity tests the booking. The rules see the new row,
// so they test the row that the caller names. The rules of an update see the row as it
// was. Below a to-many they test one row only.
func asksLinked(a *actionDecl, path []*model.Field, linked *model.Model) bool {
	if slices.ContainsFunc(path, (*model.Field).IsToMany) {
		return false
	}
	return vouches(a, linked, path, model.Get, model.List) || a.Demands(func(n expr.Node) bool {
		if compare, ok := n.(*expr.Compare); ok {
			isNullTest := compare.Left.Type().Kind == expr.NullKind || compare.Right.Type().Kind == expr.NullKind
			return !isNullTest && (beginsAt(compare.Left, path) || beginsAt(compare.Right, path))
		}
		return beginsAt(n, path)
	})
}

// vouchesShown is vouches for a row that an action shows. An update shows rows to which it links, and its rules saw the
// row as it was.
func vouchesShown(a *actionDecl, m *model.Model, to []*model.Field) bool {
	isWritten := func(f *model.Field) bool { return f == to[0] || f.FKOf == to[0] }
	if a.Kind == model.Update && (slices.ContainsFunc(a.Writes, func(in *model.Input) bool { return len(in.Path) > 0 && isWritten(in.Path[0]) }) ||
		slices.ContainsFunc(a.Sets, func(s *model.Set) bool { return isWritten(s.Target[0]) })) {
		return false
	}
	return vouches(a, m, to, model.Get, model.List)
}

// asksCaller tells whether the Identity at a path from the row is always the caller, by each
// of the rules or by a @where. The record of an update shows a row that its rules saw as it
// was. Only a list does not tell of rows that it refuses.
func asksCaller(a *actionDecl, path []*model.Field, isShown bool) bool {
	return !(isShown && a.Kind == model.Update || !isShown && a.Kind != model.List) && demandsCaller(a, path)
}

// demandsCaller tells whether each of the rules, or a @where, demands that the Identity at a path from the row is the
// caller.
func demandsCaller(a *actionDecl, path []*model.Field) bool {
	if len(path) == 0 || !path[len(path)-1].Target.IsIdentity || slices.ContainsFunc(path, (*model.Field).IsToMany) {
		return false
	}
	isCaller := func(n expr.Node) bool {
		compare, ok := n.(*expr.Compare)
		return ok && compare.Op == syntax.Equal &&
			(isIdentityAt(compare.Left, path) && isCallerItself(compare.Right) || isIdentityAt(compare.Right, path) && isCallerItself(compare.Left))
	}
	return a.Demands(isCaller) || slices.ContainsFunc(a.Wheres, func(w *model.Where) bool { return model.Demands(w.Expression, isCaller) })
}

// isIdentityAt tells whether an expression is the to-one at a path of the row, its foreign key or its id.
func isIdentityAt(n expr.Node, path []*model.Field) bool {
	if !beginsAt(n, path[:len(path)-1]) {
		return false
	}
	last, rest := path[len(path)-1], model.FieldsOf(n.(*expr.Path))[len(path)-1:]
	return len(rest) == 1 && (rest[0] == last || rest[0].FKOf == last) || len(rest) == 2 && rest[0] == last && rest[1].Name == "id"
}

// isCallerItself tells whether an expression is ctx.identity, or its id.
func isCallerItself(n expr.Node) bool {
	p, ok := n.(*expr.Path)
	return ok && p.Root == expr.RootIdentity && (len(p.Steps) == 0 || len(p.Steps) == 1 && p.Steps[0].StepName() == "id")
}

// beginsAt tells whether an expression is a path of the row that begins with some fields.
func beginsAt(n expr.Node, path []*model.Field) bool {
	p, ok := n.(*expr.Path)
	return ok && p.Root == expr.RootRow && len(p.Steps) >= len(path) && slices.Equal(model.FieldsOf(p)[:len(path)], path)
}

// warnArm warns once of an arm whose rows are shown by the union's rules, and once of each other model whose values it
// shows: for the first action whose access this widens and that does not allow it.
func (c *checker) warnArm(u *unionDecl, arm *model.Arm) {
	c.warnShown(u, arm, arm.Model, unionWidens(u.Name, arm.Model.Name))
	for _, v := range arm.Values {
		if v.Value != nil {
			eachCopied(v.Value, func(path, _ []*model.Field, m *model.Model) {
				c.warnShown(u, arm, m, armWidens(u.Name, v.Field.Name, model.PathName(path), m.Name))
			})
		}
	}
}

func (c *checker) warnShown(u *unionDecl, arm *model.Arm, shown *model.Model, message string) {
	warned := false
	for _, a := range c.actions {
		if a.union != u || !widens(a, shown, model.Get, model.List) || warned && a.allows(UnionWidens) == nil {
			continue
		}
		warned = warned || a.allows(UnionWidens) == nil
		c.warnAction(a, UnionWidens, arm.Span, message, ruleNotes(shown, model.Get, model.List)...)
	}
}

// widens tells whether a model has rules of its own for any of the kinds, and none of
// them admits everybody or equals a rule of the action that mentions no row.
func widens(a *actionDecl, m *model.Model, kinds ...model.Kind) bool {
	rules := rulesFor(m, kinds)
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(own *model.Rule) bool {
		return own.AdmitsEverybody() || slices.ContainsFunc(a.Rules, func(r *model.Rule) bool {
			return !r.MentionsRow() && r.Condition == own.Condition && sameRoles(r.Roles, own.Roles)
		})
	})
}

// rulesFor returns the model's own rules for any of the kinds.
func rulesFor(m *model.Model, kinds []model.Kind) []*model.Rule {
	var rules []*model.Rule
	for _, r := range m.Rules {
		if slices.ContainsFunc(kinds, func(k model.Kind) bool { return slices.Contains(r.Kinds, k) }) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ruleNotes points to the model's own rules for any of the kinds. A @permission is one rule
// for each way to its roles, and has one note.
func ruleNotes(m *model.Model, kinds ...model.Kind) []syntax.Note {
	var notes []syntax.Note
	for _, r := range rulesFor(m, kinds) {
		n := note(r.Span, ruleHere())
		if m.IsIdentity {
			n.Message = ruleOfIdentity()
		}
		if !slices.Contains(notes, n) {
			notes = append(notes, n)
		}
	}
	return notes
}

// sameRoles tells whether two rules ask for the same roles, in any order.
func sameRoles(a, b []*model.Role) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r *model.Role) bool { return !slices.Contains(b, r) })
}
