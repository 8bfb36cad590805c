package input_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/problem"
	"github.com/sternpost/sternpost/sql/release"
)

// articleSchemas are the schemas of a small schema with an action of each kind.
const articleSchemas = `{
  "Status": {"enum": ["Draft", "Live"]},
  "CreateArticleInput": {
    "type": "object", "additionalProperties": false,
    "properties": {
      "title": {"type": "string"},
      "slug": {"type": "string"},
      "status": {"$ref": "#/components/schemas/Status"},
      "tags": {"type": "array", "items": {"type": "string"}},
      "author": {
        "type": "object", "additionalProperties": false,
        "properties": {"id": {"type": "string", "minLength": 1, "maxLength": 255}},
        "required": ["id"]
      },
      "cover": {"type": ["string", "null"], "x-format": "file", "description": "a data URL or an upload key"}
    },
    "required": ["title", "slug", "status", "tags", "author"]
  }
}`

// compile builds the reader of a component.
func compile(t testing.TB, schemas, name string) *input.Reader {
	t.Helper()
	var list release.Schemas
	if err := json.Unmarshal([]byte(schemas), &list); err != nil {
		t.Fatalf("read the schemas: %v", err)
	}
	r, err := input.Compile(list, name)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return r
}

// problems returns the problems of an error as JSON.
func problems(t *testing.T, err error) string {
	t.Helper()
	var invalid *input.Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("got error %v, want *input.Invalid", err)
	}
	text, err := json.Marshal(invalid.Problems)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// onlyProblem returns the field and the text of the only problem of an error.
func onlyProblem(t *testing.T, err error) string {
	t.Helper()
	var invalid *input.Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
		t.Fatalf("got error %v, want *input.Invalid with one problem", err)
	}
	return invalid.Problems[0].Field + ": " + invalid.Problems[0].Error
}

func TestProblemsStandInDeclarationOrder(t *testing.T) {
	t.Parallel()
	r := compile(t, articleSchemas, "CreateArticleInput")
	body := `{"slug":7,"status":"Gone","tags":["a",null],"author":{"id":"x"},"colour":"red"}`
	_, err := r.Read([]byte(body))
	got := problems(t, err)
	want := `[{"field":"title","code":"required","error":"title is required"},` +
		`{"field":"slug","code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"},` +
		`{"field":"status","code":"enum","params":{"values":["Draft","Live"]},"error":"status must be one of the following: \"Draft\", \"Live\""},` +
		`{"field":"tags.1","code":"type","params":{"expected":"string","given":"null"},"error":"Invalid type. Expected: string, given: null"},` +
		`{"field":"colour","code":"additionalProperty","params":{"name":"colour"},"error":"Additional property colour is not allowed"}]`
	if got != want {
		t.Errorf("read %s\n got %s\nwant %s", body, got, want)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const schemas = `{
	  "X": {
	    "type": "object", "additionalProperties": false,
	    "properties": {
	      "where": {
	        "type": "object", "additionalProperties": false,
	        "properties": {"title": {"$ref": "#/components/schemas/Text"}, "status": {"$ref": "#/components/schemas/Text"}}
	      },
	      "kids": {
	        "type": "array", "maxItems": 3,
	        "items": {
	          "type": ["object", "null"], "additionalProperties": false,
	          "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer"}},
	          "required": ["age", "name"]
	        }
	      },
	      "orderBy": {
	        "type": "array",
	        "items": {
	          "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
	          "properties": {"title": {"enum": ["asc", "desc"]}, "at": {"enum": ["asc", "desc"]}}
	        }
	      },
	      "numbers": {"type": "array", "items": {"type": "integer"}},
	      "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
	    },
	    "required": ["where"]
	  },
	  "Text": {
	    "type": "object", "minProperties": 1, "additionalProperties": false,
	    "properties": {
	      "equals": {"type": ["string", "null"]},
	      "oneOf": {"type": "array", "items": {"type": "string"}, "maxItems": 2}
	    }
	  }
	}`
	r := compile(t, schemas, "X")
	type told struct{ field, error string }
	for _, c := range []struct {
		name, body string
		want       []told
	}{
		{"body of the wrong type", `[]`, []told{{"(root)", "Invalid type. Expected: object, given: array"}}},
		{"body that is null", `null`, []told{{"(root)", "Invalid type. Expected: object, given: null"}}},
		{"empty body", ``, []told{{"where", "where is required"}}},
		{"null for an object", `{"where":null}`, []told{{"where", "Invalid type. Expected: object, given: null"}}},
		{
			"nested paths", `{"where":{"title":{"equals":5}},"kids":[{"name":"a","age":1},{"age":1},null,7]}`,
			[]told{{"where.title.equals", "Invalid type. Expected: [string,null], given: integer"}, {"kids", "Must have at most 3 items"}},
		},
		{
			"missing in an array", `{"where":{},"kids":[{"name":"a","age":1},{"age":1},{}]}`,
			[]told{{"kids.1.name", "name is required"}, {"kids.2.name", "name is required"}, {"kids.2.age", "age is required"}},
		},
		{
			"in the order of declaration, whatever the order sent",
			`{"numbers":["a"],"kids":[{"age":"x","name":""}],"where":{"status":{"oneOf":[1]},"title":{}}}`,
			[]told{
				{"where.title", "Must have at least 1 properties"},
				{"where.status.oneOf.0", "Invalid type. Expected: string, given: integer"},
				{"kids.0.name", "String length must be at least 1"},
				{"kids.0.age", "Invalid type. Expected: integer, given: string"},
				{"numbers.0", "Invalid type. Expected: integer, given: string"},
			},
		},
		{
			"unknown properties last, in the order sent",
			`{"zeta":1,"where":{"x":{"deep":1},"title":{"like":"a"}},"alpha":{"zeta":1},"numbers":7}`,
			[]told{
				{"numbers", "Invalid type. Expected: array, given: integer"},
				{"zeta", "Additional property zeta is not allowed"},
				{"where.x", "Additional property x is not allowed"},
				{"where.title.like", "Additional property like is not allowed"},
				{"alpha", "Additional property alpha is not allowed"},
			},
		},
		{
			"nothing below a problem",
			`{"where":{"title":{"oneOf":[1,2,3]}},"orderBy":[{"title":"up","at":"asc","x":1},{},{"x":1},{"at":"up"}]}`,
			[]told{
				{"where.title.oneOf", "Must have at most 2 items"},
				{"orderBy.0", "Must have at most 1 properties"},
				{"orderBy.1", "Must have at least 1 properties"},
				{"orderBy.3.at", `at must be one of the following: "asc", "desc"`},
				{"orderBy.2.x", "Additional property x is not allowed"},
			},
		},
		{
			"echo of long names is cut", `{"where":{},"` + strings.Repeat("é", 70) + `":1}`,
			[]told{{strings.Repeat("é", 64), "Additional property " + strings.Repeat("é", 64) + " is not allowed"}},
		},
		{
			"names with dots and escapes", `{"where":{},"a.b\n\"":1}`,
			[]told{{"a.b\n\"", "Additional property a.b\n\" is not allowed"}},
		},
		{
			"empty names", `{"where":{"":1},"":1}`,
			[]told{{"where.", `Additional property "" is not allowed`}, {"", `Additional property "" is not allowed`}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Read([]byte(c.body))
			var invalid *input.Invalid
			if !errors.As(err, &invalid) || !slices.EqualFunc(invalid.Problems, c.want, func(p problem.Problem, want told) bool {
				return told{p.Field, p.Error} == want
			}) {
				t.Errorf("read %s\n got %v\nwant %v", c.body, problems(t, err), c.want)
			}
		})
	}

	t.Run("malformed goes first", func(t *testing.T) {
		t.Parallel()
		body := `{"numbers":7,"unknown":1,"where":{"title":{"equals":1,"equals":2}}}`
		_, err := r.Read([]byte(body))
		var malformed *input.Malformed
		if !errors.As(err, &malformed) || malformed.Reason != "duplicate name" {
			t.Errorf("read %s: got %v, want duplicate name", body, err)
		}
	})

	t.Run("at most a hundred", func(t *testing.T) {
		t.Parallel()
		unknown := ""
		for i := range 300 {
			unknown += fmt.Sprintf(`"u%d":1,`, i)
		}
		many := strings.TrimSuffix(strings.Repeat(`"a",`, 300), ",")
		rows := strings.TrimSuffix(strings.Repeat(`[1,2,3,4,5,6,7],`, 300), ",")
		for _, c := range []struct{ body, first, last string }{
			{`{` + unknown + `"where":{}}`, "u0", "u99"},
			{`{` + unknown + `"where":1}`, "where", "u98"},
			{`{` + unknown + `"numbers":[` + many + `],"where":1}`, "where", "numbers.98"},
			{`{"numbers":[1,2,` + many + `],"where":{}}`, "numbers.2", "numbers.101"},
			{`{"matrix":[["a"],` + rows + `],"where":{}}`, "matrix.1.0", "matrix.15.1"},
			{`{"matrix":[` + rows + `],"numbers":[` + many + `],"where":{}}`, "numbers.0", "numbers.99"},
		} {
			_, err := r.Read([]byte(c.body))
			var invalid *input.Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("read %.60s: got %v, want *input.Invalid", c.body, err)
			}
			got := invalid.Problems
			if len(got) != 100 || got[0].Field != c.first || got[99].Field != c.last {
				t.Errorf("read %.60s\n got %d problems, %v\nwant 100, from %s to %s", c.body, len(got), got, c.first, c.last)
			}
		}
	})
}

func TestInvalidMessage(t *testing.T) {
	t.Parallel()
	_, err := compile(t, articleSchemas, "CreateArticleInput").Read([]byte(`{}`))
	if want := "one or more errors found validating request object"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestReadManyProperties(t *testing.T) {
	t.Parallel()
	var properties, required, body []string
	for i := range 200 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		required = append(required, fmt.Sprintf(`"p%d"`, i))
		body = append(body, fmt.Sprintf(`"p%d":%d`, 199-i, i))
	}
	r := compile(t, fmt.Sprintf(`{"X":{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}}`,
		strings.Join(properties, ","), strings.Join(required, ",")), "X")

	all := "{" + strings.Join(body, ",") + "}"
	if in, err := r.Read([]byte(all)); err != nil || string(in.JSON) != all {
		t.Errorf("read %s\n got %s, %v", all, in.JSON, err)
	}
	twice := "{" + strings.Join(body, ",") + `,"p130":1}`
	if _, err := r.Read([]byte(twice)); err == nil || err.Error() != "the input could not be read: duplicate name" {
		t.Errorf("read with p130 twice: got error %v", err)
	}
	_, err := r.Read([]byte("{" + strings.Join(slices.Delete(slices.Clone(body), 199-130, 199-129), ",") + "}"))
	if got, want := problems(t, err), `[{"field":"p130","code":"required","error":"p130 is required"}]`; got != want {
		t.Errorf("read without p130: got %s, want %s", got, want)
	}
}

func TestReadRecursiveComponent(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"Tree":{"type":"object","additionalProperties":false,
	  "properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/components/schemas/Tree"}}},
	  "required":["name"]}}`, "Tree")
	body := `{"name":"a","kids":[{"name":"b","kids":[]},{"kids":[{"name":5}]}]}`
	_, err := r.Read([]byte(body))
	want := `[{"field":"kids.1.name","code":"required","error":"name is required"},` +
		`{"field":"kids.1.kids.0.name","code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"}]`
	if got := problems(t, err); got != want {
		t.Errorf("read %s\n got %s\nwant %s", body, got, want)
	}
}

func TestReadAlternatives(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"X":{"type":"object","additionalProperties":false,
	  "properties":{"where":{"$ref":"#/components/schemas/Where"}},"required":["where"]},
	  "Where":{"type":"object","additionalProperties":false,
	  "properties":{"note":{"type":"string"},"room":{"type":"string"},"day":{"type":"string"},"id":{"type":"string"}},
	  "anyOf":[{"required":["room","day"]},{"required":["id"]}]}}`, "X")
	for _, c := range []struct{ body, want string }{
		{`{"where":{"id":"x"}}`, ""},
		{`{"where":{"day":"x","room":"y"}}`, ""},
		{`{"where":{"day":"x","room":"y","id":"z"}}`, ""},
		{`{"where":{}}`, `[{"field":"where.room","code":"required","error":"room is required"}]`},
		{`{"where":{"day":"x"}}`, `[{"field":"where.room","code":"required","error":"room is required"}]`},
		{`{"where":{"room":"x"}}`, `[{"field":"where.room","code":"required","error":"room is required"}]`},
		{`{"where":{"room":5}}`, `[{"field":"where.room","code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"}]`},
		{`{"where":{"day":5,"note":6}}`, `[{"field":"where.note","code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"},` +
			`{"field":"where.room","code":"required","error":"room is required"},{"field":"where.day","code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"}]`},
	} {
		_, err := r.Read([]byte(c.body))
		if c.want == "" {
			if err != nil {
				t.Errorf("read %s: got error %v, want none", c.body, err)
			}
			continue
		}
		if got := problems(t, err); got != c.want {
			t.Errorf("read %s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}

func TestReadNullableReferences(t *testing.T) {
	t.Parallel()
	r := compile(t, `{"Tree":{"type":"object","additionalProperties":false,"properties":{
	    "left":{"anyOf":[{"$ref":"#/components/schemas/Tree"},{"type":"null"}]},
	    "color":{"anyOf":[{"$ref":"#/components/schemas/Color"},{"type":"null"}]}
	  }},"Color":{"enum":["Red","Black"]}}`, "Tree")
	for _, c := range []struct{ body, want string }{
		{`{"left":{"left":null,"color":"Red"},"color":null}`, ""},
		{`{"left":{"left":5}}`, `[{"field":"left.left","code":"type","params":{"expected":["object","null"],"given":"integer"},"error":"Invalid type. Expected: [object,null], given: integer"}]`},
		{`{"left":null,"color":"Blue"}`, `[{"field":"color","code":"enum","params":{"values":["Red","Black",null]},"error":"color must be one of the following: \"Red\", \"Black\", null"}]`},
	} {
		_, err := r.Read([]byte(c.body))
		if c.want == "" {
			if err != nil {
				t.Errorf("read %s: got error %v, want none", c.body, err)
			}
			continue
		}
		if got := problems(t, err); got != c.want {
			t.Errorf("read %s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
	if _, err := r.Read([]byte(`null`)); err == nil {
		t.Error("read null: the component itself became nullable")
	}
}

func TestReadConcurrently(t *testing.T) {
	t.Parallel()
	r := compile(t, articleSchemas, "CreateArticleInput")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for k := range 200 {
				body := fmt.Sprintf(`{"title":"t\n%d","slug":"%d","status":"Live","tags":["a"],"author":{"id":"x"},"cover":"k%d"}`, k, i, k)
				in, err := r.Read([]byte(body))
				if err != nil || string(in.JSON) != body || in.Places()[0].Text() != fmt.Sprintf("k%d", k) {
					t.Errorf("read %s\n got %s, %v, %v", body, in.JSON, in.Places(), err)
				}
				if _, err := r.Read([]byte(`{"slug":1}`)); err == nil {
					t.Errorf("read an invalid body: no error")
				}
			}
		})
	}
	group.Wait()
}

// TestRows counts the rows of a create and an update: the record, and every object below it but links.
func TestRows(t *testing.T) {
	t.Parallel()
	const values = `{"type":"object","properties":{"name":{"type":"string"},"author":{"type":"object","properties":{"id":{"type":"string"}}},
		"items":{"type":"array","items":{"type":"object","properties":{"what":{"type":"string"},"maker":{"type":"object","properties":{"name":{"type":"string"},"at":{"type":"string"}}},
			"parts":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}}}}}}}`
	const schemas = `{"Create":` + values + `,"Update":{"type":"object","properties":{"where":{"type":"object","properties":{"name":{"type":"string"}}},"values":` + values + `}}}`
	for body, want := range map[string]string{
		`{"author":{"id":"a"},"items":[{},{},{}]}`:              "",
		`{"items":[{},{},{},{"author":{"id":"a"}},{"what":7}]}`: "items.3 Must have at most 4 rows; items.4.what Invalid type. Expected: string, given: integer",
		`{"items":[{"maker":{}},{}]}`:                           "",
		`{"items":[{"maker":{}},{"maker":{}}]}`:                 "items.1.maker Must have at most 4 rows",
		`{"items":[{"parts":[{},{}]}]}`:                         "",
		`{"items":[{"parts":[{},{},{},{}]},{"parts":[{},{}]}]}`: "items.0.parts.2 Must have at most 4 rows",
	} {
		for name, isUpdate := range map[string]bool{"Create": false, "Update": true} {
			r := compile(t, schemas, name)
			r.LimitRows(4, isUpdate)
			sent, wanted := body, want
			if isUpdate {
				sent, wanted = `{"where":{"name":"a"},"values":`+body+`}`, strings.ReplaceAll(want, "items.", "values.items.")
			}
			_, err := r.Read([]byte(sent))
			var got []string
			if invalid := new(input.Invalid); errors.As(err, &invalid) {
				for _, p := range invalid.Problems {
					got = append(got, p.Field+" "+p.Error)
				}
			}
			if strings.Join(got, "; ") != wanted {
				t.Errorf("%s %s: got %q, want %q", name, sent, got, wanted)
			}
		}
	}
}
