package lower

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// update lowers an update. An omitted value leaves its column as it is.
func (l *lowering) update(a *model.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Volatile)
	where := b.lookUp()
	b.holdSetInputs()
	var values pg.Expr // nothing reads them otherwise
	if b.given == nil && readsValues(a) {
		values = b.own("v_values", "jsonb", member(input, "values"))
	}

	update := &pg.Update{
		Schema: appSchema, Table: b.table,
		Where:     where,
		Returning: b.resultColumns(),
	}
	for _, w := range levels(a).writes {
		update.Set = append(update.Set, pg.Assignment{
			Column: w.field.Column,
			Value:  b.writtenValue(w, values, 0, inFunction).or(pg.Col(b.table, w.field.Column)),
		})
	}
	l.shareLinked(b, values)
	if answersWritten(a) {
		b.step("", &pg.ReturnWritten{Write: update})
		b.missing(nothingFound, where)
		b.testsNow(l)
		return b.finish()
	}
	result := b.resultRow()
	update.Into = result
	b.step("", update)
	b.missing(isNoRow(result), where)
	b.testsNow(l)
	b.readComputed(result)
	b.answerResult(result)
	return b.finish()
}

// readsValues tells whether an update reads an input from the object of values when it writes, or asks if one is given.
func readsValues(a *model.Action) bool {
	return slices.ContainsFunc(levels(a).writes, func(w write) bool {
		if w.input != nil {
			return true
		}
		return slices.ContainsFunc(optionalInputsOf(w.set.Value), func(in *model.Input) bool { return in.IsWrite })
	})
}

// deletion lowers a delete.
func (l *lowering) deletion(a *model.Action) *pg.Function {
	b := l.begin(a, functionName(a), "action "+a.Name, pg.Volatile)
	where := b.lookUp()
	result := b.own("v_result", "text", nil)
	l.lockDeleted(b, where)
	b.step("", &pg.Delete{
		Schema: appSchema, Table: b.table,
		Where:     where,
		Returning: []pg.Expr{pg.As(pg.Fn("to_json", pg.Col(b.table, "id")), "text")},
		Into:      result,
	})
	b.missing(pg.IsNull(result), where)
	b.testsNow(l)
	b.step("", &pg.Return{Value: result})
	return b.finish()
}

// missing ends the call if no row was found. The call is refused if row security hid a row that the condition finds
// without it.
func (b *builder) missing(isMissing, where pg.Expr) {
	isHidden := b.isHidden(where)
	if pg.IsFalse(isHidden) && !b.isNamed { // and the caller is not missing
		b.step("", pg.IfThen(isMissing, &pg.Perform{Value: pg.Fn("platform.miss")}))
		return
	}
	b.step("", pg.IfThen(isMissing, b.end("platform.refuse_or_miss", isHidden)))
}

// requireCaller ends the call of a missing caller, where the rules of an action have left that open until nothing was
// found.
func (b *builder) requireCaller() []pg.Statement {
	if !b.isNamed {
		return nil
	}
	return []pg.Statement{b.end("platform.require_caller")}
}

// isHidden tells whether a row that was not found exists and was refused. If the rules need no row, or refused rows are
// to stay hidden, the function does not look.
func (b builder) isHidden(where pg.Expr) pg.Expr {
	if !b.judgesRows() || b.hidesRefused {
		return pg.False()
	}
	return &pg.Exists{Query: &pg.Select{From: pg.Ref(relatedSchema, b.table), Where: where}}
}
