package schema

import "github.com/sternpost/sternpost/sqlgen/syntax"

// checkEmbed reads an @embed. Paths are merged into a tree, in the order in which
// they are first met.
func (c *checker) checkEmbed(a *actionDecl, at *syntax.Attribute) {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	for _, arg := range at.Args {
		value := c.plainArgument(at, arg)
		if value == nil {
			continue
		}
		p, ok := value.(*syntax.Path)
		if !ok {
			c.badArguments(at, value.Span())
			continue
		}
		if p.Incomplete() {
			continue
		}
		path, ok := c.embedPath(a.model.Model, p)
		if !ok {
			continue
		}
		if earlier, found := a.embedded.add(pathName(path), pathName(path), p.Span()); found {
			c.report(BadEmbed, p.Span(), embedTwice(pathName(path)), note(earlier.span, firstHere(pathName(path))))
			continue
		}
		a.embedSpans = append(a.embedSpans, embedSpan{path, p.Span()})
		mergeEmbed(&a.Embeds, path)
	}
}

// embedSpan is a path of an @embed and where it is.
type embedSpan struct {
	path []*Field
	span syntax.Span
}

// embedPath resolves a path of an @embed, every step of which is a relation.
func (c *checker) embedPath(m *Model, p *syntax.Path) ([]*Field, bool) {
	for i := range p.Steps {
		path, ok := c.fieldPath(m, p.Steps[:i+1])
		if !ok {
			return nil, false
		}
		if last := path[i]; !last.IsRelation() {
			c.report(BadEmbed, p.Steps[i].Span(), embedNoRelation(last.Name))
			return nil, false
		}
		if c.isHidden(path[i], p.Steps[i].Span()) {
			return nil, false
		}
		if i == len(p.Steps)-1 {
			return path, true
		}
	}
	return nil, false
}

// mergeEmbed adds a path to a tree of embeds.
func mergeEmbed(embeds *[]*Embed, path []*Field) {
	for _, f := range path {
		var next *Embed
		for _, e := range *embeds {
			if e.Field == f {
				next = e
			}
		}
		if next == nil {
			next = &Embed{Field: f}
			*embeds = append(*embeds, next)
		}
		embeds = &next.Embeds
	}
}
