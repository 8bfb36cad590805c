package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
)

// types writes the types of components.
type types struct {
	printer
	names   map[string]string // of types, by component
	paging  []string          // the texts of the paging ways
	schemas release.Schemas
}

// declare writes the type of a component.
func (t *types) declare(c release.Schema) error {
	s, err := t.schemas.Read(c.Name)
	if err != nil {
		return err
	}
	t.WriteByte('\n')
	t.comment(0, s.Description)
	name := t.names[c.Name]
	if isPlainObject(s) {
		t.line(0, "export interface %s %s", name, t.object(s, 0))
		return nil
	}
	if isEnum(s) {
		start, values := "export const "+name+" =", "["+strings.Join(literals(s.Enum), ", ")+"]"
		if len(start)+len(values)+len(" as const;") >= lineLength {
			values = "[\n  " + strings.Join(literals(s.Enum), ",\n  ") + ",\n]"
		}
		t.definition(0, start, values+" as const")
		t.line(0, "export type %s = (typeof %s)[number];", name, name)
		return nil
	}
	start := "export type " + name + " ="
	t.definition(0, start, t.of(s, 0, len(start)+1))
	return nil
}

// isEnum tells whether a schema lists texts: then its values are there at run time too.
func isEnum(s *release.JSONSchema) bool {
	return len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool {
		_, isText := v.(string)
		return !isText
	})
}

// isPlainObject tells whether a schema only lists the properties of an object.
func isPlainObject(s *release.JSONSchema) bool {
	return s.Kind() == "object" && !s.IsNullable() && s.AnyOf == nil && s.Dependent == nil && !isChoice(s) && !isEmpty(s)
}

// isChoice tells whether an object has exactly one of its properties.
func isChoice(s *release.JSONSchema) bool {
	return s.IsClosed() && s.Count("minProperties") == 1 && s.Count("maxProperties") == 1
}

// isEmpty tells whether an object has no properties at all.
func isEmpty(s *release.JSONSchema) bool {
	return s.IsClosed() && len(s.Properties) == 0
}

// of returns the type of a schema at a depth of blocks, after so many characters.
func (t *types) of(s *release.JSONSchema, depth, before int) string {
	switch {
	case s.IsNever:
		return "never"
	case s.Component() != "":
		return t.names[s.Component()]
	case s.Enum != nil:
		return alternatives("|", literals(s.Enum), depth, before)
	case s.Kind() == "object":
		return t.orNull(s, t.wholeObject(s, depth))
	case s.AnyOf != nil:
		return alternatives("|", t.each(s.AnyOf, depth), depth, before)
	case s.OneOf != nil:
		return alternatives("|", t.each(s.OneOf, depth), depth, before)
	case s.AllOf != nil:
		return alternatives("&", t.each(s.AllOf, depth), depth, before)
	case s.Kind() == "array":
		return t.orNull(s, t.array(s, depth))
	case len(s.Types) > 0:
		return strings.Join(scalars(s.Types), " | ")
	}
	return "unknown"
}

func (t *types) orNull(s *release.JSONSchema, text string) string {
	if s.IsNullable() {
		return text + " | null"
	}
	return text
}

func (t *types) each(list []*release.JSONSchema, depth int) []string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = t.of(s, depth, lineLength)
	}
	return texts
}

func literals(values []any) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			texts[i] = quote(v)
		default:
			texts[i] = strings.ReplaceAll(fmt.Sprint(v), "<nil>", "null")
		}
	}
	return texts
}

func scalars(kinds []string) []string {
	texts := make([]string, len(kinds))
	for i, kind := range kinds {
		texts[i] = kind
		if kind == "integer" {
			texts[i] = "number"
		}
	}
	return slices.Compact(texts)
}

// array returns the type of a list.
func (t *types) array(s *release.JSONSchema, depth int) string {
	if s.Items == nil {
		return "unknown[]"
	}
	item := t.of(s.Items, depth, 0)
	if !isJoined(item) {
		return item + "[]"
	}
	return "(" + item + ")[]"
}

// isJoined tells whether a type is several types joined by a sign.
func isJoined(text string) bool {
	depth := 0
	for _, r := range text {
		switch r {
		case '{', '[', '(', '<':
			depth++
		case '}', ']', ')', '>':
			depth--
		case '|', '&':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

// wholeObject returns the type of an object with its restrictions beyond properties.
func (t *types) wholeObject(s *release.JSONSchema, depth int) string {
	if isChoice(s) {
		return "ExactlyOne<" + t.object(s, depth) + ">"
	}
	if s.Dependent != nil {
		if ways := waysOf(s); ways != nil {
			return t.object(s, depth, ways.names...) + " & " + t.way(ways)
		}
	}
	text := t.object(s, depth)
	if sets := requiredSets(s); sets != nil {
		text += " & (" + strings.Join(t.sets(s, sets, depth), " | ") + ")"
	}
	return text
}

// object returns the type of the properties of an object, without those named.
func (t *types) object(s *release.JSONSchema, depth int, without ...string) string {
	var b printer
	if isEmpty(s) {
		return "{ [name: string]: never }"
	}
	b.WriteString("{\n")
	for _, property := range s.Properties {
		if slices.Contains(without, property.Name) {
			continue
		}
		b.comment(depth+1, propertyDoc(property.Schema))
		mark := "?"
		if s.Requires(property.Name) {
			mark = ""
		}
		start := member(property.Name) + mark + ":"
		text := t.of(property.Schema, depth+1, len(start)+1)
		b.definition(depth+1, start, text)
	}
	if others := s.Value("additionalProperties"); others != nil && !s.IsClosed() {
		if schema, err := release.ReadJSONSchema(others); err == nil {
			b.line(depth+1, "[name: string]: %s;", t.of(schema, depth+1, 0))
		}
	}
	b.WriteString(strings.Repeat("  ", depth) + "}")
	return b.String()
}

// propertyDoc returns the documentation of a property beyond its type.
func propertyDoc(s *release.JSONSchema) string {
	format := s.Format
	if s.Kind() == "array" && s.Items != nil && format == "" {
		format = s.Items.Format
	}
	text := s
	if s.Kind() == "array" && s.Items != nil {
		text = s.Items
	}
	doc := s.Description
	if format != "" && (format != "markdown" || s.Description == "") {
		doc += "\n@format " + format
	}
	if written := text.PatternText(); written != "" {
		doc += "\n@pattern " + written
	}
	return strings.TrimSpace(doc)
}

// requiredSets returns the alternative sets of properties. A value must have one of them; nil means that there is no choice.
func requiredSets(s *release.JSONSchema) [][]string {
	var sets [][]string
	for _, one := range s.AnyOf {
		names := one.RequiredOnly()
		if names == nil {
			return nil
		}
		sets = append(sets, names)
	}
	return sets
}

// sets returns an object type for each set, with all its properties.
func (t *types) sets(s *release.JSONSchema, sets [][]string, depth int) []string {
	texts := make([]string, len(sets))
	for i, names := range sets {
		var members []string
		for _, name := range names {
			members = append(members, member(name)+": "+t.of(s.Property(name), depth, 0))
		}
		texts[i] = "{ " + strings.Join(members, "; ") + " }"
	}
	return texts
}
