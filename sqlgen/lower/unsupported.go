package lower

import (
	"fmt"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/call"
	"github.com/sternpost/sternpost/sqlgen/lower/derive"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Unsupported refuses, each at its place, constructs that the language allows and this stage cannot lower, yet or
// because of a limit of Postgres. Then Schema has nothing left to refuse.
func Unsupported(s *model.Schema, errs *syntax.Errors) {
	u := refusal{errs}
	for _, m := range s.Models {
		u.model(m)
	}
	for _, a := range s.Actions {
		u.action(a)
	}
}

type refusal struct {
	errs *syntax.Errors
}

func (u refusal) refuse(span syntax.Span, what string) {
	u.errs.Add(syntax.NotSupportedYet, span, what+" cannot be compiled yet")
}

// limit refuses constructs with more parts than Postgres can hold.
func (u refusal) limit(span syntax.Span, message string, got, most int) {
	if got > most {
		u.errs.Add(syntax.NotSupportedYet, span, fmt.Sprintf(message, got, most))
	}
}

func (u refusal) model(m *model.Model) {
	u.limit(m.Span, m.Name+" has %d columns, with id, createdAt, updatedAt and the foreign keys; Postgres can hold at most %d", len(m.Stored()), value.MaxColumns)
	for _, f := range m.Fields {
		u.computed(f)
	}
	for _, key := range m.Uniques {
		u.limit(key.Span, "this key of "+m.Name+" has %d columns; Postgres can hold at most %d", len(key.Fields), value.MaxKeys)
	}
	for _, index := range m.Indexes {
		u.limit(index.Span, "this index of "+m.Name+" has %d columns; Postgres can hold at most %d", len(index.Fields), value.MaxKeys)
	}
}

// computed refuses a computed field whose changes cannot be carried on from row to row.
func (u refusal) computed(f *model.Field) {
	if f.Computed == nil {
		return
	}
	expr.Inspect(f.Computed.Expression, func(n expr.Node) bool {
		a, ok := n.(*expr.Aggregate)
		if !ok {
			return true
		}
		if a.Condition == nil {
			return false
		}
		if p := derive.Mixes(a); p != nil {
			u.errs.Add(syntax.NotSupportedYet, p.Span(), "a condition that names another row than those behind the to-one "+
				"cannot be compiled yet where the path passes a to-one between two to-manys: no key leads from what is read to the row that reads it")
		}
		return false
	})
}

func (u refusal) action(a *model.Action) {
	if a.Custom {
		u.limit(a.Span, a.Name+" has %d parameters; a function of Postgres can have at most %d", len(a.Parameters()), value.MaxInputs)
		return
	}
	for _, s := range a.Sets {
		if s.Target[len(s.Target)-1].Type.Kind.IsWriteOnly() {
			if value.IsMade(s.Value) {
				u.errs.Add(syntax.NotSupportedYet, s.Span, "a Password or Secret field cannot be set to a text that is put together: "+
					"the server hashes and encrypts before the database is asked, and does not see it")
			}
			if p, ok := s.Value.(*expr.Path); ok && (p.Root == expr.RootRow || p.Root == expr.RootIdentity) {
				u.errs.Add(syntax.NotSupportedYet, s.Span, "a Password or Secret field cannot be set to a text of a row: "+
					"the server hashes and encrypts before the database is asked, and does not see it")
			}
		}
	}
	if len(a.OrderBy) > value.MaxOrder {
		u.limit(a.OrderBy[value.MaxOrder].Span, "this order has %d fields; an index of Postgres can hold at most %d, beside the id and a foreign key", len(a.OrderBy), value.MaxOrder)
	}
	u.pins(a)
	u.strays(a)
}

// strays refuses rows that an input may hang on another row than the one they are nested in, if rules let the caller
// reach them: the rules could not tell them from rows that existed before.
func (u refusal) strays(a *model.Action) {
	written := value.WrittenBy(a)
	if written == nil || !value.NeedRow(a.Rules) {
		return
	}
	for _, l := range written.Inserted() {
		if back := l.Back(); back != nil && slices.ContainsFunc(l.Writes, func(w value.Write) bool { return w.Field == back }) {
			u.refuse(a.Span, fmt.Sprintf("a create that gives %s of a nested row, under a rule that leads from the caller to what it inserts,", back.FKOf.Name))
			return
		}
	}
}

// pins refuses look-ups that alternative inputs pin, where these are in two objects, or below a relation in the object
// of values.
func (u refusal) pins(a *model.Action) {
	sets := call.PinningInputs(a)
	for _, set := range sets {
		for _, in := range set {
			if in.IsWrite && (len(sets) > 1 && call.PinsBy(a, false) || len(in.Path) > 1) {
				u.refuse(a.Span, fmt.Sprintf("a look-up that the optional value %s pins", in.Name))
				return
			}
		}
	}
}
