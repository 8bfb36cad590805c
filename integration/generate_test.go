package integration

import (
	"encoding/json"
	"fmt"
	"github.com/sternpost/sternpost/sql/pattern"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// requestGenerator makes requests from published schemas: mostly fitting ones, and ones
// that are spoilt in one or more places.
type requestGenerator struct {
	*rand.Rand
	schemas map[string]any // components by name
}

func newRequestGenerator(seed uint64, document *apiDocument) requestGenerator {
	schemas, _ := document.at("components", "schemas").(map[string]any)
	return requestGenerator{rand.New(rand.NewPCG(seed, 2026)), schemas}
}

func choose[T any](g requestGenerator, options ...T) T { return options[g.IntN(len(options))] }

// resolve follows a $ref.
func (g requestGenerator) resolve(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	for s != nil {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		s, _ = g.schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	return s
}

// maxGeneratedDepth is the depth without optional members, so that recursive schemas
// end.
const maxGeneratedDepth = 6

// value makes a value that fits a schema.
func (g requestGenerator) value(schema any, depth int) any {
	s := g.resolve(schema)
	if branches, ok := s["anyOf"].([]any); ok && s["type"] == nil {
		return g.value(branches[g.IntN(len(branches))], depth)
	}
	if values, ok := s["enum"].([]any); ok {
		return values[g.IntN(len(values))]
	}
	kinds := kindsOf(s)
	kind := ""
	if len(kinds) > 0 {
		kind = kinds[0]
		if len(kinds) > 1 && g.IntN(6) == 0 {
			kind = kinds[1+g.IntN(len(kinds)-1)]
		}
	}
	switch kind {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "string":
		return g.text(s)
	case "integer":
		return json.Number(g.integer(s))
	case "number":
		return json.Number(g.number(s))
	case "boolean":
		return g.IntN(2) == 0
	case "null":
		return nil
	}
	return choose[any](g, nil, "any", true, json.Number("1.5"), []any{}, map[string]any{"any": json.Number("1")})
}

func kindsOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var kinds []string
		for _, k := range t {
			kinds = append(kinds, k.(string))
		}
		return kinds
	}
	return nil
}

// object makes an object with its required members and some of the others. It leaves out
// members that exclude each other, such as those for paging.
func (g requestGenerator) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	required, _ := s["required"].([]any)
	if sets, ok := s["anyOf"].([]any); ok {
		more, _ := sets[g.IntN(len(sets))].(map[string]any)["required"].([]any)
		required = slices.Concat(required, more)
	}
	dependent, _ := s["dependentSchemas"].(map[string]any)
	rarely := 2
	if len(names) > 8 {
		rarely = 4
	}
	o := map[string]any{}
	for _, name := range names {
		isRequired := slices.Contains(required, any(name))
		if !isRequired && (depth >= maxGeneratedDepth || g.IntN(rarely) > 0) || excluded(dependent, o, name) {
			continue
		}
		o[name] = g.value(properties[name], depth+1)
	}
	if least, ok := s["minProperties"]; ok && len(o) == 0 && fmt.Sprint(least) == "1" && len(names) > 0 {
		o[names[0]] = g.value(properties[names[0]], depth+1)
	}
	if most, ok := s["maxProperties"]; ok && fmt.Sprint(most) == "1" {
		for _, name := range slices.Sorted(maps.Keys(o))[min(1, len(o)):] {
			delete(o, name)
		}
	}
	return o
}

// excluded tells whether a member must not be beside the existing ones, or needs
// another.
func excluded(dependent map[string]any, o map[string]any, name string) bool {
	forbids := func(holder, member string) bool {
		rule, _ := dependent[holder].(map[string]any)
		properties, _ := rule["properties"].(map[string]any)
		return properties[member] == false
	}
	for other := range o {
		if forbids(other, name) || forbids(name, other) {
			return true
		}
	}
	rule, _ := dependent[name].(map[string]any)
	needed, _ := rule["required"].([]any)
	return slices.ContainsFunc(needed, func(n any) bool { _, has := o[n.(string)]; return !has })
}

func (g requestGenerator) array(s map[string]any, depth int) any {
	count := g.IntN(4)
	if depth >= maxGeneratedDepth {
		count = 0
	}
	if s["minItems"] != nil {
		count = max(count, 1)
	}
	list := make([]any, count)
	for i := range list {
		list[i] = g.value(s["items"], depth+1)
	}
	return list
}

func (g requestGenerator) integer(s map[string]any) string {
	least, most := s["minimum"], s["maximum"]
	if least != nil && most != nil && g.IntN(3) == 0 {
		return fmt.Sprint(choose(g, least, most))
	}
	if least != nil && fmt.Sprint(least) == "1" {
		return choose(g, "1", "2", "5.0", "1e1", "1000")
	}
	return choose(g, "0", "1", "7", "2.0", "3e2", "1000")
}

func (g requestGenerator) number(s map[string]any) string {
	if s["format"] == "decimal" {
		return choose(g, "0", "-0", "1.50", "-1.5", "0.000000000000000001", "12345678901234567890.123456789012345678", "1e37", "25e-2")
	}
	return choose(g, "0", "1.5", "-2", "1e30", "3.4e38", "-3.4e38", "0.1")
}

// text makes a text of the schema's format.
func (g requestGenerator) text(s map[string]any) string {
	format, _ := s["format"].(string)
	switch format {
	case "date":
		return choose(g, "2026-03-31", "0001-01-01", "9999-12-31", "2024-02-29", "2026-03-31T23:30:00+02:00", "9999-12-31T23:59:60Z")
	case "date-time":
		return choose(g, "2026-03-31T09:00:00Z", "2026-03-31t09:00:00.123456z", "2016-12-31T23:59:60Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999+00:00", "2026-03-31T09:00:00-23:59")
	case "duration":
		return choose(g, "PT0S", "P1Y2M3W4DT5H6M7.123456S", "P-1D", "PT90M", "P99999999Y", "P1W", "PT-0.5S")
	case "relative-period":
		return choose(g, "now", "today", "Last  Week", "last 7 days", "this complete month", "next 10000 years", "next 3 complete minutes", "yesterday")
	case "data-url":
		return choose(g, "data:text/plain;name=a.txt;base64,", "DATA:image/png;name=%C3%A9.png;base64,AAAA", "data:text/plain;charset=utf-8;name=b;base64,QQ==")
	case "file":
		return choose(g, "q8Jw2cX7TfKb0sVnR4mYtA", "x", "data:text/plain;name=a.txt;base64,QQ==")
	case "email":
		return choose(g, "ada@example.com", "a.b+c@x-y.example")
	case "uri":
		return choose(g, "https://example.com", "http://a.example:8080/b?c=d#e")
	case "password":
		return choose(g, "canary horse", "canaryé", strings.Repeat("canary12", 128))
	}
	if written, ok := s["pattern"].(string); ok {
		m, err := pattern.Compile(written)
		if err != nil {
			panic(err)
		}
		return m.Example()
	}
	if s["not"] != nil { // it has a limit above
		return choose(g, "Ada", " é", "a b")
	}
	if least, ok := s["minLength"].(float64); ok && least > 1 {
		return strings.Repeat("é", int(least))
	}
	if s["minLength"] != nil {
		return choose(g, "a", "x y", "019d3dc1-bc78-7c3e-8a56-0b1f6c2d7e44", "é😀", "%", strings.Repeat("é", 255))
	}
	text := []rune(choose(g, "", "a", "Ada", "O'Neill; drop table app.note; --", "%_\\", "{{ . }} $$ $1", "\u0001\n\t", "İıſK", "😀", strings.Repeat("long ", 60), "null"))
	if most, ok := s["maxLength"].(float64); ok {
		text = text[:min(len(text), int(most))]
	}
	return string(text)
}

// spoil changes a value in one place, a little or a lot, so that it may still be accepted.
func (g requestGenerator) spoil(value any) any {
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 || g.IntN(6) == 0 {
			return choose[any](g, map[string]any{"surplus": json.Number("1")}, nil, []any{}, "text")
		}
		o := maps.Clone(v)
		name := names[g.IntN(len(names))]
		switch g.IntN(8) {
		case 0:
			delete(o, name)
		case 1:
			o[choose(g, "surplus", "equals", "id", "", "where", "limit", "offset", "first", "last", "after", "before", "orderBy", strings.ToUpper(name))] =
				choose(g, any(json.Number("3")), "x", nil, v[name])
		case 2:
			o[name] = v
		default:
			o[name] = g.spoil(v[name])
		}
		return o
	case []any:
		if len(v) == 0 || g.IntN(4) == 0 {
			return choose[any](g, nil, map[string]any{}, []any{nil}, []any{[]any{}}, slices.Concat(v, []any{json.Number("1"), "x"}))
		}
		list := slices.Clone(v)
		if i := g.IntN(len(list)); g.IntN(6) == 0 {
			return slices.Repeat(list[i:i+1], 1001)
		} else {
			list[i] = g.spoil(list[i])
		}
		return list
	case string:
		return choose[any](g, v+" ", " "+v, strings.ToUpper(v), strings.Replace(v, "0", "9", 1), strings.Replace(v, "1", "13", 1), "", "\u00a0",
			nil, true, json.Number("5"), []any{v}, map[string]any{"equals": v}, strings.Repeat(v+"x", 1+5000/(len(v)+1)), "last 0 days", "P", "PT", "2026-02-30",
			"2026-03-31T24:00:00Z", "data:;base64,", "0000-01-01", "last 10001 days", "Ⅳ")
	case json.Number:
		return choose[any](g, json.Number("-"+strings.TrimPrefix(v.String(), "-")), json.Number("0"), json.Number("0.5"), json.Number("1001"),
			json.Number("1e38"), json.Number("1e-19"), json.Number("9007199254740992"), json.Number("1e99"), json.Number("-1e-100"), json.Number("3.5e38"),
			v.String(), nil, false, []any{v})
	case bool:
		return choose[any](g, nil, "true", json.Number("1"), []any{})
	}
	return choose[any](g, "x", json.Number("1"), false, []any{}, map[string]any{}, map[string]any{"equals": nil})
}

// request makes the body of a request from a schema; about half of them are spoilt, in
// up to four places, since each may multiply the size.
func (g requestGenerator) request(schema any) []byte {
	value := g.value(schema, 0)
	for spoilt := 0; spoilt < 4 && g.IntN(2) == 0; spoilt++ {
		value = g.spoil(value)
	}
	body, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("write a request: %v", err))
	}
	return body
}
