package explain

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/sqlgen/emit"
	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/pg"
)

// facts are what a statement says of a call before a row is read, or of one row. The values of an expression, and of
// what else has no other name, are by their nodes, those of a path by its text.
type facts map[any]any

// fact names a value that is of no part of an action.
type fact string

const (
	rowID      fact = "id"
	isSelected fact = "selected"
	isPinned   fact = "pinned"
)

// truth returns the value of a Boolean expression.
func (f facts) truth(n expr.Node) expr.Truth {
	switch f[n] {
	case true:
		return expr.True
	case false:
		return expr.False
	}
	return expr.Unknown
}

// hasRow tells whether the facts are those of a row.
func (f facts) hasRow() bool { return f[rowID] != nil }

// statement asks for facts, each by a column.
type statement struct {
	query *pg.Select
	of    []any
}

func (s *statement) ask(of any, value pg.Expr) {
	if !slices.Contains(s.of, of) {
		s.of = append(s.of, of)
		s.query.Columns = append(s.query.Columns, pg.Output{Value: value})
	}
}

// askClauses asks for the value of an expression and of each of its clauses, and for what is in them.
func (s *statement) askClauses(q lower.Question, n expr.Node, value func(expr.Node) pg.Expr) {
	if n == nil {
		return
	}
	s.ask(n, value(n))
	inner := clausesOf(n)
	for _, clause := range inner {
		s.askClauses(q, clause, value)
	}
	if inner == nil {
		s.askPaths(q, n)
	}
}

func (s *statement) askPaths(q lower.Question, n expr.Node) {
	isRow := slices.Contains(s.of, any(rowID))
	for _, p := range expr.Paths(n) {
		if p.Root != expr.RootRow || isRow {
			s.ask(source(p), q.Values(p, isHidden(p)))
		}
	}
}

// askEarly asks what is known before a row is read.
func (c *call) askEarly() error {
	q := c.questions[0]
	s := &statement{query: q.Beforehand()}
	for _, rule := range c.action.Rules {
		for _, n := range expressionsOf(rule) {
			s.askClauses(q, n, q.Early)
		}
	}
	for _, v := range c.action.Validations {
		s.ask(v.Expression, q.Validation(v.Expression))
	}
	for _, r := range c.schema.Roles {
		for _, m := range r.Expressions {
			s.ask(m, q.Member(m))
		}
	}
	for _, in := range c.action.Writes {
		if target := linked(in); target != nil {
			s.ask(in, q.LeadsNowhere(in, target))
		}
	}
	s.ask(isPinned, q.IsPinned())
	found, err := c.facts(s)
	if err == nil {
		c.early = found[0]
	}
	return err
}

// explainRows explains rows under a condition, in the order of their arms and ids.
func (c *call) explainRows(condition func(lower.Question) pg.Expr, limit int) ([]Row, error) {
	rows := []Row{}
	for _, q := range c.questions {
		s := &statement{query: q.Over(condition(q))}
		s.query.Limit = pg.Lit(fmt.Sprint(limit - len(rows)))
		s.ask(rowID, q.ID())
		s.ask(isSelected, q.IsSelected())
		for _, w := range c.action.Wheres {
			s.ask(w, q.Counts(w))
			s.ask(w.Expression, q.Where(w))
			s.askPaths(q, w.Expression)
		}
		for _, rule := range c.action.Rules {
			for _, n := range expressionsOf(rule) {
				s.askClauses(q, n, q.Rule)
			}
		}
		found, err := c.facts(s)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			rows = append(rows, c.row(f, q.Arm))
		}
	}
	return rows, nil
}

// row explains the decisions of the action's conditions and rules for a row.
func (c *call) row(f facts, arm string) Row {
	x := Row{ID: f[rowID].(string), Arm: arm, Selected: f[isSelected] == true, Wheres: []Clause{}, Rules: []Rule{}}
	for _, w := range c.action.Wheres {
		if f[w] == true {
			x.Wheres = append(x.Wheres, Clause{Text: w.Text, Place: placeOf(w.Span), Value: f.truth(w.Expression), Operands: operands(w.Expression, f)})
		}
	}
	for _, rule := range c.action.Rules {
		j := c.judge(rule, f)
		x.Rules = append(x.Rules, j)
		x.Admitted = x.Admitted || j.Value == expr.True
	}
	return x
}

// expressionsOf returns the expressions that all have to hold for a rule.
func expressionsOf(r *model.Rule) []expr.Node {
	list := []expr.Node{r.Expression}
	if r.By != nil {
		list = []expr.Node{r.Rest, r.By.Expression}
	}
	return slices.DeleteFunc(list, func(n expr.Node) bool { return n == nil })
}

// facts asks the database.
func (c *call) facts(s *statement) ([]facts, error) {
	rows, err := c.rows(s.query, string(c.request.Input))
	var list []facts
	for _, values := range rows {
		f := facts{}
		for i, of := range s.of {
			f[of] = values[i]
		}
		list = append(list, f)
	}
	return list, err
}

// rows returns the rows of a query. It is planned for its arguments.
func (c *call) rows(q *pg.Select, arguments ...any) ([][]any, error) {
	arguments = append([]any{pgx.QueryExecModeExec}, arguments...)
	rows, err := c.tx.Query(c.ctx, emit.Expr(&pg.Subquery{Query: q}), arguments...)
	if err != nil {
		return nil, fmt.Errorf("ask the database: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		return nil, fmt.Errorf("ask the database: %w", err)
	}
	return found, nil
}
