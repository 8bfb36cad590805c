package lower

import (
	"fmt"

	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/list"
	"github.com/sternpost/sternpost/sqlgen/lower/rule"
	"github.com/sternpost/sternpost/sqlgen/lower/table"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// Schema lowers a checked schema to a database without texts, which emit.Render adds, and describes how a server calls its
// functions. source names the files it was read from.
func Schema(s *model.Schema, source string) (*pg.Database, *release.Manifest) {
	l := newLowering(s)
	db := &pg.Database{Source: source}
	for _, m := range s.Models {
		db.Tables = append(db.Tables, l.table(m)) // columns, constraints, indexes, triggers
		db.Views = append(db.Views, l.View(m))
	}
	table.Count(db.Tables) // numbers that count per row
	db.Views = append(db.Views, l.Roles()...)
	db.Views = append(db.Views, l.UnionViews()...)
	demands := make([]rule.Policies, len(s.Models))
	for i, m := range s.Models {
		demands[i] = l.Demands(m)
	}
	l.GiveOwners(db.Views, demands)
	db.Functions = append(db.Functions, l.KeepHistories()...) // what histories show of rows
	for _, a := range s.Actions {
		if a.Custom && a.Kind != model.Start {
			db.Expected = append(db.Expected, call.Signature(a))
		}
		db.Functions = append(db.Functions, l.action(a)...)
	}
	db.Functions = append(db.Functions, l.Runs(db)...)   // what runs jobs
	db.Functions = append(db.Functions, l.Events(db)...) // what tells and runs the subscribers of events
	for _, p := range l.Parts {
		db.Derived = append(db.Derived, pg.DerivedColumn{Table: p.Owner.Table, Column: p.Column})
	}
	for i, m := range s.Models {
		l.Secure(db.Tables[i], m, demands[i]) // policies and grants, for the actions that reach the table
	}
	return db, l.manifest()
}

// lowering is the state that the stages of one run share. Each room adds to that of the room below.
type lowering struct{ *list.Lowering }

func newLowering(s *model.Schema) *lowering {
	return &lowering{list.New(call.New(derive.New(rule.New(table.New(s)))))}
}

// table lowers a model to its table, without policies and grants.
func (l *lowering) table(m *model.Model) *pg.Table {
	t, late := l.PlainTable(m, l.Ruled) // columns, constraints, references
	l.ComputedColumns(t, m)             // how computed columns come by their values, and the columns that these are made of
	l.GiveIndexes(t, m)                 // declared ones, and those that lists need
	t.Triggers = append([]*pg.Trigger{l.Touch(m)}, table.FileTriggers(m)...)
	l.Keep(t, m)                    // triggers that keep computed values
	l.TestLate(t, m, late, l.Ruled) // the trigger that tests rules over computed values
	if m.IsIdentity {
		t.Triggers = append(t.Triggers, &pg.Trigger{Name: "_300_sign_out", Timing: "after delete", Function: "platform.tg_sign_out"})
	}
	t.Triggers = append(t.Triggers, l.ChangeTriggers(m)...)
	t.History = m.History != nil
	return t
}

// action lowers an action to its functions.
func (l *lowering) action(a *model.Action) []*pg.Function {
	functions := l.body(a)
	functions = append(functions, l.LiveValues(a)...)
	if rule.IsPrepared(a) {
		functions = append(functions, l.DecideFirst(a))
	}
	return functions
}

// body lowers the body of an action.
func (l *lowering) body(a *model.Action) []*pg.Function {
	switch {
	case a.Union != nil && a.Kind == model.Get:
		return []*pg.Function{l.UnionGet(a)}
	case a.Union != nil:
		return l.List(a)
	case a.Custom:
		return []*pg.Function{l.Custom(a, list.AnswerRows)}
	}
	switch a.Kind {
	case model.Get:
		return []*pg.Function{l.Get(a)}
	case model.List:
		return l.List(a)
	case model.Create:
		return []*pg.Function{l.Create(a)}
	case model.Update:
		return []*pg.Function{l.Update(a)}
	case model.Delete:
		return []*pg.Function{l.Deletion(a)}
	case model.ReadHistory:
		return []*pg.Function{l.History(a)}
	}
	panic(fmt.Sprintf("lower: an action of kind %s was not refused", a.Kind))
}
