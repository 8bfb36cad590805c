package pg

import (
	"fmt"
	"iter"
	"maps"
)

// Mentioned is the set of names that an expression depends on.
type Mentioned struct {
	columns   map[string]bool // names, of any table
	tables    map[string]bool // names or aliases that qualify a column
	relations map[string]bool // schema.name
}

// Mentions returns the names that some expressions mention, their sub-selects included. Text that is printed as it is
// counts word by word, so the result may have more names than are mentioned, and never fewer.
func Mentions(list ...Expr) *Mentioned {
	m := &Mentioned{columns: map[string]bool{}, tables: map[string]bool{}, relations: map[string]bool{}}
	m.exprs(list)
	return m
}

// Columns returns the names of the mentioned columns, in no order.
func (m *Mentioned) Columns() iter.Seq[string] { return maps.Keys(m.columns) }

// Column tells whether a column of that name is mentioned.
func (m *Mentioned) Column(name string) bool { return m.columns[name] }

// Table tells whether a column is mentioned of a table or alias of that name.
func (m *Mentioned) Table(name string) bool { return m.tables[name] }

// Relation tells whether a table or view is mentioned.
func (m *Mentioned) Relation(schema, name string) bool { return m.relations[schema+"."+name] }

func (m *Mentioned) exprs(list []Expr) {
	for _, e := range list {
		m.expr(e)
	}
}

func (m *Mentioned) expr(e Expr) {
	switch e := e.(type) {
	case nil, *Text:
	case *ColumnRef:
		m.columns[e.Name] = true
		m.tables[e.Table] = true
	case *Name:
		m.words(e.Name)
	case *Variable:
		m.words(e.Name)
	case *Raw:
		m.words(e.SQL)
	case *Call:
		m.exprs(e.Args)
	case *Param:
		m.expr(e.Value)
	case *Binary:
		m.exprs([]Expr{e.Left, e.Right})
	case *Minus:
		m.expr(e.Operand)
	case *Cast:
		m.expr(e.Value)
	case *Is:
		m.expr(e.Value)
	case *Not:
		m.expr(e.Operand)
	case *And:
		m.exprs(e.Operands)
	case *Or:
		m.exprs(e.Operands)
	case *In:
		m.expr(e.Value)
		m.exprs(e.List)
	case *Any:
		m.exprs([]Expr{e.Value, e.Array})
	case *Case:
		m.exprs([]Expr{e.Value, e.Else})
		for _, w := range e.Whens {
			m.exprs([]Expr{w.Condition, w.Result})
		}
	case *Subquery:
		m.query(e.Query)
	case *Exists:
		m.query(e.Query)
	case *ArrayOf:
		m.query(e.Query)
	case *Array:
		m.exprs(e.Elements)
	case *Slice:
		m.exprs([]Expr{e.Array, e.From, e.To})
	case *Element:
		m.exprs([]Expr{e.Array, e.Index})
	case *Field:
		m.columns[e.Name] = true
		m.expr(e.Value)
	case *AllFields:
		m.expr(e.Value)
	case *Row:
		m.exprs(e.Values)
	case *RowNumber:
		m.orders(e.OrderBy)
	case *Fragment:
		m.words(e.Prefix + " " + e.Suffix)
		m.expr(e.Value)
		m.query(&Select{Columns: e.Columns})
		m.query(e.Select)
		m.tail(e.Query)
	case *Filters:
		for _, f := range e.Fields {
			m.expr(f.Value)
			m.tail(f.Rows)
		}
	default:
		panic(fmt.Sprintf("pg: no walk through expression %T", e))
	}
}

func (m *Mentioned) tail(q *QueryTail) {
	if q != nil {
		m.query(&Select{From: q.From, Joins: q.Joins, Where: q.Where})
	}
}

func (m *Mentioned) query(q *Select) {
	if q == nil {
		return
	}
	for _, o := range q.Columns {
		m.expr(o.Value)
	}
	m.from(q.From)
	for _, j := range q.Joins {
		m.from(j.With)
		m.expr(j.On)
	}
	m.exprs([]Expr{q.Where, q.Having, q.Limit, q.Offset})
	m.exprs(q.GroupBy)
	for _, u := range q.UnionAll {
		m.query(u)
	}
	m.orders(q.OrderBy)
}

func (m *Mentioned) from(f From) {
	switch f := f.(type) {
	case nil:
	case *TableRef:
		m.relations[f.Schema+"."+f.Name] = true
	case *SubqueryRef:
		m.query(f.Query)
	case *UnionRef:
		for _, q := range f.Queries {
			m.query(q)
		}
	case *CallRef:
		m.expr(f.Call)
	default:
		panic(fmt.Sprintf("pg: no walk through source of rows %T", f))
	}
}

func (m *Mentioned) orders(list []Order) {
	for _, o := range list {
		m.expr(o.Value)
	}
}

func (m *Mentioned) words(sql string) {
	for _, t := range tokens(sql) {
		if t.ident {
			m.columns[t.name] = true
			m.tables[t.name] = true
		}
	}
}
