package lower

import (
	"cmp"
	"slices"

	"github.com/sternpost/sternpost/sqlgen/pg"
	"github.com/sternpost/sternpost/sqlgen/schema"
)

// A copy is written with its row: a BEFORE trigger reads it when the row is inserted, or gets another key. So the row is
// written once. The trigger locks the row that it reads, so an insert waits for a change of that row, and a change finds
// the rows of all inserts before it.
//
// A row may be inserted before the one that it refers to, by the same statement. Then its copies are read again at the
// end of the statement.

// copyColumns gives a table the triggers that fill the copies in its rows.
func (l *lowering) copyColumns(t *pg.Table, m *schema.Model) {
	groups := l.copiesOf(m)
	if len(groups) == 0 {
		return
	}
	id := &pg.Variable{Name: "__id", Type: "text", Initial: pg.Col("new", "id")}
	f := &pg.Function{
		Schema: t.Schema, Name: pg.Shorten("tg_"+t.Name, pg.MaxIdent-20) + "__copy", Title: "copies values of the rows that a row refers to",
		Returns: "trigger", Volatility: pg.Volatile, UseColumn: true, Variables: []*pg.Variable{id},
	}
	f.Body = append(f.Body, pg.Paragraph{
		Comment:    "These rows were inserted behind the row, by the same statement.",
		Statements: []pg.Statement{pg.IfThen(pg.Eq(pg.Lit("tg_when"), pg.Str("AFTER")), l.copyLate(m, groups, id)...)},
	})
	var links []string
	var late []pg.Expr
	for _, g := range groups {
		read := pg.Mentions(l.linkOf(g[0], "new"))
		for _, f := range m.Stored() {
			if read.Column(f.Column) {
				links = union(links, []string{f.Column})
			}
		}
		f.Body = append(f.Body, pg.Paragraph{Statements: []pg.Statement{l.copyNow(g)}})
		for _, p := range g {
			late = append(late, pg.AllOf(pg.IsNotNull(pg.Col("new", p.link())), pg.Op(pg.Col("new", p.column), "is not distinct from", p.start())))
		}
	}
	f.Body = append(f.Body, pg.Paragraph{Statements: []pg.Statement{&pg.Return{Value: pg.Var("new")}}})
	t.Functions = append(t.Functions, f)
	function := pg.Qualified(t.Schema, f.Name)
	t.Triggers = append(t.Triggers,
		&pg.Trigger{Name: pg.CopyTriggers, Timing: "before insert or update", Columns: links, Function: function},
		&pg.Trigger{Name: pg.CopyTriggers + "_late", Timing: "after insert", When: pg.AnyOf(late...), Function: function},
	)
}

// copiesOf returns the copies in a model's rows, those of one row together. A key that is a copy itself comes before
// the copies behind it.
func (l *lowering) copiesOf(m *schema.Model) [][]*part {
	var groups [][]*part
	for _, p := range l.partsOf(m) {
		if p.kind != copied {
			continue
		}
		at := slices.IndexFunc(groups, func(g []*part) bool { return g[0].link() == p.link() })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], p)
	}
	return groups
}

// copyNow reads the copies behind a key of a new row, or of one that gets another key.
func (l *lowering) copyNow(copies []*part) pg.Statement {
	const source = "source"
	to := copies[0].other()
	link, before := l.linkOf(copies[0], "new"), l.linkOf(copies[0], "old")
	read := &pg.Select{
		From:  &pg.TableRef{Schema: appSchema, Name: to.Table, Alias: source},
		Where: pg.Eq(pg.Col(source, "id"), link), Lock: l.copyStrength(copies[0].owner, to),
	}
	var without []pg.Statement
	for _, p := range copies {
		value := p.value(source)
		if p.emptyZero {
			value = pg.Fn("coalesce", value, pg.Lit("0"))
		}
		read.Columns = append(read.Columns, pg.Output{Value: value})
		read.Into = append(read.Into, pg.Col("new", p.column))
		if p.neutral != nil {
			without = append(without, &pg.Assign{Variable: &pg.Variable{Name: "new." + pg.Ident(p.column)}, Value: p.neutral})
		}
	}
	isRead := []pg.Statement{&pg.Query{Select: read}}
	if without != nil {
		isRead = append(isRead, pg.IfThen(pg.Lit("not found"), without...))
	}
	return pg.IfThen(pg.AnyOf(pg.Eq(pg.Lit("tg_op"), pg.Str("INSERT")), pg.Op(link, "is distinct from", before)), isRead...)
}

// linkOf is the key that finds the row of a copy. Postgres generates columns behind BEFORE triggers.
func (l *lowering) linkOf(p *part, row string) pg.Expr {
	if f := p.step.FK; f.Computed != nil && l.keptBy(f) == nil {
		return l.generated(f, row)
	}
	return pg.Col(row, p.link())
}

// copyLate reads the copies of a row that was inserted before those that it refers to.
func (l *lowering) copyLate(m *schema.Model, groups [][]*part, id *pg.Variable) []pg.Statement {
	isRow := pg.Eq(pg.Col(m.Table, "id"), id)
	var statements []pg.Statement
	update := &pg.Update{Schema: appSchema, Table: m.Table}
	var differ []pg.Expr
	for _, g := range groups {
		to := g[0].other()
		linked := &pg.Subquery{Query: &pg.Select{
			Columns: []pg.Output{{Value: pg.Col(m.Table, g[0].link())}}, From: pg.Ref(appSchema, m.Table), Where: isRow,
		}}
		statements = append(statements, &pg.Query{Select: &pg.Select{
			From:  &pg.TableRef{Schema: appSchema, Name: to.Table, Alias: "source"},
			Where: pg.Eq(pg.Col("source", "id"), linked), Lock: l.copyStrength(m, to),
		}})
		for _, p := range g {
			value := p.whole()
			if p.notNull {
				value = pg.Fn("coalesce", value, p.neutral)
			}
			update.Set = append(update.Set, pg.Assignment{Column: p.column, Value: value})
			differ = append(differ, pg.Op(pg.Col(m.Table, p.column), "is distinct from", value))
		}
	}
	update.Where = pg.AllOf(isRow, pg.AnyOf(differ...))
	return append(statements, update, &pg.Return{Value: pg.Null()})
}

// copyStrength is how the row that copies are read from is locked. Where a change of the copying rows leads back to it,
// two transactions that shared it would wait for each other to write it.
func (l *lowering) copyStrength(owner, to *schema.Model) string {
	if l.leadsTo(owner, to) {
		return "no key update"
	}
	return "share"
}

// start is the value of a part without other rows.
func (p *part) start() pg.Expr {
	if p.neutral == nil {
		return pg.Null()
	}
	return p.neutral
}

// lockCopied has a create lock the rows from which the rows of an array copy: table after table, and those of each in
// the order of their ids. The rows of the array lock them in their own order, while triggers that write several of them
// use that of the ids.
func (c *creation) lockCopied(l *lowering) {
	slices.SortStableFunc(c.linked, func(a, b linkedRows) int { return cmp.Compare(l.rank(a.to), l.rank(b.to)) })
	var statements []pg.Statement
	for _, k := range c.linked {
		isCopied := func(g []*part) bool { return g[0].link() == k.column }
		if slices.ContainsFunc(l.copiesOf(k.model), isCopied) && len(l.partsOf(k.to)) > 0 {
			statements = append(statements, &pg.Perform{Value: pg.Fn("platform.lock_rows", pg.Str(k.to.Table), pg.Str(l.copyStrength(k.model, k.to)), &pg.ArrayOf{Query: k.ids})})
		}
	}
	if statements != nil {
		c.b.step("Rows that the new ones copy from are locked first, in the order of their ids.", statements...)
	}
}

// linkedRows are rows to which the new rows of an array refer.
type linkedRows struct {
	model  *schema.Model // of the new rows
	column string
	to     *schema.Model
	ids    *pg.Select
}
