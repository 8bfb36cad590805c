package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// selected is a field that a @select names, or that one of its paths passes.
type selected struct {
	field   *model.Field
	isWhole bool        // of a relation: a path ends there, which means all fields of the row
	span    syntax.Span // of the path that ends there
	below   selection
}

// selection holds the fields of one row that a @select names, in the order of first mention.
type selection []*selected

// checkSelect reads a @select.
func (c *checker) checkSelect(a *actionDecl, at *syntax.Attribute) {
	for _, other := range a.attrs {
		if other.Name.Name == "embed" || other.Name.Name == "function" {
			c.report(BadSelect, at.Name.Span(), selectBeside(other.Name.Name), note(other.Name.Span(), firstHere("@"+other.Name.Name)))
			return
		}
	}
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
		return
	}
	var root selection
	for _, p := range c.paths(a, at, new(clashes), pathList{c.selectPath, BadSelect, selectTwice}) {
		root.add(p.path, p.span)
		a.showsRelated(p.path, p.span)
	}
	c.checkWhole(root)
	a.Selected = root.shape(a.model.Model)
}

// selectPath resolves a path of a @select: every step but the last is a relation.
func (c *checker) selectPath(m *model.Model, p *syntax.Path) ([]*model.Field, bool) {
	var path []*model.Field
	for _, step := range p.Steps {
		if m == nil {
			c.report(BadSelect, step.Span(), pastScalar(step.Name, path[len(path)-1].Name))
			return nil, false
		}
		f := m.Field(step.Name)
		switch {
		case f == nil && c.isBroken(m.Name, step.Name):
			return nil, false
		case f == nil:
			c.report(BadSelect, step.Span(), unknownField(m.Name, step.Name, c.suggestField(m, step.Name)))
			return nil, false
		case c.isHidden(f, step.Span()):
			return nil, false
		case f.StepWriteOnly():
			c.report(BadSelect, step.Span(), selectWriteOnly(f))
			return nil, false
		case !f.IsRelation() && !f.IsShownWithin():
			c.report(BadSelect, step.Span(), selectOfIdentity(f.Name))
			return nil, false
		}
		path, m = append(path, f), f.Target
	}
	return path, true
}

// add adds a path. The id of a row needs no mention.
func (s *selection) add(path []*model.Field, span syntax.Span) {
	if path[0].Name == "id" {
		return
	}
	i := slices.IndexFunc(*s, func(other *selected) bool { return other.field == path[0] })
	if i < 0 {
		i = len(*s)
		*s = append(*s, &selected{field: path[0]})
	}
	at := (*s)[i]
	if len(path) > 1 {
		at.below.add(path[1:], span)
		return
	}
	at.span, at.isWhole = span, path[0].IsRelation()
}

// checkWhole reports fields that are named beside a relation that shows all fields of its row.
func (c *checker) checkWhole(s selection) {
	for _, at := range s {
		for _, below := range at.below {
			if at.isWhole && !below.field.IsRelation() {
				c.report(BadSelect, below.span, selectWhole(at.field.Name, below.field.Name), note(at.span, firstHere(at.field.Name)))
			}
		}
		c.checkWhole(at.below)
	}
}

// shape is what a record with this @select shows: the id, then the named fields.
func (s selection) shape(m *model.Model) model.Shape {
	shape := model.Shape{{Field: m.Field("id")}}
	for _, at := range s {
		member := &model.Member{Field: at.field}
		if at.field.IsRelation() {
			member.Shape = at.shape()
		}
		shape = append(shape, member)
	}
	return shape
}

// shape is the shape of the row, or of each row, that a relation leads to.
func (s *selected) shape() model.Shape {
	if !s.isWhole {
		return s.below.shape(s.field.Target)
	}
	return model.ShapeWithin(s.field.Target, func(f *model.Field) model.Shape {
		i := slices.IndexFunc(s.below, func(other *selected) bool { return other.field == f })
		if i < 0 {
			return nil
		}
		return s.below[i].shape()
	})
}

// showsRelated notes each relation by which a path shows more of a row than its id, the
// foreign key.
func (a *actionDecl) showsRelated(path []*model.Field, span syntax.Span) {
	for i, f := range path {
		if !f.IsRelation() || i+1 < len(path) && !model.ReadsRelated(f, path[i+1]) {
			continue
		}
		a.showsRow(path[:i+1], span)
	}
}

// showsRow notes that a record shows the rows at a path of relations.
func (a *actionDecl) showsRow(path []*model.Field, span syntax.Span) {
	isNoted := func(e pathSpan) bool { return slices.Equal(e.path, path) }
	if !slices.ContainsFunc(a.embedSpans, isNoted) {
		a.embedSpans = append(a.embedSpans, pathSpan{path, span})
	}
}
