package lower

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/sqlgen/check"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// random makes the choices of a differential test. Equal seeds make equal choices.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 1))} }

// chance is true in so many of a hundred cases.
func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// pick returns one of several.
func pick[T any](r random, choices []T) T { return choices[r.IntN(len(choices))] }

// The names in the random schemas. Some have to be quoted in SQL.
const (
	testConfig = "environment:\n  - name: REGION\nsecrets:\n  - name: KEY\nauth:\n  claims:\n    - key: team\n      field: team\n"

	testEnums = "enum State {\n  Open\n  Closed\n}\nenum Size {\n  L\n  M\n}\n"
)

// fieldNames are the scalars of the random schemas, and the names of their fields.
func fieldNames() [][2]string {
	return [][2]string{
		{"ID", "key"}, {"Text", "user"}, {"Markdown", "note"}, {"Number", "count"}, {"Decimal", "price"}, {"Boolean", "end"},
		{"Timestamp", "at"}, {"Date", "day"}, {"Duration", "lasts"}, {"State", "state"}, {"Size", "size"},
	}
}

// randomModels returns the models of a random schema: each its name and the lines
// of its fields.
func randomModels(r random) []*testModel {
	var models []*testModel
	for _, name := range []string{"Order", "Item", "Group", "Part"}[:2+r.IntN(3)] {
		models = append(models, &testModel{name: name})
	}
	for _, m := range models {
		for _, scalar := range fieldNames() {
			kind, name := scalar[0], scalar[1]
			if r.chance(45) {
				m.field(name, kind)
			}
			if r.chance(45) || kind == "Markdown" { // at least one, for an update has to write something
				m.field(name+"Maybe", kind+"?")
			}
			if r.chance(20) {
				m.field(name+"List", kind+"[]")
			}
			if r.chance(10) {
				m.field(name+"ListMaybe", kind+"[]?")
			}
		}
		if r.chance(30) {
			m.field("serial", `Text @sequence("x")`)
		}
		if r.chance(50) {
			m.field("hidden", pick(r, []string{"File?", "Vector?", "Password?", "Secret?"}))
		}
	}
	for i := range 2 + r.IntN(4) {
		x, y := r.IntN(len(models)), r.IntN(len(models))
		a, b := models[x], models[y]
		from, to := fmt.Sprint("to", i), fmt.Sprint("from", i)
		optional := "?"
		if y < x && r.chance(50) { // required ones must not form a cycle
			optional = ""
		}
		switch r.IntN(5) {
		case 0:
			a.field(from, b.name+optional)
		case 1:
			a.field(from, b.name+optional+" @unique @relation("+to+")")
			b.field(to, a.name+"?")
		default:
			a.field(from, b.name+optional+" @relation("+to+")")
			b.field(to, a.name+"[]")
		}
	}
	for i, m := range models {
		if i == 0 || r.chance(40) {
			m.field("identity", "Identity"+pick(r, []string{"", "?"})+" @unique")
		}
		if r.chance(40) {
			m.field("owner", "Identity"+pick(r, []string{"", "?"}))
		}
	}
	return models
}

// testModel is a model of a random schema as text.
type testModel struct {
	name   string
	fields []string
}

func (m *testModel) field(name, rest string) { m.fields = append(m.fields, name+" "+rest) }

// text is the model in the schema language; members are behind its fields.
func (m *testModel) text(members string) string {
	return "model " + m.name + " {\n  fields {\n    " + strings.Join(m.fields, "\n    ") + "\n  }\n" + members + "}\n"
}

func modelsText(models []*testModel) string {
	text := testEnums
	for _, m := range models {
		text += m.text("")
	}
	return text
}

// checkText checks the text of a schema, which is nil if there are errors.
func checkText(text string) (*model.Schema, syntax.Errors) {
	var errs syntax.Errors
	config := check.ReadConfig(&syntax.Source{Name: "sternpost.yaml", Text: []byte(testConfig)}, &errs)
	tree := syntax.Parse(&syntax.Source{Name: "test.stern", Text: []byte(text)}, &errs)
	s := check.Check([]*syntax.File{tree}, check.Options{Config: config, Functions: []string{"functions/churn.sql", "functions/close.sql", "functions/sweep.sql", "functions/watch.sql"}}, &errs)
	return s, errs.Sorted()
}

// mustCheck checks a schema without errors.
func mustCheck(t testing.TB, text string) *model.Schema {
	t.Helper()
	s, errs := checkText(text)
	for _, d := range errs {
		if !d.Warning {
			t.Fatalf("line %d: %s\n%s", d.Span.Start.Line, d.Message, text)
		}
	}
	return s
}

// modelNamed returns the model of that name.
func modelNamed(s *model.Schema, name string) *model.Model {
	for _, m := range s.Models {
		if m.Name == name {
			return m
		}
	}
	panic("no model " + name)
}

// theNow is the Timestamp of the start of the call.
const theNow = "now"

// domain returns the few values of a type that rows, inputs and literals have, in the form of a literal. They are
// chosen to meet: across types, and in every way that Postgres could confuse.
func domain(t expr.Type) []string {
	switch t.Kind {
	case expr.ID:
		return []string{"x1", "x2", "x3", "a"}
	case expr.Text, expr.Markdown, expr.Password, expr.Secret:
		return []string{"", "a", "B", "x1", "it's", " Ä\t"}
	case expr.Number:
		return []string{"-1", "0", "1", "2", "9007199254740991"}
	case expr.Decimal:
		return []string{"-1", "0.5", "1", "1.50", "2.0", "-2.345"}
	case expr.Boolean:
		return []string{"true", "false"}
	case expr.Timestamp:
		return []string{"2024-03-10T00:00:00.000Z", "2024-03-10T05:00:00.000Z", "2024-03-11T00:00:00.001Z"}
	case expr.Date:
		return []string{"2024-03-10", "2024-03-11"}
	case expr.Duration:
		return []string{"P1M", "P30D", "PT720H", "PT-1H"}
	case expr.Enum:
		if t.Name == "State" {
			return []string{"Open", "Closed"}
		}
		return []string{"L", "M"}
	case expr.File:
		return []string{`{"key":"k","filename":"f","contentType":"a/b","size":1}`}
	case expr.Vector:
		return []string{"{1,2}"}
	}
	panic("no values of " + t.String())
}

// randomValue returns a value of a type as the interpreter takes it.
func randomValue(r random, t expr.Type) any {
	if t.Array && t.Kind != expr.Vector {
		list := []any{}
		for range r.IntN(3) {
			list = append(list, randomValue(r, expr.Type{Kind: t.Kind, Name: t.Name}))
		}
		return list
	}
	v := pick(r, domain(t))
	if t.Kind == expr.Boolean {
		return v == "true"
	}
	return v
}

// world is the data that expressions are evaluated against: rows and a call.
type world struct {
	schema   *model.Schema
	rows     map[string][]*testRow // by the name of their model
	identity string                // the caller's id; "" means anonymous
	now      string
	inputs   map[string]any
	texts    map[string]string // the header, environment value and secret
	shown    *time.Duration    // how long ago the caller showed a credential; nil means a machine or nobody
	isSecond bool              // whether that was a second factor
}

// testRow is a row.
type testRow struct {
	world  *world
	model  *model.Model
	values map[string]any // of the stored fields, by name
}

// ID returns the row's id.
func (r *testRow) ID() string { return r.values["id"].(string) }

// Value returns the value of a field.
func (r *testRow) Value(field string) any {
	if r.values[field] == theNow {
		return r.world.now
	}
	return r.values[field]
}

// Related returns the rows that a relation leads to.
func (r *testRow) Related(field string) []expr.Row {
	f := r.model.Field(field)
	var rows []expr.Row
	for _, other := range r.world.rows[f.Target.Name] {
		if f.FK != nil && other.values["id"] == r.values[f.FK.Name] || f.FK == nil && other.values[f.Inverse.FK.Name] == r.values["id"] {
			rows = append(rows, other)
		}
	}
	return rows
}

// headers are the headers of the call, which may lack the one that expressions read.
func (w *world) headers() map[string]string {
	sent := map[string]string{}
	if text, isSent := w.texts["header"]; isSent {
		sent["x_team"] = text
	}
	return sent
}

// token is what the access token of the call tells.
func (w *world) token() string {
	if w.shown == nil {
		return ""
	}
	shown := auth.Shown{At: time.Now().Add(-*w.shown).Unix()}
	if w.isSecond {
		shown.Methods = []string{"mfa"}
	}
	return auth.TokenText(time.Now(), "", shown)
}

// call is the world as seen from one of its rows, nil for none.
func (w *world) call(row *testRow) expr.Call {
	c := expr.Call{
		Now:     w.now,
		Inputs:  w.inputs,
		Headers: w.headers(),
		Env:     map[string]string{"REGION": w.texts["env"]},
		Secrets: map[string]string{"KEY": w.texts["secret"]},
	}
	if row != nil {
		c.Row = row
	}
	c.HasSecondFactor, c.SignedIn = w.isSecond, w.shown
	for _, r := range w.rows["Identity"] {
		if r.ID() == w.identity {
			c.Identity = r
		}
	}
	return c
}

// randomWorld returns rows that satisfy a schema, and a call. The call may give the inputs; isWhole makes it give all.
func randomWorld(r random, s *model.Schema, inputs []*model.Input, isWhole bool) *world {
	w := &world{schema: s, rows: map[string][]*testRow{}, inputs: map[string]any{}, texts: map[string]string{}}
	counts := map[string]int{}
	for _, m := range s.Models {
		counts[m.Name] = r.IntN(4)
	}
	counts["Identity"] = 2 + r.IntN(2)
	for range s.Models { // until every required to-one can lead somewhere
		for _, m := range s.Models {
			for _, f := range m.Fields {
				switch {
				case f.FK == nil || f.Optional:
				case f.Unique:
					counts[m.Name] = min(counts[m.Name], counts[f.Target.Name])
				case counts[f.Target.Name] == 0:
					counts[m.Name] = 0
				}
			}
		}
	}
	for _, m := range s.Models {
		for i := range counts[m.Name] {
			w.rows[m.Name] = append(w.rows[m.Name], &testRow{world: w, model: m, values: map[string]any{"id": fmt.Sprint("x", i+1)}})
		}
	}
	for _, m := range s.Models {
		for _, f := range m.Stored() {
			w.fill(r, m, f, counts)
		}
	}
	if n := r.IntN(counts["Identity"] + 1); n > 0 {
		w.identity = fmt.Sprint("x", n)
		if r.chance(80) {
			ago := pick(r, []time.Duration{time.Minute, time.Hour})
			w.shown, w.isSecond = &ago, r.chance(50)
		}
	}
	for _, in := range inputs {
		switch {
		case in.Optional && !isWhole && r.chance(30):
		case in.Nullable && r.chance(40):
			w.inputs[in.Name] = nil
		default:
			w.inputs[in.Name] = randomValue(r, in.Type)
		}
	}
	for _, name := range []string{"header", "env", "secret"} {
		w.texts[name] = pick(r, []string{"", "a", "x1"})
	}
	if r.chance(25) {
		delete(w.texts, "header")
	}
	return w
}

// fill gives the rows of a model their values of a field.
func (w *world) fill(r random, m *model.Model, f *model.Field, counts map[string]int) {
	if f.Name == "id" {
		return
	}
	targets := []int{}
	if f.FKOf != nil {
		targets = r.Perm(counts[f.FKOf.Target.Name])
	}
	for i, row := range w.rows[m.Name] {
		switch {
		case m.IsIdentity && (f.Name == "issuer" || f.Name == "password"):
			row.values[f.Name] = nil // as parts of unique keys
		case f.Sequence != nil:
			row.values[f.Name] = fmt.Sprint("x", 9000+i) // the sequence does not come to it
		case f.Optional && r.chance(35):
			row.values[f.Name] = nil
		case f.FKOf != nil && f.Unique && i >= len(targets), f.FKOf != nil && len(targets) == 0:
			row.values[f.Name] = nil
		case f.FKOf != nil && f.Unique:
			row.values[f.Name] = fmt.Sprint("x", targets[i]+1)
		case f.FKOf != nil:
			row.values[f.Name] = fmt.Sprint("x", pick(r, targets)+1)
		case f.Type == expr.Type{Kind: expr.Timestamp} && r.chance(30):
			row.values[f.Name] = theNow
		default:
			row.values[f.Name] = randomValue(r, f.Type)
		}
	}
}

// sql returns the statements that insert the rows.
func (w *world) sql() string {
	var b strings.Builder
	for _, m := range w.schema.Models {
		if len(w.rows[m.Name]) == 0 {
			continue
		}
		fields := m.Stored()
		columns := make([]string, len(fields))
		for i, f := range fields {
			columns[i] = pg.Ident(f.Column)
		}
		fmt.Fprintf(&b, "insert into %s (%s) values", pg.Qualified(value.AppSchema, m.Table), strings.Join(columns, ", "))
		for i, row := range w.rows[m.Name] {
			values := make([]string, len(fields))
			for j, f := range fields {
				values[j] = valueSQL(f.Type, row.values[f.Name])
			}
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n  (%s)", strings.Join(values, ", "))
		}
		b.WriteString(";\n")
	}
	return b.String()
}

func valueSQL(t expr.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []any:
		elements := make([]string, len(v))
		for i, e := range v {
			elements[i] = valueSQL(expr.Type{Kind: t.Kind}, e)
		}
		return "array[" + strings.Join(elements, ", ") + "]::" + value.CastType(t.Kind) + "[]"
	case string:
		if v == theNow {
			return "now()"
		}
		return pg.Quote(v)
	}
	return fmt.Sprint(v)
}

// inputJSON is the body of the request.
func (w *world) inputJSON(inputs []*model.Input) string {
	body := map[string]any{}
	for _, in := range inputs {
		if v, given := w.inputs[in.Name]; given {
			body[in.Name] = wireValue(in.Type, v)
		}
	}
	text, err := json.Marshal(map[string]any{"where": body})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// wireValue is a value as in JSON, where numbers are not texts.
func wireValue(t expr.Type, v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = wireValue(t, e)
		}
		return list
	case string:
		if t.Kind == expr.Number || t.Kind == expr.Decimal {
			return json.Number(v)
		}
	}
	return v
}

// without returns the world without a row and those that need it.
func (w *world) without(gone *testRow) *world {
	smaller := *w
	smaller.rows = map[string][]*testRow{}
	dropped := map[*testRow]bool{gone: true}
	for again := true; again; {
		again = false
		w.eachReference(func(row *testRow, f *model.Field, target *testRow) {
			if dropped[target] && !f.Optional && !dropped[row] {
				dropped[row], again = true, true
			}
		})
	}
	copies := map[*testRow]*testRow{}
	for _, m := range w.schema.Models {
		for _, row := range w.rows[m.Name] {
			if !dropped[row] {
				values := map[string]any{}
				for _, f := range m.Stored() {
					values[f.Name] = row.values[f.Name]
				}
				copies[row] = &testRow{world: &smaller, model: m, values: values}
				smaller.rows[m.Name] = append(smaller.rows[m.Name], copies[row])
			}
		}
	}
	w.eachReference(func(row *testRow, f *model.Field, target *testRow) {
		if dropped[target] && !dropped[row] {
			copies[row].values[f.FK.Name] = nil
		}
	})
	if !slices.ContainsFunc(smaller.rows["Identity"], func(r *testRow) bool { return r.ID() == w.identity }) {
		smaller.identity, smaller.shown, smaller.isSecond = "", nil, false
	}
	return &smaller
}

// eachReference visits every row with every row that it points to.
func (w *world) eachReference(visit func(row *testRow, f *model.Field, target *testRow)) {
	for _, m := range w.schema.Models {
		for _, f := range m.Fields {
			if f.FK == nil {
				continue
			}
			for _, row := range w.rows[m.Name] {
				for _, target := range w.rows[f.Target.Name] {
					if row.values[f.FK.Name] == target.values["id"] {
						visit(row, f, target)
					}
				}
			}
		}
	}
}
