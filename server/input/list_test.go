package input_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pagingProperties and pagingRules are published for every list.
const (
	pagingProperties = `
	  "first": {"type": "integer", "minimum": 1, "maximum": 1000},
	  "after": {"type": "string"},
	  "last": {"type": "integer", "minimum": 1, "maximum": 1000},
	  "before": {"type": "string"},
	  "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
	  "offset": {"type": "integer", "minimum": 0, "maximum": 1000000},
	  "totalCount": {"type": "boolean", "default": false}`
	pagingRules = `{
	  "first": {"properties": {"limit": false, "offset": false, "last": false, "before": false}},
	  "last": {"properties": {"limit": false, "offset": false, "after": false}},
	  "after": {"properties": {"limit": false, "offset": false, "before": false}},
	  "before": {"properties": {"limit": false, "offset": false}},
	  "offset": {"required": ["limit"]}
	}`
	listSchemas = `{
	  "ListArticlesInput": {
	    "type": "object", "additionalProperties": false,
	    "properties": {
	      "where": {"$ref": "#/components/schemas/ListArticlesWhere"},` + pagingProperties + `,
	      "orderBy": {"type": "array", "items": {
	        "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
	        "properties": {"title": {"enum": ["asc", "desc"]}}
	      }}
	    },
	    "dependentSchemas": ` + pagingRules + `
	  },
	  "ListArticlesWhere": {
	    "type": "object", "additionalProperties": false,
	    "properties": {
	      "title": {"$ref": "#/components/schemas/TextQueryInput"},
	      "summary": {"$ref": "#/components/schemas/TextQueryInput"},
	      "tags": {
	        "type": "object", "minProperties": 1, "additionalProperties": false,
	        "properties": {
	          "equals": {"type": ["array", "null"], "items": {"type": "string"}},
	          "any": {"type": "object", "minProperties": 1, "additionalProperties": false, "properties": {"startsWith": {"type": "string"}}}
	        }
	      },
	      "author": {
	        "type": "object", "minProperties": 1, "additionalProperties": false,
	        "properties": {"id": {"$ref": "#/components/schemas/TextQueryInput"}, "name": {"$ref": "#/components/schemas/TextQueryInput"}}
	      },
	      "since": {"type": "string", "format": "date"},
	      "ids": {"type": "array", "items": {"type": "string"}}
	    }
	  },
	  "TextQueryInput": {
	    "type": "object", "minProperties": 1, "additionalProperties": false,
	    "properties": {
	      "equals": {"type": ["string", "null"]}, "notEquals": {"type": ["string", "null"]}, "startsWith": {"type": "string"},
	      "oneOf": {"type": "array", "items": {"type": "string"}, "maxItems": 1000}
	    }
	  }
	}`
)

func TestPagingCombinations(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	for _, c := range []struct{ body, field, problem string }{
		{`{}`, "", ""},
		{`{"after":"c"}`, "", ""},
		{`{"first":2}`, "", ""},
		{`{"first":2,"after":"c"}`, "", ""},
		{`{"last":2}`, "", ""},
		{`{"last":2,"before":"c"}`, "", ""},
		{`{"before":"c"}`, "", ""},
		{`{"limit":2}`, "", ""},
		{`{"limit":2,"offset":0}`, "", ""},

		{`{"first":2,"limit":2}`, "first", "cannot be used with limit"},
		{`{"last":2,"limit":2}`, "last", "cannot be used with limit"},
		{`{"after":"c","limit":2}`, "after", "cannot be used with limit"},
		{`{"before":"c","limit":2}`, "before", "cannot be used with limit"},
		{`{"limit":2,"offset":0,"before":"c","first":2}`, "first", "cannot be used with limit"},
		{`{"after":"c","offset":0}`, "after", "cannot be used with limit"},
		{`{"offset":0}`, "offset", "needs limit"},
		{`{"first":2,"last":2}`, "last", "cannot be used with first"},
		{`{"first":2,"last":2,"after":"c","before":"d"}`, "last", "cannot be used with first"},
		{`{"after":"c","before":"d"}`, "before", "cannot be used with after"},
		{`{"first":2,"after":"c","before":"d"}`, "before", "cannot be used with after"},
		{`{"last":2,"after":"c","before":"d"}`, "before", "cannot be used with after"},
		{`{"first":2,"before":"c"}`, "before", "cannot be used with first"},
		{`{"last":2,"after":"c"}`, "after", "cannot be used with last"},

		{`{"first":0}`, "first", "Must be greater than or equal to 1"},
		{`{"first":1001}`, "first", "Must be less than or equal to 1000"},
		{`{"first":null}`, "first", "Invalid type. Expected: integer, given: null"},
		{`{"limit":2,"offset":1000001}`, "offset", "Must be less than or equal to 1000000"},
		{`{"totalCount":1}`, "totalCount", "Invalid type. Expected: boolean, given: integer"},
		{`{"first":2,"last":"x"}`, "last", "Invalid type. Expected: integer, given: string"},
	} {
		_, err := r.Read([]byte(c.body))
		if c.problem == "" {
			if err != nil {
				t.Errorf("read %s: got error %v, want none", c.body, err)
			}
			continue
		}
		want := c.field + ": " + c.problem
		if got := onlyProblem(t, err); got != want {
			t.Errorf("read %s\n got %s\nwant %s", c.body, got, want)
		}
	}
}

func TestPagingProblemStandsInItsPlace(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	body := `{"orderBy":5,"last":2,"first":2,"where":7}`
	_, err := r.Read([]byte(body))
	want := `[{"field":"where","code":"type","params":{"expected":"object","given":"integer"},"error":"Invalid type. Expected: object, given: integer"},` +
		`{"field":"last","code":"excludes","params":{"name":"first"},"error":"cannot be used with first"},` +
		`{"field":"orderBy","code":"type","params":{"expected":"array","given":"integer"},"error":"Invalid type. Expected: array, given: integer"}]`
	if got := problems(t, err); got != want {
		t.Errorf("read %s\n got %s\nwant %s", body, got, want)
	}
}

func TestPagingRulesAgreeWithThePublishedSchema(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	published := published(t, listSchemas, "ListArticlesInput")
	inputs := []string{`"first":1`, `"last":1`, `"after":"a"`, `"before":"b"`, `"limit":1`, `"offset":1`}
	for set := range 1 << len(inputs) {
		var members []string
		for i, m := range inputs {
			if set>>i&1 != 0 {
				members = append(members, m)
			}
		}
		body := "{" + strings.Join(members, ",") + "}"
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, got := r.Read([]byte(body))
		if want := published.Validate(value); (got == nil) != (want == nil) {
			t.Errorf("read %s\n got error %v\nwant as the schema says: %v", body, got, want)
		}
	}
}

func TestOperatorSet(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	for _, c := range []struct{ body, want string }{
		{`{}`, ""},
		{`{"where":{}}`, ""},
		{`{"where":{"title":{"equals":"a"}}}`, "title.equals"},
		{`{"where":{"title":{"equals":null}}}`, "title.equals:null"},
		{`{"where":{"title":{"notEquals":null,"startsWith":"null"}}}`, "title.notEquals:null,title.startsWith"},
		{`{"where":{"title":{"startsWith":"a"},"author":{"id":{"equals":"x"}}}}`, "author.id.equals,title.startsWith"},
		{`{"where":{"summary":{"equals":"a"},"title":{"oneOf":["a",""]}}}`, "summary.equals,title.oneOf"},
		{`{"where":{"tags":{"any":{"startsWith":"a"},"equals":["x"]}}}`, "tags.any.startsWith,tags.equals"},
		{`{"where":{"since":"2026-01-01","ids":[],"title":{"equals":"a"}}}`, "ids,since,title.equals"},
		{`{"where":{"title": {"equals" :  null } } , "first" : 3}`, "title.equals:null"},
	} {
		in, err := r.Read([]byte(c.body))
		if err != nil {
			t.Errorf("read %s: %v", c.body, err)
			continue
		}
		if got := in.OperatorSet(); got != c.want {
			t.Errorf("operators of %s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
}

func TestPlainPage(t *testing.T) {
	t.Parallel()
	r := compile(t, listSchemas, "ListArticlesInput")
	for _, c := range []struct {
		body string
		want bool
	}{
		{`{}`, true},
		{`{"where":{"title":{"equals":"a"}}}`, true},
		{`{"first":2}`, true},
		{`{"after":"c","first":2}`, true},
		{`{"last":2}`, false},
		{`{"before":"c"}`, false},
		{`{"limit":2}`, false},
		{`{"limit":2,"offset":0}`, false},
		{`{"orderBy":[{"title":"asc"}]}`, false},
		{`{"totalCount":true}`, false},
	} {
		in, err := r.Read([]byte(c.body))
		if err != nil {
			t.Errorf("read %s: %v", c.body, err)
			continue
		}
		if got := in.PlainPage(); got != c.want {
			t.Errorf("plain page of %s: got %t, want %t", c.body, got, c.want)
		}
	}

	in, err := compile(t, articleSchemas, "CreateArticleInput").Read(
		[]byte(`{"title":"a","slug":"a","status":"Live","tags":[],"author":{"id":"x"}}`))
	if err != nil || in.PlainPage() || in.OperatorSet() != "" {
		t.Errorf("a create: got page %t, operators %q, %v, want neither", in.PlainPage(), in.OperatorSet(), err)
	}
}
