package input_test

import (
	"testing"

	"github.com/sternpost/sternpost/server/input"
)

func TestReadQuery(t *testing.T) {
	t.Parallel()
	lists := compile(t, listSchemas, "ListArticlesInput")
	get := compile(t, `{"GetInput":{"type":"object","additionalProperties":false,"properties":{
	  "slug":{"type":"string"},"nick":{"type":["string","null"]},"status":{"enum":["Draft","Live"]},"at":{"type":"string","format":"date-time"},
	  "count":{"type":"integer"},"price":{"type":"number","format":"decimal"},"flag":{"type":"boolean"},"any":true
	}}}`, "GetInput")
	for _, c := range []struct {
		reader      *input.Reader
		query, want string
	}{
		{get, "", `{}`},
		{get, "&&", `{}`},
		{get, "slug=knots", `{"slug":"knots"}`},
		{get, "slug=", `{"slug":""}`},
		{get, "slug", `{"slug":""}`},
		{get, "slug=5&nick=null", `{"slug":"5","nick":"null"}`},
		{get, "slug=a%20b+c%2Bd%22%5C%0A", `{"slug":"a b c+d\"\\\n"}`},
		{get, "sl%75g=a=b", `{"slug":"a=b"}`},
		{get, "slug=a;nick=b", `{"slug":"a;nick=b"}`},
		{get, "status=Live&at=2026-03-31T23:40:10%2B02:00", `{"status":"Live","at":"2026-03-31T21:40:10.000Z"}`},
		{get, "count=5.0&price=1e2&flag=true", `{"count":5,"price":100,"flag":true}`},
		{get, "count=%205%20", `{"count":5}`},
		{get, `any={"a":[1,%20"b"]}`, `{"any":{"a":[1,"b"]}}`},
		{get, `any=knots`, `{"any":"knots"}`},
		{lists, "first=2&where=%7B%22title%22%3A%7B%22equals%22%3A%22Live%22%7D%7D", `{"first":2,"where":{"title":{"equals":"Live"}}}`},
		{lists, "after=5", `{"after":"5"}`},
	} {
		in, err := c.reader.ReadQuery(c.query)
		if err != nil || string(in.JSON) != c.want {
			t.Errorf("read query %s\n got %s, %v\nwant %s", c.query, in.JSON, err, c.want)
		}
	}

	for _, c := range []struct{ query, want string }{
		{"first=x", `[{"field":"first","code":"type","params":{"expected":"integer","given":"string"},"error":"Invalid type. Expected: integer, given: string"}]`},
		{"first=", `[{"field":"first","code":"type","params":{"expected":"integer","given":"string"},"error":"Invalid type. Expected: integer, given: string"}]`},
		{"where={bad", `[{"field":"where","code":"type","params":{"expected":"object","given":"string"},"error":"Invalid type. Expected: object, given: string"}]`},
		{"where=1}%2C%22after%22:%22x%22{", `[{"field":"where","code":"type","params":{"expected":"object","given":"string"},"error":"Invalid type. Expected: object, given: string"}]`},
		{"colour=red", `[{"field":"colour","code":"additionalProperty","params":{"name":"colour"},"error":"Additional property colour is not allowed"}]`},
		{"offset=3", `[{"field":"offset","code":"needs","params":{"name":"limit"},"error":"needs limit"}]`},
	} {
		_, err := lists.ReadQuery(c.query)
		if got := problems(t, err); got != c.want {
			t.Errorf("read query %s\n got %s\nwant %s", c.query, got, c.want)
		}
	}

	for _, c := range []struct{ query, reason string }{
		{"first=1&first=2", "repeated parameter"},
		{"first=1&fir%73t=2", "repeated parameter"},
		{"after=%zz", "broken percent-encoding"},
		{"after=%2", "broken percent-encoding"},
		{"%=1", "broken percent-encoding"},
		{"after=%00", "NUL character"},
		{"a%00=1", "NUL character"},
		{"after=%ff", "not valid UTF-8"},
		{"a%ff=1", "not valid UTF-8"},
		{"first=%ff", "not valid UTF-8"},
		{"first=1e101", "number out of range"},
		{`where={"a":1,"a":2}`, "duplicate name"},
		{`where={"a":"\u0000"}`, "NUL character"},
		{`where={"a":"\ud800"}`, "not valid UTF-8"},
		{"where=" + nested(32), "nested too deeply"},
	} {
		_, err := lists.ReadQuery(c.query)
		if want := "the input could not be read: " + c.reason; err == nil || err.Error() != want {
			t.Errorf("read query %s\n got error %v\nwant %s", c.query, err, want)
		}
	}
}
