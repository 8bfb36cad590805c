// Package calls calls the functions of a release as a server does, for tests without a
// server: a function answers rows, and callers get JSON.
package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// JSON calls a function of the newest release in a database, with an input and a context,
// and returns the answer to the caller. Form names the form of a list. JSON can also call
// functions other than those of actions, if they answer one value. The error is that of
// the database.
func JSON(ctx context.Context, conn *pgx.Conn, function, input, callContext string) (string, error) {
	var manifest string
	err := conn.QueryRow(ctx, "select manifest::text from platform.release order by number desc limit 1").Scan(&manifest)
	if err != nil {
		return "", fmt.Errorf("read the newest release: %w", err)
	}
	return Of(ctx, conn, manifest, function, input, callContext)
}

// Of is JSON for a release with a known manifest: it runs only the call.
func Of(ctx context.Context, conn *pgx.Conn, manifest, function, input, callContext string) (string, error) {
	plan, err := planOf(manifest, function)
	if err != nil {
		return "", err
	}
	page, err := pageOf(input)
	if err != nil {
		return "", err
	}
	if page.HasCursor && plan.IsList() {
		position, isCursor := plan.Position(page)
		if !isCursor {
			return "", &pgconn.PgError{Code: "SP400", Message: "not a cursor of this list"}
		}
		input = strings.TrimSuffix(strings.TrimSpace(input), "}") + `,"position":` + string(position) + "}"
	}
	var who struct {
		Caller string `json:"identityId"`
		Token  string `json:"token"`
	}
	if err := json.Unmarshal([]byte(callContext), &who); err != nil {
		return "", fmt.Errorf("read a context: %w", err)
	}
	into := plan.Begin(page, nil)
	if err := call(ctx, conn, plan, into, input, who.Caller, who.Token, callContext); err != nil {
		return "", err
	}
	if into.IsUnsure() {
		general, err := planOf(manifest, generalOf(function))
		if err != nil {
			return "", err
		}
		into = general.Begin(page, nil)
		if err := call(ctx, conn, general, into, input, who.Caller, who.Token, callContext); err != nil {
			return "", err
		}
	}
	text := into.JSON()
	return string(text), nil
}

func call(ctx context.Context, conn *pgx.Conn, plan *answer.Plan, into *answer.Answer, input, caller, token, callContext string) error {
	st := into.Statement()
	result := conn.PgConn().ExecParams(ctx, st.SQL, into.Parameters([]byte(input), caller, token, []byte(callContext)), nil, nil, st.Formats).Read()
	for _, row := range result.Rows {
		into.Row(row)
	}
	return result.Err
}

// Form names the form of a list that a request may use: of this operator set, for a plain
// page, behind a cursor or not.
func Form(a *release.Action, operators string, isPlain, hasCursor bool) (name string, ok bool) {
	for _, f := range a.Foreseen {
		if isPlain && (!hasCursor || f.Seeks) && slices.Contains(f.Forms, operators) {
			return formName(a, operators), true
		}
	}
	return "", false
}

// formName writes a form as list_posts(state.equals).
func formName(a *release.Action, operators string) string { return a.Function + "(" + operators + ")" }

// generalOf is the function to call if the form is unsure.
func generalOf(form string) string {
	function, _, _ := strings.Cut(form, "(")
	return function
}

// pageOf is the page that an input asks for, if it is that of a list.
func pageOf(input string) (answer.Page, error) {
	var body any
	if err := json.Unmarshal([]byte(input), &body); err != nil {
		return answer.Page{}, fmt.Errorf("read an input: %w", err)
	}
	members, _ := body.(map[string]any)
	number := func(name string) int {
		n, _ := members[name].(float64)
		return int(n)
	}
	text := func(name string) string {
		s, _ := members[name].(string)
		return s
	}
	has := func(name string) bool { return members[name] != nil }
	page := answer.Page{
		Size: number("first") + number("last") + number("limit"), Offset: number("offset"),
		IsBackwards: has("last") || has("before"), Cursor: text("after") + text("before"), HasCursor: has("after") || has("before"),
		HasLimit:  has("limit"),
		CountsAll: members["totalCount"] == true,
	}
	order, _ := members["orderBy"].([]any)
	for _, item := range order {
		keys, _ := item.(map[string]any)
		for name, direction := range keys {
			page.OrderBy = append(page.OrderBy, answer.Key{Name: name, Descending: direction == "desc"})
		}
	}
	return page, nil
}

// plans are the plans of the functions of manifests, by the manifests' text.
var plans sync.Map

// planOf says how a function is called.
func planOf(manifest, function string) (*answer.Plan, error) {
	known, ok := plans.Load(manifest)
	if !ok {
		var m release.Manifest
		if err := json.Unmarshal([]byte(manifest), &m); err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		byFunction := map[string]*answer.Plan{}
		for _, a := range m.Actions {
			byFunction[a.Function] = answer.NewPlan(&m, a, 0)
			for _, f := range a.Foreseen {
				for _, operators := range f.Forms {
					byFunction[formName(a, operators)] = answer.NewForm(&m, a, f, operators, 0)
				}
			}
		}
		known, _ = plans.LoadOrStore(manifest, byFunction)
	}
	if plan, ok := known.(map[string]*answer.Plan)[function]; ok {
		return plan, nil
	}
	return answer.NewValue(function), nil
}
