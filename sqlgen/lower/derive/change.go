package derive

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// The writes of which a subscriber is told, or on which a live answer depends, are written to platform.change by a trigger,
// and those that a history keeps to platform.history by the same one. A table without any of them has none.

// eventsOf returns what all subscribers are told of a model.
func (l *Lowering) eventsOf(m *model.Model) []*model.Event {
	var events []*model.Event
	for _, s := range l.Schema.Subscribers {
		events = append(events, s.EventsOf(m)...)
	}
	return events
}

// liveKeys returns the columns by which live answers tell the rows of a model apart, and whether any depends on them.
func (l *Lowering) liveKeys(m *model.Model) (columns []string, isLive bool) {
	columns = []string{"id"}
	for _, a := range l.Schema.Actions {
		d := l.Live[a]
		if d == nil {
			continue
		}
		for _, w := range slices.Concat(d.Rows, d.Caller) {
			if w.Model != m.Name {
				continue
			}
			isLive = true
			for _, set := range w.Keys {
				for _, k := range set {
					if k.Column != "" && !slices.Contains(columns, k.Column) {
						columns = append(columns, k.Column)
					}
				}
			}
		}
	}
	return columns, isLive
}

// ChangeTriggers returns the triggers that record the writes of which somebody is told, on which a live answer depends, or
// that a history keeps; none if there is nothing of that. The name of the first says for whom it writes, and its arguments
// what it leaves out: for live answers alone, all columns but their keys.
func (l *Lowering) ChangeTriggers(m *model.Model) []*pg.Trigger {
	events := l.eventsOf(m)
	keys, isLive := l.liveKeys(m)
	var commands []string
	for _, c := range []struct {
		kind    model.Kind
		command string
	}{{model.Create, "insert"}, {model.Update, "update"}, {model.Delete, "delete"}} {
		if isLive || m.History != nil || slices.ContainsFunc(events, func(e *model.Event) bool { return slices.Contains(e.Kinds, c.kind) }) {
			commands = append(commands, c.command)
		}
	}
	name := "_600"
	if len(events) > 0 {
		name += "_change"
	}
	if isLive {
		name += "_live"
	}
	if m.History != nil {
		name += pg.HistoryTrigger
	}
	if len(commands) == 0 {
		return nil
	}
	arguments := []string{m.Name}
	for _, f := range m.Stored() {
		if !IsTold(f) || name == "_600_live" && !slices.Contains(keys, f.Column) {
			arguments = append(arguments, f.Column)
		}
	}
	triggers := []*pg.Trigger{{Name: name, Timing: "after " + strings.Join(commands, " or "), Function: "platform.tg_change", Arguments: arguments}}
	if isLive {
		triggers = append(triggers, &pg.Trigger{
			Name: "_610_truncate", Timing: "after truncate", PerStatement: true, Function: "platform.tg_change", Arguments: []string{m.Name},
		})
	}
	return triggers
}

// IsTold tells whether subscribers may be told a field, and histories keep it.
func IsTold(f *model.Field) bool { return !f.Type.Kind.IsWriteOnly() && f.Type.Kind != expr.Vector }
