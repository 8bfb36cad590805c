package lower

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/list"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
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

// operatorNames are the names of all operators.
func operatorNames() []string {
	names := map[string]bool{}
	for _, k := range append(expr.Scalars(), expr.Enum) {
		for _, f := range k.Filters() {
			names[f.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestFilterSQL checks that platform.filter_sql has a condition for each operator of each kind, and refuses every other
// operator, and that the reference names them all. TestFilterDifferential checks what the conditions mean.
func TestFilterSQL(t *testing.T) {
	t.Parallel()
	a := mustCheck(t, everyKind).Actions[0]
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "integration", "guide", "reference", "wire.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Filters\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, name := range operatorNames() {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("operator %s is missing in the section Filters of integration/guide/reference/wire.md", name)
		}
	}
	kinds := map[expr.Kind]bool{}
	for _, f := range list.RowsOf(a).Filters(a) {
		kinds[f.Input.Type.Kind] = true
		known := map[string]bool{}
		know := func(path string, filters []expr.Filter, isNullable bool) {
			for _, o := range filters {
				known[path+"."+o.Name] = true
				if o.Nullable && isNullable {
					known[path+"."+o.Name+":null"] = true
				}
			}
		}
		if f.Input.Type.Array {
			know(f.At(), expr.ArrayFilters(), f.Input.PassesOptional())
			know(f.At("all"), f.Input.Type.Kind.ElementFilters(), false)
			know(f.At("any"), f.Input.Type.Kind.ElementFilters(), false)
		} else {
			know(f.At(), f.Input.Type.Kind.Filters(), f.Input.PassesOptional())
		}
		for _, name := range operatorNames() {
			for _, steps := range [][]string{{name}, {name + ":null"}, {"all", name}, {"any", name}, {"any", name + ":null"}} {
				path := f.At(steps...)
				if name == "oneOf" && len(steps) > 1 {
					continue // the server refuses it
				}
				if got, err := filterSQL(t, conn, path, f); (err == nil) != known[path] {
					t.Errorf("%s: %q, error %v", path, got, err)
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
	conn := pgtest.New(t, pgtest.Options{}).Owner(t)
	for _, f := range list.RowsOf(a).Filters(a) {
		paths := []string{f.At()}
		if f.Input.Type.Array {
			paths = []string{f.At("all"), f.At("any")}
		}
		for _, path := range paths {
			several, err := filterSQL(t, conn, path+".oneOf", f)
			hasOneOf := err == nil
			for _, values := range []string{"[]", `["x"]`, `["x","y"]`} {
				want := several
				if values == `["x"]` && hasOneOf {
					if want, err = filterSQL(t, conn, path+".equals", f); err != nil {
						t.Fatal(err)
					}
					want = strings.ReplaceAll(want, ",equals}", ",oneOf,0}")
				}
				got, err := filterSQLOf(t, conn, path+".oneOf", values, f)
				if got != want || (err == nil) != hasOneOf {
					t.Errorf("%s of %s, error %v:\n got %s\nwant %s", path, values, err, got, want)
				}
			}
		}
	}
}

// filterSQLOf returns the SQL of platform.filter_sql for one operator of a filter, with an operand.
func filterSQLOf(t *testing.T, conn *pgx.Conn, path, operand string, f list.Filter) (text string, err error) {
	t.Helper()
	where := operand
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		where = `{"` + name + `":` + where + `}`
	}
	c := &list.Conditions{}
	row := value.RowOf(f.Input.Path[0].Model)
	c.AddFields(&list.Group{X: value.NewExpression(value.WhereLogic, value.InQuery, &row, list.ValueInFilter)}, f)
	call := c.Operators(nil).(*pg.Call)
	call.Args[0] = pg.Lit("$1")
	err = conn.QueryRow(t.Context(), "select "+emit.Expr(call), `{"operators":"`+path+`","where":`+where+`}`).Scan(&text)
	return text, err
}

// filterSQL is filterSQLOf with an operand that does not matter.
func filterSQL(t *testing.T, conn *pgx.Conn, path string, f list.Filter) (text string, err error) {
	t.Helper()
	return filterSQLOf(t, conn, path, "[]", f)
}
