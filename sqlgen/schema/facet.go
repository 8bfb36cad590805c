package schema

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Facet is a field of a list. Each page answers its values in all matching rows: each
// with its count, or the least and the greatest.
type Facet struct {
	Field      *Field      // nil for a list of a union
	UnionField *UnionField // nil for a list of a model
}

// Name returns the name of the field.
func (f *Facet) Name() string {
	if f.UnionField != nil {
		return f.UnionField.Name
	}
	return f.Field.Name
}

// Type returns the type of the field.
func (f *Facet) Type() expr.Type { return listField{f.Field, f.UnionField}.typ() }

// Optional tells whether the field may be null.
func (f *Facet) Optional() bool {
	if f.UnionField != nil {
		return f.UnionField.Optional
	}
	return f.Field.Optional
}

// Enum returns the enum of the field, nil if it is of another type.
func (f *Facet) Enum() *Enum {
	if f.UnionField != nil {
		return f.UnionField.Enum
	}
	return f.Field.Enum
}

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
		a.Facets = append(a.Facets, &Facet{f.field, f.union})
	}
}
