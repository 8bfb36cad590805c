package sqlgen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPublishedQueries compares the published query object of every type, for optional and for
// required values, with the operators of the type. All have one form.
func TestPublishedQueries(t *testing.T) {
	t.Parallel()
	const (
		numbers  = "lessThan lessThanOrEquals greaterThan greaterThanOrEquals"
		relative = "beforeRelative afterRelative equalsRelative"
	)
	types := []struct {
		name, value, orNull string // schemas of an operand
		operators           string // in order; a star marks those that may compare with null
	}{
		{"ID", `{"type":"string","minLength":1,"maxLength":255}`, `{"type":["string","null"],"minLength":1,"maxLength":255}`, "equals* notEquals* oneOf"},
		{"Text", `{"type":"string"}`, `{"type":["string","null"]}`, "equals* notEquals* startsWith endsWith contains oneOf"},
		{"Markdown", `{"type":"string","format":"markdown"}`, `{"type":["string","null"],"format":"markdown"}`,
			"equals* notEquals* startsWith endsWith contains oneOf"},
		{"Number", `{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}`,
			`{"type":["integer","null"],"minimum":-9007199254740991,"maximum":9007199254740991}`, "equals* notEquals* " + numbers + " oneOf"},
		{"Decimal", `{"type":"number","format":"decimal"}`, `{"type":["number","null"],"format":"decimal"}`, "equals* notEquals* " + numbers + " oneOf"},
		{"Boolean", `{"type":"boolean"}`, `{"type":["boolean","null"]}`, "equals* notEquals*"},
		{"Date", `{"type":"string","format":"date"}`, `{"type":["string","null"],"format":"date"}`,
			"equals* notEquals* before onOrBefore after onOrAfter " + relative},
		{"Timestamp", `{"type":"string","format":"date-time"}`, "", "before after " + relative},
		{"Duration", `{"type":"string","format":"duration"}`, `{"type":["string","null"],"format":"duration"}`, "equals* notEquals* " + numbers},
		{"Size", `{"$ref":"#/components/schemas/Size"}`, `{"anyOf":[{"$ref":"#/components/schemas/Size"},{"type":"null"}]}`, "equals* notEquals* oneOf"},
	}

	var fields, inputs []string
	for i, k := range types {
		fields = append(fields, fmt.Sprintf("plain%d %[2]s  maybe%[1]d %[2]s?  many%[1]d %[2]s[]  maybeMany%[1]d %[2]s[]?", i, k.name))
		inputs = append(inputs, fmt.Sprintf("plain%d?, maybe%[1]d?, many%[1]d?, maybeMany%[1]d?, parent.plain%[1]d?, children.plain%[1]d?", i))
	}
	m := manifestOf(t, compile(t, "model Thing {\n  fields {\n"+strings.Join(fields, "\n")+`
    parent Thing?
    children Thing[]
  }
  actions {
    list listThings(`+strings.Join(inputs, ", ")+`)
  }
  @permission(expression: true, actions: [list])
}
enum Size { Small Large }`))

	check := func(component, want string) {
		t.Helper()
		var compact bytes.Buffer
		if err := json.Compact(&compact, m.Schemas.Get(component)); err != nil || compact.String() != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", component, compact.String(), err, want)
		}
	}
	object := func(members []string) string {
		return `{"type":"object","properties":{` + strings.Join(members, ",") + `},"minProperties":1,"additionalProperties":false}`
	}
	query := func(value, orNull, operators string) string {
		var members []string
		for _, o := range strings.Fields(operators) {
			name, isNullable := strings.CutSuffix(o, "*")
			schema := value
			switch {
			case name == "oneOf":
				schema = `{"type":"array","items":` + value + `,"maxItems":1000}`
			case strings.HasSuffix(name, "Relative"):
				schema = `{"type":"string","format":"relative-period"}`
			case isNullable:
				schema = orNull
			}
			members = append(members, fmt.Sprintf("%q:%s", name, schema))
		}
		return object(members)
	}
	var names []string
	for i, k := range types {
		inElement := strings.TrimSuffix(k.operators, " oneOf")
		element := fmt.Sprintf(`{"$ref":"#/components/schemas/%sElementQueryInput"}`, k.name)
		array := func(kind string) string {
			whole := `{"type":` + kind + `,"items":` + k.value + `}`
			return object([]string{`"equals":` + whole, `"notEquals":` + whole, `"any":` + element, `"all":` + element})
		}
		check(k.name+"QueryInput", query(k.value, k.value, k.operators))
		check("Nullable"+k.name+"QueryInput", query(k.value, k.orNull, k.operators))
		check(k.name+"ElementQueryInput", query(k.value, k.value, inElement))
		check(k.name+"ArrayQueryInput", array(`"array"`))
		check("Nullable"+k.name+"ArrayQueryInput", array(`["array","null"]`))
		names = append(names, fmt.Sprintf("plain%d", i))
	}

	// The query object of a path: below an optional to-one every value may be null; a child below a
	// to-many exists.
	refs := func(component string) map[string]string {
		var read struct {
			Properties map[string]struct {
				Ref string `json:"$ref"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(m.Schemas.Get(component), &read); err != nil {
			t.Fatalf("%s: %v", component, err)
		}
		all := map[string]string{}
		for name, p := range read.Properties {
			all[name] = strings.TrimPrefix(p.Ref, "#/components/schemas/")
		}
		return all
	}
	where, parent, children := refs("ListThingsWhere"), refs("ListThingsParentInput"), refs("ListThingsChildrenInput")
	for i, k := range types {
		got := []string{where[fmt.Sprintf("plain%d", i)], where[fmt.Sprintf("maybe%d", i)], where[fmt.Sprintf("many%d", i)],
			where[fmt.Sprintf("maybeMany%d", i)], parent[names[i]], children[names[i]]}
		want := []string{k.name + "QueryInput", "Nullable" + k.name + "QueryInput", k.name + "ArrayQueryInput",
			"Nullable" + k.name + "ArrayQueryInput", "Nullable" + k.name + "QueryInput", k.name + "QueryInput"}
		if !slices.Equal(got, want) {
			t.Errorf("the inputs of type %s take %q, want %q", k.name, got, want)
		}
	}
}
