package input_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"type":"string","contentEncoding":"a"}`, "the keyword contentEncoding is not supported"},
		{`{"oneOf":[{}]}`, "the keyword oneOf is not supported"},
		{`{"anyOf":[{"required":["a"]}]}`, "anyOf needs a type that it applies to"},
		{`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["b"]}]}`, "anyOf: b is not a property"},
		{`{"type":"object","properties":{"a":{}},"anyOf":[{"required":[]}]}`, "anyOf: a set of required properties is empty"},
		{`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"],"minProperties":1}]}`, "anyOf: only sets of required properties"},
		{`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/components/schemas/Loop"},{"type":"string"}]}}}`, "a: anyOf needs a type that it applies to"},
		{`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/components/schemas/Loop"},{"type":"null"}],"type":"object"}}}`,
			"a: type beside anyOf is not supported"},
		{`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/components/schemas/Gone"},{"type":"null"}]}}}`, "there is no component Gone"},
		{`{"const":1}`, "the keyword const is not supported"},
		{`{"type":"integer","exclusiveMinimum":1}`, "the keyword exclusiveMinimum is not supported"},
		{`{"type":"array","uniqueItems":true}`, "the keyword uniqueItems is not supported"},
		{`{"type":"text"}`, "text is not a type"},
		{`{"type":["string","string"]}`, "is there twice"},
		{`{"type":[]}`, "the list is empty"},
		{`{"type":5}`, "type:"},
		{`{"enum":[1]}`, "only strings and null are supported"},
		{`{"enum":"a"}`, "enum: "},
		{`{"type":"string","format":"idn-email"}`, "the format idn-email is not supported"},
		{`{"type":"string","format":"file"}`, "the format file is not supported"},
		{`{"type":"string","x-format":"date"}`, "the format date is not supported"},
		{`{"type":"string","format":"date","x-format":"file"}`, "there is another format"},
		{`{"type":"string","format":"decimal"}`, "needs a type that it applies to"},
		{`{"type":"integer","format":"decimal"}`, "needs a type that it applies to"},
		{`{"format":"date"}`, "needs a type that it applies to"},
		{`{"type":"integer","minLength":1}`, "minLength needs a type that it applies to"},
		{`{"minItems":1}`, "minItems needs a type that it applies to"},
		{`{"properties":{}}`, "properties needs a type that it applies to"},
		{`{"type":"string","maximum":1}`, "maximum needs a type that it applies to"},
		{`{"type":"string","minLength":-1}`, "-1 is not a count"},
		{`{"type":"string","minLength":1.5}`, "1.5 is not a count"},
		{`{"type":"string","minLength":"1"}`, `"1" is not a count`},
		{`{"type":"integer","minimum":"1"}`, `"1" is not a number`},
		{`{"type":"integer","minimum":1e101}`, "number out of range"},
		{`{"type":"object","additionalProperties":{}}`, "only true and false are supported"},
		{`{"type":"object","properties":{"a":false}}`, "a: false is not an object"},
		{`{"type":"string","not":{"pattern":"a"}}`, "is supported"},
		{`{"type":"string","pattern":"(a|b)*a(a|b){12}"}`, "too many states"},
		{`{"type":"object","properties":{"a":{}},"required":["b"]}`, "b is not a property"},
		{`{"type":"object","properties":[]}`, "is not an object"},
		{`{"type":"array","items":false}`, "is not an object"},
		{`{"type":"object","properties":{"a":{"$ref":"#/components/schemas/Gone"}}}`, "there is no component Gone"},
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/X"}}}`, "$ref #/$defs/X is not supported"},
		{`{"type":"object","properties":{"a":{"$ref":"#/components/schemas/X","type":"object"}}}`, "type beside $ref is not supported"},
		{`{"type":"object","properties":{"a":{"$ref":"#/components/schemas/X","x-format":"file"}}}`, "x-format beside $ref is not supported"},
		{`{"type":"object","properties":{"a":{"type":"object","dependentSchemas":{}}}}`, "in the body of a list only"},
		{`{"type":"object","dependentSchemas":{}}`, "the body of a list needs the property first"},
		{`{"type":"object","properties":{` + pagingProperties + `},"dependentSchemas":{}}`, "they must say after excludes before, "},
		{`{"type":"object","properties":{` + pagingProperties + `},"dependentSchemas":{"first":{"not":{}}}}`, "first: the keyword not is not supported"},
		{`{"type":"object","properties":{` + pagingProperties + `},"dependentSchemas":{"first":{"properties":{"last":{}}}}}`, "only false is supported"},
		{`{"type":"object","properties":{` + pagingProperties + `},"dependentSchemas":` +
			strings.Replace(pagingRules, `"last": false, `, "", 1) + `}`, "they must say"},
		{`{"type":"object","properties":{"where":{"$ref":"#/components/schemas/Loop"},` + pagingProperties + `},"dependentSchemas":` + pagingRules + `}`,
			"a filter is nested without end"},
	} {
		var schemas release.Schemas
		text := `{"X":` + c.schema + `,"Loop":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/Loop"}}}}`
		if err := json.Unmarshal([]byte(text), &schemas); err != nil {
			t.Fatalf("schema %s: %v", c.schema, err)
		}
		_, err := input.Compile(schemas, "X")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "compile the input schema X: ") {
			t.Errorf("compile %s\n got error %v\nwant one with %q", c.schema, err, c.want)
		}
	}
	if _, err := input.Compile(nil, "X"); err == nil || !strings.Contains(err.Error(), "there is no component X") {
		t.Errorf("compile without the component: got error %v", err)
	}
}

func TestCompileAcceptsAnnotations(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"X":{"type":"object","description":"d","x-order":5,"properties":{
	  "a":{"$ref":"#/components/schemas/Y","description":"d","default":null},
	  "b":{"type":"object","additionalProperties":true,"default":{"z":1}}
	}},"Y":{"type":"string"}}`, "X")
	body := `{"a":"x","b":{"q":1.50},"c":null}`
	if in, err := r.Read([]byte(body)); err != nil || string(in.JSON) != body {
		t.Errorf("read %s: got %s, %v", body, in.JSON, err)
	}
}
