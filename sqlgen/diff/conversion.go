package diff

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Keeps is the part of a column's values that survives a change of type.
type Keeps int

// The parts that survive a change of type.
const (
	Nothing  Keeps = iota // no value has a place in the new type: it starts empty
	Readable              // values that read as one of the new type; others have no place there
	Rounded               // values come as near as the new type allows: the rest is cut off
	Exactly               // every value, so that nothing is lost
)

// Conversion is the effect on values when a column changes its type.
type Conversion struct {
	Keeps   Keeps
	Using   string // SQL with $ for the column: the new value
	Unfit   string // SQL with $ for the column: whether a value is lost, or not kept exactly; empty if none is
	InPlace bool   // whether the stored values stay as they are, so that nothing is rewritten
}

func (c Conversion) using(column string) string { return strings.ReplaceAll(c.Using, "$", column) }

func (c Conversion) unfit(column string) string { return strings.ReplaceAll(c.Unfit, "$", column) }

// consequence says what would happen to the values.
func (c Conversion) consequence() string {
	switch c.Keeps {
	case Rounded:
		return "values would be cut off"
	case Readable:
		return "values that cannot be read as one would be lost"
	}
	return "its values would be lost"
}

// Types are the existing types of columns, of one value each. All of them but real[] may be in an array.
var Types = []string{
	"text", `text collate "C"`, "bigint", "numeric", "boolean", "timestamptz(3)", "date", "interval", "jsonb", "real[]",
}

// maxInteger is the greatest integer that a Number may be.
const maxInteger = "9007199254740991"

// The forms in which texts are read as other values: those in which the values themselves are written, so that the text
// comes back the same.
var (
	integerForm   = pg.Quote(`^(0|-?[1-9][0-9]{0,15})\Z`)
	decimalForm   = pg.Quote(`^-?(0|[1-9][0-9]*)([.][0-9]+)?\Z`)
	timestampForm = pg.Quote(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z\Z`)
	dateForm      = pg.Quote(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\Z`)
	durationForm  = pg.Quote(`^P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]+)?S)?)?\Z`)
)

// conversions is the table of changes between types of one value. A pair that is missing keeps nothing.
var conversions = map[[2]string]Conversion{
	{"text", "bigint"}:         {Readable, "$::bigint", "case when $ ~ " + integerForm + " then $::numeric not between -" + maxInteger + " and " + maxInteger + " else $ is not null end", false},
	{"text", "numeric"}:        {Readable, "$::numeric", "$ !~ " + decimalForm, false},
	{"text", "boolean"}:        {Readable, "$::boolean", "$ not in ('true', 'false')", false},
	{"text", "timestamptz(3)"}: {Readable, "$::timestamptz(3)", "$ !~ " + timestampForm, false},
	{"text", "date"}:           {Readable, "$::date", "$ !~ " + dateForm, false},
	{"text", "interval"}:       {Readable, "$::interval", "$ !~ " + durationForm, false},

	{"bigint", "text"}:         {Exactly, "$::text", "", false},
	{"numeric", "text"}:        {Exactly, "trim_scale($)::text", "", false},
	{"boolean", "text"}:        {Exactly, "$::text", "", false},
	{"timestamptz(3)", "text"}: {Exactly, "platform.iso($)", "", false},
	{"date", "text"}:           {Exactly, "to_char($, 'YYYY-MM-DD')", "", false},
	{"interval", "text"}:       {Exactly, "platform.iso_duration($)", "", false},

	{"bigint", "numeric"}:  {Exactly, "$::numeric", "", false},
	{"bigint", "boolean"}:  {Rounded, "$ <> 0", "$ not in (0, 1)", false},
	{"numeric", "bigint"}:  {Rounded, "$::bigint", "$ <> trunc($) or abs($) > " + maxInteger, false},
	{"numeric", "boolean"}: {Rounded, "$ <> 0", "$ not in (0, 1)", false},
	{"boolean", "bigint"}:  {Exactly, "$::integer::bigint", "", false},
	{"boolean", "numeric"}: {Exactly, "$::integer::numeric", "", false},

	{"date", "timestamptz(3)"}: {Exactly, "$::timestamp at time zone 'UTC'", "", false},
	{"timestamptz(3)", "date"}: {Rounded, "($ at time zone 'UTC')::date", "$ at time zone 'UTC' <> date_trunc('day', $ at time zone 'UTC')", false},
}

// ConversionOf returns the effect on the values of a column. Hashed or encrypted values are neither readable as
// anything else nor the same as a text.
func ConversionOf(o, n *pg.Column) Conversion {
	if o.Opaque != n.Opaque {
		return Conversion{Nothing, "null", "$ is not null", false}
	}
	c := Convert(o.Type, n.Type)
	if o.Type == n.Type || len(n.Values) == 0 || c.Keeps == Nothing {
		return c
	}
	fit := slices.Clone(n.Values) // and the values renamed on the way
	for _, r := range renames(o, n) {
		fit = append(fit, r.Old)
	}
	isUnfit := func(v string) bool { return !slices.Contains(fit, v) }
	if len(o.Values) > 0 && !slices.ContainsFunc(o.Values, isUnfit) {
		return c
	}
	return c.toEnum(n, fit)
}

// toEnum is a conversion to an enum, where only some values fit.
func (c Conversion) toEnum(n *pg.Column, fit []string) Conversion {
	values := make([]string, len(fit))
	for i, v := range fit {
		values[i] = pg.Quote(v)
	}
	list := strings.Join(values, ", ")
	unfit := "(" + c.Using + ") not in (" + list + ")"
	if _, isArray := elementOf(n.Type); isArray {
		unfit = "not (" + c.Using + ") <@ array[" + list + "]"
	}
	if c.Unfit != "" {
		unfit = "(" + c.Unfit + ") or " + unfit
	}
	return Conversion{Readable, c.Using, unfit, false}
}

// Convert returns the effect on values of one type in a column of another.
func Convert(from, to string) Conversion {
	if from == to {
		return Conversion{Exactly, "$", "", true}
	}
	one, many := elementOf(from)
	other, toMany := elementOf(to)
	switch {
	case !many && !toMany:
		return convertOne(one, other)
	case !many && toMany:
		c := convertOne(one, other)
		return c.within("case when $ is not null then array["+c.Using+"] end", c.Unfit)
	case many && !toMany:
		c := convertOne(one, other)
		c.Using = strings.ReplaceAll(c.Using, "$", "$[1]")
		unfit := "cardinality($) <> 1"
		if c.Unfit != "" {
			unfit += " or " + strings.ReplaceAll("("+c.Unfit+")", "$", "$[1]")
		}
		c.Keeps = min(c.Keeps, Rounded)
		return c.within(c.Using, unfit)
	}
	return convertMany(one, other, to)
}

// within is a conversion that continues with the result of another one, if it keeps anything.
func (c Conversion) within(using, unfit string) Conversion {
	if c.Keeps == Nothing {
		return c
	}
	return Conversion{c.Keeps, using, unfit, false}
}

// elementOf returns the type of the elements of an array, and whether it is one.
func elementOf(t string) (string, bool) {
	if t == "real[]" {
		return t, false
	}
	bare, sorted := strings.CutSuffix(t, ` collate "C"`)
	element, isArray := strings.CutSuffix(bare, "[]")
	if sorted {
		element += ` collate "C"`
	}
	return element, isArray
}

// convertOne returns the effect on single values. Texts with another collation are texts.
func convertOne(from, to string) Conversion {
	from, fromSorted := strings.CutSuffix(from, ` collate "C"`)
	to, toSorted := strings.CutSuffix(to, ` collate "C"`)
	if from == to {
		return Conversion{Exactly, "$", "", fromSorted == toSorted || from == "text"}
	}
	if c, ok := conversions[[2]string{from, to}]; ok {
		return c
	}
	return Conversion{Nothing, "null", "$ is not null", false}
}

// convertMany returns the effect on the elements of arrays. If Postgres has a cast for whole arrays that writes
// elements as the conversion does, it uses the cast.
func convertMany(from, to, array string) Conversion {
	c := convertOne(from, to)
	array, _ = strings.CutSuffix(array, ` collate "C"`)
	switch {
	case c.Keeps == Nothing:
		return c
	case from == "timestamptz(3)" && strings.HasPrefix(to, "text"):
		c.Using = "platform.iso($)"
	case from == "interval" && strings.HasPrefix(to, "text"):
		c.Using = "platform.iso_duration($)"
	case from == "date" && to == "timestamptz(3)", from == "timestamptz(3)" && to == "date",
		from == "boolean" && to != "text", to == "boolean" && !strings.HasPrefix(from, "text"):
		return Conversion{Nothing, "null", "$ is not null", false} // Postgres has no such cast
	default:
		c.Using = "$::" + array
	}
	unfit := ""
	if c.Unfit != "" {
		unfit = "exists (select from unnest($) as element_of (value) where " + strings.ReplaceAll(c.Unfit, "$", "element_of.value") + ")"
	}
	return Conversion{c.Keeps, c.Using, unfit, c.InPlace}
}
