package input_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sternpost/sternpost/server/input"
)

// published compiles a component with a general JSON Schema library, as a client would.
// Formats are those of this package, read through it. The format of a password is left
// out: its length is in bytes, which a general library does not support.
func published(t testing.TB, schemas, name string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"components":{"schemas":` + schemas + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for _, f := range []struct{ name, schema string }{
		{"date", schemaDate},
		{"date-time", schemaTimestamp},
		{"duration", schemaDuration},
		{"markdown", schemaMarkdown},
		{"data-url", schemaDataURL},
		{"relative-period", schemaRelative},
		{"decimal", schemaDecimal},
	} {
		r := valueReader(t, f.schema)
		c.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: func(v any) error {
			switch v.(type) {
			case string:
				if f.name == "decimal" {
					return nil
				}
			case json.Number:
				if f.name != "decimal" {
					return nil
				}
			default:
				return nil
			}
			value, err := json.Marshal(map[string]any{"v": v})
			if err != nil {
				return err
			}
			_, err = r.Read(value)
			return err
		}})
	}
	if err := c.AddResource("https://sternpost.test/openapi.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("https://sternpost.test/openapi.json#/components/schemas/" + name)
	if err != nil {
		t.Fatalf("compile %s: %v", schemas, err)
	}
	return schema
}

// generator makes schemas of the published keywords, and inputs that nearly fit them.
type generator struct{ *rand.Rand }

func (g generator) pick(options ...string) string {
	return options[g.IntN(len(options))]
}

func (g generator) maybe(text string) string {
	if g.IntN(2) == 0 {
		return ""
	}
	return text
}

func (g generator) schema(depth int) string {
	kinds := 11
	if depth == 0 {
		kinds = 9
	}
	null := g.IntN(3) == 0
	typ := func(name string) string {
		if null {
			return `"type":["` + name + `","null"]`
		}
		return `"type":"` + name + `"`
	}
	switch g.IntN(kinds) {
	case 0:
		return `{` + typ("string") + g.maybe(`,"minLength":2`) + g.maybe(`,"maxLength":4`) + `}`
	case 1:
		return `{` + typ("string") + `,"format":"` +
			g.pick("date", "date-time", "duration", "markdown", "data-url", "relative-period") + `"}`
	case 2:
		return g.pick(`{"enum":["A","B"]}`, `{"enum":["A",null]}`, `{"type":"string","enum":["A"]}`, `{"type":["string","null"],"enum":["A",null]}`)
	case 3:
		return `{` + typ("integer") + `,"minimum":` + g.pick("-9007199254740991", "1", "0.5", "-2") + `,"maximum":` + g.pick("9007199254740991", "1000", "2.5") + `}`
	case 4:
		return `{` + typ("number") + `,"format":"decimal"` + g.maybe(`,"minimum":-1.5`) + g.maybe(`,"maximum":1e3`) + `}`
	case 5:
		return `{` + typ("number") + `,"minimum":-3.4e38,"maximum":3.4e38}`
	case 6:
		return `{` + typ("boolean") + `}`
	case 7:
		reference := `{"$ref":"#/components/schemas/` + g.pick("A", "B") + `"}`
		return g.pick(reference, `{"anyOf":[`+reference+`,{"type":"null"}],"description":"or null"}`)
	case 8:
		return g.pick(`{}`, `true`, `{"type":["string","integer","boolean"],"minimum":-9,"maximum":9}`)
	case 9:
		return `{` + typ("array") + g.maybe(`,"items":`+g.schema(depth-1)) + g.maybe(`,"minItems":1`) + g.maybe(`,"maxItems":2`) + `}`
	default:
		return g.object(depth, typ("object"))
	}
}

func (g generator) object(depth int, typ string) string {
	var properties, required []string
	for _, name := range []string{"a", "b", "c", "d"}[:g.IntN(5)] {
		properties = append(properties, `"`+name+`":`+g.schema(depth-1))
		if g.IntN(2) == 0 {
			required = append(required, `"`+name+`"`)
		}
	}
	alternatives := ""
	if len(properties) > 2 && g.IntN(3) == 0 {
		alternatives = `,"anyOf":[{"required":["c","a"]},{"required":["b"]}]`
	}
	return `{` + typ + alternatives + `,"properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]` +
		g.maybe(`,"additionalProperties":`+g.pick("true", "false", "false")) + g.maybe(`,"minProperties":1`) + g.maybe(`,"maxProperties":3`) + `}`
}

// value makes a value that often fits a schema.
func (g generator) value(components map[string]any, schema any, depth int) string {
	s, ok := schema.(map[string]any)
	if !ok || g.IntN(12) == 0 {
		return g.anyValue(depth)
	}
	if branches, ok := s["anyOf"].([]any); ok && s["type"] == nil {
		return g.value(components, branches[g.IntN(2)], depth)
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.value(components, components[ref[strings.LastIndexByte(ref, '/')+1:]], depth)
	}
	if enum, ok := s["enum"].([]any); ok {
		b, _ := json.Marshal(enum[g.IntN(len(enum))])
		return string(b)
	}
	kind, _ := s["type"].(string)
	if kinds, ok := s["type"].([]any); ok {
		kind = kinds[g.IntN(len(kinds))].(string)
	}
	switch kind {
	case "object":
		properties, _ := s["properties"].(map[string]any)
		var members []string
		for _, name := range []string{"d", "b", "a", "c", "unknown"} {
			p, declared := properties[name]
			if depth > 0 && (declared && g.IntN(5) > 0 || !declared && g.IntN(12) == 0) {
				members = append(members, `"`+name+`":`+g.value(components, p, depth-1))
			}
		}
		return `{` + strings.Join(members, ", ") + `}`
	case "array":
		var elements []string
		for range g.IntN(4) {
			elements = append(elements, g.value(components, s["items"], depth-1))
		}
		return `[` + strings.Join(elements, " ,") + `]`
	case "string":
		return g.text()
	case "integer", "number":
		return g.numeral()
	case "boolean":
		return g.pick("true", "false")
	case "null":
		return "null"
	default:
		return g.anyValue(depth)
	}
}

func (g generator) anyValue(depth int) string {
	if depth <= 0 {
		return g.pick(`{}`, `[]`, `null`, `0`)
	}
	switch g.IntN(6) {
	case 0:
		return g.text()
	case 1:
		return g.numeral()
	case 2:
		return g.pick("true", "false", "null")
	case 3:
		return `[` + g.anyValue(depth-1) + `,` + g.anyValue(depth-1) + `]`
	default:
		return `{"a":` + g.anyValue(depth-1) + `,"z":` + g.anyValue(depth-1) + `}`
	}
}

func (g generator) numeral() string {
	return g.pick("0", "-0", "1", "2", "5.0", "5e0", "2.5", "-1.50", "1e3", "1e-3", "0.5e1", "1000.000", "1e38", "1e37", "1e-18", "1e-19",
		"9007199254740991", "9007199254740992", "-9007199254740991.0", "1e100", "-1e-100", "3.3e38", "12345678901234567890.123456789012345678")
}

func (g generator) text() string {
	f := textFormats[g.IntN(len(textFormats))]
	switch g.IntN(4) {
	case 0:
		return quoted(f.accepted[g.IntN(len(f.accepted))][0])
	case 1:
		return quoted(f.refused[g.IntN(len(f.refused))])
	default:
		return g.pick(`"A"`, `"B"`, `""`, `"\u0041"`, `"ab"`, `"abcd"`, `"abcde"`, `"éé"`, `"\ud83d\ude00"`, `"😀😀😀😀"`)
	}
}

// TestVerdictsAgreeWithThePublishedSchema compares the accepted inputs with those of a
// general library for the same schema.
func TestVerdictsAgreeWithThePublishedSchema(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(2026, 3))}
	accepted, refused := 0, 0
	for range 400 {
		a := g.object(2, `"type":"object"`)
		schemas := fmt.Sprintf(`{"X":%s,"A":%s,"B":%s}`, g.object(3, `"type":"object"`), strings.ReplaceAll(a, "schemas/B", "schemas/A"), g.schema(0))
		if strings.Contains(schemas, `"B":{"$ref"`) || strings.Contains(schemas, `"B":{"anyOf"`) {
			continue // a component that is another one is not published
		}
		var components map[string]any
		if err := json.Unmarshal([]byte(schemas), &components); err != nil {
			t.Fatalf("schemas %s: %v", schemas, err)
		}
		r := compile(t, schemas, "X")
		schema := published(t, schemas, "X")
		for range 60 {
			body := g.value(components, components["X"], 5)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			if err != nil {
				t.Fatalf("body %s: %v", body, err)
			}
			want := schema.Validate(value)
			in, got := r.Read([]byte(body))
			if (got == nil) != (want == nil) {
				t.Fatalf("schemas %s\nread %s\n got error %v\nwant as the schema says: %v", schemas, body, got, want)
			}
			if got != nil {
				refused++
				continue
			}
			accepted++
			checkAgain(t, r, in)
		}
	}
	if accepted < 2000 || refused < 2000 {
		t.Errorf("the inputs prove little: %d accepted, %d refused", accepted, refused)
	}
}

// checkAgain reads the output again: nothing may change.
func checkAgain(t *testing.T, r *input.Reader, in input.Input) {
	t.Helper()
	again, err := r.Read(in.JSON)
	if err != nil || string(again.JSON) != string(in.JSON) {
		t.Fatalf("read again %s\n got %s, %v", in.JSON, again.JSON, err)
	}
	if !json.Valid(in.JSON) {
		t.Fatalf("wrote %s, which is not JSON", in.JSON)
	}
}

// FuzzRead reads inputs of a schema with every format.
func FuzzRead(f *testing.F) {
	properties := []string{`"self":{"type":"array","items":{"$ref":"#/components/schemas/X"},"maxItems":3}`}
	for i, schema := range []string{
		schemaID, schemaText, schemaNumber, schemaDecimal, schemaBoolean, schemaDate, schemaTimestamp, schemaDuration, schemaEnum,
		schemaPassword, schemaVector, schemaFile, schemaDataURL, schemaRelative, `true`,
	} {
		properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, schema))
	}
	r := compile(f, `{"X":{"type":"object","additionalProperties":false,"required":["p1"],"properties":{`+strings.Join(properties, ",")+`}}}`, "X")
	for _, format := range textFormats {
		for _, c := range format.accepted {
			f.Add([]byte(`{"p1":"","p5":` + quoted(c[0]) + `,"p6":` + quoted(c[0]) + `,"p7":` + quoted(c[0]) + `}`))
			f.Add([]byte(`{"p1":"","p11":` + quoted(c[0]) + `,"p12":` + quoted(c[0]) + `,"p13":` + quoted(c[0]) + `}`))
		}
	}
	f.Add([]byte(`{"p1":"a","p2":5.0,"p3":1.50,"p4":true,"p8":"Live","p9":"p","p10":[1e-90,2],"p14":{"a":[1]},"self":[{"p1":"b"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := r.Read(body)
		if err == nil {
			checkAgain(t, r, in)
			return
		}
		if text := err.Error(); text == "" {
			t.Fatalf("read %q: an error without text", body)
		}
	})
}
