package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
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
	c.groupRelations()
	ambiguous := ambiguity{fields: map[*fieldDecl]bool{}, shared: map[sharedCandidates]bool{}}
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
			if f.IsToOne() {
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
	if f.isComputed() {
		f.relation = nil // checkComputed refuses it
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
	case c.fields[target].isComputed():
		c.report(BadRelation, name.Span(), relationNamesComputed(name.Name), note(target.Span, declaredHere(name.Name)))
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
func relationNames(from, to *model.Model) []string {
	var names []string
	for _, f := range from.Fields {
		if f.Target == to {
			names = append(names, f.Name)
		}
	}
	return names
}

// maxCandidateNotes is the number of candidates that an AmbiguousRelation points to.
const maxCandidateNotes = 5

// findInverse finds the field that leads back. It reports one field of a group that
// could belong to each other in several ways.
func (c *checker) findInverse(f *fieldDecl, ambiguous ambiguity) {
	if f.isComputed() {
		f.doubtful = f.IsToMany() // checkComputed refuses it
		return
	}
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
			c.reportMissingToOne(f)
		}
	case len(candidates) > 1:
		f.doubtful = true
		if !ambiguous.fields[f] {
			c.markAmbiguous(f, ambiguous)
			var notes []syntax.Note
			for _, g := range candidates[:min(len(candidates), maxCandidateNotes)] {
				notes = append(notes, note(g.Span, candidateHere(g.Model.Name, g.Name)))
			}
			if more := len(candidates) - len(notes); more > 0 {
				notes = append(notes, note(syntax.Span{}, moreCandidates(more)))
			}
			c.report(AmbiguousRelation, f.Span, ambiguousRelation(f.Model.Name, f.Name, f.Target.Name), notes...)
		}
	}
}

// reportMissingToOne reports that nothing leads back from a to-many. It points out a
// to-one that does not lead back because it is @unique.
func (c *checker) reportMissingToOne(f *fieldDecl) {
	for _, g := range c.fieldsTo(f.Target, f.Model) {
		if g.IsToOne() && g.uniq && g.relation == nil && len(c.candidates(g)) == 0 {
			c.report(MissingToOne, f.Span, uniqueNamesToMany(g.Name, f.Name), note(g.Span, declaredHere(g.Name)))
			return
		}
	}
	c.report(MissingToOne, f.Span, missingToOne(f.Model.Name, f.Name, f.Target.Name))
}

// hasDoubtful tells whether a model has a relation in error that might have led
// to the other model.
func (c *checker) hasDoubtful(from, to *model.Model) bool {
	if c.brokenOwners[from.Name] {
		return true
	}
	return slices.ContainsFunc(c.fieldsTo(from, to), func(f *fieldDecl) bool { return f.doubtful && f.IsToOne() })
}

// ambiguity notes what belongs to a group of fields that has been reported.
type ambiguity struct {
	fields map[*fieldDecl]bool
	shared map[sharedCandidates]bool
}

// sharedCandidates stands for the candidates that all fields of one shape between
// two models have that no @relation concerns.
type sharedCandidates struct {
	between relationEnds
	shape   relationShape
}

// markAmbiguous marks all fields that are connected by candidacy. Candidates that
// many fields share are followed once.
func (c *checker) markAmbiguous(f *fieldDecl, ambiguous ambiguity) {
	ambiguous.fields[f] = true
	if f.relation == nil && len(c.namers(f)) == 0 {
		key := sharedCandidates{relationEnds{f.Model, f.Target}, shapeOf(f)}
		if ambiguous.shared[key] {
			return
		}
		ambiguous.shared[key] = true
	}
	for _, g := range c.candidates(f) {
		if !ambiguous.fields[g] {
			c.markAmbiguous(g, ambiguous)
		}
	}
}

// relationEnds are the model that relations are in and the one they lead to.
type relationEnds struct{ from, to *model.Model }

// relationShape tells which relations can be a pair.
type relationShape int

// The shapes of relations.
const (
	shapeMany   relationShape = iota // a to-many
	shapeOne                         // a to-one that is not @unique
	shapeUnique                      // a to-one that is
)

func shapeOf(f *fieldDecl) relationShape {
	switch {
	case f.IsToMany():
		return shapeMany
	case f.uniq:
		return shapeUnique
	}
	return shapeOne
}

// relationGroup holds the declared fields of one model that lead to another.
type relationGroup struct {
	fields []*fieldDecl
	byName map[string][]*fieldDecl        // those with a @relation, by what it names
	free   map[relationShape][]*fieldDecl // what a field of that shape, of the other model, can be a pair with, leaving @relation aside
}

// groupRelations sorts the relations by the models that they connect. A computed to-one
// belongs to none.
func (c *checker) groupRelations() {
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if !f.IsRelation() || f.isComputed() {
				continue
			}
			ends := relationEnds{f.Model, f.Target}
			group := c.relations[ends]
			if group == nil {
				group = &relationGroup{byName: map[string][]*fieldDecl{}, free: map[relationShape][]*fieldDecl{}}
				c.relations[ends] = group
			}
			group.fields = append(group.fields, f)
			if f.relation != nil && f.relation.name != nil {
				group.byName[f.relation.name.Name] = append(group.byName[f.relation.name.Name], f)
			}
		}
	}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if !f.IsRelation() || f.isComputed() || f.relation != nil || len(c.namers(f)) > 0 {
				continue
			}
			free := c.relations[relationEnds{f.Model, f.Target}].free
			switch shapeOf(f) {
			case shapeOne:
				free[shapeMany] = append(free[shapeMany], f)
				free[shapeUnique] = append(free[shapeUnique], f)
			default:
				free[shapeOne] = append(free[shapeOne], f)
			}
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
	if f.relation != nil {
		if f.relation.name == nil {
			return nil
		}
		named := c.fields[f.Target.Field(f.relation.name.Name)]
		if named == nil || named.Target != f.Model || !isPair(f, named) || len(c.namers(named)) > 1 {
			return nil
		}
		return []*fieldDecl{named}
	}
	var explicit []*fieldDecl
	for _, g := range c.namers(f) {
		if isPair(g, f) && len(c.namers(g)) == 0 {
			explicit = append(explicit, g)
		}
	}
	if explicit != nil {
		return explicit
	}
	group := c.relations[relationEnds{f.Target, f.Model}]
	if group == nil {
		return nil
	}
	return group.free[shapeOf(f)]
}

// namers returns the fields whose @relation names f.
func (c *checker) namers(f *fieldDecl) []*fieldDecl {
	if group := c.relations[relationEnds{f.Target, f.Model}]; group != nil {
		return group.byName[f.Name]
	}
	return nil
}

// fieldsTo returns the declared fields of a model that lead to another.
func (c *checker) fieldsTo(from, to *model.Model) []*fieldDecl {
	if group := c.relations[relationEnds{from, to}]; group != nil {
		return group.fields
	}
	return nil
}

// decideSide decides whether a to-one has the key. The other side of a
// one-to-one is always optional; a key to the same model must be.
func (c *checker) decideSide(f *fieldDecl) {
	hasKey := f.Inverse == nil || f.Inverse.Model.IsIdentity || isPair(f, c.fields[f.Inverse])
	if f.doubtful {
		// Its side is not known, unless nothing unique could have the key instead.
		hasKey = f.uniq || !slices.ContainsFunc(c.fieldsTo(f.Target, f.Model), func(g *fieldDecl) bool { return g.IsToOne() && g.uniq })
	}
	if hasKey && !f.Optional && f.Target == f.Model && !f.isComputed() {
		c.report(RequiredSelfReference, f.tree.Type.Span(), requiredSelfReference(f.Model.Name, f.Name))
	}
	if f.doubtful {
		return
	}
	if hasKey {
		f.Column = model.SnakeForm(f.Name + "Id")
		return
	}
	if !f.Optional {
		c.warn(RequiredVirtualSide, f.Span, requiredVirtualSide(f.Model.Name, f.Name),
			note(f.Inverse.Span, keyIsHere(f.Inverse.Model.Name, f.Inverse.Name)))
	}
	f.Optional = true
}

// warnIndependentToOnes warns of two to-ones between two models that look like a
// one-to-one but are none.
func (c *checker) warnIndependentToOnes() {
	index := map[*model.Model]int{}
	for i, m := range c.models {
		index[m.Model] = i
	}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			if !f.IsToOne() || f.isComputed() || f.doubtful || f.Inverse != nil || f.Target.IsIdentity || index[f.Target] <= index[m.Model] {
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
		columns.add(model.SnakeForm(f.Name), f.Name, f.Span)
	}
	var fields []*model.Field
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
		f.FK = &model.Field{
			Model:    m.Model,
			Name:     f.Name + "Id",
			Column:   f.Column,
			Type:     expr.Type{Kind: expr.ID},
			Optional: f.Optional,
			Unique:   d.uniq,
			FKOf:     f,
			Span:     f.Span,
		}
		switch {
		case d.isComputed(): // it follows the row that it was read from
		case f.Optional:
			f.OnDelete = model.SetNull
		default:
			f.OnDelete = model.Cascade
		}
		fields = append(fields, f.FK)
		if !isFieldName(f.Name) {
			continue
		}
		if len(f.Column) > model.MaxColumnName {
			c.report(NameTooLong, f.Span, fkTooLong(f.Name, f.Column, model.MaxColumnName))
		}
		if earlier, found := columns.add(f.Column, f.FK.Name, f.Span); found {
			c.report(NameClash, earlier.span, nameClash(earlier.name, f.FK.Name, f.Column), note(f.Span, declaredHere(f.Name)))
		}
	}
	m.Fields = fields
}
