package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/sql/release"
)

// Compile builds the reader of one action's input from the published schemas. It
// fails if the schema of that name, or one it refers to, does not exist, or says
// what this package does not check.
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
	schema := c.schemas.Get(name)
	if schema == nil {
		return nil, fmt.Errorf("there is no component %s", name)
	}
	n := &node{}
	c.components[name] = n
	if err := c.compile(n, bytes.TrimSpace(schema), len(c.components) == 1); err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	return n, nil
}

// schema compiles a schema that stands inside another one.
func (c *compiler) schema(raw []byte) (*node, error) {
	if raw[0] == '{' {
		keywords, err := members(raw)
		if err != nil {
			return nil, err
		}
		for _, k := range keywords {
			switch k.name {
			case "$ref":
				return c.reference(keywords, k.value)
			case "anyOf":
				if n, err := c.nullableReference(keywords, k.value); n != nil || err != nil {
					return n, err
				}
			}
		}
	}
	n := &node{}
	if err := c.compile(n, raw, false); err != nil {
		return nil, err
	}
	if n.isAnything() {
		return anything, nil
	}
	return n, nil
}

const componentPrefix = "#/components/schemas/"

func (c *compiler) reference(keywords []member, raw []byte) (*node, error) {
	if err := onlyAnnotations(keywords, "$ref"); err != nil {
		return nil, err
	}
	var target string
	if err := json.Unmarshal(raw, &target); err != nil {
		return nil, fmt.Errorf("$ref: %w", err)
	}
	name, ok := strings.CutPrefix(target, componentPrefix)
	if !ok {
		return nil, fmt.Errorf("$ref %s is not supported, only %s…", target, componentPrefix)
	}
	return c.component(name)
}

// onlyAnnotations fails if one of the keywords beside a given one demands anything.
func onlyAnnotations(keywords []member, beside string) error {
	for _, k := range keywords {
		if k.name != beside && !isAnnotation(k.name) {
			return fmt.Errorf("%s beside %s is not supported", k.name, beside)
		}
	}
	return nil
}

// isAnnotation tells whether a keyword demands nothing.
func isAnnotation(keyword string) bool {
	return keyword == "description" || keyword == "default" ||
		strings.HasPrefix(keyword, "x-") && keyword != "x-format"
}

// compile fills a node from a schema without $ref.
func (c *compiler) compile(n *node, raw []byte, isRoot bool) error {
	if string(raw) == "true" {
		*n = *anything
		return nil
	}
	keywords, err := members(raw)
	if err != nil {
		return err
	}
	if err := n.setKinds(keywords); err != nil {
		return err
	}
	var required, alternatives, dependent []byte
	for _, k := range keywords {
		switch k.name {
		case "type", "enum": // read by setKinds
		case "properties":
			err = c.properties(n, k.value)
		case "required":
			required = k.value
		case "anyOf":
			alternatives = k.value
		case "additionalProperties":
			n.closed, err = additional(k.value)
		case "dependentSchemas":
			dependent = k.value
		case "items":
			n.items, err = c.schema(k.value)
		case "format", "x-format":
			err = n.setFormat(k)
		case "minProperties":
			n.minProperties, err = newLimit(k.value)
		case "maxProperties":
			n.maxProperties, err = newLimit(k.value)
		case "minItems":
			n.minItems, err = newLimit(k.value)
		case "maxItems":
			n.maxItems, err = newLimit(k.value)
		case "minLength":
			n.minLength, err = newLimit(k.value)
		case "maxLength":
			n.maxLength, err = newLimit(k.value)
		case "minimum":
			n.minimum, err = readBound(k.value)
		case "maximum":
			n.maximum, err = readBound(k.value)
		default:
			if !isAnnotation(k.name) {
				return fmt.Errorf("the keyword %s is not supported", k.name)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		if applies := keywordKinds(k.name); applies != 0 && (n.kinds == kindAny || n.kinds&applies == 0) {
			return fmt.Errorf("%s needs a type that it applies to", k.name)
		}
	}
	if err := n.setRequired(required); err != nil {
		return fmt.Errorf("required: %w", err)
	}
	if err := n.setAlternatives(alternatives); err != nil {
		return fmt.Errorf("anyOf: %w", err)
	}
	if dependent != nil {
		if !isRoot {
			return errors.New("dependentSchemas is supported in the body of a list only")
		}
		if n.list, err = newList(n, dependent); err != nil {
			return fmt.Errorf("dependentSchemas: %w", err)
		}
	}
	n.setNumberBounds()
	return nil
}

// keywordKinds returns the types that a keyword says something about, or 0 if it
// is about all of them.
func keywordKinds(keyword string) kinds {
	switch keyword {
	case "properties", "required", "anyOf", "additionalProperties", "dependentSchemas",
		"minProperties", "maxProperties":
		return kindObject
	case "items", "minItems", "maxItems":
		return kindArray
	case "minLength", "maxLength":
		return kindString
	case "minimum", "maximum":
		return kindInteger | kindNumber
	default:
		return 0
	}
}

// setKinds reads type and enum. A schema of an enum alone is one of strings and,
// where it lists null, of null.
func (n *node) setKinds(keywords []member) error {
	n.kinds = kindAny
	for _, k := range keywords {
		switch k.name {
		case "type":
			names, err := typeNames(k.value)
			if err != nil {
				return fmt.Errorf("type: %w", err)
			}
			n.kinds = 0
			for _, name := range names {
				kind := kindNamed(name)
				if kind == 0 || n.kinds&kind != 0 {
					return fmt.Errorf("type: %s is no type or stands twice", name)
				}
				n.kinds |= kind
			}
			n.types = names
		case "enum":
			if err := n.setEnum(k.value); err != nil {
				return fmt.Errorf("enum: %w", err)
			}
		}
	}
	return nil
}

func typeNames(raw []byte) ([]string, error) {
	if raw[0] == '"' {
		var name string
		err := json.Unmarshal(raw, &name)
		return []string{name}, err
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("the list is empty")
	}
	return names, nil
}

func (n *node) setEnum(raw []byte) error {
	var values []*string
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("only strings and null are supported: %w", err)
	}
	n.enum = map[string]bool{}
	for _, v := range values {
		if v == nil {
			n.enumNull = true
			continue
		}
		n.members = append(n.members, *v)
		n.enum[*v] = true
	}
	n.enumText = enumText(n.members, n.enumNull)
	return nil
}

func (c *compiler) properties(n *node, raw []byte) error {
	declared, err := members(raw)
	if err != nil {
		return err
	}
	n.index = make(map[string]int, len(declared))
	for i, m := range declared {
		schema, err := c.schema(m.value)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		n.properties = append(n.properties, property{name: m.name, node: schema})
		n.index[m.name] = i
	}
	return nil
}

func (n *node) setRequired(raw []byte) error {
	if raw == nil {
		return nil
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil {
		return err
	}
	for _, name := range names {
		i, ok := n.index[name]
		if !ok {
			return fmt.Errorf("%s is no property", name)
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

func (n *node) setFormat(k member) error {
	if n.format != noFormat {
		return errors.New("there is another format")
	}
	var name string
	if err := json.Unmarshal(k.value, &name); err != nil {
		return err
	}
	format, ok := formatNamed(name, k.name == "x-format")
	if !ok {
		return fmt.Errorf("the format %s is not supported", name)
	}
	if n.kinds == kindAny || n.kinds&format.kinds() == 0 {
		return fmt.Errorf("the format %s needs a type that it applies to", name)
	}
	n.format = format
	return nil
}

// setNumberBounds gives numbers without bounds those of what the database holds.
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
	return limit{count: count, text: strconv.Itoa(count)}, nil
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

// member is one name of a JSON object and its value.
type member struct {
	name  string
	value []byte
}

// members reads a JSON object in order.
func members(raw []byte) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '{' {
		return nil, fmt.Errorf("%.40s is not an object", raw)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []member
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String() // the token is void after the next read
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		list = append(list, member{name: text, value: bytes.Clone(value)})
	}
	_, err := d.ReadToken()
	return list, err
}
