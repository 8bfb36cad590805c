package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sternpost/sternpost/sqlgen/expr"
	"github.com/sternpost/sternpost/sqlgen/model"
	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// Rule is the decision of one rule for the call.
type Rule struct {
	Rule    *model.Rule
	Value   expr.Truth
	Clauses []Clause // of its expression, the whole first, then its parts in the order written
	Roles   []string // those that it asks for; none means any caller
	Needs   string   // what would have to hold for it to admit the call; empty if it does, or if rows decide
}

// Clause is a part of an expression with its value.
type Clause struct {
	Text     string
	Span     syntax.Span
	Depth    int // how many clauses it is in
	Value    expr.Truth
	Operands []Operand // of a comparison or path: what is in it
}

// Operand is a path of an expression with its values. Through a to-many it can have any
// number of them.
type Operand struct {
	Text   string
	Values []any // as literals have them; nil is null
	Known  bool  // false before a row is read
	Hidden bool  // whether the values are not to be shown
	Kind   expr.Kind
}

// judge evaluates a rule against a row; without one, as early as that.
func (c *call) judge(r *model.Rule, of expr.Row) Rule {
	if r.By != nil {
		return c.judgeBy(r, of)
	}
	j := Rule{Rule: r, Value: expr.True}
	for _, role := range r.Roles {
		j.Roles = append(j.Roles, role.Name)
	}
	hasRole := len(r.Roles) == 0 || slices.ContainsFunc(r.Roles, func(role *model.Role) bool { return slices.Contains(c.roles, role.Name) })
	if !hasRole {
		j.Value = expr.False
	}
	var needs []string
	if !hasRole {
		needs = append(needs, "the caller has the role "+strings.Join(j.Roles, " or "))
	}
	if r.Expression != nil {
		value := c.truth(r.Expression, of)
		j.Value = j.Value.And(value)
		c.clauses(&j.Clauses, r.Expression, of, 0)
		if value == expr.False {
			needs = append(needs, c.needs(r.Expression, true, of, len(needs) > 0))
		}
	}
	if j.Value == expr.False {
		j.Needs = strings.Join(needs, ", and ")
	}
	return j
}

// judgeBy is judge for a rule that asks for a role which the caller has by an expression:
// the rule's own expression comes first.
func (c *call) judgeBy(r *model.Rule, of expr.Row) Rule {
	j := Rule{Rule: r, Value: expr.True, Roles: []string{r.Role.Name}}
	var needs []string
	for _, part := range []expr.Node{r.Rest, r.By.Expression} {
		if part == nil {
			continue
		}
		value := c.truth(part, of)
		j.Value = j.Value.And(value)
		c.clauses(&j.Clauses, part, of, 0)
		if value == expr.False {
			needs = append(needs, c.needs(part, true, of, len(needs) > 0))
		}
	}
	if j.Value == expr.False {
		j.Needs = strings.Join(needs, ", and ")
	}
	return j
}

// truth evaluates an expression of a rule against a row; without one, as early as
// that.
func (c *call) truth(n expr.Node, of expr.Row) expr.Truth {
	call := c.call
	if of == nil {
		return expr.Early(call, n)
	}
	call.Row = of
	if expr.Admits(call, n) {
		return expr.True
	}
	return expr.False
}

// clauses appends an expression and its parts with their values.
func (c *call) clauses(list *[]Clause, n expr.Node, of expr.Row, depth int) {
	clause := Clause{Text: source(n), Span: n.Span(), Depth: depth, Value: c.truth(n, of)}
	switch n := n.(type) {
	case *expr.Logic:
		*list = append(*list, clause)
		for _, part := range parts(n, n.Op) {
			c.clauses(list, part, of, depth+1)
		}
	case *expr.Not:
		*list = append(*list, clause)
		c.clauses(list, n.Operand, of, depth+1)
	default:
		clause.Operands = c.operands(n, of)
		*list = append(*list, clause)
	}
}

// operands returns the values of an expression's paths, each path once.
func (c *call) operands(n expr.Node, of expr.Row) []Operand {
	var list []Operand
	for _, p := range expr.Paths(n) {
		text := source(p)
		if !slices.ContainsFunc(list, func(o Operand) bool { return o.Text == text }) {
			list = append(list, c.operand(p, of))
		}
	}
	return list
}

// parts returns the operands of a chain of one operator.
func parts(n expr.Node, op syntax.Operator) []expr.Node {
	if l, ok := n.(*expr.Logic); ok && l.Op == op {
		return append(parts(l.Left, op), parts(l.Right, op)...)
	}
	return []expr.Node{n}
}

// source returns an expression as the schema writes it, in one line.
func source(n expr.Node) string {
	return syntax.SourceOf(n.Span())
}

// operand returns the values of a path.
func (c *call) operand(p *expr.Path, of expr.Row) Operand {
	o := Operand{Text: source(p), Known: p.Root != expr.RootRow || of != nil, Kind: p.Type().Kind}
	o.Hidden = o.Kind.IsOpaque() || p.Root == expr.RootSecret
	if o.Known {
		o.Values = c.values(p, of)
	}
	return o
}

// values returns the values of a path: one, or through a to-many any number.
func (c *call) values(p *expr.Path, of expr.Row) []any {
	switch p.Root {
	case expr.RootInput:
		return []any{c.inputs[p.Input.InputName()]}
	case expr.RootIsAuthenticated:
		return []any{c.call.Identity != nil}
	case expr.RootNow:
		return []any{c.call.Now}
	case expr.RootHeader:
		if text, isSent := c.call.Headers[p.Name]; isSent {
			return []any{text}
		}
		return []any{nil}
	case expr.RootEnv:
		return []any{c.call.Env[p.Name]}
	case expr.RootSecret:
		return []any{c.call.Secrets[p.Name]}
	case expr.RootIdentity:
		return valuesFrom(p, c.call.Identity)
	}
	return valuesFrom(p, of)
}

// valuesFrom follows a path from a row, nil being null.
func valuesFrom(p *expr.Path, from expr.Row) []any {
	rows := []expr.Row{from}
	for _, s := range p.Steps {
		t := s.StepType()
		var next []expr.Row
		var values []any
		for _, r := range rows {
			switch {
			case r == nil && t.Kind == expr.Model && t.Array:
			case r == nil:
				next, values = append(next, nil), append(values, nil)
			case t.Kind != expr.Model:
				values = append(values, r.Value(s.StepName()))
			default:
				related := r.Related(s.StepName())
				if len(related) == 0 && !t.Array {
					related = []expr.Row{nil}
				}
				next = append(next, related...)
			}
		}
		if t.Kind != expr.Model {
			return values
		}
		rows = next
	}
	var ids []any
	for _, r := range rows {
		if r == nil {
			ids = append(ids, nil)
		} else {
			ids = append(ids, r.ID())
		}
	}
	return ids
}

// needs words the changes that would give an expression a value that it does not have.
// within tells whether the text is within other words.
func (c *call) needs(n expr.Node, want bool, of expr.Row, within bool) string {
	switch n := n.(type) {
	case *expr.Not:
		return c.needs(n.Operand, !want, of, within)
	case *expr.Logic:
		var open []string
		for _, part := range parts(n, n.Op) {
			if value := c.truth(part, of); value == expr.True && want || value == expr.False && !want {
				continue
			}
			open = append(open, c.needs(part, want, of, true))
		}
		if len(open) == 0 {
			return "one related row satisfies all of " + source(n)
		}
		joint := " and "
		if (n.Op == syntax.And) != want {
			joint = " or "
		}
		joined := strings.Join(open, joint)
		if len(open) > 1 && within {
			return "(" + joined + ")"
		}
		return joined
	case *expr.Literal:
		return "nothing: it is always " + fmt.Sprint(n.Value)
	}
	text := wanted(source(n), want)
	if want && c.call.Identity == nil && expr.Mentions(n).Identity {
		text += " (signed in)"
	}
	return text
}

func wanted(text string, want bool) string {
	if want {
		return text
	}
	return "not (" + text + ")"
}

// show words the values of an operand.
func (o Operand) show() string {
	switch {
	case !o.Known:
		return "not known before a row is read"
	case o.Hidden && len(o.Values) == 1 && o.Values[0] == nil:
		return "null"
	case o.Hidden:
		return "(not shown)"
	case len(o.Values) == 0:
		return "nothing: no row matches"
	}
	const most = 5
	var texts []string
	for i, v := range o.Values {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(o.Values)-most))
			break
		}
		texts = append(texts, showValue(v, o.Kind))
	}
	return strings.Join(texts, ", ")
}

func showValue(v any, kind expr.Kind) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case []any:
		var texts []string
		for _, e := range v {
			texts = append(texts, showValue(e, kind))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case string:
		switch kind.Class() {
		case expr.ClassNumeric, expr.ClassEnum:
			return v
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}
