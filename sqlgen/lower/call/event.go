package call

import (
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sql/role"
	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A consumer reads what was written in platform.change, and asks two functions of its subscriber: <subscriber>__<model>
// says what a change means to it, and <subscriber>__run runs its code.

// Events returns the functions of the subscribers, and tells the server of them.
func (l *Lowering) Events(db *pg.Database) []*pg.Function {
	var functions []*pg.Function
	for _, s := range l.Schema.Subscribers {
		subscriber := release.Subscriber{Name: s.Name, Events: map[string]string{}}
		for _, m := range l.Schema.Models {
			if events := s.EventsOf(m); len(events) > 0 {
				f := l.tells(s, m, events)
				functions = append(functions, f)
				subscriber.Events[m.Name] = f.Name
			}
		}
		if s.IsCode {
			db.Expected = append(db.Expected, &pg.Signature{
				Schema: value.CodeSchema, Name: s.Function, Arguments: []pg.Argument{{Name: "event", Type: "jsonb"}}, Returns: "void",
				Origin: pg.Origin{Of: "subscriber " + s.Name}, File: "functions/" + s.Name + ".sql",
			})
			f := l.runs(s)
			functions = append(functions, f)
			subscriber.Run = f.Name
		}
		l.Subscribers = append(l.Subscribers, subscriber)
	}
	return functions
}

// tells returns the function that says what a change of a model's row means to a subscriber: null if it is not told of
// it, else the row as the API writes it, after the write and before.
func (l *Lowering) tells(s *model.Subscriber, m *model.Model, events []*model.Event) *pg.Function {
	kind, previous, data := pg.Var("kind"), pg.Var("previous"), pg.Var("data")
	after := &pg.Variable{Name: "v_row", Type: RowType(m), Initial: populated(m, pg.Fn("coalesce", data, previous))}
	before := &pg.Variable{Name: "v_previous", Type: RowType(m), Initial: populated(m, previous)}
	row := value.TableAlias{Model: m, Name: after.Name, ID: after.Field("id")}

	var wanted []pg.Expr
	for _, e := range events {
		condition := []pg.Expr{&pg.In{Value: kind, List: kindTexts(e.Kinds)}}
		if len(e.Fields) > 0 {
			changed := []pg.Expr{pg.Op(kind, "<>", pg.Str("update"))}
			for _, f := range e.Fields {
				changed = append(changed, pg.Op(after.Field(f.Column), "is distinct from", before.Field(f.Column)))
			}
			condition = append(condition, pg.AnyOf(changed...))
		}
		if e.Where != nil {
			condition = append(condition, value.NewExpression(value.WhereLogic, value.InFunction, &row, nil).Holds(e.Where))
		}
		wanted = append(wanted, pg.AllOf(condition...))
	}
	isTold := &pg.Is{Value: pg.AnyOf(wanted...), Test: "true"}

	told := pg.Fn("jsonb_build_object",
		pg.Str("variable"), pg.Str(m.Variable),
		pg.Str("data"), unless(kind, "delete", toldRow(m, after, s.IsCode)),
		pg.Str("previousData"), unless(kind, "create", toldRow(m, before, s.IsCode)))
	title := "what a change of " + m.Name + " means to " + s.Name
	return &pg.Function{
		Schema: value.APISchema, Name: l.Functions.Take(s.Function + "__" + m.Table), Title: title, Comment: title,
		Origin:      pg.Origin{Of: "subscriber " + s.Name},
		Arguments:   []pg.Argument{{Name: "kind", Type: "text"}, {Name: "previous", Type: "jsonb"}, {Name: "data", Type: "jsonb"}},
		Returns:     "jsonb",
		Volatility:  pg.Stable,
		UseVariable: true,
		Variables:   []*pg.Variable{after, before},
		Body: []pg.Paragraph{
			{Statements: []pg.Statement{pg.IfThen(isTold, &pg.Return{Value: told})}},
			{Statements: []pg.Statement{&pg.Return{Value: pg.Null()}}},
		},
	}
}

// unless is what is told of a write that is not of one kind, else null.
func unless(kind pg.Expr, not string, told pg.Expr) pg.Expr {
	return &pg.Case{Whens: []pg.When{{Condition: pg.Op(kind, "<>", pg.Str(not)), Result: told}}}
}

// populated is the row that a JSON object of its columns describes.
func populated(m *model.Model, columns pg.Expr) pg.Expr {
	return pg.Fn("jsonb_populate_record", pg.As(pg.Null(), RowType(m)), columns)
}

func kindTexts(kinds []model.Kind) []pg.Expr {
	var list []pg.Expr
	for _, k := range kinds {
		list = append(list, pg.Str(string(k)))
	}
	return list
}

// toldRow is a row as the API writes it, with the ids of what its to-ones lead to. Webhooks and readers of a history are
// not told hidden fields.
func toldRow(m *model.Model, row *pg.Variable, showsHidden bool) pg.Expr {
	var members []pg.Output
	for _, f := range m.Stored() {
		if derive.IsTold(f) && (showsHidden || !f.Hidden) {
			members = append(members, pg.Output{As: f.Name, Quote: true, Value: value.Wire(f.Type, row.Field(f.Column))})
		}
	}
	return &pg.Subquery{Query: &pg.Select{
		Columns: []pg.Output{{Value: pg.Fn("to_jsonb", pg.Var("told"))}},
		From:    &pg.SubqueryRef{Alias: "told", Query: &pg.Select{Columns: members}},
	}}
}

// runs returns the function that runs the code of a subscriber.
func (l *Lowering) runs(s *model.Subscriber) *pg.Function {
	return &pg.Function{
		Schema: value.APISchema, Name: l.Functions.Take(s.Function + "__run"), Title: "subscriber " + s.Name + ", by functions/" + s.Name + ".sql",
		Comment:    "Runs the code of subscriber " + s.Name + ".",
		Owner:      role.Code,
		Origin:     pg.Origin{Of: "subscriber " + s.Name},
		Arguments:  []pg.Argument{{Name: "event", Type: "jsonb"}, {Name: "context", Type: "jsonb"}},
		Returns:    "void",
		Volatility: pg.Volatile,
		Body: []pg.Paragraph{{Statements: []pg.Statement{
			&pg.Perform{Value: pg.Fn("platform.enter_job", pg.Str(s.Name), value.Context)},
			&pg.Perform{Value: pg.Fn(pg.Qualified(value.CodeSchema, s.Function), pg.Var("event"))},
		}}},
	}
}
