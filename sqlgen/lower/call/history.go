package call

import (
	"slices"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// KeepHistories returns the functions that say what the histories of models show of rows, and tells the server of them.
func (l *Lowering) KeepHistories() []*pg.Function {
	var functions []*pg.Function
	for _, m := range l.Schema.Models {
		if m.History != nil {
			f := l.shows(m)
			functions = append(functions, f)
			l.Histories = append(l.Histories, release.History{Table: m.Table, Keep: m.History.Keep, Row: f.Name})
		}
	}
	return functions
}

// History lowers an action that reads the history of a row: under its rules for the row as it is now. If the row is
// gone, rules that need one admit nobody.
func (l *Lowering) History(a *model.Action) *pg.Function {
	i := slices.IndexFunc(l.Histories, func(h release.History) bool { return h.Table == a.Model.Table })
	b := l.Begin(a, rule.FunctionName(a), "action "+a.Name, pg.Stable)
	id := b.Value(a.Reads[0])
	page := func(relation string) pg.Statement {
		return &pg.Return{Value: pg.As(pg.Fn("platform.history_page", pg.As(pg.Str(relation), "regclass"), pg.Str(l.Histories[i].Row), id, value.Input), "text")}
	}
	if b.JudgesRows() {
		isAdmitted := &pg.Exists{Query: &pg.Select{From: b.Stored(), Where: pg.Eq(pg.Col(b.Table, "id"), id)}}
		refused := []pg.Statement{b.End("platform.refuse")}
		if b.HidesRefused {
			refused = []pg.Statement{page("-")}
		}
		b.Step("", pg.IfThen(pg.Negate(pg.AnyOf(b.Early.Holds, isAdmitted)), refused...))
	}
	b.Step("", page(pg.Qualified(value.AppSchema, b.Table)))
	return b.Finish()
}

// shows returns the function that says what a history shows of the columns that were kept of a row, under the names that
// they have now.
func (l *Lowering) shows(m *model.Model) *pg.Function {
	columns := pg.Expr(pg.Var("columns"))
	for _, f := range m.Stored() {
		if from, _ := table.RenamedFrom(f); from != "" {
			former := pg.Fn("jsonb_build_object", pg.Str(f.Column), pg.Op(pg.Var("columns"), "->", pg.Str(from)))
			columns = pg.Op(former, "||", columns)
		}
	}
	row := &pg.Variable{Name: "v_row", Type: RowType(m), Initial: pg.Fn("platform.history_row", pg.As(pg.Null(), RowType(m)), columns)}
	title := "what the history of " + m.Name + " shows of a row"
	return &pg.Function{
		Schema: value.APISchema, Name: l.Functions.Take(m.Table + "__kept"), Title: title, Comment: title,
		Origin:     pg.Origin{Of: "model " + m.Name},
		Arguments:  []pg.Argument{{Name: "columns", Type: "jsonb"}},
		Returns:    "jsonb",
		Volatility: pg.Stable,
		Variables:  []*pg.Variable{row},
		Body: []pg.Paragraph{
			{Statements: []pg.Statement{pg.IfThen(pg.IsNull(pg.Var("columns")), &pg.Return{Value: pg.Null()})}},
			{Statements: []pg.Statement{&pg.Return{Value: toldRow(m, row, false)}}},
		},
	}
}
