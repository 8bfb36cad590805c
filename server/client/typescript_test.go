package client

import (
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sql/release"
)

// TestTypes writes the types of schemas of all forms.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, schema, want string }{
		{"scalars", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]},"c":{"type":"boolean"},"d":{"type":["number","integer"]}},"required":["b"]}`,
			"export interface Thing {\n  a?: string;\n  b: number | null;\n  c?: boolean;\n  d?: number;\n}\n"},
		{"names that are quoted", `{"type":"object","properties":{"x-y":{"type":"string"},"2nd":{"type":"string"},"für":{"type":"string"},"a\"b":{"type":"string"},"default":{"type":"string"}}}`,
			"export interface Thing {\n  \"x-y\"?: string;\n  \"2nd\"?: string;\n  \"für\"?: string;\n  \"a\\\"b\"?: string;\n  default?: string;\n}\n"},
		{"values that are quoted", `{"enum":["a\"b","c\\d",1,true,null]}`, "export type Thing = \"a\\\"b\" | \"c\\\\d\" | 1 | true | null;\n"},
		{"values at run time", `{"type":"string","enum":["A","B"]}`, "export const Thing = [\"A\", \"B\"] as const;\nexport type Thing = (typeof Thing)[number];\n"},
		{"many values", `{"type":["string","null"],"enum":["` + strings.Repeat("x", 60) + `","` + strings.Repeat("y", 60) + `",null]}`,
			"export type Thing =\n  | \"" + strings.Repeat("x", 60) + "\"\n  | \"" + strings.Repeat("y", 60) + "\"\n  | null;\n"},
		{"comments", `{"type":"object","description":"A */ b.\nC.","properties":{"a":{"type":"string","format":"date","description":"D."}}}`,
			"/**\n * A *\\/ b.\n * C.\n */\nexport interface Thing {\n  /**\n   * D.\n   * @format date\n   */\n  a?: string;\n}\n"},
		{"anything", `true`, "export type Thing = unknown;\n"},
		{"nothing at all", `{"type":"object","properties":{},"additionalProperties":false}`, "export type Thing = { [name: string]: never };\n"},
		{"an object or null", `{"type":["object","null"],"properties":{"a":{"type":"string"}},"additionalProperties":false}`, "export type Thing = {\n  a?: string;\n} | null;\n"},
		{"names that nobody knows", `{"type":"object","additionalProperties":{"type":"integer"}}`, "export interface Thing {\n  [name: string]: number;\n}\n"},
		{"lists", `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/Other"},{"type":"null"}]}},"b":{"type":["array","null"],"items":{"type":"string"}}}}`,
			"export interface Thing {\n  a?: (Other | null)[];\n  b?: string[] | null;\n}\n"},
		{"all of several", `{"allOf":[{"$ref":"#/components/schemas/Other"},{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}]}`,
			"export type Thing = Other & {\n  a: string;\n};\n"},
		{"one of several sets", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"integer"}},"anyOf":[{"required":["a"]},{"required":["b","c"]}],"additionalProperties":false}`,
			"export type Thing = {\n  a?: string;\n  b?: string;\n  c?: number;\n} & ({ a: string } | { b: string; c: number });\n"},
		{"exactly one property", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"minProperties":1,"maxProperties":1,"additionalProperties":false}`,
			"export type Thing = ExactlyOne<{\n  a?: string;\n  b?: string;\n}>;\n"},
		{"facets beside results", `{"type":"object","properties":{"results":{"type":"array","items":{"$ref":"#/components/schemas/Other"}},
			"resultInfo":{"type":"object","properties":{"price":{"type":"object","properties":{"min":{"type":["number","null"]}},"required":["min"]},
			"kind":{"type":"array","items":{"type":"object","properties":{"value":{"type":["string","null"]},"count":{"type":"integer"}},"required":["value","count"]}}},
			"required":["price","kind"]}},"required":["results","resultInfo"]}`,
			"export interface Thing {\n  results: Other[];\n  resultInfo: {\n    price: {\n      min: number | null;\n    };\n    kind: {\n      value: string | null;\n      count: number;\n    }[];\n  };\n}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			schemas := release.Schemas{{Name: "Thing", JSON: []byte(test.schema)}, {Name: "Other", JSON: []byte(`{"type":"object"}`)}}
			written := types{names: typeNames(schemas, "ApiClient"), schemas: schemas}
			if err := written.declare(schemas[0]); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(written.String(), "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestFieldPaths writes the paths of inputs as problems name them: rows of a call of many are in brackets, other elements
// are behind a dot.
func TestFieldPaths(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},
		"labels":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}}}}}}}`
	for _, test := range []struct {
		hasRows bool
		want    string
	}{
		{true, "\"rows\" `rows[${number}]` `rows[${number}].sku` `rows[${number}].labels` `rows[${number}].labels.${number}` `rows[${number}].labels.${number}.text`"},
		{false, "\"rows\" `rows.${number}` `rows.${number}.sku` `rows.${number}.labels` `rows.${number}.labels.${number}` `rows.${number}.labels.${number}.text`"},
	} {
		schemas := release.Schemas{{Name: "Thing", JSON: []byte(schema)}}
		root, err := schemas.Read("Thing")
		if err != nil {
			t.Fatal(err)
		}
		f := fieldPaths{types: &types{schemas: schemas}, hasRows: test.hasRows}
		if err := f.add(root, ""); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.paths, " "); got != test.want {
			t.Errorf("with rows %t: got\n%s\nwant\n%s", test.hasRows, got, test.want)
		}
	}
}

// TestWays finds which inputs may be given together.
func TestWays(t *testing.T) {
	t.Parallel()
	never := func(names ...string) *release.JSONSchema {
		var properties release.Properties
		for _, name := range names {
			properties = properties.With(name, release.Never())
		}
		return release.Anything().With("properties", properties)
	}
	text := release.Typed("string")
	s := release.ObjectOf(release.Properties{}.With("where", text).With("a", text).With("b", text).With("c", text)).
		With("dependentSchemas", release.Properties{}.With("a", never("b")).With("c", release.Anything().Requiring("b")))
	w := &types{}
	got := w.wayText(waysOf(s))
	want := "\n  | { a?: string; b?: never; c?: never }\n  | { a?: never; b: string; c?: string }"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	odd := release.ObjectOf(release.Properties{}.With("a", text)).With("dependentSchemas", release.Properties{}.With("a", text))
	odd.Dependent[0].Schema = release.ObjectOf(release.Properties{}.With("b", text))
	if waysOf(odd) != nil {
		t.Error("a rule that is none of presence is taken for one")
	}
}

// TestNames avoids the names of the runtime and of the language.
func TestNames(t *testing.T) {
	t.Parallel()
	schemas := release.Schemas{{Name: "Promise"}, {Name: "Promise2"}, {Name: "ApiError"}, {Name: "AsyncIterable"}, {Name: "Customer"}, {Name: "SignIns"}, {Name: "TabletClient"}, {Name: "File"}}
	names := typeNames(schemas, "TabletClient")
	for name, want := range map[string]string{
		"Promise": "Promise3", "Promise2": "Promise2", "ApiError": "ApiError2", "AsyncIterable": "AsyncIterable2",
		"Customer": "Customer", "SignIns": "SignIns2", "TabletClient": "TabletClient2", "File": "StoredFile",
	} {
		if names[name] != want {
			t.Errorf("%s: got %s, want %s", name, names[name], want)
		}
	}
	api := &release.API{Actions: []string{"signIn", "signIn_"}}
	if got := memberName("signIn", api); got != "signIn__" {
		t.Errorf("signIn beside such actions: got %s", got)
	}
}

// TestTypeScriptFaults refuses manifests that do not hold together.
func TestTypeScriptFaults(t *testing.T) {
	t.Parallel()
	m := &release.Manifest{Actions: []*release.Action{{Name: "getBread", Kind: release.Get, Input: "Gone"}}}
	if _, err := TypeScript(m, &release.API{Name: "Api", Actions: []string{"getBread"}}); err == nil || !strings.Contains(err.Error(), "there is no component Gone") {
		t.Errorf("a component that is not there: got %v", err)
	}
	if _, err := TypeScript(m, &release.API{Name: "Api", Actions: []string{"gone"}}); err == nil || !strings.Contains(err.Error(), "unknown action gone") {
		t.Errorf("an action that is not there: got %v", err)
	}
}
