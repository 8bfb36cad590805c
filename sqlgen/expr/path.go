package expr

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// identityModel is the name of the built-in model of callers.
const identityModel = "Identity"

// path resolves a path. It begins with the first of these that fits: ctx, the
// variable, an input, an enum.
func (c *checker) path(p *syntax.Path) Node {
	first := p.Steps[0]
	if first.Name == "ctx" {
		return c.ctxPath(p)
	}
	if variable, model, nameable := c.scope.Row(); variable != "" && first.Name == variable {
		return c.rowPath(p, model, nameable)
	}
	if input, use := c.scope.Input(first.Name); use != NoInput {
		return c.inputPath(p, input, use)
	}
	if values, ok := c.scope.EnumValues(first.Name); ok {
		return c.enumValue(p, values)
	}
	c.add(first.Span(), UnknownName, c.unknownName(first.Name))
	return nil
}

// unknownName returns the message for a path with an unknown first name, which often
// is a field without the variable before it.
func (c *checker) unknownName(name string) string {
	if variable, model, nameable := c.scope.Row(); nameable {
		if _, isField := c.scope.Field(model, name); isField {
			return missingVariable(name, variable)
		}
		if rowMeant[name] {
			return meantRow(name, variable)
		}
	}
	if callerMeant[name] && c.seesContext() {
		return meantCaller(name)
	}
	return unknownName(name, c.nameable())
}

// The names of the row, and of the caller, in other languages.
var (
	rowMeant    = map[string]bool{"this": true, "self": true, "row": true, "it": true, "record": true, "new": true, "old": true}
	callerMeant = map[string]bool{"user": true, "me": true, "auth": true, "currentUser": true, "caller": true, "session": true, "identity": true}
)

// nameable returns the possible first names of a path here.
func (c *checker) nameable() []string {
	var names []string
	if variable, _, nameable := c.scope.Row(); nameable {
		names = append(names, variable)
	}
	names = append(names, c.scope.InputNames()...)
	if c.seesContext() {
		names = append(names, "ctx")
	}
	return append(names, c.scope.EnumNames()...)
}

// seesContext tells whether ctx can be named here. In @default only ctx.now can.
func (c *checker) seesContext() bool {
	switch c.scope.Place() {
	case ModelValidate, ArmWhere, ArmValue, Computed, EventWhere:
		return false
	}
	return true
}

// rowPath resolves a path from the row.
func (c *checker) rowPath(p *syntax.Path, model string, nameable bool) Node {
	first := p.Steps[0]
	if !nameable {
		switch c.scope.Place() {
		case ActionRule, ModelRule:
			c.add(first.Span(), RowInRule, rowInRule(first.Name))
		default:
			c.add(first.Span(), UnknownName, rowNotNameable(first.Name))
		}
		return nil
	}
	steps, condition, ok := c.steps(p.Steps[1:], model)
	if !ok {
		return nil
	}
	path := newPath(Path{Root: RootRow, Steps: steps}, Type{Kind: Model, Name: model}, p.Span())
	if condition != nil {
		return c.useCondition(p, path, condition)
	}
	if !c.canTest(path) {
		c.add(p.Span(), NotOwnField, notOwnField(path, first.Name))
		return nil
	}
	return path
}

// canTest tells whether a path leads to what a rule of a model can test: a value at the end of to-ones, in the condition of
// an @on a stored field of the row.
func (c *checker) canTest(p *Path) bool {
	switch c.scope.Place() {
	case ModelValidate:
		return len(p.Steps) > 0 && !p.ThroughToMany() && (len(p.Steps) == 1 || !p.isWriteOnly())
	case EventWhere:
		return len(p.Steps) == 1 && p.Steps[0].StepStored() && !isToMany(p.Steps[0])
	}
	return true
}

// steps resolves the fields of a path that has reached a row of a model, and the condition at its end, if it ends in one.
func (c *checker) steps(names []*syntax.Ident, model string) (_ []Step, condition Node, ok bool) {
	at := Type{Kind: Model, Name: model}
	var steps []Step
	for i, name := range names {
		if at.Kind != Model {
			c.add(name.Span(), UnknownField, pastScalar(name.Name, names[i-1].Name, at))
			return nil, nil, false
		}
		if condition, ok := c.scope.Condition(at.Name, name.Name); ok {
			if i < len(names)-1 {
				c.add(names[i+1].Span(), UnknownField, pastScalar(names[i+1].Name, name.Name, Type{Kind: Boolean}))
				return nil, nil, false
			}
			return steps, condition, condition != nil
		}
		step, ok := c.scope.Field(at.Name, name.Name)
		if !ok {
			c.add(name.Span(), UnknownField, unknownField(at.Name, name.Name, c.scope.FieldNames(at.Name)))
			return nil, nil, false
		}
		steps = append(steps, step)
		at = step.StepType()
	}
	return steps, nil, true
}

// inputPath resolves an input, which has no fields.
func (c *checker) inputPath(p *syntax.Path, input Input, use InputUse) Node {
	first := p.Steps[0]
	switch use {
	case InputFiltersList:
		c.add(first.Span(), ListInput, listInput(first.Name))
		return nil
	case InputBelowToMany:
		c.add(first.Span(), ManyInput, manyInput(first.Name))
		return nil
	}
	if !c.endsAfter(p, 1, input.InputType()) {
		return nil
	}
	return newPath(Path{Root: RootInput, Input: input}, input.InputType(), p.Span())
}

// enumValue resolves a value of an enum, which counts as a literal.
func (c *checker) enumValue(p *syntax.Path, values []string) Node {
	enum := p.Steps[0]
	if len(p.Steps) == 1 {
		c.add(enum.Span(), UnknownEnumValue, bareEnum(enum.Name, values))
		return nil
	}
	value := p.Steps[1]
	if !slices.Contains(values, value.Name) {
		c.add(value.Span(), UnknownEnumValue, unknownEnumValue(enum.Name, value.Name, values))
		return nil
	}
	typ := Type{Kind: Enum, Name: enum.Name}
	if !c.endsAfter(p, 2, typ) {
		return nil
	}
	return &Literal{Value: value.Name, base: base{typ: typ, span: p.Span()}}
}

// ctxPath resolves a path from ctx.
func (c *checker) ctxPath(p *syntax.Path) Node {
	first := p.Steps[0]
	if !c.seesContext() {
		c.add(first.Span(), UnknownName, ctxNotNameable())
		return nil
	}
	if len(p.Steps) == 1 {
		c.add(first.Span(), UnknownName, bareCtx())
		return nil
	}
	part := p.Steps[1]
	switch part.Name {
	case "identity":
		return c.identityPath(p)
	case "isAuthenticated":
		return c.ctxValue(p, RootIsAuthenticated, Type{Kind: Boolean})
	case "now":
		return c.ctxValue(p, RootNow, Type{Kind: Timestamp})
	case "headers":
		return c.ctxEntry(p, RootHeader, nil)
	case "env":
		return c.ctxEntry(p, RootEnv, c.scope.EnvNames())
	case "secrets":
		return c.ctxEntry(p, RootSecret, c.scope.SecretNames())
	case "secondFactor":
		if !c.seesSession(p.Span(), p.String()) {
			return nil
		}
		return c.ctxValue(p, RootSecondFactor, Type{Kind: Boolean})
	case "signedInWithin":
		c.add(p.Span(), SecondFactorPlace, signedInWithinForm())
		return nil
	}
	c.add(part.Span(), UnknownName, unknownCtx(part.Name))
	return nil
}

// identityPath resolves a path from the caller's identity.
func (c *checker) identityPath(p *syntax.Path) Node {
	steps, condition, ok := c.steps(p.Steps[2:], identityModel)
	if !ok {
		return nil
	}
	path := newPath(Path{Root: RootIdentity, Steps: steps}, Type{Kind: Model, Name: identityModel}, p.Span())
	if condition != nil {
		return c.useCondition(p, path, condition)
	}
	return path
}

// ctxValue resolves a part of ctx that is a value.
func (c *checker) ctxValue(p *syntax.Path, root Root, typ Type) Node {
	if !c.endsAfter(p, 2, typ) {
		return nil
	}
	return newPath(Path{Root: root}, typ, p.Span())
}

// seesSession checks that what the caller has shown to sign in can be named here.
func (c *checker) seesSession(span syntax.Span, name string) bool {
	switch c.scope.Place() {
	case ActionRule, ModelRule, RoleRule:
		return true
	}
	c.add(span, SecondFactorPlace, secondFactorPlace(name))
	return false
}

// signedInWithin checks the call of the function.
func (c *checker) signedInWithin(e *syntax.Call) Node {
	if !c.seesSession(e.Span(), e.Name.Name) {
		return nil
	}
	if len(e.Args) == 1 {
		if text, ok := e.Args[0].(*syntax.String); ok && within(text.Value) > 0 {
			return newPath(Path{Root: RootSignedInWithin, Name: text.Value}, Type{Kind: Boolean}, e.Span())
		}
	}
	c.add(e.Span(), SecondFactorPlace, signedInWithinForm())
	return nil
}

// within reads an amount and a unit of time; 0 for anything else.
func within(text string) time.Duration {
	amount, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(amount, 10, 16)
	if err != nil || amount[0] == '0' || amount[0] == '+' {
		return 0
	}
	units := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	return time.Duration(n) * units[strings.TrimSuffix(unit, "s")]
}

// ctxEntry resolves a header, or one of the names that the configuration
// declares. A header may have any name.
func (c *checker) ctxEntry(p *syntax.Path, root Root, declared []string) Node {
	part := p.Steps[1]
	if len(p.Steps) == 2 {
		c.add(part.Span(), UnknownName, bareCtxPart(part.Name))
		return nil
	}
	entry := p.Steps[2]
	name := entry.Name
	if root == RootHeader {
		name = c.scope.HeaderName(name)
	} else if !slices.Contains(declared, name) {
		c.add(entry.Span(), UnknownName, undeclared(part.Name, name, declared))
		return nil
	}
	if !c.endsAfter(p, 3, Type{Kind: Text}) {
		return nil
	}
	return newPath(Path{Root: root, Name: name}, Type{Kind: Text}, p.Span())
}

// endsAfter checks that a path which has reached a value does not go on.
func (c *checker) endsAfter(p *syntax.Path, n int, typ Type) bool {
	if len(p.Steps) == n {
		return true
	}
	c.add(p.Steps[n].Span(), UnknownField, pastScalar(p.Steps[n].Name, p.Steps[n-1].Name, typ))
	return false
}
