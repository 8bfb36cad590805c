package integration

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A text that is too long for an index entry is the caller's mistake, and the answer
// names it: on a unique field, on one that a list is ordered by, on an update.
func TestTextsTooLongForAnIndex(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": `
model Page {
  fields { place Text @unique  title Text  body Markdown }
  actions {
    create addPage() with (id?, place, title, body)
    update updatePage(id) with (place?, title?)
    list listPages() { @orderBy(title: asc) }
  }
  @permission(expression: true, actions: [create, update, list])
}
`}))
	random := make([]byte, 9000)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	long := base64.StdEncoding.EncodeToString(random) // does not compress
	header := http.Header{"Content-Type": {"application/json"}}
	const refused = `{"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object",` +
		`"data":{"errors":[{"field":"%s","error":"is too long for an index"}]}}`

	for _, test := range []struct {
		action, body string
		status       int
		want         string // "" means that it is not compared
	}{
		{"addPage", fmt.Sprintf(`{"place":%q,"title":"a","body":"b"}`, long), 400, fmt.Sprintf(refused, "place")},
		{"addPage", fmt.Sprintf(`{"place":"a","title":%q,"body":"b"}`, long), 400, fmt.Sprintf(refused, "title")},
		{"addPage", fmt.Sprintf(`{"id":"1","place":"a","title":"a","body":%q}`, long), 200, ""},
		{"updatePage", fmt.Sprintf(`{"where":{"id":"1"},"values":{"title":%q}}`, long), 400, fmt.Sprintf(refused, "values.title")},
		{"addPage", fmt.Sprintf(`{"place":%q,"title":"a","body":"b"}`, strings.Repeat("p", 2000)), 200, ""},
	} {
		response, got := a.send(t, "POST", "/api/json/"+test.action, header, test.body)
		if response.StatusCode != test.status || test.want != "" && got != test.want {
			t.Errorf("%s %.60s…\ngot  %d %.300s\nwant %d %s", test.action, test.body, response.StatusCode, got, test.status, test.want)
		}
	}
}
