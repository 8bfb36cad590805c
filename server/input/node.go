package input

import "github.com/sternpost/sternpost/sql/pattern"

// kinds is a set of JSON types.
type kinds uint8

const (
	kindObject kinds = 1 << iota
	kindArray
	kindString
	kindInteger
	kindNumber
	kindBoolean
	kindNull

	kindAny = kindObject | kindArray | kindString | kindInteger | kindNumber | kindBoolean | kindNull
)

// kindNames lists the JSON types by their names in schemas and problems.
var kindNames = [...]struct {
	kind kinds
	name string
}{
	{kindObject, "object"},
	{kindArray, "array"},
	{kindString, "string"},
	{kindInteger, "integer"},
	{kindNumber, "number"},
	{kindBoolean, "boolean"},
	{kindNull, "null"},
}

// kindNamed returns the type of that name, or 0.
func kindNamed(name string) kinds {
	for _, e := range kindNames {
		if e.name == name {
			return e.kind
		}
	}
	return 0
}

// name returns the name of a set of one type.
func (k kinds) name() string {
	for _, e := range kindNames {
		if e.kind == k {
			return e.name
		}
	}
	panic("input: no name for several types")
}

// node is a compiled schema.
type node struct {
	kinds kinds
	types []string // as the schema lists them; nil means any

	// For objects.
	properties    []property
	index         map[string]int // from names to properties
	required      bool           // whether a property is required
	alternatives  [][]int        // alternative sets of properties, one of which must be given; nil means none
	closed        bool           // no other properties than these
	minProperties limit
	maxProperties limit
	list          *list // nil means not the body of a list

	// For arrays.
	items    *node
	minItems limit
	maxItems limit

	// For strings.
	enum      map[string]bool // nil means any string
	members   []string        // of the enum, in order
	enumNull  bool            // whether the enum has null
	format    format
	minLength limit
	maxLength limit
	notBlank  bool
	pattern   *pattern.Matcher // nil means none
	message   string           // of the pattern; empty means a message of its own

	// For numbers.
	minimum *bound // nil means none
	maximum *bound

	// operator is the dotted path below where, if the value is an operand of a list's
	// filter.
	operator string
}

// property is a declared property of an object.
type property struct {
	name     string
	node     *node
	required bool
}

// limit is a bound of a count; the zero limit is none.
type limit struct {
	count int64
	isSet bool
}

func (l limit) isAbove(count int) bool {
	return l.isSet && int64(count) < l.count
}

func (l limit) isBelow(count int) bool {
	return l.isSet && int64(count) > l.count
}

// anything is the schema that accepts everything.
var anything = &node{kinds: kindAny}

// isAnything tells whether n accepts everything.
func (n *node) isAnything() bool {
	return n.kinds == kindAny && n.enum == nil // all other restrictions need a type
}

// isText tells whether values are text, or also null.
func (n *node) isText() bool {
	return n.kinds&^kindNull == kindString || n.enum != nil
}
