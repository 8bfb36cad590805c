package expr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Function is the value of a function of the table that is not an aggregate.
type Function struct {
	Name      string
	Arguments []Node
	base
}

// Builtin is a row of the table of functions.
type Builtin struct {
	Name        string
	Parameters  []string // as readers see them; … is for any number more
	Doc         string   // a sentence or two
	Result      string   // the type of the value, in words
	IsAggregate bool

	PassesNulls bool // whether the value is null only if all arguments are; else one is enough

	classes   []Class // of the arguments
	most      int     // arguments; 0 is any number from 2 on
	hasDigits bool    // whether the last argument may be a number of digits
	result    Kind    // 0 is the type of the arguments
	of        func(values []any) any
}

// orderedClasses are those whose values have a least and a greatest one.
var orderedClasses = []Class{ClassNumeric, ClassText, ClassTemporal, ClassDuration}

// builtins is the one table of functions. Package lower/value has their SQL.
var builtins = slices.Concat([]Builtin{
	{Name: "ROUND", Parameters: []string{"number", "digits"}, Result: "Number; with digits the type of the number",
		Doc:     "The number rounded half away from zero: to a whole number, or to so many digits after the point, 0 to 18.",
		classes: []Class{ClassNumeric}, most: 1, hasDigits: true, result: Number,
		of: func(values []any) any { return rounded(values[0].(*big.Rat), digitsOf(values)) }},
	{Name: "FLOOR", Parameters: []string{"number"}, Result: "Number",
		Doc:     "The greatest whole number that is not above the number.",
		classes: []Class{ClassNumeric}, most: 1, result: Number,
		of: func(values []any) any { return floor(values[0].(*big.Rat)) }},
	{Name: "CEIL", Parameters: []string{"number"}, Result: "Number",
		Doc:     "The least whole number that is not below the number.",
		classes: []Class{ClassNumeric}, most: 1, result: Number,
		of: func(values []any) any { return opposite(floor(opposite(values[0]).(*big.Rat))) }},
	{Name: "ABS", Parameters: []string{"number"}, Result: "the type of the number",
		Doc:     "The number without its sign.",
		classes: []Class{ClassNumeric}, most: 1,
		of: func(values []any) any { return new(big.Rat).Abs(values[0].(*big.Rat)) }},
	{Name: "LEAST", Parameters: []string{"value", "value", "…"}, Result: "the type of the values",
		Doc:     "The least of two or more numbers, texts, times or durations. Nulls are passed over.",
		classes: orderedClasses, PassesNulls: true,
		of: func(values []any) any { return slices.MinFunc(values, order) }},
	{Name: "GREATEST", Parameters: []string{"value", "value", "…"}, Result: "the type of the values",
		Doc:     "The greatest of two or more numbers, texts, times or durations. Nulls are passed over.",
		classes: orderedClasses, PassesNulls: true,
		of: func(values []any) any { return slices.MaxFunc(values, order) }},
	{Name: "COALESCE", Parameters: []string{"value", "value", "…"}, Result: "the type of the values",
		Doc:     "The first of two or more values of one type that is not null.",
		classes: slices.Concat(orderedClasses, []Class{ClassID, ClassBoolean, ClassEnum, ClassModel}), PassesNulls: true,
		of: func(values []any) any { return values[0] }},
	{Name: "LOWER", Parameters: []string{"text"}, Result: "Text",
		Doc:     "The text in small letters.",
		classes: []Class{ClassText}, most: 1, result: Text,
		of: func(values []any) any { return strings.ToLower(values[0].(string)) }},
	{Name: "UPPER", Parameters: []string{"text"}, Result: "Text",
		Doc:     "The text in capitals.",
		classes: []Class{ClassText}, most: 1, result: Text,
		of: func(values []any) any { return strings.ToUpper(values[0].(string)) }},
	{Name: "TRIM", Parameters: []string{"text"}, Result: "Text",
		Doc:     "The text without white space at both ends.",
		classes: []Class{ClassText}, most: 1, result: Text,
		of: func(values []any) any { return strings.TrimSpace(values[0].(string)) }},
	{Name: "LENGTH", Parameters: []string{"text"}, Result: "Number",
		Doc:     "The number of characters of the text, which are code points.",
		classes: []Class{ClassText}, most: 1, result: Number,
		of: func(values []any) any {
			return new(big.Rat).SetInt64(int64(utf8.RuneCountInString(values[0].(string))))
		}},
},
	aggregates("SUM", "The sum of"), aggregates("COUNT", "The number of"), aggregates("AVG", "The mean of"),
	aggregates("MEDIAN", "The median of"), aggregates("MIN", "The least of"), aggregates("MAX", "The greatest of"),
)

// aggregates are an aggregate and its form with a condition.
func aggregates(name, doc string) []Builtin {
	return []Builtin{
		{Name: name, Parameters: []string{"path"}, Doc: doc + " the values that a path reaches.", IsAggregate: true},
		{Name: name + "IF", Parameters: []string{"path", "condition"}, Doc: doc + " the values for which the condition holds.", IsAggregate: true},
	}
}

// Builtins returns the functions of expressions, in the order of the documentation.
func Builtins() []Builtin { return slices.Clone(builtins) }

// BuiltinNamed returns the function of a name, false if there is none.
func BuiltinNamed(name string) (Builtin, bool) {
	i := slices.IndexFunc(builtins, func(b Builtin) bool { return b.Name == name })
	if i < 0 {
		return Builtin{}, false
	}
	return builtins[i], true
}

// Sample returns arguments that the function takes; none for an aggregate.
func (b Builtin) Sample() string {
	switch {
	case b.PassesNulls:
		return "0, 0"
	case b.takes(ClassText):
		return `""`
	case b.takes(ClassNumeric):
		return "0"
	}
	return ""
}

// builtin returns the row of a function that has been checked.
func (f *Function) builtin() Builtin {
	b, _ := BuiltinNamed(f.Name)
	return b
}

// PassesNulls tells whether the value is null only if all arguments are.
func (f *Function) PassesNulls() bool { return f.builtin().PassesNulls }

// call checks the call of a function.
func (c *checker) call(e *syntax.Call) Node {
	if e.Name.Name == syntax.SignedInWithin {
		return c.signedInWithin(e)
	}
	b, ok := BuiltinNamed(e.Name.Name)
	switch {
	case !ok:
		c.add(e.Span(), codeForUnknown(e.Name.Name), unknownFunction(e.Name.Name))
		return nil
	case b.IsAggregate:
		return c.aggregate(e)
	}
	f := &Function{Name: b.Name, base: base{span: e.Span()}}
	written, digits := e.Args, 0
	if b.hasDigits && len(written) == 2 {
		if digits, ok = digitsIn(written[1]); !ok {
			c.add(written[1].Span(), BadFunction, functionDigits(b))
			return nil
		}
		written = written[:1]
	}
	if b.most > 0 && len(written) != b.most || b.most == 0 && len(written) < 2 {
		c.add(e.Span(), BadFunction, functionOperands(b))
		return nil
	}
	for _, arg := range written {
		n := c.arithmeticOperand(arg)
		if n != nil && !b.takes(operandOf(n).class) {
			c.report(n, BadFunction, functionType(b, n))
			n = nil
		}
		ok = ok && n != nil
		f.Arguments = append(f.Arguments, n)
	}
	if !ok {
		return nil
	}
	if f.typ, ok = c.settleArguments(f.Arguments); !ok {
		c.add(e.Span(), BadFunction, functionTypes(b))
		return nil
	}
	if slices.Contains(f.Arguments, nil) {
		return nil
	}
	if len(written) < len(e.Args) {
		f.Arguments = append(f.Arguments, literal(syntax.Unparen(e.Args[1])))
	}
	if b.result != 0 && digits == 0 {
		f.typ = Type{Kind: b.result}
	}
	return f
}

// takes tells whether the function takes operands of a class.
func (b Builtin) takes(class Class) bool {
	return slices.Contains(b.classes, class) || class == ClassTextLiteral && slices.Contains(b.classes, ClassText)
}

// digitsIn reads a number of digits after the point.
func digitsIn(e syntax.Expr) (digits int, ok bool) {
	n, isNumber := syntax.Unparen(e).(*syntax.Number)
	if !isNumber || !n.IsInteger {
		return 0, false
	}
	_, err := fmt.Sscan(n.Text, &digits)
	return digits, err == nil && 0 <= digits && digits <= maxDecimalScale
}

// settleArguments returns the type that holds all values, and gives literals that type. It returns false if there is no
// such type. A literal with a wrong spelling is reported, and becomes nil.
func (c *checker) settleArguments(values []Node) (Type, bool) {
	typ := Type{}
	for _, n := range values {
		t := n.Type()
		switch {
		case operandOf(n).class == ClassTextLiteral, t == typ:
		case typ == Type{} || isWider(t.Kind, typ.Kind):
			typ = t
		case isWider(typ.Kind, t.Kind):
		case t.Kind.Class() == ClassText && typ.Kind.Class() == ClassText:
			typ = Type{Kind: Text}
		default:
			return typ, false
		}
	}
	if typ == (Type{}) {
		typ = Type{Kind: Text}
	}
	for i, n := range values {
		l, isLiteral := n.(*Literal)
		switch {
		case !isLiteral:
		case l.untyped && (typ.Kind == Model || !kinds[typ.Kind].isText):
			return typ, false
		default:
			values[i] = c.settle(l, typ)
		}
	}
	return typ, true
}

// mayBeNull tells whether the value of the function can be null.
func (f *Function) mayBeNull() bool {
	if f.PassesNulls() {
		return !slices.ContainsFunc(f.Arguments, func(n Node) bool { return !MayBeNull(n) })
	}
	return slices.ContainsFunc(f.Arguments, MayBeNull)
}

// called evaluates the function on its evaluated arguments.
func (f *Function) called(arguments []evaluated) evaluated {
	b := f.builtin()
	var result evaluated
	var values []any
	for _, o := range arguments {
		result.isNowhere = result.isNowhere || o.isNowhere
		result.isNobody = result.isNobody || o.isNobody
		result.isUnknown = result.isUnknown || o.isUnknown
		if o.value != nil {
			values = append(values, o.value)
		}
	}
	if len(values) == len(arguments) || b.PassesNulls && len(values) > 0 {
		result.value = b.of(values)
	}
	result.isSet = slices.ContainsFunc(arguments, func(o evaluated) bool { return o.isSet })
	if !b.PassesNulls {
		result.isSet = result.isSet && !slices.ContainsFunc(arguments, evaluated.mayBeNull)
	}
	return result
}

// digitsOf returns the digits after the point that a call asks for.
func digitsOf(values []any) int {
	if len(values) < 2 {
		return 0
	}
	return int(values[1].(*big.Rat).Num().Int64())
}

// floor returns the greatest integer that is not above a number.
func floor(n *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(n.Num(), n.Denom()))
}

// codeForUnknown is the code for the call of a name that no function has. Functions have capitals.
func codeForUnknown(name string) syntax.Code {
	if name == strings.ToUpper(name) {
		return BadFunction
	}
	return syntax.UnsupportedOperator
}
