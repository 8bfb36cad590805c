package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sql/pattern"
	"github.com/sternpost/sternpost/sql/release"
)

// Compile builds the reader of one action's input from the published schemas. It fails if
// the schema of that name, or one it refers to, is missing or has a requirement that this
// package does not check.
func Compile(schemas release.Schemas, name string) (*Reader, error) {
	c := compiler{schemas: schemas, components: map[string]*node{}}
	root, err := c.component(name)
	if err != nil {
		return nil, fmt.Errorf("compile the input schema %s: %w", name, err)
	}
	c.fillNullables()
	if root.list != nil {
		if root, err = root.withOperators(); err != nil {
			return nil, fmt.Errorf("compile the input schema %s: %w", name, err)
		}
	}
	return newReader(root), nil
}

// compiler turns schemas into nodes. A component is compiled once, so that it may
// refer to itself.
type compiler struct {
	schemas    release.Schemas
	components map[string]*node
	nullables  []nullable
}

func (c *compiler) component(name string) (*node, error) {
	if n := c.components[name]; n != nil {
		return n, nil
	}
	schema, err := c.schemas.Read(name)
	if err != nil {
		return nil, err
	}
	n := &node{}
	c.components[name] = n
	if err := c.compile(n, schema, len(c.components) == 1); err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	return n, nil
}

// schema compiles a schema that is inside another one.
func (c *compiler) schema(s *release.JSONSchema) (*node, error) {
	switch {
	case s.Value("$ref") != nil:
		return c.reference(s)
	case isNullableReference(s):
		return c.nullableReference(s)
	}
	n := &node{}
	if err := c.compile(n, s, false); err != nil {
		return nil, err
	}
	if n.isAnything() {
		return anything, nil
	}
	return n, nil
}

func (c *compiler) reference(s *release.JSONSchema) (*node, error) {
	if err := onlyAnnotations(s, "$ref"); err != nil {
		return nil, err
	}
	name := s.Component()
	if name == "" {
		return nil, fmt.Errorf("$ref %s is not supported, only one of a component", s.Ref)
	}
	return c.component(name)
}

// onlyAnnotations fails if a keyword beside the given one is not an annotation.
func onlyAnnotations(s *release.JSONSchema, beside string) error {
	for _, k := range s.Keywords {
		if k.Name != beside && !isAnnotation(k.Name) {
			return fmt.Errorf("%s beside %s is not supported", k.Name, beside)
		}
	}
	return nil
}

// isAnnotation tells whether a keyword has no requirement.
func isAnnotation(keyword string) bool {
	return keyword == "description" || keyword == "default" ||
		strings.HasPrefix(keyword, "x-") && keyword != "x-format"
}

// compile fills a node from a schema without $ref.
func (c *compiler) compile(n *node, s *release.JSONSchema, isRoot bool) error {
	if s.IsNever {
		return errors.New("false is not an object")
	}
	if err := n.setKinds(s); err != nil {
		return err
	}
	for _, k := range s.Keywords {
		if err := c.keyword(n, s, k); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		if isUnknown(k.Name) {
			return fmt.Errorf("the keyword %s is not supported", k.Name)
		}
		if applies := keywordKinds(k.Name); applies != 0 && (n.kinds == kindAny || n.kinds&applies == 0) {
			return fmt.Errorf("%s needs a type that it applies to", k.Name)
		}
	}
	if err := n.setRequired(s.Required); err != nil {
		return fmt.Errorf("required: %w", err)
	}
	if err := n.setAlternatives(s.AnyOf); err != nil {
		return fmt.Errorf("anyOf: %w", err)
	}
	if s.Value("dependentSchemas") != nil {
		if !isRoot {
			return errors.New("dependentSchemas is supported in the body of a list only")
		}
		var err error
		if n.list, err = newList(n, s.Dependent); err != nil {
			return fmt.Errorf("dependentSchemas: %w", err)
		}
	}
	n.setNumberBounds()
	return nil
}

// keyword handles one keyword. Keywords that depend on others are handled after all.
func (c *compiler) keyword(n *node, s *release.JSONSchema, k release.Keyword) (err error) {
	switch k.Name {
	case "properties":
		return c.properties(n, s.Properties)
	case "additionalProperties":
		n.closed, err = additional(k.Value)
	case "items":
		n.items, err = c.schema(s.Items)
	case "format":
		return n.setFormat(s.Format, false)
	case "x-format":
		return n.setFormat(s.OwnFormat, true)
	case "minProperties":
		n.minProperties, err = newLimit(k.Value)
	case "maxProperties":
		n.maxProperties, err = newLimit(k.Value)
	case "minItems":
		n.minItems, err = newLimit(k.Value)
	case "maxItems":
		n.maxItems, err = newLimit(k.Value)
	case "minLength":
		n.minLength, err = newLimit(k.Value)
	case "maxLength":
		n.maxLength, err = newLimit(k.Value)
	case "pattern":
		var written string
		if err = json.Unmarshal(k.Value, &written); err == nil {
			n.pattern, err = pattern.Compile(written)
		}
	case release.PatternMessage:
		err = json.Unmarshal(k.Value, &n.message)
	case "not":
		n.notBlank = true
		if want := release.Anything().With("pattern", pattern.Blank).Text(); !bytes.Equal(k.Value, want) {
			err = fmt.Errorf("only %s is supported", want)
		}
	case "minimum":
		n.minimum, err = readBound(k.Value)
	case "maximum":
		n.maximum, err = readBound(k.Value)
	}
	return err
}

// isUnknown tells whether a keyword may have a requirement that is not checked.
func isUnknown(keyword string) bool {
	switch keyword {
	case "type", "enum", "format", "x-format":
		return false
	}
	return keywordKinds(keyword) == 0 && !isAnnotation(keyword)
}

// keywordKinds returns the types that a keyword applies to, or 0 for all of them.
func keywordKinds(keyword string) kinds {
	switch keyword {
	case "properties", "required", "anyOf", "additionalProperties", "dependentSchemas",
		"minProperties", "maxProperties":
		return kindObject
	case "items", "minItems", "maxItems":
		return kindArray
	case "minLength", "maxLength", "pattern", "not":
		return kindString
	case "minimum", "maximum":
		return kindInteger | kindNumber
	default:
		return 0
	}
}

// setKinds reads type and enum. A schema with an enum alone accepts strings and, if the
// enum lists null, null.
func (n *node) setKinds(s *release.JSONSchema) error {
	n.kinds = kindAny
	if s.Types != nil {
		n.kinds, n.types = 0, s.Types
	}
	for _, name := range s.Types {
		kind := kindNamed(name)
		if kind == 0 || n.kinds&kind != 0 {
			return fmt.Errorf("type: %s is not a type, or is there twice", name)
		}
		n.kinds |= kind
	}
	if s.Enum == nil {
		return nil
	}
	if err := n.setEnum(s.Enum); err != nil {
		return fmt.Errorf("enum: %w", err)
	}
	return nil
}

func (n *node) setEnum(values []any) error {
	n.enum = map[string]bool{}
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			n.enumNull = true
		case string:
			n.members = append(n.members, v)
			n.enum[v] = true
		default:
			return errors.New("only strings and null are supported")
		}
	}
	return nil
}

func (c *compiler) properties(n *node, declared []release.Property) error {
	n.index = make(map[string]int, len(declared))
	for i, p := range declared {
		schema, err := c.schema(p.Schema)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		n.properties = append(n.properties, property{name: p.Name, node: schema})
		n.index[p.Name] = i
	}
	return nil
}

func (n *node) setRequired(names []string) error {
	for _, name := range names {
		i, ok := n.index[name]
		if !ok {
			return fmt.Errorf("%s is not a property", name)
		}
		n.properties[i].required = true
		n.required = true
	}
	return nil
}

func additional(raw []byte) (closed bool, err error) {
	switch string(raw) {
	case "true":
		return false, nil
	case "false":
		return true, nil
	default:
		return false, errors.New("only true and false are supported")
	}
}

func (n *node) setFormat(name string, isOwn bool) error {
	if n.format != noFormat {
		return errors.New("there is another format")
	}
	format, ok := formatNamed(name, isOwn)
	if !ok {
		return fmt.Errorf("the format %s is not supported", name)
	}
	if n.kinds == kindAny || n.kinds&format.kinds() == 0 {
		return fmt.Errorf("the format %s needs a type that it applies to", name)
	}
	n.format = format
	return nil
}

// setNumberBounds gives numbers without bounds those of the database.
func (n *node) setNumberBounds() {
	minimum, maximum := "", ""
	switch {
	case n.kinds == kindAny:
	case n.kinds&kindNumber != 0 && n.format != formatDecimal:
		minimum, maximum = "-"+maxSingle, maxSingle
	case n.kinds&kindInteger != 0:
		minimum, maximum = "-"+maxInteger, maxInteger
	}
	if n.minimum == nil && minimum != "" {
		n.minimum = newBound(minimum)
	}
	if n.maximum == nil && maximum != "" {
		n.maximum = newBound(maximum)
	}
}

func newLimit(raw []byte) (limit, error) {
	count, err := strconv.Atoi(string(raw))
	if err != nil || count < 0 {
		return limit{}, fmt.Errorf("%s is not a count", raw)
	}
	return limit{count: int64(count), isSet: true}, nil
}

func readBound(raw []byte) (*bound, error) {
	s := scanner{data: raw}
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return nil, fmt.Errorf("%s is not a number", raw)
	}
	literal, ok := s.numeral()
	if !ok {
		return nil, fmt.Errorf("%s is not a usable number: %s", raw, s.reason)
	}
	return newBound(string(literal)), nil
}
