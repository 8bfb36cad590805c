package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// isReadAtOnce tells whether a page may be read without picking its rows first: if the rules were decided before any
// row is read, so that row security keeps no condition from an index, and Postgres knows for every filter how many rows
// satisfy the @wheres.
func (g *generalList) isReadAtOnce() bool {
	if g.b.judgesRows() {
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

// isKnownUnderRowSecurity tells whether Postgres plans comparisons of a column under row security as well as without:
// it has statistics only for leakproof operators. They would not matter without an index of the column. A column that
// may not be read under row security is not known there either.
func (g *generalList) isKnownUnderRowSecurity(f *schema.Field) bool {
	return g.mayRead(f) && !f.Type.Array && (isLeakproof(f.Type.Kind) || !g.indexed[f.Column])
}

// mayRead tells whether a column may be read under row security: an action that answers columns reads no others of a
// row.
func (g *generalList) mayRead(f *schema.Field) bool {
	return !answersColumns(g.b.action) || slices.ContainsFunc(answeredColumns(g.b.action), func(c answeredColumn) bool {
		return !c.member.Field.IsRelation() && c.member.Field.Column == f.Column
	})
}

// readAtOnce reads the page by one statement under row security, unless the page is not at the front, or an operator
// asks for something that Postgres plans better without.
func (g *generalList) readAtOnce() {
	a := g.b.action
	keys := keysArray(ownOrder(a), g.b.table)
	front := pg.Expr(pg.Str(" order by " + orderText(ownOrder(a), g.b.table, false) + " limit $2"))
	if len(a.Sortable) > 0 || len(a.Embeds) > 0 {
		keys = g.keys()
		front = concatenated(pg.Str(" order by "), pg.Fn("platform.order_sql", keys, pg.False()), pg.Str(" limit $2"))
	}
	g.sql = g.b.own("v_sql", "text", nil)
	if paths := g.pickedPaths(); len(paths) > 0 {
		g.noted = g.b.own("v_picks", "boolean", pg.False())
		g.notedFor = pg.Str("{" + strings.Join(paths, ",") + "}")
	}
	if len(a.Embeds) == 0 || answersColumns(a) {
		g.readDirectly(keys, front)
	} else {
		g.readRows(keys)
	}
}

// readRows reads whole rows by the platform's function for pages. The plan of what is embedded in them is kept.
func (g *generalList) readRows(keys pg.Expr) {
	b := g.b
	arguments := []pg.Expr{pg.As(pg.Null(), rowType(b.model)), input, keys, pg.Str(b.table), g.sql}
	if g.noted != nil {
		arguments = append(arguments, g.noted)
	}
	g.readWhere()
	// Postgres makes a kept plan anew when a table that it names changes, but not when a row type does.
	b.step(readsAtOnce+" No row is joined: the plan is made anew when the table changes.", &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.answerColumns(),
		From:    &pg.CallRef{Alias: b.table, Call: pg.Fn("platform.read_page", arguments...)},
		Joins:   []pg.Join{{Kind: "left join", With: &pg.TableRef{Schema: appSchema, Name: b.table, Alias: "list__table"}, On: pg.False()}},
	}})
}

const readsAtOnce = "Row security hides nothing here, so a page from the front is read at once."

// readDirectly reads what the action answers by a statement of its own. The platform's function for pages would hold the
// rows of the page in between.
func (g *generalList) readDirectly(keys, front pg.Expr) {
	b := g.b
	b.isAtFront = true
	ids := b.own("v_ids", "text[]", nil)
	g.readWhere()

	isElsewhere := pg.Expr(pg.Op(input, "?|", pg.Str("{last,before,position,offset,totalCount}")))
	if g.noted != nil {
		isElsewhere = pg.AnyOf(g.noted, isElsewhere)
	}
	related := &pg.Fragment{Prefix: " ", Query: &pg.QueryTail{From: b.related()}}
	stored := &pg.Fragment{Select: &pg.Select{Columns: b.answerColumns(), From: b.stored()}}
	size := pg.As(pg.Fn("coalesce", memberText(input, "first"), memberText(input, "limit"), pg.Str(defaultPageSize)), "bigint")
	b.step(readsAtOnce, &pg.If{
		Branches: []pg.IfBranch{{
			Condition: isElsewhere,
			Then:      b.readPage(keys, ids, &pg.Array{Elements: []pg.Expr{concatenated(related, g.sql)}}),
		}},
		Else: []pg.Statement{&pg.ReturnExecute{
			Text:  concatenated(stored, g.sql, front),
			Using: []pg.Expr{member(input, "where"), pg.Op(size, "+", pg.Lit("1"))},
		}},
	})
}

// pickedPaths are the operators, as patterns of their paths, that Postgres plans better without row security.
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
