package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/openapi"
	"github.com/sternpost/sternpost/sql/release"
)

// jsonSchema is what the pages look at of a published schema.
type jsonSchema struct {
	Ref           string            `json:"$ref"`
	Type          json.RawMessage   `json:"type"`
	Format        string            `json:"format"`
	OwnFormat     string            `json:"x-format"` // what only the server knows: file, secret
	Enum          []any             `json:"enum"`
	Properties    release.Schemas   `json:"properties"` // in order
	Required      []string          `json:"required"`
	AnyOf         []json.RawMessage `json:"anyOf"`
	Items         json.RawMessage   `json:"items"`
	MinItems      int               `json:"minItems"`
	MinProperties int               `json:"minProperties"`
	MinLength     int               `json:"minLength"`
	MaxLength     int               `json:"maxLength"`
	Description   string            `json:"description"`

	component string // its name, if it is one
	nullable  bool
}

// schemaReader reads published schemas for people.
type schemaReader struct {
	schemas release.Schemas
}

// read reads a schema and follows what it refers to. A schema that says nothing
// takes anything.
func (r schemaReader) read(raw json.RawMessage) jsonSchema {
	var s jsonSchema
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &s) != nil {
		return jsonSchema{}
	}
	if len(s.Type) == 0 && len(s.AnyOf) > 0 { // a component or null
		inner := r.read(s.AnyOf[0])
		inner.nullable = true
		inner.describe(s.Description)
		return inner
	}
	if name, ok := strings.CutPrefix(s.Ref, openapi.SchemaPrefix); ok {
		inner := r.read(r.schemas.Get(name))
		inner.component = name
		inner.describe(s.Description)
		return inner
	}
	var kinds []string
	if json.Unmarshal(s.Type, &kinds) == nil {
		s.nullable = slices.Contains(kinds, "null")
	}
	return s
}

// describe replaces a description by one that stands closer.
func (s *jsonSchema) describe(text string) {
	if text != "" {
		s.Description = text
	}
}

// kind is the type, or the first one that is not null.
func (s *jsonSchema) kind() string {
	var kind string
	if json.Unmarshal(s.Type, &kind) == nil {
		return kind
	}
	var kinds []string
	if json.Unmarshal(s.Type, &kinds) == nil {
		for _, k := range kinds {
			if k != "null" {
				return k
			}
		}
	}
	return ""
}

// isFilter tells whether the schema is a filter's: an object of operators, of which there
// must be one.
func (s *jsonSchema) isFilter() bool { return s.component != "" && s.MinProperties > 0 }

// isID tells whether the schema is an id's.
func (s *jsonSchema) isID() bool {
	return s.kind() == "string" && s.Format+s.OwnFormat == "" && s.MinLength > 0 && s.MaxLength > 0 && len(s.Enum) == 0
}

// memberRow is a member of an input or answer as the page lists it.
type memberRow struct {
	Path, Type, Doc string
	Required        bool
}

// maxSchemaDepth is where samples end, for messages that contain themselves.
const maxSchemaDepth = 6

// rows lists the members below a schema by their paths, which lead into lists by [].
// A component is not listed again below itself; above names those it is in.
func (r schemaReader) rows(raw json.RawMessage, path string, above ...string) []memberRow {
	s := r.read(raw)
	var rows []memberRow
	for _, p := range s.Properties {
		below := r.read(p.JSON)
		row := memberRow{Path: path + p.Name, Type: r.typeText(&below), Doc: below.Description, Required: slices.Contains(s.Required, p.Name)}
		inside, step := p.JSON, "."
		if below.kind() == "array" {
			inside, step = below.Items, "[]."
		}
		element := r.read(inside)
		isAgain := element.component != "" && slices.Contains(above, element.component)
		if element.kind() == "object" && !element.isFilter() && !isAgain {
			if more := r.rows(inside, row.Path+step, append(slices.Clone(above), element.component)...); len(more) > 0 {
				rows = append(rows, more...)
				continue
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// typeText says what values a schema takes.
func (r schemaReader) typeText(s *jsonSchema) string {
	text := ""
	switch kind := s.kind(); {
	case s.isFilter():
		var operators []string
		for _, p := range s.Properties {
			operators = append(operators, p.Name)
		}
		return "filter: " + strings.Join(operators, ", ")
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			if v != nil {
				values = append(values, fmt.Sprint(v))
			}
		}
		text = strings.Join(values, " | ")
	case kind == "array":
		element := r.read(s.Items)
		text = "list of " + r.typeText(&element)
	case s.Format != "":
		text = s.Format
	case s.OwnFormat != "":
		text = s.OwnFormat
	case s.isID():
		text = "id"
	case kind == "string":
		text = "text"
	case kind == "":
		return "any JSON"
	default:
		text = kind
	}
	if s.nullable {
		text += " or null"
	}
	return text
}

// sample writes an input that fits a schema, for people to change: with what is
// required, or with all there is. It is indented.
func (r schemaReader) sample(component string, all bool) string {
	raw := r.schemas.Get(component)
	var out bytes.Buffer
	s := r.read(raw)
	if err := json.Indent(&out, []byte(r.sampleOf(&s, component, all, 0)), "", "  "); err != nil {
		return "{}"
	}
	return out.String()
}

func (r schemaReader) sampleOf(s *jsonSchema, name string, all bool, depth int) string {
	switch {
	case len(s.Enum) > 0:
		return string(answer.Quote(nil, fmt.Sprint(s.Enum[0])))
	case s.isID():
		return `"…"`
	}
	switch s.kind() {
	case "object":
		return r.sampleObject(s, name, all, depth)
	case "array":
		element := r.read(s.Items)
		if s.MinItems == 0 && !all || depth >= maxSchemaDepth {
			return "[]"
		}
		return "[" + r.sampleOf(&element, name, all, depth+1) + "]"
	case "boolean":
		return "true"
	case "integer":
		if name == "first" {
			return "10"
		}
		return "1"
	case "number":
		return "1.5"
	case "string":
		text := []rune(sampleText(s.Format+s.OwnFormat, name))
		if s.MaxLength > 0 {
			text = text[:min(len(text), s.MaxLength)]
		}
		return string(answer.Quote(nil, string(text)))
	}
	return "{}"
}

// sampleObject writes an object. Of what excludes each other, as the inputs that page
// do, and of the operators of a filter it takes one.
func (r schemaReader) sampleObject(s *jsonSchema, name string, all bool, depth int) string {
	required := s.Required
	if len(required) == 0 && len(s.AnyOf) > 0 { // one of several sets
		var set struct {
			Required []string `json:"required"`
		}
		if json.Unmarshal(s.AnyOf[0], &set) == nil {
			required = set.Required
		}
	}
	isList := s.Properties.Get("totalCount") != nil && s.Properties.Get("where") != nil
	var members []string
	for _, p := range s.Properties {
		isNeeded := slices.Contains(required, p.Name)
		switch {
		case !isNeeded && (!all || depth >= maxSchemaDepth):
			continue
		case isList && slices.Contains([]string{"after", "last", "before", "limit", "offset"}, p.Name):
			continue
		}
		members = append(members, r.sampleMember(s, p, name, all, depth))
		if s.isFilter() || s.MinProperties == 1 && !all {
			break
		}
	}
	if len(members) == 0 && s.MinProperties > 0 && len(s.Properties) > 0 {
		members = append(members, r.sampleMember(s, s.Properties[0], name, all, depth))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// sampleMember writes a member of an object. An operand is a value of what its filter
// is called.
func (r schemaReader) sampleMember(s *jsonSchema, p release.Schema, name string, all bool, depth int) string {
	if !s.isFilter() {
		name = p.Name
	}
	below := r.read(p.JSON)
	return string(answer.Quote(nil, p.Name)) + ":" + r.sampleOf(&below, name, all, depth+1)
}

func sampleText(format, name string) string {
	switch format {
	case "date":
		return "2026-03-31"
	case "date-time":
		return "2026-03-31T09:00:00Z"
	case "duration":
		return "PT1H30M"
	case "relative-period":
		return "last 7 days"
	case "data-url", "file":
		return "data:text/plain;name=hello.txt;base64,aGVsbG8="
	}
	return name
}
