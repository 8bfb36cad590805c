package value

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// IDOfRow returns the type in which a column stores a value: a row is stored as its id.
func IDOfRow(t expr.Type) expr.Type {
	if t.Kind == expr.Model {
		return expr.Type{Kind: expr.ID}
	}
	return t
}

// Boolean is true or false.
func Boolean(b bool) pg.Expr {
	if b {
		return pg.True()
	}
	return pg.False()
}

// inSQL describes to Postgres a kind of values that columns hold.
type inSQL struct {
	Column  string // the type of a column that holds one value
	cast    string // the type that a text is cast to, if another: a Timestamp comes in milliseconds and needs no precision
	collate string // the collation of the column

	wire      string             // the function that encodes a value for the wire; "" leaves it to row_to_json
	wireArray string             // the one for an array, if it is another
	Member    release.MemberType // how the server writes a value that comes as it is
	asText    bool               // whether a cast to text yields the literal of a value; else the wire form does

	Bare   func() pg.Expr                             // the value of a bare @default; nil if it cannot be bare
	Check  func(column pg.Expr, isArray bool) pg.Expr // the condition on every value, and on each of an array; nil means none
	within string                                     // condition on a value for the wire, behind its column, where arithmetic may make others; "" asks no more than check
	Facet  string                                     // the facet of a list for its values, as platform.facet_sql names it; "" means nothing
	first  func(descending bool) (pg.Expr, bool)      // a value before all others in an order; nil if no value is

	// Whether Postgres' comparisons of two values are leakproof, so that a condition
	// beside those of row security may use an index.
	isLeakproof bool
}

// Scalars is the only table that describes kinds to Postgres.
var Scalars = map[expr.Kind]inSQL{
	expr.ID: {
		Column: "text", collate: `"C"`, // byte order keeps comparisons cheap and leakproof
		Member: release.TextMember, isLeakproof: true, Bare: newID, Facet: "values", first: noText,
	},
	expr.Text:     {Column: "text", Member: release.TextMember, isLeakproof: true, Bare: emptyText, Facet: "values", first: noText},
	expr.Markdown: {Column: "text", Member: release.TextMember, isLeakproof: true, Bare: emptyText, first: noText},
	expr.Enum:     {Column: "text", Member: release.TextMember, isLeakproof: true, Facet: "values", first: noText},
	expr.Number: {
		Column: "bigint", Member: release.NumberMember, asText: true, isLeakproof: true, Bare: zero, Check: isNumber,
		Facet: "numbers", first: either("-9223372036854775808", "9223372036854775807"),
	},
	expr.Decimal: {
		Column: "numeric", wire: "trim_scale", wireArray: "platform.trim_scale", Member: release.DecimalMember, asText: true,
		Bare: zero, Facet: "numbers", first: infinite, within: "between -99999999999999999999.999999999999999999 and 99999999999999999999.999999999999999999",
	},
	expr.Boolean: {
		Column: "boolean", Member: release.BooleanMember, isLeakproof: true, Bare: no,
		Facet: "values", first: func(descending bool) (pg.Expr, bool) { return Boolean(descending), true },
	},
	expr.Timestamp: {
		Column: "timestamptz(3)", cast: "timestamptz", wire: "platform.iso", Member: release.TimestampMember, isLeakproof: true,
		Bare: now, Facet: "moments", first: infinite, within: "between '0001-01-01T00:00:00Z' and '9999-12-31T23:59:59.999Z'",
	},
	expr.Date:     {Column: "date", Member: release.DateMember, asText: true, isLeakproof: true, Bare: todayUTC, Facet: "days", first: infinite, within: "between '0001-01-01' and '9999-12-31'"},
	expr.Duration: {Column: "interval", wire: "platform.iso_duration", Member: release.DurationMember, isLeakproof: true, Facet: "durations", Bare: noTime},
	expr.File:     {Column: "jsonb", Member: release.JSONMember, Check: isFile},
	expr.Vector:   {Column: "real[]", Member: release.RealMember},
	expr.Password: {Column: "text"},
	expr.Secret:   {Column: "text"},
}

// SQLOf returns the description of a kind for Postgres.
func SQLOf(k expr.Kind) inSQL {
	s, ok := Scalars[k]
	if !ok {
		panic("lower: no column has kind " + k.String())
	}
	return s
}

// InRange holds for the values of a column that go over the wire; nil means all.
func (s inSQL) InRange(column string) pg.Expr {
	if s.within == "" {
		return nil
	}
	return pg.Lit(pg.Ident(column) + " " + s.within)
}

func newID() pg.Expr { return pg.Fn("platform.new_id") }

func emptyText() pg.Expr { return pg.Str("") }

func zero() pg.Expr { return pg.Lit("0") }

func now() pg.Expr { return pg.Fn("now") }

func no() pg.Expr { return pg.False() }

func noTime() pg.Expr { return pg.Str("PT0S") }

func todayUTC() pg.Expr { return pg.Lit("(now() at time zone 'UTC')::date") }

// noText is before all texts. Texts have no last value.
func noText(descending bool) (pg.Expr, bool) { return pg.Str(""), !descending }

// either is the least value, or the greatest.
func either(least, greatest string) func(bool) (pg.Expr, bool) {
	return func(descending bool) (pg.Expr, bool) {
		if descending {
			return pg.Str(greatest), true
		}
		return pg.Str(least), true
	}
}

var infinite = either("-infinity", "infinity")

// isNumber is the range of a Number.
func isNumber(column pg.Expr, isArray bool) pg.Expr {
	if !isArray {
		return pg.Lit(emit.Expr(column) + " between -" + expr.MaxNumber + " and " + expr.MaxNumber)
	}
	return pg.AllOf(
		&pg.Any{Value: pg.Lit("'-" + expr.MaxNumber + "'::bigint"), Op: "<=", All: true, Array: column},
		&pg.Any{Value: pg.Lit("'" + expr.MaxNumber + "'::bigint"), Op: ">=", All: true, Array: column},
	)
}

func isFile(column pg.Expr, _ bool) pg.Expr { return pg.Fn("platform.is_file", column) }

// ColumnType returns the type of a column as Postgres spells it.
func ColumnType(t expr.Type) string {
	name := VariableType(t)
	if collation := SQLOf(t.Kind).collate; collation != "" {
		name += " collate " + collation
	}
	return name
}

// VariableType is the type of a variable that holds a column's value.
func VariableType(t expr.Type) string {
	name := SQLOf(t.Kind).Column
	if t.Array {
		name += "[]"
	}
	return name
}

// CastType is the type that input of a kind is read as.
func CastType(k expr.Kind) string {
	s := SQLOf(k)
	if s.cast != "" {
		return s.cast
	}
	return s.Column
}

// IsList tells whether a column holds many values: an array, or the elements of a vector.
func IsList(t expr.Type) bool { return t.Array || strings.HasSuffix(SQLOf(t.Kind).Column, "[]") }

// elementType is the type that one value in a list is read as.
func elementType(t expr.Type) string { return strings.TrimSuffix(CastType(t.Kind), "[]") }

// IsLeakproof tells whether Postgres' comparisons of a kind's values are leakproof.
func IsLeakproof(k expr.Kind) bool { return SQLOf(k).isLeakproof }

// Wire returns a column's value as it goes over the wire, for row_to_json.
func Wire(t expr.Type, value pg.Expr) pg.Expr {
	s := SQLOf(t.Kind)
	switch {
	case s.wire == "":
		return value
	case t.Array && s.wireArray != "":
		return pg.Fn(s.wireArray, value)
	}
	return pg.Fn(s.wire, value)
}

// LiteralOf returns the SQL by which a column reads as a literal of its type.
func LiteralText(t expr.Type, column string) string { return emit.Expr(Literal(t, pg.Lit(column))) }

// Literal is a value in the form of its literal in the language, as text where that form is one.
func Literal(t expr.Type, value pg.Expr) pg.Expr {
	switch {
	case !SQLOf(t.Kind).asText:
		return Wire(t, value)
	case t.Array:
		return pg.As(value, "text[]")
	}
	return pg.As(value, "text")
}

// MemberOf describes how a column's values become JSON.
func MemberOf(name, column string, t expr.Type) release.Member {
	return release.Member{Name: name, Column: column, Type: SQLOf(t.Kind).Member, Array: IsList(t)}
}

// ColumnDefault is the default of a field's column, nil if there is none.
func ColumnDefault(f *model.Field) pg.Expr {
	if f.BuiltIn {
		switch f.Name {
		case "id":
			return pg.Fn("platform.new_id")
		default:
			return pg.Fn("now")
		}
	}
	if f.Default == nil {
		return nil
	}
	if !f.Default.Bare {
		return Constant(f.Default.Value, f.Type)
	}
	if f.Type.Array {
		return pg.Str("{}")
	}
	return SQLOf(f.Type.Kind).Bare()
}

// Constant lowers the value of a @default.
func Constant(value expr.Node, target expr.Type) pg.Expr {
	switch v := value.(type) {
	case *expr.Path: // ctx.now is the only one
		return SQLOf(target.Kind).Bare() // the present for all kinds with a bare default
	case *expr.Literal:
		return literal(v)
	case *expr.List:
		elements := make([]pg.Expr, len(v.Elements))
		for i, e := range v.Elements {
			elements[i] = literal(e.(*expr.Literal))
		}
		if len(elements) == 0 {
			return pg.Str("{}")
		}
		return pg.As(&pg.Array{Elements: elements}, CastType(target.Kind)+"[]")
	}
	panic("lower: a @default is neither literal, list nor ctx.now")
}

// StoredAs returns the field whose column stores f: for a to-one its FK field.
func StoredAs(f *model.Field) *model.Field {
	if f.FK != nil {
		return f.FK
	}
	return f
}

// ColumnsOf returns the columns of some fields.
func ColumnsOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Column
	}
	return names
}

// StoredColumnsOf returns the columns that store fields.
func StoredColumnsOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = StoredAs(f).Column
	}
	return names
}

// NamesOf returns the names of some fields.
func NamesOf(fields []*model.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Convert returns a value as a column of another type takes it, where Postgres would not do so itself.
func Convert(value pg.Expr, from, to expr.Type) pg.Expr {
	switch {
	case from.Kind == expr.Timestamp && to.Kind == expr.Date:
		return pg.As(pg.Fn("timezone", pg.Str("UTC"), value), "date")
	case from.Kind == expr.Date && to.Kind == expr.Timestamp:
		return pg.Fn("platform.midnight", value)
	}
	return value
}
