package derive

import (
	"slices"

	"github.com/sternpost/sternpost/sqlgen/lower/value"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A copy is written with its row: a BEFORE trigger reads it when the row is inserted, or gets another key. So the row is
// written once. The trigger locks the row that it reads, so an insert waits for a change of that row, and a change finds
// the rows of all inserts before it.
//
// A row may be inserted before the one that it refers to, by the same statement. Then its copies are read again at the
// end of the statement.

// keepOwn gives a table the triggers for the parts in its own rows: before a row is written, they fill its copies, and
// give a new one the values of all other parts without other rows. They let nothing but triggers write them.
func (l *Lowering) keepOwn(t *pg.Table, m *model.Model) {
	parts := l.PartsOf(m)
	if len(parts) == 0 {
		return
	}
	f := &pg.Function{
		Schema: t.Schema, Name: pg.Shorten("tg_"+t.Name, pg.MaxIdent-20) + "__start", Title: "fills what is computed in a row",
		Returns: "trigger", Volatility: pg.Volatile, UseColumn: true,
	}
	isNew := pg.Expr(pg.Eq(pg.Lit("tg_op"), pg.Str("INSERT")))
	var starts []pg.Statement
	var columns []string // whose changes matter
	var differ, late []pg.Expr
	for _, p := range parts {
		differ = append(differ, pg.Op(pg.Col("new", p.Column), "is distinct from", pg.Col("old", p.Column)))
		if p.Kind == Copied {
			late = append(late, pg.AllOf(pg.IsNotNull(pg.Col("new", p.Link())), pg.Op(pg.Col("new", p.Column), "is not distinct from", p.start())))
		} else {
			starts = append(starts, p.assignStart())
		}
	}
	function := pg.Qualified(t.Schema, f.Name)
	if late != nil {
		id := &pg.Variable{Name: "__id", Type: "text", Initial: pg.Col("new", "id")}
		f.Variables = []*pg.Variable{id}
		f.Body = append(f.Body, pg.Paragraph{
			Comment:    "These rows were inserted behind the row, by the same statement.",
			Statements: []pg.Statement{pg.IfThen(pg.Eq(pg.Lit("tg_when"), pg.Str("AFTER")), copyLate(m, slices.Concat(l.copiesOf(m)...), id)...)},
		})
		t.Triggers = append(t.Triggers, &pg.Trigger{Name: pg.StartTriggers + "late", Timing: "after insert", When: pg.AnyOf(late...), Function: function})
	}
	if starts != nil {
		columns = []string{"id"}
		f.Body = append(f.Body, pg.Paragraph{
			Comment:    "Rows that point to a new row, or to one with a new id, come after it.",
			Statements: []pg.Statement{pg.IfThen(pg.AnyOf(isNew, pg.Op(pg.Col("new", "id"), "is distinct from", pg.Col("old", "id"))), starts...)},
		})
	}
	for _, g := range l.copiesOf(m) {
		read := pg.Mentions(l.linkOf(g[0], "new"))
		for _, f := range m.Stored() {
			if read.Column(f.Column) {
				columns = union(columns, []string{f.Column})
			}
		}
		f.Body = append(f.Body, pg.Paragraph{Statements: []pg.Statement{l.copyNow(g, isNew)}})
	}
	f.Body = append(f.Body, pg.Paragraph{Statements: []pg.Statement{&pg.Return{Value: pg.Var("new")}}})
	t.Functions = append(t.Functions, f)
	t.Triggers = append(t.Triggers,
		&pg.Trigger{Name: pg.StartTriggers + "write", Timing: "before insert or update", Columns: columns, Function: function},
		&pg.Trigger{
			Name: pg.GuardTriggers + "update", Timing: "before update", Columns: columnsOfParts(parts),
			When: pg.AllOf(pg.Eq(pg.Fn("pg_trigger_depth"), pg.Lit("0")), pg.AnyOf(differ...)), Function: "platform.tg_computed",
		},
	)
}

func columnsOfParts(parts []*Part) []string {
	columns := make([]string, len(parts))
	for i, p := range parts {
		columns[i] = p.Column
	}
	return columns
}

// assignStart gives a row the value of a part without other rows.
func (p *Part) assignStart() pg.Statement {
	return &pg.Assign{Variable: &pg.Variable{Name: "new." + pg.Ident(p.Column)}, Value: p.start()}
}

// copiesOf returns the copies in a model's rows, those of one row together. A key that is a copy itself comes before
// the copies behind it.
func (l *Lowering) copiesOf(m *model.Model) [][]*Part {
	var groups [][]*Part
	for _, p := range l.PartsOf(m) {
		if p.Kind != Copied {
			continue
		}
		at := slices.IndexFunc(groups, func(g []*Part) bool { return g[0].Link() == p.Link() })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], p)
	}
	return groups
}

// copyNow reads the copies behind a key of a new row, or of one that gets another key.
func (l *Lowering) copyNow(copies []*Part, isNew pg.Expr) pg.Statement {
	const source = "source"
	to := copies[0].other()
	link, before := l.linkOf(copies[0], "new"), l.linkOf(copies[0], "old")
	read := &pg.Select{
		From:  &pg.TableRef{Schema: value.AppSchema, Name: to.Table, Alias: source},
		Where: pg.Eq(pg.Col(source, "id"), link), Lock: l.CopyStrength(copies[0].Owner, to),
	}
	var without []pg.Statement
	for _, p := range copies {
		value := p.value(source)
		if p.emptyZero {
			value = pg.Fn("coalesce", value, pg.Lit("0"))
		}
		read.Columns = append(read.Columns, pg.Output{Value: value})
		read.Into = append(read.Into, pg.Col("new", p.Column))
		if p.neutral != nil {
			without = append(without, p.assignStart())
		}
	}
	isRead := []pg.Statement{&pg.Query{Select: read}}
	if without != nil {
		isRead = append(isRead, pg.IfThen(pg.Lit("not found"), without...))
	}
	return pg.IfThen(pg.AnyOf(isNew, pg.Op(link, "is distinct from", before)), isRead...)
}

// linkOf is the key that finds the row of a copy. Postgres generates columns behind BEFORE triggers.
func (l *Lowering) linkOf(p *Part, row string) pg.Expr {
	if f := p.step.FK; f.Computed != nil && l.derivedBy(f) == nil {
		return l.generated(f, row)
	}
	return pg.Col(row, p.Link())
}

// copyLate reads the copies of a row that was inserted before those that it refers to. These are new, or locked already.
func copyLate(m *model.Model, copies []*Part, id *pg.Variable) []pg.Statement {
	value := func(p *Part) pg.Expr {
		if p.notNull {
			return pg.Fn("coalesce", p.whole(), p.neutral)
		}
		return p.whole()
	}
	return []pg.Statement{writeParts(m, copies, value, nil, pg.Eq(pg.Col(m.Table, "id"), id)), &pg.Return{Value: pg.Null()}}
}

// CopyStrength is how the row that copies are read from is locked. Where a change of the copying rows leads back to it,
// two transactions that shared it would wait for each other to write it.
func (l *Lowering) CopyStrength(owner, to *model.Model) string {
	if l.leadsTo(owner, to) {
		return "no key update"
	}
	return "share"
}

// start is the value of a part without other rows.
func (p *Part) start() pg.Expr {
	if p.neutral == nil {
		return pg.Null()
	}
	return p.neutral
}
