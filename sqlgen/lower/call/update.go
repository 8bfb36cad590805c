package call

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Update lowers an update. An omitted value leaves its column as it is.
func (l *Lowering) Update(a *model.Action) *pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Volatile)
	if a.Many {
		return l.updateAll(b)
	}
	where := b.lookUp()
	b.holdSetInputs()
	var values pg.Expr // nothing reads them otherwise
	if b.Given == nil && readsValues(a) {
		values = b.Own("v_values", "jsonb", value.Member(value.Input, "values"))
	}

	update := &pg.Update{
		Schema: value.AppSchema, Table: b.Table,
		Where:     where,
		Returning: b.resultColumns(),
	}
	for _, w := range value.Levels(a).Writes {
		update.Set = append(update.Set, pg.Assignment{
			Column: w.Field.Column,
			Value:  b.writtenValue(w, values, 0, value.InFunction).or(pg.Col(b.Table, w.Field.Column)),
		})
	}
	l.shareLinked(b, values)
	if answersWritten(a) {
		b.Step("", &pg.ReturnWritten{Write: update})
		b.missing(NothingFound, where)
		b.testsNow(l)
		return b.Finish()
	}
	result := b.resultRow()
	update.Into = result
	b.Step("", update)
	b.missing(isNoRow(result), where)
	b.testsNow(l)
	b.readComputed(result)
	b.answerResult(result)
	return b.Finish()
}

// readsValues tells whether an update reads an input from the object of values when it writes, or asks if one is given.
func readsValues(a *model.Action) bool {
	return slices.ContainsFunc(value.Levels(a).Writes, func(w value.Write) bool {
		if w.Input != nil {
			return true
		}
		return slices.ContainsFunc(value.OptionalInputsOf(w.Set.Value), func(in *model.Input) bool { return in.IsWrite })
	})
}

// Deletion lowers a delete.
func (l *Lowering) Deletion(a *model.Action) *pg.Function {
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Volatile)
	if a.Many {
		return l.deleteAll(b)
	}
	where := b.lookUp()
	result := b.Own("v_result", "text", nil)
	l.lockDeleted(b, where)
	b.Step("", &pg.Delete{
		Schema: value.AppSchema, Table: b.Table,
		Where:     where,
		Returning: []pg.Expr{pg.As(pg.Fn("to_json", pg.Col(b.Table, "id")), "text")},
		Into:      result,
	})
	b.missing(pg.IsNull(result), where)
	b.testsNow(l)
	b.Step("", &pg.Return{Value: result})
	return b.Finish()
}

// missing ends the call if no row was found. The call is refused if row security hid a row that the condition finds
// without it.
func (b *Builder) missing(isMissing, where pg.Expr) {
	isHidden := b.isHidden(where)
	if pg.IsFalse(isHidden) && !b.isNamed { // and the caller is not missing
		b.Step("", pg.IfThen(isMissing, &pg.Perform{Value: pg.Fn("platform.miss")}))
		return
	}
	b.Step("", pg.IfThen(isMissing, b.End("platform.refuse_or_miss", isHidden)))
}

// RequireCaller ends the call of a missing caller, where the rules of an action have left that open until nothing was
// found.
func (b *Builder) RequireCaller() []pg.Statement {
	if !b.isNamed {
		return nil
	}
	return []pg.Statement{b.End("platform.require_caller")}
}

// isHidden tells whether a row that was not found exists and was refused. If the rules need no row, or refused rows are
// to stay hidden, the function does not look.
func (b Builder) isHidden(where pg.Expr) pg.Expr {
	if !b.JudgesRows() || b.HidesRefused {
		return pg.False()
	}
	return &pg.Exists{Query: &pg.Select{From: pg.Ref(value.RelatedSchema, b.Table), Where: where}}
}
