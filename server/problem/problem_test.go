package problem_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/problem"
)

// TestProblems writes a problem of each kind as JSON, and compares its params with what the kinds say.
func TestProblems(t *testing.T) {
	t.Parallel()
	kinds := map[problem.Code]problem.Kind{}
	for _, k := range problem.Kinds() {
		kinds[k.Code] = k
	}
	for _, c := range []struct {
		problem problem.Problem
		want    string
	}{
		{problem.Required("title").At("values.title"), `{"field":"values.title","code":"required","error":"title is required"}`},
		{problem.Type([]string{"string"}, "integer"), `{"code":"type","params":{"expected":"string","given":"integer"},"error":"Invalid type. Expected: string, given: integer"}`},
		{problem.Type([]string{"string", "null"}, "integer"), `{"code":"type","params":{"expected":["string","null"],"given":"integer"},"error":"Invalid type. Expected: [string,null], given: integer"}`},
		{problem.Enum("state", []string{"Open"}, true), `{"code":"enum","params":{"values":["Open",null]},"error":"state must be one of the following: \"Open\", null"}`},
		{problem.Format("date"), `{"code":"format","params":{"format":"date"},"error":"Does not match format 'date'"}`},
		{problem.Minimum("0.5"), `{"code":"minimum","params":{"limit":0.5},"error":"Must be greater than or equal to 0.5"}`},
		{problem.Maximum("9007199254740991"), `{"code":"maximum","params":{"limit":9007199254740991},"error":"Must be less than or equal to 9007199254740991"}`},
		{problem.MinLength(1, ""), `{"code":"minLength","params":{"limit":1},"error":"String length must be at least 1"}`},
		{problem.MaxLength(1024, "bytes"), `{"code":"maxLength","params":{"limit":1024},"error":"String length must be at most 1024 bytes"}`},
		{problem.NotBlank(), `{"code":"notBlank","error":"must not be blank"}`},
		{problem.Pattern(""), `{"code":"pattern","error":"does not match the pattern"}`},
		{problem.Pattern("two letters"), `{"code":"pattern","error":"two letters"}`},
		{problem.MinItems(1), `{"code":"minItems","params":{"limit":1},"error":"Must have at least 1 items"}`},
		{problem.MaxItems(9), `{"code":"maxItems","params":{"limit":9},"error":"Must have at most 9 items"}`},
		{problem.MinProperties(1), `{"code":"minProperties","params":{"limit":1},"error":"Must have at least 1 properties"}`},
		{problem.MaxProperties(1), `{"code":"maxProperties","params":{"limit":1},"error":"Must have at most 1 properties"}`},
		{problem.AdditionalProperty("<b>"), `{"code":"additionalProperty","params":{"name":"<b>"},"error":"Additional property <b> is not allowed"}`},
		{problem.AdditionalProperty(""), `{"code":"additionalProperty","params":{"name":""},"error":"Additional property \"\" is not allowed"}`},
		{problem.MaxRows(10), `{"code":"maxRows","params":{"limit":10},"error":"Must have at most 10 rows"}`},
		{problem.Excludes("first"), `{"code":"excludes","params":{"name":"first"},"error":"cannot be used with first"}`},
		{problem.Needs("limit"), `{"code":"needs","params":{"name":"limit"},"error":"needs limit"}`},
		{problem.Cursor(), `{"code":"cursor","error":"is not a cursor of this list"}`},
		{problem.Upload("is not an upload key"), `{"code":"upload","error":"is not an upload key"}`},
		{problem.ContentType("text/csv", []string{"image/*"}), `{"code":"contentType","params":{"given":"text/csv","accepted":["image/*"]},"error":"content type text/csv is not accepted"}`},
		{problem.MaxSize(10), `{"code":"maxSize","params":{"limit":10},"error":"must be at most 10 bytes"}`},
		{problem.Null(), `{"code":"null","error":"cannot be null"}`},
		{problem.NoCaller("person"), `{"code":"noCaller","params":{"name":"person"},"error":"the caller has no person"}`},
		{problem.Unique([]string{"slug"}), `{"code":"unique","params":{"fields":["slug"]},"error":"must be unique"}`},
		{problem.Unique([]string{"shelf", "place"}), `{"code":"unique","params":{"fields":["shelf","place"]},"error":"(shelf, place) must be unique"}`},
		{problem.Range(), `{"code":"range","error":"is out of range"}`},
		{problem.Reference(), `{"code":"reference","error":"does not exist"}`},
		{problem.Restrict(), `{"code":"restrict","error":"is still referenced"}`},
		{problem.Indexed(), `{"code":"indexed","error":"is too long for an index"}`},
		{problem.Validate("no"), `{"code":"validate","error":"no"}`},
		{problem.Incorrect("is not the code"), `{"code":"incorrect","error":"is not the code"}`},
	} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(c.problem); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(b.String()); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		kind, ok := kinds[c.problem.Code]
		if !ok {
			t.Errorf("%s is not among the kinds", c.problem.Code)
		}
		params := map[string]any{}
		if c.problem.Params != "" {
			if err := json.Unmarshal([]byte(c.problem.Params), &params); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for _, p := range kind.Params {
			want = append(want, p.Name)
		}
		if got := slices.Sorted(maps.Keys(params)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: got the params %v, want %v", c.problem.Code, got, want)
		}
	}
}
