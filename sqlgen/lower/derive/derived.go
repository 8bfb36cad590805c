package derive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// ComputedColumns makes the columns of computed fields, and adds those of parts that are not fields.
func (l *Lowering) ComputedColumns(t *pg.Table, m *model.Model) {
	for i, f := range m.Stored() {
		if f.Computed != nil {
			l.computedColumn(t.Columns[i], f)
		}
	}
	t.Columns = append(t.Columns, l.hiddenColumns(m)...)
}

// computedColumn makes the column of a computed field.
func (l *Lowering) computedColumn(c *pg.Column, f *model.Field) {
	if p := l.derivedBy(f); p != nil {
		p.keep(c)
		return
	}
	c.Generated = emit.Expr(l.generated(f, f.Model.Table))
}

// keep makes a column one that triggers keep.
func (p *Part) keep(c *pg.Column) {
	c.Derived = p.definition()
	c.NotNull = p.notNull
	if p.neutral != nil {
		c.Default = emit.Expr(p.neutral)
	}
}

// hiddenColumns returns the columns of parts that are not fields.
func (l *Lowering) hiddenColumns(m *model.Model) []*pg.Column {
	var columns []*pg.Column
	for _, p := range l.PartsOf(m) {
		if !slices.ContainsFunc(m.Stored(), func(f *model.Field) bool { return f.Column == p.Column }) {
			c := &pg.Column{Name: p.Column, Type: p.typ, Comment: "kept by triggers, for computed fields"}
			p.keep(c)
			columns = append(columns, c)
		}
	}
	return columns
}

// PartsOf returns the parts in the rows of a model.
func (l *Lowering) PartsOf(m *model.Model) []*Part {
	return slices.DeleteFunc(slices.Clone(l.Parts), func(p *Part) bool { return p.Owner != m })
}

// writtenColumnsOf are the columns of a table that do not change by computing alone.
func writtenColumnsOf(m *model.Model) []*model.Field {
	return slices.DeleteFunc(m.Stored(), func(f *model.Field) bool { return f.Computed != nil })
}

// hasComputed tells whether a table has computed columns.
func (l *Lowering) hasComputed(m *model.Model) bool {
	return len(l.PartsOf(m)) > 0 || slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Computed != nil })
}

// Touch is the trigger that sets updated_at. Its function sees whether the row changes. Computing is not an update, so
// on a table with computed columns the trigger ignores writes of these alone, by a condition. Postgres reads a condition
// anew for each statement, which costs more than the call of the function. The function alone would not do there: when a
// BEFORE trigger runs, the generated columns of the new row have no values yet, so that every row would look changed.
func (l *Lowering) Touch(m *model.Model) *pg.Trigger {
	g := &pg.Trigger{Name: "_100_touch", Timing: "before update", Function: "platform.tg_touch"}
	if !l.hasComputed(m) {
		return g
	}
	before, after := &pg.Row{}, &pg.Row{}
	for _, f := range writtenColumnsOf(m) {
		before.Values = append(before.Values, pg.Col("old", f.Column))
		after.Values = append(after.Values, pg.Col("new", f.Column))
	}
	g.Columns, g.When = value.ColumnsOf(writtenColumnsOf(m)), pg.Op(before, "is distinct from", after)
	return g
}

// Keep gives a table the triggers that keep the parts in its own rows, and those made of its rows.
func (l *Lowering) Keep(t *pg.Table, m *model.Model) {
	l.keepOwn(t, m)
	l.takeTurns(t, m)
	k := &keeper{Lowering: l, model: m, table: t}
	if f := k.function(); f != nil {
		t.Functions = append(t.Functions, f)
		t.Triggers = append(t.Triggers, k.triggers(pg.Qualified(t.Schema, f.Name))...)
	}
}

// keeper makes the function that carries changes of a table's rows on to the parts that are made of them, once per
// statement. It runs as the owner of the tables, who is not bound by row security: parts are about all rows.
type keeper struct {
	*Lowering
	model *model.Model
	table *pg.Table
	fn    *pg.Function
	ids   *pg.Variable
}

// keepStep is what a keeper writes: parts in those rows of a table that have the same value in one column as changed
// rows of the keeper's table in another.
type keepStep struct {
	to         *model.Model
	Match, Key string
	Via        *across // of parts across a third table
	isMoved    bool    // sums and counts, which move by the difference; all others are read again
	isCopied   bool    // they follow the row behind a key, which is neither new nor gone
	parts      []*Part
}

// isOwn tells whether a step reads parts across a third table for the changed rows themselves.
func (s *keepStep) isOwn(m *model.Model) bool { return s.to == m && s.Match == "id" && s.Key == "id" }

// StepsOf returns the steps for changes of a model's rows, in the order of the tables that they write.
func (l *Lowering) StepsOf(m *model.Model) []*keepStep {
	if steps, known := l.steps[m]; known {
		return steps
	}
	var steps []*keepStep
	add := func(p *Part, s keepStep) {
		at := slices.IndexFunc(steps, func(o *keepStep) bool {
			return o.to == s.to && o.Match == s.Match && o.Key == s.Key && (o.Via == nil) == (s.Via == nil) && o.isMoved == s.isMoved
		})
		if at < 0 {
			at, steps = len(steps), append(steps, &s)
		}
		steps[at].parts = append(steps[at].parts, p)
	}
	for _, p := range l.Parts {
		if p.across != nil && p.Owner == m {
			add(p, keepStep{to: m, Match: "id", Key: "id", Via: p.across})
		}
		switch {
		case p.other() != m:
		case p.Kind == Copied:
			add(p, keepStep{to: p.Owner, Match: p.Link(), Key: "id", isCopied: true})
		default:
			add(p, keepStep{to: p.Owner, Match: p.match(), Key: p.Link(), Via: p.across, isMoved: p.Kind == shifted})
		}
	}
	rank := func(s *keepStep) int {
		if s.isOwn(m) {
			return -1 // the values of others may depend on it
		}
		return l.Rank(s.to)
	}
	slices.SortStableFunc(steps, func(a, b *keepStep) int { return cmp.Compare(rank(a), rank(b)) })
	l.steps[m] = steps
	return steps
}

// watched returns the columns of the changed rows whose changes matter to a step, without its key.
func (s *keepStep) watched(m *model.Model) []string {
	var columns []string
	for _, p := range s.parts {
		switch {
		case s.isOwn(m):
			columns = union(columns, append([]string{p.across.match}, p.across.own...))
		default:
			columns = union(columns, p.reads())
		}
	}
	return slices.DeleteFunc(columns, func(c string) bool { return c == s.Key })
}

// The names of the rows of a statement. Those of an insert or delete have one.
const (
	newRows     = "new_rows"
	oldRows     = "old_rows"
	writtenRows = "written_rows"
)

func (k *keeper) function() *pg.Function {
	steps := k.StepsOf(k.model)
	if len(steps) == 0 {
		return nil
	}
	k.ids = &pg.Variable{Name: "__ids", Type: "text[]"}
	k.fn = &pg.Function{
		Schema: value.AppSchema, Name: pg.Shorten("tg_"+k.model.Table, pg.MaxIdent-20) + "__keep", Returns: "trigger", Volatility: pg.Volatile,
		UseColumn: true, Variables: []*pg.Variable{k.ids},
		// A session plans each statement once, and finds rows by an index. A plan made for a statement that wrote many
		// rows, or while a table was empty, would read the whole table for each single row after it. A plan for a given
		// row looks cheaper than one for some rows, so Postgres would make it anew for each. It would compile a plan that
		// was made for many rows at each call.
		Settings: []pg.Setting{{Name: "plan_cache_mode", Value: "force_generic_plan"}, {Name: "enable_seqscan", Value: "off"}, {Name: "jit", Value: "off"}},
	}
	k.fn.Title = "keeps "
	for i, s := range steps {
		for j, p := range s.parts {
			if i+j > 0 {
				k.fn.Title += ", "
			}
			k.fn.Title += p.title
		}
	}
	k.truncated(steps)
	k.lockAll(steps)
	for _, s := range steps {
		statements := k.readAgain(s)
		switch {
		case s.isMoved:
			statements = k.move(s)
		case s.isCopied && k.carries():
			statements = []pg.Statement{pg.IfThen(isUpdate, statements...)}
		case s.isOwn(k.model):
			statements = []pg.Statement{pg.IfThen(pg.Op(pg.Lit("tg_op"), "<>", pg.Str("DELETE")), statements...)}
		}
		k.paragraph(s.to.Table+": "+join(columnsOfParts(s.parts)), statements...)
	}
	k.paragraph("", &pg.Return{Value: pg.Null()})
	return k.fn
}

func (k *keeper) paragraph(comment string, statements ...pg.Statement) {
	k.fn.Body = append(k.fn.Body, pg.Paragraph{Comment: comment, Statements: statements})
}

var isUpdate = pg.Eq(pg.Lit("tg_op"), pg.Str("UPDATE"))

// carries tells whether rows that are new or gone concern any part.
func (k *keeper) carries() bool {
	return slices.ContainsFunc(k.StepsOf(k.model), func(s *keepStep) bool { return !s.isCopied })
}

// triggers calls the function.
func (k *keeper) triggers(function string) []*pg.Trigger {
	triggers := []*pg.Trigger{
		{Name: "insert", Rows: "new table as " + writtenRows}, {Name: "update", Rows: "old table as " + oldRows + " new table as " + newRows},
		{Name: "delete", Rows: "old table as " + writtenRows}, {Name: "truncate"},
	}
	if !k.carries() {
		triggers = triggers[1:2]
	}
	for _, g := range triggers {
		g.Timing, g.Name, g.PerStatement, g.Function = "after "+g.Name, pg.KeeperTriggers+g.Name, true, function
	}
	return triggers
}

// truncated sets the parts that are made of the rows of an emptied table to their values without them.
func (k *keeper) truncated(steps []*keepStep) {
	var statements []pg.Statement
	for _, s := range steps {
		if s.isCopied || s.isOwn(k.model) {
			continue
		}
		statements = append(statements, writeParts(s.to, s.parts, (*Part).start, nil, nil))
	}
	if statements != nil {
		statements = append(statements, &pg.Return{Value: pg.Null()})
		k.paragraph("", pg.IfThen(pg.Eq(pg.Lit("tg_op"), pg.Str("TRUNCATE")), statements...))
	}
}

// writeParts gives parts of rows their values, in rows where these differ.
func writeParts(m *model.Model, parts []*Part, v func(*Part) pg.Expr, from pg.From, where pg.Expr) *pg.Update {
	update := &pg.Update{Schema: value.AppSchema, Table: m.Table, From: from}
	var differ []pg.Expr
	for _, p := range parts {
		update.Set = append(update.Set, pg.Assignment{Column: p.Column, Value: v(p)})
		differ = append(differ, pg.Op(pg.Col(m.Table, p.Column), "is distinct from", v(p)))
	}
	update.Where = pg.AllOf(where, pg.AnyOf(differ...))
	return update
}

// rows selects values of the rows of a statement under a name.
func (k *keeper) rows(name string, values ...pg.Output) *pg.Select {
	return &pg.Select{Columns: values, From: &pg.TableRef{Name: name, Alias: k.model.Table}}
}

// changed selects values of the rows of a statement as they are and as they were. Each value is there twice.
func (k *keeper) changed(values func(isNew bool) []pg.Output) *pg.SubqueryRef {
	query := k.rows(newRows, values(true)...)
	query.UnionAll = []*pg.Select{k.rows(oldRows, values(false)...)}
	return &pg.SubqueryRef{Query: query, Alias: "changed"}
}

// move moves sums and counts by what new rows add and what rows that are gone take. An update adds to the value that a
// row has when its turn has come.
func (k *keeper) move(s *keepStep) []pg.Statement {
	key := pg.Col(k.model.Table, s.Key)
	sign := &pg.Case{Value: pg.Lit("tg_op"), Whens: []pg.When{{Condition: pg.Str("DELETE"), Result: pg.Lit("-1")}}, Else: pg.Lit("1")}
	amounts := func(isNew bool) []pg.Output {
		values := []pg.Output{{Value: key, As: "key"}}
		for i, p := range s.parts {
			by := p.by(k.model.Table)
			if !isNew {
				by = &pg.Minus{Operand: by}
			}
			values = append(values, pg.Output{Value: by, As: amountOf(i)})
		}
		return values
	}
	updated := &pg.Select{Columns: []pg.Output{{Value: pg.Col("changed", "key")}}, From: k.changed(amounts), GroupBy: []pg.Expr{pg.Col("changed", "key")}}
	written := k.rows(writtenRows, pg.Output{Value: key, As: "key"})
	written.GroupBy = []pg.Expr{key}
	found := &pg.Select{Columns: []pg.Output{{Value: pg.Fn("array_agg", pg.Col("moved", "key"))}}, Into: []pg.Target{k.ids}}
	moved := &pg.CallRef{Call: pg.Fn("unnest", k.ids), Alias: besides("moved", s.to.Table), Columns: []string{"key"}}
	update := &pg.Update{Schema: value.AppSchema, Table: s.to.Table, From: moved, Where: pg.Eq(pg.Col(s.to.Table, s.Match), pg.Col(moved.Alias, "key"))}
	var moves []pg.Expr
	for i, p := range s.parts {
		held := k.amounts(i)
		updated.Columns = append(updated.Columns, pg.Output{Value: pg.Fn("sum", pg.Col("changed", amountOf(i))), As: amountOf(i)})
		written.Columns = append(written.Columns, pg.Output{Value: pg.Op(pg.Fn("sum", p.by(k.model.Table)), "*", sign), As: amountOf(i)})
		moves = append(moves, pg.Op(pg.Col("moved", amountOf(i)), "<>", pg.Lit("0")))
		found.Columns = append(found.Columns, pg.Output{Value: pg.Fn("array_agg", pg.Col("moved", amountOf(i)))})
		found.Into = append(found.Into, held)
		moved.Call.(*pg.Call).Args = append(moved.Call.(*pg.Call).Args, held)
		moved.Columns = append(moved.Columns, amountOf(i))
		value := pg.Expr(pg.Op(pg.Col(s.to.Table, p.Column), "+", pg.Col(moved.Alias, amountOf(i))))
		if p.isNumber {
			value = pg.Fn("platform.number", value)
		}
		update.Set = append(update.Set, pg.Assignment{Column: p.Column, Value: value})
	}
	found.Where = pg.AllOf(pg.IsNotNull(pg.Col("moved", "key")), pg.AnyOf(moves...))
	from := func(q *pg.Select) *pg.Query {
		of := *found
		of.From = &pg.SubqueryRef{Query: q, Alias: "moved"}
		return &pg.Query{Select: &of}
	}
	return []pg.Statement{
		&pg.If{Branches: []pg.IfBranch{{Condition: isUpdate, Then: []pg.Statement{from(updated)}}}, Else: []pg.Statement{from(written)}},
		pg.IfThen(pg.Op(pg.Fn("cardinality", k.ids), ">", pg.Lit("1")), lockRows(s.to, "no key update", s.Match, k.ids)),
		pg.IfThen(pg.IsNotNull(k.ids), update),
	}
}

// amountOf is the name of the amounts of a sum.
func amountOf(i int) string { return fmt.Sprintf("by_%d", i+1) }

// amounts is the variable that holds them.
func (k *keeper) amounts(i int) *pg.Variable { return k.variable("__"+amountOf(i), "numeric[]") }

func (k *keeper) variable(name, typ string) *pg.Variable {
	for _, v := range k.fn.Variables {
		if v.Name == name {
			return v
		}
	}
	v := &pg.Variable{Name: name, Type: typ}
	k.fn.Variables = append(k.fn.Variables, v)
	return v
}

// readAgain reads parts of the rows concerned again. They are locked before, by a statement of its own, so that the next
// one sees them, and the rows that they are made of, as they are then.
func (k *keeper) readAgain(s *keepStep) []pg.Statement {
	source := besides("source", s.to.Table)
	read := &pg.Select{
		Columns: []pg.Output{{Value: pg.Col(s.to.Table, "id")}}, From: pg.Ref(value.AppSchema, s.to.Table),
		Where: isAnyOf(s.to.Table, s.Match, k.ids), Offset: pg.Lit("0"), // or each value would be read twice, to compare it and to set it
	}
	for _, p := range s.parts {
		read.Columns = append(read.Columns, pg.Output{Value: p.whole(), As: p.Column})
	}
	update := writeParts(s.to, s.parts, func(p *Part) pg.Expr { return pg.Col(source, p.Column) },
		&pg.SubqueryRef{Query: read, Alias: source}, pg.Eq(pg.Col(s.to.Table, "id"), pg.Col(source, "id")))
	changed := []pg.Statement{&pg.Assign{Variable: k.ids, Value: &pg.ArrayOf{Query: k.changedKeys(s.Key, s.watched(k.model))}}}
	written := []pg.Statement{&pg.Assign{Variable: k.ids, Value: &pg.ArrayOf{Query: k.rows(writtenRows, pg.Output{Value: pg.Col(k.model.Table, s.Key)})}}}
	var then []pg.Statement
	switch {
	case s.isOwn(k.model):
		// A row that still leads to the same third one is found by the statements that change that one, and is locked.
		lock := func(ids pg.Expr) pg.Statement {
			thirds := &pg.ArrayOf{Query: linking(s.to, s.Via.match, "id", ids)}
			return lockRows(s.Via.third, k.CopyStrength(k.model, s.Via.third), "id", thirds)
		}
		changed = append(changed, lock(&pg.ArrayOf{Query: k.changedKeys("id", []string{s.Via.match})}))
		written = append(written, lock(k.ids))
	case s.Via != nil:
		then = append(then, lockRows(s.Via.third, "no key update", "id", k.ids), lockRows(s.to, "no key update", s.Match, k.ids))
	default:
		then = append(then, lockRows(s.to, "no key update", s.Match, k.ids))
	}
	if !s.isCopied {
		changed = []pg.Statement{&pg.If{Branches: []pg.IfBranch{{Condition: isUpdate, Then: changed}}, Else: written}}
	}
	return append(changed, pg.IfThen(pg.Op(pg.Fn("cardinality", k.ids), ">", pg.Lit("0")), append(then, update)...))
}

// changedKeys selects the values of a column of rows in which it or a watched one has changed, as they were and as they
// are. Equal rows before and after the statement cancel out.
func (k *keeper) changedKeys(key string, watched []string) *pg.Select {
	values := func(isNew bool) []pg.Output {
		list := []pg.Output{{Value: pg.Col(k.model.Table, key), As: "key"}}
		for i, c := range watched {
			list = append(list, pg.Output{Value: pg.Col(k.model.Table, c), As: fmt.Sprintf("value_%d", i+1)})
		}
		count := pg.Lit("1")
		if !isNew {
			count = pg.Lit("-1")
		}
		return append(list, pg.Output{Value: count, As: "count"})
	}
	query := &pg.Select{
		Columns: []pg.Output{{Value: pg.Col("changed", "key")}}, From: k.changed(values), GroupBy: []pg.Expr{pg.Col("changed", "key")},
		Having: pg.Op(pg.Fn("sum", pg.Col("changed", "count")), "<>", pg.Lit("0")),
	}
	for i := range watched {
		query.GroupBy = append(query.GroupBy, pg.Col("changed", fmt.Sprintf("value_%d", i+1)))
	}
	return query
}

// besides returns a name for rows that a statement reads beside a table.
func besides(name, table string) string {
	if name == table {
		return name + "_2"
	}
	return name
}

// lockRows locks rows of a table in the order of their ids.
func lockRows(m *model.Model, strength, match string, values pg.Expr) pg.Statement {
	return &pg.Query{Select: &pg.Select{
		From: pg.Ref(value.AppSchema, m.Table), Where: isAnyOf(m.Table, match, values), OrderBy: []pg.Order{{Value: pg.Col(m.Table, "id")}}, Lock: strength,
	}}
}

// linking selects a column of rows of a table.
func linking(m *model.Model, column, match string, among pg.Expr) *pg.Select {
	return &pg.Select{
		Columns: []pg.Output{{Value: pg.Col("linking", column)}},
		From:    &pg.TableRef{Schema: value.AppSchema, Name: m.Table, Alias: "linking"}, Where: isAnyOf("linking", match, among),
	}
}

// join writes names as a list.
func join(names []string) string { return strings.Join(names, ", ") }
