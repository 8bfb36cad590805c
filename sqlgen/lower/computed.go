package lower

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// A computed field is a generated column over columns of its own row. A value that it reads of other rows is in the row
// too, in a column that triggers keep: a part. A part is made of rows one step away: a value of the row that a to-one
// leads to, or one value of all rows that point here. Longer ways are parts of parts. So each change is carried on from
// row to row, and a transaction that changes a row on the way waits for one that carries something through it. If a
// field is nothing but a part, its own column is kept.

// partKind is how a part is kept.
type partKind int

const (
	copied  partKind = iota // a value of the row that a to-one leads to
	shifted                 // a sum or count of rows that point here: it moves by the difference
	reread                  // another value of the rows that point here: read again when one of them changes
)

// part is a column that triggers keep.
type part struct {
	owner    *model.Model // the model whose rows have it
	column   string
	typ      string // as Postgres spells it
	isNumber bool   // whether the stored value is a Number
	notNull  bool
	neutral  pg.Expr // the value of a new row until the triggers have run; null where the column is nullable
	title    string  // its description, for comments: net of Invoice

	kind      partKind
	step      *model.Field // the owner's relation to the rows that it is made of
	function  string       // SUM, COUNT, MIN, MAX, MEDIAN, LIST for all values, in order, or ONE for the row behind a to-one without column
	ofLists   bool         // whether the values of the other rows are such lists
	orZero    bool
	emptyZero bool                       // whether it is 0 where a to-one leads nowhere
	value     func(alias string) pg.Expr // of a row behind the step; nil where rows are counted
	filter    func(alias string) pg.Expr // the condition for the rows that count; nil means all
	across    *across                    // set where the rows point to a third one, to which the owner's row leads; nil means that they point to the owner's
}

// other is the model of the rows that a part is made of.
func (p *part) other() *model.Model { return p.step.Target }

// link is the foreign key that finds the rows: a column of the owner for a copy, else of the other rows.
func (p *part) link() string {
	switch {
	case p.kind == copied:
		return p.step.FK.Column
	case p.across != nil:
		return p.across.link
	}
	return p.step.Inverse.FK.Column
}

// match is the column of the owner that equals the link of the other rows.
func (p *part) match() string {
	if p.across != nil {
		return p.across.match
	}
	return "id"
}

// isComputedFromRows tells whether a field's value comes from other rows.
func isComputedFromRows(f *model.Field) bool {
	if f.Computed == nil {
		return false
	}
	isFromRows := false
	expr.Inspect(f.Computed.Expression, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Aggregate:
			isFromRows = true
		case *expr.Path:
			if !isOwnPath(n) {
				isFromRows = true
			} else if len(n.Steps) > 0 && isComputedFromRows(field(n.Steps[0])) {
				isFromRows = true
			}
		}
		return !isFromRows
	})
	return isFromRows
}

// isOwnPath tells whether a path names a column of the row.
func isOwnPath(p *expr.Path) bool {
	switch len(p.Steps) {
	case 0:
		return true
	case 1:
		f := field(p.Steps[0])
		return !f.IsRelation() || f.FK != nil
	}
	return len(p.Steps) == 2 && field(p.Steps[0]).FK != nil && p.Steps[1].StepName() == "id"
}

// compute finds how each computed field of a model is kept, and its parts.
func (l *lowering) compute(m *model.Model) {
	for _, f := range m.Stored() {
		if f.Computed != nil {
			l.derivedBy(f)
		}
	}
}

// derivedBy returns the part that a computed field is; it returns nil for a generated column. f has a column: a to-one is
// its FK field.
func (l *lowering) derivedBy(f *model.Field) *part {
	if p, known := l.derived[f]; known {
		return p
	}
	l.derived[f] = nil
	switch n := f.Computed.Expression.(type) {
	case *expr.Path:
		if !isOwnPath(n) && variableType(idOfRow(n.Type())) == variableType(f.Type) {
			l.derived[f] = l.pathPart(f.Model, n, f)
		}
	case *expr.Aggregate:
		if n.Function != "AVG" && !(isExtreme(n.Function) && n.OrZero) && n.Type().Kind == f.Type.Kind && field(n.Path.Steps[0]).IsToMany() {
			l.derived[f] = l.aggregatePart(f.Model, n, n.Function, f)
		}
	}
	if l.derived[f] == nil {
		l.generated(f, f.Model.Table) // this finds its parts
	}
	return l.derived[f]
}

// generated is the value of a computed field over the columns of a row, as it is stored.
func (l *lowering) generated(f *model.Field, alias string) pg.Expr {
	n := f.Computed.Expression
	x := l.over(f.Model, alias)
	x.inlines = true
	if f.Type.Kind == expr.Boolean {
		if p, ok := n.(*expr.Path); ok {
			return x.operand(p).scalar()
		}
		if holds := x.holds(n); isExact(holds) {
			return holds
		} else {
			return &pg.Is{Value: holds, Test: "true"}
		}
	}
	if l, ok := n.(*expr.Literal); ok {
		return constant(l, f.Type)
	}
	value := x.operand(n).scalar()
	if isArithmetic(n) || isAggregate(n) || n.Type().Kind == expr.Decimal && f.Type.Kind == expr.Number {
		return stored(value, n.Type(), f.Type)
	}
	return convert(value, n.Type(), f.Type)
}

func isAggregate(n expr.Node) bool {
	_, ok := n.(*expr.Aggregate)
	return ok
}

// over prepares to lower expressions over the columns of a row, its parts among them.
func (l *lowering) over(m *model.Model, alias string) expression {
	row := tableAlias{model: m, name: alias, id: pg.Col(alias, "id")}
	x := newExpression(expr.InWhere, inQuery, &row, nil)
	x.parts = l
	return x
}

// ownColumn is the row's own column for the value that a path leads to.
func (x expression) ownColumn(p *expr.Path) pg.Expr {
	m, alias := x.row.model, x.row.name
	if x.beside != nil && !x.behind[p] {
		return x.beside.ownColumn(p)
	}
	if !isOwnPath(p) {
		return pg.Col(alias, x.parts.PathColumn(m, p))
	}
	if len(p.Steps) == 0 {
		return x.row.id
	}
	f := storedAs(field(p.Steps[0]))
	if f.Computed != nil {
		return x.parts.Column(f, alias, x.inlines) // a generated column cannot read another one
	}
	return pg.Col(alias, f.Column)
}

// aggregate lowers an aggregate to the row's columns for it.
func (x expression) aggregate(a *expr.Aggregate) operand {
	o := operand{typ: a.Type(), nullable: expr.MayBeNull(a)}
	if a.Function != "MIN" && a.Function != "MAX" {
		o.parts = []operand{} // it is a number in the type that holds every number
	}
	column := func(function string) pg.Expr {
		return pg.Col(x.row.name, x.parts.AggregateColumn(x.row.model, a, function))
	}
	if a.Function != "AVG" {
		o.value = column(a.Function)
		if isExtreme(a.Function) && a.OrZero && field(a.Path.Steps[0]).IsToMany() {
			o.value = pg.Fn("coalesce", o.value, pg.Lit("0"))
		}
		return o
	}
	o.value = pg.Fn("platform.quotient", column("SUM"), column("COUNT"))
	if a.OrZero {
		o.value = pg.Fn("coalesce", o.value, pg.Lit("0"))
	}
	return o
}

// PathColumn is the column of the part that holds the value at the end of a path.
func (l *lowering) PathColumn(m *model.Model, p *expr.Path) string {
	return l.pathPart(m, p, nil).column
}

// AggregateColumn is the column of the part that holds an aggregate.
func (l *lowering) AggregateColumn(m *model.Model, a *expr.Aggregate, function string) string {
	return l.aggregateColumn(m, a, function).column
}

// Column is the column of a computed field. Its parts come before those that are made of it, so they are found first.
func (l *lowering) Column(f *model.Field, alias string, inlines bool) pg.Expr {
	if l.derivedBy(f) == nil && inlines {
		return l.generated(f, alias)
	}
	return pg.Col(alias, f.Column)
}

// aggregateColumn returns the part that holds an aggregate of a row. Behind a to-one it is a copy of that row's part.
func (l *lowering) aggregateColumn(m *model.Model, a *expr.Aggregate, function string) *part {
	first := field(a.Path.Steps[0])
	if first.IsToMany() {
		return l.aggregatePart(m, a, function, nil)
	}
	if a.Condition != nil && slices.ContainsFunc(expr.Paths(a.Condition), func(p *expr.Path) bool { return len(p.Steps) == 0 || p.Steps[0] != a.Path.Steps[0] }) {
		return l.acrossPart(m, a, function)
	}
	behind := *a
	behind.Path = behindStep(a.Path)
	if a.Condition != nil {
		behind.Condition = expr.Substitute(a.Condition, func(p *expr.Path) expr.Node { return behindStep(p) })
	}
	target := first.Target
	p := &part{kind: l.kindOf(first), step: first, function: "ONE"}
	if !expr.MayBeNull(a) {
		p.emptyZero, p.notNull, p.neutral = true, true, pg.Lit("0")
	}
	p.value = func(alias string) pg.Expr { return pg.Col(alias, l.aggregateColumn(target, &behind, function).column) }
	p.typ, p.isNumber = "numeric", false
	switch function {
	case "MIN", "MAX":
		p.typ = variableType(a.Path.Type())
	case "LIST":
		p.typ, p.emptyZero, p.notNull, p.neutral = listType, false, false, nil
	}
	return l.part(m, p, nil)
}

// behindStep returns a path without its first step, from the row to which that leads.
func behindStep(p *expr.Path) *expr.Path {
	return expr.RowPath(field(p.Steps[0]).Target.Name, p.Steps[1:], p.Span())
}

// pathPart returns the part that holds the value at the end of a path through to-ones. f is the field that is nothing
// else; it is nil for a part that is not a field.
func (l *lowering) pathPart(m *model.Model, path *expr.Path, f *model.Field) *part {
	first := field(path.Steps[0])
	rest := behindStep(path)
	p := &part{kind: l.kindOf(first), step: first, function: "ONE", notNull: !path.MayBeNull()}
	p.typ = variableType(idOfRow(path.Type()))
	p.value = func(alias string) pg.Expr { return l.over(first.Target, alias).ownColumn(rest) }
	if p.notNull {
		p.neutral = neutral(path.Type(), field(path.Steps[len(path.Steps)-1]).Enum)
	}
	return l.part(m, p, f)
}

// idOfRow returns the type in which a column stores a value: a row is stored as its id.
func idOfRow(t expr.Type) expr.Type {
	if t.Kind == expr.Model {
		return expr.Type{Kind: expr.ID}
	}
	return t
}

// kindOf returns how a value behind a to-one is kept.
func (l *lowering) kindOf(toOne *model.Field) partKind {
	if toOne.FK != nil {
		return copied
	}
	return reread
}

// aggregatePart returns the part that holds an aggregate of the rows that point to a row. A path through several
// to-manys adds up the values that the rows of the first one have.
func (l *lowering) aggregatePart(m *model.Model, a *expr.Aggregate, function string, f *model.Field) *part {
	first := field(a.Path.Steps[0])
	child := first.Target
	inner := *a
	inner.Path, inner.OrZero = behindStep(a.Path), false // a row with nothing behind it has no value to compare
	if a.Condition != nil {
		inner.Condition = expr.Substitute(a.Condition, func(p *expr.Path) expr.Node {
			if len(p.Steps) > 0 && p.Steps[0] == expr.Step(first) {
				return behindStep(p)
			}
			return expr.RowPath(child.Name, append([]expr.Step{first.Inverse}, p.Steps...), p.Span())
		})
	}
	p := &part{kind: reread, step: first, function: function, orZero: a.OrZero && !isExtreme(function), typ: "numeric"}
	switch {
	case inner.Path.ThroughToMany():
		of := function
		switch function {
		case "COUNT":
			p.function = "SUM"
		case "MEDIAN", "LIST": // the median of all does not follow from the medians
			of, p.ofLists = "LIST", true
		}
		p.value = func(alias string) pg.Expr { return pg.Col(alias, l.aggregateColumn(child, &inner, of).column) }
	default:
		if len(inner.Path.Steps) > 0 || function != "COUNT" {
			p.value = func(alias string) pg.Expr { return l.over(child, alias).ownColumn(inner.Path) }
		}
		if inner.Condition != nil {
			p.filter = func(alias string) pg.Expr { return l.over(child, alias).holds(inner.Condition) }
		}
	}
	p.asAggregate(a)
	if p.function == "SUM" || p.function == "COUNT" {
		p.kind = shifted
	}
	return l.part(m, p, f)
}

// asAggregate gives a part the type of an aggregate, and its value over no rows.
func (p *part) asAggregate(a *expr.Aggregate) {
	switch p.function {
	case "SUM", "COUNT":
		p.notNull, p.neutral = true, pg.Lit("0")
	case "LIST":
		p.typ, p.orZero, p.notNull, p.neutral = listType, false, true, pg.Str("{}")
	default:
		if p.function != "MEDIAN" {
			p.typ = variableType(a.Path.Type())
		}
		if p.orZero {
			p.notNull, p.neutral = true, pg.Lit("0")
		}
	}
}

// isExtreme tells whether an aggregate is one of its values, the least or greatest. Over no rows its column is null.
func isExtreme(function string) bool { return function == "MIN" || function == "MAX" }

// listType is the type of a list of numbers.
const listType = "numeric[]"

// neutral is the value of a type that a required part has until the triggers have run.
func neutral(t expr.Type, e *model.Enum) pg.Expr {
	switch {
	case e != nil:
		return pg.Str(e.Values[0].Name)
	case t.Kind == expr.ID || t.Kind == expr.Model:
		return pg.Str("")
	}
	return sqlOf(t.Kind).bare()
}

// part gives a part its column, or returns the part that is kept already. f is the field of the column; if f is nil,
// the column gets a name that no field can have.
func (l *lowering) part(m *model.Model, p *part, f *model.Field) *part {
	p.owner = m
	if p.step.FK != nil && p.step.Computed != nil {
		l.derivedBy(p.step.FK)
	}
	l.findParts(p) // its parts come first
	key := m.Name + " " + p.step.Name + " " + p.function + " " + p.definition()
	if f != nil {
		key += " " + f.Name
	}
	if known, ok := l.partKeys[key]; ok {
		return known
	}
	l.partKeys[key] = p
	switch {
	case f != nil:
		p.column, p.title = f.Column, f.Name+" of "+m.Name
		p.typ, p.isNumber, p.notNull = variableType(f.Type), f.Type.Kind == expr.Number, !f.Optional
		switch {
		case p.kind == copied && isInKey(f): // rows inserted together would begin with the same value
			p.notNull, p.neutral = false, nil
		case p.notNull && p.neutral == nil:
			p.neutral = neutral(f.Type, f.Enum)
		}
	default:
		name := model.SnakeForm(p.step.Name) + "__"
		if p.across != nil {
			name = p.across.match + "__" + name
		}
		if p.function != "ONE" {
			name += strings.ToLower(p.function)
		}
		if c, ok := p.valueOver("").(*pg.ColumnRef); ok {
			if !strings.HasSuffix(name, "__") {
				name += "_"
			}
			name += c.Name
		}
		if l.partNames[m] == nil {
			l.partNames[m] = pg.NewNames()
		}
		p.column = l.partNames[m].Take(pg.Shorten(name, pg.MaxIdent-4))
		p.title = p.column + " of " + m.Name
	}
	l.parts = append(l.parts, p)
	return p
}

// isInKey tells whether the values of a field are unique, alone or with others.
func isInKey(f *model.Field) bool {
	return f.Unique || slices.ContainsFunc(f.Model.Uniques, func(u *model.Unique) bool {
		return slices.ContainsFunc(u.Fields, func(part *model.Field) bool { return storedAs(part) == f })
	})
}

// findParts lowers the expressions of a part, so that the parts in it are known.
func (l *lowering) findParts(p *part) {
	p.valueOver(p.other().Table)
	if p.filter != nil {
		p.filter(p.other().Table)
	}
}

// valueOver is the value of a row that a part is made of; nil where rows are counted.
func (p *part) valueOver(alias string) pg.Expr {
	if p.value == nil {
		return nil
	}
	return p.value(alias)
}

// alias is the name of the other rows in a query over the owner's.
func (p *part) alias() string {
	if p.other() == p.owner {
		return p.owner.Table + "_2"
	}
	return p.other().Table
}

// definition is the part in full, for a row of the owner.
func (p *part) definition() string { return emit.Expr(p.whole()) }

// whole is the part in full, read for a row of the owner.
func (p *part) whole() pg.Expr {
	alias := p.alias()
	from := pg.Ref(appSchema, p.other().Table)
	if alias != p.other().Table {
		from.Alias = alias
	}
	query := &pg.Select{From: from}
	value := p.valueOver(alias)
	if p.kind == copied {
		query.Where = pg.Eq(pg.Col(alias, "id"), pg.Col(p.owner.Table, p.link()))
	} else {
		query.Where = pg.AllOf(pg.Eq(pg.Col(alias, p.link()), pg.Col(p.owner.Table, p.match())), p.filterOver(alias))
	}
	if p.ofLists {
		names := pg.NewNames()
		names.Take(p.owner.Table)
		names.Take(alias)
		listed := names.Take("listed")
		query.Joins = []pg.Join{{Kind: "cross join lateral", With: &pg.CallRef{Call: pg.Fn("unnest", value), Alias: listed, Columns: []string{"value"}}}}
		value = pg.Col(listed, "value")
	}
	if p.function == "LIST" {
		query.Columns, query.OrderBy = []pg.Output{{Value: pg.As(value, "numeric")}}, []pg.Order{{Value: pg.Lit("1")}}
		query.Where = pg.AllOf(query.Where, pg.IsNotNull(value))
		return &pg.ArrayOf{Query: query}
	}
	switch p.function {
	case "COUNT":
		value = pg.Fn("count", orStar(value))
	case "SUM":
		value = pg.Fn("coalesce", pg.Fn("sum", value), pg.Lit("0"))
	case "MIN", "MAX":
		value = pg.Fn(strings.ToLower(p.function), value)
	case "MEDIAN":
		value = pg.Fn("platform.median", pg.Fn("array_agg", value))
	}
	if p.orZero && p.function != "SUM" && p.function != "COUNT" {
		value = pg.Fn("coalesce", value, pg.Lit("0"))
	}
	query.Columns = []pg.Output{{Value: value}}
	whole := pg.Expr(&pg.Subquery{Query: query})
	if p.emptyZero {
		whole = pg.Fn("coalesce", whole, pg.Lit("0"))
	}
	if p.isNumber && p.function == "SUM" {
		return pg.Fn("platform.number", whole)
	}
	return whole
}

func orStar(value pg.Expr) pg.Expr {
	if value == nil {
		return pg.Lit("*")
	}
	return value
}

func (p *part) filterOver(alias string) pg.Expr {
	if p.filter == nil {
		return nil
	}
	return p.filter(alias)
}

// by is the amount that a row adds to a sum or count.
func (p *part) by(alias string) pg.Expr {
	value := p.valueOver(alias)
	filter := p.filterOver(alias)
	if p.function == "COUNT" {
		if value != nil {
			filter = pg.AllOf(filter, pg.IsNotNull(value))
		}
		value = pg.Lit("1")
	} else {
		value = pg.Fn("coalesce", value, pg.Lit("0"))
	}
	if filter == nil {
		return value
	}
	return &pg.Case{Whens: []pg.When{{Condition: filter, Result: value}}, Else: pg.Lit("0")}
}

// reads returns the columns of the other rows that a part is made of.
func (p *part) reads() []string {
	if p.across != nil {
		return p.across.reads
	}
	mentioned := pg.Mentions(p.valueOver("o"), p.filterOver("o"))
	return slices.Sorted(mentioned.Columns())
}
