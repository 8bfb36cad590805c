package lower

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// everyKind is a model with a field of each kind that lists filter by, as a value of a row and behind relations.
const everyKind = `
enum Colour { Red Blue }
model Other {
  fields {
    things Thing[]
    text Text
    textOpt Text?
    texts Text[]
    textsOpt Text[]?
    day Date
    dayOpt Date?
  }
}
model Maybe {
  fields {
    things Thing[]
    text Text
    textOpt Text?
    texts Text[]
    textsOpt Text[]?
    day Date
    dayOpt Date?
  }
}
model Thing {
  fields {
    key ID
    keyOpt ID?
    text Text
    textOpt Text?
    note Markdown
    noteOpt Markdown?
    number Number
    numberOpt Number?
    amount Decimal
    amountOpt Decimal?
    flag Boolean
    flagOpt Boolean?
    moment Timestamp
    momentOpt Timestamp?
    day Date
    dayOpt Date?
    span Duration
    spanOpt Duration?
    colour Colour
    colourOpt Colour?
    texts Text[]
    textsOpt Text[]?
    numbers Number[]
    daysOpt Date[]?
    moments Timestamp[]
    null Text?
    other Other
    maybe Maybe?
  }
  actions {
    list listThings(
      key?, keyOpt?, text?, textOpt?, note?, noteOpt?, number?, numberOpt?, amount?, amountOpt?, flag?, flagOpt?,
      moment?, momentOpt?, day?, dayOpt?, span?, spanOpt?, colour?, colourOpt?, texts?, textsOpt?, numbers?, daysOpt?,
      moments?, null?, other.id?, other.text?, other.textOpt?, other.texts?, other.textsOpt?, other.day?, other.dayOpt?,
      maybe.id?, maybe.text?, maybe.textOpt?, maybe.texts?, maybe.textsOpt?, maybe.day?, maybe.dayOpt?
    )
  }
  @permission(expression: true, actions: [list])
}
`

// TestFilterSQL checks that platform.filter_sql knows each operator of each kind, and refuses every other one.
func TestFilterSQL(t *testing.T) {
	t.Parallel()
	s := mustCheck(t, everyKind)
	a := s.Actions[0]
	row := rowOf(a.Model)
	x := newExpression(whereLogic, inQuery, &row, valueInFilter)
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)

	kinds := map[expr.Kind]bool{}
	for _, f := range filters(a) {
		kinds[f.input.Type.Kind] = true
		var known []string
		is := func(path []string, fields ...pg.Filter) {
			t.Helper()
			known = append(known, dotted(path))
			if got, err := filterSQL(t, conn, dotted(path), fields...); err != nil || !strings.HasPrefix(got, " and ") {
				t.Errorf("%s: got %s, %v", dotted(path), got, err)
			}
		}
		whole, all := f.sql(x), f.allSQL(x)
		for _, o := range f.operators() {
			is(f.at(o.name), whole)
			if o.nullable && f.isNullable() {
				is(f.at(o.name+ofNull), whole)
			}
		}
		if f.input.Type.Array {
			for _, o := range elementOperatorsOf(f.input.Type.Kind) {
				is(f.at("all", o.name), all)
				is(f.at("any", o.name), f.elementSQL())
			}
		}
		for name := range conditions {
			for _, path := range []string{dotted(f.at(name)), dotted(f.at(name + ofNull))} {
				if slices.Contains(known, path) {
					continue
				}
				if got, err := filterSQL(t, conn, path, whole, all); err == nil {
					t.Errorf("%s is made %s", path, got)
				}
			}
		}
	}
	for _, k := range append(expr.Scalars(), expr.Enum) {
		if len(k.Filters()) > 0 && !kinds[k] {
			t.Errorf("no field of the model is a %s", k)
		}
	}
}

// TestFilterSQLOfOneValue checks that oneOf with a single value is the condition of equals on that value, with no other
// number of values, and for no field that does not have it.
func TestFilterSQLOfOneValue(t *testing.T) {
	t.Parallel()
	a := mustCheck(t, everyKind).Actions[0]
	row := rowOf(a.Model)
	x := newExpression(whereLogic, inQuery, &row, valueInFilter)
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, f := range filters(a) {
		paths, fields := [][]string{f.at("oneOf")}, []pg.Filter{f.sql(x)}
		if f.input.Type.Array {
			paths, fields = [][]string{f.at("all", "oneOf"), f.at("any", "oneOf")}, []pg.Filter{f.allSQL(x), f.elementSQL()}
		}
		for i, path := range paths {
			field := fields[i]
			several, err := filterSQL(t, conn, dotted(path), field)
			hasOneOf := err == nil
			for _, values := range []string{"[]", `["x"]`, `["x","y"]`} {
				want := several
				if values == `["x"]` && hasOneOf {
					equals := append(slices.Clone(path[:len(path)-1]), "equals")
					if want, err = filterSQL(t, conn, dotted(equals), field); err != nil {
						t.Fatal(err)
					}
					want = strings.ReplaceAll(want, ",equals}", ",oneOf,0}")
				}
				got, err := filterSQLOf(t, conn, dotted(path), values, field)
				if got != want || (err == nil) != hasOneOf {
					t.Errorf("%s of %s, error %v:\n got %s\nwant %s", dotted(path), values, err, got, want)
				}
			}
		}
	}
}

// filterSQLOf returns the SQL of platform.filter_sql for one operator with an operand.
func filterSQLOf(t *testing.T, conn *pgx.Conn, path, operand string, fields ...pg.Filter) (text string, err error) {
	t.Helper()
	filter := operand
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		filter = `{"` + name + `":` + filter + `}`
	}
	input := `{"operators":"` + path + `","where":` + filter + `}`
	err = conn.QueryRow(t.Context(), "select platform.filter_sql($1, "+emit.Expr(&pg.Filters{Fields: fields})+")", input).Scan(&text)
	return text, err
}

// filterSQL is filterSQLOf without an operand.
func filterSQL(t *testing.T, conn *pgx.Conn, path string, fields ...pg.Filter) (text string, err error) {
	t.Helper()
	input, _ := json.Marshal(map[string]string{"operators": path})
	err = conn.QueryRow(t.Context(), "select platform.filter_sql($1, "+emit.Expr(&pg.Filters{Fields: fields})+")", input).Scan(&text)
	return text, err
}
