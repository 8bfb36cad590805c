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

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// ruled is an action under a random rule.
type ruled struct {
	kind    schema.Kind
	subject *subject
	action  *schema.Action
}

// namesWriteInput finds the mention of an implicit input, of which only updates have
// any: a name that no path leads to.
var namesWriteInput = regexp.MustCompile(`(^|[^.\w])\w+Maybe\b`)

// TestRuleDifferential calls actions under random rules, and compares what row
// security makes of each row with the interpreter's verdict. With the flag
// -differential it goes on for that long.
func TestRuleDifferential(t *testing.T) {
	t.Parallel()
	calls, outcomes := 0, map[string]int{}
	seed, start := *differentialSeed, time.Now()
	if seed == 0 && *differential > 0 {
		seed = uint64(start.UnixNano())
	}
	end := start.Add(*differential)
	if deadline, ok := t.Deadline(); ok && deadline.Add(-time.Minute).Before(end) {
		end = deadline.Add(-time.Minute)
	}
	for n := uint64(0); (n < 4 || time.Now().Before(end)) && !t.Failed(); n++ {
		t.Run(fmt.Sprint("seed ", seed+n), func(t *testing.T) { callRuled(t, seed+n, &calls, outcomes) })
	}
	t.Logf("%d calls; what they were answered: %v", calls, outcomes)
	for _, kind := range []schema.Kind{schema.Get, schema.Update, schema.Delete} {
		for _, outcome := range []string{"admitted", "refused", "missing"} {
			if n := outcomes[string(kind)+" "+outcome]; n < 40 && !t.Failed() {
				t.Errorf("a %s was %s only %d times: this shows little", kind, outcome, n)
			}
		}
	}
}

// callRuled makes a schema whose actions have random rules, and calls them in
// several worlds.
func callRuled(t *testing.T, seed uint64, calls *int, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	var written []*subject
	for _, s := range lab.randomSubjects(r) {
		if s.place == ruleOfAction {
			written = append(written, s)
		}
	}
	text := lab.ruledText(lab.check(t, written))
	checked := mustCheck(t, text)
	db := pgtest.New(t, pgtest.Options{})
	if _, err := install.Install(t.Context(), db.Owner(t), Schema(checked, "test.stern")); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	conn := db.Superuser(t)
	if _, err := conn.Exec(t.Context(), "set session_replication_role = replica; set jit = off"); err != nil {
		t.Fatal(err)
	}
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

// verdict is what the interpreter makes of a call.
func verdict(call expr.Call, a *schema.Action, isThere bool) string {
	rule := a.Rules[0].Expression
	switch {
	case expr.Early(call, rule) == expr.False:
		return "refused"
	case !isThere:
		return "missing"
	case expr.Admits(call, rule):
		return "admitted"
	}
	return "refused"
}

// decide calls an action on a row, nil for one that is not there, and takes it back.
func decide(t *testing.T, tx pgx.Tx, w *world, a *schema.Action, row *testRow) string {
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
	if a.Kind == schema.Update {
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
	var answer string
	err = inner.QueryRow(t.Context(), "select api."+a.Function+"($1, $2)", string(input), w.contextJSON()).Scan(&answer)
	var raised *pgconn.PgError
	switch {
	case errors.As(err, &raised) && raised.Code == "SP403":
		return "refused"
	case errors.As(err, &raised) && raised.Code == "SP404", err == nil && answer == "null":
		return "missing"
	case errors.As(err, &raised) && strings.HasPrefix(raised.Code, "23"), err == nil: // it came to the write
		return "admitted"
	}
	t.Fatalf("call api.%s with %s: %v", a.Function, input, err)
	return ""
}
