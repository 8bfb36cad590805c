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
		`"data":{"errors":[{"field":"%s","code":"indexed","error":"is too long for an index"}]}}`

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

// TestRowsOfACall makes a create of as many rows as one may write, and of one more.
func TestRowsOfACall(t *testing.T) {
	t.Parallel()
	a := serveApp(t, writeProject(t, map[string]string{"schema.stern": `
model Book {
  fields { title Text  pages Page[] }
  actions { create addBook() with (title, pages.lines.text) }
  @permission(expression: true, actions: [create])
}
model Page { fields { book Book  lines Line[] } }
model Line { fields { page Page  text Text } }
`}))
	page := func(lines int) string {
		return `{"lines":[` + strings.TrimSuffix(strings.Repeat(`{"text":"x"},`, lines), ",") + `]}`
	}
	add := func(lines int) string { // 10 pages, the first nine with 1000 lines
		response, body := a.send(t, "POST", "/api/json/addBook", nil, `{"title":"t","pages":[`+strings.Repeat(page(1000)+",", 9)+page(lines)+`]}`)
		return fmt.Sprint(response.StatusCode, " ", body)
	}
	if got := add(989); !strings.HasPrefix(got, "200 ") {
		t.Errorf("10,000 rows: got %.300s", got)
	}
	const want = `400 {"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object",` +
		`"data":{"errors":[{"field":"pages.9.lines.989","code":"maxRows","params":{"limit":10000},"error":"Must have at most 10000 rows"}]}}`
	if got := add(990); got != want {
		t.Errorf("10,001 rows: got %.300s, want %s", got, want)
	}
	var lines int
	if err := a.db.Superuser(t).QueryRow(t.Context(), "select count(*) from app.line").Scan(&lines); err != nil || lines != 9989 {
		t.Errorf("%d lines are written, want 9989 (%v)", lines, err)
	}
}
