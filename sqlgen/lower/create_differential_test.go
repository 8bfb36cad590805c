package lower

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/integration/calls"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// TestCreateDifferential creates rows under random rules, and compares whether they are refused with the interpreter's
// verdict on the row as it is stored. With the flag -differential it goes on for that long.
func TestCreateDifferential(t *testing.T) {
	t.Parallel()
	calls, outcomes := 0, map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { compareCreates(t, seed, &calls, outcomes) }, 0)
	t.Logf("%d calls; outcomes: %v", calls, outcomes)
	for _, outcome := range []string{"refused early", "refused by row", "admitted early", "admitted by row"} {
		if n := outcomes[outcome]; n < 10 && !t.Failed() {
			t.Errorf("a create was %s only %d times: this shows little", outcome, n)
		}
	}
}

// compareCreates makes a schema with creates under random rules, and calls them in
// several worlds.
func compareCreates(t *testing.T, seed uint64, calls *int, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	text := lab.createText(lab.check(t, lab.randomRules(r)))
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
			body, row, ok := w.newRow(r, a)
			if !ok {
				continue
			}
			rule := a.Rules[0].Expression
			number(t, tx, row)
			after := *w
			after.inputs = row.inputs
			early := expr.Early(after.call(nil), rule)
			after.rows = map[string][]*testRow{}
			for model, rows := range w.rows {
				for _, old := range rows {
					copied := *old
					copied.world = &after
					after.rows[model] = append(after.rows[model], &copied)
				}
			}
			row.testRow.world = &after
			after.rows[a.Model.Name] = append(after.rows[a.Model.Name], row.testRow)
			call := after.call(row.testRow)
			call.Identity = w.call(nil).Identity // the caller as before the call
			want := "admitted"
			if early == expr.False || early == expr.Unknown && !expr.Admits(call, rule) {
				want = "refused"
			}
			*calls++
			got := create(t, tx, w, a, body)
			if got == "conflict" {
				outcomes[got]++
				continue
			}
			if got != want {
				t.Fatalf("seed %d: %s of %s under @permission(expression: %s)\nis %s, want %s, by %q\n%s\n%s",
					seed, a.Name, body, a.Rules[0].Text, got, want, w.identity, modelsText(lab.models), w.sql())
			}
			if early == expr.Unknown {
				outcomes[want+" by row"]++
			} else {
				outcomes[want+" early"]++
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// number gives a row the number that it will have.
func number(t *testing.T, tx pgx.Tx, row createdRow) {
	t.Helper()
	for _, f := range row.model.Stored() {
		if f.Sequence == nil {
			continue
		}
		var next int
		query := "select last_value + is_called::integer from " + pg.Qualified(value.AppSchema, row.model.Table+"_"+f.Column+"_seq")
		if err := tx.QueryRow(t.Context(), query).Scan(&next); err != nil {
			t.Fatal(err)
		}
		row.values[f.Name] = fmt.Sprintf("%s%04d", f.Sequence.Prefix, next)
	}
}

// createText is the schema with a create for each rule.
func (lab *laboratory) createText(subjects []*subject) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, m := range lab.models {
		explicit, reads, _ := m.inputs()
		mention := "@permission(expression: false && (" + strings.Join(explicit, " == null || ") + " == null))"
		inputs := []string{"id"}
		for _, f := range modelNamed(lab.schema, m.name).Stored() {
			switch {
			case f.Name == "id" || f.Name == "createdAt" || f.Name == "updatedAt" || f.StepWriteOnly():
			case f.Sequence != nil:
			case f.Type.Kind == expr.File || f.Type.Kind == expr.Vector:
			case f.Optional:
				inputs = append(inputs, f.Name+"?")
			default:
				inputs = append(inputs, f.Name)
			}
		}
		var actions strings.Builder
		for i, s := range subjects {
			if s.model == m.name {
				fmt.Fprintf(&actions, "    create a%d() with (%s, %s) {\n      %s\n      %s\n    }\n", i, strings.Join(inputs, ", "), reads, s.attributes(), mention)
			}
		}
		b.WriteString(m.text("  actions {\n" + actions.String() + "  }\n"))
	}
	return b.String()
}

// createdRow is a row that a request asks for, with the inputs of the request.
type createdRow struct {
	*testRow
	inputs map[string]any
}

// newRow makes a request for a create, and the row that it stores. It returns none if the row has to refer to a row
// that does not exist: the references of a world are not enforced, and a dangling one would not be null to the
// database.
func (w *world) newRow(r random, a *model.Action) (body string, row createdRow, ok bool) {
	row = createdRow{&testRow{model: a.Model, values: map[string]any{"id": "new", "createdAt": theNow, "updatedAt": theNow}}, map[string]any{}}
	members := map[string]any{}
	for _, f := range a.Model.Stored() {
		if _, known := row.values[f.Name]; !known {
			row.values[f.Name] = nil
		}
	}
	for _, in := range a.Writes {
		var v any
		f := a.Model.Field(in.Name)
		switch {
		case in.Explicit:
			given, has := w.inputs[in.Name]
			if !has {
				continue
			}
			v = given
		case in.Name == "id":
			v = "new"
		case in.Optional && r.chance(20):
			continue
		case in.Nullable && r.chance(30):
			v = nil
		case f != nil && f.FKOf != nil:
			targets := w.rows[f.FKOf.Target.Name]
			switch {
			case len(targets) > 0:
				v = pick(r, targets).ID()
			case !in.Nullable:
				return "", row, false
			}
		default:
			v = randomValue(r, in.Type)
		}
		row.inputs[in.Name], members[in.Name] = v, wireValue(in.Type, v)
		if !in.Explicit {
			row.values[in.Name] = v
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text), row, true
}

// create calls a create and rolls it back.
func create(t *testing.T, tx pgx.Tx, w *world, a *model.Action, body string) string {
	t.Helper()
	inner, err := tx.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Rollback(t.Context())
	_, err = calls.JSON(t.Context(), inner.Conn(), a.Function, body, w.contextJSON())
	var raised *pgconn.PgError
	switch {
	case err == nil:
		return "admitted"
	case errors.As(err, &raised) && (raised.Code == "SP403" || raised.Code == "SP405" || raised.Code == "42501"):
		return "refused"
	case errors.As(err, &raised) && raised.Code == "23505":
		return "conflict"
	}
	t.Fatalf("call api.%s with %s under @permission(expression: %s) by %q: %v\n%s", a.Function, body, a.Rules[0].Text, w.identity, err, w.sql())
	return ""
}
