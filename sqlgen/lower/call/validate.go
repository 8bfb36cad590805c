package call

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// validate ends the call if rules of the action are false, with all their messages. A rule that is unknown, because a
// value is missing, has not failed.
func (b *Builder) validate() {
	x := b.expressionWithoutRow(value.ValidateLogic)
	var messages, fields []pg.Expr
	names := false
	for _, v := range b.Action.Validations {
		fails := &pg.Is{Value: x.Holds(v.Expression), Test: "false"}
		messages = append(messages, &pg.Case{Whens: []pg.When{{Condition: fails, Result: pg.Str(v.Message)}}})
		field := pg.Expr(pg.Null())
		if v.Input != nil {
			field, names = pg.Str(strings.Join(value.RequestPath(b.Action, v.Input), ".")), true
		}
		fields = append(fields, field)
	}
	arguments := []pg.Expr{&pg.Array{Elements: messages}}
	if names {
		arguments = append(arguments, &pg.Array{Elements: fields})
	}
	if len(messages) > 0 {
		require := b.End("platform.require_valid", arguments...)
		if !b.Action.Many {
			b.Step("", require)
			return
		}
		b.Step("", &pg.Query{Select: &pg.Select{Columns: []pg.Output{{Value: require.Value}}, From: b.rowsSent(), OrderBy: []pg.Order{{Value: b.place()}}}})
	}
}

// testsNow ends a write to rows that late rules are about. It tests them after the rules have judged the new row, and
// before the answer. Rows that other writes change, such as a delete that cascades or custom code, are tested as their
// transaction ends.
func (b *Builder) testsNow(l *Lowering) {
	if slices.ContainsFunc(value.Levels(b.Action).Inserted(), func(at *value.Level) bool { return l.FeedsLate[at.Model] }) {
		b.Step("Rules over computed values are tested now that all rows are written.", &pg.TestNow{Schema: value.AppSchema, Trigger: pg.TestTrigger})
	}
}
