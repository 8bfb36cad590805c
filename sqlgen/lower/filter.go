package lower

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// operator is one operator of a query object.
type operator struct {
	name     string
	operand  operandShape
	nullable bool // whether the operand is nullable where the field is
	// condition holds for a value and an operand, neither of which is null.
	condition func(value, operand pg.Expr) pg.Expr // nil for equalsRelative, which apply knows
	// unset says what the operator makes of a row without value: equals matches
	// none but with null, notEquals all but with null.
	unset bool
}

// operandShape is what an operator takes.
type operandShape int

const (
	oneValue operandShape = iota
	manyValues
	relativePeriod
)

func compare(op string) func(value, operand pg.Expr) pg.Expr {
	return func(value, operand pg.Expr) pg.Expr { return pg.Op(value, op, operand) }
}

func oneOf(value, operand pg.Expr) pg.Expr {
	return &pg.Any{Value: value, Op: "=", Array: operand}
}

// The text operators but equals disregard case; what they look for is literal.
func startsWith(value, operand pg.Expr) pg.Expr {
	return pg.Fn("starts_with", pg.Fn("lower", value), pg.Fn("lower", operand))
}

func endsWith(value, operand pg.Expr) pg.Expr {
	return pg.Fn("starts_with", pg.Fn("reverse", pg.Fn("lower", value)), pg.Fn("reverse", pg.Fn("lower", operand)))
}

func contains(value, operand pg.Expr) pg.Expr {
	return pg.Op(pg.Fn("strpos", pg.Fn("lower", value), pg.Fn("lower", operand)), ">", pg.Lit("0"))
}

var (
	equalsOperators = []operator{
		{name: "equals", nullable: true, condition: compare("=")},
		{name: "notEquals", nullable: true, condition: compare("<>"), unset: true},
	}
	orderOperators = []operator{
		{name: "lessThan", condition: compare("<")},
		{name: "lessThanOrEquals", condition: compare("<=")},
		{name: "greaterThan", condition: compare(">")},
		{name: "greaterThanOrEquals", condition: compare(">=")},
	}
	textOperators = []operator{
		{name: "startsWith", condition: startsWith},
		{name: "endsWith", condition: endsWith},
		{name: "contains", condition: contains},
	}
	oneOfOperator     = operator{name: "oneOf", operand: manyValues, condition: oneOf}
	relativeOperators = []operator{
		{name: "beforeRelative", operand: relativePeriod, condition: compare("<")},
		{name: "afterRelative", operand: relativePeriod, condition: compare(">=")},
		{name: "equalsRelative", operand: relativePeriod},
	}
)

// operatorsOf returns the operators of a scalar type, in the order in which they
// are published.
func operatorsOf(k expr.Kind) []operator {
	var list []operator
	switch k {
	case expr.Text, expr.Markdown:
		list = append(list, equalsOperators...)
		list = append(list, textOperators...)
		return append(list, oneOfOperator)
	case expr.Number, expr.Decimal:
		list = append(list, equalsOperators...)
		list = append(list, orderOperators...)
		return append(list, oneOfOperator)
	case expr.Duration:
		list = append(list, equalsOperators...)
		return append(list, orderOperators...)
	case expr.Boolean:
		return equalsOperators
	case expr.ID, expr.Enum:
		list = append(list, equalsOperators...)
		return append(list, oneOfOperator)
	case expr.Date:
		list = append(list, equalsOperators...)
		list = append(list,
			operator{name: "before", condition: compare("<")},
			operator{name: "onOrBefore", condition: compare("<=")},
			operator{name: "after", condition: compare(">")},
			operator{name: "onOrAfter", condition: compare(">=")},
		)
		return append(list, relativeOperators...)
	case expr.Timestamp:
		list = append(list,
			operator{name: "before", condition: compare("<")},
			operator{name: "after", condition: compare(">")},
		)
		return append(list, relativeOperators...)
	}
	panic("lower: no filter takes kind " + kindName(k))
}

// elementOperatorsOf returns the operators inside any and all: those of the
// element's type, of which oneOf is left out and none is nullable.
func elementOperatorsOf(k expr.Kind) []operator {
	var list []operator
	for _, o := range operatorsOf(k) {
		if o.operand != manyValues {
			o.nullable = false
			list = append(list, o)
		}
	}
	return list
}

// apply returns the condition for a value of a kind that is not null.
func (o operator) apply(k expr.Kind, value pg.Expr, where pg.Expr, path []string) pg.Expr {
	path = append(path[:len(path):len(path)], o.name)
	switch o.operand {
	case manyValues:
		return o.condition(value, elementsOf(expr.Type{Kind: k, Array: true}, member(where, path...)))
	case relativePeriod:
		starts, ends := "starts_at", "ends_at"
		if k == expr.Date {
			// A Date has no zone: it is compared with the period on the caller's calendar.
			starts, ends = "local_starts_at", "local_ends_at"
		}
		switch o.name {
		case "beforeRelative":
			return o.condition(value, period(memberText(where, path...), starts))
		case "afterRelative":
			return o.condition(value, period(memberText(where, path...), ends))
		}
		return pg.AllOf(
			pg.Op(value, ">=", period(memberText(where, path...), starts)),
			pg.Op(value, "<", period(memberText(where, path...), ends)),
		)
	}
	return o.condition(value, cast(memberText(where, path...), expr.Type{Kind: k}))
}

// period is one end of a relative period, evaluated once per statement.
func period(expression pg.Expr, end string) pg.Expr {
	return &pg.Subquery{Query: &pg.Select{Columns: []pg.Output{{Value: &pg.Field{
		Value: pg.Fn("platform.relative_period", expression, pg.Fn("platform.time_zone"), pg.Fn("now")),
		Name:  end,
	}}}}}
}

// theFilter is the filter inside the statement of a general list.
var theFilter = pg.Lit("$1")

// element is the element of an array that a condition is about.
var element = pg.Col("element", "value")

// filter adds the loop that turns the operators of a request into conditions of
// its statement. A path that is not listed makes the statement null, which
// Postgres refuses to run: nothing is ever passed over.
func (b *builder) filter(where, path, operand, sql pg.Expr) {
	if len(b.action.Reads) == 0 {
		return
	}
	extend := func(variable pg.Expr, parts ...pg.Expr) pg.Statement {
		sum := variable
		for _, p := range parts {
			sum = pg.Op(sum, "||", p)
		}
		return &pg.Assign{Variable: variable.(*pg.Name).Name, Value: sum}
	}

	var whens []pg.When
	var each, after []pg.Statement
	for _, in := range b.action.Reads {
		whens = append(whens, b.operators(in, operand)...)
		if !in.Type.Array {
			continue
		}
		// One and the same element has to satisfy all that any asks for, so its
		// conditions are gathered on their own.
		gathered := b.variableFor("any_"+storedAs(ownField(in)).Column, "text", pg.Str(""))
		var inside []pg.When
		for _, o := range elementOperatorsOf(in.Type.Kind) {
			at := pg.Str(inputPath(in) + ".any." + o.name)
			whens = append(whens, pg.When{Condition: at, Result: pg.Str("")})
			inside = append(inside, pg.When{Condition: at, Result: alsoHolds(
				o.apply(in.Type.Kind, element, theFilter, append(filterPath(in), "any")))})
		}
		each = append(each, extend(gathered, &pg.Case{Value: path, Whens: inside, Else: pg.Str("")}))
		after = append(after, pg.IfThen(pg.Op(gathered, "<>", pg.Str("")), extend(sql,
			&pg.Fragment{
				Prefix: " and exists (select ",
				Query:  &pg.QueryTail{From: b.elements(in)},
				Suffix: " where true",
			},
			gathered,
			pg.Str(")"),
		)))
	}
	loop := &pg.ForEach{
		Variables: []string{"v_path", "v_operand"},
		Query: &pg.Select{
			Columns: []pg.Output{{Value: pg.Col("operator", "path")}, {Value: pg.Col("operator", "operand")}},
			From:    &pg.CallRef{Call: pg.Fn("platform.operators", where), Alias: "operator"},
		},
		Body: append([]pg.Statement{extend(sql, &pg.Case{Value: path, Whens: whens})}, each...),
	}
	b.step("Each operator that was sent adds its condition, which takes its operand from the filter, $1.",
		append([]pg.Statement{loop}, after...)...)
}

// alsoHolds is a further condition as a fragment of a statement.
func alsoHolds(condition pg.Expr) *pg.Fragment {
	return &pg.Fragment{Prefix: " and ", Value: condition}
}

// elements is the rows source of an array field's elements.
func (b *builder) elements(in *schema.Input) pg.From {
	return &pg.CallRef{
		Call:    pg.Fn("unnest", pg.Col(b.table, storedAs(ownField(in)).Column)),
		Alias:   "element",
		Columns: []string{"value"},
	}
}

// operators returns a branch per operator of an input: its path, then what it
// adds to the statement.
func (b *builder) operators(in *schema.Input, operand pg.Expr) []pg.When {
	f := storedAs(ownField(in))
	column := pg.Col(b.table, f.Column)
	list := operatorsOf(in.Type.Kind)
	if in.Type.Array {
		list = equalsOperators
	}
	var whens []pg.When
	for _, o := range list {
		var holds pg.Expr
		if in.Type.Array {
			holds = o.condition(column, elementsOf(in.Type, member(theFilter, append(filterPath(in), o.name)...)))
		} else {
			holds = o.apply(in.Type.Kind, column, theFilter, filterPath(in))
		}
		if o.unset && f.Optional {
			holds = pg.AnyOf(holds, pg.IsNull(column))
		}
		added := pg.Expr(alsoHolds(holds))
		if o.nullable && f.Optional {
			null := pg.IsNull(column)
			if o.unset {
				null = pg.IsNotNull(column)
			}
			added = &pg.Case{
				Whens: []pg.When{{Condition: pg.Eq(operand, pg.Str("null")), Result: alsoHolds(null)}},
				Else:  added,
			}
		}
		whens = append(whens, pg.When{Condition: pg.Str(inputPath(in) + "." + o.name), Result: added})
	}
	if in.Type.Array {
		for _, o := range elementOperatorsOf(in.Type.Kind) {
			fails := pg.Negate(o.apply(in.Type.Kind, element, theFilter, append(filterPath(in), "all")))
			holds := pg.Negate(&pg.Exists{Query: &pg.Select{From: b.elements(in), Where: fails}})
			if f.Optional {
				holds = pg.AllOf(holds, pg.IsNotNull(column)) // null has no elements, yet all matches none of it
			}
			whens = append(whens, pg.When{Condition: pg.Str(inputPath(in) + ".all." + o.name), Result: alsoHolds(holds)})
		}
	}
	return whens
}
