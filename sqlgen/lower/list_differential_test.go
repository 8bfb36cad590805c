package lower

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// contextJSON is the context of the call: the caller, and what the schema can read besides the input.
func (w *world) contextJSON() string {
	callContext := map[string]any{
		"headers": w.headers(),
		"env":     map[string]string{"REGION": w.texts["env"]},
		"secrets": map[string]string{"KEY": w.texts["secret"]},
	}
	if w.identity != "" {
		callContext["identityId"] = w.identity
	}
	if token := w.token(); token != "" {
		callContext["token"] = token
	}
	text, err := json.Marshal(callContext)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// given returns the inputs of an action that the call gives, in their JSON form.
func (w *world) given(inputs []*model.Input) map[string]any {
	given := map[string]any{}
	for _, in := range inputs {
		if v, ok := w.inputs[in.Name]; ok {
			given[in.Name] = wireValue(in.Type, v)
		}
	}
	return given
}

// testPage is the page that a list answers.
type testPage struct {
	isRefused bool
	records   []map[string]any
	total     int
	hasNext   bool
}

// answer calls an action and rolls it back. isRefused is a 403.
func answer(t *testing.T, tx pgx.Tx, w *world, a *model.Action, body map[string]any) (text string, isRefused bool) {
	t.Helper()
	input, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(t.Context())
	text, err = calls.JSON(t.Context(), inner.Conn(), a.Function, string(input), w.contextJSON())
	var raised *pgconn.PgError
	if errors.As(err, &raised) && (raised.Code == "SP403" || raised.Code == "SP405") {
		return "", true
	}
	if err != nil {
		t.Fatalf("call api.%s with %s: %v", a.Function, input, err)
	}
	return text, false
}

// list asks for the first rows of a list, and how many there are.
func listOf(t *testing.T, tx pgx.Tx, w *world, a *model.Action, first int) testPage {
	t.Helper()
	text, isRefused := answer(t, tx, w, a, map[string]any{"where": w.given(a.Reads), "first": first, "totalCount": true})
	if isRefused {
		return testPage{isRefused: true}
	}
	var page struct {
		Results  []map[string]any
		PageInfo struct {
			HasNextPage bool
			TotalCount  int
		}
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&page); err != nil {
		t.Fatalf("%s: %v in %s", a.Name, err, text)
	}
	return testPage{records: page.Results, total: page.PageInfo.TotalCount, hasNext: page.PageInfo.HasNextPage}
}

// keys are the rows of the page, in the form for comparisons.
func (l testPage) keys(members ...string) string {
	if l.isRefused {
		return "refused"
	}
	var rows []string
	for _, record := range l.records {
		var parts []string
		for _, m := range members {
			parts = append(parts, fmt.Sprint(record[m]))
		}
		rows = append(rows, strings.Join(parts, " "))
	}
	return pageText(rows, l.total, l.hasNext)
}

func pageText(rows []string, total int, hasNext bool) string {
	return fmt.Sprintf("%q of %d, next %v", rows, total, hasNext)
}

// wantedPage is the page that a list with these rows should answer.
func wantedPage(rows []string, first int) string {
	return pageText(rows[:min(first, len(rows)):len(rows)], len(rows), len(rows) > first)
}

// isRefusedEarly tells whether the rules refuse a call for every row.
func isRefusedEarly(call expr.Call, rules []*model.Rule) bool {
	return !slices.ContainsFunc(rules, func(r *model.Rule) bool { return expr.Early(call, r.Expression) != expr.False })
}

// isAdmitted tells whether some rule admits the row of a call.
func isAdmitted(call expr.Call, rules []*model.Rule) bool {
	return slices.ContainsFunc(rules, func(r *model.Rule) bool { return expr.Admits(call, r.Expression) })
}

func expressionsOf(wheres []*model.Where) []expr.Node {
	nodes := make([]expr.Node, len(wheres))
	for i, w := range wheres {
		nodes[i] = w.Expression
	}
	return nodes
}

// forDifferentialTime runs a test for one seed after another: for those given, or for as long as the flags say.
func forDifferentialTime(t *testing.T, run func(t *testing.T, seed uint64), seeds ...uint64) {
	t.Helper()
	seed, start := *differentialSeed, time.Now()
	if seed == 0 && *differential > 0 {
		seed = uint64(start.UnixNano())
	}
	end := start.Add(*differential)
	if deadline, ok := t.Deadline(); ok && deadline.Add(-time.Minute).Before(end) {
		end = deadline.Add(-time.Minute)
	}
	for n := 0; (n < len(seeds) || time.Now().Before(end)) && !t.Failed(); n++ {
		now := seed + uint64(n)
		if seed == 0 {
			now = seeds[n]
		}
		t.Run(fmt.Sprint("seed ", now), func(t *testing.T) { run(t, now) })
	}
}

// TestListDifferential lists models under random rules and @wheres, and compares the rows that come with those that the
// interpreter admits.
func TestListDifferential(t *testing.T) {
	t.Parallel()
	outcomes := map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { listRuled(t, seed, outcomes) }, 0, 1, 2, 3, 4)
	t.Logf("%v", outcomes)
	for _, outcome := range []string{"refused", "none", "some", "all"} {
		if n := outcomes[outcome]; n < 10 && !t.Failed() {
			t.Errorf("a list had %s of its rows only %d times: this shows little", outcome, n)
		}
	}
}

// listRuled makes a schema whose lists have random rules and conditions, and calls
// them in several worlds.
func listRuled(t *testing.T, seed uint64, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	text := lab.listsText(r, lab.check(t, lab.randomSubjects(r)))
	checked := mustCheck(t, text)
	conn := installed(t, checked, text)
	for range 6 {
		w := randomWorld(r, checked, lab.inputs, r.chance(50))
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lab.set(t, tx, w)
		for _, a := range checked.Actions {
			if len(w.rows[a.Model.Name]) < 2 {
				continue // the test would show only whether all or none come
			}
			var rows []string
			for _, row := range w.rows[a.Model.Name] {
				if call := w.call(row); expr.Holds(call, expressionsOf(a.Wheres)...) && isAdmitted(call, a.Rules) {
					rows = append(rows, row.ID())
				}
			}
			slices.Sort(rows)
			first := 1 + r.IntN(4)
			want, outcome := wantedPage(rows, first), "some"
			switch {
			case isRefusedEarly(w.call(nil), a.Rules):
				want, outcome = "refused", "refused"
			case len(rows) == 0:
				outcome = "none"
			case len(rows) == len(w.rows[a.Model.Name]):
				outcome = "all"
			}
			outcomes[outcome]++
			if got := listOf(t, tx, w, a, first).keys("id"); got != want {
				t.Fatalf("seed %d: the first %d of %s\ngot  %s\nwant %s\nby %q with %s\n%s\n%s",
					seed, first, a.Name, got, want, w.identity, w.inputJSON(lab.inputs), text, w.sql())
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// installed installs a schema and returns a superuser's connection, which no foreign keys bind.
func installed(t *testing.T, s *model.Schema, text string) *pgx.Conn {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, s, text)
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; set jit = off"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// listsText is the schema with a list for each rule, and for some a @where.
func (lab *laboratory) listsText(r random, subjects []*subject) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, m := range lab.models {
		explicit, reads, _ := m.inputs()
		of := func(p testPlace) []*subject {
			return slices.DeleteFunc(slices.Clone(subjects), func(s *subject) bool {
				return s.model != m.name || s.place != p || namesWriteInput.MatchString(s.attributes())
			})
		}
		wheres := of(whereOfAction)
		// An explicit input has to be mentioned.
		mention := "@permission(expression: false && (" + strings.Join(explicit, " == null || ") + " == null))"
		var actions strings.Builder
		rules := of(ruleOfAction)
		for i, s := range rules[:min(10, len(rules))] { // planning takes longer with each
			attributes := s.attributes() + "\n      " + mention
			if len(wheres) > 0 && r.chance(40) {
				attributes += "\n      " + pick(r, wheres).attributes()
			}
			fmt.Fprintf(&actions, "    list list%s%d(%s) {\n      %s\n    }\n", m.name, i, reads, attributes)
		}
		b.WriteString(m.text("  actions {\n" + actions.String() + "  }\n"))
	}
	return b.String()
}
