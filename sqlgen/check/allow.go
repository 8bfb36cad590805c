package check

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// allowance is a warning that an @allow of an action silences there.
type allowance struct {
	code syntax.Code
	span syntax.Span
	used bool // whether there was such a warning
}

// allowances are those of an action or a field, in the order of its @allow.
type allowances []*allowance

// actionWarnings lists the warnings that an action can have.
func actionWarnings() []syntax.Code {
	return []syntax.Code{MissingIndex, SlowRule, NoRule, EmbedWidens, FilterWidens, ComputedWidens, LinkWidens, NestedWidens, UnionWidens, HiddenCompared, CursorWidens, UncheckedInline}
}

// fieldWarnings lists those that a field can have.
func fieldWarnings() []syntax.Code { return []syntax.Code{ComputedBothWays} }

// checkAllow reads an @allow of one of some warnings.
func (c *checker) checkAllow(a *allowances, possible []syntax.Code, at *syntax.Attribute) {
	if len(at.Args) == 0 {
		c.badArguments(at, at.Name.Span())
	}
	for _, arg := range at.Args {
		value := c.plainArgument(at, arg)
		if value == nil {
			continue
		}
		name := bareName(value)
		if name == nil {
			c.badArguments(at, value.Span())
			continue
		}
		code := syntax.Code(name.Name)
		switch {
		case !slices.Contains(possible, code):
			c.report(AttributeArguments, name.Span(), notAllowable(name.Name, possible))
		case a.allows(code) != nil:
			c.report(NothingToAllow, name.Span(), allowedTwice(code), note(a.allows(code).span, firstHere(name.Name)))
		default:
			*a = append(*a, &allowance{code: code, span: name.Span()})
		}
	}
}

// allows returns what allows a warning, or nil.
func (a allowances) allows(code syntax.Code) *allowance {
	for _, w := range a {
		if w.code == code {
			return w
		}
	}
	return nil
}

// warnAction notes a warning about an action, or that the action allows it.
func (c *checker) warnAction(a *actionDecl, code syntax.Code, span syntax.Span, message string, notes ...syntax.Note) {
	w := a.allows(code)
	if w == nil {
		c.warn(code, span, message, notes...)
		return
	}
	w.used = true
	a.Allowed = append(a.Allowed, &syntax.Diagnostic{Span: span, Code: code, Message: message, Notes: notes, Warning: true})
}

// checkAllowances reports each @allow that silences nothing. It runs after all
// warnings.
func (c *checker) checkAllowances() {
	for _, a := range c.actions {
		c.checkUsed(a.Name, a.allowances)
	}
	for _, m := range c.models {
		for _, f := range m.fieldDecls {
			c.checkUsed(f.Name, f.allowances)
		}
	}
}

func (c *checker) checkUsed(name string, list allowances) {
	for _, w := range list {
		if !w.used {
			c.report(NothingToAllow, w.span, nothingToAllow(name, w.code))
		}
	}
}
