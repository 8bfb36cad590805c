package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// validate ends the call if rules of the action are false, with all their messages.
// One that is unknown, for want of a value, has not failed.
func (b *builder) validate() {
	x := newExpression(validateLogic, inFunction, nil, b.inputValue) // the row cannot be named
	var messages []pg.Expr
	for _, v := range b.action.Validations {
		fails := &pg.Is{Value: x.holds(v.Expression), Test: "false"}
		messages = append(messages, &pg.Case{Whens: []pg.When{{Condition: fails, Result: pg.Str(v.Message)}}})
	}
	if len(messages) > 0 {
		b.step("", b.end("platform.require_valid", &pg.Array{Elements: messages}))
	}
}

// validations lowers the rules of a model to checks. Postgres tests checks in the
// order of their names, so each bears its place in order of declaration.
func (l *lowering) validations(m *schema.Model) []*pg.Constraint {
	row := rowOf(m)
	names := l.validationNames(m)
	var checks []*pg.Constraint
	for i, v := range m.Validations {
		condition := newExpression(validateLogic, inFunction, &row, nil).holds(v.Expression)
		mentioned := pg.Mentions(condition)
		var columns []string
		for _, f := range m.Stored() {
			if mentioned.Column(f.Column) {
				columns = append(columns, f.Column)
			}
		}
		checks = append(checks, newCheck(names[i], originAt(m, v.Span), columns, condition))
		l.constraint(names[i], release.Constraint{Kind: release.Validate, Table: m.Table, Message: v.Message})
	}
	return checks
}

// validationNames returns a name for each rule of a model, in ascending order.
func (l *lowering) validationNames(m *schema.Model) []string {
	digits := max(2, len(fmt.Sprint(len(m.Validations))))
	names := make([]string, len(m.Validations))
	for i := range names {
		suffix := fmt.Sprintf("_validate_%0*d", digits, i+1)
		names[i] = l.names.Take(pg.Shorten(m.Table, pg.MaxIdent-len(suffix)) + suffix)
	}
	return names
}
