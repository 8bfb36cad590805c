package lower

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// namesWriteInput finds the mention of an implicit input, which only updates have: a name that no path leads to.
var namesWriteInput = regexp.MustCompile(`(^|[^.\w])\w+Maybe\b`)

// TestRuleDifferential calls actions under random rules, and compares the verdict of row security on each row with the
// interpreter's. With the flag -differential it goes on for that long.
func TestRuleDifferential(t *testing.T) {
	t.Parallel()
	calls, outcomes := 0, map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { callRuled(t, seed, &calls, outcomes) }, 1, 4)
	t.Logf("%d calls; what they were answered: %v", calls, outcomes)
	for _, kind := range []model.Kind{model.Get, model.Update, model.Delete} {
		for _, outcome := range []string{"admitted", "refused", "missing"} {
			if n := outcomes[string(kind)+" "+outcome]; n < 40 && !t.Failed() {
				t.Errorf("a %s was %s only %d times: this shows little", kind, outcome, n)
			}
		}
	}
	for _, needs := range []string{"secondFactor", "recentSignIn"} {
		n := 0
		for _, kind := range []model.Kind{model.Get, model.Update, model.Delete} {
			n += outcomes[string(kind)+` asked {"needs": "`+needs+`"}`]
		}
		if n == 0 && !t.Failed() {
			t.Errorf("no call asked for %s", needs)
		}
	}
}

// callRuled makes a schema whose actions have random rules, and calls them in
// several worlds.
func callRuled(t *testing.T, seed uint64, calls *int, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	text := lab.ruledText(lab.check(t, lab.randomRules(r)))
	checked := mustCheck(t, text)
	conn := installed(t, checked, text)
	for range 4 {
		w := randomWorld(r, lab.schema, lab.inputs, r.chance(50))
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lab.set(t, tx, w)
		for _, a := range checked.Actions {
			for _, row := range append(w.rows[a.Model.Name], nil) {
				want := verdict(w.call(row), a, row != nil)
				got := decide(t, tx, w, a, row)
				*calls++
				outcomes[string(a.Kind)+" "+want]++
				if got != want {
					id := "a row that is not there"
					if row != nil {
						id = row.ID()
					}
					t.Fatalf("seed %d: the %s of %s under @permission(expression: %s)\nis %s, want %s, by %q with %s\n%s\n%s",
						seed, a.Kind, id, a.Rules[0].Text, got, want, w.identity, w.inputJSON(lab.inputs), modelsText(lab.models), w.sql())
				}
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// ruledText is the schema with an action for each rule.
func (lab *laboratory) ruledText(subjects []*subject) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, m := range lab.models {
		explicit, reads, writes := m.inputs()
		// An explicit input has to be mentioned.
		mention := "@permission(expression: false && (" + strings.Join(explicit, " == null || ") + " == null))"
		var actions strings.Builder
		for i, s := range subjects {
			if s.model != m.name {
				continue
			}
			kind, with := "update", " with ("+writes+")"
			if i%3 > 0 && !namesWriteInput.MatchString(s.attributes()) {
				kind, with = []string{"get", "delete"}[i%3-1], ""
			}
			fmt.Fprintf(&actions, "    %s a%d(id, %s)%s {\n      %s\n      %s\n    }\n", kind, i, reads, with, s.attributes(), mention)
		}
		b.WriteString(m.text("  actions {\n" + actions.String() + "  }\n"))
	}
	return b.String()
}

// verdict is the interpreter's result of a call.
func verdict(call expr.Call, a *model.Action, isThere bool) string {
	rule := a.Rules[0].Expression
	switch {
	case expr.Early(call, rule) == expr.False:
		raised := call
		raised.HasSecondFactor, raised.SignedIn = true, new(time.Duration)
		switch {
		case call.SignedIn == nil || expr.Early(raised, rule) == expr.False:
			return "refused"
		case expr.Mentions(rule).SecondFactor && !call.HasSecondFactor:
			return `asked {"needs": "secondFactor"}`
		}
		return `asked {"needs": "recentSignIn"}`
	case !isThere:
		return "missing"
	case expr.Admits(call, rule):
		return "admitted"
	}
	return "refused"
}

// decide calls an action on a row, nil for a missing one, and rolls it back.
func decide(t *testing.T, tx pgx.Tx, w *world, a *model.Action, row *testRow) string {
	t.Helper()
	reads, writes := map[string]any{"id": "missing"}, map[string]any{}
	if row != nil {
		reads["id"] = row.ID()
	}
	for _, in := range append(a.Reads[:len(a.Reads):len(a.Reads)], a.Writes...) {
		v, given := w.inputs[in.Name]
		switch {
		case !given:
		case in.IsWrite:
			writes[in.Name] = wireValue(in.Type, v)
		default:
			reads[in.Name] = wireValue(in.Type, v)
		}
	}
	body := any(reads)
	if a.Kind == model.Update {
		body = map[string]any{"where": reads, "values": writes}
	}
	input, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}

	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(t.Context())
	answer, err := calls.JSON(t.Context(), inner.Conn(), a.Function, string(input), w.contextJSON())
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised) && raised.Code == "SP403":
		return "refused"
	case errors.As(err, &raised) && raised.Code == "SP405":
		return "asked " + raised.Detail
	case errors.As(err, &raised) && raised.Code == "SP404", err == nil && answer == "null":
		return "missing"
	case errors.As(err, &raised) && strings.HasPrefix(raised.Code, "23"), err == nil: // it came to the write
		return "admitted"
	}
	t.Fatalf("call api.%s with %s: %v", a.Function, input, err)
	return ""
}
