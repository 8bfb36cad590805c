package check

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkUnions checks the fields, arms and rules of unions. Arms are checked when
// all fields of the union are known, rules when all arms are.
func (c *checker) checkUnions() {
	for _, u := range c.unions {
		c.unionFields(u)
		c.unionArms(u)
		for _, a := range syntax.AttributesOf(u.tree.Members) {
			if a.Name.Name != "permission" || a.Incomplete() {
				continue
			}
			for _, arg := range a.Args {
				if arg.Label != nil && arg.Label.Name == "jobs" {
					c.report(RuleActions, arg.Label.Span(), ruleJobsOnUnion())
				}
			}
			u.Rules = append(u.Rules, c.modelRule(a, u.Variable, u.Name, u.ruleCount)...)
		}
	}
}

// unionFields makes the fields of a union.
func (c *checker) unionFields(u *unionDecl) {
	for _, b := range []struct {
		name string
		kind expr.Kind
	}{{"id", expr.ID}, {"sourceModel", expr.Text}, {"sourceArm", expr.Text}} {
		u.Fields = append(u.Fields, &model.UnionField{Union: u.Union, Name: b.name, Column: model.SnakeForm(b.name),
			Type: expr.Type{Kind: b.kind}, BuiltIn: true, Span: u.Span})
	}
	columns := clashes{}
	for _, f := range u.Fields {
		columns.add(f.Column, f.Name, syntax.Span{})
	}
	seen := map[string]syntax.Span{}
	for _, tree := range syntax.FieldsOf(u.tree.Members) {
		name := tree.Name.Name
		if earlier, found := seen[name]; found {
			c.report(DuplicateField, tree.Name.Span(), duplicateField(u.Name, name), note(earlier, declaredHere(name)))
			continue
		}
		seen[name] = tree.Name.Span()
		c.allowedAttributes(onUnionField, tree.Attrs)
		if isReservedUnionField(name) {
			c.report(ReservedName, tree.Name.Span(), reservedField(u.Name, name))
			continue
		}
		if isFieldName(name) {
			snake := model.SnakeForm(name)
			if len(snake) > model.MaxColumnName {
				c.report(NameTooLong, tree.Name.Span(), nameTooLong(name, snake, model.MaxColumnName))
			}
			if earlier, found := columns.add(snake, name, tree.Name.Span()); found {
				c.report(NameClash, tree.Name.Span(), nameClash(name, earlier.name, snake), clashNotes(earlier)...)
			}
		}
		f := c.declareUnionField(u, tree)
		if f == nil {
			c.breakField(u.Name, name)
			continue
		}
		u.Fields = append(u.Fields, f)
	}
}

// declareUnionField makes a field of a union and finds its type. It is nil if
// that is in error.
func (c *checker) declareUnionField(u *unionDecl, tree *syntax.Field) *model.UnionField {
	name := tree.Type.Name
	f := &model.UnionField{
		Union:    u.Union,
		Name:     tree.Name.Name,
		Column:   model.SnakeForm(tree.Name.Name),
		Doc:      text(tree.Doc),
		Optional: tree.Optional != nil,
		Span:     tree.Name.Span(),
	}
	t := c.types[name]
	kind, isScalar := expr.ScalarNamed(name)
	switch {
	case isScalar && kind.HasArrays(): // what has no arrays is what a union does not have either
		f.Type = expr.Type{Kind: kind}
	case t != nil && t.enum != nil:
		f.Type, f.Enum = expr.Type{Kind: expr.Enum, Name: name}, t.enum
	case t != nil && t.union != nil:
		c.report(TypeNotAllowed, tree.Type.Span(), unionAsType(name), note(t.span, declaredHere(name)))
		return nil
	case isScalar || t != nil || name == "Any":
		c.report(UnionFieldType, tree.Type.Span(), unionFieldType(name))
		return nil
	default:
		c.unknownType(tree.Type)
		return nil
	}
	f.Type.Array = tree.Array != nil
	return f
}

// unionArms checks the arms of a union.
func (c *checker) unionArms(u *unionDecl) {
	trees := syntax.ArmsOf(u.tree.Members)
	if len(trees) == 0 && !u.tree.Incomplete() {
		c.report(NoArms, u.Span, noArms(u.Name))
	}
	seen := map[string]syntax.Span{}
	if u.tree.Incomplete() {
		c.brokenArms[u.Union] = true
	}
	for _, tree := range trees {
		name := tree.Name.Name
		if earlier, found := seen[name]; found {
			c.report(DuplicateArm, tree.Name.Span(), duplicateArm(u.Name, name), note(earlier, declaredHere(name)))
			continue
		}
		seen[name] = tree.Name.Span()
		m := c.model(tree.Model.Name)
		if m == nil {
			c.unknownModel(tree.Model)
			c.brokenArms[u.Union] = true
			continue
		}
		arm := &model.Arm{Name: name, Doc: text(tree.Doc), Model: m, Span: tree.Name.Span()}
		u.Arms = append(u.Arms, arm)
		c.checkArm(u, arm, tree)
	}
}

// unknownModel reports that there is no model of that name.
func (c *checker) unknownModel(name *syntax.Ident) {
	if !c.lost[name.Name] {
		c.report(UnknownModel, name.Span(), unknownModel(name.Name, c.suggest(name.Name, c.modelNames)))
	}
}

// checkArm checks the conditions of an arm and what it gives to the fields.
func (c *checker) checkArm(u *unionDecl, arm *model.Arm, tree *syntax.Arm) {
	row := func(place expr.Place) *scope {
		return &scope{c: c, place: place, variable: arm.Model.Variable, model: arm.Model.Name, nameable: true}
	}
	sets := map[string]*model.ArmValue{} // by field; the value of one in error is nil
	places := map[string]syntax.Span{}
	doubtful := tree.Incomplete()
	for _, a := range tree.Attrs {
		doubtful = doubtful || a.Incomplete()
	}
	for _, a := range c.allowedAttributes(onArm, tree.Attrs) {
		if a.Name.Name == "where" {
			if w := c.where(a, row(expr.ArmWhere)); w != nil {
				arm.Wheres = append(arm.Wheres, w)
			}
			continue
		}
		target, value := c.assignment(a)
		if target == nil {
			doubtful = true
			continue
		}
		f := c.armTarget(u, target)
		if f == nil {
			doubtful = true
			continue
		}
		if earlier, found := places[f.Name]; found {
			c.report(SetConflict, a.Span(), setUnionTwice(f.Name), note(earlier, firstHere(f.Name)))
			continue
		}
		places[f.Name] = a.Span()
		sets[f.Name] = &model.ArmValue{Field: f}
		given := row(expr.ArmValue).checkValue(value, expr.Target{Type: f.Type, Optional: f.Optional, Name: f.Name})
		if given == nil || !c.showsHidden(given) {
			sets[f.Name].Value = given
		}
	}
	for _, f := range u.Fields {
		if f.BuiltIn {
			continue
		}
		v := sets[f.Name]
		if v == nil {
			v = c.armDefault(arm, f, doubtful)
		}
		arm.Values = append(arm.Values, v)
	}
}

// armTarget finds the field that a @set in an arm gives a value to. It reports a
// missing field and returns nil.
func (c *checker) armTarget(u *unionDecl, target *syntax.Path) *model.UnionField {
	if target.Steps[0].Name != u.Variable || len(target.Steps) == 1 {
		c.report(SetTarget, target.Span(), setTargetNoField(u.Variable))
		return nil
	}
	f := c.unionField(u.Union, target.Steps[1:])
	if f != nil && f.BuiltIn {
		c.report(SetTarget, target.Span(), setTargetBuiltIn(f.Name))
		return nil
	}
	return f
}

// armDefault returns what a field takes from an arm without @set: the stored field
// of its name, or null.
func (c *checker) armDefault(arm *model.Arm, f *model.UnionField, doubtful bool) *model.ArmValue {
	v := &model.ArmValue{Field: f}
	if doubtful {
		return v
	}
	source := arm.Model.Field(f.Name)
	switch {
	case source == nil && c.isBroken(arm.Model.Name, f.Name):
	case source == nil || source.Column == "":
		if !f.Optional {
			c.report(expr.ArmField, arm.Span, armFieldMissing(f.Name, arm.Model.Name), note(f.Span, requiredHere(f.Name)))
		}
	case source.Type != f.Type && !f.Type.Holds(source.Type):
		c.report(expr.ArmField, arm.Span, armFieldType(f, source), note(f.Span, declaredHere(f.Name)))
	case source.Optional && !f.Optional:
		c.report(expr.ArmField, arm.Span, armFieldOptional(f.Name, arm.Model.Name), note(f.Span, requiredHere(f.Name)))
	case c.isHidden(source, arm.Span):
	default:
		v.Value = expr.RowPath(arm.Model.Name, []expr.Step{source}, arm.Span)
	}
	return v
}
