package lower

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// laboratory is a database with the tables of a random schema.
type laboratory struct {
	models []*testModel
	schema *model.Schema  // without actions and rules
	inputs []*model.Input // of all actions, each name once
	conn   *pgx.Conn      // of a superuser, not bound by foreign keys and policies
}

// newLaboratory installs the tables of models.
func newLaboratory(t *testing.T, models []*testModel) *laboratory {
	t.Helper()
	lab := &laboratory{models: models}
	lab.schema = mustCheck(t, modelsText(models))
	for _, a := range mustCheck(t, lab.text(nil)).Actions {
		for _, in := range append(a.Reads, a.Writes...) {
			lab.addInput(in)
		}
	}
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, lab.schema, modelsText(models))
	lab.conn = db.Superuser(t)
	// Rows come in any order, and the time zone must not matter. Most of the time goes
	// to planning, so a statement is planned once for all worlds, and not compiled.
	_, err := lab.conn.Exec(t.Context(), `
		set session_replication_role = replica;
		set time zone 'America/New_York';
		set plan_cache_mode = force_generic_plan;
		set jit = off;
	`)
	if err != nil {
		t.Fatal(err)
	}
	var isByByte bool
	err = lab.conn.QueryRow(t.Context(), "select 'B'::text < 'a'::text").Scan(&isByByte)
	if err != nil {
		t.Fatal(err)
	}
	if !isByByte {
		t.Fatal("the database does not order text by its bytes, as the interpreter does: give it the collation C or C.UTF-8")
	}
	return lab
}

func (lab *laboratory) addInput(in *model.Input) {
	for _, known := range lab.inputs {
		if known.Name == in.Name {
			return
		}
	}
	if in.Name != "id" {
		lab.inputs = append(lab.inputs, in)
	}
}

// text is the schema with the expressions as attributes, each subject's on the line
// behind its number. Every model has one action more, without expression.
func (lab *laboratory) text(subjects []*subject) string {
	var b strings.Builder
	b.WriteString(testEnums)
	for _, m := range lab.models {
		explicit, reads, writes := m.inputs()
		// An explicit input has to be mentioned.
		mention := "@validate(" + strings.Join(explicit, " == null || ") + " == null)"
		var actions, validations strings.Builder
		action := func(name, attributes string) {
			fmt.Fprintf(&actions, "    update %s(id, %s) with (%s) {\n%s\n      %s\n    }\n", name, reads, writes, attributes, mention)
		}
		action("none"+m.name, "@permission(expression: true)")
		for i, s := range subjects {
			line := fmt.Sprintf("/*%d*/ %s", i, s.attributes())
			switch {
			case s.model != m.name:
			case s.place == validateOfModel:
				validations.WriteString(line + "\n")
			case s.place.isRule():
				action(fmt.Sprint("a", i), line)
			default:
				action(fmt.Sprint("a", i), line+" @permission(expression: true)")
			}
		}
		b.WriteString(m.text("  actions {\n" + actions.String() + "  }\n" + validations.String()))
	}
	return b.String()
}

// check checks the expressions and returns those that the language accepts.
func (lab *laboratory) check(t testing.TB, subjects []*subject) []*subject {
	t.Helper()
	text := lab.text(subjects)
	_, errs := checkText(text)
	lines := strings.Split(text, "\n")
	refused := map[int]bool{}
	for _, d := range errs {
		if d.Warning {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(lines[d.Span.Start.Line-1], "/*%d*/", &n); err != nil {
			t.Fatalf("line %d: %s\n%s", d.Span.Start.Line, d.Message, text)
		}
		refused[n] = true
	}
	var accepted []*subject
	for i, s := range subjects {
		if !refused[i] {
			copied := *s
			accepted = append(accepted, &copied)
		}
	}

	s := mustCheck(t, lab.text(accepted))
	for _, a := range s.Actions {
		var n int
		if _, err := fmt.Sscanf(a.Name, "a%d", &n); err != nil {
			continue
		}
		switch {
		case accepted[n].place == whereOfAction:
			for _, w := range a.Wheres {
				accepted[n].nodes = append(accepted[n].nodes, w.Expression)
			}
		case accepted[n].place.isRule():
			accepted[n].nodes = []expr.Node{a.Rules[0].Expression}
		case accepted[n].place == validateOfAction:
			accepted[n].nodes = []expr.Node{a.Validations[0].Expression}
		}
	}
	for _, m := range s.Models {
		next := 0
		for _, a := range accepted {
			if a.place == validateOfModel && a.model == m.Name {
				a.nodes = []expr.Node{m.Validations[next].Expression}
				next++
			}
		}
	}
	return accepted
}

// sql is the subject's condition at a site.
func (lab *laboratory) sql(s *subject, at value.Site) string {
	var row *value.TableAlias
	if s.place.hasRow() {
		p := value.RowOf(modelNamed(lab.schema, s.model))
		row = &p
	}
	x := value.NewExpression(s.place.logic(), at, row, func(in expr.Input) pg.Expr {
		return value.FromJSON(in.InputType(), in.InputOptional() || in.InputNullable(), pg.Col("call", "input"), "where", in.InputName())
	})
	if s.place.isEarly() {
		return emit.Expr(lab.early(s, x))
	}
	condition := x.Conjunction(s.conjuncts())
	if s.place.logic() != value.ValidateLogic {
		condition = &pg.Is{Value: condition, Test: "true"}
	}
	return emit.Expr(condition)
}

// early is the knowledge about the subject before any row is read. The order of the two questions,
// holds and fails, differs by site, since both must not be true.
func (lab *laboratory) early(s *subject, x value.Expression) pg.Expr {
	d := rule.Decider{Expression: x}
	if s.place == uploadOfAction {
		d.InputsKnown = pg.IsNotNull(pg.As(pg.Null(), "jsonb"))
	}
	known := d.DecideEarly([]*model.Rule{{Expression: s.nodes[0]}})
	whens := []pg.When{{Condition: known.Holds, Result: pg.True()}, {Condition: known.Fails, Result: pg.False()}}
	if x.Site == value.InQuery {
		slices.Reverse(whens)
	}
	return &pg.Case{Whens: whens}
}

// conjuncts returns the subject's expressions as the conditions of a call: a @where
// that mentions an absent input does not count.
func (s *subject) conjuncts() []value.Conjunct {
	var list []value.Conjunct
	for _, n := range s.nodes {
		parts := value.PartsOf(n)
		if absent := lacksAny(n); s.place == whereOfAction && !pg.IsFalse(absent) {
			parts = value.UnlessAbsent(absent, parts)
		}
		list = append(list, parts...)
	}
	return list
}

// lacksAny tells whether the input lacks any optional one that an expression mentions.
func lacksAny(n expr.Node) pg.Expr {
	var conditions []pg.Expr
	for _, in := range expr.Mentions(n).Inputs {
		if in.InputOptional() {
			conditions = append(conditions, pg.IsNull(value.Member(pg.Col("call", "input"), "where", in.InputName())))
		}
	}
	return pg.AnyOf(conditions...)
}

// checkConstraints proves that the rules of models can become constraints.
func (lab *laboratory) checkConstraints(t testing.TB, subjects []*subject) {
	t.Helper()
	for _, m := range lab.models {
		var constraints []string
		for _, s := range subjects {
			if s.place == validateOfModel && s.model == m.name {
				constraints = append(constraints, "\n  add check ("+lab.sql(s, value.InFunction)+")")
			}
		}
		statement := "begin; alter table " + pg.Qualified(value.AppSchema, modelNamed(lab.schema, m.name).Table) +
			strings.Join(constraints, ",") + "; rollback"
		if _, err := lab.conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%v\n%s\n%s", err, modelsText(lab.models), statement)
		}
	}
}

// sites are where conditions are tested.
func sites() []value.Site { return []value.Site{value.InFunction, value.InQuery} }

// experiment is a statement that evaluates subjects of one model and place for all
// rows, and for an input that is its parameter.
type experiment struct {
	subjects  []*subject
	statement string
}

// experiments puts subjects together to experiments.
func (lab *laboratory) experiments(subjects []*subject) []*experiment {
	var all []*experiment
	for _, m := range lab.models {
		for _, place := range testPlaces() {
			var group []*subject
			for _, s := range subjects {
				if s.place == place && s.model == m.name {
					group = append(group, s)
				}
			}
			if len(group) > 0 {
				all = append(all, lab.experiment(group))
			}
		}
	}
	return all
}

func (lab *laboratory) experiment(subjects []*subject) *experiment {
	var values []string
	for _, s := range subjects {
		for _, at := range sites() {
			values = append(values, lab.sql(s, at))
		}
	}
	id, from := "''", ""
	if subjects[0].place.hasRow() {
		table := modelNamed(lab.schema, subjects[0].model).Table
		id, from = pg.Ident(table)+".id", pg.Qualified(value.RelatedSchema, table)+"\ncross join "
	}
	return &experiment{subjects, "select " + id + ", array[\n  " + strings.Join(values, ",\n  ") + "\n]::boolean[]\nfrom " + from +
		"(values ($1::jsonb)) as call (input)"}
}

// disagreement is a value on which Postgres and the interpreter differ.
type disagreement struct {
	subject   *subject
	world     *world
	row       string // its id; empty without row
	at        value.Site
	got, want string
}

// compare compares the values of all subjects in a world. Only the first
// disagreement is returned, nil if there is none.
func (lab *laboratory) compare(t testing.TB, w *world, experiments []*experiment, total *tally) *disagreement {
	t.Helper()
	tx, err := lab.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	lab.set(t, tx, w)
	for _, e := range experiments {
		if d := lab.run(t, tx, w, e, total); d != nil {
			return d
		}
	}
	return nil
}

// set puts the rows and the settings of a world into a transaction.
func (lab *laboratory) set(t testing.TB, tx pgx.Tx, w *world) {
	t.Helper()
	script := w.sql()
	header := ""
	if text, isSent := w.texts["header"]; isSent {
		header = "=" + text
	}
	for _, setting := range [][2]string{
		{"identity_id", w.identity}, {"token", w.token()}, {"headers.x_team", header}, {"env.REGION", w.texts["env"]}, {"secrets.KEY", w.texts["secret"]},
	} {
		script += "select set_config('sternpost." + setting[0] + "', " + pg.Quote(setting[1]) + ", true);\n"
	}
	if _, err := tx.Conn().PgConn().Exec(t.Context(), script).ReadAll(); err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	if err := tx.QueryRow(t.Context(), "select platform.iso(now()::timestamptz(3))").Scan(&w.now); err != nil {
		t.Fatal(err)
	}
}

// run runs one experiment in a world.
func (lab *laboratory) run(t testing.TB, tx pgx.Tx, w *world, e *experiment, total *tally) *disagreement {
	t.Helper()
	group := e.subjects
	found, err := evaluate(t, tx, e.statement, w.inputJSON(lab.inputs))
	if err != nil && len(group) == 1 {
		return &disagreement{subject: group[0], world: w, got: err.Error(), want: "no error"}
	}
	if err != nil {
		for _, s := range group {
			if d := lab.run(t, tx, w, lab.experiment([]*subject{s}), total); d != nil {
				return d
			}
		}
		t.Fatalf("%v, though no expression by itself has an error", err)
	}
	rows := w.rows[group[0].model]
	if !group[0].place.hasRow() {
		rows = []*testRow{nil}
	}
	for _, row := range rows {
		id := ""
		if row != nil {
			id = row.ID()
		}
		call := w.call(row)
		for i, s := range group {
			if !s.takes(w) {
				continue
			}
			want := s.value(call)
			total.outcomes[s.place][want]++
			for j, at := range sites() {
				total.cases++
				if got := found[id][i*len(sites())+j]; got != want {
					return &disagreement{subject: s, world: w, row: id, at: at, got: got.String(), want: want.String()}
				}
			}
		}
	}
	return nil
}

// takes tells whether the action accepts the inputs of a world: an input that pins a row there is never null, though it
// may be in other actions.
func (s *subject) takes(w *world) bool {
	return !slices.ContainsFunc(expr.Paths(s.nodes...), func(p *expr.Path) bool {
		if p.Input == nil || p.Input.InputNullable() {
			return false
		}
		value, isGiven := w.inputs[p.Input.InputName()]
		return isGiven && value == nil
	})
}

// evaluate runs a statement and returns its values by row. An error leaves the
// transaction usable.
func evaluate(t testing.TB, tx pgx.Tx, statement, input string) (map[string][]expr.Truth, error) {
	t.Helper()
	inner, err := tx.Begin(t.Context())
	if err != nil {
		return nil, err
	}
	defer inner.Rollback(t.Context())
	rows, err := inner.Query(t.Context(), statement, input)
	if err != nil {
		return nil, err
	}
	found := map[string][]expr.Truth{}
	var id string
	var values []*bool
	_, err = pgx.ForEachRow(rows, []any{&id, &values}, func() error {
		for _, v := range values {
			switch {
			case v == nil:
				found[id] = append(found[id], expr.Unknown)
			case *v:
				found[id] = append(found[id], expr.True)
			default:
				found[id] = append(found[id], expr.False)
			}
		}
		return nil
	})
	return found, err
}

// shrink makes the case of a disagreement smaller, as long as it still disagrees.
func (lab *laboratory) shrink(t testing.TB, d *disagreement) *disagreement {
	t.Helper()
	for range 100 {
		next := lab.shrinkOnce(t, d)
		if next == nil {
			break
		}
		d = next
	}
	return d
}

// shrinkOnce returns a smaller disagreement, or nil.
func (lab *laboratory) shrinkOnce(t testing.TB, d *disagreement) *disagreement {
	t.Helper()
	try := func(w *world, terms []*term) *disagreement {
		subjects := lab.check(t, []*subject{{place: d.subject.place, model: d.subject.model, terms: terms}})
		return lab.compare(t, w, lab.experiments(subjects), &tally{})
	}
	terms := d.subject.terms
	for i := range terms {
		if len(terms) > 1 {
			if next := try(d.world, slices.Concat(terms[:i], terms[i+1:])); next != nil {
				return next
			}
		}
		for _, smaller := range terms[i].smaller() {
			if next := try(d.world, slices.Concat(terms[:i], []*term{smaller}, terms[i+1:])); next != nil {
				return next
			}
		}
	}
	for _, m := range lab.schema.Models {
		for _, row := range d.world.rows[m.Name] {
			if next := try(d.world.without(row), terms); next != nil {
				return next
			}
		}
	}
	return nil
}

// explain describes all details of a disagreement.
func (lab *laboratory) explain(d *disagreement) string {
	return fmt.Sprintf("%s\n%s\ncaller %q, input %s, texts %v\n%s\nof row %q, of a %s\n\n%s\n\nPostgres finds: %s\nthe interpreter: %s",
		modelsText(lab.models), d.world.sql(), d.world.identity, d.world.inputJSON(lab.inputs), d.world.texts,
		d.subject.attributes(), d.row, d.subject.model, lab.sql(d.subject, d.at), d.got, d.want)
}
