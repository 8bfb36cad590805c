package expr

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// CheckValue checks a value and that the target takes it: the right-hand side of
// a @set in an action or arm, or the argument of @default, as the scope's place
// says. It reports every independent error to errs and returns nil if there is
// any. The result is a *Literal, *List, *Path, *Arithmetic, *Negative or *Function.
//
// CheckValue checks the steps of a path (SetManyValues, for arms ArmField, for
// @default DefaultNotConstant). The caller checks whether the value reads a row that
// does not exist yet (SetReadsNewRow), which the Path shows.
func CheckValue(e syntax.Expr, target Target, scope Scope, errs *syntax.Errors) Node {
	c := &checker{scope: scope, errs: errs}
	return c.value(e, target)
}

// value checks a value by its form.
func (c *checker) value(e syntax.Expr, target Target) Node {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Binary, *syntax.Negative, *syntax.Call:
		call, isCall := e.(*syntax.Call)
		if isCall && c.scope.Place() == Default {
			if _, isKnown := BuiltinNamed(call.Name.Name); !isKnown {
				return c.call(call)
			}
		} else if isCall || syntax.IsArithmetic(e) && c.scope.Place() != Default {
			return c.arithmeticValue(e, target)
		}
		c.noOperators(e)
		return nil
	case *syntax.Not:
		c.noOperators(e)
		return nil
	case *syntax.List:
		return c.listValue(e, target)
	case *syntax.Path:
		return c.pathValue(e, target)
	case *syntax.BadExpr:
		return nil
	default:
		return c.literalValue(literal(e).(*Literal), target)
	}
}

// noOperators reports a value with an operator.
func (c *checker) noOperators(e syntax.Expr) {
	switch c.scope.Place() {
	case Default:
		c.add(e.Span(), DefaultNotConstant, defaultNotConstant())
	case ArmValue:
		c.add(e.Span(), ArmField, operatorInArm())
	default:
		c.add(e.Span(), syntax.NotSupportedYet, operatorInSet())
	}
}

// arithmeticValue checks arithmetic, or the value of a function, against a target.
func (c *checker) arithmeticValue(e syntax.Expr, target Target) Node {
	n := c.operand(e)
	if n == nil {
		return nil
	}
	ok := true
	for _, p := range Paths(n) {
		if target.takesMany(p) {
			c.report(p, c.codeForMany(), manyValues())
			ok = false
		}
	}
	isArm := c.scope.Place() == ArmValue
	isLike := n.Type() == target.Type
	switch {
	case !ok:
		return nil
	case isArm && !isLike && !target.Type.Holds(n.Type()), !isLike && !takes(target.Type, n.Type()):
		c.mismatch(n, target)
		return nil
	case isArm && MayBeNull(n) && !target.Optional:
		c.report(n, ArmField, optionalInArm(target))
		return nil
	}
	return n
}

// codeForMany is the code for a value that passes a to-many.
func (c *checker) codeForMany() syntax.Code {
	if c.scope.Place() == ArmValue {
		return ArmField
	}
	return SetManyValues
}

// mismatch reports a value of a type that the target does not take.
func (c *checker) mismatch(n Node, target Target) {
	code := TypeMismatch
	if c.scope.Place() == ArmValue {
		code = ArmField
	}
	c.report(n, code, typeMismatch(n, target))
}

// literalValue checks a literal against a target.
func (c *checker) literalValue(l *Literal, target Target) Node {
	switch {
	case isNull(l) && target.Optional:
		return l
	case isNull(l):
		c.report(l, NullIntoRequired, nullIntoRequired(target))
		return nil
	case target.Type.Array || !takesLiteral(target.Type, l):
		c.mismatch(l, target)
		return nil
	}
	return c.settle(l, target.Type)
}

// takesLiteral tells whether a target that is not an array takes a literal, with any
// spelling.
func takesLiteral(target Type, l *Literal) bool {
	if l.untyped {
		return kinds[target.Kind].isText
	}
	return target == l.typ || target.Holds(l.typ)
}

// listValue checks a list, whose elements must be literals that an element of the
// target takes.
func (c *checker) listValue(e *syntax.List, target Target) Node {
	list := &List{base: base{typ: Type{Kind: AnyList}, span: e.Span()}}
	if !target.Type.Array || target.Type.Kind == Model {
		c.mismatch(list, target)
		return nil
	}
	if len(e.Elements) > 0 {
		list.typ = target.Type
	}
	element := Target{Type: target.Type, Optional: false, Name: "an element of " + target.Name}
	element.Type.Array = false
	ok := true
	for _, e := range e.Elements {
		n := c.elementValue(e, element)
		ok = ok && n != nil
		list.Elements = append(list.Elements, n)
	}
	if !ok || e.Incomplete() {
		return nil
	}
	return list
}

// elementValue checks one element of a list that is assigned.
func (c *checker) elementValue(e syntax.Expr, target Target) Node {
	e = syntax.Unparen(e)
	switch e.(type) {
	case *syntax.Null:
		c.add(e.Span(), ListElement, nullElement())
		return nil
	case *syntax.Binary, *syntax.Not, *syntax.Negative, *syntax.Call, *syntax.List:
		c.notLiteral(e.Span())
		return nil
	case *syntax.Path:
		if c.scope.Place() == Default && !isEnumPath(e) {
			c.notLiteral(e.Span())
			return nil
		}
	}
	n := c.operand(e)
	switch n := n.(type) {
	case *Path:
		c.notLiteral(n.span)
		return nil
	case *Literal:
		return c.literalValue(n, target)
	}
	return nil
}

// notLiteral reports an element of an assigned list that is not a literal.
func (c *checker) notLiteral(span syntax.Span) {
	code := ListElement
	if c.scope.Place() == Default {
		code = DefaultNotConstant
	}
	c.add(span, code, elementNotLiteral())
}

// isEnumPath tells whether a path looks like the value of an enum: only the name
// of an enum begins with a capital.
func isEnumPath(e syntax.Expr) bool {
	p, ok := e.(*syntax.Path)
	if !ok {
		return false
	}
	first := p.Steps[0].Name[0]
	return first >= 'A' && first <= 'Z'
}

// isNowPath tells whether a path is ctx.now.
func isNowPath(p *syntax.Path) bool {
	return len(p.Steps) == 2 && p.Steps[0].Name == "ctx" && p.Steps[1].Name == "now"
}

// pathValue checks a path, or the value of an enum, against a target.
func (c *checker) pathValue(e *syntax.Path, target Target) Node {
	if c.scope.Place() == Default && !isNowPath(e) && !isEnumPath(e) {
		c.add(e.Span(), DefaultNotConstant, defaultNotConstant())
		return nil
	}
	switch n := c.valuePath(e).(type) {
	case *Literal:
		return c.literalValue(n, target)
	case *Path:
		if !c.assignable(n, target) {
			return nil
		}
		return n
	}
	return nil
}

// assignable checks a path against a target.
func (c *checker) assignable(p *Path, target Target) bool {
	isArm := c.scope.Place() == ArmValue
	isLike := p.typ == target.Type
	switch {
	case target.takesMany(p):
		code := SetManyValues
		if isArm {
			code = ArmField
		}
		c.report(p, code, manyValues())
	case p.isWriteOnly() && !isLike:
		c.report(p, WriteOnlyField, writeOnlyValue(p.typ, target))
	case p.isWriteOnly() && p.Root != RootInput:
		c.report(p, TypeMismatch, writeOnlyPath(p.typ))
	case isArm && !isLike && (target.Type.Array || !target.Type.Holds(p.typ)):
		c.mismatch(p, target)
	case isArm && p.MayBeNull() && !target.Optional:
		c.report(p, ArmField, optionalInArm(target))
	case !isLike && !takes(target.Type, p.typ):
		c.mismatch(p, target)
	default:
		return true
	}
	return false
}

// takes tells whether a target takes a value of another type than its own.
func takes(target, value Type) bool {
	if target.Array || value.Array {
		return false
	}
	return slices.Contains(kinds[target.Kind].takes, value.Kind)
}
