package compatibility

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
	sets       [][]string // of an object: sets of members, one of which is required; nil means none is
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

// parseShape reads a JSON Schema of a manifest. A schema in another form than the
// compiler's is a bug.
func parseShape(text json.RawMessage) *shape {
	schema, err := release.ReadJSONSchema(text)
	if err != nil {
		panic(fmt.Sprintf("contract: read the schema %s: %v", text, err))
	}
	return shapeOf(schema)
}

// shapeOf returns the comparable form of a schema.
func shapeOf(schema *release.JSONSchema) *shape {
	s := &shape{ref: schema.Component(), nullable: schema.IsNullable(), format: schema.Format + schema.OwnFormat, isClosed: schema.IsClosed()}
	if schema.IsNever {
		s.unexamined = []string{"false"}
	}
	for _, name := range schema.Types {
		if name != "null" {
			s.types = append(s.types, name)
		}
	}
	if schema.Enum != nil {
		s.enum = []string{}
	}
	for _, v := range schema.Enum {
		if v != nil {
			s.enum = append(s.enum, fmt.Sprint(v))
		}
	}
	for _, p := range schema.Properties {
		s.members = append(s.members, member{name: p.Name, shape: shapeOf(p.Schema), required: schema.Requires(p.Name)})
	}
	if schema.Items != nil {
		s.items = shapeOf(schema.Items)
	}
	for _, alternative := range slices.Concat(schema.OneOf, schema.AnyOf) {
		s.addAlternative(alternative)
	}
	for _, k := range schema.Keywords {
		s.addKeyword(k)
	}
	return s
}

// addAlternative adds an alternative. It keeps null apart.
func (s *shape) addAlternative(schema *release.JSONSchema) {
	if set := schema.RequiredOnly(); set != nil {
		s.sets = append(s.sets, set)
		return
	}
	alternative := shapeOf(schema)
	if alternative.nullable && len(alternative.types) == 0 && alternative.ref == "" && alternative.oneOf == nil {
		s.nullable = true
		return
	}
	s.oneOf = append(s.oneOf, alternative)
}

// addKeyword adds a keyword that limits a value, or that is not examined.
func (s *shape) addKeyword(k release.Keyword) {
	switch k.Name {
	case "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties":
		s.bounds = append(s.bounds, bound{k.Name, json.Number(k.Value)})
	case "$ref", "type", "format", "x-format", "enum", "properties", "required", "additionalProperties", "items", "oneOf", "anyOf": // read above
	case "title", "description", "examples", "deprecated", "$comment", release.PatternMessage: // for readers
	default:
		s.unexamined = append(s.unexamined, k.Name+": "+string(k.Value))
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
