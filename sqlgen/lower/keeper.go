package lower

import (
	"cmp"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// computedColumn makes the column of a computed field.
func (l *lowering) computedColumn(c *pg.Column, f *schema.Field) {
	if p := l.keptBy(f); p != nil {
		p.keep(c)
		return
	}
	c.Generated = emit.Expr(l.generated(f, f.Model.Table))
}

// keep makes a column one that triggers keep.
func (p *part) keep(c *pg.Column) {
	c.Kept = p.definition()
	c.NotNull = p.notNull
	if p.neutral != nil {
		c.Default = emit.Expr(p.neutral)
	}
}

// hiddenColumns returns the columns of parts that are not fields.
func (l *lowering) hiddenColumns(m *schema.Model) []*pg.Column {
	var columns []*pg.Column
	for _, p := range l.partsOf(m) {
		if !slices.ContainsFunc(m.Stored(), func(f *schema.Field) bool { return f.Column == p.column }) {
			c := &pg.Column{Name: p.column, Type: p.typ, Comment: "kept by triggers, for computed fields"}
			p.keep(c)
			columns = append(columns, c)
		}
	}
	return columns
}

// partsOf returns the parts in the rows of a model.
func (l *lowering) partsOf(m *schema.Model) []*part {
	var parts []*part
	for _, p := range l.parts {
		if p.owner == m {
			parts = append(parts, p)
		}
	}
	return parts
}

// writtenColumnsOf are the columns of a table that do not change by computing alone.
func writtenColumnsOf(m *schema.Model) []*schema.Field {
	return slices.DeleteFunc(m.Stored(), func(f *schema.Field) bool { return f.Computed != nil })
}

// hasComputed tells whether a table has computed columns.
func (l *lowering) hasComputed(m *schema.Model) bool {
	return len(l.partsOf(m)) > 0 || slices.ContainsFunc(m.Fields, func(f *schema.Field) bool { return f.Computed != nil })
}

// touch is the trigger that sets updated_at. Its function sees whether the row changes. Computing is not an update, so
// on a table with computed columns the trigger ignores writes of these alone, by a condition. Postgres reads a condition
// anew for each statement, which costs more than the call of the function. The function alone would not do there: when a
// BEFORE trigger runs, the generated columns of the new row have no values yet, so that every row would look changed.
func (l *lowering) touch(m *schema.Model) *pg.Trigger {
	g := &pg.Trigger{Name: "_100_touch", Timing: "before update", Function: "platform.tg_touch"}
	if !l.hasComputed(m) {
		return g
	}
	before, after := &pg.Row{}, &pg.Row{}
	for _, f := range writtenColumnsOf(m) {
		before.Values = append(before.Values, pg.Col("old", f.Column))
		after.Values = append(after.Values, pg.Col("new", f.Column))
	}
	g.Columns, g.When = columnsOf(writtenColumnsOf(m)), pg.Op(before, "is distinct from", after)
	return g
}

// keep gives a table the triggers that keep the parts made of its rows, and the parts in its own rows.
func (l *lowering) keep(t *pg.Table, m *schema.Model) {
	if own := l.partsOf(m); len(own) > 0 {
		l.guard(t, own)
	}
	l.copyColumns(t, m)
	var events []*pg.KeeperEvent
	for _, event := range []string{"insert", "update", "delete", "truncate"} {
		k := l.keeperEvent(m, event)
		if event != "truncate" {
			l.takeTurns(t, m, k)
			l.orderLocks(k, m)
		}
		if len(k.Steps) > 0 || len(k.Locks) > 0 {
			events = append(events, k)
		}
	}
	t.Keepers = l.keepersOf(m, events)
	for _, k := range t.Keepers {
		for _, e := range k.Events {
			t.Triggers = append(t.Triggers, keeperTrigger(e.Event, pg.Qualified(t.Schema, k.Name)))
		}
	}
}

// keeperTrigger is the trigger that calls a keeper after the statements of an event.
func keeperTrigger(event, function string) *pg.Trigger {
	g := &pg.Trigger{Name: pg.KeeperTriggers + event, Timing: "after " + event, PerStatement: true, Function: function}
	switch event {
	case "insert":
		g.Rows = "new table as new_rows"
	case "update":
		g.Rows = "old table as old_rows new table as new_rows"
	case "delete":
		g.Rows = "old table as old_rows"
	}
	return g
}

// keepersOf returns the trigger functions of a model's table: one function for all events if they write alike, else one
// for each. PL/pgSQL reads a function anew for each trigger that calls it, so events that have little in common do not
// share one.
func (l *lowering) keepersOf(m *schema.Model, events []*pg.KeeperEvent) []*pg.Keeper {
	var columns []string
	for _, p := range l.parts {
		if p.other() == m || p.owner == m && (p.kind == copied || p.across != nil) {
			columns = append(columns, p.title)
		}
	}
	name := pg.Shorten("tg_"+m.Table, pg.MaxIdent-20) + "__keep"
	if writeAlike(events) {
		return []*pg.Keeper{{Name: name, Columns: columns, Events: events}}
	}
	var keepers []*pg.Keeper
	for _, e := range events {
		keepers = append(keepers, &pg.Keeper{Name: name + "_" + e.Event, Columns: columns, Events: []*pg.KeeperEvent{e}})
	}
	return keepers
}

// writeAlike tells whether statements that insert, update and delete rows have one step each, and it writes the same
// columns of the same rows by the same statement. Only how it finds them depends on the event.
func writeAlike(events []*pg.KeeperEvent) bool {
	var first *pg.Keep
	for _, e := range events {
		if e.Event == "truncate" {
			continue
		}
		if len(e.Steps) != 1 {
			return false
		}
		s := e.Steps[0].(*pg.Keep)
		if len(s.Extremes) > 0 || len(s.Moved) > 0 && len(s.Read) > 0 || s.Source != "" {
			return false
		}
		if first == nil {
			first = s
		}
		if !isSameStep(s, first) || !slices.Equal(s.Columns(), first.Columns()) {
			return false
		}
	}
	return len(events) == 4
}

// keeperEvent returns what is kept after the statements of an event on a model's table. Its steps are in the order in
// which they lock rows of other tables.
func (l *lowering) keeperEvent(m *schema.Model, event string) *pg.KeeperEvent {
	k := &pg.KeeperEvent{Event: event}
	for _, p := range l.parts {
		l.keepPart(k, m, p)
	}
	slices.SortStableFunc(k.Steps, func(a, b pg.KeeperStep) int { return cmp.Compare(l.rankOfStep(m, a), l.rankOfStep(m, b)) })
	return k
}

// rankOfStep is the place of the table that a step writes. Steps that read for the changed rows come first: the values of
// others may depend on theirs.
func (l *lowering) rankOfStep(m *schema.Model, s pg.KeeperStep) int {
	switch s := s.(type) {
	case *pg.Keep:
		if readsForItself(s.Table == m.Table, s) {
			return -1
		}
		return l.rank(l.modelOf(s.Table))
	case *pg.Restart:
		return l.rank(l.modelOf(s.Table))
	}
	panic("no such step")
}

// leadsTo tells whether a change of one model's rows makes keepers write rows of another.
func (l *lowering) leadsTo(from, to *schema.Model) bool {
	reached := []*schema.Model{from}
	for i := 0; i < len(reached); i++ {
		for _, p := range l.parts {
			if p.other() != reached[i] || slices.Contains(reached, p.owner) {
				continue
			}
			if p.owner == to {
				return true
			}
			reached = append(reached, p.owner)
		}
	}
	return false
}

// keepPart adds the work for a part to a keeper of a model's table.
func (l *lowering) keepPart(k *pg.KeeperEvent, m *schema.Model, p *part) {
	if k.Event == "truncate" {
		if p.kind != copied && p.other() == m {
			s := restartOf(k, p.owner.Table)
			s.Columns = append(s.Columns, pg.Assignment{Column: p.column, Value: p.start()})
		}
		return
	}
	if by := p.across; by != nil && p.owner == m && k.Event != "delete" {
		s := stepFor(k, &pg.Keep{Table: m.Table, Match: "id", Key: "id", Source: by.third.Table, Link: by.match, IsBack: l.leadsTo(m, by.third)}, append([]string{by.match}, by.own...))
		s.Read = append(s.Read, pg.Assignment{Column: p.column, Value: p.whole()})
	}
	switch {
	case p.kind != copied && p.other() == m:
		keep := &pg.Keep{Table: p.owner.Table, Match: p.match(), Key: p.link()}
		if p.across != nil {
			keep.Through = p.across.third.Table
		}
		s := stepFor(k, keep, append([]string{p.link()}, p.reads()...))
		switch p.kind {
		case extreme:
			s.Extremes = append(s.Extremes, pg.Extreme{Column: p.column, Of: p.candidate(m.Table), IsGreatest: p.function == "MAX", Whole: p.whole()})
		case shifted:
			s.Moved = append(s.Moved, pg.Moved{Column: p.column, By: p.by(m.Table), IsNumber: p.isNumber})
		default:
			s.Read = append(s.Read, pg.Assignment{Column: p.column, Value: p.whole()})
		}
	case p.kind == copied:
		read := pg.Assignment{Column: p.column, Value: p.whole()}
		if p.other() == m && k.Event == "update" {
			s := stepFor(k, &pg.Keep{Table: p.owner.Table, Match: p.link(), Key: "id"}, p.reads())
			s.Read = append(s.Read, read)
		}
	}
}

// restartOf returns the step of a keeper for a table whose columns start anew.
func restartOf(k *pg.KeeperEvent, table string) *pg.Restart {
	for _, s := range k.Steps {
		if s, ok := s.(*pg.Restart); ok && s.Table == table {
			return s
		}
	}
	s := &pg.Restart{Table: table}
	k.Steps = append(k.Steps, s)
	return s
}

// stepFor returns the step of a keeper for the same rows, which is new if there is none.
func stepFor(k *pg.KeeperEvent, step *pg.Keep, watched []string) *pg.Keep {
	at := slices.IndexFunc(k.Steps, func(s pg.KeeperStep) bool {
		other, ok := s.(*pg.Keep)
		return ok && isSameStep(other, step)
	})
	if at >= 0 {
		step = k.Steps[at].(*pg.Keep)
	} else {
		k.Steps = append(k.Steps, step)
	}
	step.Watched = union(step.Watched, watched)
	return step
}

// isSameStep tells whether two steps are about the same rows.
func isSameStep(a, b *pg.Keep) bool {
	return a.Table == b.Table && a.Match == b.Match && a.Key == b.Key && a.Source == b.Source && a.Link == b.Link && a.Through == b.Through
}

// guard gives a table the triggers that prevent any other write to its parts.
func (l *lowering) guard(t *pg.Table, parts []*part) {
	g := &pg.Guard{Name: pg.Shorten("tg_"+t.Name, pg.MaxIdent-20) + "__guard"}
	var given []pg.Expr
	var columns []string
	for _, p := range parts {
		columns = append(columns, p.column)
		if p.kind == copied { // the row gets it from another trigger
			g.Columns = append(g.Columns, pg.Assignment{Column: p.column})
			continue
		}
		g.Columns = append(g.Columns, pg.Assignment{Column: p.column, Value: p.start()})
		given = append(given, pg.Op(pg.Col("new", p.column), "is distinct from", p.start()))
	}
	t.Guard = g
	function := pg.Qualified(t.Schema, g.Name)
	isNotNested := pg.Eq(pg.Fn("pg_trigger_depth"), pg.Lit("0"))
	isNewID := pg.Op(pg.Col("new", "id"), "is distinct from", pg.Col("old", "id"))
	if given != nil {
		t.Triggers = append(t.Triggers,
			&pg.Trigger{Name: pg.GuardTriggers + "insert", Timing: "before insert", When: pg.AnyOf(given...), Function: function},
			&pg.Trigger{Name: pg.GuardTriggers + "id", Timing: "before update", Columns: []string{"id"}, When: isNewID, Function: function},
		)
	}
	t.Triggers = append(t.Triggers,
		&pg.Trigger{Name: pg.GuardTriggers + "update", Timing: "before update", Columns: columns, When: isNotNested, Function: function},
	)
}

// readComputed completes a row that a variable holds as a write returns it: columns that triggers keep are right when
// the write has ended.
func (b *builder) readComputed(row *pg.Variable) {
	var columns []pg.Output
	var into []pg.Target
	for _, f := range b.model.Stored() {
		if isComputedFromRows(f) && b.holds(row, f) {
			columns = append(columns, pg.Output{Value: pg.Col(b.table, f.Column)})
			into = append(into, row.Field(f.Column))
		}
	}
	if columns == nil {
		return
	}
	b.step("By now, triggers have computed the values that depend on other rows.", &pg.Query{Select: &pg.Select{
		Columns: columns, Into: into, From: pg.Ref(relatedSchema, b.table), Where: pg.Eq(pg.Col(b.table, "id"), row.Field("id")),
	}})
}
