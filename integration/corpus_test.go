package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/casetest"
)

// TestCases runs the cases in testdata. Each is an application and its requests, in
// sections:
//
//	app            the name of an example app; or else
//	schema.stern   and other files of a project
//	rows.sql       rows to begin with
//	ids <path>     requests to a list and the ids that it answers, see list
//	anything else  is the title of an exchange, see exchange
func TestCases(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/*.txtar", func(t *testing.T, c *casetest.Case) { runCase(t, c.Archive, nil) })
}

// runCase runs the sections of a case in order. A later section may use the results of
// an earlier one. If agentCalls is given, calls are made by an agent where they can, and counted.
func runCase(t *testing.T, archive *txtar.Archive, agentCalls *int) {
	files, dir, rows := map[string]string{}, "", ""
	for _, f := range archive.Files {
		switch {
		case f.Name == "app":
			dir = appDir(strings.TrimSpace(string(f.Data)))
		case f.Name == "rows.sql":
			rows = string(f.Data)
		case isProjectFile(f.Name):
			files[f.Name] = string(f.Data)
		}
	}
	if dir == "" {
		dir = writeProject(t, files)
	}
	var a *app
	if agentCalls == nil {
		a = serveApp(t, dir)
	} else {
		a = serveAgents(t, dir)
		a.agentCalls = agentCalls
	}
	if rows != "" {
		if _, err := a.db.Superuser(t).Exec(t.Context(), rows); err != nil {
			t.Fatalf("rows.sql: %v", err)
		}
	}

	known := variables{
		"unknown token": issue(t, a.signer, "nobody"),
		"expired token": issue(t, a.past, "ada"),
		"foreign token": issue(t, a.other, "ada"),
	}
	said := 0
	for i, f := range archive.Files {
		text := string(f.Data)
		for _, mention := range tokenMention.FindAllStringSubmatch(text, -1) {
			name := "token " + mention[1]
			if _, ok := known[name]; !ok {
				known[name] = a.token(t, mention[1])
			}
		}
		switch {
		case f.Name == "app", f.Name == "rows.sql", isProjectFile(f.Name):
			continue
		case strings.HasPrefix(f.Name, "ids "):
			a.list(t, known, strings.TrimPrefix(f.Name, "ids "), text)
		default:
			archive.Files[i].Data = []byte(a.exchange(t, known, f.Name, text))
		}
		said++
	}
	if said == 0 {
		t.Error("the case says nothing")
	}
}

// tokenMention is a placeholder for the token of an identity.
var tokenMention = regexp.MustCompile(`\{token ([a-z]+)\}`)

func isProjectFile(name string) bool {
	return slices.Contains([]string{".stern", ".yaml", ".sql"}, filepath.Ext(name)) && !strings.Contains(name, " ")
}

// exchange sends the request of a section and compares the response. It returns the
// section with the received body, for an update.
func (a *app) exchange(t *testing.T, known variables, title, text string) string {
	t.Helper()
	e, err := parseExchange(text)
	if err != nil {
		t.Fatalf("%s: %v", title, err)
	}
	path, err := known.fill(e.path)
	if err != nil {
		t.Fatalf("%s: %v", title, err)
	}
	body, err := known.fill(e.body)
	if err != nil {
		t.Fatalf("%s: %v", title, err)
	}
	header := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(e.header)) {
		for _, value := range e.header[name] {
			if value, err = known.fill(value); err != nil {
				t.Fatalf("%s: %v", title, err)
			}
			header.Add(name, value)
		}
	}

	var response *http.Response
	var got string
	isByAgent := false
	if a.agentCalls != nil && len(e.wantHeader) == 0 {
		if response, got, isByAgent = a.sendByAgent(t, e.method, path, header, body); isByAgent {
			*a.agentCalls++
		}
	}
	if !isByAgent {
		response, got = a.send(t, e.method, path, header, body)
	}
	want := unbroken(e.wantBody)
	problems := checkHeader(response.Header, e.wantHeader, got)
	if response.StatusCode != e.status {
		problems = append([]string{fmt.Sprintf("status: got %d, want %d", response.StatusCode, e.status)}, problems...)
	}
	if !known.match(want, got) {
		if casetest.Updating() {
			head, _, _ := strings.Cut(text, "\n"+arrow)
			tail, _, _ := strings.Cut(text[len(head)+1:], "\n\n")
			kept := known.generalize(want, got)
			text = head + "\n" + strings.TrimRight(tail, "\n") + "\n\n" + kept + "\n"
			if !known.match(kept, got) {
				problems = append(problems, fmt.Sprintf("the body to be kept does not match:\n  got  %s\n  want %s", got, kept))
			}
		} else {
			problems = append(problems, fmt.Sprintf("body:\n  got  %s\n  want %s", got, want))
		}
	}
	if len(problems) > 0 {
		t.Errorf("%s\n%s %s\n%s\n%s", title, e.method, path, body, strings.Join(problems, "\n"))
	}
	return text
}

// list sends requests to a list, one a line, and compares the ids of the answers:
//
//	{"first":2,"after":"{end}"} => < c d >
//
// A < says that there are records before the page, a > that there are some after it.
// {start} and {end} are the cursors of the page before.
func (a *app) list(t *testing.T, known variables, path, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		template, want, ok := strings.Cut(line, "=>")
		if !ok {
			t.Fatalf("%s: %s: there is no =>", path, line)
		}
		body, err := known.fill(strings.TrimSpace(template))
		if err != nil {
			t.Fatalf("%s: %s: %v", path, line, err)
		}
		response, answer := a.send(t, "POST", path, nil, body)
		var page struct {
			Results []struct {
				ID string `json:"id"`
			} `json:"results"`
			PageInfo struct {
				StartCursor     string `json:"startCursor"`
				EndCursor       string `json:"endCursor"`
				HasNextPage     bool   `json:"hasNextPage"`
				HasPreviousPage bool   `json:"hasPreviousPage"`
				Count           int    `json:"count"`
			} `json:"pageInfo"`
		}
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s %s\n  got  %d %s\n  want ids %s", path, body, response.StatusCode, answer, want)
			continue
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			t.Fatalf("%s %s: %v in %s", path, body, err, answer)
		}
		var got []string
		if page.PageInfo.HasPreviousPage {
			got = append(got, "<")
		}
		for _, r := range page.Results {
			got = append(got, r.ID)
		}
		if page.PageInfo.HasNextPage {
			got = append(got, ">")
		}
		if want := strings.Fields(want); !slices.Equal(got, want) {
			t.Errorf("%s %s\n  got  %s\n  want %s", path, body, strings.Join(got, " "), strings.Join(want, " "))
		}
		if page.PageInfo.Count != len(page.Results) {
			t.Errorf("%s %s: count %d of %d results", path, body, page.PageInfo.Count, len(page.Results))
		}
		if isEmpty := len(page.Results) == 0; (page.PageInfo.StartCursor == "") != isEmpty || (page.PageInfo.EndCursor == "") != isEmpty {
			t.Errorf("%s %s: cursors %q and %q of %d results", path, body, page.PageInfo.StartCursor, page.PageInfo.EndCursor, len(page.Results))
		}
		known["start"], known["end"] = page.PageInfo.StartCursor, page.PageInfo.EndCursor
	}
}
