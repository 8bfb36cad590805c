package expr

import (
	"math/big"
	"slices"
	"time"
)

// Kind is the kind of a type, regardless of its arity.
type Kind int

// The kinds of types. Those up to Secret are the scalar types. NullKind is the type of
// the literal null, AnyList the type of [].
const (
	ID Kind = iota + 1
	Text
	Markdown
	Number
	Decimal
	Boolean
	Timestamp
	Date
	Duration
	File
	Vector
	Password
	Secret
	Enum    // with the enum's name
	Model   // with the model's name
	Message // with the message's name; in the fields of messages and inputs of read and write only
	Any     // any JSON; likewise
	NullKind
	AnyList
)

// facts are the properties of a kind in the language.
type facts struct {
	name  string // as the schema language writes it; as messages do if it has no word
	class Class  // what its values compare with: see Pairs

	// For a scalar type: its help.
	doc     string // a sentence or two
	example string // a field of the type

	isWriteOnly bool   // no expression reads it, no record shows it
	isPrepared  bool   // the server makes what is stored of what a request brings
	hasNoArrays bool   // whether it cannot be in an array
	takes       []Kind // other kinds whose values a @set may assign to it
	wider       Kind   // the kind to which a value is converted for a comparison with one of that kind

	filters []Filter // the filters of lists, in the order in which they are published
	json    JSON     // how a value is written in requests and answers
	facet   Facet    // what a list tells of the values of all its rows

	// A literal of the kind.
	isText   bool                             // whether it is written as a text literal
	read     func(text string) (string, bool) // checks it and returns its one spelling; nil takes any as it is
	wrong    string                           // how messages go on that refuse what read does not take
	compared func(text string) (any, bool)    // reads it for the interpreter; nil leaves it as it is
}

// Facet is what a list reports of a field's values in all its rows.
type Facet int

// The kinds of facets.
const (
	NoFacet     Facet = iota
	FacetValues       // each value, with the number of rows that have it
	FacetRange        // the least and the greatest
	FacetMean         // these, and the mean
)

// kinds is the one table of kinds: each row holds everything about its kind.
var kinds = [...]facts{
	ID: {
		name: "ID", class: ClassID, isText: true, takes: []Kind{Text},
		doc:     "An id, which is opaque text. Bare `@default` is a new one.",
		example: "reference ID",
		filters: slices.Concat(equalsFilters, oneOfFilters),
		json:    JSON{"string", []Keyword{{"minLength", 1}, {"maxLength", maxIDLength}}},
		facet:   FacetValues,
	},
	Text: {
		name: "Text", class: ClassText, isText: true, takes: []Kind{Markdown, ID},
		doc:     "Text of any length. Bare `@default` is `\"\"`.",
		example: "subtitle Text",
		filters: slices.Concat(equalsFilters, textFilters, oneOfFilters),
		json:    JSON{Type: "string"},
		facet:   FacetValues,
	},
	Markdown: {
		name: "Markdown", class: ClassText, isText: true, takes: []Kind{Text, ID},
		doc:     "Text that is meant to be shown as Markdown.",
		example: "body Markdown",
		filters: slices.Concat(equalsFilters, textFilters, oneOfFilters),
		json:    textJSON("markdown"),
	},
	Number: {
		name: "Number", class: ClassNumeric, wider: Decimal, read: readNumber, compared: comparedNumber,
		wrong:   "is out of range: a Number is at most " + MaxNumber + " and at least -" + MaxNumber,
		doc:     "An integer of up to 2^53 − 1 in size. Bare `@default` is `0`.",
		example: "seats Number @default(1)",
		filters: slices.Concat(equalsFilters, orderFilters, oneOfFilters),
		json:    JSON{"integer", between("-"+MaxNumber, MaxNumber)},
		facet:   FacetMean,
	},
	Decimal: {
		name: "Decimal", class: ClassNumeric, takes: []Kind{Number}, read: readDecimal, compared: comparedNumber,
		wrong:   "is out of range: a Decimal has at most 38 digits, 18 of them after the point",
		doc:     "An exact decimal number. Bare `@default` is `0`.",
		example: "price Decimal",
		filters: slices.Concat(equalsFilters, orderFilters, oneOfFilters),
		json:    JSON{"number", []Keyword{{"format", "decimal"}}},
		facet:   FacetMean,
	},
	Boolean: {
		name: "Boolean", class: ClassBoolean,
		doc:     "True or false. Bare `@default` is `false`.",
		example: "isPinned Boolean @default",
		filters: equalsFilters,
		json:    JSON{Type: "boolean"},
		facet:   FacetValues,
	},
	Timestamp: {
		name: "Timestamp", class: ClassTemporal, isText: true, takes: []Kind{Date}, read: parseTimestamp, compared: comparedTime(timestampLayout),
		wrong:   `is not a Timestamp of ISO 8601; write it as in "2027-03-01T09:00:00Z"`,
		doc:     "A point in time, to the millisecond. Bare `@default` is now.",
		example: "sentAt Timestamp @default(ctx.now)",
		filters: slices.Concat(timeFilters, periodFilters),
		json:    textJSON("date-time"),
		facet:   FacetRange,
	},
	Date: {
		name: "Date", class: ClassTemporal, isText: true, takes: []Kind{Timestamp}, wider: Timestamp, read: parseDate, compared: comparedTime(time.DateOnly),
		wrong:   `is not a Date of ISO 8601; write it as in "2027-03-01"`,
		doc:     "A day. Bare `@default` is today in UTC.",
		example: "dueOn Date?",
		filters: slices.Concat(equalsFilters, dateFilters, periodFilters),
		json:    textJSON("date"),
		facet:   FacetRange,
	},
	Duration: {
		name: "Duration", class: ClassDuration, isText: true, read: parseDuration, compared: comparedDuration,
		wrong:   `is not a Duration of ISO 8601; write it as in "P1DT2H30M"`,
		doc:     "A length of time, written in ISO 8601.",
		example: "length Duration @default(\"PT1H30M\")",
		filters: slices.Concat(equalsFilters, orderFilters),
		json:    textJSON("duration"),
		facet:   FacetMean,
	},
	File: {
		name: "File", class: ClassOpaque, isPrepared: true,
		doc:     "A file, stored outside the database.",
		example: "photo File? @accepts([\"image/*\"]) @maxSize(\"5 MB\")",
		json:    textJSON("data-url"),
	},
	Vector: {
		name: "Vector", class: ClassOpaque, hasNoArrays: true,
		doc:     "A list of real numbers, such as an embedding.",
		example: "embedding Vector?",
		json:    vectorJSON,
	},
	Password: {
		name: "Password", class: ClassOpaque, isText: true, takes: []Kind{Text}, isWriteOnly: true, isPrepared: true, hasNoArrays: true,
		doc:     "Write-only: hashed before it is stored, and never shown.",
		example: "pin Password?",
		json:    textJSON("password", Keyword{"minLength", 1}, Keyword{"maxLength", maxPassword}),
	},
	Secret: {
		name: "Secret", class: ClassOpaque, isText: true, takes: []Kind{Text}, isWriteOnly: true, isPrepared: true, hasNoArrays: true,
		doc:     "Write-only: encrypted before it is stored, and never shown.",
		example: "apiKey Secret?",
		json:    JSON{"string", []Keyword{{"x-format", "secret"}}},
	},
	Enum:     {name: "enum", class: ClassEnum, filters: slices.Concat(equalsFilters, oneOfFilters), facet: FacetValues},
	Model:    {name: "model", class: ClassModel, isText: true, takes: []Kind{ID}},
	Message:  {name: "message", class: ClassOpaque},
	Any:      {name: "Any", class: ClassOpaque},
	NullKind: {name: "null", class: ClassNull},
	AnyList:  {name: "[]", class: ClassOpaque},
}

// Scalars returns the scalar types, in the order of the documentation.
func Scalars() []Kind {
	var list []Kind
	for k := ID; k <= Secret; k++ {
		list = append(list, k)
	}
	return list
}

// ScalarNamed returns the scalar type of a name, false if there is none.
func ScalarNamed(name string) (Kind, bool) {
	for _, k := range Scalars() {
		if kinds[k].name == name {
			return k, true
		}
	}
	return 0, false
}

// String returns the kind as the schema language writes it.
func (k Kind) String() string { return kinds[k].name }

// Class returns the class of values of the kind for the operators.
func (k Kind) Class() Class { return kinds[k].class }

// Doc describes a scalar type in a sentence or two.
func (k Kind) Doc() string { return kinds[k].doc }

// Example returns a field of a scalar type.
func (k Kind) Example() string { return kinds[k].example }

// IsScalar tells whether the kind is that of a scalar type.
func (k Kind) IsScalar() bool { return k >= ID && k <= Secret }

// IsOpaque tells whether the kind is a scalar type whose values are not compared: they
// cannot be looked up, ordered by or indexed, and only their arrays have defaults.
func (k Kind) IsOpaque() bool { return k.IsScalar() && kinds[k].class == ClassOpaque }

// Facet returns the facet of a field of the kind.
func (k Kind) Facet() Facet { return kinds[k].facet }

// IsWriteOnly tells whether values of the kind can never be read.
func (k Kind) IsWriteOnly() bool { return kinds[k].isWriteOnly }

// IsPrepared tells whether the server converts values of a request before they are stored:
// it stores files, hashes passwords and encrypts secrets.
func (k Kind) IsPrepared() bool { return kinds[k].isPrepared }

// HasArrays tells whether there are arrays of the kind.
func (k Kind) HasArrays() bool { return !kinds[k].hasNoArrays }

// isWider tells whether a kind holds all values of another, and more.
func isWider(kind, other Kind) bool { return kinds[other].wider == kind }

// Holds tells whether values of another type are values of this one without conversion. A
// Number is a Decimal; a Date becomes a Timestamp first.
func (t Type) Holds(other Type) bool {
	return t.Array == other.Array && t.Kind.Class() == ClassNumeric && isWider(t.Kind, other.Kind)
}

func readNumber(text string) (string, bool) { return text, isNumber(text) }

func readDecimal(text string) (string, bool) { return text, isDecimal(text) }

func comparedNumber(text string) (any, bool) {
	n, ok := new(big.Rat).SetString(text)
	return n, ok
}

func comparedTime(layout string) func(string) (any, bool) {
	return func(text string) (any, bool) {
		t, err := time.Parse(layout, text)
		return t, err == nil
	}
}

func comparedDuration(text string) (any, bool) {
	d, ok := readDuration(text)
	return d, ok
}
