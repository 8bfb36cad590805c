package release

import (
	"reflect"
	"testing"
)

// TestWriteJSONSchema writes schemas, whose keywords keep their order, and reads them back unchanged.
func TestWriteJSONSchema(t *testing.T) {
	t.Parallel()
	properties := Properties{}.
		With("b", TypedOrNull("string", true).AtMost("maxLength", 9).AtMost("maxLength", 12).AtMost("maxLength", 7).AtMost("maxLength", 0)).
		With("a", OneOf(RefTo("A"), Typed("null")).Described("").Described("low").Described("high")).
		With("c", ArrayOf(Anything())).
		With("d", Never())
	for want, s := range map[string]*JSONSchema{
		`{}`:    Anything(),
		`false`: Never(),
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`:    AnyOf(Typed("string"), TypedOrNull("null", false)),
		`{"allOf":[{"$ref":"#/components/schemas/A"}]}`:    AllOf(RefTo("A")),
		`{"type":["object","null"],"minimum":2,"title":1}`: Typed("object").With("minimum", 1).With("title", 1).With("minimum", 2).With("type", []string{"object", "null"}),
		`{"type":"object","properties":{"b":{"type":["string","null"],"maxLength":7},` +
			`"a":{"oneOf":[{"$ref":"#/components/schemas/A"},{"type":"null"}],"description":"high\n\nlow"},` +
			`"c":{"type":"array","items":{}},"d":false},"required":["b","c"],"additionalProperties":false}`: ObjectOf(properties).Requiring("b", "c").Closed(),
	} {
		if got := string(s.Text()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		read, err := ReadJSONSchema(s.Text())
		if err != nil || !reflect.DeepEqual(read, s) {
			t.Errorf("%s: read back as %+v, %v, want %+v", want, read, err, s)
		}
	}
}
