package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sternpost/sternpost/sql/pattern"
)

// JSONSchema is a published JSON Schema: ReadJSONSchema reads one, and With makes one keyword
// by keyword. Fields of absent keywords are zero.
type JSONSchema struct {
	// Keywords are all keywords, in the order of the text. The schemas true and false have none.
	Keywords []Keyword

	IsNever     bool   // the schema is false: nothing fits
	Ref         string // the reference
	Types       []string
	Format      string
	OwnFormat   string // x-format, which is not for clients
	Enum        []any
	Description string

	Properties Properties
	Required   []string
	Dependent  Properties // dependentSchemas, by the property that they depend on
	Items      *JSONSchema

	AnyOf, OneOf, AllOf []*JSONSchema
}

// Keyword is a keyword of a schema with its value as written.
type Keyword struct {
	Name  string
	Value json.RawMessage
}

// Property is a property of an object.
type Property struct {
	Name   string
	Schema *JSONSchema
}

const componentPrefix = "#/components/schemas/"

// Read reads the component of that name. It fails if the component is missing.
func (s Schemas) Read(name string) (*JSONSchema, error) {
	text := s.Get(name)
	if text == nil {
		return nil, fmt.Errorf("there is no component %s", name)
	}
	schema, err := ReadJSONSchema(text)
	if err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	return schema, nil
}

// Resolve follows references from a schema to one that is not a reference. It returns the
// name of the last component on the way; empty without a reference.
func (s Schemas) Resolve(schema *JSONSchema) (resolved *JSONSchema, component string, err error) {
	for range len(s) + 1 {
		name := schema.Component()
		if name == "" {
			return schema, component, nil
		}
		component = name
		if schema, err = s.Read(name); err != nil {
			return nil, component, err
		}
	}
	return nil, component, fmt.Errorf("component %s refers to itself", component)
}

// Reached returns the components of these names and those that they reference, directly or
// not, in the order of s. It fails if one is missing.
func (s Schemas) Reached(names []string) (Schemas, error) {
	reached := map[string]bool{}
	pending := slices.Clone(names)
	for len(pending) > 0 {
		name := pending[0]
		pending = pending[1:]
		if reached[name] {
			continue
		}
		reached[name] = true
		schema, err := s.Read(name)
		if err != nil {
			return nil, err
		}
		schema.Walk(func(s *JSONSchema) {
			if mentioned := s.Component(); mentioned != "" {
				pending = append(pending, mentioned)
			}
		})
	}
	var list Schemas
	for _, e := range s {
		if reached[e.Name] {
			list = append(list, e)
		}
	}
	return list, nil
}

// Requires tells whether a component has a required property, so that a request must have
// a body.
func (s Schemas) Requires(component string) bool {
	schema, err := s.Read(component)
	if err == nil {
		schema, _, err = s.Resolve(schema)
	}
	return err == nil && (len(schema.Required) > 0 || schema.AnyOf != nil) // one of several sets of inputs
}

// ReadJSONSchema reads a schema. It fails on a keyword with an invalid value; the values of
// keywords unknown to JSONSchema are up to the reader.
func ReadJSONSchema(text []byte) (*JSONSchema, error) {
	switch text = bytes.TrimSpace(text); string(text) {
	case "true":
		return &JSONSchema{}, nil
	case "false":
		return &JSONSchema{IsNever: true}, nil
	}
	keywords, err := readMembers(text)
	if err != nil {
		return nil, err
	}
	s := &JSONSchema{Keywords: keywords}
	for _, k := range keywords {
		if err := s.readKeyword(k); err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	return s, nil
}

// readKeyword reads one keyword.
func (s *JSONSchema) readKeyword(k Keyword) (err error) {
	switch k.Name {
	case "$ref":
		return json.Unmarshal(k.Value, &s.Ref)
	case "type":
		return s.readTypes(k.Value)
	case "format":
		return json.Unmarshal(k.Value, &s.Format)
	case "x-format":
		return json.Unmarshal(k.Value, &s.OwnFormat)
	case "enum":
		return json.Unmarshal(k.Value, &s.Enum)
	case "description":
		return json.Unmarshal(k.Value, &s.Description)
	case "required":
		return json.Unmarshal(k.Value, &s.Required)
	case "properties":
		s.Properties, err = readProperties(k.Value)
	case "dependentSchemas":
		s.Dependent, err = readProperties(k.Value)
	case "items":
		s.Items, err = ReadJSONSchema(k.Value)
	case "anyOf":
		s.AnyOf, err = readList(k.Value)
	case "oneOf":
		s.OneOf, err = readList(k.Value)
	case "allOf":
		s.AllOf, err = readList(k.Value)
	}
	return err
}

// readTypes reads the name of a type, or a list of them.
func (s *JSONSchema) readTypes(value json.RawMessage) error {
	if value[0] == '"' {
		s.Types = []string{""}
		return json.Unmarshal(value, &s.Types[0])
	}
	if err := json.Unmarshal(value, &s.Types); err != nil {
		return err
	}
	if len(s.Types) == 0 {
		return fmt.Errorf("the list is empty")
	}
	return nil
}

func readProperties(text json.RawMessage) (Properties, error) {
	members, err := readMembers(text)
	if err != nil {
		return nil, err
	}
	properties := make(Properties, len(members))
	for i, m := range members {
		schema, err := ReadJSONSchema(m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		properties[i] = Property{m.Name, schema}
	}
	return properties, nil
}

func readList(text json.RawMessage) ([]*JSONSchema, error) {
	var texts []json.RawMessage
	if err := json.Unmarshal(text, &texts); err != nil {
		return nil, err
	}
	list := make([]*JSONSchema, len(texts))
	for i, t := range texts {
		var err error
		if list[i], err = ReadJSONSchema(t); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readMembers reads an object in its order. It refuses a duplicate name.
func readMembers(text []byte) ([]Keyword, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return nil, fmt.Errorf("%.40s is not an object", text)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []Keyword
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		k := Keyword{Name: name.String()} // the next read overwrites the token
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		k.Value = bytes.Clone(value)
		list = append(list, k)
	}
	_, err := d.ReadToken()
	return list, err
}

// Walk visits a schema and all schemas within it. It does not follow references.
func (s *JSONSchema) Walk(visit func(*JSONSchema)) {
	visit(s)
	for _, p := range slices.Concat(s.Properties, s.Dependent) {
		p.Schema.Walk(visit)
	}
	if s.Items != nil {
		s.Items.Walk(visit)
	}
	for _, other := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		other.Walk(visit)
	}
}

// Component returns the component that the schema refers to, or an empty text.
func (s *JSONSchema) Component() string {
	name, isComponent := strings.CutPrefix(s.Ref, componentPrefix)
	if !isComponent {
		return ""
	}
	return name
}

// Kind returns the type, or the first one that is not null; empty if there is none.
func (s *JSONSchema) Kind() string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return ""
}

// IsNullable tells whether the types include null.
func (s *JSONSchema) IsNullable() bool { return slices.Contains(s.Types, "null") }

// IsNull tells whether the schema is that of null and has no other keyword.
func (s *JSONSchema) IsNull() bool {
	return len(s.Keywords) == 1 && len(s.Types) == 1 && s.Types[0] == "null"
}

// RequiredOnly returns the required properties of a schema without other keywords; nil for any other schema.
func (s *JSONSchema) RequiredOnly() []string {
	if len(s.Keywords) != 1 {
		return nil
	}
	return s.Required
}

// Property returns the schema of the property of that name, or nil.
func (s *JSONSchema) Property(name string) *JSONSchema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// Requires tells whether the property of that name must be given.
func (s *JSONSchema) Requires(name string) bool { return slices.Contains(s.Required, name) }

// Value returns the value of a keyword as written, or nil.
func (s *JSONSchema) Value(keyword string) json.RawMessage {
	for _, k := range s.Keywords {
		if k.Name == keyword {
			return k.Value
		}
	}
	return nil
}

// IsClosed tells whether an object allows no other properties.
func (s *JSONSchema) IsClosed() bool { return string(s.Value("additionalProperties")) == "false" }

// Matcher returns the matcher of the pattern of a text, nil if it has none.
func (s *JSONSchema) Matcher() *pattern.Matcher {
	written := s.PatternText()
	if written == "" {
		return nil
	}
	m, err := pattern.Compile(written)
	if err != nil {
		return nil
	}
	return m
}

// PatternText returns the pattern of a text, empty if it has none.
func (s *JSONSchema) PatternText() string {
	var written string
	if value := s.Value("pattern"); value != nil && json.Unmarshal(value, &written) != nil {
		return ""
	}
	return written
}

// Count returns the value of a counting keyword, such as minLength; 0 if it is absent.
func (s *JSONSchema) Count(keyword string) int {
	n, err := strconv.Atoi(string(s.Value(keyword)))
	if err != nil {
		return 0
	}
	return n
}
