package lower

import (
	"fmt"
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A function whose answer is a record answers the row, and the server writes the record:
// that costs Postgres a third of what making JSON does. The row is that of the model's
// table. Embedded records are beside it, each as JSON, and the row is then a column of
// its own. Rows of a union have no table: each field is a column.

// answersRow tells whether the function of an action answers rows.
func answersRow(a *schema.Action) bool {
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
	case a.Union != nil:
		return answersOfUnion(a)
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
	return answersRow(a) && (a.Kind == schema.List || len(a.Embeds) > 0 || a.Union != nil)
}

// answersOfUnion is the type of what the function of a union's action answers: a column
// for each field, and in a list the number of the arm, by which rows are ordered.
func answersOfUnion(a *schema.Action) string {
	var columns []string
	for i, f := range a.Union.Fields {
		columns = append(columns, unionColumn(i, f.Column)+" "+variableType(f.Type))
	}
	if a.Kind == schema.List {
		columns = append(columns, armColumn+" bigint")
	}
	return "table (" + strings.Join(columns, ", ") + ")"
}

// unionColumn is the column of a field of a union, the i-th, in what functions answer. No
// column of a table has such a name, so that none is taken for it.
func unionColumn(i int, column string) string {
	const room = 57 // for which names may be 63 bytes long
	return fmt.Sprintf("%s__%d", column[:min(len(column), room)], i+1)
}

// unionMember is a field of a union as a member of the record.
func unionMember(u *schema.Union, name string) release.Member {
	for i, f := range u.Fields {
		if f.Name == name {
			return memberOf(f.Name, unionColumn(i, f.Column), f.Type)
		}
	}
	panic("lower: the union " + u.Name + " has no field " + name)
}

// embedsInOrder returns the embeds of an action in the order of the record.
func embedsInOrder(a *schema.Action) []*schema.Embed {
	var embeds []*schema.Embed
	for _, f := range a.Model.Fields {
		if e := schema.EmbedOf(f, a.Embeds); e != nil {
			embeds = append(embeds, e)
		}
	}
	return embeds
}

// embedColumn is the column of an embedded record.
func embedColumn(e *schema.Embed) string { return "v_" + schema.SnakeForm(e.Field.Name) }

// allColumns are the columns of the rows at an alias.
func allColumns(alias string) pg.Expr { return &pg.AllFields{Value: pg.Var(pg.Ident(alias))} }

// answerColumns are the columns of what the function answers, of rows that are in the
// query under the name of their table.
func (b builder) answerColumns() []pg.Output {
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
	result := b.resultRow()
	query.Into = []pg.Target{result}
	b.step("", &pg.Query{Select: query})
	if len(otherwise) > 0 {
		b.step("", pg.IfThen(isNoRow(result), otherwise...))
	}
	b.step("", &pg.Return{Value: result})
}

// resultRow declares the variable that holds the row which is answered.
func (b *builder) resultRow() *pg.Variable { return b.own("v_result", rowType(b.model), nil) }

// nothingFound tells, right behind a query, that no row was found.
var nothingFound = pg.Negate(pg.Var("found"))

// isNoRow tells whether a variable for a row of a table holds none.
func isNoRow(row *pg.Variable) pg.Expr { return pg.IsNull(row.Field("id")) }

// publishedOrder returns what a list is ordered by, and what requests may order it by.
func publishedOrder(a *schema.Action) (order, sortable []release.SortKey) {
	if a.Kind != schema.List || !answersRow(a) {
		return nil, nil
	}
	published := func(f *schema.Field) release.SortKey {
		return release.SortKey{Member: memberOf(f.Name, f.Column, f.Type), Nullable: f.Optional}
	}
	own := ownOrder
	if a.Union != nil {
		own = unionOrder
		published = func(f *schema.Field) release.SortKey {
			if f.Name == armColumn {
				return release.SortKey{Member: memberOf(f.Name, f.Column, f.Type)}
			}
			return release.SortKey{Member: unionMember(a.Union, f.Name), Nullable: f.Optional}
		}
		for _, f := range a.UnionSortable {
			sortable = append(sortable, published(unionKey(f)))
		}
	}
	for _, k := range own(a) {
		key := published(k.field)
		key.Descending, key.Follows = k.descending, k.follows
		order = append(order, key)
	}
	for _, f := range a.Sortable {
		sortable = append(sortable, published(f))
	}
	return order, sortable
}

// publishedRecord returns the members of the record that an action answers, and its
// name; none if its function answers JSON.
func publishedRecord(a *schema.Action) (name string, members []release.Member) {
	if !answersRow(a) {
		return "", nil
	}
	if a.Union != nil {
		for _, f := range a.Union.Fields {
			members = append(members, unionMember(a.Union, f.Name))
		}
		return a.Union.Name, members
	}
	name = a.Model.Name
	if len(a.Embeds) > 0 {
		name = a.Name
	}
	for _, f := range a.Model.Fields {
		e := schema.EmbedOf(f, a.Embeds)
		switch {
		case e != nil:
			members = append(members, release.Member{Name: f.Name, Column: embedColumn(e), Type: release.JSONMember, Embedded: true})
		case f.IsRelation(), f.FKOf != nil && schema.EmbedOf(f.FKOf, a.Embeds) != nil, f.StepWriteOnly():
		default:
			members = append(members, memberOf(f.Name, f.Column, f.Type))
		}
	}
	return name, members
}
