package value

import (
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// IsComputedFromRows tells whether a field's value comes from other rows.
func IsComputedFromRows(f *model.Field) bool {
	if f.Computed == nil {
		return false
	}
	isFromRows := false
	expr.Inspect(f.Computed.Expression, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Aggregate:
			isFromRows = true
		case *expr.Path:
			if !IsOwnPath(n) {
				isFromRows = true
			} else if len(n.Steps) > 0 && IsComputedFromRows(Field(n.Steps[0])) {
				isFromRows = true
			}
		}
		return !isFromRows
	})
	return isFromRows
}

// IsOwnPath tells whether a path names a column of the row.
func IsOwnPath(p *expr.Path) bool {
	switch len(p.Steps) {
	case 0:
		return true
	case 1:
		f := Field(p.Steps[0])
		return !f.IsRelation() || f.FK != nil
	}
	return len(p.Steps) == 2 && Field(p.Steps[0]).FK != nil && p.Steps[1].StepName() == "id"
}

// IsAggregate tells whether an expression is a function of many rows.
func IsAggregate(n expr.Node) bool {
	_, ok := n.(*expr.Aggregate)
	return ok
}

// OwnColumn is the row's own column for the value that a path leads to.
func (x Expression) OwnColumn(p *expr.Path) pg.Expr {
	m, alias := x.Row.Model, x.Row.Name
	if x.Beside != nil && !x.Behind[p] {
		return x.Beside.OwnColumn(p)
	}
	if !IsOwnPath(p) {
		return pg.Col(alias, x.Parts.PathColumn(m, p))
	}
	if len(p.Steps) == 0 {
		return x.Row.ID
	}
	f := StoredAs(Field(p.Steps[0]))
	if f.Computed != nil {
		return x.Parts.Column(f, alias, x.Inlines) // a generated column cannot read another one
	}
	return pg.Col(alias, f.Column)
}

// aggregate lowers an aggregate to the row's columns for it.
func (x Expression) aggregate(a *expr.Aggregate) Operand {
	o := Operand{Typ: a.Type(), Nullable: expr.MayBeNull(a)}
	o.isExact = a.Function != "MIN" && a.Function != "MAX"
	column := func(function string) pg.Expr {
		return pg.Col(x.Row.Name, x.Parts.AggregateColumn(x.Row.Model, a, function))
	}
	if a.Function != "AVG" {
		o.Value = column(a.Function)
		if IsExtreme(a.Function) && a.OrZero && Field(a.Path.Steps[0]).IsToMany() {
			o.Value = pg.Fn("coalesce", o.Value, pg.Lit("0"))
		}
		return o
	}
	o.Value = pg.Fn("platform.quotient", column("SUM"), column("COUNT"))
	if a.OrZero {
		o.Value = pg.Fn("coalesce", o.Value, pg.Lit("0"))
	}
	return o
}

// BehindStep returns a path without its first step, from the row to which that leads.
func BehindStep(p *expr.Path) *expr.Path {
	return expr.RowPath(Field(p.Steps[0]).Target.Name, p.Steps[1:], p.Span())
}

// IsExtreme tells whether an aggregate is one of its values, the least or greatest. Over no rows its column is null.
func IsExtreme(function string) bool { return function == "MIN" || function == "MAX" }
