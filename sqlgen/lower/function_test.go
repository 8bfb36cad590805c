package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
)

// TestFunctions compares random calls of each function, over numbers with many digits and texts of many alphabets, with
// the interpreter. The other tests of expressions compare calls over fields.
func TestFunctions(t *testing.T) {
	t.Parallel()
	const calls = 150
	r := newRandom(max(*differentialSeed, 1))
	var lines, columns []string
	for _, b := range expr.Builtins() {
		for n := 0; n < calls && !b.IsAggregate; n++ {
			lines = append(lines, fmt.Sprintf("f%d %s", len(lines), functionOf(r, b, 2)))
		}
	}
	schema := mustCheck(t, "model Many { fields {\n"+strings.Join(lines, "\n")+"\n} }")
	db := pgtest.New(t, pgtest.Options{})
	mustInstall(t, db, mustCheck(t, ""), "")
	conn := db.Superuser(t)
	fields := modelNamed(schema, "Many").Fields[1:][:len(lines)]
	for _, f := range fields {
		x := value.NewExpression(value.WhereLogic, value.InQuery, nil, nil)
		columns = append(columns, "("+emit.Expr(x.Operand(f.Computed.Expression).Scalar())+")::text")
	}
	var got []*string
	if err := conn.QueryRow(t.Context(), "select array["+strings.Join(columns, ",\n")+"]").Scan(&got); err != nil {
		t.Fatal(err)
	}
	values := 0
	for i, f := range fields {
		want := expr.Evaluate(expr.Call{}, f.Computed.Expression, f.Type)
		switch {
		case want == nil && got[i] == nil:
		case want == nil || got[i] == nil || !expr.Same(f.Type, want, *got[i]):
			t.Errorf("%s: the interpreter has %v, %s gives %v", lines[i], want, columns[i], got[i])
		default:
			values++
		}
	}
	if values < len(lines)*3/4 || len(lines) != 11*calls {
		t.Errorf("%d of %d calls have a value: this shows little", values, len(lines))
	}
}

// functionOf returns the type of a computed field, and the field's attribute with a call of the function.
func functionOf(r random, b expr.Builtin, depth int) string {
	isText := slices.Contains([]string{"LOWER", "UPPER", "TRIM", "LENGTH"}, b.Name) || b.PassesNulls && r.chance(50)
	typ := "Decimal?"
	if isText && b.Name != "LENGTH" {
		typ = "Text?"
	}
	return typ + " @computed(" + functionCall(r, b.Name, isText, depth) + ")"
}

func functionCall(r random, name string, isText bool, depth int) string {
	argument := func() string {
		switch {
		case depth > 0 && r.chance(30) && isText:
			return functionCall(r, pick(r, []string{"LOWER", "UPPER", "TRIM", "LEAST", "GREATEST", "COALESCE"}), true, depth-1)
		case depth > 0 && r.chance(30) && !isText:
			return functionCall(r, pick(r, []string{"ROUND", "FLOOR", "CEIL", "ABS", "LEAST", "GREATEST", "COALESCE"}), false, depth-1)
		case isText:
			return strconv.Quote(randomText(r))
		case r.chance(10):
			return "1 / 0" // null
		}
		return randomDecimal(r)
	}
	arguments := []string{argument()}
	if slices.Contains([]string{"LEAST", "GREATEST", "COALESCE"}, name) {
		for range 1 + r.IntN(3) {
			arguments = append(arguments, argument())
		}
	}
	if name == "ROUND" && r.chance(70) {
		arguments = append(arguments, strconv.Itoa(r.IntN(19)))
	}
	return name + "(" + strings.Join(arguments, ", ") + ")"
}

// randomDecimal returns a number that is often in the middle between two of fewer digits.
func randomDecimal(r random) string {
	text := pick(r, []string{"", "-"}) + pick(r, []string{"0", "1", "2", strings.Repeat("9", 18), strings.Repeat("4", 18)})
	if digits := r.IntN(19); digits > 0 || len(text) > 15 { // no Number has so many
		text += "."
		for range max(digits-1, 0) {
			text += pick(r, []string{"0", "4", "9", "5"})
		}
		text += pick(r, []string{"5", "5", "4", "1"})
	}
	return text
}

// randomText returns a text with letters that have two forms, characters of several bytes, and white space.
func randomText(r random) string {
	text := ""
	for range r.IntN(6) {
		text += pick(r, []string{" ", "\t", "\u00a0", "\u3000", "\u200b", "a", "B", "ä", "Ö", "ж", "Σ", "日", "😀", "e\u0301"})
	}
	return text
}
