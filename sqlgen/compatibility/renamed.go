package compatibility

import (
	"regexp"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// chains matches texts in quotes, and names that dots join.
var chains = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)

// asBefore writes the text of an expression of the new release with the names that the old one has for the same models,
// fields and values: @renamed says which these are.
func (c *comparison) asBefore(text string, n expr.Node) string {
	if n == nil {
		return text
	}
	was := map[string]string{}
	expr.Inspect(n, func(n expr.Node) bool {
		if n.Span().File == nil {
			return true
		}
		if expr.UseOf(n) != nil {
			return false // its expression is written elsewhere
		}
		spelled := syntax.SourceOf(n.Span())
		names := strings.Split(spelled, ".")
		switch n := n.(type) {
		case *expr.Path:
			c.nameBefore(n, names)
		case *expr.Literal:
			names[len(names)-1] = c.valueBefore(n.Type().Name, names[len(names)-1])
		}
		was[spelled] = strings.Join(names, ".")
		return true
	})
	return chains.ReplaceAllStringFunc(text, func(chain string) string {
		if before, isKnown := was[chain]; isKnown {
			return before
		}
		return chain
	})
}

// nameBefore replaces the names of a path by the old ones.
func (c *comparison) nameBefore(p *expr.Path, names []string) {
	at := len(names) - len(p.Steps)
	if at < 0 {
		return // it is implied by other words
	}
	for i, s := range p.Steps {
		f, ok := s.(*model.Field)
		if !ok {
			continue
		}
		if i == 0 && at == 1 && names[0] == f.Model.Variable {
			if m := modelNamed(c.old.Schema, f.Model); m != nil {
				names[0] = m.Variable
			}
		}
		if before := c.storedBefore(f); before != nil {
			names[at+i] = before.Name
		}
	}
	if in, ok := p.Input.(*model.Input); ok && len(names) == 1 && len(in.Path) == 1 {
		if before := c.storedBefore(in.Path[0]); before != nil && in.Path[0].Name == names[0] {
			names[0] = before.Name
		}
	}
}

// valueBefore returns the old name of an enum's value, or the name.
func (c *comparison) valueBefore(enum, name string) string {
	if v := valueNamed(c.new.Schema, enum, name); v != nil && valueNamed(c.old.Schema, enum, v.RenamedFrom) != nil {
		return v.RenamedFrom
	}
	return name
}

// valueNamed returns the value of an enum, or nil.
func valueNamed(s *model.Schema, enum, name string) *model.EnumValue {
	for _, e := range s.Enums {
		for _, v := range e.Values {
			if e.Name == enum && v.Name == name {
				return v
			}
		}
	}
	return nil
}

// modelsBefore writes the old names of models into a message.
func (c *comparison) modelsBefore(message string) string {
	return chains.ReplaceAllStringFunc(message, func(word string) string {
		for _, m := range c.new.Schema.Models {
			if before := modelNamed(c.old.Schema, m); m.Name == word && before != nil {
				return before.Name
			}
		}
		return word
	})
}
