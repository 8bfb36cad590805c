package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
)

// testUnion is a random union over the models of a laboratory, as text.
type testUnion struct {
	fields []testUnionField
	arms   []*testArm
	lines  []string // @wheres of arms and actions; the language may refuse some
}

type testUnionField struct {
	name       string
	typ        expr.Type
	isRequired bool
}

// testArm is an arm. Its @wheres are those of the union's lines that it names.
type testArm struct {
	name   string
	model  *model.Model
	sets   []string
	wheres []int
}

// randomUnion returns a union with arms of few models, so that some share one.
func (lab *laboratory) randomUnion(r random) *testUnion {
	u := &testUnion{}
	for _, scalar := range fieldNames() {
		name := scalar[1]
		title := strings.ToUpper(name[:1]) + name[1:]
		typ := lab.inputNamed("in" + title).Type
		array := typ
		array.Array = true
		for _, f := range []struct {
			share int
			field testUnionField
		}{
			{60, testUnionField{name: "of" + title, typ: typ}},
			{25, testUnionField{name: "some" + title, typ: typ, isRequired: true}},
			{30, testUnionField{name: name + "Maybe", typ: typ}}, // of models too
			{30, testUnionField{name: name, typ: typ}},
			{20, testUnionField{name: name + "List", typ: array}},
		} {
			if r.chance(f.share) || len(u.fields) == 0 {
				u.fields = append(u.fields, f.field)
			}
		}
	}
	for i := range 2 + r.IntN(3) {
		m := modelNamed(lab.schema, pick(r, lab.models[:min(2, len(lab.models))]).name)
		if r.chance(30) {
			m = modelNamed(lab.schema, pick(r, lab.models).name)
		}
		if i == 1 && r.chance(50) {
			m = u.arms[0].model
		}
		arm := &testArm{name: fmt.Sprint("arm", i), model: m}
		for _, f := range u.fields {
			if value := lab.armValue(r, m, f); value != "" {
				arm.sets = append(arm.sets, "@set(feed."+f.name+" = "+value+")")
			}
		}
		g := &generator{random: r}
		g.walk(m.Variable, m, nil, nil, 2, false)
		for range max(0, r.IntN(4)-1) { // often none, or little is left
			arm.wheres = append(arm.wheres, len(u.lines))
			u.lines = append(u.lines, "@where("+g.expression().String()+")")
		}
		u.arms = append(u.arms, arm)
	}
	u.addActions(r, lab)
	return u
}

// inputNamed returns the input of that name.
func (lab *laboratory) inputNamed(name string) *model.Input {
	return lab.inputs[slices.IndexFunc(lab.inputs, func(in *model.Input) bool { return in.Name == name })]
}

// armValue returns the value that an arm gives to a field, empty for none.
func (lab *laboratory) armValue(r random, m *model.Model, f testUnionField) string {
	g := &generator{random: r}
	var fitting []string
	for _, p := range toOnePaths(m.Variable, m, false, 2) {
		isWidened := f.typ == (expr.Type{Kind: expr.Decimal}) && p.typ == (expr.Type{Kind: expr.Number})
		if (p.typ == f.typ || isWidened) && !(f.isRequired && p.isOptional) {
			fitting = append(fitting, p.text)
		}
	}
	literal, ok := g.literal(f.typ)
	switch {
	case len(fitting) > 0 && r.chance(60):
		return pick(r, fitting)
	case ok && !f.typ.Array && (f.isRequired || r.chance(30)):
		return literal
	}
	return ""
}

type toOnePath struct {
	text       string
	typ        expr.Type
	isOptional bool
}

// toOnePaths returns the paths from a row to values.
func toOnePaths(text string, m *model.Model, isOptional bool, depth int) []toOnePath {
	var paths []toOnePath
	for _, f := range m.Fields {
		name := text + "." + f.Name
		switch {
		case !f.IsRelation():
			paths = append(paths, toOnePath{name, f.Type, isOptional || f.Optional})
		case !f.IsToMany() && depth > 0:
			paths = append(paths, toOnePaths(name, f.Target, isOptional || f.Optional, depth-1)...)
		}
	}
	return paths
}

// addActions adds lists and gets with random rules and @wheres.
func (u *testUnion) addActions(r random, lab *laboratory) {
	var inputs, mentions []string
	known := []*model.Input{}
	for _, in := range lab.inputs {
		if in.Explicit {
			optional := ""
			if in.Optional {
				optional = "?"
			}
			inputs = append(inputs, in.Name+": "+in.Type.String()+optional)
			mentions = append(mentions, in.Name+" == null")
			known = append(known, in)
		}
	}
	// Many of the rules that ask for caller and inputs refuse every row.
	whole, ofRow := newGenerator(r, lab.schema, nil, known, false), &generator{random: r}
	for _, f := range append(u.fields, testUnionField{name: "id", typ: expr.Type{Kind: expr.ID}}) {
		ofRow.add(candidate{text: "feed." + f.name, typ: f.typ})
		for _, depth := range []int{1, 8, 9} { // chosen often
			whole.add(candidate{text: "feed." + f.name, typ: f.typ, depth: depth})
		}
	}
	for i := range 24 {
		kind, reads := "list", inputs
		if i%3 == 0 {
			kind, reads = "get", append([]string{"id"}, inputs...)
		}
		g := pick(r, []*generator{whole, ofRow})
		text := fmt.Sprintf("%s a%d(%s) { @permission(expression: %s) @permission(expression: false && (%s))",
			kind, i, strings.Join(reads, ", "), u.condition(g), strings.Join(mentions, " || "))
		if r.chance(25) {
			text += " @where(" + u.condition(g).String() + ")"
		}
		u.lines = append(u.lines, text+" }")
	}
}

// condition returns an expression over the union; some ask for the source.
func (u *testUnion) condition(g *generator) *term {
	t := g.expression()
	if !g.chance(40) {
		return t
	}
	arm := pick(g.random, u.arms)
	source := pick(g.random, []string{
		`feed.sourceArm == "` + arm.name + `"`, `feed.sourceArm != "` + arm.name + `"`,
		`feed.sourceArm in ["` + u.arms[0].name + `", "` + arm.name + `"]`,
		`feed.sourceModel == "` + arm.model.Name + `"`, `!(feed.sourceModel == "` + arm.model.Name + `")`,
	})
	return &term{op: pick(g.random, []string{"&&", "&&", "||"}), args: []*term{t, {leaf: source}}}
}

// text is the schema with the union, without the lines that are empty.
func (u *testUnion) text(models []*testModel) string {
	var b strings.Builder
	b.WriteString(modelsText(models))
	b.WriteString("union Feed {\n  fields {\n")
	for _, f := range u.fields {
		optional := "?"
		if f.isRequired {
			optional = ""
		}
		fmt.Fprintf(&b, "    %s %s%s\n", f.name, f.typ, optional)
	}
	b.WriteString("  }\n  arms {\n")
	isWhere := map[int]bool{}
	for _, arm := range u.arms {
		fmt.Fprintf(&b, "    %s %s {\n      @where(%s.id != \"\")\n      %s\n", arm.name, arm.model.Name, arm.model.Variable, strings.Join(arm.sets, "\n      "))
		for _, i := range arm.wheres {
			isWhere[i] = true
			fmt.Fprintf(&b, "/*%d*/ %s\n", i, u.lines[i])
		}
		b.WriteString("    }\n")
	}
	b.WriteString("  }\n  actions {\n")
	for i, line := range u.lines {
		if !isWhere[i] {
			fmt.Fprintf(&b, "/*%d*/ %s\n", i, line)
		}
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

// check drops the lines that the language refuses, and returns the schema of the
// others and its text.
func (u *testUnion) check(t *testing.T, models []*testModel) (*model.Schema, string) {
	t.Helper()
	text := u.text(models)
	_, errs := checkText(text)
	lines := strings.Split(text, "\n")
	for _, d := range errs {
		if d.Warning {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(lines[d.Span.Start.Line-1], "/*%d*/", &n); err != nil {
			t.Fatalf("line %d: %s\n%s", d.Span.Start.Line, d.Message, text)
		}
		u.lines[n] = ""
	}
	text = u.text(models)
	return mustCheck(t, text), text
}

// unionRow is a row of a union as the interpreter sees it: by the mapping of its arm.
type unionRow struct {
	*testRow
	arm    *model.Arm
	number int
}

// Value returns the value of a field of the union.
func (r unionRow) Value(field string) any {
	switch field {
	case "id":
		return r.ID()
	case "sourceModel":
		return r.arm.Model.Name
	case "sourceArm":
		return r.arm.Name
	}
	for _, v := range r.arm.Values {
		if v.Field.Name == field {
			return r.mapped(v.Value)
		}
	}
	panic("no field " + field)
}

// Related panics, since a union has no relations.
func (r unionRow) Related(field string) []expr.Row { panic("a union has no relation " + field) }

func (r unionRow) mapped(n expr.Node) any {
	switch n := n.(type) {
	case *expr.Literal:
		return n.Value
	case *expr.Path:
		var row expr.Row = r.testRow
		last := len(n.Steps) - 1
		for _, step := range n.Steps[:last] {
			related := row.Related(step.StepName())
			if len(related) == 0 {
				return nil
			}
			row = related[0]
		}
		return row.Value(n.Steps[last].StepName())
	}
	return nil
}

// unionRows returns the rows of a union in the order of its lists: those that an arm
// takes and no earlier arm of its model, by id and then by arm.
func (w *world) unionRows(u *model.Union) []unionRow {
	var rows []unionRow
	taken := map[*testRow]bool{}
	for number, arm := range u.Arms {
		for _, row := range w.rows[arm.Model.Name] {
			if !taken[row] && expr.Holds(expr.Call{Row: row}, expressionsOf(arm.Wheres)...) {
				taken[row] = true
				rows = append(rows, unionRow{row, arm, number})
			}
		}
	}
	slices.SortFunc(rows, func(a, b unionRow) int {
		if c := strings.Compare(a.ID(), b.ID()); c != 0 {
			return c
		}
		return a.number - b.number
	})
	return rows
}

// isShared tells whether an earlier arm of the row's model has not taken it.
func (r unionRow) isShared() bool {
	return slices.ContainsFunc(r.arm.Values[0].Field.Union.Arms[:r.number], func(earlier *model.Arm) bool { return earlier.Model == r.arm.Model })
}

// callOver is the call on a row of a union.
func (w *world) callOver(row unionRow) expr.Call {
	call := w.call(nil)
	call.Row = row
	return call
}

// TestUnionDifferential reads random unions under random rules and @wheres, by lists and by gets, and compares the
// answers with the interpreter's over the arms.
func TestUnionDifferential(t *testing.T) {
	t.Parallel()
	outcomes := map[string]int{}
	forDifferentialTime(t, func(t *testing.T, seed uint64) { readUnion(t, seed, outcomes) }, 7, 10)
	t.Logf("%v", outcomes)
	for _, outcome := range []string{
		"list refused", "list none", "list some", "list all", "get refused", "get missing", "get admitted", "record", "of a later arm of its model",
	} {
		// A slow machine may try too few seeds other than the fixed ones.
		if n := outcomes[outcome]; n < 10 && !t.Failed() && *differential == 0 {
			t.Errorf("%s: only %d times, which shows little", outcome, n)
		}
	}
}

// readUnion makes a schema with a random union and reads it in several worlds.
func readUnion(t *testing.T, seed uint64, outcomes map[string]int) {
	r := newRandom(seed)
	lab := newLaboratory(t, randomModels(r))
	union := lab.randomUnion(r)
	checked, text := union.check(t, lab.models)
	conn := installed(t, checked, text)
	for range 6 {
		w := randomWorld(r, checked, lab.inputs, r.chance(50))
		for range 5 { // with rows to tell apart
			if len(w.rows[checked.Unions[0].Arms[0].Model.Name]) < 2 {
				w = randomWorld(r, checked, lab.inputs, r.chance(50))
			}
		}
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lab.set(t, tx, w)
		for _, a := range checked.Actions {
			fail := func(what, got, want string) {
				t.Helper()
				t.Fatalf("seed %d: %s of %s\ngot  %s\nwant %s\nby %q with %s, texts %v\n%s\n%s",
					seed, what, a.Name, got, want, w.identity, w.inputJSON(lab.inputs), w.texts, text, w.sql())
			}
			all := w.unionRows(a.Union)
			if a.Kind == model.List {
				wanted := w.admitted(all, a)
				first := 1 + r.IntN(6)
				want, outcome := wantedPage(unionKeys(wanted), first), "list some"
				switch {
				case isRefusedEarly(w.call(nil), a.Rules):
					want, outcome = "refused", "list refused"
				case len(wanted) == 0:
					outcome = "list none"
				case len(wanted) == len(all):
					outcome = "list all"
				}
				outcomes[outcome]++
				page := listOf(t, tx, w, a, first)
				if got := page.keys("id", "sourceArm"); got != want {
					fail(fmt.Sprintf("the first %d", first), got, want)
				}
				for i, record := range page.records {
					outcomes["record"]++
					if wanted[i].isShared() {
						outcomes["of a later arm of its model"]++
					}
					if field, got, want := wanted[i].difference(record); field != "" {
						fail(fmt.Sprintf("%s of %s", field, wanted[i].ID()), got, want)
					}
				}
				continue
			}
			for _, id := range []string{"x1", "x2", "x3", "missing"} {
				want, outcome := w.wantedGet(all, a, id)
				outcomes["get "+outcome]++
				body := w.given(a.Reads)
				body["id"] = id
				got, isRefused := answer(t, tx, w, a, body)
				if isRefused {
					got = "refused"
				} else if got != "null" {
					var record map[string]any
					if err := json.Unmarshal([]byte(got), &record); err != nil {
						t.Fatal(err)
					}
					got = fmt.Sprint(record["id"], " ", record["sourceArm"])
				}
				if got != want {
					fail(id, got, want)
				}
			}
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// admitted returns the rows of a union that an action finds and its rules admit.
func (w *world) admitted(rows []unionRow, a *model.Action) []unionRow {
	return slices.DeleteFunc(slices.Clone(rows), func(row unionRow) bool {
		call := w.callOver(row)
		return !expr.Holds(call, expressionsOf(a.Wheres)...) || !isAdmitted(call, a.Rules)
	})
}

// wantedGet is the expected answer of a get of a union: among rows with one id, that of the first arm that the rules
// admit.
func (w *world) wantedGet(rows []unionRow, a *model.Action, id string) (answer, outcome string) {
	if isRefusedEarly(w.call(nil), a.Rules) {
		return "refused", "refused"
	}
	found := slices.DeleteFunc(slices.Clone(rows), func(row unionRow) bool {
		return row.ID() != id || !expr.Holds(w.callOver(row), expressionsOf(a.Wheres)...)
	})
	admitted := w.admitted(found, a)
	switch {
	case len(admitted) > 0:
		return unionKeys(admitted)[0], "admitted"
	case len(found) > 0:
		return "refused", "refused"
	}
	return "null", "missing"
}

func unionKeys(rows []unionRow) []string {
	var keys []string
	for _, row := range rows {
		keys = append(keys, row.ID()+" "+row.arm.Name)
	}
	return keys
}

// difference returns the first field of a record that differs from the arm's value, empty for none. For values with
// more than one spelling it only checks whether they are there.
func (r unionRow) difference(record map[string]any) (field, got, want string) {
	for _, v := range r.arm.Values {
		f := v.Field
		value, isThere := record[f.Name]
		wanted := r.Value(f.Name)
		switch {
		case !isThere:
			return f.Name, "nothing", fmt.Sprint(wanted)
		case value == nil || wanted == nil:
			if value != wanted {
				return f.Name, fmt.Sprint(value), fmt.Sprint(wanted)
			}
		default:
			switch f.Type.Kind {
			case expr.ID, expr.Text, expr.Markdown, expr.Boolean, expr.Number, expr.Enum:
				if fmt.Sprint(value) != fmt.Sprint(wanted) {
					return f.Name, fmt.Sprint(value), fmt.Sprint(wanted)
				}
			}
		}
	}
	return "", "", ""
}
