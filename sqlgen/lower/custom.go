package lower

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// custom lowers an action with custom code: the steps of every action of its kind, around one call of the project's
// function. answerRows makes the answer of a list.
func (l *lowering) custom(a *model.Action, answerRows func(*builder)) *pg.Function {
	volatility := pg.Volatile
	if isReading(a.Kind) {
		volatility = pg.Stable
	}
	b := l.begin(a, functionName(a), "action "+a.Name+", by "+codeFile(a), volatility)
	switch a.Kind {
	case model.Read:
		b.readOnly()
		b.answerMessage()
	case model.Write:
		b.answerMessage()
	case model.Get:
		b.readOnly()
		b.answerRow()
	case model.List:
		b.readOnly()
		answerRows(b)
	case model.Create:
		b.answerRow()
	case model.Update:
		b.judgePinnedRow()
		b.answerRow()
	case model.Delete:
		b.judgePinnedRow()
		b.answerID()
	}
	return b.finish()
}

func isReading(k model.Kind) bool {
	return k == model.Get || k == model.List || k == model.Read
}

// codeFile is the file that holds the function of an action.
func codeFile(a *model.Action) string { return "functions/" + a.Name + ".sql" }

// Signature returns the function that an action with custom code calls.
func Signature(a *model.Action) *pg.Signature {
	s := &pg.Signature{
		Schema: codeSchema, Name: a.Function,
		Returns: rowType(a.Model), ReturnsSet: a.Kind == model.List,
		Origin: pg.Origin{Of: "action " + a.Name}, File: codeFile(a),
	}
	switch a.Kind {
	case model.Read, model.Write:
		s.Returns = "jsonb"
	case model.Delete:
		s.Returns = "text"
	}
	for _, p := range a.Parameters() {
		s.Arguments = append(s.Arguments, pg.Argument{Name: p.Name, Type: parameterType(p)})
	}
	return s
}

// inputsOfCode maps the inputs of custom code to the fields of the action's row: only the code knows more about an
// error.
func inputsOfCode(a *model.Action) []release.Input {
	var list []release.Input
	for _, in := range a.Writes {
		if f := ownColumn(in); f != nil {
			list = append(list, release.Input{Path: strings.Join(requestPath(a, in), "."), Table: a.Model.Table, Field: f.Name})
		}
	}
	return list
}

// rowType is the type of the rows of a model's table.
func rowType(m *model.Model) string { return pg.Qualified(appSchema, m.Table) }

func parameterType(p *model.Parameter) string {
	if p.JSON {
		return "jsonb"
	}
	t := p.Inputs[0].Type
	if t.Array {
		return castType(t.Kind) + "[]"
	}
	return castType(t.Kind)
}

// readOnly keeps the called code from writing.
func (b *builder) readOnly() {
	b.step("A stable function keeps itself from writing, not the code it calls.",
		&pg.Perform{Value: pg.Fn("set_config", pg.Str("transaction_read_only"), pg.Str("on"), pg.True())})
}

// callCode calls the project's function with the inputs of the request.
func (b *builder) callCode() pg.Expr {
	var arguments []pg.Expr
	for _, p := range b.action.Parameters() {
		arguments = append(arguments, &pg.Param{Name: p.Name, Value: b.argument(p)})
	}
	return pg.Fn(pg.Qualified(codeSchema, b.action.Function), arguments...)
}

// argument is the value of a parameter: the value of its input, null if absent.
func (b *builder) argument(p *model.Parameter) pg.Expr {
	in := p.Inputs[0]
	switch {
	case !p.JSON:
		return b.value(in)
	case in.Message != nil, in.Type.Kind == expr.Any:
		return input
	}
	var path []string // up to the first to-many
	for _, f := range in.Path {
		path = append(path, f.Name)
		if f.IsToMany() {
			break
		}
	}
	return member(input, path...)
}

// answerMessage answers the value that the code returns: any JSON, null included, or a message, which cannot be null.
func (b *builder) answerMessage() {
	answer := pg.As(b.callCode(), "text")
	if b.action.Returns.Message == nil {
		b.step("", &pg.Return{Value: answer})
		return
	}
	result := b.own("v_result", "text", nil)
	b.step("", &pg.Assign{Variable: result, Value: answer})
	b.requireResult(result)
	b.step("", &pg.Return{Value: result})
}

// requireResult ends the call if the code returns nothing where that has no meaning.
func (b *builder) requireResult(result pg.Expr) {
	b.step("", pg.IfThen(pg.IsNull(result),
		&pg.Perform{Value: pg.Fn("platform.require_result", pg.Str(pg.Qualified(codeSchema, b.action.Function)))}))
}

// answerID answers the id of the row that the code has deleted.
func (b *builder) answerID() {
	result := b.own("v_result", "text", nil)
	b.step("", &pg.Assign{Variable: result, Value: pg.As(pg.Fn("to_json", b.callCode()), "text")})
	b.step("", pg.IfThen(pg.IsNull(result), b.end("platform.refuse_or_miss", pg.False())))
	b.step("", &pg.Return{Value: result})
}

// answerRow answers the record of the row that the code returns.
func (b *builder) answerRow() {
	row := b.variableFor(b.table, rowType(b.model), nil)
	id := row.Field("id")
	var isAllowed pg.Expr = pg.False()
	if codeMayDecide(b.action) {
		allowed := b.own("v_is_allowed", "boolean", nil)
		b.step("Rules without a row are checked before the code runs, because the code may change their result.", &pg.Assign{Variable: allowed, Value: b.early.holds})
		isAllowed = allowed
	}
	b.askOfCaller()
	b.step("", &pg.Assign{Variable: row, Value: b.callCode()})
	if b.action.Kind == model.Create || b.action.Kind == model.Update {
		b.readComputed(row)
	}
	switch b.action.Kind {
	case model.Get:
		null := b.returnNothing()
		b.step("", pg.IfThen(pg.IsNull(id), null))
		if b.hidesRefused {
			b.judgeRow(row, isAllowed, null)
		} else {
			b.judgeRow(row, isAllowed, b.end("platform.refuse"))
		}
	case model.Update:
		b.step("", pg.IfThen(pg.IsNull(id), b.end("platform.refuse_or_miss", pg.False())))
		if len(b.action.Pins) == 0 {
			b.judgeRow(row, isAllowed, b.end("platform.refuse_or_miss", boolean(!b.hidesRefused)))
		}
	case model.Create:
		b.requireResult(id)
		b.judgeRow(row, isAllowed, b.end("platform.refuse"))
	}
	if answersSet(b.action) {
		b.step("", &pg.ReturnQuery{Query: &pg.Select{Columns: b.answerColumns(), From: b.heldRow(row)}})
		return
	}
	b.step("", &pg.Return{Value: row})
}

// returnNothing ends a function that has no row to answer.
func (b builder) returnNothing() *pg.Return {
	if answersSet(b.action) {
		return &pg.Return{}
	}
	return &pg.Return{Value: pg.Null()}
}

// heldRow is a row that a variable holds, under the name of its table.
func (b builder) heldRow(row pg.Expr) pg.From {
	return &pg.SubqueryRef{Alias: b.table, Query: &pg.Select{Columns: []pg.Output{{Value: &pg.AllFields{Value: row}}}}}
}

// judgeRow judges a row that a variable holds. A statement runs if the rules refuse the row, unless the caller is
// allowed every row.
func (b *builder) judgeRow(row, isAllowed pg.Expr, refused pg.Statement) {
	if b.judgesRows() {
		admitted := &pg.Exists{Query: &pg.Select{From: b.heldRow(row), Where: b.rowRule()}}
		b.step("The row is judged as the code returns it.", pg.IfThen(pg.Negate(pg.AnyOf(isAllowed, admitted)), refused))
	}
}

// judgesPinnedRow tells whether the row of an action with custom code may be judged
// before the code runs.
func judgesPinnedRow(a *model.Action) bool {
	return (a.Kind == model.Update || a.Kind == model.Delete) && len(a.Pins) > 0 && needRow(a.Rules)
}

// judgePinnedRow judges the row that the look-up inputs pin, before the code runs.
func (b *builder) judgePinnedRow() {
	if !b.judgesRows() || !judgesPinnedRow(b.action) {
		return
	}
	where := b.lookUp()
	row := func(condition pg.Expr) pg.Expr {
		return &pg.Exists{Query: &pg.Select{From: pg.Ref(relatedSchema, b.table), Where: condition}}
	}
	isThere := pg.Expr(pg.False())
	if !b.hidesRefused {
		isThere = row(where)
	}
	b.step("The row is judged as it was, before the code runs.",
		pg.IfThen(pg.Negate(row(pg.AllOf(where, b.rowRule()))), b.end("platform.refuse_or_miss", isThere)))
}
