package pg

import "fmt"

// Replace returns an expression with some of its parts replaced: the parts for which with returns one, the outermost
// first. Parts of a replaced part are not looked at. Nil means that a part stays.
func Replace(e Expr, with func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	if other := with(e); other != nil {
		return other
	}
	in := func(e Expr) Expr { return Replace(e, with) }
	all := func(list []Expr) []Expr {
		replaced := make([]Expr, len(list))
		for i, e := range list {
			replaced[i] = in(e)
		}
		return replaced
	}
	switch e := e.(type) {
	case *Text, *ColumnRef, *Name, *Variable, *Raw:
		return e
	case *Call:
		return &Call{Name: e.Name, Args: all(e.Args)}
	case *Binary:
		return &Binary{Op: e.Op, Left: in(e.Left), Right: in(e.Right)}
	case *Minus:
		return &Minus{Operand: in(e.Operand)}
	case *Cast:
		return &Cast{Value: in(e.Value), Type: e.Type}
	case *Is:
		return &Is{Value: in(e.Value), Test: e.Test}
	case *Not:
		return &Not{Operand: in(e.Operand)}
	case *And:
		return &And{Operands: all(e.Operands)}
	case *Or:
		return &Or{Operands: all(e.Operands)}
	case *In:
		return &In{Value: in(e.Value), List: all(e.List)}
	case *Any:
		return &Any{Value: in(e.Value), Op: e.Op, Array: in(e.Array), All: e.All}
	case *Case:
		replaced := &Case{Value: in(e.Value), Else: in(e.Else)}
		for _, w := range e.Whens {
			w.Condition, w.Result = in(w.Condition), in(w.Result)
			replaced.Whens = append(replaced.Whens, w)
		}
		return replaced
	case *Subquery:
		return &Subquery{Query: replaceIn(e.Query, with)}
	case *Exists:
		return &Exists{Query: replaceIn(e.Query, with)}
	case *ArrayOf:
		return &ArrayOf{Query: replaceIn(e.Query, with)}
	case *Array:
		return &Array{Elements: all(e.Elements)}
	case *Element:
		return &Element{Array: in(e.Array), Index: in(e.Index)}
	case *Field:
		return &Field{Value: in(e.Value), Name: e.Name}
	case *Row:
		return &Row{Values: all(e.Values), IsBare: e.IsBare}
	}
	panic(fmt.Sprintf("pg: no replacement in expression %T", e))
}

// replaceIn is Replace for the expressions of a query whose rows come from tables and views.
func replaceIn(q *Select, with func(Expr) Expr) *Select {
	replaced := *q
	replaced.Where, replaced.Limit, replaced.Offset = Replace(q.Where, with), Replace(q.Limit, with), Replace(q.Offset, with)
	replaced.Columns, replaced.Joins, replaced.OrderBy = nil, nil, nil
	for _, c := range q.Columns {
		c.Value = Replace(c.Value, with)
		replaced.Columns = append(replaced.Columns, c)
	}
	for _, j := range q.Joins {
		j.On = Replace(j.On, with)
		replaced.Joins = append(replaced.Joins, j)
	}
	for _, o := range q.OrderBy {
		o.Value = Replace(o.Value, with)
		replaced.OrderBy = append(replaced.OrderBy, o)
	}
	return &replaced
}
