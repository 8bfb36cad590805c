package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkLevels arranges the inputs of a create in levels, and checks what each of
// them links or inserts.
func (c *checker) checkLevels(a *actionDecl) {
	a.root = a.Levels()
	c.checkLevel(a, a.root)
}

func (c *checker) checkLevel(a *actionDecl, l *model.Level) {
	for _, child := range l.Children {
		f := child.Field
		if c.isDoubtful(f) {
			a.doubtful = true
			continue
		}
		id := slices.IndexFunc(child.Inputs, func(in *model.Input) bool { return in.Path[len(in.Path)-1].Name == "id" })
		switch {
		case f.IsToMany() && id >= 0:
			c.report(BadLink, child.Inputs[id].Span, linkBelowToMany(child.Path))
			a.doubtful = true
		case child.IsLink() && f.Column == "":
			c.report(BadLink, child.First.Span, linkWithoutColumn(f), inverseNotes(f)...)
			a.doubtful = true
		case !child.IsLink() && child.Model.IsIdentity:
			c.report(IdentityNotCreatable, child.First.Span, identityNotCreatable(child.Path))
			a.doubtful = true
			continue
		}
		if !child.IsLink() {
			if in := l.Input(f); in != nil {
				c.report(DuplicateInput, in.Span, givenTwice(f), note(child.First.Span, firstHere(model.PathName(child.First.Path))))
				a.doubtful = true
			}
		}
		c.checkLevel(a, child)
	}
}

// checkCover checks that every row that may be inserted gets a value in each
// field that needs one.
func (c *checker) checkCover(a *actionDecl, l *model.Level) {
	var missing []*model.Field
	isBroken := c.isBroken(l.Model.Name, "")
	for _, f := range l.Model.Fields {
		isStored := f.Column != "" && f.FKOf == nil && !f.BuiltIn
		isBack := l.Field != nil && l.Field.Inverse == f
		if !isStored || f.Optional || f.Default != nil || f.Sequence != nil || isBack || c.isDoubtful(f) || c.isCovered(a, l, f) {
			continue
		}
		if d := c.fields[f]; d != nil && d.mayDefault {
			continue
		}
		in := optionalCover(a, l, f)
		switch {
		case isBroken:
		case in != nil:
			c.report(UncoveredField, in.Span, coveredByOptional(l.Model.Name, f, in), note(f.Span, requiredHere(f.Name)))
		default:
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		span := a.Span
		if l.Field != nil {
			span = l.First.Span
		}
		var notes []syntax.Note
		for _, f := range missing {
			notes = append(notes, note(f.Span, requiredHere(f.Name)))
		}
		c.report(UncoveredField, span, uncoveredField(l.Model.Name, missing), notes...)
	}
	for _, f := range l.Model.Fields {
		if f.IsToMany() && f.MinItems > 0 && l.Child(f) == nil && !isBroken {
			span := a.Span
			if l.Field != nil {
				span = l.First.Span
			}
			c.report(UncoveredField, span, tooFewRows(f), note(f.Span, requiredHere(f.Name)))
		}
	}
	for _, child := range l.Children {
		if !child.IsLink() {
			c.checkCover(a, child)
		}
	}
}

// isCovered tells whether a field of an inserted row gets a value.
func (c *checker) isCovered(a *actionDecl, l *model.Level, f *model.Field) bool {
	if in := l.Input(f); in != nil && (!in.Optional || l.IsLoose()) {
		return true
	}
	if child := l.Child(f); child != nil && !child.IsLink() {
		return true
	}
	return slices.ContainsFunc(a.setKeys, func(k setKey) bool {
		return k.field == f && slices.Equal(k.level, l.Path) && !hasOptionalInput(k.set.Value)
	})
}

// optionalCover returns the input that gives a field of an inserted row a value,
// itself or in a @set, but can be left out. It is nil if there is none.
func optionalCover(a *actionDecl, l *model.Level, f *model.Field) *model.Input {
	if in := l.Input(f); in != nil && in.Optional {
		return in
	}
	for _, k := range a.setKeys {
		if k.field != f || !slices.Equal(k.level, l.Path) {
			continue
		}
		for _, in := range expr.Mentions(k.set.Value).Inputs {
			if in, ok := in.(*model.Input); ok && in.Optional {
				return in
			}
		}
	}
	return nil
}

// setKey is the target of a @set: a field of a level. A to-one, its FK field and
// the id below it are one key.
type setKey struct {
	level []*model.Field
	field *model.Field
	set   *model.Set
}

// checkSet reads a @set of an action.
func (c *checker) checkSet(a *actionDecl, at *syntax.Attribute) {
	if a.Custom {
		c.report(FunctionAttribute, at.Name.Span(), functionAttribute("set"))
		a.doubtful = true
		return
	}
	set, key := c.set(a, at)
	if set == nil {
		a.doubtful = true
		return
	}
	key.set = set
	a.Sets = append(a.Sets, set)
	a.setKeys = append(a.setKeys, key)
}

// set reads a @set. It is nil if it is in error.
func (c *checker) set(a *actionDecl, at *syntax.Attribute) (*model.Set, setKey) {
	target, value := c.assignment(at)
	if target == nil {
		return nil, setKey{}
	}
	path, key, ok := c.setTarget(a, target)
	if !ok {
		return nil, setKey{}
	}
	last := path[len(path)-1]
	t := expr.Target{Type: last.Type, Optional: key.field.Optional, Name: a.variable() + "." + model.PathName(path)}
	for _, f := range key.level {
		t.Level = append(t.Level, f)
	}
	node := c.scopeOf(a, expr.SetValue).checkValue(value, t)
	if node == nil {
		return nil, setKey{}
	}
	for _, p := range expr.Paths(node) {
		if p.Root != expr.RootRow || a.Kind != model.Create {
			continue
		}
		from := a.linkOf(p, key.level)
		switch {
		case from != nil && isAmong(from.Path, key.level):
			continue
		case a.inputsInError:
		case from != nil:
			c.report(syntax.NotSupportedYet, p.Span(), setReadsAround(from.Model.Name))
		default:
			c.report(SetReadsNewRow, value.Span(), setReadsNewRow(a.variable()))
		}
		return nil, setKey{}
	}
	if problem := beyondLimits(last, node); problem != "" {
		c.report(BadLimit, value.Span(), problem)
		return nil, setKey{}
	}
	return &model.Set{Target: path, Value: node, Span: at.Span()}, key
}

// assignment returns the two sides of a @set, nil for any other form.
func (c *checker) assignment(at *syntax.Attribute) (*syntax.Path, syntax.Expr) {
	switch {
	case len(at.Args) == 0:
		c.badArguments(at, at.Name.Span())
		return nil, nil
	case len(at.Args) > 1:
		c.badArguments(at, at.Args[1].Span())
		return nil, nil
	}
	arg := at.Args[0]
	if arg.Target == nil || arg.Label != nil {
		c.badArguments(at, arg.Span())
		return nil, nil
	}
	if arg.Target.Incomplete() || arg.Incomplete() {
		return nil, nil
	}
	return arg.Target, arg.Value
}

// setTarget resolves the target of a @set in an action.
func (c *checker) setTarget(a *actionDecl, target *syntax.Path) ([]*model.Field, setKey, bool) {
	first := target.Steps[0]
	if first.Name != a.variable() || len(target.Steps) == 1 {
		c.report(SetTarget, target.Span(), setTargetNoField(a.variable()))
		return nil, setKey{}, false
	}
	path, ok := c.fieldPath(a.model.Model, target.Steps[1:])
	if !ok {
		return nil, setKey{}, false
	}
	last := path[len(path)-1]
	key := setKey{level: path[:len(path)-1], field: last}
	switch {
	case last.FKOf != nil:
		key.field = last.FKOf
	case last.Name == "id" && len(path) > 1 && !a.inserts(key.level):
		key = setKey{level: path[:len(path)-2], field: path[len(path)-2]}
	}
	span := target.Steps[len(target.Steps)-1].Span()
	switch {
	case slices.ContainsFunc(path, c.isDoubtful):
		return nil, key, false
	case key.field.IsGiven():
		c.report(ComputedInput, span, givenInput(key.field))
		return nil, key, false
	case a.Kind == model.Update && key.field.NumberedPer() != nil:
		c.report(ComputedInput, span, givenInput(key.field))
		return nil, key, false
	case slices.ContainsFunc(key.level, (*model.Field).IsGiven):
		given := slices.IndexFunc(key.level, (*model.Field).IsGiven)
		c.report(ComputedInput, target.Steps[given+1].Span(), givenInput(key.level[given]))
		return nil, key, false
	case last.Name == "createdAt" || last.Name == "updatedAt":
		c.report(BuiltInTimestamp, span, builtInTimestamp(last.Name))
		return nil, key, false
	case key.field.Column == "":
		c.report(SetTarget, target.Span(), setTargetNotStored(key.field), inverseNotes(key.field)...)
		return nil, key, false
	case len(key.level) > 0 && !a.inserts(key.level):
		if !a.inputsInError {
			c.report(SetTarget, target.Span(), setTargetNotInserted(key.level, a.Kind))
		}
		return nil, key, false
	}
	return path, key, true
}

// inserts tells whether the inputs of a create insert rows at a path.
func (a *actionDecl) inserts(path []*model.Field) bool {
	if a.root == nil {
		return false
	}
	l := a.root.At(path)
	return l != nil && !l.IsLink()
}

// linkOf returns the level, on the way to the rows of another, whose rows a create links to the row that a path of the
// row leads to; nil if no input links one.
func (a *actionDecl) linkOf(p *expr.Path, to []*model.Field) *model.Level {
	l := a.root
	for i, s := range p.Steps {
		f, isField := s.(*model.Field)
		if !isField || l == nil {
			return nil
		}
		if child := l.Child(f); child != nil && !child.IsLink() && i < len(to) && to[i] == f {
			l = child
			continue
		}
		if f.IsToOne() && l.Input(f) != nil {
			return l
		}
		return nil
	}
	return nil
}

// isAmong tells whether there is one row of the first level for all rows of the second, which is below it, or each of
// these has its own.
func isAmong(path, below []*model.Field) bool {
	return !slices.ContainsFunc(path, (*model.Field).IsToMany) || !slices.ContainsFunc(below[len(path):], (*model.Field).IsToMany)
}

// checkConflicts reports fields with two @set, or with a @set and a write input.
func (c *checker) checkConflicts(a *actionDecl) {
	for i, k := range a.setKeys {
		earlier := slices.IndexFunc(a.setKeys[:i], func(other setKey) bool {
			return other.field == k.field && slices.Equal(other.level, k.level)
		})
		if earlier >= 0 {
			c.report(SetConflict, k.set.Span, setTwice(k.field), note(a.setKeys[earlier].set.Span, firstHere(model.PathName(a.setKeys[earlier].set.Target))))
			continue
		}
		if in := a.writeInput(k); in != nil {
			c.report(SetConflict, k.set.Span, setAndInput(k.field), note(in.Span, firstHere(in.Written())))
		}
	}
}

// writeInput returns the write input that gives a value to the target of a @set, or
// nil. Inputs that insert a row at a to-one do so too.
func (a *actionDecl) writeInput(k setKey) *model.Input {
	if a.Kind == model.Create {
		l := a.root.At(k.level)
		if in := l.Input(k.field); in != nil {
			return in
		}
		if child := l.Child(k.field); child != nil {
			return child.First
		}
		return nil
	}
	for _, in := range a.Writes {
		if in.Explicit || len(k.level) > 0 {
			continue
		}
		if f := in.Path[0]; f == k.field || f.FKOf == k.field {
			return in
		}
	}
	return nil
}
