package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// shownSchema is a published schema as the pages show it.
type shownSchema struct {
	*release.JSONSchema
	doc       string // the closest description
	component string // its name, if it is one
	nullable  bool
}

// schemaReader reads published schemas for people.
type schemaReader struct {
	schemas release.Schemas
}

// component reads the component of that name. An unreadable one accepts anything.
func (r schemaReader) component(name string) *release.JSONSchema {
	schema, err := r.schemas.Read(name)
	if err != nil {
		return nil
	}
	return schema
}

// resolve follows the references of a schema. nil accepts anything.
func (r schemaReader) resolve(schema *release.JSONSchema) shownSchema {
	if schema == nil {
		schema = &release.JSONSchema{}
	}
	var s shownSchema
	switch name := schema.Component(); {
	case schema.Types == nil && len(schema.AnyOf) > 0: // a component or null
		s = r.resolve(schema.AnyOf[0])
		s.nullable = true
	case name != "":
		s = r.resolve(r.component(name))
		s.component = name
	default:
		return shownSchema{JSONSchema: schema, doc: schema.Description, nullable: schema.IsNullable()}
	}
	if schema.Description != "" {
		s.doc = schema.Description
	}
	return s
}

// isFilter tells whether the schema is a filter's: an object of operators with at least
// one.
func (s *shownSchema) isFilter() bool { return s.component != "" && s.Count("minProperties") > 0 }

// isID tells whether the schema is an id's.
func (s *shownSchema) isID() bool {
	return s.Kind() == "string" && s.Format+s.OwnFormat == "" && s.Count("minLength") > 0 && s.Count("maxLength") > 0 && len(s.Enum) == 0
}

// memberRow is a member of an input or answer as the page lists it.
type memberRow struct {
	Path, Type, Doc string
	Required        bool
}

// maxSchemaDepth limits samples of recursive messages.
const maxSchemaDepth = 6

// rows lists the members below a schema by their paths, with [] for lists. A component is
// not listed again within itself; above lists the components around it.
func (r schemaReader) rows(schema *release.JSONSchema, path string, above ...string) []memberRow {
	s := r.resolve(schema)
	var rows []memberRow
	for _, p := range s.Properties {
		below := r.resolve(p.Schema)
		row := memberRow{Path: path + p.Name, Type: r.typeText(&below), Doc: below.doc, Required: s.Requires(p.Name)}
		inside, step := p.Schema, "."
		if below.Kind() == "array" {
			inside, step = below.Items, "[]."
		}
		element := r.resolve(inside)
		isAgain := element.component != "" && slices.Contains(above, element.component)
		if element.Kind() == "object" && !element.isFilter() && !isAgain {
			if more := r.rows(inside, row.Path+step, append(slices.Clone(above), element.component)...); len(more) > 0 {
				rows = append(rows, more...)
				continue
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// typeText describes the values of a schema.
func (r schemaReader) typeText(s *shownSchema) string {
	text := ""
	switch kind := s.Kind(); {
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
		element := r.resolve(s.Items)
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

// sample writes an input that fits a schema, as a template for people: with the required
// members, or with all. It is indented.
func (r schemaReader) sample(component string, all bool) string {
	var out bytes.Buffer
	s := r.resolve(r.component(component))
	if err := json.Indent(&out, []byte(r.sampleOf(&s, component, all, 0)), "", "  "); err != nil {
		return "{}"
	}
	return out.String()
}

// listSample writes an input of a list that excludes no row unless required: its first page
// in an order.
func (r schemaReader) listSample(component string) string {
	s := r.resolve(r.component(component))
	var members []string
	for _, p := range s.Properties {
		if s.Requires(p.Name) || p.Name == "first" || p.Name == "orderBy" {
			members = append(members, r.sampleMember(&s, p, component, p.Name == "orderBy", 0))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r schemaReader) sampleOf(s *shownSchema, name string, all bool, depth int) string {
	switch {
	case len(s.Enum) > 0:
		return string(answer.Quote(nil, fmt.Sprint(s.Enum[0])))
	case s.isID():
		return `"…"`
	}
	switch s.Kind() {
	case "object":
		return r.sampleObject(s, name, all, depth)
	case "array":
		element := r.resolve(s.Items)
		if s.Count("minItems") == 0 && !all || depth >= maxSchemaDepth {
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
		if m := s.Matcher(); m != nil {
			return string(answer.Quote(nil, m.Example()))
		}
		text := []rune(sampleText(s.Format+s.OwnFormat, name))
		if most := s.Count("maxLength"); most > 0 {
			text = text[:min(len(text), most)]
		}
		return string(answer.Quote(nil, string(text)))
	}
	return "{}"
}

// sampleObject writes an object. It uses one of several exclusive members, such as paging
// inputs, and one operator of a filter.
func (r schemaReader) sampleObject(s *shownSchema, name string, all bool, depth int) string {
	required := s.Required
	if len(required) == 0 && len(s.AnyOf) > 0 { // one of several sets
		required = s.AnyOf[0].Required
	}
	isList := s.Property("totalCount") != nil && s.Property("where") != nil
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
		if s.isFilter() || s.Count("maxProperties") == 1 || s.Count("minProperties") == 1 && !all {
			break
		}
	}
	if len(members) == 0 && s.Count("minProperties") > 0 && len(s.Properties) > 0 {
		members = append(members, r.sampleMember(s, s.Properties[0], name, all, depth))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// sampleMember writes a member of an object. An operand is a value of the type that its
// filter is named after.
func (r schemaReader) sampleMember(s *shownSchema, p release.Property, name string, all bool, depth int) string {
	if !s.isFilter() {
		name = p.Name
	}
	below := r.resolve(p.Schema)
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
	case "email":
		return "ada@example.com"
	case "uri":
		return "https://example.com"
	case "relative-period":
		return "last 7 days"
	case "data-url", "file":
		return "data:text/plain;name=hello.txt;base64,aGVsbG8="
	}
	return name
}
