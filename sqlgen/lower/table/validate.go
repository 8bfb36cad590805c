package table

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Over prepares to lower rules over the columns of a model's rows, those for values of other rows among them.
type Over func(m *model.Model, alias string) value.Expression

// validations lowers the rules of a model to checks of its table. Postgres tests checks in the order of their names, so
// each name has its number in the order of declaration. Rules over values of other rows are late: a new row may have no such
// values yet.
func (l *Lowering) validations(m *model.Model, over Over) (checks, late []*pg.Constraint) {
	names := l.validationNames(m)
	for i, v := range m.Validations {
		condition := over(m, m.Table).Holds(v.Expression)
		mentioned := pg.Mentions(condition)
		var columns []string
		for _, f := range m.Stored() {
			if mentioned.Column(f.Column) {
				columns = append(columns, f.Column)
			}
		}
		for _, name := range slices.Sorted(mentioned.Columns()) {
			if !slices.Contains(columns, name) {
				columns = append(columns, name) // keeps a value of another row
			}
		}
		check := newCheck(names[i], originAt(m, v.Span), columns, condition)
		check.Origin.Rule = "@validate, " + v.Message
		if IsLate(v) {
			late = append(late, check)
		} else {
			checks = append(checks, check)
		}
		told := release.Constraint{Kind: release.Validate, Table: m.Table, Message: v.Message}
		if v.Field != nil {
			told.Fields = []string{v.Field.Name}
		}
		l.constraint(names[i], told)
	}
	return checks, late
}

// IsLate tells whether a rule of a model mentions a value of other rows.
func IsLate(v *model.Validation) bool {
	return slices.ContainsFunc(expr.Paths(v.Expression), func(p *expr.Path) bool {
		return !value.IsOwnPath(p) || value.IsComputedFromRows(value.Field(p.Steps[0]))
	})
}

// TestLate gives a table the trigger that tests late rules. It waits only for rows for which a rule is false when a
// statement leaves them: so all others cost nothing more.
func (l *Lowering) TestLate(t *pg.Table, m *model.Model, rules []*pg.Constraint, over Over) {
	if len(rules) == 0 {
		return
	}
	t.Tester = &pg.Tester{Name: pg.Shorten("tg_"+m.Table, pg.MaxIdent-20) + "__validate", Rules: rules}
	t.Tester.Function = tester(t)
	var fails []pg.Expr
	for _, v := range m.Validations {
		if IsLate(v) {
			fails = append(fails, &pg.Is{Value: over(m, "new").Holds(v.Expression), Test: "false"})
		}
	}
	t.Triggers = append(t.Triggers, &pg.Trigger{
		Name: pg.TestTrigger, Timing: "after insert or update", IsDeferred: true,
		When: pg.AnyOf(fails...), Function: pg.Qualified(t.Schema, t.Tester.Name),
	})
}

// tester tests a row as it is now: the last transaction to write it waited for the others, so that state stays.
func tester(t *pg.Table) *pg.Function {
	id := &pg.Variable{Name: "__id", Type: "text", Initial: pg.Col("new", "id")}
	broken := &pg.Variable{Name: "__broken", Type: "text"}
	first := &pg.Case{}
	for _, r := range t.Tester.Rules {
		first.Whens = append(first.Whens, pg.When{Condition: &pg.Is{Value: r.Layout, Test: "false"}, Result: pg.Str(r.Name)})
	}
	return &pg.Function{
		Schema: t.Schema, Name: t.Tester.Name, Title: "tests rules over what is computed from other rows, when all rows are written",
		Returns: "trigger", Volatility: pg.Volatile, UseColumn: true, Variables: []*pg.Variable{id, broken},
		Body: []pg.Paragraph{
			{Statements: []pg.Statement{&pg.Query{Select: &pg.Select{
				Columns: []pg.Output{{Value: first}}, Into: []pg.Target{broken}, From: pg.Ref(t.Schema, t.Name), Where: pg.Eq(pg.Col(t.Name, "id"), id),
			}}}},
			{Statements: []pg.Statement{pg.IfThen(pg.IsNotNull(broken), &pg.Perform{Value: pg.BreakRule(t, broken)})}},
			{Statements: []pg.Statement{&pg.Return{Value: pg.Null()}}},
		},
	}
}

// validationNames returns a name for each rule of a model, in ascending order.
func (l *Lowering) validationNames(m *model.Model) []string {
	digits := max(2, len(fmt.Sprint(len(m.Validations))))
	names := make([]string, len(m.Validations))
	for i := range names {
		suffix := fmt.Sprintf("_validate_%0*d", digits, i+1)
		names[i] = l.Names.Take(pg.Shorten(m.Table, pg.MaxIdent-len(suffix)) + suffix)
	}
	return names
}
