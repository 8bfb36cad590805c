package derive

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The writes of which a subscriber is told are written to platform.change by a trigger, and those that a history keeps to
// platform.history by the same one. A table without either has none.

// eventsOf returns what all subscribers are told of a model.
func (l *Lowering) eventsOf(m *model.Model) []*model.Event {
	var events []*model.Event
	for _, s := range l.Schema.Subscribers {
		events = append(events, s.EventsOf(m)...)
	}
	return events
}

// ChangeTriggers returns the trigger that records the writes of which somebody is told, or that a history keeps; none if
// there is neither. Its name says where it writes them.
func (l *Lowering) ChangeTriggers(m *model.Model) []*pg.Trigger {
	events := l.eventsOf(m)
	var commands []string
	for _, c := range []struct {
		kind    model.Kind
		command string
	}{{model.Create, "insert"}, {model.Update, "update"}, {model.Delete, "delete"}} {
		if m.History != nil || slices.ContainsFunc(events, func(e *model.Event) bool { return slices.Contains(e.Kinds, c.kind) }) {
			commands = append(commands, c.command)
		}
	}
	name := "_600"
	if len(events) > 0 {
		name += "_change"
	}
	if m.History != nil {
		name += pg.HistoryTrigger
	}
	if len(commands) == 0 {
		return nil
	}
	arguments := []string{m.Name}
	for _, f := range m.Stored() {
		if !IsTold(f) {
			arguments = append(arguments, f.Column)
		}
	}
	return []*pg.Trigger{{Name: name, Timing: "after " + strings.Join(commands, " or "), Function: "platform.tg_change", Arguments: arguments}}
}

// IsTold tells whether subscribers may be told a field, and histories keep it.
func IsTold(f *model.Field) bool { return !f.Type.Kind.IsWriteOnly() && f.Type.Kind != expr.Vector }
