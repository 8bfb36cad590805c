package lower

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// inSQL describes to Postgres a kind of values that columns hold.
type inSQL struct {
	column  string // the type of a column that holds one value
	cast    string // the type that a text is cast to, if another: a Timestamp comes in milliseconds and needs no precision
	collate string // the collation of the column

	wire      string             // the function that encodes a value for the wire; "" leaves it to row_to_json
	wireArray string             // the one for an array, if it is another
	member    release.MemberType // how the server writes a value that comes as it is
	asText    bool               // whether a cast to text yields the literal of a value; else the wire form does

	bare   func() pg.Expr                             // the value of a bare @default; nil if it cannot be bare
	check  func(column pg.Expr, isArray bool) pg.Expr // the condition on every value, and on each of an array; nil means none
	within string                                     // condition on a value for the wire, behind its column, where arithmetic may make others; "" asks no more than check
	facet  string                                     // the facet of a list for its values, as platform.facet_sql names it; "" means nothing
	first  func(descending bool) (pg.Expr, bool)      // a value before all others in an order; nil if no value is

	// Whether Postgres' comparisons of two values are leakproof, so that a condition
	// beside those of row security may use an index.
	isLeakproof bool
}

// scalars is the only table that describes kinds to Postgres.
var scalars = map[expr.Kind]inSQL{
	expr.ID: {
		column: "text", collate: `"C"`, // byte order keeps comparisons cheap and leakproof
		member: release.TextMember, isLeakproof: true, bare: newID, facet: "values", first: noText,
	},
	expr.Text:     {column: "text", member: release.TextMember, isLeakproof: true, bare: emptyText, facet: "values", first: noText},
	expr.Markdown: {column: "text", member: release.TextMember, isLeakproof: true, bare: emptyText, first: noText},
	expr.Enum:     {column: "text", member: release.TextMember, isLeakproof: true, facet: "values", first: noText},
	expr.Number: {
		column: "bigint", member: release.NumberMember, asText: true, isLeakproof: true, bare: zero, check: isNumber,
		facet: "numbers", first: either("-9223372036854775808", "9223372036854775807"),
	},
	expr.Decimal: {
		column: "numeric", wire: "trim_scale", wireArray: "platform.trim_scale", member: release.DecimalMember, asText: true,
		bare: zero, facet: "numbers", first: infinite, within: "between -99999999999999999999.999999999999999999 and 99999999999999999999.999999999999999999",
	},
	expr.Boolean: {
		column: "boolean", member: release.BooleanMember, isLeakproof: true, bare: no,
		facet: "values", first: func(descending bool) (pg.Expr, bool) { return boolean(descending), true },
	},
	expr.Timestamp: {
		column: "timestamptz(3)", cast: "timestamptz", wire: "platform.iso", member: release.TimestampMember, isLeakproof: true,
		bare: now, facet: "moments", first: infinite, within: "between '0001-01-01T00:00:00Z' and '9999-12-31T23:59:59.999Z'",
	},
	expr.Date:     {column: "date", member: release.DateMember, asText: true, isLeakproof: true, bare: todayUTC, facet: "days", first: infinite, within: "between '0001-01-01' and '9999-12-31'"},
	expr.Duration: {column: "interval", wire: "platform.iso_duration", member: release.DurationMember, isLeakproof: true, facet: "durations", bare: noTime},
	expr.File:     {column: "jsonb", member: release.JSONMember, check: isFile},
	expr.Vector:   {column: "real[]", member: release.RealMember},
	expr.Password: {column: "text"},
	expr.Secret:   {column: "text"},
}

// sqlOf returns the description of a kind for Postgres.
func sqlOf(k expr.Kind) inSQL {
	s, ok := scalars[k]
	if !ok {
		panic("lower: no column has kind " + k.String())
	}
	return s
}

// inRange holds for the values of a column that go over the wire; nil means all.
func (s inSQL) inRange(column string) pg.Expr {
	if s.within == "" {
		return nil
	}
	return pg.Lit(pg.Ident(column) + " " + s.within)
}

func newID() pg.Expr     { return pg.Fn("platform.new_id") }
func emptyText() pg.Expr { return pg.Str("") }
func zero() pg.Expr      { return pg.Lit("0") }
func now() pg.Expr       { return pg.Fn("now") }
func no() pg.Expr        { return pg.False() }
func noTime() pg.Expr    { return pg.Str("PT0S") }
func todayUTC() pg.Expr  { return pg.Lit("(now() at time zone 'UTC')::date") }

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

// columnType returns the type of a column as Postgres spells it.
func columnType(t expr.Type) string {
	name := variableType(t)
	if collation := sqlOf(t.Kind).collate; collation != "" {
		name += " collate " + collation
	}
	return name
}

// variableType is the type of a variable that holds a column's value.
func variableType(t expr.Type) string {
	name := sqlOf(t.Kind).column
	if t.Array {
		name += "[]"
	}
	return name
}

// castType is the type that input of a kind is read as.
func castType(k expr.Kind) string {
	s := sqlOf(k)
	if s.cast != "" {
		return s.cast
	}
	return s.column
}

// CastType is the type that the text of a kind's value is cast to.
func CastType(k expr.Kind) string { return castType(k) }

// isList tells whether a column holds many values: an array, or the elements of a vector.
func isList(t expr.Type) bool { return t.Array || strings.HasSuffix(sqlOf(t.Kind).column, "[]") }

// elementType is the type that one value in a list is read as.
func elementType(t expr.Type) string { return strings.TrimSuffix(castType(t.Kind), "[]") }

// isLeakproof tells whether Postgres' comparisons of a kind's values are leakproof.
func isLeakproof(k expr.Kind) bool { return sqlOf(k).isLeakproof }

// wire returns a column's value as it goes over the wire, for row_to_json.
func wire(t expr.Type, value pg.Expr) pg.Expr {
	s := sqlOf(t.Kind)
	switch {
	case s.wire == "":
		return value
	case t.Array && s.wireArray != "":
		return pg.Fn(s.wireArray, value)
	}
	return pg.Fn(s.wire, value)
}

// LiteralOf returns the SQL by which a column reads as a literal of its type.
func LiteralOf(t expr.Type, column string) string { return emit.Expr(literalOf(t, pg.Lit(column))) }

func literalOf(t expr.Type, value pg.Expr) pg.Expr {
	switch {
	case !sqlOf(t.Kind).asText:
		return wire(t, value)
	case t.Array:
		return pg.As(value, "text[]")
	}
	return pg.As(value, "text")
}

// memberOf describes how a column's values become JSON.
func memberOf(name, column string, t expr.Type) release.Member {
	return release.Member{Name: name, Column: column, Type: sqlOf(t.Kind).member, Array: isList(t)}
}
