package sqlgen_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// TestKeywords names a field after each keyword of Postgres, and also a model and its actions after
// keywords with a meaning in expressions.
func TestKeywords(t *testing.T) {
	t.Parallel()
	owner := pgtest.New(t, pgtest.Options{}).Owner(t)
	words := facts(t, owner, "select word from pg_get_keywords() where word ~ '^[a-z]+$' order by word")
	strong := facts(t, owner, "select word from pg_get_keywords() where word ~ '^[a-z]+$' and catcode <> 'U' order by word")
	if len(words) < 300 || len(strong) < 100 {
		t.Fatalf("Postgres has %d keywords, %d of them strong", len(words), len(strong))
	}

	var schema strings.Builder
	types := []string{"Number", "Kind?", "Kind[]", "Text[]", "Number[]?", "Text"}
	for number, some := range slices.Collect(slices.Chunk(words, 40)) {
		var fields, required, optional, filters, lookUps []string
		for i, w := range some {
			fields = append(fields, w+" "+types[i%len(types)])
			required = append(required, w)
			optional = append(optional, w+"?")
			if i%len(types) == 0 || i%len(types) == 5 {
				lookUps = append(lookUps, w)
			}
			if slices.Contains(strong, w) {
				filters = append(filters, w+"?")
			}
		}
		fmt.Fprintf(&schema, "model Words%d {\n  fields { %s }\n  actions {\n", number, strings.Join(fields, "  "))
		fmt.Fprintf(&schema, "    create createWords%d() with (%s)\n", number, strings.Join(required, ", "))
		fmt.Fprintf(&schema, "    update updateWords%d(id) with (%s)\n", number, strings.Join(optional, ", "))
		fmt.Fprintf(&schema, "    list listWords%d(%s)\n", number, strings.Join(filters, ", "))
		fmt.Fprintf(&schema, "    get getWords%d(id, %s)\n", number, strings.Join(lookUps, ", "))
		schema.WriteString("  }\n  @permission(expression: true, actions: [create, get, update, list])\n}\n")
	}
	own := []string{"any", "boolean", "decimal", "false", "in", "null", "true", "timestamp"} // of the schema language
	for i, w := range strong {
		if slices.Contains(own, w) {
			continue
		}
		model := strings.ToUpper(w[:1]) + w[1:]
		fmt.Fprintf(&schema, "model %s {\n  fields { %s Text @unique  other Words%d? }\n  actions { ", model, w, i%5)
		if i%3 == 0 {
			fmt.Fprintf(&schema, "list %s(%s?, other.id?)", w, w)
		} else {
			fmt.Fprintf(&schema, "get %s(%s)  delete delete%s(id)", w, w, model)
		}
		schema.WriteString(" }\n  @permission(expression: true, actions: [get, list, delete])\n}\n")
	}
	schema.WriteString("enum Kind { A order }\n")
	for number, some := range slices.Collect(slices.Chunk(words, 50)) {
		var inputs []string
		for _, w := range some {
			if !slices.Contains([]string{"false", "in", "null", "true"}, w) {
				inputs = append(inputs, w+": Text")
			}
		}
		fmt.Fprintf(&schema, "model Work%d { actions { write work%d(%s) returns (Any) }  @permission(expression: true, actions: [write]) }\n",
			number, number, strings.Join(inputs, ", "))
	}

	p := projectFrom(schema.String())
	for _, f := range sqlgen.Scaffold(p) {
		f.Text = bytes.Replace(f.Text, []byte("\n  raise exception"), []byte("\n  return '1'; --"), 1)
		p.Functions = append(p.Functions, f)
	}
	compiled := compileProject(t, p)
	callEverything(t, runScript(t, install.Script(compiled)), manifestOf(t, compiled))
}
