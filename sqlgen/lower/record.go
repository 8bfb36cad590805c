package lower

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A function whose answer is a record answers the row, and the server writes the record:
// that costs Postgres a third of what making JSON does. The row is that of the model's
// table. Embedded records stand beside it, each as JSON, and the row is then a column of
// its own.

// answersRow tells whether the function of an action answers rows.
func answersRow(a *schema.Action) bool {
	if a.Union != nil {
		return false
	}
	switch a.Kind {
	case schema.Get, schema.List, schema.Create, schema.Update:
		return true
	}
	return false
}

// answers is the type of what the function of an action answers.
func answers(a *schema.Action) string {
	switch {
	case !answersRow(a):
		return "text"
	case len(a.Embeds) == 0 && a.Kind == schema.List:
		return "setof " + rowType(a.Model)
	case len(a.Embeds) == 0:
		return rowType(a.Model)
	}
	columns := []string{release.RowColumn + " " + rowType(a.Model)}
	for _, e := range embedsInOrder(a) {
		columns = append(columns, embedColumn(e)+" json")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// answersSet tells whether the function of an action answers any number of rows.
func answersSet(a *schema.Action) bool {
	return answersRow(a) && (a.Kind == schema.List || len(a.Embeds) > 0)
}

// embedsInOrder returns the embeds of an action in the order of the record.
func embedsInOrder(a *schema.Action) []*schema.Embed {
	var embeds []*schema.Embed
	for _, f := range a.Model.Fields {
		if e := embedOf(f, a.Embeds); e != nil {
			embeds = append(embeds, e)
		}
	}
	return embeds
}

// embedColumn is the column of an embedded record.
func embedColumn(e *schema.Embed) string { return "v_" + schema.SnakeForm(e.Field.Name) }

// allColumns are the columns of the rows at an alias.
func allColumns(alias string) pg.Expr { return &pg.AllFields{Value: pg.Var(pg.Ident(alias))} }

// answerColumns are the columns of what the function answers, of rows that stand in the
// query under the name of their table.
func (b *builder) answerColumns() []pg.Output {
	if len(b.action.Embeds) == 0 {
		return []pg.Output{{Value: allColumns(b.table)}}
	}
	columns := []pg.Output{{Value: b.wholeRow()}}
	taken := map[string]bool{b.table: true, pageAlias(b.table): true}
	for _, e := range embedsInOrder(b.action) {
		columns = append(columns, pg.Output{Value: embedded(rowOf(b.model), e, taken, b.recordAlias())})
	}
	return columns
}

// answerOne answers the row that a query finds, and runs statements if it finds none.
func (b *builder) answerOne(from pg.From, where pg.Expr, otherwise ...pg.Statement) {
	query := &pg.Select{Columns: b.answerColumns(), From: from, Where: where}
	if answersSet(b.action) {
		b.step("", &pg.ReturnQuery{Query: query})
		if len(otherwise) > 0 {
			b.step("", pg.IfThen(nothingFound, otherwise...))
		}
		return
	}
	b.resultRow()
	query.Into = []string{"v_result"}
	b.step("", &pg.Query{Select: query})
	if len(otherwise) > 0 {
		b.step("", pg.IfThen(noResult, otherwise...))
	}
	b.step("", &pg.Return{Value: pg.Var("v_result")})
}

// resultRow declares the variable that holds the row which is answered.
func (b *builder) resultRow() { b.variable("v_result", rowType(b.model), nil) }

// nothingFound tells, right behind a query, that no row was found.
var nothingFound = pg.Negate(pg.Var("found"))

// noResult tells whether no row was found.
var noResult = pg.IsNull(pg.Col("v_result", "id"))

// memberTypes says how the values of a type become JSON.
var memberTypes = map[expr.Kind]release.MemberType{
	expr.ID: release.TextMember, expr.Text: release.TextMember, expr.Markdown: release.TextMember, expr.Enum: release.TextMember,
	expr.Number: release.NumberMember, expr.Decimal: release.DecimalMember, expr.Boolean: release.BooleanMember,
	expr.Timestamp: release.TimestampMember, expr.Date: release.DateMember, expr.Duration: release.DurationMember,
	expr.File: release.JSONMember,
}

func memberOf(name, column string, t expr.Type) release.Member {
	m := release.Member{Name: name, Column: column, Type: memberTypes[t.Kind], Array: t.Array}
	switch {
	case t.Kind == expr.Vector:
		m.Type, m.Array = release.RealMember, true
	case t.Kind == expr.File && t.Array:
		// An array of jsonb: each element is JSON as it stands.
	}
	return m
}

// publishedOrder returns what a list is ordered by, and what requests may order it by.
func publishedOrder(a *schema.Action) (order, sortable []release.SortKey) {
	if a.Kind != schema.List || !answersRow(a) {
		return nil, nil
	}
	published := func(f *schema.Field, descending bool) release.SortKey {
		return release.SortKey{Member: memberOf(f.Name, f.Column, f.Type), Descending: descending}
	}
	for _, k := range ownOrder(a) {
		order = append(order, published(k.field, k.descending))
	}
	for _, f := range a.Sortable {
		sortable = append(sortable, published(f, false))
	}
	return order, sortable
}

// publishedRecord returns the members of the record that an action answers, and its
// name; none if its function answers JSON.
func publishedRecord(a *schema.Action) (name string, members []release.Member) {
	if !answersRow(a) {
		return "", nil
	}
	name = a.Model.Name
	if len(a.Embeds) > 0 {
		name = a.Name
	}
	for _, f := range a.Model.Fields {
		e := embedOf(f, a.Embeds)
		switch {
		case e != nil:
			members = append(members, release.Member{Name: f.Name, Column: embedColumn(e), Type: release.JSONMember, Embedded: true})
		case f.IsRelation(), f.FKOf != nil && embedOf(f.FKOf, a.Embeds) != nil, f.StepWriteOnly():
		default:
			members = append(members, memberOf(f.Name, f.Column, f.Type))
		}
	}
	return name, members
}
