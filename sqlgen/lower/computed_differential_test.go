package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/install"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// The size of the test: a schema costs as much as some hundred statements, and a statement as much as there are rows.
const (
	computedSchemas    = 4
	computedAtOnce     = 4   // schemas, by as many connections
	computedStatements = 300 // for each schema; three times as many with -differential
	computedWhole      = 100 // statements until all rows are read and not only the written ones
	computedRows       = 10  // of a model, before many are deleted
	computedAtLeast    = 930 // statements compared
)

// TestComputedDifferential runs random statements over random schemas with computed fields and compares, after each
// statement, every computed value with a fresh evaluation by the interpreter. It reads the ids of all rows, and the
// values of the rows that the statement has written; it remembers those of the others. With the flag -differential it
// goes on for that long.
func TestComputedDifferential(t *testing.T) {
	t.Parallel()
	seed, start := *differentialSeed, time.Now()
	if seed == 0 && *differential > 0 {
		seed = uint64(start.UnixNano())
	}
	total := &computedTally{kinds: map[string]int{}}
	for n := uint64(0); (n < computedSchemas || time.Since(start) < *differential) && !t.Failed(); n += computedAtOnce {
		t.Run(fmt.Sprint("from ", seed+n), func(t *testing.T) {
			for i := range uint64(computedAtOnce) {
				t.Run(fmt.Sprint("seed ", seed+n+i), func(t *testing.T) {
					t.Parallel()
					compareComputed(t, seed+n+i, total)
				})
			}
		})
	}
	compared := total.statements - total.refused
	t.Logf("%d statements compared, %d refused; %d values compared; fields: %v", compared, total.refused, total.values, total.kinds)
	if !t.Failed() && (compared < computedAtLeast || total.refused*2 > compared) {
		t.Errorf("%d statements were compared and %d refused: this shows little", compared, total.refused)
	}
	for _, kind := range []string{"own", "of rows", "to-one", "of two rows"} {
		if !t.Failed() && total.kinds[kind] == 0 {
			t.Errorf("no field is %s", kind)
		}
	}
}

// computedTally counts the cases that a run has met.
type computedTally struct {
	sync.Mutex
	statements, refused, values int
	kinds                       map[string]int
}

// computedLab is a database with computed fields.
type computedLab struct {
	random
	schema *model.Schema
	models []*model.Model // without Identity
	conn   *pgx.Conn
	world  *computedWorld
	next   int          // number of the next id
	crowd  *model.Model // the model that has too many rows; nil means none
}

func compareComputed(t *testing.T, seed uint64, total *computedTally) {
	r := newRandom(seed)
	text := randomComputedSchema(r)
	lab := &computedLab{random: r, schema: mustCheck(t, text)}
	lab.models = slices.DeleteFunc(slices.Clone(lab.schema.Models), func(m *model.Model) bool { return m.IsIdentity })
	db := pgtest.New(t, pgtest.Options{})
	installWithCode(t, db, lab.schema, text)
	lab.conn = db.Owner(t)
	lab.prepare(t)
	if _, err := lab.conn.Exec(t.Context(), "set time zone 'America/New_York'"); err != nil {
		t.Fatal(err)
	}
	var done []string
	refused, values, count := 0, 0, computedStatements
	if *differential > 0 {
		count *= 3
	}
	for n := range count {
		statement := lab.statement()
		if err := lab.do(t, statement, n%computedWhole == 0); err != nil {
			refused++
			if !isExpected(err) {
				t.Fatalf("%v\n%s;\n\n%s", err, strings.Join(append(done, statement), ";\n"), text)
			}
			continue
		}
		done = append(done, statement)
		lab.crowd = nil
		for _, m := range lab.models {
			if len(lab.world.rows[m]) > computedRows {
				lab.crowd = m
			}
			for _, row := range lab.world.rows[m] {
				for _, f := range m.Stored() {
					if f.Computed == nil {
						continue
					}
					values++
					if want, got := row.Value(f.Name), row.values[f.Name]; !expr.Same(f.Type, want, got) {
						t.Fatalf("%s.%s of %s: Postgres has %v, the interpreter %v\nafter\n%s;\n\n%s",
							m.Name, f.Name, row.id, got, want, strings.Join(done[max(0, len(done)-3):], ";\n"), text)
					}
				}
			}
		}
	}
	total.Lock()
	defer total.Unlock()
	total.statements, total.refused, total.values = total.statements+count, total.refused+refused, total.values+values
	for _, m := range lab.models {
		for _, f := range m.Stored() {
			if f.Computed != nil && f.FKOf != nil {
				total.kinds["to-one"]++
			}
			if f.Computed != nil && namesOthers(f) {
				total.kinds["of two rows"]++
			}
			if f.Computed != nil && value.IsComputedFromRows(f) {
				total.kinds["of rows"]++
			} else if f.Computed != nil {
				total.kinds["own"]++
			}
		}
	}
}

// namesOthers tells whether an aggregate of a field begins with a to-one, and a path of its condition does otherwise.
func namesOthers(f *model.Field) bool {
	found := false
	expr.Inspect(f.Computed.Expression, func(n expr.Node) bool {
		a, ok := n.(*expr.Aggregate)
		if !ok {
			return true
		}
		found = found || a.Condition != nil && !value.Field(a.Path.Steps[0]).IsToMany() &&
			slices.ContainsFunc(expr.Paths(a.Condition), func(p *expr.Path) bool { return p.Steps[0] != a.Path.Steps[0] })
		return false
	})
	return found
}

// churn is custom code that runs given statements.
const churn = `create function functions.churn(statements text) returns jsonb
language plpgsql
volatile
as $$
begin
  execute statements;
  return 'true';
end;
$$;`

// installWithCode installs a schema with an action that runs any statements as custom code.
func installWithCode(t *testing.T, db *pgtest.DB, s *model.Schema, text string) {
	t.Helper()
	lowered, manifest := Schema(s, "test.stern")
	lowered.Code = []*pg.CodeFile{{Name: "functions/churn.sql", Text: churn}}
	emit.Render(lowered)
	Complete(manifest, s)
	if _, err := install.Install(t.Context(), db.Owner(t), &emit.Release{Database: lowered, Manifest: manifest.Text()}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// isExpected tells whether a statement was refused for its effect.
func isExpected(err error) bool {
	return slices.ContainsFunc([]string{"23505", "23503", "23502", "23514"}, func(code string) bool { return strings.Contains(err.Error(), code) })
}

// randomComputedSchema returns a schema with computed fields.
func randomComputedSchema(r random) string {
	names := []string{"Alpha", "Beta", "Gamma"}[:1+r.IntN(3)]
	var models []*testModel
	for _, name := range names {
		m := &testModel{name: name}
		for _, f := range []string{"n Number", "d Decimal", "o Decimal?", "m Number?", "t Text", "u Text?", "f Boolean", "s State", "at Timestamp", "day Date?", "lasts Duration"} {
			m.fields = append(m.fields, f)
		}
		models = append(models, m)
	}
	for i, m := range models {
		for j := 0; j <= i; j++ {
			target := models[j]
			how := pick(r, []string{"", " @onDelete(cascade)", " @onDelete(setNull)"})
			to, back := fmt.Sprintf("to%d", j), fmt.Sprintf("from%d", i)
			switch {
			case r.chance(20):
				m.field(to, target.name+"? @unique @relation("+back+")"+how)
				target.field(back, m.name+"?")
			case i == j || r.chance(50):
				m.field(to, target.name+"? @relation("+back+")"+how)
				target.field(back, m.name+"[]")
			default:
				m.field(to, target.name+" @relation("+back+")")
				target.field(back, m.name+"[]")
			}
		}
	}
	for n := range 5 + r.IntN(8) {
		for range 8 { // attempts
			s, errs := checkText(computedText(models))
			if s == nil {
				panic(fmt.Sprint("a random schema is in error: ", errs[0].Message))
			}
			m := pick(r, models)
			g := &computedGenerator{random: r, schema: s, model: modelNamed(s, m.name)}
			typ, text := g.field()
			optional := "?"
			if r.chance(40) {
				optional = ""
			}
			line := fmt.Sprintf("c%d %s%s @computed(%s)", n, typ, optional, text)
			m.fields = append(m.fields, line)
			if s, _ := checkText(computedText(models)); s != nil && len(unsupportedIn(s)) == 0 {
				break
			}
			m.fields = m.fields[:len(m.fields)-1]
		}
	}
	return computedText(models)
}

// computedText is a schema of models that custom code may read and write.
func computedText(models []*testModel) string {
	text := testEnums
	for i, m := range models {
		actions := ""
		if i == 0 {
			actions = "actions { write churn(statements: Text) returns (Any) } "
		}
		text += m.text(actions + "@permission(expression: true, actions: [get, list, create, update, delete, write])")
	}
	return text
}

// computedGenerator makes expressions of computed fields of a model.
type computedGenerator struct {
	random
	schema *model.Schema
	model  *model.Model
}

// field returns a type and an expression that may have it.
func (g *computedGenerator) field() (typ, text string) {
	switch g.IntN(10) {
	case 0, 1:
		return "Boolean", g.condition(1)
	case 2:
		return pick(g.random, []string{"Text", "Markdown"}), g.operand(expr.ClassText, 1)
	case 3:
		return pick(g.random, []string{"Timestamp", "Date"}), g.operand(expr.ClassTemporal, 1)
	case 4:
		return "Duration", g.operand(expr.ClassDuration, 1)
	case 5:
		return "State", g.path(expr.ClassEnum, false)
	case 6:
		return g.row()
	}
	return pick(g.random, []string{"Number", "Decimal"}), g.operand(expr.ClassNumeric, 2)
}

// row returns a path through one to three to-ones and the model of the row in which it ends.
func (g *computedGenerator) row() (typ, path string) {
	m, path := g.model, g.model.Variable
	for depth := 1 + g.IntN(3); depth > 0; depth-- {
		toOnes := slices.DeleteFunc(slices.Clone(m.Fields), func(f *model.Field) bool { return !f.IsToOne() || f.Target.IsIdentity })
		if len(toOnes) == 0 {
			break
		}
		f := pick(g.random, toOnes)
		m, path = f.Target, path+"."+f.Name
	}
	return m.Name, path
}

func (g *computedGenerator) condition(depth int) string {
	if depth > 0 && g.chance(40) {
		switch g.IntN(3) {
		case 0:
			return "!(" + g.condition(depth-1) + ")"
		case 1:
			return "(" + g.condition(depth-1) + " && " + g.condition(depth-1) + ")"
		}
		return "(" + g.condition(depth-1) + " || " + g.condition(depth-1) + ")"
	}
	switch g.IntN(6) {
	case 0:
		return g.path(expr.ClassBoolean, false)
	case 1:
		return g.path(expr.ClassEnum, false) + pick(g.random, []string{" == ", " != "}) + "State.Open"
	case 2:
		return g.operand(expr.ClassNumeric, 1) + pick(g.random, []string{" == null", " != null"})
	case 3:
		return g.operand(expr.ClassText, 0) + pick(g.random, []string{" == ", " < ", " != "}) + g.operand(expr.ClassText, 0)
	}
	return g.operand(expr.ClassNumeric, 1) + pick(g.random, []string{" == ", " != ", " < ", " >= "}) + g.operand(expr.ClassNumeric, 1)
}

func (g *computedGenerator) operand(class expr.Class, depth int) string {
	if depth > 0 && g.chance(45) {
		inner := func(c expr.Class) string { return g.operand(c, depth-1) }
		switch class {
		case expr.ClassNumeric:
			if g.chance(50) {
				return "(" + inner(class) + pick(g.random, []string{" + ", " - ", " * ", " / "}) + inner(class) + ")"
			}
		case expr.ClassText:
			return inner(class) + ` + "-" + ` + inner(class)
		case expr.ClassTemporal:
			return "(" + inner(class) + pick(g.random, []string{" + ", " - "}) + inner(expr.ClassDuration) + ")"
		case expr.ClassDuration:
			return "(" + inner(expr.ClassTemporal) + " - " + inner(expr.ClassTemporal) + ")"
		}
	}
	if depth > 0 && g.chance(20) {
		inner := func(c expr.Class) string { return g.operand(c, depth-1) }
		text := ""
		switch {
		case class == expr.ClassText && g.chance(50):
			text = pick(g.random, []string{"LOWER", "UPPER", "TRIM"}) + "(" + inner(class) + ")"
		case class == expr.ClassNumeric && g.chance(20):
			text = "LENGTH(" + inner(expr.ClassText) + ")"
		case class == expr.ClassNumeric && g.chance(60):
			text = pick(g.random, []string{"ROUND", "FLOOR", "CEIL", "ABS"}) + "(" + inner(class) + ")"
		default:
			text = pick(g.random, []string{"LEAST", "GREATEST", "COALESCE"}) + "(" + inner(class) + ", " + inner(class) + ")"
		}
		return text
	}
	isOrdered := class == expr.ClassTemporal || class == expr.ClassDuration
	if class == expr.ClassNumeric && g.chance(50) || isOrdered && g.chance(30) {
		return g.aggregate(class)
	}
	if class == expr.ClassNumeric && g.chance(15) {
		return pick(g.random, []string{"1", "2.5", "3"})
	}
	return g.path(class, false)
}

func (g *computedGenerator) aggregate(class expr.Class) string {
	name := pick(g.random, []string{"SUM", "COUNT", "AVG", "MEDIAN", "MIN", "MAX"})
	if class != expr.ClassNumeric {
		name = pick(g.random, []string{"MIN", "MAX"})
	}
	path := g.path(class, true)
	beginsAtToOne := g.chance(30)
	for range 20 {
		first := g.model.Field(strings.Split(path, ".")[1])
		if !beginsAtToOne || first.IsToOne() && !first.Target.IsIdentity {
			break
		}
		path = g.path(class, true)
	}
	if strings.Count(path, ".") < 2 {
		return path // nothing points to rows of the model
	}
	if name == "COUNT" && g.chance(50) {
		path = path[:strings.LastIndex(path, ".")]
	}
	if g.chance(40) || beginsAtToOne {
		prefix := path[:strings.LastIndex(path, ".")]
		condition := prefix + "." + pick(g.random, []string{"f", "n > 1", "s == State.Open", "m == null"})
		if name == "COUNT" && g.chance(50) || g.chance(20) {
			condition = "!(" + condition + ") || " + g.path(expr.ClassBoolean, false)
		}
		if g.chance(30) || beginsAtToOne && g.chance(60) { // the row that is counted and the one that counts it
			condition = prefix + ".n " + pick(g.random, []string{"<", ">=", "=="}) + " " + g.model.Variable + ".n"
		}
		return name + "IF(" + path + ", " + condition + ")"
	}
	return name + "(" + path + ")"
}

// path returns a path to a field of a class: through to-ones, or for an aggregate through
// a to-many too.
func (g *computedGenerator) path(class expr.Class, many bool) string {
	for range 300 {
		m, text := g.model, g.model.Variable
		isMany := false
		for depth := pick(g.random, []int{1, 2, 2, 3}); depth >= 0; depth-- {
			f := pick(g.random, m.Fields)
			if f.IsRelation() && f.Target.IsIdentity || f.IsToMany() && !many {
				continue
			}
			text += "." + f.Name
			isMany = isMany || f.IsToMany()
			if !f.IsRelation() {
				if f.Type.Kind.Class() == class && !f.Type.Array && isMany == many && f.Name != "updatedAt" && f.Name != "createdAt" {
					return text
				}
				break
			}
			m = f.Target
		}
	}
	// The model has none: an aggregate of it is refused, and another field is tried.
	return g.model.Variable + "." + map[expr.Class]string{
		expr.ClassNumeric: "n", expr.ClassText: "t", expr.ClassBoolean: "f", expr.ClassEnum: "s", expr.ClassTemporal: "at", expr.ClassDuration: "lasts",
	}[class]
}

// statement returns a random statement.
func (lab *computedLab) statement() string {
	if lab.crowd != nil && lab.chance(70) {
		return fmt.Sprintf("delete from app.%s where hashtext(id || '%d') %% 2 = 0", lab.crowd.Table, lab.IntN(100))
	}
	m := pick(lab.random, lab.models)
	switch lab.IntN(14) {
	case 0, 1, 2, 3:
		return lab.insert(m, 1+lab.IntN(3))
	case 4:
		// A row and those that point to it, in one statement.
		return "with one as (" + lab.insert(m, 2) + ") " + lab.insert(pick(lab.random, lab.models), 2)
	case 5:
		return "delete from app." + m.Table + " where " + lab.some(m)
	case 6:
		if lab.chance(15) {
			return "truncate app." + m.Table + " cascade"
		}
		if lab.chance(15) {
			return lab.restore()
		}
		other := pick(lab.random, lab.models)
		return "with one as (" + lab.update(m) + ") " + lab.update(other)
	case 12, 13:
		return lab.code()
	}
	return lab.update(m)
}

// code is a call of custom code that writes some rows.
func (lab *computedLab) code() string {
	var statements []string
	for range 1 + lab.IntN(4) {
		m := pick(lab.random, lab.models)
		switch lab.IntN(5) {
		case 0:
			statements = append(statements, "delete from app."+m.Table+" where "+lab.some(m))
		case 1, 2:
			statements = append(statements, lab.insert(m, 1+lab.IntN(2)))
		default:
			statements = append(statements, lab.update(m))
		}
	}
	input, err := json.Marshal(map[string]string{"statements": strings.Join(statements, "; ")})
	if err != nil {
		panic(err)
	}
	return "select api.churn(" + pg.Quote(string(input)) + ", '{}')"
}

// restore empties all tables and fills them again with the same rows.
func (lab *computedLab) restore() string {
	var save, tables, fill []string
	for _, m := range lab.models {
		columns := "id"
		for _, f := range lab.written(m) {
			columns += ", " + pgIdent(f.Column)
		}
		save = append(save, "create temp table saved_"+m.Table+" on commit drop as select "+columns+" from app."+m.Table)
		tables = append(tables, "app."+m.Table)
		fill = append(fill, "insert into app."+m.Table+" ("+columns+") select "+columns+" from saved_"+m.Table)
	}
	return "do $do$ begin " + strings.Join(save, "; ") + "; truncate " + strings.Join(tables, ", ") + "; " + strings.Join(fill, "; ") + "; end $do$"
}

// some is a condition that holds for some rows of a model.
func (lab *computedLab) some(m *model.Model) string {
	if lab.chance(20) {
		return "true"
	}
	return fmt.Sprintf("abs(hashtext(%s.id || '%d')) %% 3 = 0", m.Table, lab.IntN(100))
}

func (lab *computedLab) update(m *model.Model) string {
	var sets []string
	fields := lab.written(m)
	for range 1 + lab.IntN(3) {
		f := pick(lab.random, fields)
		set := pgIdent(f.Column) + " = " + lab.value(f)
		if !slices.ContainsFunc(sets, func(s string) bool { return strings.HasPrefix(s, pgIdent(f.Column)+" = ") }) {
			sets = append(sets, set)
		}
	}
	return "update app." + m.Table + " set " + strings.Join(sets, ", ") + " where " + lab.some(m)
}

func pgIdent(name string) string { return `"` + name + `"` }

func (lab *computedLab) written(m *model.Model) []*model.Field {
	return slices.DeleteFunc(m.Stored(), func(f *model.Field) bool { return f.BuiltIn || f.Computed != nil })
}

func (lab *computedLab) insert(m *model.Model, rows int) string {
	columns := []string{"id"}
	for _, f := range lab.written(m) {
		columns = append(columns, pgIdent(f.Column))
	}
	var values []string
	for range rows {
		lab.next++
		row := []string{fmt.Sprintf("'%s%d'", m.Table, lab.next)}
		for _, f := range lab.written(m) {
			row = append(row, lab.value(f))
		}
		values = append(values, "("+strings.Join(row, ", ")+")")
	}
	return "insert into app." + m.Table + " (" + strings.Join(columns, ", ") + ") values " + strings.Join(values, ", ")
}

// value is a random value of a field, as SQL.
func (lab *computedLab) value(f *model.Field) string {
	if f.Optional && lab.chance(25) {
		return "null"
	}
	if f.FKOf != nil {
		table := f.FKOf.Target.Table
		return fmt.Sprintf("(select id from app.%s order by hashtext(id || '%d') limit 1)", table, lab.IntN(1000))
	}
	v := pick(lab.random, domain(f.Type))
	switch {
	case v == "9007199254740991":
		v = "7"
	case v == "P30D" || v == "PT720H": // as long as P1M, but not the same when it is added to a date
		v = "P29DT5M"
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

// computedWorld is the content of the tables.
type computedWorld struct {
	rows map[*model.Model][]*computedRow
	byID map[*model.Model]map[string]*computedRow
}

// computedRow is a row whose computed fields are evaluated.
type computedRow struct {
	world  *computedWorld
	model  *model.Model
	id     string
	values map[string]any // as Postgres has them
	fresh  map[string]any // as the interpreter evaluates them
}

func (r *computedRow) ID() string { return r.id }

func (r *computedRow) Value(name string) any {
	f := r.model.Field(name)
	if f.Computed == nil {
		return r.values[name]
	}
	if v, known := r.fresh[name]; known {
		return v
	}
	v := expr.Evaluate(expr.Call{Row: r}, f.Computed.Expression, f.Type)
	r.fresh[name] = v
	return v
}

func (r *computedRow) Related(name string) []expr.Row {
	f := r.model.Field(name)
	var rows []expr.Row
	if f.FK != nil {
		if id, ok := r.Value(f.FK.Name).(string); ok {
			rows = append(rows, r.world.byID[f.Target][id])
		}
		return rows
	}
	for _, other := range r.world.rows[f.Target] {
		if other.values[f.Inverse.FK.Name] == any(r.id) {
			rows = append(rows, other)
		}
	}
	return rows
}

// prepare makes the statements that read the tables: the ids of all rows, and for each model the values of all rows or
// of those that the transaction has written.
func (lab *computedLab) prepare(t *testing.T) {
	t.Helper()
	var ids, prepared []string
	for n, m := range lab.models {
		var columns []string
		for _, f := range comparedFields(m) {
			column := pgIdent(f.Column)
			switch f.Type.Kind {
			case expr.Timestamp:
				column = "platform.iso(" + column + ")"
			case expr.Duration:
				column = "platform.iso_duration(" + column + ")"
			}
			columns = append(columns, column)
		}
		prepared = append(prepared, fmt.Sprintf("prepare read_%d (boolean) as select %s from app.%s where $1 or xmin = pg_current_xact_id_if_assigned()::xid",
			n, strings.Join(columns, ", "), m.Table))
		ids = append(ids, fmt.Sprintf("select %d, id from app.%s", n, m.Table))
	}
	prepared = append(prepared, "prepare ids as "+strings.Join(ids, " union all "))
	if _, err := lab.conn.Exec(t.Context(), strings.Join(prepared, "; ")); err != nil {
		t.Fatal(err)
	}
}

// comparedFields are the fields of a model that are read.
func comparedFields(m *model.Model) []*model.Field {
	return slices.DeleteFunc(m.Stored(), func(f *model.Field) bool { return f.Name == "createdAt" || f.Name == "updatedAt" })
}

// do runs a statement and then reads the tables, in one transaction and one round trip.
func (lab *computedLab) do(t *testing.T, statement string, whole bool) error {
	t.Helper()
	reads := "; execute ids"
	for n := range lab.models {
		reads += fmt.Sprintf("; execute read_%d(%t)", n, whole || lab.world == nil)
	}
	results, err := lab.conn.PgConn().Exec(t.Context(), statement+reads).ReadAll()
	if err != nil {
		return err
	}
	results = results[len(results)-1-len(lab.models):]
	was, w := lab.world, &computedWorld{rows: map[*model.Model][]*computedRow{}, byID: map[*model.Model]map[string]*computedRow{}}
	for n, m := range lab.models {
		w.byID[m] = map[string]*computedRow{}
		for _, values := range results[1+n].Rows {
			row := &computedRow{world: w, model: m, values: map[string]any{}, fresh: map[string]any{}}
			for i, f := range comparedFields(m) {
				switch v := values[i]; {
				case v == nil:
					row.values[f.Name] = nil
				case f.Type.Kind == expr.Boolean:
					row.values[f.Name] = string(v) == "t"
				default:
					row.values[f.Name] = string(v)
				}
			}
			row.id = row.values["id"].(string)
			w.byID[m][row.id] = row
		}
	}
	for _, values := range results[0].Rows {
		n, err := strconv.Atoi(string(values[0]))
		if err != nil {
			t.Fatal(err)
		}
		m, id := lab.models[n], string(values[1])
		row := w.byID[m][id]
		if row == nil { // the statement has not written it
			row = &computedRow{world: w, model: m, id: id, values: was.byID[m][id].values, fresh: map[string]any{}}
			w.byID[m][id] = row
		}
		w.rows[m] = append(w.rows[m], row)
	}
	lab.world = w
	return nil
}

// unsupportedIn returns the parts of a schema that cannot be lowered.
func unsupportedIn(s *model.Schema) syntax.Errors {
	var errs syntax.Errors
	Unsupported(s, &errs)
	return errs
}
