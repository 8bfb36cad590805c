package input_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/sternpost/sternpost/server/input"
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

func TestProblemsStandInDeclarationOrder(t *testing.T) {
	t.Parallel()
	r := compile(t, articleSchemas, "CreateArticleInput")
	body := `{"slug":7,"status":"Gone","tags":["a",null],"author":{"id":"x"},"colour":"red"}`
	_, err := r.Read([]byte(body))
	got := problems(t, err)
	want := `[{"field":"title","error":"title is required"},` +
		`{"field":"slug","error":"Invalid type. Expected: string, given: integer"},` +
		`{"field":"status","error":"status must be one of the following: \"Draft\", \"Live\""},` +
		`{"field":"tags.1","error":"Invalid type. Expected: string, given: null"},` +
		`{"field":"colour","error":"Additional property colour is not allowed"}]`
	if got != want {
		t.Errorf("read %s\n got %s\nwant %s", body, got, want)
	}
}
