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
	Text string `json:"rule"`
	Place
	Value   expr.Truth `json:"value"`
	Clauses []Clause   `json:"clauses"` // of its expression, the whole first, then its parts in the order written
	Needs   string     `json:"needs"`   // what would have to hold for it to admit the call; empty if it does, or if rows decide
	Roles   []string   `json:"-"`       // those that it asks for; none means any caller
}

// Clause is a part of an expression with its value.
type Clause struct {
	Text string `json:"clause"`
	Place
	Depth    int        `json:"depth"` // how many clauses it is in
	Value    expr.Truth `json:"value"`
	Operands []Operand  `json:"operands"` // of a comparison or path: what is in it
}

// Operand is a path of an expression with its values in words. Through a to-many it can have any number of them.
type Operand struct {
	Text  string `json:"operand"`
	Value string `json:"value"`
}

// judge returns the decision of a rule by what is known.
func (c *call) judge(r *model.Rule, f facts) Rule {
	j := Rule{Text: r.Text, Place: placeOf(r.Span), Value: expr.True, Clauses: []Clause{}}
	var needs []string
	if r.By != nil { // the caller has the role by an expression, which is one of those below
		j.Roles = []string{r.Role.Name}
	} else if len(r.Roles) > 0 {
		for _, role := range r.Roles {
			j.Roles = append(j.Roles, role.Name)
		}
		if !slices.ContainsFunc(j.Roles, func(name string) bool { return slices.Contains(c.roles, name) }) {
			j.Value = expr.False
			needs = append(needs, "the caller has the role "+strings.Join(j.Roles, " or "))
		}
	}
	for _, n := range expressionsOf(r) {
		value := f.truth(n)
		j.Value = j.Value.And(value)
		c.clauses(&j.Clauses, n, f, 0)
		if value == expr.False {
			needs = append(needs, c.needs(n, true, f, len(needs) > 0))
		}
	}
	if j.Value == expr.False {
		j.Needs = strings.Join(needs, ", and ")
	}
	return j
}

// clauses appends an expression and its clauses with their values.
func (c *call) clauses(list *[]Clause, n expr.Node, f facts, depth int) {
	for u := expr.UseOf(n); u != nil; u = u.Within {
		use := Clause{Text: syntax.SourceOf(u.Path.Span()), Place: placeOf(u.Path.Span()), Depth: depth, Value: f.truth(n), Operands: []Operand{}}
		if !c.request.Conditions {
			use.Operands = operands(n, f)
			*list = append(*list, use)
			return
		}
		*list = append(*list, use)
		depth++
	}
	inner := clausesOf(n)
	clause := Clause{Text: source(n), Place: placeOf(n.Span()), Depth: depth, Value: f.truth(n), Operands: []Operand{}}
	if inner == nil {
		clause.Operands = operands(n, f)
	}
	*list = append(*list, clause)
	for _, part := range inner {
		c.clauses(list, part, f, depth+1)
	}
}

// clausesOf returns what a chain of one operator, or a negation, is made of; nil for all other expressions.
func clausesOf(n expr.Node) []expr.Node {
	switch n := n.(type) {
	case *expr.Logic:
		return parts(n, n.Op)
	case *expr.Not:
		return []expr.Node{n.Operand}
	}
	return nil
}

// parts returns the operands of a chain of one operator.
func parts(n expr.Node, op syntax.Operator) []expr.Node {
	l, ok := n.(*expr.Logic)
	if !ok || l.Op != op {
		return []expr.Node{n}
	}
	var list []expr.Node
	for _, side := range []expr.Node{l.Left, l.Right} {
		if expr.UseOf(side) != nil {
			list = append(list, side)
		} else {
			list = append(list, parts(side, op)...)
		}
	}
	return list
}

// operands returns the values of an expression's paths, each path once.
func operands(n expr.Node, f facts) []Operand {
	list := []Operand{}
	for _, p := range expr.Paths(n) {
		o := Operand{source(p), "not known before a row is read"}
		if p.Root != expr.RootRow || f.hasRow() {
			o.Value = show(p, f[o.Text].([]any))
		}
		if !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// isHidden tells whether the values of a path are not to be shown.
func isHidden(p *expr.Path) bool { return p.Type().Kind.IsOpaque() || p.Root == expr.RootSecret }

// source returns an expression as the schema writes it, in one line, and a path of a condition as the path that it is here.
func source(n expr.Node) string {
	if p, ok := n.(*expr.Path); ok && len(p.Steps) > 0 && (p.Root == expr.RootRow || p.Root == expr.RootIdentity) {
		text := "ctx.identity"
		if p.Root == expr.RootRow {
			text = model.Variable(p.Steps[0].StepModel())
		}
		for _, s := range p.Steps {
			text += "." + s.StepName()
		}
		return text
	}
	return syntax.SourceOf(n.Span())
}

// needs words the changes that would give an expression a value that it does not have.
// within tells whether the text is within other words.
func (c *call) needs(n expr.Node, want bool, f facts, within bool) string {
	text := source(n)
	u := expr.UseOf(n)
	if u != nil {
		text = syntax.SourceOf(u.Path.Span())
	}
	switch n := n.(type) {
	case *expr.Not, *expr.Logic:
		if u != nil && !c.request.Conditions {
			break
		}
		return c.partNeeds(n, want, f, within)
	case *expr.Literal:
		return "nothing: it is always " + fmt.Sprint(n.Value)
	}
	if !want {
		return "not (" + text + ")"
	}
	if c.request.Caller == "" && expr.Mentions(n).Identity {
		return text + " (signed in)"
	}
	return text
}

// partNeeds is needs for an expression that joins others.
func (c *call) partNeeds(n expr.Node, want bool, f facts, within bool) string {
	switch n := n.(type) {
	case *expr.Not:
		return c.needs(n.Operand, !want, f, within)
	case *expr.Logic:
		var open []string
		for _, part := range parts(n, n.Op) {
			if value := f.truth(part); value == expr.True && want || value == expr.False && !want {
				continue
			}
			open = append(open, c.needs(part, want, f, true))
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
	}
	panic(fmt.Sprintf("explain: %T joins nothing", n))
}

// show words the values of a path.
func show(p *expr.Path, values []any) string {
	switch {
	case isHidden(p) && len(values) == 1 && values[0] == nil:
		return "null"
	case isHidden(p):
		return "(not shown)"
	case len(values) == 0:
		return "nothing: no row matches"
	}
	const most = 5
	var texts []string
	for _, v := range values[:min(len(values), most)] {
		texts = append(texts, showValue(v, p.Type().Kind))
	}
	if more := len(values) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
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
