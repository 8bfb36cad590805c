package expr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// canonical returns a value in the form in which the interpreter compares it:
//
//	Number, Decimal, Duration   *big.Rat
//	Date, Timestamp             time.Time, a Date being its midnight in UTC
//	arrays                      []any
//	all others                  as they are
func canonical(t Type, v any) any {
	if v == nil {
		return nil
	}
	if t.Array {
		element := Type{Kind: t.Kind, Name: t.Name}
		values := make([]any, 0, len(v.([]any)))
		for _, one := range v.([]any) {
			values = append(values, canonical(element, one))
		}
		return values
	}
	if compared := kinds[t.Kind].compared; compared != nil {
		parsed, ok := compared(v.(string))
		return must(parsed, ok, t, v)
	}
	return v
}

// must returns the parsed value. A failure to parse is a bug of the caller that made
// the row or the call.
func must(parsed any, ok bool, t Type, v any) any {
	if !ok {
		panic(fmt.Sprintf("expr: %v is no %s", v, t))
	}
	return parsed
}

// equal tells whether two canonical values are equal, null being a value.
func equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch a := a.(type) {
	case []any:
		return slices.EqualFunc(a, b.([]any), equal)
	case bool:
		return a == b.(bool)
	}
	return order(a, b) == 0
}

// order compares two canonical values that are not null. Texts are ordered by
// their bytes, which is what the collation "C" of Postgres does.
func order(a, b any) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case time.Time:
		return a.Compare(b.(time.Time))
	case string:
		return strings.Compare(a, b.(string))
	case duration:
		return a.length().Cmp(b.(duration).length())
	}
	panic(fmt.Sprintf("expr: values of type %T have no order", a))
}

// ordered tells whether an operator of order holds for the outcome of order.
func ordered(op syntax.Operator, outcome int) bool {
	switch op {
	case syntax.Less:
		return outcome < 0
	case syntax.LessOrEqual:
		return outcome <= 0
	case syntax.Greater:
		return outcome > 0
	case syntax.GreaterOrEqual:
		return outcome >= 0
	}
	panic("expr: " + string(op) + " does not order")
}
