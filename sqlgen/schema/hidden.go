package schema

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// checkHidden reads a @hidden. With a to-one its FK field is hidden.
func (c *checker) checkHidden(f *fieldDecl, a *syntax.Attribute) {
	switch {
	case !c.noArgument(a) || f.doubtful:
	case f.Column == "":
		c.report(MisplacedAttribute, a.Name.Span(), misplacedAttribute("hidden", onBack), inverseNotes(f.Field)...)
	default:
		f.Hidden = true
		if f.FK != nil {
			f.FK.Hidden = true
		}
	}
}

// isHidden tells whether a field is hidden, and reports that what is at a place would let
// callers see or ask for its values.
func (c *checker) isHidden(f *Field, span syntax.Span) bool {
	if !f.Hidden {
		return false
	}
	bearer := f
	if f.FKOf != nil {
		bearer = f.FKOf
	}
	c.report(HiddenInput, span, hiddenInput(f.Name), note(bearer.Span, hiddenHere(bearer.Name)))
	return true
}

// showsHidden tells whether a union would show what hidden fields hold, and reports it.
func (c *checker) showsHidden(value expr.Node) bool {
	for _, p := range expr.Paths(value) {
		for _, f := range fieldsOf(p) {
			if c.isHidden(f, p.Span()) {
				return true
			}
		}
	}
	return false
}
