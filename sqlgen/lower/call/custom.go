package call

import (
	"strings"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Custom lowers an action with custom code: the steps of every action of its kind, around one call of the project's
// function. answerRows makes the answer of a list.
func (l *Lowering) Custom(a *model.Action, answerRows func(*Builder)) *pg.Function {
	volatility := pg.Volatile
	if isReading(a.Kind) {
		volatility = pg.Stable
	}
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name+", by "+codeFile(a), volatility)
	switch a.Kind {
	case model.Read:
		b.readOnly()
		b.answerMessage()
	case model.Write:
		b.answerMessage()
	case model.Start:
		b.startJob()
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
	return b.Finish()
}

func isReading(k model.Kind) bool {
	return k == model.Get || k == model.List || k == model.Read || k == model.ReadHistory
}

// codeFile is the file that holds the function of an action.
func codeFile(a *model.Action) string { return "functions/" + a.Name + ".sql" }

// Signature returns the function that an action with custom code calls.
func Signature(a *model.Action) *pg.Signature {
	s := &pg.Signature{
		Schema: value.CodeSchema, Name: a.Function,
		Returns: RowType(a.Model), ReturnsSet: a.Kind == model.List,
		Origin: pg.Origin{Of: "action " + a.Name}, File: codeFile(a),
	}
	switch a.Kind {
	case model.Start:
		s.Returns, s.Or, s.Origin.Of = "void", "jsonb", "job "+a.Model.Name
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
		if f := value.OwnColumn(in); f != nil {
			list = append(list, release.Input{Path: strings.Join(value.RequestPath(a, in), "."), Table: a.Model.Table, Field: f.Name})
		}
	}
	return list
}

// RowType is the type of the rows of a model's table.
func RowType(m *model.Model) string { return pg.Qualified(value.AppSchema, m.Table) }

func parameterType(p *model.Parameter) string {
	if p.JSON {
		return "jsonb"
	}
	t := p.Inputs[0].Type
	if t.Array {
		return value.CastType(t.Kind) + "[]"
	}
	return value.CastType(t.Kind)
}

// readOnly keeps the called code from writing.
func (b *Builder) readOnly() {
	b.Step("A stable function keeps itself from writing, not the code it calls.",
		&pg.Perform{Value: pg.Fn("set_config", pg.Str("transaction_read_only"), pg.Str("on"), pg.True())})
}

// CallCode calls the project's function with the inputs of the request.
func (b *Builder) CallCode() pg.Expr {
	var arguments []pg.Expr
	for _, p := range b.Action.Parameters() {
		arguments = append(arguments, &pg.Param{Name: p.Name, Value: b.argument(p)})
	}
	return pg.Fn(pg.Qualified(value.CodeSchema, b.Action.Function), arguments...)
}

// argument is the value of a parameter: the value of its input, null if absent.
func (b *Builder) argument(p *model.Parameter) pg.Expr {
	in := p.Inputs[0]
	switch {
	case !p.JSON:
		return b.Value(in)
	case in.Message != nil, in.Type.Kind == expr.Any:
		return value.Input
	}
	var path []string // up to the first to-many
	for _, f := range in.Path {
		path = append(path, f.Name)
		if f.IsToMany() {
			break
		}
	}
	return value.Member(value.Input, path...)
}

// answerMessage answers the value that the code returns: any JSON, null included, or a message, which cannot be null.
func (b *Builder) answerMessage() {
	answer := pg.As(b.CallCode(), "text")
	if b.Action.Returns.Message == nil {
		b.Step("", &pg.Return{Value: answer})
		return
	}
	result := b.Own("v_result", "text", nil)
	b.Step("", &pg.Assign{Variable: result, Value: answer})
	b.requireResult(result)
	b.Step("", &pg.Return{Value: result})
}

// requireResult ends the call if the code returns nothing where that has no meaning.
func (b *Builder) requireResult(result pg.Expr) {
	b.Step("", pg.IfThen(pg.IsNull(result),
		&pg.Perform{Value: pg.Fn("platform.require_result", pg.Str(pg.Qualified(value.CodeSchema, b.Action.Function)))}))
}

// answerID answers the id of the row that the code has deleted.
func (b *Builder) answerID() {
	result := b.Own("v_result", "text", nil)
	b.Step("", &pg.Assign{Variable: result, Value: pg.As(pg.Fn("to_json", b.CallCode()), "text")})
	b.Step("", pg.IfThen(pg.IsNull(result), b.End("platform.refuse_or_miss", pg.False())))
	b.Step("", &pg.Return{Value: result})
}

// answerRow answers the record of the row that the code returns.
func (b *Builder) answerRow() {
	row := b.VariableFor(b.Table, RowType(b.Model), nil)
	id := row.Field("id")
	var isAllowed pg.Expr = pg.False()
	if rule.CodeMayDecide(b.Action) {
		allowed := b.Own("v_is_allowed", "boolean", nil)
		b.Step("Rules without a row are checked before the code runs, because the code may change their result.", &pg.Assign{Variable: allowed, Value: b.Early.Holds})
		isAllowed = allowed
	}
	b.askOfCaller()
	b.Step("", &pg.Assign{Variable: row, Value: b.CallCode()})
	if b.Action.Kind == model.Create || b.Action.Kind == model.Update {
		b.readComputed(row)
	}
	switch b.Action.Kind {
	case model.Get:
		null := b.returnNothing()
		b.Step("", pg.IfThen(pg.IsNull(id), null))
		if b.HidesRefused {
			b.judgeRow(row, isAllowed, null)
		} else {
			b.judgeRow(row, isAllowed, b.End("platform.refuse"))
		}
	case model.Update:
		b.Step("", pg.IfThen(pg.IsNull(id), b.End("platform.refuse_or_miss", pg.False())))
		if len(b.Action.Pins) == 0 {
			b.judgeRow(row, isAllowed, b.End("platform.refuse_or_miss", value.Boolean(!b.HidesRefused)))
		}
	case model.Create:
		b.requireResult(id)
		b.judgeRow(row, isAllowed, b.End("platform.refuse"))
	}
	if answersSet(b.Action) {
		b.Step("", &pg.ReturnQuery{Query: &pg.Select{Columns: b.AnswerColumns(), From: b.HeldRow(row)}})
		return
	}
	b.Step("", &pg.Return{Value: row})
}

// returnNothing ends a function that has no row to answer.
func (b Builder) returnNothing() *pg.Return {
	if answersSet(b.Action) || b.Action.Many {
		return &pg.Return{}
	}
	return &pg.Return{Value: pg.Null()}
}

// HeldRow is a row that a variable holds, under the name of its table.
func (b Builder) HeldRow(row pg.Expr) pg.From {
	return &pg.SubqueryRef{Alias: b.Table, Query: &pg.Select{Columns: []pg.Output{{Value: &pg.AllFields{Value: row}}}}}
}

// judgeRow judges a row that a variable holds. A statement runs if the rules refuse the row, unless the caller is
// allowed every row.
func (b *Builder) judgeRow(row, isAllowed pg.Expr, refused pg.Statement) {
	if b.JudgesRows() {
		admitted := &pg.Exists{Query: &pg.Select{From: b.HeldRow(row), Where: b.RowRule()}}
		b.Step("The row is judged as the code returns it.", pg.IfThen(pg.Negate(pg.AnyOf(isAllowed, admitted)), refused))
	}
}

// judgesPinnedRow tells whether the row of an action with custom code may be judged
// before the code runs.
func judgesPinnedRow(a *model.Action) bool {
	return (a.Kind == model.Update || a.Kind == model.Delete) && len(a.Pins) > 0 && value.NeedRow(a.Rules)
}

// judgePinnedRow judges the row that the look-up inputs pin, before the code runs.
func (b *Builder) judgePinnedRow() {
	if !b.JudgesRows() || !judgesPinnedRow(b.Action) {
		return
	}
	where := b.lookUp()
	row := func(condition pg.Expr) pg.Expr {
		return &pg.Exists{Query: &pg.Select{From: pg.Ref(value.RelatedSchema, b.Table), Where: condition}}
	}
	isThere := pg.Expr(pg.False())
	if !b.HidesRefused {
		isThere = row(where)
	}
	b.Step("The row is judged as it was, before the code runs.",
		pg.IfThen(pg.Negate(row(pg.AllOf(where, b.RowRule()))), b.End("platform.refuse_or_miss", isThere)))
}
