package dev

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/diff"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// TestTellLost reports the effect of a change on rows: computed fields of a renamed model are not lost, and columns
// that serve computed fields are not the user's.
func TestTellLost(t *testing.T) {
	t.Parallel()
	const old = `
		model Order { fields { price Decimal count Number lines Line[] sum Decimal @computed(order.price * order.count) size Number @computed(SUM(order.lines.n)) } }
		model Line { fields { order Order n Number isDear Boolean @computed(line.order.price > 3) } }`
	const renamed = `
		model Sale { @renamed(from: Order)
		  fields { cost Decimal @renamed(from: price) count Number lines Line[] sum Decimal @computed(sale.cost * sale.count) size Number @computed(SUM(sale.lines.n)) } }
		model Line { fields { order Sale n Number isDear Boolean @computed(line.order.cost > 3) } }`
	const renames = "renamed table app.order to sale\nrenamed column app.sale.price to cost\n"
	for _, c := range []struct{ name, new, want string }{
		{"a model and a field renamed", renamed, "column app.line.is_dear is computed anew\n" + renames},
		{"another expression too", strings.Replace(renamed, "sale.cost * sale.count", "sale.cost + sale.count", 1),
			"column app.order.sum is computed anew\ncolumn app.line.is_dear is computed anew\n" + renames},
		{"a computed field gone", strings.Replace(old, " sum Decimal @computed(order.price * order.count)", "", 1), "dropped column app.order.sum, which was computed\n"},
		{"the last one of another row", strings.Replace(old, " isDear Boolean @computed(line.order.price > 3)", "", 1), "dropped column app.line.is_dear, which was computed\n"},
	} {
		read, err := pg.ReadDescription(database(t, old).Description())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		l := &loop{options: Options{Out: &out}}
		l.tellLost(diff.Between(read, database(t, c.new), diff.Options{Rows: func(_, _ string) int64 { return 0 }}))
		if out.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, out.String(), c.want)
		}
	}
}

func database(t *testing.T, schema string) *pg.Database {
	t.Helper()
	compiled, errs := sqlgen.Compile(&sqlgen.Project{Files: []*syntax.Source{{Name: "schema.stern", Text: []byte(schema)}}})
	if errs.HasErrors() {
		t.Fatal(errs)
	}
	return compiled.Database
}
