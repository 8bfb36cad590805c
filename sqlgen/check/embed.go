package check

import (
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkEmbed reads an @embed. Paths are merged into a tree, in the order in which
// they are first met.
func (c *checker) checkEmbed(a *actionDecl, at *syntax.Attribute) {
	for _, p := range c.paths(a, at, &a.embedded, pathList{c.embedPath, BadEmbed, embedTwice}) {
		for i := range p.path {
			a.showsRow(p.path[:i+1], p.span)
		}
		mergeEmbed(&a.Embeds, p.path)
	}
}

// pathSpan is a path of an attribute and where it is.
type pathSpan struct {
	path []*model.Field
	span syntax.Span
}

// pathList says how an attribute takes paths from the action's model.
type pathList struct {
	resolve func(*model.Model, *syntax.Path) ([]*model.Field, bool) // reports a path that leads nowhere
	code    syntax.Code                                             // of a path that is there twice
	twice   func(path string) string
}

// paths reads the paths of an attribute, each once. named holds the earlier ones.
func (c *checker) paths(a *actionDecl, at *syntax.Attribute, named *clashes, list pathList) []pathSpan {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	var paths []pathSpan
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
		path, ok := list.resolve(a.model.Model, p)
		if !ok {
			continue
		}
		if earlier, found := named.add(model.PathName(path), model.PathName(path), p.Span()); found {
			c.report(list.code, p.Span(), list.twice(model.PathName(path)), note(earlier.span, firstHere(model.PathName(path))))
			continue
		}
		paths = append(paths, pathSpan{path, p.Span()})
	}
	return paths
}

// embedPath resolves a path of an @embed: every step is a relation.
func (c *checker) embedPath(m *model.Model, p *syntax.Path) ([]*model.Field, bool) {
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
func mergeEmbed(embeds *[]*model.Embed, path []*model.Field) {
	for _, f := range path {
		var next *model.Embed
		for _, e := range *embeds {
			if e.Field == f {
				next = e
			}
		}
		if next == nil {
			next = &model.Embed{Field: f}
			*embeds = append(*embeds, next)
		}
		embeds = &next.Embeds
	}
}
