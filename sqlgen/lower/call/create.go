package call

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Create lowers a create. The record is the row that the insert returns, which row security has judged before it was
// written. If a rule needs what is written beside the row, row security judges it again when the record is read, once
// all is written.
func (l *Lowering) Create(a *model.Action) *pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Volatile)
	c := &creation{b: b, ids: map[*value.Level]pg.Expr{}, names: pg.NewNames(), isJudgedLate: b.JudgesRows() && !rule.JudgesInsert(a)}
	b.holdSetInputs()
	root := value.Levels(a)
	if a.Many {
		return l.createAll(b, c, root)
	}
	insert := c.insertAll(root)
	c.lockLinked(l)
	c.invite(root)
	if c.isJudgedLate {
		b.Step(c.comment(), insert)
		answer := b.findOne("Row security judges the new row here, with all that hangs on it.",
			b.Stored(), pg.Eq(pg.Col(b.Table, "id"), c.ids[root]), b.End("platform.refuse"))
		b.testsNow(l)
		b.Step("", answer...)
		return b.Finish()
	}
	insert.Returning = b.resultColumns()
	if answersWritten(a) {
		b.Step(c.comment(), &pg.ReturnWritten{Write: insert})
		b.testsNow(l)
		return b.Finish()
	}
	result := b.resultRow()
	insert.Into = result
	b.Step(c.comment(), insert)
	b.testsNow(l)
	b.readComputed(result)
	b.answerResult(result)
	return b.Finish()
}

// invite keeps the invitation of the new row, and its mail, which end with the call if the row is refused.
func (c *creation) invite(root *value.Level) {
	if i := c.b.Action.Invitation; i != nil {
		c.b.Step("", &pg.Perform{Value: pg.Fn("platform.invite", value.Context,
			pg.Str(value.AppSchema+"."+pg.Ident(c.b.Table)), c.ids[root], pg.Str(i.Account.FK.Column), pg.Str(i.Address.Column))})
	}
}

// creation writes the rows of a create, all by one statement. Postgres then checks the references between them when all
// rows are there, so their order does not matter.
type creation struct {
	b     *Builder                 // the function
	ids   map[*value.Level]pg.Expr // ids of levels that others refer to; null where none is inserted
	names *pg.Names                // names of the parts of the statement
	with  []pg.Named

	inserted     []insertedRows
	isJudgedLate bool // whether the row is judged, or judged again, once all is written
}

func (c creation) comment() string {
	if len(c.with) == 0 {
		return ""
	}
	return "One statement writes all rows, so that references between them are checked when all are there."
}

// rows are the JSON that rows are made of: the body of a request, or the elements of an array in it. To-ones below
// belong to the same rows.
type rows struct {
	head  *value.Level // the level of the rows
	json  pg.Expr      // the object
	at    value.Site
	from  pg.From // nil means one row
	joins []pg.Join
	order []pg.Order
	id    pg.Expr // id of the row that they refer to
	bare  *rows   // the same rows without the name that the statement gives them; nil if it gives none
}

// insertedRows are the rows of a level, without a name that the statement gives them.
type insertedRows struct {
	level *value.Level
	rows  rows
}

// depth is how many steps of a path lie above the object.
func (r rows) depth() int { return len(r.head.Path) }

// relations returns the steps to a level that lie below the object.
func (r rows) relations(l *value.Level) []*model.Field { return l.Path[r.depth():] }

// below returns the path of a level in the object.
func (r rows) below(l *value.Level) []string { return value.NamesOf(r.relations(l)) }

// insertAll returns the insert of the row of the action, with those of all others
// beside it.
func (c *creation) insertAll(root *value.Level) *pg.Insert {
	r := rows{head: root, json: value.Input, at: value.InFunction}
	for _, l := range sameRow(root) {
		if c.needsID(l) {
			c.ids[l] = c.idVariable(l, r)
		}
	}
	c.below(root, r)
	insert := c.insert(root, r)
	insert.With = c.with
	return insert
}

// sameRow returns a level and those that to-ones lead to from there: each row has
// at most one of each.
func sameRow(l *value.Level) []*value.Level {
	list := []*value.Level{l}
	for _, child := range l.Children {
		if child.Field.IsToOne() {
			list = append(list, sameRow(child)...)
		}
	}
	return list
}

// needsID tells whether a row's id must be known before it is inserted: another one refers to it, or the record is read
// once all are written.
func (c creation) needsID(l *value.Level) bool {
	if l.Field == nil && (c.isJudgedLate || c.b.Action.Invitation != nil) || l.Field != nil && l.Field.FK != nil {
		return true
	}
	for _, child := range l.Children {
		if child.Back() != nil {
			return true
		}
	}
	return false
}

// idVariable makes the id of a single row. An id that a @set gives may need the caller, so it waits until the caller is
// known.
func (c creation) idVariable(l *value.Level, r rows) pg.Expr {
	column := l.Model.Table + "_id"
	if l.Field != nil {
		column = strings.Join(snakes(l.Path), "_") + "_id"
	}
	id := c.newID(l, r)
	for _, w := range l.Writes {
		if w.Set != nil && w.Field.Name == "id" {
			v := c.b.VariableFor(column, "text", nil)
			c.b.Step("", &pg.Assign{Variable: v, Value: id})
			return v
		}
	}
	return c.b.VariableFor(column, "text", id)
}

func snakes(path []*model.Field) []string {
	names := make([]string, len(path))
	for i, f := range path {
		names[i] = model.SnakeForm(f.Name)
	}
	return names
}

// newID is the id that a row is to have; null if none is inserted.
func (c creation) newID(l *value.Level, r rows) pg.Expr {
	id := c.column(l, l.Model.Field("id"), r)
	if given := given(l, r); given != nil {
		return &pg.Case{Whens: []pg.When{{Condition: given, Result: id}}}
	}
	return id
}

// given is the condition under which a row is inserted; nil means always. The row of an optional to-one is inserted
// only if the request gives something of it.
func given(l *value.Level, r rows) pg.Expr {
	for ; l != r.head; l = l.Parent {
		if l.IsOptional() {
			return pg.Negate(&pg.In{Value: value.Member(r.json, r.below(l)...), List: []pg.Expr{pg.Str("null"), pg.Str("{}")}})
		}
	}
	return nil
}

// below inserts the levels below a level.
func (c *creation) below(l *value.Level, r rows) {
	for _, child := range l.Children {
		if child.Field.IsToMany() {
			c.elements(child, r)
			continue
		}
		c.below(child, r)
		c.add("inserted_"+strings.Join(snakes(child.Path), "_"), pg.Named{Insert: c.insert(child, r)})
	}
}

// add adds a part to the statement and returns its name.
func (c *creation) add(name string, part pg.Named) {
	part.Name = c.names.Take(name)
	c.with = append(c.with, part)
}

// elements inserts a row for each element of an array. Where others refer to these rows, their ids are made first, and
// are beside the elements in rows of their own.
func (c *creation) elements(l *value.Level, outer rows) {
	name := c.names.Take(strings.Join(snakes(l.Path), "_"))
	place := pg.Col(name, "place")
	r := rows{head: l, json: pg.Col(name, "value"), at: value.InQuery, id: c.ids[l.Parent]}
	array := &pg.CallRef{
		Call:       pg.Fn("jsonb_array_elements", value.Member(outer.json, outer.below(l)...)),
		Ordinality: true,
		Alias:      name,
		Columns:    []string{"value", "place"},
	}
	if outer.from == nil {
		r.from = array
	} else {
		r.from, r.joins = outer.from, append(outer.joins[:len(outer.joins):len(outer.joins)], pg.Join{Kind: "cross join", With: array})
	}
	r.order = append(outer.order[:len(outer.order):len(outer.order)], pg.Order{Value: place})

	if slices.ContainsFunc(sameRow(l), c.needsID) {
		r = c.nameElements(name, r)
	}
	c.below(l, r)
	c.add("inserted_"+name, pg.Named{Insert: c.insert(l, r)})
}

// nameElements pairs the elements of an array with the ids of their rows, under a name by which all inserts find them.
func (c *creation) nameElements(name string, elements rows) rows {
	query := &pg.Select{From: elements.from, Joins: elements.joins}
	columns := pg.NewNames()
	add := func(value pg.Expr, column string) pg.Expr {
		column = columns.Take(column)
		query.Columns = append(query.Columns, pg.Output{Value: value, As: column})
		return pg.Col(name, column)
	}
	named := elements
	named.bare = &elements
	named.from, named.joins = pg.Ref("", name), nil
	named.json = add(elements.json, "value")
	place := elements.order[0].Value
	if len(elements.order) > 1 {
		place = &pg.RowNumber{OrderBy: elements.order}
	}
	named.order = []pg.Order{{Value: add(place, "place")}}
	if _, isColumn := elements.id.(*pg.ColumnRef); isColumn {
		named.id = add(elements.id, "parent_id")
	}
	for _, l := range sameRow(elements.head) {
		if c.needsID(l) {
			id := c.ids[l]
			if id == nil {
				id = c.newID(l, elements)
			}
			c.ids[l] = add(id, strings.Join(append(snakes(named.relations(l)), "id"), "_"))
		}
	}
	c.with = append(c.with, pg.Named{Name: name, Query: query})
	return named
}

// insert returns the insert of a level's rows.
func (c *creation) insert(l *value.Level, r rows) *pg.Insert {
	insert := &pg.Insert{Schema: value.AppSchema, Table: l.Model.Table}
	c.inserted = append(c.inserted, insertedRows{l, r})
	if r.bare != nil {
		c.inserted[len(c.inserted)-1].rows = *r.bare
	}
	var values []pg.Expr
	if id := c.ids[l]; id != nil {
		insert.Columns, values = []string{"id"}, []pg.Expr{id}
	}
	for _, f := range l.Columns() {
		if f.Name != "id" || c.ids[l] == nil {
			insert.Columns, values = append(insert.Columns, f.Column), append(values, c.column(l, f, r))
		}
	}
	if len(values) == 0 {
		insert.Columns, values = []string{"id"}, []pg.Expr{pg.Lit("default")}
	}
	where := given(l, r)
	if where != nil && c.ids[l] != nil {
		where = pg.IsNotNull(c.ids[l])
	}
	if where == nil && r.from == nil {
		insert.Values = values
		return insert
	}
	insert.Query = &pg.Select{From: r.from, Joins: r.joins, Where: where, OrderBy: r.order}
	for _, v := range values {
		insert.Query.Columns = append(insert.Query.Columns, pg.Output{Value: v})
	}
	return insert
}

// column is the value of a column of a new row: the value that the action gives it, or the id of the row that it refers
// to, or its default.
func (c creation) column(l *value.Level, f *model.Field, r rows) pg.Expr {
	var fallback pg.Expr
	switch {
	case f == l.Back():
		fallback = c.parentID(l, r)
	default:
		fallback = value.ColumnDefault(f)
	}
	for _, child := range l.Children {
		if child.Field.FK != nil && child.Field.FK == f {
			if fallback != nil && child.IsOptional() {
				return pg.Fn("coalesce", c.ids[child], fallback)
			}
			return c.ids[child]
		}
	}
	for _, w := range l.Writes {
		if w.Field == f {
			if fallback == nil {
				return c.b.valueOrNull(w, r.json, r.depth(), r.at)
			}
			return c.b.writtenValue(w, r.json, r.depth(), r.at).or(fallback)
		}
	}
	return fallback
}

// parentID is the id of the row that a child refers to.
func (c creation) parentID(l *value.Level, r rows) pg.Expr {
	if l == r.head {
		return r.id
	}
	return c.ids[l.Parent]
}
