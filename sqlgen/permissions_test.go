package sqlgen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/tools/txtar"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/casetest"
	"github.com/sternpost/sternpost/integration/compiletest"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestPermissions holds who may do what, and who may not, against the matrices of
// testdata/permissions. A case is a project, data.sql, and matrix: a line per call,
// with a column per caller, who is an identity of the data or nobody. What a call is
// answered:
//
//	yes           a record, or the id of one that was deleted
//	a b           of a list the ids on the page, none if there are none; then
//	a b of 7, +   its totalCount, if the call asks for it, and + if a page follows
//	a b; s x:2    and of a field s with a facet each value with its count, or from where to where
//	null          of a get: no such row
//	403, 404, …   refused, as the server answers it
//
// A context beside the caller (headers, env, secrets) follows the input. Each call
// sees the data as the case has it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	casetest.Run(t, "testdata/permissions/*.txtar", func(t *testing.T, c *casetest.Case) {
		at := c.Index("matrix")
		if at < 0 {
			t.Fatalf("%s has no matrix", c.Path)
		}
		a := newProject(t, c.Archive)
		a.exec(t, c.Content("data.sql"))

		got, allowed, denied := a.matrix(t, c.Content("matrix"))
		t.Logf("%d calls allowed, %d denied", allowed, denied)
		if allowed == 0 || denied == 0 {
			t.Errorf("%s shows who may or who may not, but not both", c.Path)
		}
		c.Want(t, at, got)
	})
}

// newProject installs the project of a case in a database of its own.
func newProject(t *testing.T, archive *txtar.Archive) *app {
	t.Helper()
	compiled := compiletest.Project(t, projectOf(archive))
	a := &app{db: pgtest.New(t, pgtest.Options{}), manifest: compiled.Manifest, readers: map[string]*input.Reader{}}
	a.owner, a.server = a.db.Owner(t), a.db.Server(t)
	if _, err := install.Install(t.Context(), a.owner, compiled.Release()); err != nil {
		t.Fatal(err)
	}
	for _, action := range a.manifest.Actions {
		reader, err := input.Compile(a.manifest.Schemas, action.Input)
		if err != nil {
			t.Fatalf("action %s: %v", action.Name, err)
		}
		a.readers[action.Name] = reader
	}
	return a
}

// matrix makes the calls of a matrix and returns it with their answers.
func (a *app) matrix(t *testing.T, want string) (got string, allowed, denied int) {
	t.Helper()
	var callers []string
	var rows [][]string
	var widths []int
	for _, line := range strings.Split(strings.TrimRight(want, "\n"), "\n") {
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			rows = append(rows, []string{line})
			continue
		case callers == nil:
			callers = cells[1:]
		default:
			call := cells[0]
			cells = []string{call}
			for _, caller := range callers {
				answer, ok := a.decision(t, call, caller)
				if ok {
					allowed++
				} else {
					denied++
				}
				cells = append(cells, answer)
			}
		}
		rows = append(rows, cells)
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len(c))
		}
	}
	var b strings.Builder
	for _, cells := range rows {
		line := ""
		for i, c := range cells {
			if i > 0 {
				line += " | "
			}
			if i == len(cells)-1 {
				line += c
			} else {
				line += fmt.Sprintf("%-*s", widths[i], c)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String(), allowed, denied
}

// decision makes one call and rolls it back. It returns the answer, and whether the caller got
// anything.
func (a *app) decision(t *testing.T, call, caller string) (string, bool) {
	t.Helper()
	name, rest, _ := strings.Cut(call, " ")
	decoder := json.NewDecoder(strings.NewReader(rest))
	var body, more json.RawMessage
	if err := decoder.Decode(&body); err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	callContext := map[string]any{}
	if decoder.More() {
		if err := decoder.Decode(&more); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		if err := json.Unmarshal(more, &callContext); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
	}
	if caller != "nobody" {
		callContext["identityId"] = caller
	}
	action := a.action(t, name)
	in, err := a.readers[name].Read(body)
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	answer, err := callInside(t.Context(), a.server, action.Function, string(in.JSON), callContext)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "SP"):
		return refused.Code[2:], false
	case errors.As(err, &refused) && refused.Code == "42501": // custom code met row security
		return "403", false
	case errors.As(err, &refused) && refused.ConstraintName != "":
		return refused.ConstraintName, false
	case err != nil:
		t.Fatalf("%s by %s: %v", call, caller, err)
	case answer == "null":
		return "null", false
	case action.Kind == "list":
		var page struct {
			Results  []struct{ ID string }
			PageInfo struct {
				TotalCount  *int
				HasNextPage bool
			}
			ResultInfo json.RawMessage
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			t.Fatalf("%s by %s: %v in %s", call, caller, err, answer)
		}
		ids := make([]string, len(page.Results))
		for i, r := range page.Results {
			ids[i] = r.ID
		}
		answer = strings.Join(ids, " ")
		if len(ids) == 0 {
			answer = "none"
		}
		if total := page.PageInfo.TotalCount; total != nil {
			answer += fmt.Sprintf(" of %d", *total)
		}
		if page.PageInfo.HasNextPage {
			answer += ", +"
		}
		if page.ResultInfo != nil {
			answer += "; " + facetsText(t, page.ResultInfo)
		}
		return answer, len(ids) > 0
	}
	return "yes", true
}

// facetsText writes the facets of a list in short.
func facetsText(t *testing.T, resultInfo []byte) string {
	t.Helper()
	var facets map[string]json.RawMessage
	if err := json.Unmarshal(resultInfo, &facets); err != nil {
		t.Fatalf("read the facets %s: %v", resultInfo, err)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(facets)) {
		var entries []struct {
			Value any
			Count int
		}
		if json.Unmarshal(facets[name], &entries) == nil {
			for _, e := range entries {
				name += fmt.Sprintf(" %v:%d", e.Value, e.Count)
			}
		} else {
			var bounds struct{ Min, Max any }
			if err := json.Unmarshal(facets[name], &bounds); err != nil {
				t.Fatalf("read the facets %s: %v", resultInfo, err)
			}
			name += fmt.Sprintf(" %v..%v", bounds.Min, bounds.Max)
		}
		parts = append(parts, strings.ReplaceAll(name, "<nil>", "null"))
	}
	return strings.Join(parts, ", ")
}

// callInside calls a function of schema api in a transaction that is rolled back.
func callInside(ctx context.Context, conn *pgx.Conn, function, body string, callContext any) (string, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx)
	text, err := json.Marshal(callContext)
	if err != nil {
		return "", err
	}
	return calls.JSON(ctx, conn, function, body, string(text))
}
