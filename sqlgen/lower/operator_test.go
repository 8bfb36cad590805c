package lower

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

var update = flag.Bool("update", false, "write sql/functions/operators.sql anew")

// TestOperators checks that each operator of lists has a condition, and that the reference and the function of the
// platform have the compiler's table of operators. With -update it writes the function.
func TestOperators(t *testing.T) {
	t.Parallel()
	for _, k := range append(expr.Scalars(), expr.Enum) {
		for _, f := range k.Filters() {
			if _, ok := conditions[f.Name]; !ok {
				t.Fatalf("operator %s of %s: its condition is missing in lower/operator.go", f.Name, k)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root(t), "integration", "guide", "reference", "wire.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Filters\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for name := range conditions {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("operator %s is missing in the section Filters of integration/guide/reference/wire.md", name)
		}
	}
	file := filepath.Join(root(t), "sql", "functions", "operators.sql")
	had, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(had), "  select '{\n")
	_, tail, _ := strings.Cut(rest, "\n  }'::jsonb;")
	want := head + "  select '{\n" + operatorsJSON(t) + "\n  }'::jsonb;" + tail
	if want == string(had) {
		return
	}
	if !*update {
		t.Fatalf("%s does not have the operators of lower/operator.go: run go test ./sqlgen/lower -run TestOperators -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("there is no go.mod")
	return ""
}

// operatorsJSON is the table as the platform has it: a member for each kind of value, a line for each operator.
func operatorsJSON(t *testing.T) string {
	var kinds []string
	add := func(name string, of expr.Type, list []operator) {
		if len(list) == 0 {
			return
		}
		value, operand := pg.Lit("%1$s"), []string{"of", "operand"}
		print := func(name string, condition pg.Expr) string {
			sql := strings.ReplaceAll(emit.Expr(condition), "'{of,operand}'", "%2$L")
			var text bytes.Buffer
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(strings.ReplaceAll(sql, "'", "''")); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("      %q: %s", name, strings.TrimSpace(text.String()))
		}
		var plain, ofNull []string
		for _, o := range list {
			given := whole(of, theFilter, operand)
			condition := func() pg.Expr { return o.apply(of.Kind, value, theFilter, operand) }
			switch {
			case of.Array:
				condition = func() pg.Expr { return o.condition(value, given) }
			case name == indexedText && o.name == "startsWith":
				condition = func() pg.Expr { return beginsWith(value, given) }
			}
			plain = append(plain, print(o.name, condition()))
			switch {
			case !o.nullable:
			case o.unset:
				ofNull = append(ofNull, print(o.name, pg.Op(value, "is distinct from", given)), print(o.name+":null", pg.IsNotNull(value)))
			default:
				ofNull = append(ofNull, print(o.name+":null", pg.IsNull(value)))
			}
		}
		object := func(lines []string) string {
			if len(lines) == 0 {
				return "{}"
			}
			return "{\n" + strings.Join(lines, ",\n") + "\n    }"
		}
		kinds = append(kinds, fmt.Sprintf("    %q: [%s, %s]", name, object(plain), object(ofNull)))
	}
	scalars := append(expr.Scalars(), expr.Enum)
	for _, k := range scalars {
		if name := FilterKind(expr.Type{Kind: k}); name == k.String() || k == expr.Enum {
			add(name, expr.Type{Kind: k}, operatorsOf(k))
			if k == expr.Text {
				add(indexedText, expr.Type{Kind: k}, operatorsOf(k))
			}
		}
	}
	for _, k := range scalars {
		if of := (expr.Type{Kind: k, Array: true}); FilterKind(of) == k.String()+"[]" || k == expr.Enum {
			if len(operatorsOf(k)) > 0 {
				add(FilterKind(of), of, operators(expr.ArrayFilters()))
			}
		}
	}
	return strings.Join(kinds, ",\n")
}
