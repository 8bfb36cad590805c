package value

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Member returns the member of a JSON value at a path, as JSON.
func Member(root pg.Expr, path ...string) pg.Expr {
	if len(path) == 1 {
		return pg.Op(root, "->", pg.Str(path[0]))
	}
	return pg.Op(root, "#>", pg.Str(pathArray(path)))
}

// MemberText returns the member of a JSON value at a path, as text; null without one.
func MemberText(root pg.Expr, path ...string) pg.Expr {
	if len(path) == 1 {
		return pg.Op(root, "->>", pg.Str(path[0]))
	}
	return pg.Op(root, "#>>", pg.Str(pathArray(path)))
}

// pathArray prints a path as a literal of type text[]. The name null needs quotes there, or it is a NULL.
func pathArray(path []string) string {
	var steps []string
	for _, name := range path {
		if strings.EqualFold(name, "null") {
			name = `"` + name + `"`
		}
		steps = append(steps, name)
	}
	return "{" + strings.Join(steps, ",") + "}"
}

// HasMember tells whether a JSON object has a member.
func HasMember(root pg.Expr, name string) pg.Expr {
	return pg.Op(root, "?", pg.Str(name))
}

// FromJSON returns the value at a path of a JSON value, as a column of type t holds it. The request has been validated,
// so the casts succeed.
func FromJSON(t expr.Type, nullable bool, root pg.Expr, path ...string) pg.Expr {
	if IsList(t) {
		elements := elementsOf(t, Member(root, path...))
		if nullable {
			// An absent or null array has no elements.
			return &pg.Case{Whens: []pg.When{{
				Condition: pg.Eq(pg.Fn("jsonb_typeof", Member(root, path...)), pg.Str("array")),
				Result:    elements,
			}}}
		}
		return elements
	}
	return cast(MemberText(root, path...), t)
}

// elementsOf returns the array of type t that a JSON array holds.
func elementsOf(t expr.Type, array pg.Expr) pg.Expr {
	elements := &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Fn("jsonb_array_elements_text", array)}},
	}}
	return castTo(elements, elementType(t), "[]")
}

// cast returns a text as a value of type t.
func cast(text pg.Expr, t expr.Type) pg.Expr {
	return castTo(text, CastType(t.Kind), "")
}

func castTo(value pg.Expr, typ, suffix string) pg.Expr {
	if typ == "text" {
		return value
	}
	return pg.As(value, typ+suffix)
}

// literal lowers a checked literal.
func literal(l *expr.Literal) pg.Expr {
	switch v := l.Value.(type) {
	case nil:
		if l.Type().Kind != expr.NullKind {
			return pg.As(pg.Null(), VariableType(l.Type()))
		}
		return pg.Null()
	case bool:
		if v {
			return pg.True()
		}
		return pg.False()
	case string:
		if l.Type().Kind.Class() == expr.ClassNumeric {
			return pg.Lit(v)
		}
		return cast(pg.Str(v), l.Type())
	}
	panic(fmt.Sprintf("lower: a literal holds %T", l.Value))
}
