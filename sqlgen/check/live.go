package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkLive reads @live or @live(of: [Model]).
func (c *checker) checkLive(a *actionDecl, at *syntax.Attribute) {
	switch {
	case a.Kind != model.Get && a.Kind != model.List && a.Kind != model.Read:
		c.report(NotLive, at.Name.Span(), notLive(actionBearer(a)))
		return
	case a.Custom && len(at.Args) == 0:
		c.report(NotLive, at.Name.Span(), liveWithoutOf(a.Name))
		return
	}
	a.Live = &model.Live{}
	if len(at.Args) == 0 {
		return
	}
	if at.Args[0].Label == nil || !a.Custom {
		c.badArguments(at, at.Args[0].Span())
		return
	}
	value := c.oneArgument(at, "of")
	if value == nil {
		return
	}
	list, ok := value.(*syntax.List)
	if !ok || len(list.Elements) == 0 {
		c.report(NotLive, value.Span(), liveOf())
		return
	}
	for _, element := range list.Elements {
		name := bareName(element)
		if name == nil {
			c.report(NotLive, element.Span(), liveOf())
			continue
		}
		i := slices.IndexFunc(c.schema.Models, func(m *model.Model) bool { return m.Name == name.Name })
		if i < 0 {
			c.unknownModel(name)
			continue
		}
		a.Live.Of = append(a.Live.Of, c.schema.Models[i])
	}
}
