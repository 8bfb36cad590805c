package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
)

// shape is a JSON Schema as the compiler writes them.
type shape struct {
	ref        string   // the component that it refers to; nothing else is set then
	types      []string // without null; empty means any, or alternatives
	nullable   bool
	format     string
	enum       []string // nil means any value
	members    []member
	isClosed   bool       // whether other members are refused
	items      *shape     // of an array
	oneOf      []*shape   // alternatives, without null
	sets       [][]string // of an object: sets of members of which one has to be there; nil means no such demand
	bounds     []bound    // how small, large or long a value may be
	unexamined []string   // keywords whose change is not looked into, with their values
}

// member is a member of an object.
type member struct {
	name     string
	shape    *shape
	required bool
}

// bound is one limit of a value.
type bound struct {
	keyword string // minLength, maximum, …
	value   json.Number
}

// isLower tells whether a bound is one from below.
func (b bound) isLower() bool { return strings.HasPrefix(b.keyword, "min") }

// componentRef is what every $ref of a manifest begins with.
const componentRef = "#/components/schemas/"

// parseShape reads a JSON Schema of a manifest. One that is not as the compiler
// writes them is a bug.
func parseShape(text json.RawMessage) *shape {
	s := &shape{}
	switch string(text) {
	case "true":
		return s
	case "false":
		return &shape{unexamined: []string{"false"}}
	}
	var keywords release.Schemas
	decode(text, &keywords)
	var required []string
	for _, k := range keywords {
		s.keyword(k.Name, k.JSON, &required)
	}
	for i := range s.members {
		s.members[i].required = slices.Contains(required, s.members[i].name)
	}
	return s
}

// keyword reads one keyword.
func (s *shape) keyword(name string, value json.RawMessage, required *[]string) {
	switch name {
	case "$ref":
		var ref string
		decode(value, &ref)
		s.ref = strings.TrimPrefix(ref, componentRef)
	case "type":
		s.readTypes(value)
	case "format", "x-format": // the latter for what the server alone checks
		decode(value, &s.format)
	case "enum":
		s.readEnum(value)
	case "properties":
		var members release.Schemas
		decode(value, &members)
		for _, m := range members {
			s.members = append(s.members, member{name: m.Name, shape: parseShape(m.JSON)})
		}
	case "required":
		decode(value, required)
	case "additionalProperties":
		s.isClosed = string(value) == "false"
	case "items":
		s.items = parseShape(value)
	case "oneOf", "anyOf":
		s.readAlternatives(value)
	case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties":
		var n json.Number
		decode(value, &n)
		s.bounds = append(s.bounds, bound{name, n})
	case "title", "description", "examples", "deprecated", "$comment": // for readers
	default:
		s.unexamined = append(s.unexamined, name+": "+string(value))
	}
}

func (s *shape) readTypes(value json.RawMessage) {
	var list []string
	if value[0] == '[' {
		decode(value, &list)
	} else {
		list = []string{""}
		decode(value, &list[0])
	}
	for _, name := range list {
		if name == "null" {
			s.nullable = true
			continue
		}
		s.types = append(s.types, name)
	}
}

func (s *shape) readEnum(value json.RawMessage) {
	var list []any
	decode(value, &list)
	s.enum = []string{}
	for _, v := range list {
		if v != nil {
			s.enum = append(s.enum, fmt.Sprint(v))
		}
	}
}

// readAlternatives reads the alternatives of a value, of which null is kept apart.
func (s *shape) readAlternatives(value json.RawMessage) {
	var list []json.RawMessage
	decode(value, &list)
	for _, text := range list {
		if set := requiredOnly(text); set != nil {
			s.sets = append(s.sets, set)
			continue
		}
		alternative := parseShape(text)
		if alternative.nullable && len(alternative.types) == 0 && alternative.ref == "" && alternative.oneOf == nil {
			s.nullable = true
			continue
		}
		s.oneOf = append(s.oneOf, alternative)
	}
}

// requiredOnly returns the members that a schema requires which says nothing else;
// nil if it is another one.
func requiredOnly(text json.RawMessage) []string {
	var keywords release.Schemas
	decode(text, &keywords)
	if len(keywords) != 1 || keywords[0].Name != "required" {
		return nil
	}
	var names []string
	decode(keywords[0].JSON, &names)
	return names
}

func decode(text json.RawMessage, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic(fmt.Sprintf("contract: read the schema %s: %v", text, err))
	}
}

// isAny tells whether a shape takes any JSON.
func (s *shape) isAny() bool {
	return len(s.types) == 0 && s.ref == "" && s.oneOf == nil && s.enum == nil && len(s.unexamined) == 0
}

// member returns the member of that name, or nil.
func (s *shape) member(name string) *member {
	for i := range s.members {
		if s.members[i].name == name {
			return &s.members[i]
		}
	}
	return nil
}

// bound returns the bound of a keyword, nil if there is none.
func (s *shape) bound(keyword string) *bound {
	for i := range s.bounds {
		if s.bounds[i].keyword == keyword {
			return &s.bounds[i]
		}
	}
	return nil
}

// describe names the type of a shape, as the schema language does where it can.
func (s *shape) describe() string {
	switch {
	case s.ref != "":
		return s.ref
	case s.enum != nil:
		return "one of " + strings.Join(s.enum, ", ")
	case len(s.oneOf) == 1:
		return s.oneOf[0].describe()
	case s.oneOf != nil:
		var names []string
		for _, alternative := range s.oneOf {
			names = append(names, alternative.describe())
		}
		return "one of " + strings.Join(names, ", ")
	case s.isAny():
		return "any JSON"
	case len(s.types) != 1:
		return strings.Join(s.types, " or ")
	}
	switch s.types[0] {
	case "array":
		if s.items != nil {
			return s.items.describe() + "[]"
		}
		return "array"
	case "object":
		return "an object"
	}
	return s.describeScalar()
}

// describeScalar names the type of a text, number or Boolean.
func (s *shape) describeScalar() string {
	switch s.format {
	case "file":
		return expr.File.String()
	case "data-url":
		return expr.File.String() + " without upload"
	}
	for _, k := range expr.Scalars() {
		if s.isOf(k) {
			return k.String()
		}
	}
	if s.format != "" {
		return "text of the format " + s.format
	}
	return s.types[0]
}

// isOf tells whether a shape is that of a scalar type. Only an id has bounds on both
// sides without a format.
func (s *shape) isOf(k expr.Kind) bool {
	form := k.JSON()
	if form.Type != s.types[0] || form.Format() != s.format {
		return false
	}
	isBounded := s.bound("minLength") != nil && s.bound("maxLength") != nil
	return s.format != "" || form.Type != "string" || form.Has("minLength") == isBounded
}
