package docs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// TestDocsSamples writes samples that fit their schemas.
func TestDocsSamples(t *testing.T) {
	t.Parallel()
	const query = `{"type":"object","properties":{"equals":{"$ref":"#/components/schemas/Kind"},"notEquals":{"$ref":"#/components/schemas/Kind"}},"minProperties":1,"additionalProperties":false}`
	list := `{"type":"object","additionalProperties":false,"properties":{"where":{"type":"object","additionalProperties":false,"properties":{"title":` +
		`{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"equals":{"type":"string"},"contains":{"type":"string"}}}}},` +
		`"first":{"type":"integer","minimum":1,"maximum":1000},"last":{"type":"integer","minimum":1,"maximum":1000},` +
		`"after":{"type":"string"},"before":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":1000},` +
		`"offset":{"type":"integer","minimum":0,"maximum":1000000},"totalCount":{"type":"boolean"}},` +
		`"dependentSchemas":{"first":{"properties":{"limit":false,"offset":false,"last":false,"before":false}},` +
		`"last":{"properties":{"limit":false,"offset":false,"after":false}},"after":{"properties":{"limit":false,"offset":false,"before":false}},` +
		`"before":{"properties":{"limit":false,"offset":false}},"offset":{"required":["limit"]}}}`
	for _, test := range []struct{ schema, least, full string }{
		{`{"type":"object","properties":{"name":{"type":"string"},"at":{"type":["string","null"],"format":"date-time"}},"required":["name"],"additionalProperties":false}`,
			`{"name":"name"}`, `{"name":"name","at":"2026-03-31T09:00:00Z"}`},
		{`{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":255},"kind":{"anyOf":[{"$ref":"#/components/schemas/Kind"},{"type":"null"}]}},"additionalProperties":false}`,
			`{}`, `{"id":"…","kind":"Rye"}`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"required":["a"]}],"additionalProperties":false}`,
			`{"b":"b"}`, `{"a":"a","b":"b"}`},
		{`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/components/schemas/X"},"minItems":1}},"required":[],"additionalProperties":false}`,
			`{}`, `{"kids":[{"kids":[{"kids":[{}]}]}]}`},
		{`{"type":"object","properties":{"days":{"type":"array","items":{"type":"string","format":"date"}},"sum":{"type":"number","format":"decimal"},"is":{"type":"boolean"},"long":{"type":"string","format":"duration"}},"required":["days"],"additionalProperties":false}`,
			`{"days":[]}`, `{"days":["2026-03-31"],"sum":1.5,"is":true,"long":"PT1H30M"}`},
		{`{"type":"object","properties":{"where":{"type":"object","properties":{"kind":{"$ref":"#/components/schemas/KindQueryInput"}},"required":["kind"],"additionalProperties":false}},"required":["where"],"additionalProperties":false}`,
			`{"where":{"kind":{"equals":"Rye"}}}`, `{"where":{"kind":{"equals":"Rye"}}}`},
		{`{"type":"object","properties":{"image":{"type":"string","x-format":"file"}},"required":["image"],"additionalProperties":false}`,
			`{"image":"data:text/plain;name=hello.txt;base64,aGVsbG8="}`, `{"image":"data:text/plain;name=hello.txt;base64,aGVsbG8="}`},
		{list, `{}`, `{"where":{"title":{"equals":"equals","contains":"contains"}},"first":10,"totalCount":true}`},
		{`{}`, `{}`, `{}`},
	} {
		schemas := release.Schemas{
			{Name: "X", JSON: json.RawMessage(test.schema)},
			{Name: "Kind", JSON: json.RawMessage(`{"type":"string","enum":["Rye","Oat"]}`)},
			{Name: "KindQueryInput", JSON: json.RawMessage(query)},
		}
		reader, err := input.Compile(schemas, "X")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			all  bool
			want string
		}{{false, test.least}, {true, test.full}} {
			got := schemaReader{schemas}.sample("X", s.all)
			if compact := strings.Join(strings.Fields(got), ""); compact != s.want {
				t.Errorf("%s (all: %t)\n got %s\nwant %s", test.schema, s.all, compact, s.want)
			}
			if _, err := reader.Read([]byte(got)); err != nil {
				t.Errorf("%s (all: %t)\n got %s, which is refused: %v", test.schema, s.all, got, err)
			}
		}
	}
}

func TestDocsInputs(t *testing.T) {
	t.Parallel()
	schemas := release.Schemas{
		{Name: "X", JSON: json.RawMessage(`{"type":"object","properties":{
			"where":{"$ref":"#/components/schemas/Where"},
			"id":{"type":"string","minLength":1,"maxLength":255,"description":"which one"},
			"kinds":{"type":"array","items":{"$ref":"#/components/schemas/Kind"}},
			"price":{"type":["number","null"],"format":"decimal"},
			"note":{"$ref":"#/components/schemas/Kind","description":"a kind"},
			"lines":{"type":"array","items":{"$ref":"#/components/schemas/Line"},"description":"in order"},
			"any":{}},"required":["id"]}`)},
		{Name: "Line", JSON: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"below":{"type":"array","items":{"$ref":"#/components/schemas/Line"}}},"required":["text"]}`)},
		{Name: "Where", JSON: json.RawMessage(`{"type":"object","properties":{"text":{"$ref":"#/components/schemas/TextQueryInput"}},"required":["text"]}`)},
		{Name: "TextQueryInput", JSON: json.RawMessage(`{"type":"object","minProperties":1,"properties":{"equals":{"type":"string"},"oneOf":{"type":"array"}}}`)},
		{Name: "Kind", JSON: json.RawMessage(`{"type":"string","enum":["Rye","Oat"],"description":"what it is"}`)},
	}
	r := schemaReader{schemas}
	got := r.rows(r.component("X"), "", "X")
	want := []memberRow{
		{Path: "where.text", Type: "filter: equals, oneOf", Required: true},
		{Path: "id", Type: "id", Doc: "which one", Required: true},
		{Path: "kinds", Type: "list of Rye | Oat"},
		{Path: "price", Type: "decimal or null"},
		{Path: "note", Type: "Rye | Oat", Doc: "a kind"},
		{Path: "lines[].text", Type: "text", Required: true},
		{Path: "lines[].below", Type: "list of object"},
		{Path: "any", Type: "any JSON"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

// TestListSample writes samples of lists: a first page, in an order of one field.
func TestListSample(t *testing.T) {
	t.Parallel()
	const order = `"orderBy":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string","enum":["asc","desc"]},` +
		`"at":{"type":"string","enum":["asc","desc"]}},"minProperties":1,"maxProperties":1,"additionalProperties":false},"maxItems":2}`
	const where = `"where":{"type":"object","properties":{"title":{"type":"object","properties":{"equals":{"type":"string"}},"minProperties":1}},"required":["title"]}`
	for _, test := range []struct{ schema, want string }{
		{`{"type":"object","properties":{` + where + `,"first":{"type":"integer"},"after":{"type":"string"},` + order + `},"additionalProperties":false}`,
			`{"first":10,"orderBy":[{"title":"asc"}]}`},
		{`{"type":"object","properties":{` + where + `,"first":{"type":"integer"}},"required":["where"],"additionalProperties":false}`,
			`{"where":{"title":{"equals":"equals"}},"first":10}`},
		{`{"type":"object","properties":{` + order + `},"additionalProperties":false}`, `{"orderBy":[{"title":"asc"}]}`},
	} {
		schemas := release.Schemas{{Name: "X", JSON: json.RawMessage(test.schema)}}
		got := schemaReader{schemas}.listSample("X")
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.schema, got, test.want)
		}
		reader, err := input.Compile(schemas, "X")
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range []string{got, schemaReader{schemas}.sample("X", true), schemaReader{schemas}.sample("X", false)} {
			if _, err := reader.Read([]byte(sample)); err != nil {
				t.Errorf("%s\n got %s, which is refused: %v", test.schema, sample, err)
			}
		}
	}
}

// TestForm describes a field for each input, with the limits of files.
func TestForm(t *testing.T) {
	t.Parallel()
	schemas := release.Schemas{
		{Name: "In", JSON: json.RawMessage(`{"type":"object","properties":{"where":{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":255}},"required":["id"]},` +
			`"values":{"type":"object","properties":{"cover":{"type":["string","null"],"x-format":"file"},"pages":{"type":"array","items":{"type":"string","x-format":"file"},"maxItems":3},` +
			`"kind":{"$ref":"#/components/schemas/Kind"},"body":{"type":"string","format":"markdown"},"count":{"type":"integer"},"again":{"$ref":"#/components/schemas/In"}},"required":["kind"]}},"required":["where"]}`)},
		{Name: "Kind", JSON: json.RawMessage(`{"type":"string","enum":["Rye","Oat"]}`)},
	}
	a := &release.Action{Input: "In",
		Files:  []release.FileInput{{Name: "cover", Path: "values.cover", Accepts: []string{"image/*"}, MaxSize: 5000000}},
		Inline: []release.FileInput{{Name: "pages", Path: "values.pages", MaxSize: 7}}}
	got, err := formReader{schemaReader{schemas}, a}.form()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"object","members":[{"name":"where","kind":"object","required":true,"members":[{"name":"id","kind":"id","type":"id","required":true}]},` +
		`{"name":"values","kind":"object","members":[{"name":"cover","kind":"file","type":"file or null","nullable":true,"accepts":["image/*"],"maxSize":5000000,"upload":"cover"},` +
		`{"name":"pages","kind":"list","type":"list of file","item":{"kind":"file","type":"file","maxSize":7},"most":3},` +
		`{"name":"kind","kind":"enum","type":"Rye | Oat","required":true,"values":["Rye","Oat"]},{"name":"body","kind":"lines","type":"markdown"},` +
		`{"name":"count","kind":"integer","type":"integer"},{"name":"again","kind":"json","type":"object"}]}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
