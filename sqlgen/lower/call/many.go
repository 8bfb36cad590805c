package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// An action with @many takes an array of inputs and writes all rows by one statement per table. Its function reads the
// inputs of a row in a query over that array, where other functions read those of the call. A call of one row ends as the
// action would without @many; the server asks platform.judge_rows which rows of several are refused.

// sent is what the inputs are read from: the body of the request, or one of its rows.
func (b *Builder) sent() pg.Expr {
	if b.rows == "" {
		return value.Input
	}
	return pg.Col(b.rows, "value")
}

// place is the place of a row in the request, counted from 1.
func (b *Builder) place() pg.Expr { return pg.Col(b.rows, "place") }

// rowsSent are the rows of the request, in a from clause.
func (b *Builder) rowsSent() *pg.CallRef {
	return &pg.CallRef{
		Call: pg.Fn("jsonb_array_elements", value.Member(value.Input, "rows")), Ordinality: true,
		Alias: b.rows, Columns: []string{"value", "place"},
	}
}

// idsOf holds the ids of the rows in the order of the request.
func (b *Builder) idsOf(comment string, id pg.Expr) *pg.Variable {
	ids := b.Own("v_ids", "text[]", nil)
	b.Step(comment, &pg.Assign{Variable: ids, Value: &pg.ArrayOf{Query: &pg.Select{
		Columns: []pg.Output{{Value: id}}, From: b.rowsSent(), OrderBy: []pg.Order{{Value: b.place()}},
	}}})
	return ids
}

// idOf is the id of a row.
func (b *Builder) idOf(ids pg.Expr) pg.Expr {
	return &pg.Element{Array: ids, Index: pg.As(b.place(), "int")}
}

// lookUpAll finds the rows of an update or delete, each once, and returns their ids and the rows of the request beside
// them, with the condition that joins both.
func (b *Builder) lookUpAll() (ids *pg.Variable, from pg.From, where pg.Expr) {
	find := func(given []*model.Input) pg.Expr {
		return &pg.Subquery{Query: &pg.Select{
			Columns: []pg.Output{{Value: pg.Col(b.Table, "id")}}, From: pg.Ref(value.RelatedSchema, b.Table), Where: b.isFound(given),
		}}
	}
	id := find(nil)
	if sets := PinningInputs(b.Action); len(sets) > 0 {
		var whens []pg.When
		for _, set := range sets {
			whens = append(whens, pg.When{Condition: pg.Negate(b.LacksAny(set)), Result: find(set)})
		}
		id = &pg.Case{Whens: whens}
	}
	ids = b.idsOf("", id)
	isMissing := pg.IsNotNull(pg.Fn("array_position", ids, pg.Null()))
	b.Step("", pg.IfThen(isMissing, b.End("platform.refuse_or_miss", pg.False())), &pg.Perform{Value: pg.Fn("platform.refuse_twice", ids)})

	from = b.rowsSent()
	return ids, from, pg.AllOf(pg.Eq(pg.Col(b.Table, "id"), b.idOf(ids)), b.isFound(nil)) // another call may have changed them meanwhile
}

// requireAll ends the call unless the statement before it has met all rows.
func (b *Builder) requireAll(ids pg.Expr, end pg.Statement) {
	count := b.Own("v_count", "bigint", nil)
	b.Step("", &pg.CountRows{Into: count}, pg.IfThen(pg.Op(count, "<", pg.Fn("cardinality", ids)), end))
}

// requireMet is requireAll for rows that a look-up has found: row security hides the others.
func (b *Builder) requireMet(ids pg.Expr) {
	b.requireAll(ids, b.End("platform.refuse_or_miss", value.Boolean(b.JudgesRows() && !b.HidesRefused)))
}

// answerAll answers the written rows in the order of the request.
func (b *Builder) answerAll(comment string, ids pg.Expr) {
	page := PageAlias(b.Table)
	b.Step(comment, &pg.ReturnQuery{Query: &pg.Select{
		Columns: b.AnswerColumns(), From: b.idsInOrder(ids, page),
		Joins:   []pg.Join{{Kind: "join", With: b.Stored(), On: pg.Eq(pg.Col(b.Table, "id"), pg.Col(page, "id"))}},
		OrderBy: []pg.Order{{Value: pg.Col(page, "place")}},
	}})
}

func (b *Builder) idsInOrder(ids pg.Expr, alias string) pg.From {
	return &pg.CallRef{Call: pg.Fn("unnest", ids), Ordinality: true, Alias: alias, Columns: []string{"id", "place"}}
}

// createAll lowers a create of many rows.
func (l *Lowering) createAll(b *Builder, c *creation, root *value.Level) *pg.Function {
	array := b.rowsSent()
	r := rows{head: root, json: b.sent(), at: value.InQuery, from: array, order: []pg.Order{{Value: b.place()}}}
	c.names.Take(b.rows)
	var ids *pg.Variable
	answersNow := answersWritten(b.Action) && !c.isJudgedLate
	if !answersNow {
		ids = b.idsOf("", c.newID(root, r))
		c.ids[root] = b.idOf(ids)
	}
	if slices.ContainsFunc(sameRow(root), c.needsID) {
		r = c.nameElements(b.rows, r)
	}
	c.below(root, r)
	insert := c.insert(root, r)
	insert.With = c.with
	c.lockLinked(l)
	if answersNow {
		insert.Returning = b.resultColumns()
		b.Step(c.comment(), &pg.ReturnWritten{Write: insert})
		b.testsNow(l)
		return b.Finish()
	}
	b.Step(c.comment(), insert)
	if !c.isJudgedLate {
		b.testsNow(l)
		b.answerAll("", ids)
		return b.Finish()
	}
	b.answerAll("Row security judges the new rows here, with all that hangs on them.", ids)
	b.requireAll(ids, b.End("platform.refuse"))
	b.testsNow(l)
	return b.Finish()
}

// updateAll lowers an update of many rows.
func (l *Lowering) updateAll(b *Builder) *pg.Function {
	ids, from, where := b.lookUpAll()
	update := &pg.Update{Schema: value.AppSchema, Table: b.Table, From: from, Where: where}
	values := value.Member(b.sent(), "values")
	for _, w := range value.Levels(b.Action).Writes {
		update.Set = append(update.Set, pg.Assignment{
			Column: w.Field.Column,
			Value:  b.writtenValue(w, values, 0, value.InQuery).or(pg.Col(b.Table, w.Field.Column)),
		})
	}
	b.Step("", update)
	b.requireMet(ids)
	b.testsNow(l)
	b.answerAll("", ids)
	return b.Finish()
}

// deleteAll lowers a delete of many rows.
func (l *Lowering) deleteAll(b *Builder) *pg.Function {
	ids, from, where := b.lookUpAll()
	l.lockDeleted(b, &pg.Any{Value: pg.Col(b.Table, "id"), Op: "=", Array: ids})
	b.Step("", &pg.Delete{Schema: value.AppSchema, Table: b.Table, Using: from, Where: where})
	b.requireMet(ids)
	b.testsNow(l)
	page := PageAlias(b.Table)
	b.Step("", &pg.ReturnQuery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.As(pg.Fn("to_json", pg.Col(page, "id")), "text")}},
		From:    b.idsInOrder(ids, page), OrderBy: []pg.Order{{Value: pg.Col(page, "place")}},
	}})
	return b.Finish()
}
