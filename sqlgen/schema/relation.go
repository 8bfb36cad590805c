package schema

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// relationArg is what a @relation names.
type relationArg struct {
	name *syntax.Ident // nil if it is in error
	span syntax.Span
}

// relationArg reads a @relation.
func (c *checker) relationArg(f *fieldDecl, a *syntax.Attribute) *relationArg {
	arg := &relationArg{span: a.Span()}
	value := c.oneArgument(a)
	if value == nil {
		return arg
	}
	arg.span = value.Span()
	if f.IsToMany() {
		c.report(BadRelation, a.Name.Span(), relationOnToMany(f.Name))
		return arg
	}
	arg.name = bareName(value)
	if arg.name == nil {
		c.report(BadRelation, value.Span(), relationNotName(f.Target.Name))
	}
	return arg
}

// relate finds for every relation the field that leads back, decides which side
// has the foreign key, and adds FK fields and the backlinks of Identity.
//
// X and Y are a pair if X is to-one and can be the side with the key: either X is
// not unique and Y is to-many, or X is unique and Y a to-one that is not.
func (c *checker) relate() {
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if f.IsRelation() {
				c.checkRelationArg(f)
			}
		}
	}
	ambiguous := map[*fieldDecl]bool{}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if f.IsRelation() && !f.doubtful {
				c.findInverse(f, ambiguous)
			}
		}
	}
	c.addBacklinks()
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if f.IsToOne() && !f.doubtful {
				c.decideSide(f)
			}
		}
	}
	c.warnIndependentToOnes()
	for _, m := range c.models {
		c.addFKFields(m)
	}
}

// checkRelationArg checks what the @relation of a field names.
func (c *checker) checkRelationArg(f *fieldDecl) {
	if f.relation == nil {
		return
	}
	name := f.relation.name
	if name == nil {
		f.doubtful = true
		return
	}
	if f.Target == c.identity {
		if !f.uniq {
			c.report(BadRelation, f.relation.span, relationOnIdentity(f.Name))
			f.doubtful = true
		}
		return // it names the backlink
	}
	f.doubtful = true
	if c.isBroken(f.Target.Name, name.Name) {
		return
	}
	target := f.Target.Field(name.Name)
	switch {
	case target == nil || target.Target != f.Model || target == f.Field:
		c.report(BadRelation, name.Span(), relationNamesNoField(f.Target.Name, name.Name, f.Model.Name,
			syntax.Suggest(name.Name, relationNames(f.Target, f.Model))))
	case c.fields[target].uniq:
		c.report(BadRelation, name.Span(), relationNamesUnique(name.Name), note(target.Span, declaredHere(name.Name)))
	case f.uniq && target.IsToMany():
		c.report(BadRelation, name.Span(), uniqueNamesToMany(f.Name, name.Name), note(target.Span, declaredHere(name.Name)))
	case !f.uniq && target.IsToOne():
		c.report(BadRelation, name.Span(), toOneNamesToOne(f.Name, name.Name), note(target.Span, declaredHere(name.Name)))
	default:
		f.doubtful = false
	}
}

// relationNames returns the names of the fields of a model that lead to another.
func relationNames(from, to *Model) []string {
	var names []string
	for _, f := range from.Fields {
		if f.Target == to {
			names = append(names, f.Name)
		}
	}
	return names
}

// findInverse finds the field that leads back. Of a group of fields that could
// belong to each other in several ways, one is reported.
func (c *checker) findInverse(f *fieldDecl, ambiguous map[*fieldDecl]bool) {
	if f.Target == c.identity {
		if f.IsToMany() {
			c.report(MissingToOne, f.Span, identityToMany(f.Name))
		}
		return
	}
	candidates := c.candidates(f)
	switch {
	case len(candidates) == 1:
		f.Inverse = candidates[0].Field
	case len(candidates) == 0 && f.IsToMany():
		f.doubtful = true
		if !c.hasDoubtful(f.Target, f.Model) {
			c.report(MissingToOne, f.Span, missingToOne(f.Model.Name, f.Name, f.Target.Name))
		}
	case len(candidates) > 1:
		f.doubtful = true
		if !ambiguous[f] {
			c.markAmbiguous(f, ambiguous)
			var notes []syntax.Note
			for _, g := range candidates {
				notes = append(notes, note(g.Span, candidateHere(g.Model.Name, g.Name)))
			}
			c.report(AmbiguousRelation, f.Span, ambiguousRelation(f.Model.Name, f.Name, f.Target.Name), notes...)
		}
	}
}

// hasDoubtful tells whether a model has a relation in error that might have led
// to the other model.
func (c *checker) hasDoubtful(from, to *Model) bool {
	for _, f := range from.Fields {
		if d := c.fields[f]; d != nil && d.doubtful && f.IsToOne() && f.Target == to {
			return true
		}
	}
	for b := range c.broken {
		if b.owner == from.Name {
			return true
		}
	}
	return false
}

// markAmbiguous marks all fields that are connected by candidacy.
func (c *checker) markAmbiguous(f *fieldDecl, ambiguous map[*fieldDecl]bool) {
	ambiguous[f] = true
	for _, g := range c.candidates(f) {
		if !ambiguous[g] {
			c.markAmbiguous(g, ambiguous)
		}
	}
}

// isPair tells whether x and y can be a pair in which x has the key.
func isPair(x, y *fieldDecl) bool {
	if x == y || !x.IsToOne() || y.relation != nil {
		return false
	}
	if x.relation != nil && (x.relation.name == nil || x.relation.name.Name != y.Name) {
		return false
	}
	if y.IsToMany() {
		return !x.uniq
	}
	return x.uniq && !y.uniq
}

// candidates returns the fields that could lead back from f. A @relation decides
// where there are several: it takes the field it names from all others, and goes
// before fields without one.
func (c *checker) candidates(f *fieldDecl) []*fieldDecl {
	var all []*fieldDecl
	explicit := f.relation != nil
	for _, g := range c.fieldsTo(f.Target, f.Model) {
		if !isPair(f, g) && !isPair(g, f) || c.namedByOther(g, f) {
			continue
		}
		explicit = explicit || g.relation != nil
		all = append(all, g)
	}
	if !explicit || f.relation != nil {
		return all
	}
	return slices.DeleteFunc(all, func(g *fieldDecl) bool { return g.relation == nil })
}

// fieldsTo returns the declared fields of a model that lead to another.
func (c *checker) fieldsTo(from, to *Model) []*fieldDecl {
	var fields []*fieldDecl
	for _, f := range from.Fields {
		if d := c.fields[f]; d != nil && f.Target == to {
			fields = append(fields, d)
		}
	}
	return fields
}

// namedByOther tells whether another field than f, of f's model and type, names g.
func (c *checker) namedByOther(g, f *fieldDecl) bool {
	for _, other := range c.fieldsTo(f.Model, f.Target) {
		if other != f && other.relation != nil && other.relation.name != nil && other.relation.name.Name == g.Name {
			return true
		}
	}
	return false
}

// decideSide decides whether a to-one has the key. The other side of a
// one-to-one is optional, whatever it says.
func (c *checker) decideSide(f *fieldDecl) {
	if f.Inverse == nil || f.Inverse.Model.IsIdentity || isPair(f, c.fields[f.Inverse]) {
		f.Column = SnakeForm(f.Name + "Id")
		return
	}
	if !f.Optional && f.Target != f.Model {
		c.warn(RequiredVirtualSide, f.Span, requiredVirtualSide(f.Model.Name, f.Name),
			note(f.Inverse.Span, keyIsHere(f.Inverse.Model.Name, f.Inverse.Name)))
	}
	f.Optional = true
}

// warnIndependentToOnes warns of two to-ones between two models that look like a
// one-to-one but are none.
func (c *checker) warnIndependentToOnes() {
	index := map[*Model]int{}
	for i, m := range c.models {
		index[m.Model] = i
	}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if !f.IsToOne() || f.doubtful || f.Inverse != nil || f.Target.IsIdentity || index[f.Target] <= index[m.Model] {
				continue
			}
			there, back := c.fieldsTo(m.Model, f.Target), c.fieldsTo(f.Target, m.Model)
			if len(there) != 1 || len(back) != 1 || !back[0].IsToOne() || back[0].doubtful || f.uniq != back[0].uniq {
				continue
			}
			c.warn(IndependentToOnes, f.Span, independentToOnes(m.Name, f.Name, f.Target.Name, back[0].Name, f.uniq),
				note(back[0].Span, declaredHere(back[0].Name)))
		}
	}
}

// addFKFields puts an FK field behind each to-one that has the key.
func (c *checker) addFKFields(m *modelDecl) {
	columns := clashes{}
	for _, f := range m.Fields {
		columns.add(SnakeForm(f.Name), f.Name, f.Span)
	}
	var fields []*Field
	for _, f := range m.Fields {
		fields = append(fields, f)
		if !f.IsToOne() {
			continue
		}
		d := c.fields[f]
		f.Unique = d.uniq
		if d.doubtful {
			c.breakField(m.Name, f.Name+"Id")
			continue
		}
		if f.Column == "" {
			continue
		}
		f.FK = &Field{
			Model:    m.Model,
			Name:     f.Name + "Id",
			Column:   f.Column,
			Type:     expr.Type{Kind: expr.ID},
			Optional: f.Optional,
			Unique:   d.uniq,
			FKOf:     f,
			Span:     f.Span,
		}
		f.OnDelete = Cascade
		if f.Optional {
			f.OnDelete = SetNull
		}
		fields = append(fields, f.FK)
		if !isFieldName(f.Name) {
			continue
		}
		if len(f.Column) > maxColumnName {
			c.report(NameTooLong, f.Span, fkTooLong(f.Name, f.Column, maxColumnName))
		}
		if earlier, found := columns.add(f.Column, f.FK.Name, f.Span); found {
			c.report(NameClash, earlier.span, nameClash(earlier.name, f.FK.Name, f.Column), note(f.Span, declaredHere(f.Name)))
		}
	}
	m.Fields = fields
}
