package derive

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The writes of which a subscriber is told are written to platform.change by a trigger. A table of which nobody is told
// has none.

// eventsOf returns what all subscribers are told of a model.
func (l *Lowering) eventsOf(m *model.Model) []*model.Event {
	var events []*model.Event
	for _, s := range l.Schema.Subscribers {
		events = append(events, s.EventsOf(m)...)
	}
	return events
}

// ChangeTriggers returns the trigger that records the writes of which somebody is told; none if nobody is.
func (l *Lowering) ChangeTriggers(m *model.Model) []*pg.Trigger {
	timing := ""
	for _, c := range []struct {
		kind    model.Kind
		command string
	}{{model.Create, "insert"}, {model.Update, "update"}, {model.Delete, "delete"}} {
		if !slices.ContainsFunc(l.eventsOf(m), func(e *model.Event) bool { return slices.Contains(e.Kinds, c.kind) }) {
			continue
		}
		if timing == "" {
			timing = "after " + c.command
		} else {
			timing += " or " + c.command
		}
	}
	if timing == "" {
		return nil
	}
	arguments := []string{m.Name}
	for _, f := range m.Stored() {
		if !IsTold(f) {
			arguments = append(arguments, f.Column)
		}
	}
	return []*pg.Trigger{{Name: "_600_change", Timing: timing, Function: "platform.tg_change", Arguments: arguments}}
}

// IsTold tells whether subscribers may be told a field.
func IsTold(f *model.Field) bool { return !f.Type.Kind.IsWriteOnly() && f.Type.Kind != expr.Vector }
