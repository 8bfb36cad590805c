package derive

import (
	"slices"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower/value"
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
	Copied  partKind = iota // a value of the row that a to-one leads to
	shifted                 // a sum or count of rows that point here: it moves by the difference
	reread                  // another value of the rows that point here: read again when one of them changes
)

// Part is a column that triggers keep.
type Part struct {
	Owner    *model.Model // the model whose rows have it
	Column   string
	typ      string // as Postgres spells it
	isNumber bool   // whether the stored value is a Number
	notNull  bool
	neutral  pg.Expr // the value of a new row until the triggers have run; null where the column is nullable
	title    string  // its description, for comments: net of Invoice

	Kind      partKind
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
func (p *Part) other() *model.Model { return p.step.Target }

// Link is the foreign key that finds the rows: a column of the owner for a copy, else of the other rows.
func (p *Part) Link() string {
	switch {
	case p.Kind == Copied:
		return p.step.FK.Column
	case p.across != nil:
		return p.across.link
	}
	return p.step.Inverse.FK.Column
}

// match is the column of the owner that equals the link of the other rows.
func (p *Part) match() string {
	if p.across != nil {
		return p.across.match
	}
	return "id"
}

// compute finds how each computed field of a model is kept, and its parts.
func (l *Lowering) compute(m *model.Model) {
	for _, f := range m.Stored() {
		if f.Computed != nil {
			l.derivedBy(f)
		}
	}
}

// derivedBy returns the part that a computed field is; it returns nil for a generated column. f has a column: a to-one is
// its FK field.
func (l *Lowering) derivedBy(f *model.Field) *Part {
	if p, known := l.derived[f]; known {
		return p
	}
	l.derived[f] = nil
	switch n := f.Computed.Expression.(type) {
	case *expr.Path:
		if !value.IsOwnPath(n) && value.VariableType(value.IDOfRow(n.Type())) == value.VariableType(f.Type) {
			l.derived[f] = l.pathPart(f.Model, n, f)
		}
	case *expr.Aggregate:
		if n.Function != "AVG" && !(value.IsExtreme(n.Function) && n.OrZero) && n.Type().Kind == f.Type.Kind && value.Field(n.Path.Steps[0]).IsToMany() {
			l.derived[f] = l.aggregatePart(f.Model, n, n.Function, f)
		}
	}
	if l.derived[f] == nil {
		l.generated(f, f.Model.Table) // this finds its parts
	}
	return l.derived[f]
}

// generated is the value of a computed field over the columns of a row, as it is stored.
func (l *Lowering) generated(f *model.Field, alias string) pg.Expr {
	n := f.Computed.Expression
	x := l.over(f.Model, alias)
	x.Inlines = true
	if f.Type.Kind == expr.Boolean {
		if p, ok := n.(*expr.Path); ok {
			return x.Operand(p).Scalar()
		}
		if holds := x.Holds(n); value.IsExact(holds) {
			return holds
		} else {
			return &pg.Is{Value: holds, Test: "true"}
		}
	}
	if l, ok := n.(*expr.Literal); ok {
		return value.Constant(l, f.Type)
	}
	v := x.Operand(n).Scalar()
	if value.IsMade(n) || value.IsAggregate(n) || n.Type().Kind == expr.Decimal && f.Type.Kind == expr.Number {
		return value.Stored(v, n.Type(), f.Type)
	}
	return value.Convert(v, n.Type(), f.Type)
}

// over prepares to lower expressions over the columns of a row, its parts among them.
func (l *Lowering) over(m *model.Model, alias string) value.Expression {
	row := value.TableAlias{Model: m, Name: alias, ID: pg.Col(alias, "id")}
	x := value.NewExpression(expr.InWhere, value.InQuery, &row, nil)
	x.Parts = l
	return x
}

// PathColumn is the column of the part that holds the value at the end of a path.
func (l *Lowering) PathColumn(m *model.Model, p *expr.Path) string {
	return l.pathPart(m, p, nil).Column
}

// AggregateColumn is the column of the part that holds an aggregate.
func (l *Lowering) AggregateColumn(m *model.Model, a *expr.Aggregate, function string) string {
	return l.aggregateColumn(m, a, function).Column
}

// Column is the column of a computed field. Its parts come before those that are made of it, so they are found first.
func (l *Lowering) Column(f *model.Field, alias string, inlines bool) pg.Expr {
	if l.derivedBy(f) == nil && inlines {
		return l.generated(f, alias)
	}
	return pg.Col(alias, f.Column)
}

// aggregateColumn returns the part that holds an aggregate of a row. Behind a to-one it is a copy of that row's part.
func (l *Lowering) aggregateColumn(m *model.Model, a *expr.Aggregate, function string) *Part {
	first := value.Field(a.Path.Steps[0])
	if first.IsToMany() {
		return l.aggregatePart(m, a, function, nil)
	}
	if a.Condition != nil && slices.ContainsFunc(expr.Paths(a.Condition), func(p *expr.Path) bool { return len(p.Steps) == 0 || p.Steps[0] != a.Path.Steps[0] }) {
		return l.acrossPart(m, a, function)
	}
	behind := *a
	behind.Path = value.BehindStep(a.Path)
	if a.Condition != nil {
		behind.Condition = expr.Substitute(a.Condition, func(p *expr.Path) expr.Node { return value.BehindStep(p) })
	}
	target := first.Target
	p := &Part{Kind: l.kindOf(first), step: first, function: "ONE"}
	if !expr.MayBeNull(a) {
		p.emptyZero, p.notNull, p.neutral = true, true, pg.Lit("0")
	}
	p.value = func(alias string) pg.Expr { return pg.Col(alias, l.aggregateColumn(target, &behind, function).Column) }
	p.typ, p.isNumber = "numeric", false
	switch function {
	case "MIN", "MAX":
		p.typ = value.VariableType(a.Path.Type())
	case "LIST":
		p.typ, p.emptyZero, p.notNull, p.neutral = listType, false, false, nil
	}
	return l.part(m, p, nil)
}

// pathPart returns the part that holds the value at the end of a path through to-ones. f is the field that is nothing
// else; it is nil for a part that is not a field.
func (l *Lowering) pathPart(m *model.Model, path *expr.Path, f *model.Field) *Part {
	first := value.Field(path.Steps[0])
	rest := value.BehindStep(path)
	p := &Part{Kind: l.kindOf(first), step: first, function: "ONE", notNull: !path.MayBeNull()}
	p.typ = value.VariableType(value.IDOfRow(path.Type()))
	p.value = func(alias string) pg.Expr { return l.over(first.Target, alias).OwnColumn(rest) }
	if p.notNull {
		p.neutral = neutral(path.Type(), value.Field(path.Steps[len(path.Steps)-1]).Enum)
	}
	return l.part(m, p, f)
}

// kindOf returns how a value behind a to-one is kept.
func (l *Lowering) kindOf(toOne *model.Field) partKind {
	if toOne.FK != nil {
		return Copied
	}
	return reread
}

// aggregatePart returns the part that holds an aggregate of the rows that point to a row. A path through several
// to-manys adds up the values that the rows of the first one have.
func (l *Lowering) aggregatePart(m *model.Model, a *expr.Aggregate, function string, f *model.Field) *Part {
	first := value.Field(a.Path.Steps[0])
	child := first.Target
	inner := *a
	inner.Path, inner.OrZero = value.BehindStep(a.Path), false // a row with nothing behind it has no value to compare
	if a.Condition != nil {
		inner.Condition = expr.Substitute(a.Condition, func(p *expr.Path) expr.Node {
			if len(p.Steps) > 0 && p.Steps[0] == expr.Step(first) {
				return value.BehindStep(p)
			}
			return expr.RowPath(child.Name, append([]expr.Step{first.Inverse}, p.Steps...), p.Span())
		})
	}
	p := &Part{Kind: reread, step: first, function: function, orZero: a.OrZero && !value.IsExtreme(function), typ: "numeric"}
	switch {
	case inner.Path.ThroughToMany():
		of := function
		switch function {
		case "COUNT":
			p.function = "SUM"
		case "MEDIAN", "LIST": // the median of all does not follow from the medians
			of, p.ofLists = "LIST", true
		}
		p.value = func(alias string) pg.Expr { return pg.Col(alias, l.aggregateColumn(child, &inner, of).Column) }
	default:
		if len(inner.Path.Steps) > 0 || function != "COUNT" {
			p.value = func(alias string) pg.Expr { return l.over(child, alias).OwnColumn(inner.Path) }
		}
		if inner.Condition != nil {
			p.filter = func(alias string) pg.Expr { return l.over(child, alias).Holds(inner.Condition) }
		}
	}
	p.asAggregate(a)
	if p.function == "SUM" || p.function == "COUNT" {
		p.Kind = shifted
	}
	return l.part(m, p, f)
}

// asAggregate gives a part the type of an aggregate, and its value over no rows.
func (p *Part) asAggregate(a *expr.Aggregate) {
	switch p.function {
	case "SUM", "COUNT":
		p.notNull, p.neutral = true, pg.Lit("0")
	case "LIST":
		p.typ, p.orZero, p.notNull, p.neutral = listType, false, true, pg.Str("{}")
	default:
		if p.function != "MEDIAN" {
			p.typ = value.VariableType(a.Path.Type())
		}
		if p.orZero {
			p.notNull, p.neutral = true, pg.Lit("0")
		}
	}
}

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
	return value.SQLOf(t.Kind).Bare()
}

// part gives a part its column, or returns the part that is kept already. f is the field of the column; if f is nil,
// the column gets a name that no field can have.
func (l *Lowering) part(m *model.Model, p *Part, f *model.Field) *Part {
	p.Owner = m
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
		p.Column, p.title = f.Column, f.Name+" of "+m.Name
		p.typ, p.isNumber, p.notNull = value.VariableType(f.Type), f.Type.Kind == expr.Number, !f.Optional
		switch {
		case p.Kind == Copied && isInKey(f): // rows inserted together would begin with the same value
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
		p.Column = l.partNames[m].Take(pg.Shorten(name, pg.MaxIdent-4))
		p.title = p.Column + " of " + m.Name
	}
	l.Parts = append(l.Parts, p)
	return p
}

// isInKey tells whether the values of a field are unique, alone or with others.
func isInKey(f *model.Field) bool {
	return f.Unique || slices.ContainsFunc(f.Model.Uniques, func(u *model.Unique) bool {
		return slices.ContainsFunc(u.Fields, func(part *model.Field) bool { return value.StoredAs(part) == f })
	})
}

// findParts lowers the expressions of a part, so that the parts in it are known.
func (l *Lowering) findParts(p *Part) {
	p.valueOver(p.other().Table)
	if p.filter != nil {
		p.filter(p.other().Table)
	}
}

// valueOver is the value of a row that a part is made of; nil where rows are counted.
func (p *Part) valueOver(alias string) pg.Expr {
	if p.value == nil {
		return nil
	}
	return p.value(alias)
}

// alias is the name of the other rows in a query over the owner's.
func (p *Part) alias() string {
	if p.other() == p.Owner {
		return p.Owner.Table + "_2"
	}
	return p.other().Table
}

// definition is the part in full, for a row of the owner.
func (p *Part) definition() string { return emit.Expr(p.whole()) }

// whole is the part in full, read for a row of the owner.
func (p *Part) whole() pg.Expr {
	alias := p.alias()
	from := pg.Ref(value.AppSchema, p.other().Table)
	if alias != p.other().Table {
		from.Alias = alias
	}
	query := &pg.Select{From: from}
	value := p.valueOver(alias)
	if p.Kind == Copied {
		query.Where = pg.Eq(pg.Col(alias, "id"), pg.Col(p.Owner.Table, p.Link()))
	} else {
		query.Where = pg.AllOf(pg.Eq(pg.Col(alias, p.Link()), pg.Col(p.Owner.Table, p.match())), p.filterOver(alias))
	}
	if p.ofLists {
		names := pg.NewNames()
		names.Take(p.Owner.Table)
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

func (p *Part) filterOver(alias string) pg.Expr {
	if p.filter == nil {
		return nil
	}
	return p.filter(alias)
}

// by is the amount that a row adds to a sum or count.
func (p *Part) by(alias string) pg.Expr {
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
func (p *Part) reads() []string {
	if p.across != nil {
		return p.across.reads
	}
	mentioned := pg.Mentions(p.valueOver("o"), p.filterOver("o"))
	return slices.Sorted(mentioned.Columns())
}
