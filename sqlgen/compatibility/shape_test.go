package compatibility_test

import (
	"encoding/json"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/compatibility"
)

// TestShapes compares JSON Schemas, as those of a request and of an answer.
func TestShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		old, new    string
		input, want string // the changes reported for an input, and for a result; "" means none
	}{
		{"nothing", `{"type":"string"}`, `{"type":"string"}`, "", ""},
		{"a description", `{"type":"string"}`, `{"type":"string","description":"a text"}`, "", ""},
		{"text and markdown", `{"type":"string"}`, `{"type":"string","format":"markdown"}`, "compatible was Text, is Markdown", "compatible was Text, is Markdown"},
		{"a format less", `{"type":"string","format":"date"}`, `{"type":"string"}`, "compatible was Date, is Text", "breaking was Date, is Text"},
		{"a format more", `{"type":"string"}`, `{"type":"string","format":"duration"}`, "breaking was Text, is Duration", "breaking was Text, is Duration"},
		{"an id", `{"type":"string","minLength":1,"maxLength":255}`, `{"type":"string"}`, "compatible was ID, is Text", "compatible was ID, is Text"},
		{"a bound more", `{"type":"array","items":{}}`, `{"type":"array","items":{},"maxItems":3}`, "breaking has maxItems 3", ""},
		{"a bound tighter", `{"type":"integer","minimum":1,"maximum":9}`, `{"type":"integer","minimum":2,"maximum":8}`,
			"breaking minimum was 1, is 2; breaking maximum was 9, is 8", ""},
		{"a bound looser", `{"type":"integer","minimum":2,"maximum":8}`, `{"type":"integer","minimum":1}`,
			"compatible minimum was 2, is 1; compatible has no maximum any more", ""},
		{"any", `{"type":"string"}`, `{}`, "compatible was Text, is any JSON", "breaking was Text, is any JSON"},
		{"not any more", `{}`, `{"type":"boolean"}`, "breaking was any JSON, is Boolean", "compatible was any JSON, is Boolean"},
		{"a fraction less", `{"type":"number","format":"decimal"}`, `{"type":"integer"}`, "breaking was Decimal, is Number", "compatible was Decimal, is Number"},
		{"null by type", `{"type":"string"}`, `{"type":["string","null"]}`, "compatible takes null", "breaking takes null"},
		{"null by alternative", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}]}`, `{"$ref":"#/components/schemas/A"}`,
			"breaking does not take null any more", "compatible does not take null any more"},
		{"an alternative more", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}]}`,
			`{"oneOf":[{"$ref":"#/components/schemas/B"},{"$ref":"#/components/schemas/A"},{"type":"boolean"}]}`,
			"compatible can be Boolean", "compatible can be Boolean"},
		{"an alternative less", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"},{"$ref":"#/components/schemas/C"}]}`,
			`{"oneOf":[{"$ref":"#/components/schemas/B"},{"$ref":"#/components/schemas/A"}]}`,
			"breaking is never C any more", "compatible is never C any more"},
		{"one alternative only", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}]}`, `{"$ref":"#/components/schemas/A"}`,
			"breaking was one of A, B, is an object", "breaking was one of A, B, is an object"},
		{"a member less in an open object", `{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{}}`,
			"compatible removed", "breaking removed"},
		{"a member less in a closed object", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`,
			`{"type":"object","properties":{},"additionalProperties":false}`, "breaking removed", "breaking removed"},
		{"a member required", `{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`,
			"breaking required, was optional", "compatible required, was optional"},
		{"a member optional", `{"type":"object","properties":{"a":{}},"required":["a"]}`, `{"type":"object","properties":{"a":{}}}`,
			"compatible optional, was required", "breaking optional, was required"},
		{"a set of members needed", `{"type":"object","properties":{"a":{},"b":{}}}`, `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			"breaking needs a, or b", ""},
		{"a set of members more", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]}]}`, `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			"compatible b is enough", ""},
		{"a set of members less", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["a","b"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]}]}`, "breaking b is not enough any more", ""},
		{"no sets any more", `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}]}`, `{"type":"object","properties":{"a":{}}}`,
			"compatible needs no particular members any more", ""},
		{"a member of an object with sets", `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{},"b":{"type":"string"}},"anyOf":[{"required":["a"]}],"additionalProperties":false}`, "compatible added", "compatible added"},
		{"uploads", `{"type":"string","format":"data-url"}`, `{"type":"string","x-format":"file"}`,
			"compatible was File without upload, is File", "breaking was File without upload, is File"},
		{"no uploads any more", `{"type":"string","x-format":"file"}`, `{"type":"string","format":"data-url"}`,
			"breaking was File, is File without upload", "breaking was File, is File without upload"},
		{"what is not known", `{"type":"string","pattern":"a"}`, `{"type":"string","pattern":"b"}`,
			"breaking has other conditions (pattern)", "breaking has other conditions (pattern)"},
		{"a component in itself", `{"$ref":"#/components/schemas/Tree"}`, `{"$ref":"#/components/schemas/Tree"}`,
			"breaking was Text, is Number", "breaking was Text, is Number"},
		{"an object instead of a value", `{"$ref":"#/components/schemas/A"}`, `{"type":"string"}`,
			"breaking was an object, is Text", "breaking was an object, is Text"},
	}
	shared := func(label string) release.Schemas {
		list := release.Schemas{{Name: "Anything", JSON: json.RawMessage("{}")}}
		for _, name := range []string{"A", "B", "C"} {
			list = append(list, release.Schema{Name: name, JSON: json.RawMessage(`{"type":"object","properties":{"` + name + `":{}}}`)})
		}
		return append(list, release.Schema{Name: "Tree", JSON: json.RawMessage(
			`{"type":"object","properties":{"label":{"type":"` + label + `"},"children":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}}}`)})
	}
	compared := func(t *testing.T, test [2]string, asInput bool) string {
		t.Helper()
		var sides [2]*compatibility.Release
		for i, text := range test {
			sides[i] = releaseOf(t, "model A { fields { b Text } actions { list subject() } @permission(expression: true, actions: [list]) }", false)
			sides[i].Manifest.Schemas = append(shared([]string{"string", "integer"}[i]), release.Schema{Name: "Subject", JSON: json.RawMessage(text)})
			if asInput {
				sides[i].Manifest.Actions[0].Input = "Subject"
			} else {
				sides[i].Manifest.Actions[0].Result = "Subject"
			}
		}
		got := ""
		for i, c := range compatibility.Compare(sides[0], sides[1]) {
			if i > 0 {
				got += "; "
			}
			got += string(c.Class) + " " + c.Text
		}
		return got
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			texts := [2]string{test.old, test.new}
			if got := compared(t, texts, true); got != test.input {
				t.Errorf("as an input, from %s to %s: got %q, want %q", test.old, test.new, got, test.input)
			}
			if got := compared(t, texts, false); got != test.want {
				t.Errorf("as a result, from %s to %s: got %q, want %q", test.old, test.new, got, test.want)
			}
		})
	}
}
