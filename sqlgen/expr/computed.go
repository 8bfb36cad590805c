package expr

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Aggregate is one value computed from all values of a path through to-manys.
type Aggregate struct {
	Function  string // SUM, COUNT, AVG, MEDIAN, MIN or MAX
	Path      *Path
	Condition Node // what a row satisfies that counts; a mention of a prefix of Path means the row at hand; nil means all count
	OrZero    bool // whether nothing makes it 0, which else is null
	base
}

// CheckComputed checks the expression of a @computed and that the target takes its value.
// It reports every independent error to errs and returns nil if there is any.
func CheckComputed(e syntax.Expr, target Target, scope Scope, errs *syntax.Errors) Node {
	c := &checker{scope: scope, errs: errs, computed: &target}
	n := c.computedValue(e, target)
	if n == nil {
		return nil
	}
	for _, p := range outerPaths(n) {
		if p.ThroughToMany() {
			c.report(p, ComputedType, toManyOutside())
			return nil
		}
	}
	if !target.Optional && MayBeNull(n) {
		c.report(n, ComputedNull, computedNull(target))
		return nil
	}
	return n
}

// computedValue checks the value of a computed field by the field's type.
func (c *checker) computedValue(e syntax.Expr, target Target) Node {
	if target.Type.Kind == Boolean {
		return c.boolean(e)
	}
	if target.Type.Kind == Model {
		return c.computedRow(e, target)
	}
	var n Node
	switch inner := syntax.Unparen(e).(type) {
	case *syntax.Not:
		c.boolean(inner)
		c.add(e.Span(), TypeMismatch, conditionFor(target))
		return nil
	case *syntax.Binary:
		if !syntax.IsArithmetic(inner) {
			c.boolean(inner)
			c.add(e.Span(), TypeMismatch, conditionFor(target))
			return nil
		}
		n = c.operand(inner)
	case *syntax.List:
		c.add(e.Span(), TypeMismatch, conditionFor(target))
		return nil
	default:
		n = c.operand(inner)
	}
	switch n := n.(type) {
	case nil:
		return nil
	case *Literal:
		return c.literalValue(n, target)
	case *Path:
		if n.isWriteOnly() {
			c.report(n, WriteOnlyField, writeOnlyField(n.typ))
			return nil
		}
	}
	isRounded := target.Type.Kind == Number && n.Type() == Type{Kind: Decimal}
	if n.Type() != target.Type && !takes(target.Type, n.Type()) && !isRounded {
		c.mismatch(n, target)
		return nil
	}
	return n
}

// computedRow checks the value of a computed to-one: a path that ends in its model.
func (c *checker) computedRow(e syntax.Expr, target Target) Node {
	written, ok := syntax.Unparen(e).(*syntax.Path)
	if !ok {
		if _, isBad := syntax.Unparen(e).(*syntax.BadExpr); !isBad {
			c.add(e.Span(), TypeMismatch, computedRowNeedsPath(target))
		}
		return nil
	}
	switch n := c.valuePath(written).(type) {
	case nil:
		return nil
	case *Path:
		if n.typ.Kind == target.Type.Kind && n.typ.Name == target.Type.Name {
			return n // through a to-many is refused with all others
		}
	}
	c.add(e.Span(), TypeMismatch, computedRowNeedsPath(target))
	return nil
}

// aggregate checks the call of an aggregate.
func (c *checker) aggregate(e *syntax.Call) Node {
	name, isConditional := strings.CutSuffix(e.Name.Name, "IF")
	refuse := func(span syntax.Span, message string) Node {
		c.add(span, BadAggregate, message)
		return nil
	}
	switch {
	case c.computed == nil:
		return refuse(e.Span(), aggregateMisplaced(e.Name.Name))
	case c.inAggregate:
		return refuse(e.Span(), nestedAggregate())
	case len(e.Args) != 1 && !isConditional || len(e.Args) != 2 && isConditional:
		return refuse(e.Span(), aggregateOperands(e.Name.Name, isConditional))
	}
	written, ok := syntax.Unparen(e.Args[0]).(*syntax.Path)
	if !ok {
		if _, isBad := syntax.Unparen(e.Args[0]).(*syntax.BadExpr); !isBad {
			c.add(e.Args[0].Span(), BadAggregate, aggregateNeedsPath(e.Name.Name))
		}
		return nil
	}
	path, ok := c.valuePath(written).(*Path)
	if !ok {
		return nil
	}
	a := &Aggregate{Function: name, Path: path, base: base{typ: path.typ, span: e.Span()}}
	switch {
	case !path.ThroughToMany():
		return refuse(path.span, aggregateNeedsToMany(e.Name.Name))
	case name == "COUNT":
		a.typ = Type{Kind: Number}
	case path.isWriteOnly() || path.typ.Array || !takesAggregate(name, path.typ.Kind):
		return refuse(path.span, aggregateType(e.Name.Name, path))
	case name == "AVG" || name == "MEDIAN":
		a.typ = Type{Kind: Decimal}
	}
	if isConditional {
		c.inAggregate = true
		a.Condition = c.boolean(e.Args[1])
		c.inAggregate = false
		if a.Condition == nil {
			return nil
		}
		for _, p := range Paths(a.Condition) {
			for _, prefix := range addPrefixes(nil, map[string]bool{}, p, true) {
				if !slices.ContainsFunc(addPrefixes(nil, map[string]bool{}, path, true), func(own Prefix) bool { return own.Key() == prefix.Key() }) {
					return refuse(p.span, otherToMany())
				}
			}
		}
	}
	a.OrZero = !c.computed.Optional && a.typ.Kind.Class() == ClassNumeric
	return a
}

// takesAggregate tells whether an aggregate takes values of a kind.
func takesAggregate(name string, k Kind) bool {
	switch k.Class() {
	case ClassNumeric:
		return true
	case ClassTemporal, ClassDuration:
		return name == "MIN" || name == "MAX"
	}
	return false
}

// mayBeNull tells whether the aggregate can have no value.
func (a *Aggregate) mayBeNull() bool {
	return a.Function != "SUM" && a.Function != "COUNT" && !a.OrZero
}

// outerPaths returns the paths of an expression that are in no aggregate.
func outerPaths(n Node) []*Path {
	var paths []*Path
	Inspect(n, func(n Node) bool {
		switch n := n.(type) {
		case *Aggregate:
			return false
		case *Path:
			paths = append(paths, n)
		}
		return true
	})
	return paths
}

// Evaluate returns the value of an expression as a field of a type stores it, in the form
// of a Literal of the type.
func Evaluate(call Call, n Node, t Type) any {
	e := evaluator{call: call, logic: InWhere}
	if t.Kind == Boolean {
		if p, ok := n.(*Path); ok {
			return e.single(p).value
		}
		return e.choose([]Node{n}) == True
	}
	return held(stored(e.single(n).value, t), t)
}

// stored returns a canonical value as a field of a type stores it.
func stored(value any, t Type) any {
	switch v := value.(type) {
	case *big.Rat:
		if t.Kind == Number {
			return rounded(v, 0)
		}
		return rounded(v, maxDecimalScale)
	case time.Time:
		if t.Kind == Date {
			return v.UTC().Truncate(24 * time.Hour)
		}
		return v.UTC().Round(time.Millisecond)
	}
	return value
}

// held returns a canonical value in the form of a Literal.
func held(value any, t Type) any {
	switch v := value.(type) {
	case *big.Rat:
		text := v.FloatString(maxDecimalScale)
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	case time.Time:
		if t.Kind == Date {
			return v.Format(time.DateOnly)
		}
		return v.Format(timestampLayout)
	case duration:
		return v.String()
	}
	return value
}

// Same tells whether two values of a type are the same, each in the form of a Literal.
func Same(t Type, a, b any) bool { return equal(canonical(t, a), canonical(t, b)) }

// aggregateOf evaluates an aggregate.
func (e *evaluator) aggregateOf(a *Aggregate) any {
	inner := *e
	inner.chosen = map[string]Row{}
	var values []any
	inner.each(addPrefixes(nil, map[string]bool{}, a.Path, true), func() {
		if a.Condition != nil {
			judge := inner
			judge.pinned = inner.chosen
			if judge.choose([]Node{a.Condition}) != True {
				return
			}
		}
		if o := inner.path(a.Path); !o.isNowhere && o.value != nil {
			values = append(values, o.value)
		}
	})
	return a.of(values)
}

// each calls visit for every choice of children for the prefixes.
func (e *evaluator) each(prefixes []Prefix, visit func()) {
	if len(prefixes) == 0 {
		visit()
		return
	}
	for _, child := range e.children(prefixes[0]) {
		e.chosen[prefixes[0].Key()] = child
		e.each(prefixes[1:], visit)
	}
	delete(e.chosen, prefixes[0].Key())
}

// of computes one value from all.
func (a *Aggregate) of(values []any) any {
	count := new(big.Rat).SetInt64(int64(len(values)))
	if a.Function == "COUNT" {
		return count
	}
	if len(values) == 0 {
		if a.Function == "SUM" || a.OrZero {
			return new(big.Rat)
		}
		return nil
	}
	slices.SortFunc(values, order)
	switch a.Function {
	case "MIN":
		return values[0]
	case "MAX":
		return values[len(values)-1]
	case "MEDIAN":
		middle := values[len(values)/2]
		if len(values)%2 == 0 {
			both := combine(syntax.Add, values[len(values)/2-1], middle)
			return combine(syntax.Divide, both, big.NewRat(2, 1))
		}
		return middle
	}
	sum := any(new(big.Rat))
	for _, v := range values {
		sum = combine(syntax.Add, sum, v)
	}
	if a.Function == "AVG" {
		return combine(syntax.Divide, sum, count)
	}
	return sum
}
