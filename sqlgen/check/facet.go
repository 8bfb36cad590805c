package check

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkFacet reads a @facet.
func (c *checker) checkFacet(a *actionDecl, at *syntax.Attribute) {
	if a.Custom {
		c.report(FunctionAttribute, at.Name.Span(), functionAttribute("facet"))
		return
	}
	seen := map[string]bool{}
	for _, name := range c.ownFields(a, at) {
		f, ok := c.fieldOfList(a, name, seen)
		if !ok {
			continue
		}
		if t := f.typ(); t.Array || t.Kind.Facet() == expr.NoFacet {
			c.report(FacetNotAllowed, name.Span(), facetNotAllowed(name.Name, f))
			continue
		}
		a.Facets = append(a.Facets, &model.Facet{Field: f.field, UnionField: f.union})
	}
}
