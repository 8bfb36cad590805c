package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// isReadAtOnce tells whether the rows of a page may be read without being picked first:
// the rules were decided before any row is read, so that row security keeps no condition
// from an index, and whatever the filter, Postgres knows how many rows satisfy the @wheres.
// platform.read_page reads whole rows, so that it is of no use where some columns are not to
// be read.
func (g *generalList) isReadAtOnce() bool {
	if g.b.judgesRows() || answersColumns(g.b.action) {
		return false
	}
	for _, w := range g.b.action.Wheres {
		for _, p := range expr.Paths(w.Expression) {
			if p.Root != expr.RootRow {
				continue
			}
			if len(p.Steps) > 1 || len(p.Steps) == 1 && !g.isKnownUnderRowSecurity(storedAs(field(p.Steps[0]))) {
				return false
			}
		}
	}
	return true
}

// isKnownUnderRowSecurity tells whether Postgres plans comparisons of a column under row
// security as well as without: it has statistics only for operators that are leakproof.
// Where there is no index of the column, they would not matter.
func (g *generalList) isKnownUnderRowSecurity(f *schema.Field) bool {
	return !f.Type.Array && (isLeakproof(f.Type.Kind) || !g.indexed[f.Column])
}

// readAtOnce reads the page by one statement under row security, unless it lies elsewhere
// than at the front, or an operator asks for what Postgres plans better without.
func (g *generalList) readAtOnce(keys *pg.Variable) {
	b := g.b
	g.sql = b.own("v_sql", "text", nil)
	arguments := []pg.Expr{pg.As(pg.Null(), rowType(b.model)), input, keys, pg.Str(b.table), g.sql}
	if paths := g.pickedPaths(); len(paths) > 0 {
		g.noted = b.own("v_picks", "boolean", pg.False())
		g.notedFor = pg.Str("{" + strings.Join(paths, ",") + "}")
		arguments = append(arguments, g.noted)
	}
	g.readWhere()
	// A kept plan is made anew when a table changes that it names, and not when a row type does.
	b.step("Row security keeps back nothing, so that a page from the front is read at once. No row is joined: "+
		"the plan is made anew when the table changes.", &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.answerColumns(),
		From:    &pg.CallRef{Alias: b.table, Call: pg.Fn("platform.read_page", arguments...)},
		Joins:   []pg.Join{{Kind: "left join", With: &pg.TableRef{Schema: appSchema, Name: b.table, Alias: "list__table"}, On: pg.False()}},
	}})
}

// pickedPaths are the operators, as patterns of their paths, for which Postgres plans
// better without row security.
func (g *generalList) pickedPaths() []string {
	var paths []string
	for _, f := range filters(g.b.action) {
		column := ownColumn(f.input)
		switch {
		case column == nil || column.Column == "" || !g.isKnownUnderRowSecurity(column):
			paths = append(paths, dotted(f.at("%")))
		case isFolded(f.input):
			paths = append(paths, dotted(f.at("startsWith")))
		}
	}
	return slices.Compact(paths)
}
