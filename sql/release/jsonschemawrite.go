package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Anything returns the schema that accepts everything.
func Anything() *JSONSchema { return &JSONSchema{} }

// Never returns the schema that accepts nothing.
func Never() *JSONSchema { return &JSONSchema{IsNever: true} }

// Typed returns the schema of a type.
func Typed(name string) *JSONSchema { return Anything().With("type", name) }

// TypedOrNull returns the schema of a type, which includes null if nullable is set.
func TypedOrNull(name string, nullable bool) *JSONSchema {
	if !nullable {
		return Typed(name)
	}
	return Anything().With("type", []string{name, "null"})
}

// AnyOf returns the schema of any of others.
func AnyOf(others ...*JSONSchema) *JSONSchema { return Anything().With("anyOf", others) }

// OneOf returns the schema of exactly one of others.
func OneOf(others ...*JSONSchema) *JSONSchema { return Anything().With("oneOf", others) }

// AllOf returns the schema of all of others.
func AllOf(others ...*JSONSchema) *JSONSchema { return Anything().With("allOf", others) }

// RefTo returns a schema that refers to a component.
func RefTo(component string) *JSONSchema {
	return Anything().With("$ref", componentPrefix+component)
}

// ArrayOf returns the schema of a list of items.
func ArrayOf(items *JSONSchema) *JSONSchema { return Typed("array").With("items", items) }

// ObjectOf returns the schema of an object with properties.
func ObjectOf(properties Properties) *JSONSchema {
	return Typed("object").With("properties", properties)
}

// With sets a keyword, in its place if it exists, else at the end. It returns the schema.
// The value is converted to JSON now: after a change to a schema within it, set it again.
func (s *JSONSchema) With(keyword string, value any) *JSONSchema {
	text, err := writeValue(value)
	if err != nil {
		panic(fmt.Sprintf("release: write the keyword %s: %v", keyword, err))
	}
	k := Keyword{keyword, text}
	if i := slices.IndexFunc(s.Keywords, func(k Keyword) bool { return k.Name == keyword }); i >= 0 {
		s.Keywords[i] = k
	} else {
		s.Keywords = append(s.Keywords, k)
	}
	if s.copyKeyword(keyword, value) {
		return s
	}
	if err := s.readKeyword(k); err != nil {
		panic(fmt.Sprintf("release: write the keyword %s as %s: %v", keyword, text, err))
	}
	return s
}

// writeValue writes the value of a keyword. Schemas are JSON already, so they are not read again.
func writeValue(value any) (json.RawMessage, error) {
	switch value := value.(type) {
	case Properties:
		return value.MarshalJSON()
	case *JSONSchema:
		return value.MarshalJSON()
	}
	return json.Marshal(value)
}

// copyKeyword does what readKeyword does, for values that need not be read from their JSON. It tells whether the value
// is one.
func (s *JSONSchema) copyKeyword(keyword string, value any) bool {
	switch value := value.(type) {
	case Properties:
		switch keyword {
		case "properties":
			s.Properties = append(Properties{}, value.clone()...)
			return true
		case "dependentSchemas":
			s.Dependent = append(Properties{}, value.clone()...)
			return true
		}
	case *JSONSchema:
		if keyword == "items" {
			s.Items = value.clone()
			return true
		}
	}
	return false
}

// clone copies a schema with all schemas within it.
func (s *JSONSchema) clone() *JSONSchema {
	if s == nil {
		return nil
	}
	c := *s
	c.Keywords, c.Types, c.Enum, c.Required = slices.Clone(s.Keywords), slices.Clone(s.Types), slices.Clone(s.Enum), slices.Clone(s.Required)
	c.Properties, c.Dependent, c.Items = s.Properties.clone(), s.Dependent.clone(), s.Items.clone()
	c.AnyOf, c.OneOf, c.AllOf = clones(s.AnyOf), clones(s.OneOf), clones(s.AllOf)
	return &c
}

func (p Properties) clone() Properties {
	c := slices.Clone(p)
	for i := range c {
		c[i].Schema = c[i].Schema.clone()
	}
	return c
}

func clones(list []*JSONSchema) []*JSONSchema {
	c := slices.Clone(list)
	for i := range c {
		c[i] = c[i].clone()
	}
	return c
}

// Described puts a description above the existing one, and returns the schema. An empty
// one changes nothing.
func (s *JSONSchema) Described(description string) *JSONSchema {
	switch {
	case description == "":
		return s
	case s.Description != "":
		description += "\n\n" + s.Description
	}
	return s.With("description", description)
}

// AtMost sets or lowers a counting keyword, such as maxLength, and returns the schema. The
// limit 0 means none.
func (s *JSONSchema) AtMost(keyword string, limit int64) *JSONSchema {
	if limit == 0 {
		return s
	}
	if written := int64(s.Count(keyword)); written != 0 {
		limit = min(written, limit)
	}
	return s.With(keyword, limit)
}

// AtLeast sets a least count, unless a greater one is set. Without limit, 0, it sets none. It returns the schema.
func (s *JSONSchema) AtLeast(keyword string, limit int64) *JSONSchema {
	if limit <= int64(s.Count(keyword)) {
		return s
	}
	return s.With(keyword, limit)
}

// Requiring sets the required properties of an object and returns the schema.
func (s *JSONSchema) Requiring(names ...string) *JSONSchema { return s.With("required", names) }

// Closed forbids other properties of an object and returns the schema.
func (s *JSONSchema) Closed() *JSONSchema { return s.With("additionalProperties", false) }

// MarshalJSON writes the keywords in their order.
func (s *JSONSchema) MarshalJSON() ([]byte, error) {
	if s.IsNever {
		return []byte("false"), nil
	}
	return writeMembers(s.Keywords)
}

// Text returns the schema as JSON.
func (s *JSONSchema) Text() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("release: write a schema: %v", err)) // its keywords are JSON
	}
	return text
}

// Properties are the properties of an object, in their order.
type Properties []Property

// With adds a property, as the last one.
func (p Properties) With(name string, schema *JSONSchema) Properties {
	return append(p, Property{name, schema})
}

// MarshalJSON writes the properties in their order.
func (p Properties) MarshalJSON() ([]byte, error) {
	written := make([]Keyword, len(p))
	for i, property := range p {
		text, err := property.Schema.MarshalJSON()
		if err != nil {
			return nil, err
		}
		written[i] = Keyword{property.Name, text}
	}
	return writeMembers(written)
}

// writeMembers writes an object in the order of its members.
func writeMembers(list []Keyword) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(k.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(k.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
