package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// inputs checks one list of inputs. It leaves out inputs in error and notes them as
// broken inputs of the action.
func (c *checker) inputs(a *actionDecl, list *syntax.Inputs, isWrite bool) []*model.Input {
	if list.Incomplete() {
		a.doubtful = true
	}
	var inputs []*model.Input
	var flat clashes
	for _, tree := range list.List {
		name := inputName(tree)
		in := c.input(a, tree, isWrite, len(list.List) == 1)
		if in == nil {
			a.brokenInputs[name] = true
			a.doubtful = true
			continue
		}
		if in.Message == nil && in.Type.Kind != expr.Any {
			if earlier, found := flat.add(in.Name, in.Written(), in.Span); found {
				c.report(DuplicateInput, in.Span, duplicateInput(in.Name), note(earlier.span, firstHere(earlier.name)))
				a.brokenInputs[name] = true
				continue
			}
		}
		if other := sameMember(a, in, inputs); other != nil {
			c.report(DuplicateInput, in.Span, oneMember(in, other), note(other.Span, firstHere(other.Written())))
			a.brokenInputs[name] = true
			continue
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// sameMember returns an earlier input that would be the same member of a nested request
// as an input, or nil. One of them has a type of its own and the name of the relation
// that the other leads through.
func sameMember(a *actionDecl, in *model.Input, earlier []*model.Input) *model.Input {
	if !in.IsWrite && a.Kind != model.List {
		return nil // requests have flat names
	}
	isObject := func(in *model.Input, name string) bool {
		return !in.Explicit && len(in.Path) > 1 && in.Path[0].Name == name
	}
	for _, other := range earlier {
		if in.Explicit && isObject(other, in.Name) || other.Explicit && isObject(in, other.Name) {
			return other
		}
	}
	return nil
}

// inputName returns the name of an input in expressions.
func inputName(tree *syntax.Input) string {
	if tree.Label != nil {
		return tree.Label.Name
	}
	var steps []string
	for _, s := range tree.Path.Steps {
		steps = append(steps, s.Name)
	}
	return model.FlatName(steps)
}

// input checks one input. It is nil if it is in error.
func (c *checker) input(a *actionDecl, tree *syntax.Input, isWrite, alone bool) *model.Input {
	if tree.Incomplete() || tree.Path.Incomplete() {
		return nil
	}
	in := &model.Input{
		Name:     inputName(tree),
		Explicit: tree.Label != nil,
		Optional: tree.Optional != nil,
		IsWrite:  isWrite,
		Span:     tree.Span(),
	}
	var ok bool
	switch {
	case tree.Label != nil:
		ok = c.explicitInput(a, tree, in)
	case len(tree.Path.Steps) == 1 && c.isTypeInput(a, tree.Path.Steps[0].Name):
		ok = c.typeInput(a, tree, in, alone)
	case tree.Array != nil:
		c.report(LabelOnPath, tree.Array.Span(), arrayOnPath(in.Name))
	case a.union != nil:
		ok = c.unionInput(a, tree, in)
	default:
		ok = c.implicitInput(a, tree, in)
	}
	if !ok {
		return nil
	}
	return in
}

// isTypeInput tells whether an unlabelled name is meant as a type.
func (c *checker) isTypeInput(a *actionDecl, name string) bool {
	_, isScalar := expr.ScalarNamed(name)
	return isScalar || name == "Any" || c.types[name] != nil || isTypeName(name) && a.Kind.IsOfCode()
}

// explicitInput checks an input of the form label: Type.
func (c *checker) explicitInput(a *actionDecl, tree *syntax.Input, in *model.Input) bool {
	if isFieldName(in.Name) && isReservedLabel(in.Name, a.variable()) {
		c.report(ReservedName, tree.Label.Span(), reservedLabel(in.Name))
		a.reservedLabels = append(a.reservedLabels, in.Name)
		return false
	}
	if len(tree.Path.Steps) > 1 {
		c.report(LabelOnPath, tree.Label.Span(), labelOnPath(in.Name))
		return false
	}
	name := tree.Path.Steps[0]
	t := c.types[name.Name]
	kind, isScalar := expr.ScalarNamed(name.Name)
	switch {
	case isScalar:
		in.Type = expr.Type{Kind: kind}
	case t != nil && t.enum != nil:
		in.Type, in.Enum = expr.Type{Kind: expr.Enum, Name: name.Name}, t.enum
	case t != nil && t.union != nil:
		c.report(TypeNotAllowed, name.Span(), unionAsType(name.Name), note(t.span, declaredHere(name.Name)))
		return false
	case t != nil || name.Name == "Any":
		c.report(InputType, name.Span(), inputNoScalar(name.Name))
		return false
	case a.hasField(name.Name) || c.isBroken(a.owner(), name.Name) && isFieldName(name.Name):
		c.report(LabelOnPath, tree.Label.Span(), labelOnPath(in.Name))
		return false
	default:
		c.unknownType(name)
		return false
	}
	if tree.Array != nil {
		if !kind.HasArrays() {
			c.report(ArrayNotAllowed, tree.Array.Span(), arrayNotAllowed(name.Name))
			return false
		}
		in.Type.Array = true
	}
	isBuiltIn := !a.Kind.IsOfCode()
	if isBuiltIn && !in.IsWrite && kind.IsPrepared() {
		c.report(InputType, name.Span(), inputNotReadable(name.Name, a.Kind))
		return false
	}
	return true
}

// mentionsReserved tells whether an expression names an input whose label is
// reserved. Something else has the name, but may not be what is meant.
func (a *actionDecl) mentionsReserved(e syntax.Expr) bool {
	return slices.ContainsFunc(a.reservedLabels, func(name string) bool { return mentionsName(e, name) })
}

// hasField tells whether the action's model or union has a field of that name.
func (a *actionDecl) hasField(name string) bool {
	if a.union != nil {
		return a.union.Field(name) != nil
	}
	return a.model.Field(name) != nil
}

// typeInput checks an unlabelled type: the one message or Any of a read or write.
func (c *checker) typeInput(a *actionDecl, tree *syntax.Input, in *model.Input, alone bool) bool {
	name := tree.Path.Steps[0]
	t := c.types[name.Name]
	_, isScalar := expr.ScalarNamed(name.Name)
	switch {
	case t == nil && !isScalar && name.Name != "Any":
		c.unknownMessage(name)
		return false
	case name.Name != "Any" && (t == nil || t.message == nil):
		c.report(UnlabelledType, name.Span(), unlabelledType(name.Name))
		return false
	case !a.Kind.IsOfCode():
		c.report(MessageInput, name.Span(), messageOnBuiltIn(name.Name, a.Kind))
		return false
	case !alone:
		c.report(MessageInput, name.Span(), messageNotAlone(name.Name))
		return false
	case tree.Array != nil || tree.Optional != nil:
		c.report(MessageInput, tree.Span(), messageWhole(name.Name))
		return false
	}
	in.Name = "input"
	if name.Name == "Any" {
		in.Type = expr.Type{Kind: expr.Any}
	} else {
		in.Type, in.Message = expr.Type{Kind: expr.Message, Name: name.Name}, t.message
	}
	return true
}

// implicitInput checks an input that is a path of fields.
func (c *checker) implicitInput(a *actionDecl, tree *syntax.Input, in *model.Input) bool {
	path, ok := c.fieldPath(a.model.Model, tree.Path.Steps)
	if !ok {
		return false
	}
	last := path[len(path)-1]
	lastSpan := tree.Path.Steps[len(path)-1].Span()
	isBuiltIn := !a.Kind.IsOfCode()
	switch {
	case last.IsRelation():
		c.report(InputIsRelation, lastSpan, inputIsRelation(path))
		return false
	case !in.IsWrite && isBuiltIn && last.Type.Kind.IsOpaque():
		c.report(NotFilterable, lastSpan, notFilterable(last))
		return false
	case in.IsWrite && (a.Kind == model.Create || a.Kind == model.Update) && slices.ContainsFunc(path, (*model.Field).IsGiven):
		given := slices.IndexFunc(path, (*model.Field).IsGiven)
		c.report(ComputedInput, tree.Path.Steps[given].Span(), givenInput(path[given]))
		return false
	case in.IsWrite && a.Kind == model.Update && path[0].NumberedPer() != nil:
		c.report(ComputedInput, tree.Path.Steps[0].Span(), givenInput(path[0]))
		return false
	case in.IsWrite && (last.Name == "createdAt" || last.Name == "updatedAt"):
		c.report(BuiltInTimestamp, lastSpan, builtInTimestamp(last.Name))
		return false
	}
	if a.Kind == model.List {
		for i, f := range path {
			if c.isHidden(f, tree.Path.Steps[i].Span()) {
				return false
			}
		}
	}
	in.Path, in.Type, in.Enum, in.Nullable = path, last.Type, last.Enum, last.Optional
	return true
}

// fieldPath resolves a path of fields from a model on. Every step but the last is
// a relation.
func (c *checker) fieldPath(m *model.Model, steps []*syntax.Ident) ([]*model.Field, bool) {
	var path []*model.Field
	for _, step := range steps {
		if m == nil {
			c.report(expr.UnknownField, step.Span(), pastScalar(step.Name, path[len(path)-1].Name))
			return nil, false
		}
		f := m.Field(step.Name)
		if f == nil {
			if !c.isBroken(m.Name, step.Name) {
				var notes []syntax.Note
				if m.IsIdentity {
					notes = c.contestedNotes(step.Name)
				}
				c.report(expr.UnknownField, step.Span(), unknownField(m.Name, step.Name, c.suggestField(m, step.Name)), notes...)
			}
			return nil, false
		}
		path = append(path, f)
		m = f.Target
	}
	return path, true
}

// unionInput checks an input of a union's action.
func (c *checker) unionInput(a *actionDecl, tree *syntax.Input, in *model.Input) bool {
	f := c.unionField(a.union.Union, tree.Path.Steps)
	if f == nil {
		return false
	}
	if f.Type.Kind.IsOpaque() {
		c.report(NotFilterable, tree.Path.Span(), notFilterableUnion(f))
		return false
	}
	in.Union, in.Type, in.Enum, in.Nullable = f, f.Type, f.Enum, f.Optional
	return true
}

// unionField resolves a path that must name one field of a union. It reports any
// other path and returns nil.
func (c *checker) unionField(u *model.Union, steps []*syntax.Ident) *model.UnionField {
	f := u.Field(steps[0].Name)
	if f == nil {
		if !c.isBroken(u.Name, steps[0].Name) {
			near := syntax.Suggest(steps[0].Name, unionFieldNames(u))
			c.report(expr.UnknownField, steps[0].Span(), unknownField(u.Name, steps[0].Name, near))
		}
		return nil
	}
	if len(steps) > 1 {
		c.report(expr.UnknownField, steps[1].Span(), pastScalar(steps[1].Name, f.Name))
		return nil
	}
	return f
}

// unionFieldNames returns the names of a union's fields.
func unionFieldNames(u *model.Union) []string {
	var names []string
	for _, f := range u.Fields {
		names = append(names, f.Name)
	}
	return names
}

// hasOptionalInput tells whether an expression names an input that may be absent.
func hasOptionalInput(n expr.Node) bool {
	return slices.ContainsFunc(expr.Mentions(n).Inputs, expr.Input.InputOptional)
}
